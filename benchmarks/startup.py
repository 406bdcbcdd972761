"""Start-up: the help page, and each learner's first fit in a process, with an empty and with a filled cache.

python benchmarks/startup.py
"""

import os
import subprocess
import sys
import tempfile
import time

import measure

FIRST_FIT = """
import time, numpy as np
from mloml import {name}
X = np.random.default_rng(0).normal(size=(40, 5)); y = np.arange(40) % 2
start = time.perf_counter(); {name}().fit(X, y); print(time.perf_counter() - start)
"""
LEARNERS = (
    *("MOML", "DiagonalMOML", "LowRankMOML", "MLOML", "OPML", "LEGO", "RDML", "OASIS", "SLMOML"),
    *("LMNN", "LMDML", "MLCC"),
)


def process_seconds(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def first_fit(name: str, cache: str) -> float:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FIT.format(name=name)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def main() -> list[measure.Row]:
    help_page = sorted(process_seconds("-m", "mloml.cli", "--help") for _ in range(5))
    rows: list[measure.Row] = [{"what": "mloml --help", "warm s": help_page[2]}]
    for name in LEARNERS:
        with tempfile.TemporaryDirectory() as cache:
            cold = first_fit(name, cache)
            warm = sorted(first_fit(name, cache) for _ in range(3))[1]
        rows.append({"what": f"first fit of {name}", "warm s": warm, "cold s": cold})
    return measure.write("startup", rows)


if __name__ == "__main__":
    main()
