//! The README keeps its word.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::process::Command;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    std::fs::read_to_string(path).unwrap()
}

/// The commands of the README's shell blocks, in order.
fn commands(readme: &str) -> Vec<&str> {
    readme
        .split("```sh\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .flat_map(str::lines)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_main_job_runs_as_written() {
    let readme = readme();
    let commands = commands(&readme);
    let arguments = commands[0]
        .strip_prefix("cargo run --release -p collc -- ")
        .expect("the first command runs collc");
    let output = Command::new(env!("CARGO_BIN_EXE_collc"))
        .args(arguments.split_whitespace())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{text}{:?}",
        String::from_utf8(output.stderr)
    );
    assert_eq!(
        text.lines().last(),
        Some("32 ranks, 3,200,000 elements each: exact")
    );
    for level in ["L3", "L2", "L1", "L0"] {
        assert!(text.contains(&format!("level {level}")), "{text}");
    }
}

#[test]
fn the_test_command_is_the_one_that_ci_runs() {
    let readme = readme();
    let commands = commands(&readme);
    assert_eq!(
        commands.len(),
        2,
        "one command runs the main job, one the tests"
    );
    let ci = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run");
    let ci = std::fs::read_to_string(ci).unwrap();
    assert!(
        ci.lines().any(|line| line == commands[1]),
        "{}",
        commands[1]
    );
}

#[test]
fn the_wrong_example_is_reported_as_shown() {
    let readme = readme();
    let shown = readme
        .split("```text\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let (command, report) = shown.split_once('\n').unwrap();
    assert_eq!(command, "$ collc check wrong.coll");
    let folder = tempfile::tempdir().unwrap();
    let source = "use std.topology.two_level;\n\nalgorithm Twice : allgather on two_level using aicpu\n    = sequence < nhr@L1; mesh@L0; mesh@L0 >;\n";
    std::fs::write(folder.path().join("wrong.coll"), source).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_collc"))
        .args(["check", "wrong.coll"])
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.trim_end(), report.trim_end());
}
