"""Time per triplet of two versions of this project, by turns, to see whether the newer one is slower.

python benchmarks/versions.py ../older ../newer            # two checkouts, each with this benchmark's files
python benchmarks/versions.py ../older ../newer 21 100     # only these numbers of features

Each turn is a process of its own that imports one checkout and times its scans as ``per_triplet.py`` there
prepares them. A ratio above 1 means that the newer version takes longer; it is the median over pairs of turns
that follow each other. Processor time is counted, not the clock on the wall.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import measure

TURNS = 5
TIMES = 5
FEATURES = ("4", "21", "57", "200")
ONE_TURN = """
import json, sys
import numpy as np
import per_triplet as part
from threadpoolctl import threadpool_limits
found = {}
with threadpool_limits(1):
    for method in part.METHODS:
        d = int(sys.argv[1])
        if method.cubic and d > 60:
            continue
        X, triplets = part.short_rows(d, 40 if method.cubic else max(300, 60_000 // d))
        if method.name in ("LEGO", "RDML"):
            X = X / 0.4
        times = [part.microseconds(method.ours, X, triplets) for _ in range(1 + int(sys.argv[2]))]
        found[method.name] = float(np.median(times[1:]))
print(json.dumps(found))
"""


def one_turn(checkout: Path, d: str) -> dict[str, float]:
    """Return microseconds per triplet by method, as one process that imports this checkout finds them."""
    paths = os.pathsep.join(str(checkout.resolve() / folder) for folder in ("src", "benchmarks"))
    command = [sys.executable, "-c", ONE_TURN, d, str(TIMES)]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compare(older: Path, newer: Path, d: str) -> list[measure.Row]:
    """Return a row per method: both medians, the ratio of turns that follow each other and its spread."""
    one_turn(older, d), one_turn(newer, d)  # compiles
    turns = [(one_turn(older, d), one_turn(newer, d)) for _ in range(TURNS)]
    rows = []
    for name in turns[0][0]:
        before, after = zip(*((a[name], b[name]) for a, b in turns), strict=True)
        ratio, spread = measure.median_and_spread([b / a for a, b in zip(before, after, strict=True)])
        us = {
            "older us": measure.median_and_spread([*before])[0],
            "newer us": measure.median_and_spread([*after])[0],
        }
        rows.append({"method": name, "features": int(d), **us, "newer / older": ratio, "spread": spread})
    return rows


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("say: python benchmarks/versions.py OLDER NEWER [features ...], two folders with checkouts")
    older, newer, *features = sys.argv[1:]
    measure.write(
        "versions", [row for d in features or FEATURES for row in compare(Path(older), Path(newer), d)]
    )
