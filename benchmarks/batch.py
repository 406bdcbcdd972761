"""Batch learners: LMNN against metric-learn's, LMDML and KISSME against plain NumPy.

python benchmarks/batch.py           # on 2500 rows metric-learn is cut off; about three minutes in all
python benchmarks/batch.py --full    # there, too, it runs to its own stopping rule; may take an hour

metric-learn 0.7 does not run on a current scikit-learn; it gets an environment of its own in the user's
cache. Of its learning rates 1e-7 … 1e-4 the one with the lowest objective is compared. All objectives are
evaluated by one function, ours, at the factors found. The ratio is its time over our time to its final
objective; when it is cut off, over our time to convergence, which can only understate it.

PyLMNN is left out: it does not import on a current stack, and it minimises another objective (squared
hinges). metric-learn has neither KISSME nor LMDML.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import measure
import numpy as np
from numpy_batch import explicit_pair_sums, numpy_lmdml_steps
from platformdirs import user_cache_path
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

from mloml import KISSME, LMDML, LMNN
from mloml.learners.batch import ByClass
from mloml.learners.kissme import pair_covariances
from mloml.learners.lmnn import LargeMargin

MU = 0.5
RATES = (1e-7, 1e-6, 1e-5, 1e-4)
SEARCH_SECONDS, RUN_SECONDS = 12.0, 75.0
REQUIREMENTS = ("metric-learn==0.7.0", "scikit-learn<1.6", "numpy<2")
HERE = Path(__file__).parent


def waveform(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows like Breiman's waveforms: two of three shifted triangles mixed at random, plus noise."""
    rng = np.random.default_rng(seed)
    triangles = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    y = rng.integers(0, 3, n)
    first, second = np.array([[0, 1], [0, 2], [1, 2]])[y].T
    share = rng.uniform(size=(n, 1))
    X = share * triangles[first] + (1 - share) * triangles[second] + rng.normal(size=(n, 21))
    return normalize(X), y


def timed_fit(X: np.ndarray, y: np.ndarray, **settings: float) -> tuple[float, LMNN]:
    began = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # of fits that are stopped early on purpose
        model = LMNN(**settings).fit(X, y)
    return time.perf_counter() - began, model


def run_ours(rows: str) -> None:
    """In a process of its own, so that its peak memory is its own: fit, print the trace as JSON.

    The trace is made of fits that are stopped after 1, 2, 4, … steps.
    """
    data = np.load(rows)
    X, y, mu = data["X"], data["y"], float(data["mu"])
    timed_fit(X[:300], y[:300], max_iter=3, tol=1.0)  # compile
    seconds, whole = timed_fit(X, y, mu=mu)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    trace = []
    steps = 1
    while steps < whole.n_iter_:
        took, model = timed_fit(X, y, mu=mu, max_iter=steps)
        trace.append((took, model.objective_))
        steps *= 2
    trace.append((seconds, whole.objective_))
    print(json.dumps({"trace": trace, "peak": peak, "objective": whole.objective_}))


def environment() -> Path:
    """Return the Python that has metric-learn, after making its environment if need be."""
    folder = user_cache_path("mloml") / "bench-metric-learn"
    python = folder / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import metric_learn"]).returncode:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True, capture_output=True
        )
    return python


def metric_learn(python: Path, rows: Path, rate: float, limit: float) -> dict:
    out = rows.with_name(f"metric_learn_{rate:g}.npz")
    subprocess.run([python, HERE / "batch_baselines.py", rows, str(rate), str(limit), out], check=True)
    return dict(np.load(out))


def lmnn(n: int, to_the_end: bool) -> measure.Row:
    X, y = waveform(n)
    data = ByClass.of(X, y)
    exact = LargeMargin(data, data.target_neighbours(3))
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.npz"
        np.savez(rows, X=X, y=y, mu=MU)
        ours = json.loads(subprocess.check_output([sys.executable, __file__, "--ours", rows]))
        row = {"what": f"LMNN, {n} x 21", "ours s": ours["trace"][-1][0], "objective": ours["objective"]}
        row |= {"peak MB": ours["peak"]}
        try:
            python = environment()
        except (subprocess.CalledProcessError, OSError) as error:
            return row | {"note": f"metric-learn could not be installed: {error}"}
        limit = np.inf if to_the_end else SEARCH_SECONDS
        search = [metric_learn(python, rows, rate, limit) for rate in RATES]
        best = int(np.argmin([run["trace"][:, 1].min() for run in search]))
        run = search[best] if to_the_end else metric_learn(python, rows, RATES[best], RUN_SECONDS)
    theirs, seconds = exact.evaluate(run["L"], MU)[0], float(run["seconds"])
    reached = next(t for t, value in ours["trace"] if value <= theirs)
    ended = "by its own rule" if run["finished"] else "cut off"
    return row | {
        "theirs s": seconds, "their objective": theirs, "ours s to theirs": reached,
        "ratio": seconds / (reached if run["finished"] else row["ours s"]),
        "note": f"metric-learn at {RATES[best]:g}, ended {ended}",
    }  # fmt: skip


def lmdml(n: int, steps: int) -> measure.Row:
    X, y = waveform(n)
    ours, _ = measure.seconds(lambda: LMDML(max_steps=steps, random_state=0).fit(X, y), repeats=3)
    plain, _ = measure.seconds(lambda: numpy_lmdml_steps(X, y, 300), repeats=1)
    ratio = (plain / 300) / (ours / steps)
    note = "per step; plain NumPy"
    return {
        "what": f"LMDML, {n} x 21",
        "ours s": ours / steps,
        "theirs s": plain / 300,
        "ratio": ratio,
        "note": note,
    }


def kissme(n: int) -> measure.Row:
    X, y = make_classification(n, 21, n_informative=10, random_state=0)
    ours, _ = measure.seconds(lambda: pair_covariances(X, y))
    whole, _ = measure.seconds(lambda: KISSME().fit(X, y))
    plain, _ = measure.seconds(lambda: explicit_pair_sums(X, y), repeats=3)
    note = f"two covariances; NumPy over explicit pairs; the whole fit takes {whole * 1e3:.2g} ms"
    return {
        "what": f"KISSME, {n} x 21",
        "ours s": ours,
        "theirs s": plain,
        "ratio": plain / ours,
        "note": note,
    }


def main(full: bool) -> list[measure.Row]:
    return measure.write("batch", [lmnn(300, True), lmnn(2500, full), lmdml(2500, 20_000), kissme(1000)])


if __name__ == "__main__":
    if "--ours" in sys.argv:
        run_ours(sys.argv[2])
    else:
        main("--full" in sys.argv)
