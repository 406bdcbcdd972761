"""Names that become names of folders and files."""

from __future__ import annotations

import re

from mloml.errors import ConfigError

_ALLOWED = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}", re.ASCII)


def require_name(key: str, value: object) -> None:
    """Refuse a name that could leave its folder, hide in it, or mean something to a shell.

    >>> require_name("dataset.name", "my-data.v2")
    >>> require_name("dataset.name", "../mine")
    Traceback (most recent call last):
    mloml.errors.ConfigError: dataset.name='../mine': must be letters, digits, '_', '-', and '.' but not first
    """
    if not (isinstance(value, str) and _ALLOWED.fullmatch(value)):
        shown = value if len(str(value)) <= 100 else f"{str(value)[:20]}… (over 100 characters)"
        raise ConfigError(f"{key}={shown!r}: must be letters, digits, '_', '-', and '.' but not first")
