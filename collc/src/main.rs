//! The `collc` command: arguments in, text out. What it prints is computed by the other crates.

mod cli;
mod commands;
mod output;
mod session;

use clap::Parser;
use cli::{Cli, Command};
use output::{Failure, Output};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut output = Output::new(cli.look);
    let result = match cli.command {
        Command::Check(args) => commands::check::run(&args, &mut output),
        Command::Fmt(args) => commands::fmt::run(&args, &mut output),
        Command::Explain(args) => commands::explain::run(&args, &mut output),
        Command::List(args) => commands::list::run(&args, &mut output),
        Command::Show(args) => commands::show::run(&args, &mut output),
        Command::Run(args) => commands::run::run(&args, &mut output),
        Command::Completions { shell } => commands::completions::run(shell, &mut output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            ExitCode::from(match failure {
                Failure::Input(_) | Failure::Reported => 1,
                Failure::Usage(_) | Failure::UsageCode(..) => 2,
            })
        }
    }
}
