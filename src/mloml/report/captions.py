"""Captions and remarks that hold whatever the numbers are; their words stand in ``captions.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf


def caption(name: str, /, **values: object) -> str:
    """Return a caption with its values filled in.

    >>> caption("bp_rate", rate=0.01)
    'Error rates of BP at the rate 0.01 and at a rate chosen by cross-validation, beside FP.'
    """
    return _captions()[name].format(**values)


@cache
def _captions() -> dict[Any, str]:
    return dict(OmegaConf.load(Path(__file__).with_suffix(".yaml")))
