"""What a study has come to: its cells, their records and what failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mloml.experiments.manifest import Source
from mloml.experiments.store import Record

if TYPE_CHECKING:
    import pandas as pd

    from mloml.config.schema import Study


@dataclass(frozen=True)
class StudyResult:
    """What a study has come to, at its end or while it runs.

    Attributes
    ----------
    study : Study
    folder : Path
        Where ``cells.csv``, ``failures.csv`` and ``manifest.json`` are.
    frame : DataFrame
        One row per cell, see :data:`mloml.experiments.store.COLUMNS`; those not computed have status ``missing``.
    records : list of dict
        The records of the finished cells, in the order of ``frame``.
    failures : DataFrame
        One row per failed cell, see :data:`mloml.experiments.failures.COLUMNS`.
    missing : dict
        Datasets that are not available, and how to provide them.
    computed, reused : int
        Cells computed by this run, and found in the store.
    sources : dict
        Which data each dataset's cells stand for.
    command : str
        That asked for the study.
    """

    study: Study
    folder: Path
    frame: pd.DataFrame
    records: list[Record]
    failures: pd.DataFrame
    missing: dict[str, str]
    computed: int = 0
    reused: int = 0
    sources: dict[str, Source] = field(default_factory=dict)
    command: str = ""

    @property
    def finished(self) -> bool:
        """Whether every cell was computed or has failed."""
        return not (self.frame["status"] == "missing").any()


Refresh = Callable[[StudyResult], str]
"""Writes tables from a result, and returns what they say in a sentence."""
