"""What the project can make: a recipe per artefact, found in :mod:`mloml.report.artefacts`."""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from mloml.datasets import Dataset
from mloml.errors import ConfigError, suggestion
from mloml.report.document import Artefact

# As in the paper, then what is ours; others follow by name, and last those that read what others wrote.
ORDER = (
    "table1", "table2", "table3", "fig4", "fig5", "fig6", "fig7", "fig8", "theory", "untrained",
    "protocols", "ablation", "untuned", "seeds", "signs", "differences", "draws", "beyond", "depth",
    "streams", "drift",
)  # fmt: skip


# A table of one's own, which is no artefact of the project.
OWN = "mloml.report.compare"


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
    template : Path
        Of its words: the file ``<module>.md`` beside its module, if there is one.
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
    template: Path | None = None

    @property
    def config(self) -> str:
        """The name of its experiment."""
        return self.experiment or self.name


def recipes() -> dict[str, Recipe]:
    """Return all recipes by name: every module in ``report/artefacts`` has one, called ``RECIPE``.

    >>> list(recipes())[:3]
    ['table1', 'table2', 'table3']
    """
    from mloml.report import artefacts

    names = [module.name for module in pkgutil.iter_modules(artefacts.__path__)]
    found = {name: _recipe_of(f"{artefacts.__name__}.{name}") for name in names}
    places = {name: place for place, name in enumerate(ORDER)}
    place = {name: (found[name].work == "reading", places.get(name, len(ORDER)), name) for name in found}
    return {name: found[name] for name in sorted(found, key=place.__getitem__)}


def find_recipe(name: str) -> Recipe:
    """Return a recipe by its name, or that of an importable module of one's own: ``package.module``."""
    known = recipes()
    name = OWN if name == "compare" else name
    if "." in name or (name not in known and name.isidentifier() and find_spec(name) is not None):
        try:
            return _recipe_of(name)
        except (ImportError, AttributeError) as error:
            raise ConfigError(f"{name}: must be a module with a RECIPE ({error})") from None
    if name not in known:
        raise ConfigError(f"{name}: no such artefact{suggestion(name, known)} ({', '.join(known)})")
    return known[name]


def _recipe_of(module_name: str) -> Recipe:
    """Return a module's recipe, with the template beside the module."""
    module = import_module(module_name)
    if not isinstance(module.RECIPE, Recipe):
        raise ConfigError(f"{module_name}.RECIPE: must be a mloml.report.recipe.Recipe")
    template = Path(str(module.__file__)).with_suffix(".md")
    return replace(module.RECIPE, template=template if template.is_file() else None)
