//! Folders that are embedded in the program: a file that is added or removed there is a change.

// Build scripts speak to cargo through their output.
#![allow(clippy::print_stdout)]

fn main() {
    for folder in ["../stdlib-algos", "src/diagnostics/codes"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
