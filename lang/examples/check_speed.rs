//! How long loading and checking take: `check_speed [PATH…]` for libraries on disk, without paths for
//! 10,000 generated algorithms in 200 files. Prints what was found, and times in milliseconds.

#![allow(clippy::print_stdout)]

use coll_lang::check::check;
use coll_lang::diagnostics::render;
use coll_lang::resolve::{LoadRequest, load};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

const FILES: usize = 200;
const PER_FILE: usize = 50;

fn main() {
    let mut request = LoadRequest {
        paths: std::env::args_os().skip(1).map(PathBuf::from).collect(),
        ..LoadRequest::default()
    };
    if request.paths.is_empty() {
        let root = std::env::temp_dir().join("generated_library");
        let texts = (0..FILES).map(|file| (root.join(format!("file{file}.coll")), generated(file)));
        request.overlay = texts.map(|(path, text)| (path, text.into())).collect();
        request.overlay.insert(
            root.join("coll.toml"),
            "name = \"generated\"\nversion = \"0.1.0\"\n".into(),
        );
        request.paths = vec![root.join("coll.toml")];
    }
    let start = Instant::now();
    let workspace = load(request);
    let loaded = start.elapsed();
    let (library, diagnostics) = check(workspace);
    let all = start.elapsed();
    print!(
        "{}",
        render::human(
            &diagnostics,
            &library.sources,
            render::HumanOptions::default()
        )
    );
    println!(
        "{} files, {} algorithms: load {:.1} ms, check {:.1} ms, together {:.1} ms",
        library.sources.files().len(),
        library.algorithms.len(),
        loaded.as_secs_f64() * 1e3,
        (all - loaded).as_secs_f64() * 1e3,
        all.as_secs_f64() * 1e3,
    );
}

fn generated(file: usize) -> String {
    let mut text = String::from("use std.topology.{four_level, two_level, n_level};\n\n");
    for i in 0..PER_FILE {
        let name = format!("Generated{file}x{i}");
        let _ = match i % 3 {
            0 => writeln!(
                text,
                "algorithm {name} : allgather on four_level using aicpu = sequence < mesh@L3; nhr@L2; nhr@L1; mesh@L0 >;"
            ),
            1 => writeln!(
                text,
                "algorithm {name} : allreduce on two_level using aicpu = sequence < reducescatter.mesh@L0; allreduce.nhr@L1; allgather.mesh@L0 >;"
            ),
            _ => writeln!(
                text,
                "algorithm {name} : allgather on n_level using aicpu = sequence < for l in reverse L1..=top: nhr@l; mesh@L0 >;"
            ),
        };
    }
    text
}
