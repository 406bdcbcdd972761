"""From the config tree and the command line to validated dataclasses."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def conf_dir() -> Path:
    """Return the folder of the Hydra config tree: at the top of a checkout, or inside an installed wheel.

    >>> (conf_dir() / "dataset").is_dir()
    True
    """
    inside_wheel = _PACKAGE / "conf"
    return inside_wheel if inside_wheel.is_dir() else _PACKAGE.parents[1] / "conf"


def repository() -> Path | None:
    """Return the root of the git checkout the package runs from, or None for an installed wheel."""
    root = _PACKAGE.parents[1]
    return root if (root / "pyproject.toml").is_file() else None
