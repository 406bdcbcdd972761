"""What to keep of a failed cell, so that it can be understood and run again by itself."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mloml.command_line import rerun_command
from mloml.experiments.job import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from mloml.config.schema import Study
    from mloml.experiments.cell import Cell

COLUMNS = (
    "dataset", "algorithm", "split", "status", "error", "message", "command", "seed", "config", "traceback",
)  # fmt: skip
"""Columns of ``failures.csv``; ``command`` runs just this cell again."""


def failures_frame(study: Study, failed: Iterable[tuple[Cell, Outcome]]) -> pd.DataFrame:
    """Return the frame behind ``failures.csv``: one row per failed cell, none when all went well."""
    import pandas as pd

    rows = [
        {
            "dataset": cell.dataset,
            "algorithm": cell.algorithm.name,
            "split": cell.split,
            "status": outcome.state,
            "error": outcome.error,
            "message": outcome.message,
            "command": rerun_command(study, cell),
            "seed": json.dumps(_seeds(cell)),
            "config": json.dumps(_config(cell), sort_keys=True),
            "traceback": outcome.traceback,
        }
        for cell, outcome in failed
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _seeds(cell: Cell) -> dict[str, int]:
    from mloml.experiments.splits import derive_seed

    purposes = ("split", "folds", "stream")
    return {name: derive_seed(cell.protocol.seed, cell.dataset, cell.split, name) for name in purposes}


def _config(cell: Cell) -> dict[str, object]:
    return {
        "dataset": cell.dataset,
        "checksum": cell.checksum,
        "algorithm": dataclasses.asdict(cell.algorithm),
        "protocol": dataclasses.asdict(cell.protocol),
        "record": list(cell.record),
    }
