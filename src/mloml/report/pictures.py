"""Pictures for the HTML page: whole PNG files, made smaller, inside the page."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from mloml.report.figures.style import DRAWN_PER_INCH
from mloml.report.views import View, anchor_of

PIXELS_PER_INCH = 140
"""Of the screen: type of 7 points, right for print, becomes as large as the text of the page's tables."""
PNG_BEGINS, PNG_ENDS = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
COLOURS = 64
"""In a picture of lines, points and type that is enough, and a third of the bytes."""


@dataclass(frozen=True)
class Picture:
    """A figure with the image inside the page, ``width`` in pixels of the screen."""

    title: str
    caption: str
    uri: str
    source: str
    width: int
    numbers: View | None = None

    @property
    def anchor(self) -> str:
        """Name by which links inside the page find the picture: ``fig5-fig5-picture``."""
        return anchor_of(self.source)


def load_picture(
    figure: Mapping[str, Any], folder: Path, name: str, numbers: View | None, problems: list[str]
) -> list[Picture]:
    """Return a PNG file as a picture; none, but a line about it, when it is gone or damaged."""
    path = folder / f"{figure['name']}.png"
    source = f"{name}/{path.name}"
    data = path.read_bytes() if path.is_file() else b""
    if not data.startswith(PNG_BEGINS) or not data.endswith(PNG_ENDS):
        problems.append(f"{source} is not a whole picture; run the artefact's command again.")
        return []
    width = int.from_bytes(data[16:20], "big") * PIXELS_PER_INCH // DRAWN_PER_INCH
    uri = f"data:image/png;base64,{base64.b64encode(smaller(data)).decode('ascii')}"
    return [Picture(figure["title"], figure["caption"], uri, source, width, numbers)]


def smaller(png: bytes) -> bytes:
    """Return a PNG with few colours, at the same size; as it was, if that is no shorter."""
    with Image.open(BytesIO(png)) as image:
        flat = Image.new("RGB", image.size, "white")
        flat.paste(image, mask=image.getchannel("A") if "A" in image.getbands() else None)
    stream = BytesIO()
    few = flat.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(stream, "PNG", optimize=True)
    return min(png, stream.getvalue(), key=len)
