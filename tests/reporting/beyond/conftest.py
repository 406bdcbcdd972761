"""Studies beyond the paper that never ran: errors that differ from Euclidean's as a test wants them to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest

from mloml.config.schema import Algorithm, DatasetConfig, ProtocolConfig, Study
from mloml.execution.failures import COLUMNS as FAILURE_COLUMNS
from mloml.execution.study import StudyResult
from mloml.results.manifest import Source

TITLES = {
    "euclidean": "Euclidean",
    "lmnn": "LMNN",
    "opml": "OPML",
    "moml": "MOML",
    "mloml_r": "MLOML-r",
    "mloml_s": "MLOML-s",
    "mloml_t": "MLOML-t",
    "lda": "LDA",
    "mloml_r_untrained": "MLOML-r untrained",
    "mloml_s_untrained": "MLOML-s untrained",
    "mloml_t_untrained": "MLOML-t untrained",
}

Make = Callable[..., StudyResult]


@pytest.fixture(scope="session")
def make_study(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a function that makes a study's result.

    ``effects`` says by how much a method's error differs from Euclidean's on every set; methods without one
    differ by as much on even sets as they do the other way on odd ones, so that nothing is shown of them.
    ``gaps`` are the cells that failed, by dataset and algorithm.
    """

    folder = tmp_path_factory.mktemp("beyond")

    def make(
        protocol: str = "clean",
        effects: Mapping[str, float] | None = None,
        gaps: Mapping[tuple[str, str], str] | None = None,
        sets: int = 12,
        splits: int = 5,
        algorithms: tuple[str, ...] = tuple(TITLES),
        base: float = 0.3,
    ) -> StudyResult:
        effects, gaps = effects or {}, gaps or {}
        names = [f"set{number:02d}" for number in range(sets)]
        rows = []
        for number, dataset in enumerate(names):
            for place, algorithm in enumerate(algorithms):
                rng = np.random.default_rng([number, place])
                sway = (
                    0.0
                    if algorithm == "euclidean"
                    else 0.01 * (-1) ** number * (1 + number // 2 + place / 50)
                )
                errors = base + effects.get(algorithm, sway) + 0.002 * rng.normal(size=splits)
                for split, error in enumerate(errors):
                    failed = (dataset, algorithm) in gaps
                    rows.append(
                        {
                            "dataset": dataset,
                            "algorithm": algorithm,
                            "split": split,
                            "error": np.nan if failed else float(error),
                            "seconds": 0.1 * (place + 1) * (1 + 0.1 * split),
                            "status": "failed" if failed else "ok",
                        }
                    )
        failures = [
            dict.fromkeys(FAILURE_COLUMNS, "")
            | {"dataset": dataset, "algorithm": algorithm, "split": split, "status": "failed"}
            | {"error": "ValueError", "message": reason}
            for (dataset, algorithm), reason in gaps.items()
            for split in range(splits)
        ]
        study = Study(
            name="beyond",
            datasets=[
                DatasetConfig(
                    name=name,
                    title=name.capitalize(),
                    rows=200,
                    note="A stratified sample of 200 of 400 rows: see docs/beyond.md."
                    if name == "set00"
                    else None,
                )
                for name in names
            ],
            algorithms=[Algorithm(name, TITLES[name], "Euclidean") for name in algorithms],
            protocol=ProtocolConfig(name=protocol, splits=splits),
        )
        return StudyResult(
            study,
            folder / protocol,
            pd.DataFrame(rows),
            [],
            pd.DataFrame(failures, columns=list(FAILURE_COLUMNS)),
            {},
            sources={name: Source("c", "bundled", False) for name in names},
            command="mloml reproduce beyond",
        )

    return make
