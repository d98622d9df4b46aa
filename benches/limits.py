#!/usr/bin/env python3
"""Runs commands under memory limits and compares the peak of each with its limit.

    benches/limits.py PROGRAM DIR

PROGRAM is a built dsq, DIR a directory for tables, which later calls use again. Prints a Markdown table. Each run gets the
limit as --memory, from the least that the command accepts to ample, and if this user may make control groups, it runs in one
of the limit plus 10 % and of what the program takes without work. The peak is the resident memory of the process (on Linux
ru_maxrss). The exit code is 1 if a run fails or exceeds its limit by more than what the program takes without work: 64 MiB, with a
software GPU as much as it takes for three pieces.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MIB = 1 << 20
# What the program takes besides: itself, its threads, buffers of files. `--memory` does not count it.
PROGRAM = 64 * MIB


class Group:
    """A control group with a limit; without the right to make one, a run has only its own limit."""

    V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")

    def __init__(self, limit):
        self.dir = None
        for root, name in ((self.V1, "memory.limit_in_bytes"), (self.V2, "memory.max")):
            here = root / f"dsq-limits-{os.getpid()}"
            try:
                here.mkdir(exist_ok=True)
                (here / name).write_text(str(limit))
            except OSError:
                shutil.rmtree(here, ignore_errors=True)
                continue
            self.dir = here
            return

    def enter(self):
        if self.dir:
            (self.dir / "cgroup.procs").write_text(str(os.getpid()))

    def leave(self):
        if self.dir:
            self.dir.rmdir()


def run(arguments, limit=None):
    """The exit code, what was printed, and the peak in bytes. `limit` is that of the control group."""
    group = Group(limit) if limit else None
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(arguments, stdout=output, stderr=output, preexec_fn=group.enter if group else None)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if group:
        group.leave()
    return child.returncode, text, usage.ru_maxrss * 1024


def least(make):
    """The least limit in MiB that a command accepts, by its own errors."""
    limit = 1
    while True:
        code, text, _ = run(make(limit))
        if code == 0:
            return limit
        found = re.search(r"takes (?:about )?([\d.]+) MiB", text)
        needed = math.ceil(float(found[1])) if found else 0
        if needed <= limit:
            raise SystemExit(f"{make(limit)}: {text}")
        limit = needed


def runs(dsq, base):
    """Names and commands; each command is a function of a fresh directory and a limit in MiB."""
    four, packed = base / "four", base / "packed"
    five = ["EPvPDR", "ELTvPD", "RvRPDW", "ELvTRC"]
    six = "ELTvPDR"

    def generate(*more):
        return lambda out, mib: [dsq, "generate", "--out", out, "--force", "--memory", f"{mib}MiB", *more]

    def cluster(tables, *classes, values=False):
        def command(out, mib):
            keep = [] if values else ["--stats-only", "--counts", out]
            own = out / "tables"
            if values and not own.exists():
                shutil.copytree(tables, own)
            at = own if values else tables
            return [dsq, "cluster", "solve", *classes, "--tables", at, "--spill", out, "--memory", f"{mib}MiB", *keep]

        return command

    yield "generate, values of 4 pieces", generate("--pieces", "4"), [1, 2, 8]
    yield "generate, counts of 4 pieces", generate("--pieces", "4", "--stats-only"), [1, 2, 8]
    yield "generate, one class of 5 with values", generate("--material", "EPvPDR"), [1, 1.5, 2.5, 4]
    yield "generate, counts of 5 one by one", generate("--material", "ELTvPD", "--stats-only", "--minutes", "60"), [1, 2]
    yield "counts of a class of 5", cluster(four, five[0]), [1, 1.3, 1.7, 3]
    yield "counts of 4 classes of 5, one process", cluster(four, *five), [1, 1.3, 2, 4]
    yield "values of a class of 5", cluster(four, five[0], values=True), [1, 1.3, 1.7, 3]
    yield "values of 4 classes of 5, one process", cluster(four, *five, values=True), [1, 1.5, 3]
    yield "counts of a class of 5 from repacked tables", cluster(packed, five[0]), [1, 1.5, 3]
    yield "values of a class of 4, software GPU", generate("--material", "EPvPD", "--backend", "gpu"), [1, 2, 4]
    yield "proof of 4 pieces", lambda out, mib: [dsq, "verify", four, "--memory", f"{mib}MiB"], [1, 1.5, 3]
    yield "counts of a class of 6", cluster(base / "six", six), [1, 1.5]
    fen = "7/7/3el2/7/7/7/2CET2/7/7 w"
    yield (
        "count on demand, 5 pieces",
        lambda out, mib: [
            *(dsq, "probe", fen, "--tables", four, "--on-demand", "--cache", out, "--memory", f"{mib}MiB", "--line"),
        ],
        [1, 1.5, 3],
    )


def prepare(dsq, base):
    def once(name, *commands):
        if not (base / name).exists():
            for command in commands:
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    once("four", [dsq, "generate", "--pieces", "4", "--out", base / "four"])
    once("packed", ["cp", "-r", base / "four", base / "packed"], [dsq, "repack", base / "packed"])
    once("six", *([dsq, "generate", "--material", name, "--out", base / "six"] for name in captures_of_six()))


def captures_of_six():
    pieces = ["E", "L", "T", "v", "P", "D", "R"]
    return ["".join(pieces[:at] + pieces[at + 1 :]) for at in range(len(pieces)) if pieces[at] != "v"]


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    dsq, base = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    base.mkdir(parents=True, exist_ok=True)
    prepare(dsq, base)
    print("| run | limit, MiB | peak, MiB | of these the program, MiB | the rest of the limit |\n|---|---:|---:|---:|---:|")
    bad = 0
    _, _, driver = run([dsq, "solve", "--pieces", "3", "--backend", "gpu"])
    for name, command, factors in runs(dsq, base):
        fresh = base / "fresh"

        def make(mib):
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir()
            return command(fresh, mib)

        besides = driver if "GPU" in name else PROGRAM
        lowest = least(make)
        for factor in factors:
            mib = int(lowest * factor)
            code, text, peak = run(make(mib), int(mib * MIB * 1.1) + besides)
            own = max(0, peak - besides)
            over = code != 0 or own > mib * MIB
            bad += over
            word = "**failed**" if code != 0 else "**over**" if over else f"{own / (mib * MIB):.2f}"
            print(f"| {name} | {mib} | {peak / MIB:.0f} | {besides / MIB:.0f} | {word} |", flush=True)
            if code != 0:
                print(f"exit code {code}: {text}", file=sys.stderr)
    shutil.rmtree(base / "fresh", ignore_errors=True)
    raise SystemExit(bad > 0)


if __name__ == "__main__":
    main()
