"""Result files: whole or absent, equal for equal content, untouched when nothing changed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mloml.files import write_atomically


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically; leave it alone when it already holds this."""
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)


def write_text(path: Path, text: str) -> None:
    """Write a text file, see :func:`write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a frame; ten digits are more than any error needs, and hide the last bits of a sum."""
    write_text(path, frame.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
