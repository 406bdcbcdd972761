"""What the project can make: a recipe per artefact, found in :mod:`mloml.report.artefacts`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from mloml.errors import ConfigError, suggestion
from mloml.report.document import Artefact

if TYPE_CHECKING:
    from mloml.datasets import Dataset
    from mloml.experiments.study import StudyResult

ORDER = (
    "table1", "table2", "table3", "fig4", "fig5", "fig6", "fig7", "fig8", "theory", "untrained",
    "protocols", "seeds", "signs", "differences", "draws", "beyond",
)  # fmt: skip
"""As in the paper, then what is ours; others follow by name, and last those that read what others wrote."""


class Measured(NamedTuple):
    """What ``before`` found where there are no cells, on which data, and why others are missing."""

    numbers: pd.DataFrame
    data: Mapping[str, Dataset]
    missing: Mapping[str, str]


@dataclass(frozen=True)
class Recipe:
    """How an artefact is made.

    Parameters
    ----------
    name : str
        Also that of ``conf/experiment/<name>.yaml``, if ``experiment`` does not name another.
    title, about : str
    build : callable
        From the result of a study, and what ``before`` or ``after`` returned, to the artefact. A pure
        function, called whenever the tables are written anew.
    before : callable, optional
        Called with the study before any cell is computed, while nothing else runs: for measuring time.
        Returns a :class:`Measured` if there are no cells.
    after : callable, optional
        Called with the result when all cells are computed; the artefact is then written only at the end.
    work : {"cells", "timing", "data", "reading"}
        What there is to do: cells to compute, ``before`` alone, data sets to describe, or other artefacts'
        tables to read; ``before`` then gets the results folder instead of a study. Made after all others.
    variants : mapping
        Runs to make side by side, by the names of their folders, each with the overrides that make it;
        ``build`` gets a result of each.
    experiment : str
    in_all : bool
        Whether ``mloml reproduce all`` makes it: the paper's artefacts, not further studies of an hour.
    """

    name: str
    title: str
    about: str
    build: Callable[..., Artefact]
    before: Callable[..., Any] | None = None
    after: Callable[..., Any] | None = None
    work: str = "cells"
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    experiment: str = ""
    in_all: bool = True

    def make(self, results: Sequence[StudyResult], *found: Any) -> Artefact:
        """Build the artefact and put its name, its command, its sources and what failed into it."""
        failures = pd.concat([result.failures for result in results])
        algorithms = [algorithm for result in results for algorithm in result.study.algorithms]
        return replace(
            self.build(*results, *found),
            name=self.name,
            title=self.title,
            about=self.about,
            failures=failures if len(failures) else None,
            titles={algorithm.name: algorithm.title for algorithm in algorithms},
            sources={name: source.source for result in results for name, source in result.sources.items()},
            command=results[0].command,
        )

    def read(self, results: Path) -> Artefact:
        """Build an artefact from other artefacts' tables, which are read out of a results folder."""
        if self.before is None:
            raise ConfigError(f"{self.name}: a recipe that reads other artefacts must say how (before)")
        built = self.build(self.before(results))
        return replace(
            built,
            name=self.name,
            title=self.title,
            about=self.about,
            command=f"mloml reproduce {self.name}",
        )


def recipes() -> dict[str, Recipe]:
    """Return all recipes by name: every module in ``reporting/artefacts`` has one, called ``RECIPE``.

    >>> list(recipes())[:3]
    ['table1', 'table2', 'table3']
    """
    from mloml.report import artefacts

    modules = [
        import_module(f"{artefacts.__name__}.{m.name}") for m in pkgutil.iter_modules(artefacts.__path__)
    ]
    found = {module.RECIPE.name: module.RECIPE for module in modules}
    return {name: found[name] for name in sorted(found, key=lambda name: _place(found[name]))}


def find_recipe(name: str) -> Recipe:
    """Return a recipe by its name, or that of an importable module of one's own: ``package.module``."""
    known = recipes()
    if "." in name or (name not in known and name.isidentifier() and find_spec(name) is not None):
        try:
            found = import_module(name).RECIPE
        except (ImportError, AttributeError) as error:
            raise ConfigError(f"{name}: must be a module with a RECIPE ({error})") from None
        if not isinstance(found, Recipe):
            raise ConfigError(f"{name}.RECIPE: must be a mloml.report.recipe.Recipe")
        return found
    if name not in known:
        raise ConfigError(f"{name}: no such artefact{suggestion(name, known)} ({', '.join(known)})")
    return known[name]


def _place(recipe: Recipe) -> tuple[bool, int, str]:
    name = recipe.name
    return (recipe.work == "reading", ORDER.index(name) if name in ORDER else len(ORDER), name)
