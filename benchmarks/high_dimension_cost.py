"""What a stream of sparse rows costs at 50,000 features: memory, and time per row beside 5,000 features.

python benchmarks/high_dimension_cost.py

Rows have 100 non-zeros each, spread over all features; they arrive in calls of 1,000. Each learner has a
process of its own. Memory is the highest seen during the stream, above what the process holds after import,
compilation and the making of the rows. Time is that of one thread, the two widths by turns, the best of two.
"""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import measure
import numpy as np
from scipy.sparse import csr_array

from mloml import MLOML, DiagonalMOML, LowRankMOML

WIDE, NARROW, NON_ZEROS, CALL, ROWS, TURNS = 50_000, 5_000, 100, 1_000, 5_000, 2

LEARNERS = {
    "MOML, diagonal": lambda: DiagonalMOML(gamma=100.0),
    "MOML, rank 50": lambda: LowRankMOML(n_components=50, gamma=0.1, random_state=0),
    "MLOML, rank 50": lambda: MLOML(gamma=0.1, n_components=50, random_state=0),
}


def sparse_rows(rng: np.random.Generator, count: int, d: int) -> csr_array:
    """Return rows of length 1 with exactly 100 non-zeros, one in each hundredth of the features."""
    places = ((np.arange(NON_ZEROS) + rng.random((count, NON_ZEROS))) * d / NON_ZEROS).astype(np.int32)
    data = rng.exponential(size=places.shape)
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    return csr_array((data.ravel(), places.ravel(), np.arange(count + 1) * NON_ZEROS), shape=(count, d))


def megabytes(field: str) -> float:
    """Return a number of the process's memory, as Linux counts it."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def calls(rng: np.random.Generator, d: int) -> list[tuple[csr_array, np.ndarray]]:
    return [(sparse_rows(rng, CALL, d), rng.integers(0, 5, CALL)) for _ in range(ROWS // CALL)]


def stream(learner, rows: list[tuple[csr_array, np.ndarray]]) -> float:
    """Let all calls arrive; return the thread's seconds per row."""
    start = time.thread_time()
    for X, y in rows:
        learner.partial_fit(X, y)
    return (time.thread_time() - start) / (len(rows) * CALL)


def cost(name: str) -> measure.Row:
    """Measure one learner, in this process."""
    rng = np.random.default_rng(0)
    wide, narrow = calls(rng, WIDE), calls(rng, NARROW)
    stream(LEARNERS[name](), [(sparse_rows(rng, CALL, 200), rng.integers(0, 5, CALL))])  # compile
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak starts anew
    before = megabytes("VmRSS")
    learner = LEARNERS[name]()
    stream(learner, wide)
    memory = megabytes("VmHWM") - before
    seconds: dict[int, list[float]] = {WIDE: [], NARROW: []}
    learners = {WIDE: learner, NARROW: LEARNERS[name]().partial_fit(*narrow[0])}
    for _ in range(TURNS):
        for d, rows in ((WIDE, wide), (NARROW, narrow)):
            seconds[d].append(stream(learners[d], rows))
    slow, fast = min(seconds[WIDE]), min(seconds[NARROW])
    return {
        "learner": name,
        "memory MB": memory,
        "us per row, 5,000 features": fast * 1e6,
        "us per row, 50,000 features": slow * 1e6,
        "ratio": slow / fast,
        "rows a minute": int(60 / slow),
    }


def main() -> list[measure.Row]:
    table = []
    for name in LEARNERS:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        table.append(json.loads(done.stdout.splitlines()[-1]))
    return measure.write("high_dimension_cost", table)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        print(json.dumps(cost(sys.argv[1])))
    else:
        main()
