#!/usr/bin/env python3
"""Prints the tables of the book's chapter on speed: `benches/tables.py [TABLE…]`.

Needs a Rust toolchain and nothing else. Every table is one function; without arguments all are printed.
Figures are the best of several runs of the release build, on an otherwise idle machine.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLLC = ROOT / "target" / "release" / "collc"


def build(*arguments):
    subprocess.run(["cargo", "build", "--release", "--quiet", *arguments], cwd=ROOT, check=True)


def measure(command, runs=5):
    """Least wall seconds, its CPU seconds, and the peak memory in MiB of a command."""
    best = None
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if status != 0:
            sys.exit(f"{command} failed: {errors}")
        result = (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best = result if best is None or result[0] < best[0] else best
    return best


def table(title, head, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


TREES = {
    "allgather": [
        "sequence < nhr@L1; mesh@L0 >",
        "sequence < parallel < mesh@L0; nhr@L1 >; parallel < nhr@L1; mesh@L0 > >",
        "omnipipe < mesh@L0; nhr@L1 >",
    ],
    "reducescatter": [
        "sequence < mesh@L0; nhr@L1 >",
        "sequence < parallel < 2: mesh@L0; 1: ring@L1 >; parallel < ring@L1; mesh@L0 > >",
    ],
    "allreduce": [
        "sequence < reducescatter.mesh@L0; allreduce.nhr@L1; allgather.mesh@L0 >",
        "sequence < reducescatter.mesh@L0; reducescatter.ring@L1; allgather.ring@L1; allgather.mesh@L0 >",
    ],
}


def generate(folder, files, algorithms):
    """A library of `algorithms` algorithms in `files` files."""
    folder.mkdir(parents=True)
    (folder / "coll.toml").write_text('name = "big"\nversion = "1.0.0"\nedition = "2026"\n')
    kinds = [(op, tree) for op, trees in TREES.items() for tree in trees]
    for file in range(files):
        lines = [f"//! File {file} of a generated library.", "", "use std.topology.two_level;", ""]
        for n in range(algorithms // files):
            op, tree = kinds[(file + n) % len(kinds)]
            lines.append(f"/// Algorithm {n} of file {file}.")
            lines.append(f"algorithm A{file}x{n} : {op} on two_level using aicpu, host")
            lines.append(f"    = {tree};")
            lines.append("")
        (folder / f"file{file}.coll").write_text("\n".join(lines))
    return sum(f.stat().st_size for f in folder.iterdir())


def check():
    """`collc check` from cold on generated libraries of growing size."""
    build("-p", "collc")
    rows = []
    for algorithms in (1_000, 2_500, 5_000, 10_000, 20_000):
        folder = Path(tempfile.mkdtemp()) / "big"
        size = generate(folder, 200, algorithms)
        wall, cpu, memory = measure([COLLC, "check", folder])
        shutil.rmtree(folder.parent)
        rows.append(
            [
                f"{algorithms:,}",
                f"{size / 1e6:.1f} MB",
                f"{wall * 1e3:.0f} ms",
                f"{cpu * 1e3:.0f} ms",
                f"{wall * 1e6 / algorithms:.1f} us",
                f"{memory:.0f} MiB",
            ]
        )
    table(
        "collc check, 200 files, two cores",
        ["algorithms", "text", "wall", "CPU", "wall per algorithm", "peak memory"],
        rows,
    )


def memcpy():
    """The four-level all-gather next to plain copies of the same output bytes."""
    build("-p", "coll-local", "--example", "allgather_speed")
    print("\n## Four-level all-gather of 64 MiB output a rank on 8 ranks, and plain copies\n")
    program = ROOT / "target" / "release" / "examples" / "allgather_speed"
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    print("\n".join("    " + line for line in text.splitlines()))


TABLES = {"check": check, "memcpy": memcpy}


def main():
    names = sys.argv[1:] or list(TABLES)
    for name in names:
        if name not in TABLES:
            sys.exit(f"there is no table {name}; tables are {', '.join(TABLES)}")
        TABLES[name]()


if __name__ == "__main__":
    main()
