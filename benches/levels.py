#!/usr/bin/env python3
"""Measures the strength levels: matches between neighbouring levels, through UCI_LimitStrength.

    benches/levels.py target/release/dsq 200 > results/levels.md

The levels and their present Elo are those of src/search/level.rs. Enter the Elo of the last column there.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys

program, games = sys.argv[1], int(sys.argv[2])
source = (pathlib.Path(__file__).parent.parent / "src/search/level.rs").read_text()
levels = [(name, nodes, margin, int(elo)) for name, nodes, margin, elo in
          re.findall(r'level\("(\w+)", ([\d_]+), (\d+), Some\((\d+)\)\)', source)]


def match(stronger, weaker):
    """The report of a match; its moves have the limits of the levels, which are far below these nodes."""
    options = []
    for player, (*_, elo) in zip("ab", (stronger, weaker)):
        for option in ("Seed=1", "UCI_LimitStrength=true", f"UCI_Elo={elo}"):
            options += [f"--{player}-option", option]
    command = [program, "match", f"{program} uci", f"{program} uci", "--nodes", "1000000000", "--games", str(games),
               "--openings", "random:6:1", "--concurrency", "2", "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


print("# Strength levels\n")
print(f"Games between neighbouring levels, {games} for each pair, by `benches/levels.py`, {datetime.date.today()}, openings")
print("`random:6:1`, rules `paper`. Errors are 95 %. The levels are limited by nodes, not by time.\n")
print("| level | nodes | margin, cp | against | wins | draws | losses | Elo difference | Elo above the first |")
print("|---|---|---|---|---|---|---|---|---|")
above = 0
for weaker, stronger in zip(levels, levels[1:]):
    report = match(stronger, weaker)
    name, nodes, margin, _ = stronger
    if report["elo"] is None:
        sys.exit(f"{name} against {weaker[0]}: one level won all games; play more")
    above += report["elo"]
    error = "unknown" if report["elo_error"] is None else f"{report['elo_error']:.0f}"
    counts = " | ".join(str(report[key]) for key in ("wins", "draws", "losses"))
    nodes = nodes.replace("_", ",")
    print(f"| {name} | {nodes} | {margin} | {weaker[0]} | {counts} | {report['elo']:.0f} ± {error} | {above:.0f} |", flush=True)
