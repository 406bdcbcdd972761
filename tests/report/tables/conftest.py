"""Studies that never ran: cells drawn around the paper's own means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.config.schema import Algorithm, DatasetConfig, ProtocolConfig, Study
from mloml.experiments.study import StudyResult
from mloml.report.publish import publish
from mloml.report.recipe import find_recipe
from mloml.experiments.manifest import Source

TITLES = {name: title for title, name in paper.ALGORITHMS.items()}
FOOTNOTES = {
    "spect_paper": "the last feature was taken for the label",
    "mlprove_paper": "labels among features",
}
REASON = "no copy in the cache & 100 % offline; put it into {data.dir}"

COMMAND = "python experiments/table.py protocol=paper"

Make = Callable[..., StudyResult]


@pytest.fixture
def make_result(tmp_path: Path) -> Make:
    """Return a function that makes a study's result; ``keep`` decides which cells are finished."""

    def make(
        datasets=("iris", "wine", "spect_paper", "waveform", "spect"),
        algorithms=("euclidean", "lego", "oasis", "slmoml", "moml", "mloml_r"),
        splits=8,
        published=None,
        protocol="paper",
        missing=(),
        keep=lambda dataset, algorithm, split: True,
    ) -> StudyResult:
        table = paper.table2() if published is None else published
        printed = {(c["dataset"], c["algorithm"]): c for c in table.to_dict("records")}
        study = Study(
            name="table",
            datasets=[
                DatasetConfig(name=name, title=name, footnote=FOOTNOTES.get(name)) for name in datasets
            ],
            algorithms=[
                Algorithm(a, TITLES.get(a, a), "Euclidean", note="reconstruction" if a == "slmoml" else None)
                for a in algorithms
            ],
            protocol=ProtocolConfig(name=protocol, splits=splits),
        )
        records = []
        for dataset in datasets:
            rng = np.random.default_rng(len(dataset))
            common = rng.normal(size=splits)
            for algorithm in algorithms:
                cell = printed[(dataset.removesuffix("_paper"), algorithm.removesuffix("_cv"))]
                noise = 0.9 * common + 0.4 * rng.normal(size=splits)
                errors = np.clip(cell["error"] + cell["std"] * noise, 0, 1)
                for split, error in enumerate(errors):
                    if dataset not in missing:
                        records.append(_record(dataset, algorithm, split, float(error)))
        done = [keep(r["dataset"], r["algorithm"], r["split"]) for r in records]
        frame = pd.DataFrame(records)[["dataset", "algorithm", "split", "error"]]
        frame = frame.assign(status=["ok" if ok else "missing" for ok in done])
        frame.loc[frame["status"] != "ok", "error"] = np.nan
        sources = {name: Source("c", "generated", name == "waveform") for name in ("waveform", "iris")}
        finished = [record for record, ok in zip(records, done, strict=True) if ok]
        reasons = dict.fromkeys(missing, REASON)
        return StudyResult(
            study, tmp_path, frame, finished, pd.DataFrame(), reasons, len(finished), 0, sources, COMMAND
        )

    return make


@pytest.fixture
def write() -> Callable[..., Path]:
    """Return a function that publishes the artefact of a name; it returns the folder."""

    def write(name: str, result: StudyResult, *found: object) -> Path:
        publish(find_recipe(name).make([result], *found), result.folder)
        return result.folder

    return write


def _record(dataset: str, algorithm: str, split: int, error: float) -> dict:
    grid = [{"params": {}, "cv_error": None, "test_error": error}]
    if algorithm not in ("euclidean", "oasis"):
        # Cross-validation prefers the first value in even splits and the second in odd ones.
        grid = [
            {"params": {"gamma": 0.01}, "cv_error": 0.2 + 0.1 * (split % 2), "test_error": error},
            {"params": {"gamma": 0.1}, "cv_error": 0.25, "test_error": error - 0.001},
        ]
    return {
        "dataset": dataset,
        "algorithm": algorithm,
        "split": split,
        "error": error,
        "grid": grid,
        "scan_errors": [error + 0.02, error + 0.01, error],
    }
