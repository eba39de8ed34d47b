//! Tells how fast files are split, parsed and formatted:
//! `cargo run --release -p coll-lang --example surface_speed -- FILE…`
//!
//! The files are repeated until they have 10,000 lines (and then ten times that, for the formatter).
//! Each figure is the best of several runs on one thread.
#![allow(clippy::print_stdout)]

use coll_lang::parse::{ItemCache, parse_file, parse_file_cached};
use coll_lang::syntax::print::format_file;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn best(work: impl Fn()) -> Duration {
    let run = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..15).map(run).min().unwrap_or_default()
}

fn report(what: &str, text: &str, work: impl Fn()) {
    let time = best(work);
    let rate = text.len() as f64 / time.as_secs_f64() / 1e6;
    let lines = text.lines().count();
    let milliseconds = time.as_secs_f64() * 1e3;
    println!("{what:32} {lines:7} lines {milliseconds:9.2} ms {rate:7.1} MB/s");
}

fn main() -> std::io::Result<()> {
    let mut once = String::new();
    for path in std::env::args().skip(1) {
        once.push_str(&std::fs::read_to_string(path)?);
        once.push('\n');
    }
    // Documentation of a file stands at its top only.
    let once = once.replace("//!", "//");
    let times = 10_000 / once.lines().count().max(1) + 1;
    let text = once.repeat(times);
    report("split", &text, || {
        black_box(coll_grammar::split::split(&text));
    });
    report("parse", &text, || {
        black_box(parse_file(&text));
    });
    let mut cache = ItemCache::default();
    parse_file_cached(&text, &mut cache);
    report("parse again, nothing changed", &text, || {
        black_box(parse_file_cached(&text, &mut cache.clone()));
    });
    let Ok(formatted) = format_file(&text) else {
        println!("the text cannot be formatted");
        return Ok(());
    };
    report("format", &text, || {
        let _ = black_box(format_file(&text));
    });
    report("format what is formatted", &formatted, || {
        let _ = black_box(format_file(&formatted));
    });
    let Ok(long) = format_file(&formatted.repeat(10)) else {
        return Ok(());
    };
    report("parse", &long, || {
        black_box(parse_file(&long));
    });
    report("format what is formatted", &long, || {
        let _ = black_box(format_file(&long));
    });
    Ok(())
}
