"""Result files: whole or absent, equal for equal content, untouched when nothing changed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mloml.files import write_atomically


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file, unless it holds this already."""
    data = content.encode() if isinstance(content, str) else content
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a frame; ten digits are more than any error needs, and hide the last bits of a sum."""
    write_file(path, frame.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
