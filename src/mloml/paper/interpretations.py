"""Interpretations of the paper: those tried, the one chosen, and on which cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from mloml.paper.comparison import AGREES
from mloml.paper.published import ALGORITHMS, DATASETS, PROPAGATIONS, paper_row

DECIDED, SEEN, UNSEEN = "decided on", "only seen", "not looked at"
# What a cell was in making a choice, the strongest first.
LOOKS = (DECIDED, SEEN, UNSEEN)
ANY = "any of them"


@dataclass(frozen=True)
class Choice:
    """One question that the paper leaves open; the fields are those of ``interpretations.yaml``."""

    name: str
    what: str
    tried: int
    chosen: str
    methods: tuple[str, ...]
    judged_by: tuple[str, ...]
    decided_on: tuple[str, ...] = ()
    also_seen: tuple[str, ...] = ()
    rows: tuple[str, ...] = DATASETS

    def concerns(self, row: str, algorithm: str) -> bool:
        """Tell whether the choice acts on a cell."""
        return algorithm in self.methods and row in self.rows

    def look(self, row: str, algorithm: str) -> str:
        """Say what a cell was in making the choice, one of :data:`LOOKS`."""
        if algorithm in self.judged_by and row in self.decided_on:
            return DECIDED
        return SEEN if algorithm in self.judged_by and row in self.also_seen else UNSEEN


@cache
def choices() -> tuple[Choice, ...]:
    """Return all choices.

    >>> next(choice for choice in choices() if choice.name == "LEGO").tried
    6
    """
    with files("mloml.paper").joinpath("interpretations.yaml").open(encoding="utf-8") as file:
        content: Any = OmegaConf.to_container(OmegaConf.load(file))
    variants = [f"{name}{ending}" for name in ALGORITHMS.values() for ending in PROPAGATIONS.values()]
    lists = {**content["lists"], "all": variants}

    def spelt_out(value: Any) -> Any:
        return tuple(lists[value] if isinstance(value, str) else value)

    grouped = ("methods", "judged_by", "decided_on", "also_seen", "rows")
    return tuple(
        Choice(**{key: spelt_out(value) if key in grouped else value for key, value in entry.items()})
        for entry in content["choices"]
    )


def count_by_look(comparison: pd.DataFrame) -> pd.DataFrame:
    """Count, for every choice, its cells and those that agree, by what they were in making it.

    Parameters
    ----------
    comparison : DataFrame
        Of :func:`~mloml.paper.compare_means`: dataset, algorithm, verdict.

    Returns
    -------
    DataFrame
        A row per choice that acts on some cell, and last :data:`ANY`, where a cell is what it was in the
        choice that used it most. For each of :data:`LOOKS` a column "5 of 7": cells that agree of all.
    """
    cells = [
        (paper_row(cell["dataset"]) or "", cell["algorithm"], cell["verdict"] == AGREES)
        for cell in comparison.to_dict("records")
    ]
    rows = []
    for choice in choices():
        mine = [(choice.look(row, name), agrees) for row, name, agrees in cells if choice.concerns(row, name)]
        if mine:
            rows.append((choice.name, choice.tried, *_agreeing(mine)))
    strongest = [(look_of(row, name), agrees) for row, name, agrees in cells]
    tried = sum(choice.tried for choice in choices() if choice.name in {row[0] for row in rows})
    rows.append((ANY, tried, *_agreeing(strongest)))
    return pd.DataFrame(rows, columns=["choice", "readings tried", *LOOKS])


def look_of(row: str, algorithm: str) -> str:
    """Say what a cell was in the choice that used it most.

    >>> look_of("iris", "lego"), look_of("waveform", "kissme"), look_of("pems", "moml")
    ('decided on', 'only seen', 'not looked at')
    """
    looks = [choice.look(row, algorithm) for choice in choices()]
    return min(looks, key=LOOKS.index)


def _agreeing(cells: Sequence[tuple[str, bool]]) -> list[str]:
    found = [[agrees for look, agrees in cells if look == name] for name in LOOKS]
    return [f"{sum(agree)} of {len(agree)}" for agree in found]
