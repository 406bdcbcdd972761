"""`make bench`: every part in a process of its own, single-threaded BLAS, ratios measured side by side.

python benchmarks/run.py                       # all parts
python benchmarks/run.py per_triplet runner    # some
"""

import csv
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import measure

PARTS = (
    *("startup", "neighbours", "runner", "store_scale"),
    *("per_triplet", "single_row", "growth", "batch", "streams", "defaults"),
    *("high_dimension", "high_dimension_cost", "misbehaving", "metric_knn", "depth"),
)
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
HERE = Path(__file__).parent


def run(part: str) -> bool:
    """Run one part; a part that fails is reported and the others go on."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, HERE / f"{part}.py"], env=os.environ | ONE_THREAD)
    state = "done" if done.returncode == 0 else f"FAILED (exit code {done.returncode})"
    print(f"{part}: {state} in {time.perf_counter() - start:.0f} s", flush=True)
    return done.returncode == 0


def markdown() -> str:
    """Return all parts' tables as Markdown."""
    lines = [
        "# Benchmarks",
        "",
        f"`make bench`, {platform.machine()}, Python {platform.python_version()}.",
        "",
    ]
    for path in sorted(measure.RESULTS.glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        lines += [f"## {path.stem}", "", f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
        lines += [f"| {' | '.join(map(number, row))} |" for row in rows] + [""]
    return "\n".join(lines)


def number(word: str) -> str:
    """Shorten a number for reading; leave words alone."""
    try:
        return f"{float(word):.3g}" if "." in word or "e" in word else word
    except ValueError:
        return word


def main(parts: list[str]) -> int:
    unknown = set(parts) - set(PARTS)
    if unknown:
        sys.exit(f"error: {' '.join(sorted(unknown))}: not one of {', '.join(PARTS)}")
    failed = [part for part in parts or PARTS if not run(part)]
    (measure.RESULTS / "README.md").write_text(markdown(), encoding="utf-8")
    print(f"written: {measure.RESULTS / 'README.md'} and one CSV per part")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
