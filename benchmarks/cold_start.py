"""Cold starts that are killed, interrupted and run at once, and whether what follows computes the same.

    python benchmarks/cold_start.py --learner OASIS --moments 10 --processes 4

Each line begins with an empty cache of compiled code, ends a cold start at a moment between its begin and its
end (or runs several at once), and compares the numbers of the next run with those of an undisturbed one. The
exit code is the number of lines that differ.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

CELL = """
import hashlib, sys, time
begin = time.perf_counter()
import numpy as np
import mloml
from mloml.experiments.knn import predict, predict_by_similarity
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
learner = getattr(mloml, sys.argv[1])()
if "random_state" in learner.get_params():
    learner.set_params(random_state=0)
learner.fit(X[::2], y[::2])
if sys.argv[1] == "OASIS":
    found = predict_by_similarity(learner.similarity(X[1::2], X[::2]), y[::2], 5)
    learned = learner.get_bilinear_matrix()
else:
    found = predict(learner.transform(X[::2]), y[::2], learner.transform(X[1::2]), 5)
    learned = learner.transform(X)
digest = hashlib.sha256(np.ascontiguousarray(learned).tobytes()).hexdigest()[:12]
print(f"error {np.mean(found != y[1::2]):.4f}, learned {digest}")
"""


def start(learner: str, cache: str) -> subprocess.Popen[str]:
    """Start a process that learns and tests, with compiled code kept in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-c", CELL, learner], env=environment, text=True, **pipes)


def run(learner: str, cache: str) -> tuple[str, float]:
    """Run to the end; return what was printed and the seconds."""
    begin = time.perf_counter()
    output, _ = start(learner, cache).communicate()
    return output.strip(), time.perf_counter() - begin


def disturbed(learner: str, word: str, seconds: float) -> str:
    """End a cold start after some seconds; return what the next run prints."""
    with tempfile.TemporaryDirectory() as cache:
        process = start(learner, cache)
        time.sleep(seconds)
        process.send_signal(getattr(signal, word))
        process.communicate()
        return run(learner, cache)[0]


def at_once(learner: str, count: int) -> set[str]:
    """Start several processes on an empty cache; return all that they and a later one print."""
    with tempfile.TemporaryDirectory() as cache:
        processes = [start(learner, cache) for _ in range(count)]
        return {process.communicate()[0].strip() for process in processes} | {run(learner, cache)[0]}


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learner", default="OASIS")
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--processes", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        expected, cold = run(options.learner, cache)
        again, warm = run(options.learner, cache)
    if not expected:
        sys.exit("error: an undisturbed run fails")
    print(f"{options.learner}: {expected}; cold start {cold:.1f} s, warm {warm:.1f} s")
    differ = report("a second start", {again}, expected)
    for word in ("SIGKILL", "SIGINT"):
        for k in range(options.moments):
            seconds = warm / 2 + (cold - warm / 2) * (k + 0.5) / options.moments
            found = {disturbed(options.learner, word, seconds)}
            differ += report(f"{word} after {seconds:.1f} s", found, expected)
    return differ + report(
        f"{options.processes} at once", at_once(options.learner, options.processes), expected
    )


def report(what: str, found: set[str], expected: str) -> int:
    """Print a line of the table; return 1 if anything differs."""
    print(f"{what:24} {'equal' if found == {expected} else f'DIFFERENT: {sorted(found)}'}", flush=True)
    return int(found != {expected})


if __name__ == "__main__":
    sys.exit(main())
