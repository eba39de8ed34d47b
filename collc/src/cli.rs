//! The arguments of the command.

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

/// Check, explain, run and simulate algorithms for collective communication.
///
/// Results go to standard output, everything else to standard error. The exit code is 0 when all is
/// well, 1 when the input is wrong or a check failed, and 2 when the command was used wrongly.
#[derive(Debug, Parser)]
#[command(name = "collc", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) look: Look,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How results look.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Look {
    /// When to use colours; NO_COLOR is honoured by auto.
    #[arg(long, value_enum, default_value_t = ColorWhen::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: ColorWhen,
    /// The form of the results.
    #[arg(long, value_enum, default_value_t = Format::Human, global = true, value_name = "FORM")]
    pub(crate) format: Format,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The form of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Human,
    /// One line each.
    Short,
    /// One documented object.
    Json,
    /// A SARIF 2.1.0 log (check only).
    Sarif,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Parse, resolve and prove the contracts of libraries.
    #[command(after_help = "Example:\n  collc check examples/superpod --deny warnings")]
    Check(CheckArgs),
    /// Write files in the one layout.
    #[command(after_help = "Example:\n  collc fmt --check examples")]
    Fmt(FmtArgs),
    /// Print the page of a diagnostic code.
    #[command(after_help = "Example:\n  collc explain E0303")]
    Explain(ExplainArgs),
    /// List what is in reach.
    #[command(after_help = "Example:\n  collc list algorithms")]
    List(ListArgs),
    /// Show an algorithm's tree and the contract after every stage.
    #[command(after_help = "Example:\n  collc show AllGatherSequenceMeshNHR --on 8x4")]
    Show(ShowArgs),
    /// Move real data through every rank and compare with the reference.
    #[command(after_help = "Example:\n  collc run AllReduceRing --on 8 --count 1000 --dtype f32")]
    Run(RunArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  collc completions bash > /etc/bash_completion.d/collc")]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Libraries in reach besides std.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Libraries {
    /// A library's folder or file; may be repeated. COLL_PATH adds more.
    #[arg(long = "lib", value_name = "DIR")]
    pub(crate) libs: Vec<PathBuf>,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Files and folders.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) libraries: Libraries,
    /// Treat these findings as errors: `warnings`, or a code such as W0201.
    #[arg(long, value_name = "WHAT")]
    pub(crate) deny: Vec<String>,
}

/// Arguments of `fmt`.
#[derive(Args, Debug)]
pub(crate) struct FmtArgs {
    /// Files and folders.
    #[arg(required_unless_present = "stdin", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write nothing; exit with 1 if a file is not in the layout.
    #[arg(long)]
    pub(crate) check: bool,
    /// Read standard input, write standard output.
    #[arg(long, conflicts_with = "paths")]
    pub(crate) stdin: bool,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// A code such as E0303, or its name such as gathered-twice. Without one, all are listed.
    pub(crate) code: Option<String>,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListWhat {
    /// Algorithms.
    Algorithms,
    /// Templates.
    Templates,
    /// Topologies.
    Topologies,
    /// Clusters.
    Clusters,
    /// Operations.
    Operations,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list; everything without it.
    #[arg(value_enum)]
    pub(crate) what: Option<ListWhat>,
    #[command(flatten)]
    pub(crate) libraries: Libraries,
}

/// Arguments of `show`.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// An algorithm: a name in reach, FILE.coll, or FILE.coll:NAME.
    pub(crate) algorithm: String,
    /// A cluster's name, a shape such as 8x4x2, or FILE.coll:NAME: adds levels and rank lists.
    #[arg(long, value_name = "CLUSTER")]
    pub(crate) on: Option<String>,
    #[command(flatten)]
    pub(crate) libraries: Libraries,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// An algorithm: a name in reach, FILE.coll, or FILE.coll:NAME.
    pub(crate) algorithm: String,
    /// A cluster's name, a shape such as 8x4x2 or [8,8,7]x3, or FILE.coll:NAME.
    #[arg(long, value_name = "CLUSTER")]
    pub(crate) on: String,
    /// Elements: what a rank sends (allgather), receives (reducescatter) or the vector (allreduce).
    #[arg(long, value_name = "N", default_value = "1024")]
    pub(crate) count: String,
    /// The type of an element.
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    pub(crate) dtype: String,
    /// How contributions are combined.
    #[arg(long, value_name = "OP", default_value = "sum")]
    pub(crate) reduce: String,
    /// Size of each rank's CCL buffer; the cluster's, or 200MiB.
    #[arg(long, value_name = "BYTES")]
    pub(crate) buffer: Option<String>,
    /// Seeds the data; with it, also the order in which ranks proceed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Run this many times and report the fastest.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeat: u32,
    /// Read each rank's input from DIR/rankN.npy.
    #[arg(long, value_name = "DIR")]
    pub(crate) input: Option<PathBuf>,
    /// Write each rank's output to DIR/rankN.npy.
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) libraries: Libraries,
}
