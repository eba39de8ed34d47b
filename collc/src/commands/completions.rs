//! `collc completions SHELL`

use crate::cli::Cli;
use crate::output::{Outcome, Output};
use clap::CommandFactory;
use clap_complete::Shell;

pub(crate) fn run(shell: Shell, output: &mut Output) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "collc", &mut script);
    output.print(String::from_utf8_lossy(&script));
    Ok(())
}
