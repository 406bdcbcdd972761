"""Errors written for the person at the keyboard: one line, no traceback needed."""

import difflib
from collections.abc import Iterable

# How to get what generates streams and learns from them beside our learners.
RIVER = "install river: pip install 'mloml[river]', in a checkout pip install '.[river]'"


class MlomlError(Exception):
    """Something the user can mend; the message is a single line that says how."""


class ConfigError(MlomlError):
    """A config value is missing, misspelt or out of range."""


class DatasetUnavailableError(MlomlError):
    """A dataset is neither here nor can it be fetched; the message says how to provide it."""


class DataFormatError(MlomlError):
    """A data file was found but cannot be used as it is."""


class StoreError(MlomlError):
    """The results folder cannot be read or written."""


class KernelError(MlomlError):
    """Compiled code computes something else than its formulas; this process must not go on."""


class CellFileError(StoreError):
    """A folder, a pipe or the like has the name of a cell; the other cells are not concerned."""


class CodeChangedError(MlomlError):
    """The code on the disk is not what this process imported, or not what the run began with."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known word, or an empty string.

    >>> suggestion("algoritm", ["dataset", "algorithm"])
    "; did you mean 'algorithm'?"
    >>> suggestion("mloml", ["moml", "mloml_r", "mloml_s"])
    "; did you mean 'mloml_r' or 'mloml_s'?"
    >>> suggestion("zzz", ["dataset", "algorithm"])
    ''
    """
    words = list(known)
    variants = [name for name in words if name.startswith(f"{word}_")]
    close = variants or difflib.get_close_matches(word, words, n=1)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def require(holds: bool, key: str, value: object, allowed: str) -> None:
    """Refuse a value with one line that names the key, the value and what is allowed.

    >>> require(False, "protocol.splits", 0, "at least 1")
    Traceback (most recent call last):
    mloml.errors.ConfigError: protocol.splits=0: must be at least 1
    """
    if not holds:
        raise ConfigError(f"{key}={value}: must be {allowed}")
