"""Streams: tests over streams and gains around changes, on results whose numbers are known."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.config.compose import compose_study
from mloml.experiments.measures import BLOCKS, blocks
from mloml.experiments.study import StudyResult
from mloml.report.artefacts import drift, streams

ROWS = 8000


def record(dataset: str, algorithm: str, accuracy: np.ndarray, rows: int = ROWS) -> dict:
    """Return a cell that has this accuracy in every block, as nearly as that goes."""
    tested = np.bincount(blocks(rows), minlength=BLOCKS)
    hits = np.round(tested * accuracy).astype(int)
    right = int(hits.sum())
    return {
        "dataset": dataset, "algorithm": algorithm, "split": 0, "rows": rows, "hits": hits.tolist(),
        "error": 1 - right / (rows - 1), "confusion": [[right, rows - 1 - right, 0], [0, 0, 0]],
        "last_label": 4000, "majority": 5000, "seconds": {"row": 1e-3}, "memory": 1000,
    }  # fmt: skip


def result_of(name: str, records: list[dict], *overrides: str) -> StudyResult:
    study = compose_study(name, overrides)
    frame = pd.DataFrame(records)[["dataset", "algorithm", "split", "error"]].assign(status="ok")
    columns = ["dataset", "algorithm", "status", "error", "message"]
    return StudyResult(study, None, frame, records, pd.DataFrame(columns=columns), {})


@pytest.fixture(scope="module")
def study():
    """All cells of the study; MOML is ahead of k-NN everywhere, OPML on half of the streams."""
    rng, records = np.random.default_rng(2), []
    plan = compose_study("streams")
    for place, dataset in enumerate(plan.datasets):
        level = rng.uniform(0.5, 0.8)
        for algorithm in plan.algorithms:
            if not plan.leaves_out(dataset.name, algorithm.name):
                better = {"moml": 0.05, "opml": 0.05 * (-1) ** place, "last_label": 0.3 * (place == 0)}
                gain = better.get(algorithm.name, 0.0) + rng.uniform(-0.01, 0.01)
                records.append(record(dataset.name, algorithm.name, np.full(BLOCKS, level + gain)))
    return result_of("streams", records)


def test_every_pair_of_the_rule_is_tested_over_eleven_streams(study):
    artefact = streams.build(study)
    tests = next(table.frame for table in artefact.tables if table.name == "tests")
    assert tests.groupby("test", sort=False).size().to_dict() == {"plain": 8, "untrained": 2, "others": 12}
    assert (tests["streams"] == 11).all()
    first = tests[tests["test"] == "plain"].set_index("algorithm")
    assert first["verdict"].to_dict() == {
        n: "helps" if n == "moml" else streams.SAME for n in streams.LEARNERS
    }
    assert first.loc["moml", "higher"] == 11 and first["p_holm"].between(first["p"], 1).all()
    assert artefact.values["helping"] == 1


def test_draws_and_seeds_are_averaged_before_the_tests(study):
    errors = pd.DataFrame(study.records)[["dataset", "algorithm", "error"]]
    errors["stream"] = errors["dataset"].str.replace(r"_\d$", "", regex=True)
    errors["method"] = errors["algorithm"].str.replace(r"^arf_\d$", "arf", regex=True)
    mine = 1 - errors.pivot_table(index="stream", columns="method", values="error")
    tests = streams.build(study).tables[0].frame.set_index(["algorithm", "reference"])
    for pair in (("moml", "arf"), ("opml", "euclidean"), ("mloml_r", "mloml_r_untrained")):
        gaps = mine[pair[0]] - mine[pair[1]]
        some = gaps.round(12)[gaps.round(12) != 0]
        ranks, ways = stats.rankdata(some.abs()), np.array([*product([-1, 1], repeat=len(some))])
        extreme = np.abs(ways @ ranks) >= abs(ranks @ np.sign(some)) - 1e-9  # of all ways the signs could be
        assert tests.loc[pair, "p"] == pytest.approx(extreme.mean())
        assert tests.loc[pair, "median_difference"] == pytest.approx(gaps.median(), abs=1e-9)


def test_all_kappas_of_a_cell_follow_from_its_counts(study):
    table = streams.cells_frame(study)
    cell, found = study.records[3], table.iloc[3]
    wrong = cell["error"] * (ROWS - 1)
    assert found["kappa_temporal"] == pytest.approx(1 - wrong / (ROWS - 1 - 4000))
    assert found["kappa_m"] == pytest.approx(1 - wrong / (ROWS - 1 - 5000))
    assert found["kappa"] == pytest.approx(0)  # one class only: agreement is that of chance
    counted = streams.counts_table(study).frame.iloc[3]
    assert json.loads(counted["confusion"]) == cell["confusion"]


def test_gains_around_a_change_are_those_put_in():
    since = np.arange(BLOCKS) % 25  # blocks of 80 samples, 25 between two changes
    plain = np.full(BLOCKS, 0.5)
    shapes = {
        "euclidean": plain,
        "moml": plain + 0.01 * np.minimum(since, 10),
        "opml": plain,
        "mloml_t": plain,
    }
    sets = [f"{name}_{draw}" for name in ("sea", "agrawal", "stagger", "led") for draw in (1, 2, 3)]
    records = [record(dataset, name, shape) for dataset in sets for name, shape in shapes.items()]
    results = [result_of("drift", records, f"protocol.window={size}") for size in (250, 1000, 4000)]
    table = drift.build(*results).tables[0].frame.set_index(["window", "algorithm", "stream"])
    row = table.loc[1000, "moml", "led"]
    assert row[["gain_before", "gain_later"]].tolist() == pytest.approx([0.1, 0.1], abs=0.007)
    assert row["gain_after"] == pytest.approx(0.025, abs=0.007) and row["samples_to_recover"] == 800
    curve = drift.build(*results).figures[0].numbers
    assert curve["since"].min() == -960 and curve["since"].max() == 1920
    assert set(curve["window"]) == {250, 1000, 4000}


def test_a_part_of_a_stream_has_nothing_around_changes():
    short = [record("sea_1", "moml", np.full(BLOCKS, 0.5), rows=200)]
    artefact = drift.build(result_of("drift", short, "protocol=lite"))
    assert artefact.tables[0].frame.empty and not artefact.figures
