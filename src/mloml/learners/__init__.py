"""The metric learners, one file each; they are found by their classes and imported when first asked for.

A new learner is a new file here: every class in this folder that derives from ``MetricLearner`` or
``OnlineLearner``, directly or through another learner, and has nothing abstract left is exported.
"""

import inspect
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


@cache
def find_learners() -> dict[str, type[Any]]:
    """Return all learners by name.

    >>> sorted(find_learners())[:3]
    ['DiagonalMOML', 'Euclidean', 'ExplicitMLOML']
    """
    found: dict[str, type[Any]] = {}
    for module in iter_modules(__path__, f"{__name__}."):
        inside = vars(import_module(module.name)).items()
        found |= {name: kind for name, kind in inside if is_learner(kind) and kind.__module__ == module.name}
    return {name: found[name] for name in sorted(found) if not name.startswith("_")}


def is_learner(kind: Any) -> bool:
    """Tell a learner's class from whatever else a module holds, without importing anything."""
    if not inspect.isclass(kind) or inspect.isabstract(kind):
        return False
    bases = {f"{base.__module__}.{base.__name__}" for base in kind.__mro__}
    return bool(bases & {f"{__name__}.base.MetricLearner", f"{__name__}.online.OnlineLearner"})


def __getattr__(name: str) -> Any:
    if name == "__all__":  # found only when asked for: scikit-learn takes a second to import
        return list(find_learners())
    if name.startswith("_") or name not in find_learners():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return find_learners()[name]


def __dir__() -> list[str]:
    return sorted([*globals(), *find_learners()])
