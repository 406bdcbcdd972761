"""Where the config tree is: at the top of a checkout, or inside an installed wheel."""

from __future__ import annotations

from pathlib import Path


def conf_dir() -> Path:
    """Return the folder of the Hydra config tree.

    >>> (conf_dir() / "dataset").is_dir()
    True
    """
    package = Path(__file__).resolve().parents[1]
    inside_wheel = package / "conf"
    return inside_wheel if inside_wheel.is_dir() else package.parents[1] / "conf"


def repository() -> Path | None:
    """Return the root of the git checkout the package runs from, or None for an installed wheel."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "pyproject.toml").is_file() else None
