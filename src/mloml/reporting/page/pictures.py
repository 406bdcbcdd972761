"""Figures of the page: the image itself inside it, its caption, and the numbers behind it."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from mloml.reporting.page.artefacts import picture_text
from mloml.reporting.page.markdown import read_document
from mloml.reporting.page.tables import Table
from mloml.reporting.style import DRAWN_PER_INCH

PIXELS_PER_INCH = 140
"""Of the screen: type of 7 points, right for print, becomes as large as the text of the page's tables."""
PNG_BEGINS, PNG_ENDS = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


@dataclass(frozen=True)
class Picture:
    """A figure with its caption, the image inside the page, ``width`` in pixels of the screen."""

    title: str
    caption: str
    uri: str
    source: str
    width: int
    numbers: Table | None = None


def picture_of(folder: Path, stem: str, numbers: Table | None, notes: list[str]) -> list[Picture]:
    """Return a PNG file as a picture; none, but a note, when the file is damaged."""
    data = (folder / f"{stem}.png").read_bytes()
    if not data.startswith(PNG_BEGINS) or not data.endswith(PNG_ENDS):
        notes.append(f"{folder.name}/{stem}.png is not a whole picture; run the artefact's command again.")
        return []
    caption = folder / f"{stem}.md"
    title, text = picture_text(stem)
    if caption.is_file():
        document = read_document(caption)
        title, text = document.title or title, document.lead
    width = int.from_bytes(data[16:20], "big") * PIXELS_PER_INCH // DRAWN_PER_INCH
    uri = f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
    return [Picture(title, text, uri, f"{folder.name}/{stem}.png", width, numbers)]
