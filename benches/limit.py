#!/usr/bin/env python3
"""Prints what the no-capture limit changes, from counts of `dsq stats --json`:

    dsq stats LIMITED --json | benches/limit.py results/tables.jsonl

LIMITED holds tables of `dsq generate --metric dtz`, the file the counts by distances to the end. A decided position is
changed at a clock if its distance to the next capture or den entry exceeds the plies that are left.
"""

import json
import sys

LIMIT = 100
CLOCKS = range(0, LIMIT, 10)


def lines(file):
    return {line["name"]: line for line in map(json.loads, file)}


def main():
    with open(sys.argv[1]) as file:
        unlimited = lines(file)
    limited = lines(sys.stdin)
    print("| pieces | decided | spoiled wins, saved losses | at clock " + " | ".join(map(str, CLOCKS)) + " |")
    print("|---|---|---|" + "---|" * len(CLOCKS))
    for name, line in limited.items():
        before = unlimited[name]
        decided = before["wins"] + before["losses"]
        changed = [f"{before[result] - line[result]:,}" for result in ("wins", "losses")]
        shares = []
        for clock in CLOCKS:
            left = [sum(line["by_dtz"][result][: LIMIT - clock + 1]) for result in ("wins", "losses")]
            shares.append(f"{100 * (1 - sum(left) / decided):.3g} %")
        print(f"| {name.split()[0]} | {decided:,} | {', '.join(changed)} | " + " | ".join(shares) + " |")


main()
