"""The metric learners, one file each; a class is found by its name and imported when first asked for.

A new learner is a new file here: a class that derives from ``MetricLearner`` or ``OnlineLearner`` is
exported.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

_LEARNER = re.compile(r"^class ([A-Z]\w*)\([^)]*\b(?:Metric|Online)Learner\b[^)]*\)", re.MULTILINE)


def _find_learners() -> dict[str, str]:
    """Map class name to module name by reading the files' class lines: cheaper than importing them."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("*.py")):
        for name in _LEARNER.findall(file.read_text(encoding="utf-8")):
            if not name.endswith("Learner"):  # the base classes themselves
                found[name] = f"{__name__}.{file.stem}"
    return found


LEARNERS = _find_learners()
"""Class name -> module, for every learner there is."""

__all__ = sorted(LEARNERS)


def __getattr__(name: str) -> Any:
    if name not in LEARNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(LEARNERS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *LEARNERS])
