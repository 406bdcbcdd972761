"""Every script in `benchmarks/` still runs: each is imported, and its smallest case is computed."""

import importlib
import io
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks are not part of an installed wheel")

# The constants that make a script small; its `main`, if it has no case below, is called with these arguments.
SMALL = {
    "against": {"SCANS": 1, "REPEATS": 1, "SETS": ("iris",)},
    "defaults": {"UNSEEN": ("appendicitis",)},
    "depth": {"SHAPES": ((50, 4),), "SETS": ("iris",), "REPEATS": 1},
    "high_dimension": {"SCANS": 1},
    "high_dimension_cost": {"WIDE": 300, "NARROW": 200, "CALL": 20, "ROWS": 40, "TURNS": 1},
    "labels": {"SPLITS": 1},
    "metric_knn": {"SIZES": ((4, 20),), "ROWS": 4, "TURNS": 2},
    "misbehaving": {"COUNT": 2000, "FIRST": 100, "FRESH": 30, "STREAMS": {"clean": np.ones_like}},
    "neighbours": {"SIZES": [(10, 2)]},
    "per_triplet": {"REPEATS": 3},
    "runner": {"CELLS": ["datasets=[iris]", "algorithms=[moml]", "protocol.splits=1"]},
    "search": {"ROWS": 30, "QUERIES": 5, "FIRST": 30, "STEPS": (0, 10), "CLASSES": 3, "CANDIDATES": 12},
    "single_row": {"FEATURES": (4,), "WARM_UP": 2, "ROWS": 2, "TURNS": 2},
    "streams": {"CALL": 20, "BLOCK": 40, "FRESH": 20, "SCALINGS": {"as they are": np.asarray}},
}
ARGUMENTS = {
    "defaults": (1, ["MOML", "MOML, 1e-4"]), "depth": (1, ["relu"]), "labels": (), "metric_knn": (),
    "misbehaving": (1, []), "neighbours": (), "per_triplet": ([4],), "search": (), "single_row": (),
    "streams": (1, []), "store_scale": ([50],),
}  # fmt: skip


class Index:
    """Finds the first rows, whatever is asked: faiss is not among what the tests need."""

    def __init__(self, *_):
        self.hnsw = SimpleNamespace()

    def add(self, rows):
        self.n = len(rows)

    def search(self, rows, k):
        return None, np.tile(np.arange(min(k, self.n)), (len(rows), 1))


FAISS = SimpleNamespace(
    IndexHNSWFlat=Index, IndexFlatL2=Index, IndexFlatIP=Index, METRIC_L2=1, METRIC_INNER_PRODUCT=0,
    omp_set_num_threads=lambda n: None,
)  # fmt: skip


def against(script):
    assert script.one_turn(("",), [4])


def batch(script):
    X, y = script.waveform(40)
    np.savez("rows.npz", X=X, y=y, mu=script.MU)
    with redirect_stdout(io.StringIO()):
        script.run_ours("rows.npz")
    data = script.ByClass.of(X, y)
    problem = script.LargeMargin(data, data.target_neighbours(3))
    assert problem.evaluate(np.eye(21), script.MU)[0] > 0
    assert script.lmdml(60, 50)["ours s"] > 0 and script.kissme(50)["ours s"] > 0


def growth(script):
    for strategy in ("fp", "bp", "fbp"):
        assert script.scan_seconds(4, 12, 2, strategy, repeats=1) > 0
    assert min(script.memory(4, 2)) > 0


def high_dimension(script):
    (words, y, _), (words_test, y_test, _) = (
        script.planted_words(80, 0, 300),
        script.planted_words(20, 1, 300),
    )
    for X, X_test in ((words, words_test), (words.toarray(), words_test.toarray())):
        assert script.compare((X, y, X_test, y_test), 2)


def high_dimension_cost(script):
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("counts memory as Linux does")
    for name in script.LEARNERS:
        assert script.cost(name)["memory MB"] >= 0


def planted_words(script):
    (X, y, _), (X_test, y_test, _) = script.planted_words(30, 0, 300), script.planted_words(10, 1, 300)
    assert 0 <= script.cosine_accuracy(X, y, X_test, y_test) <= 1


def remedies(script):
    table = script.drifting(next(iter(script.CONCEPTS)), 60, 11)
    _, y = np.unique(table.labels, return_inverse=True)
    for learner in script.learners().values():
        assert 0 <= script.accuracy(script.standardised_so_far(table.X), y, *learner) <= 1


def run(script, monkeypatch):
    assert all((FOLDER / f"{part}.py").exists() for part in script.PARTS)
    script.measure.write("some", [{"what": "one", "s": 0.123456}])
    assert "| one | 0.123 |" in script.markdown()


def runner(script, monkeypatch):
    monkeypatch.setattr(script, "run_study", lambda study: time.sleep(0.01))  # `store_scale` has a real one
    assert script.efficiency(script.compose_study("table2", script.CELLS))["efficiency"] > 0
    assert script.store_overhead()["put ms"] > 0


def startup(script):
    for name in script.LEARNERS:
        with redirect_stdout(io.StringIO()):
            exec(script.FIRST_FIT.format(name=name), {})


CASES = {
    case.__name__: case
    for case in (
        against, batch, growth, high_dimension, high_dimension_cost, planted_words, remedies, run,
        runner, startup,
    )
}  # fmt: skip
NO_CASE = {"measure", "stream_figure", "numpy_batch", "numpy_online"}
"""What the others import."""
ELSEWHERE = {"batch_baselines"}
"""Needs metric-learn, which has an environment of its own."""


def test_every_script_has_a_case():
    scripts = {path.stem for path in FOLDER.glob("*.py")}
    assert scripts == ARGUMENTS.keys() | CASES.keys() | NO_CASE | ELSEWHERE


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """The scripts can be imported, and write into a folder that is thrown away."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setitem(sys.modules, "faiss", FAISS)
    monkeypatch.chdir(tmp_path)
    with joblib.parallel_config(backend="sequential"):
        yield
    for name in {path.stem for path in FOLDER.glob("*.py")} - before:
        sys.modules.pop(name, None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*ARGUMENTS, *CASES])
def test_the_smallest_case_of_a_script_runs(name, at_home, monkeypatch):
    if name in ("metric_knn", "remedies"):
        pytest.importorskip("river")
    script = importlib.import_module(name)
    for constant, value in SMALL.get(name, {}).items():
        assert hasattr(script, constant)
        monkeypatch.setattr(script, constant, value)
    if name in ARGUMENTS:
        assert script.main(*ARGUMENTS[name]) is not None or (Path("results/bench") / f"{name}.csv").exists()
    else:
        case = CASES[name]
        case(script, monkeypatch) if "monkeypatch" in case.__code__.co_varnames else case(script)
