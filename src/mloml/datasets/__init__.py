"""Datasets: the catalogue, where data come from, and loading them.

``load(config)`` returns a checked :class:`Dataset`; ``catalogue()`` lists what there is.
Everything but the catalogue is imported when first used, so that reading configs stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mloml.datasets.catalogue import DatasetConfig, DataSettings, OriginalFiles, catalogue

if TYPE_CHECKING:
    from mloml.datasets.commands import main
    from mloml.datasets.dataset import Dataset
    from mloml.datasets.loading import availability, load, pin

__all__ = [
    "DataSettings",
    "Dataset",
    "DatasetConfig",
    "OriginalFiles",
    "availability",
    "catalogue",
    "load",
    "main",
    "pin",
]

_LATE = {
    "Dataset": "dataset",
    "availability": "loading",
    "load": "loading",
    "main": "commands",
    "pin": "loading",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATE[name]}"), name)
