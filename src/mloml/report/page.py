"""One self-contained HTML page over all artefacts: from each ``artefact.json`` and the files beside it.

Where an artefact comes from, and how far it is, stands in the run's ``manifest.json``. Whatever is missing or
damaged is named on the page, never raised.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape
from PIL import Image, ImageOps

from mloml.report.document import Artefact
from mloml.report.publish import DOCUMENT, FORMAT, write_file
from mloml.report.recipe import recipes
from mloml.report.render import TEMPLATES, Html

# Folders of results that hold no artefacts of their own; the published reference has a page of its own.
ELSEWHERE = ("store", "runs", "sweeps", "report", "reference")
# Of the screen: type of 7 points, right for print, becomes as large as the text of the page's tables.
PIXELS_PER_INCH = 140
# In a picture of lines, points and type that is enough, and a third of the bytes.
COLOURS = 64
# Width and height of a card's picture, in pixels, and how wide a part of the picture it shows.
THUMBNAIL, CORNER = (224, 140), 1200
# Shorter paragraphs may come again.
SHORT = 60
# Every difference from the paper, as Tables II and III publish it.
AGREEMENT = "agreement.csv"
CELL = ["dataset", "algorithm"]
WORDS, NUMBERS = ["dataset", "algorithm", "verdict"], ["paper_mean", "our_mean", "difference", "low", "high"]


@dataclass
class Section:
    """Everything found of one artefact; ``name`` is that of its folder."""

    name: str
    title: str
    about: str = ""
    command: str = ""
    artefact: str = ""
    card: str = ""
    html: str = ""
    thumbnail: str = ""
    titles: dict[str, str] = field(default_factory=dict)
    bars: list[tuple[str, dict[str, int]]] = field(default_factory=list)
    points: list[dict[Any, Any]] = field(default_factory=list)
    failures: list[dict[Any, str]] = field(default_factory=list)
    manifests: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Name by which links inside the page find it: ``beyond-clean``."""
        return self.name.replace("/", "-")

    @property
    def state(self) -> str:
        """How far the artefact is: what its manifests say, if it has any."""
        if not self.html:
            return "not made yet"
        states = [str(manifest.get("state", "made")) for manifest in self.manifests.values()] or ["made"]
        return next((state for state in states if state != "complete"), states[0])


def write_report(results: Path) -> Path:
    """Write ``report/index.html`` below ``results`` and return its path."""
    page = results / "report" / "index.html"
    write_file(page, page_html(gather(results)))
    return page


def gather(results: Path) -> list[Section]:
    """Return a section for every artefact of the project, found or not, and for every other that is there.

    What is made of the others, the claim table, comes first; a run beside a main one follows it.
    """
    known = recipes()
    first = [name for name, recipe in known.items() if recipe.work == "reading"]
    order = {name: place for place, name in enumerate(dict.fromkeys([*first, *known]))}
    sections = [
        Section(name, recipe.title, recipe.about, f"mloml reproduce {name}") for name, recipe in known.items()
    ]
    folders = sorted(path.parent.relative_to(results) for path in results.rglob(DOCUMENT))
    names = [folder.as_posix() for folder in folders if folder.parts and folder.parts[0] not in ELSEWHERE]
    sections += [Section(name, name) for name in names if name not in known]
    for section in sections:
        _fill(section, results / section.name)
    return sorted(sections, key=lambda section: order.get(section.artefact or section.name, len(order)))


def _fill(section: Section, folder: Path) -> None:
    """Put into a section what is found in its folder."""
    own = folder / "manifest.json"
    manifests = [own] if own.is_file() else sorted(folder.glob("*/manifest.json"))
    read = {path.parent.name: _read(path, section.problems) for path in manifests}
    section.manifests = {name: content for name, content in read.items() if content}
    for path in (path.with_name("failures.csv") for path in manifests):
        section.failures += _rows(_frame(path, section.problems, dtype=str))
    document = _read(folder / DOCUMENT, section.problems) if (folder / DOCUMENT).is_file() else {}
    words = [document.get(name) for name in ("title", "about", "command", "html", "name")]
    if document and (document.get("format") != FORMAT or not all(isinstance(word, str) for word in words)):
        section.problems.append(f"{section.name}/{DOCUMENT} is of another version; run its command again.")
    elif document:
        beside = "" if section.name == document["name"] else f" ({section.name})"
        short, *rest = document["title"].split(":", 1)  # the head of a card and of an entry of the list
        section.artefact, section.title = document["name"], ":".join([short + beside, *rest])
        section.about, section.command = document["about"], document["command"]
        for name in ("card", "titles", "bars"):  # earlier revisions did not write all of them
            if isinstance(document.get(name), type(getattr(section, name))):
                setattr(section, name, document[name])
        points = _rows(_frame(folder / AGREEMENT, section.problems, usecols=[*WORDS, *NUMBERS]))
        section.points = [row for row in points if all(isinstance(row[name], float) for name in NUMBERS)]
        section.html = Markup(_placed(document["html"], section, folder))


def _frame(path: Path, problems: list[str], **options: Any) -> pd.DataFrame:
    try:
        if path.is_file():
            return pd.read_csv(path, **options)
    except (OSError, ValueError) as error:
        problems.append(f"{path.parent.name}/{path.name} could not be read: {error}")
    return pd.DataFrame(columns=options.get("usecols"))


def _rows(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    return frame.fillna("").to_dict("records")


def _errors(folder: Path, problems: list[str]) -> dict[str, str]:
    """Return the errors of all splits by run (a folder below this one), data set and algorithm."""
    found = {}
    for path in (folder / "cells.csv", *folder.glob("*/cells.csv")):
        cells = _frame(path, problems, usecols=[*CELL, "error"], dtype={"error": float}).dropna()
        for names, errors in cells.groupby(CELL)["error"]:
            place = "/".join(map(str, (path.parent.relative_to(folder), *names)))
            found[place] = " ".join(f"{error:.4g}" for error in errors)
    return found


def _placed(html: str, section: Section, folder: Path) -> str:
    """Put pictures, errors and tables into a part of the page, and turn links to files into anchors."""
    errors, drawing = _errors(folder, section.problems), Html(Artefact({}), section.titles)
    drawing.bars = section.bars

    def table(found: re.Match[str]) -> str:
        frame = _frame(folder / f"{found[1]}.csv", section.problems, keep_default_na=False, na_values=[""])
        return drawing.drawn(frame, found[1], [str(Markup(found[2]).unescape())], True)

    def entry(found: re.Match[str]) -> str:
        known = f'<button type="button" {found[1]} data-errors="{errors.get(found[2])}">{found[3]}</button>'
        return known if found[2] in errors else found[0]

    html = re.sub(r'<div data-csv="(\w+)">(.*?)</div>', table, html)
    html = re.sub(r'<span (class="cell[^>]*) data-cell="(.*?)">(.*?)</span>', entry, html)
    html = re.sub(r'<img src="([\w.-]+)"', lambda found: _picture(folder / found[1], section), html)
    html = re.sub(r'data-name="([\w.-]+)"', rf'id="{section.anchor}-\1"', html)
    html = re.sub(r'href="([\w-]+)\.csv"', rf'href="#{section.anchor}-\1"', html)
    html = re.sub(rf'href="\.\./({"|".join(recipes())})/[\w./-]+"', r'href="#\1"', html)
    return re.sub(r'href="\.\./[\w./-]+"', "", html)  # to what has no place on the page


def _picture(path: Path, section: Section) -> str:
    """Return the beginning of an image tag with few colours inside; the first is on the card too."""
    try:
        with Image.open(path) as image:
            drawn = image.info.get("dpi", (PIXELS_PER_INCH,))[0]
            width, height = (round(size * PIXELS_PER_INCH / drawn) for size in image.size)
            flat = image.convert("RGB")
    except (OSError, SyntaxError):
        section.problems.append(f"{section.name}/{path.name} is not a whole picture; run the command again.")
        return '<img src="data:,"'
    if not section.thumbnail:  # of a corner: a picture of many panels would not be recognised
        corner = flat.crop((0, 0, min(flat.width, CORNER), flat.height))
        small = ImageOps.fit(corner, THUMBNAIL, Image.Resampling.LANCZOS, centering=(0, 0))
        section.thumbnail = _inside(small, quality=75)
    few = flat.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    source = _inside(few.convert("RGB"), lossless=True)
    return f'<img width="{width}" height="{height}" src="{source}"'


def _inside(image: Image.Image, **options: Any) -> str:
    """Return a picture as an address that holds it."""
    stream = BytesIO()
    image.save(stream, "WEBP", **options)
    return f"data:image/webp;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _once(sections: list[Section]) -> None:
    """Leave every paragraph at its first place; in other sections a link leads there."""
    owners: dict[str, Section] = {}
    for section in sections:
        pieces, linked = re.split(r"(<p>.*?</p>)", section.html, flags=re.DOTALL), {section.name}
        for place, piece in enumerate(pieces):
            if owner := owners.get(piece):
                link = f'<p>Read as in <a href="#{owner.anchor}">{escape(owner.title)}</a>.</p>'
                pieces[place] = "" if owner.name in linked else link
                linked.add(owner.name)
            elif piece.startswith("<p>") and len(piece) > SHORT:
                owners[piece] = section
        section.html = Markup("".join(pieces))


def page_html(sections: list[Section]) -> str:
    """Return the page as one string; styles, script and images are inside it."""
    environment = Environment(
        loader=TEMPLATES, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    folder = Path(__file__).parent / "templates"
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    # The browser runs no other script than this one, whatever stands in somebody's results.
    script_hash = base64.b64encode(sha256(script.encode()).digest()).decode()
    _once(sections)
    origins = [_origin(section, name) for section in sections for name in section.manifests]
    files = {"style": Markup(style), "script": Markup(script), "script_hash": script_hash}
    return environment.get_template("report.html").render(sections=sections, origins=origins, **files)


def _origin(section: Section, folder: str) -> dict[str, Any]:
    """Read off a manifest what people ask for first: a row of the page's last table."""
    manifest, several = section.manifests[folder], len(section.manifests) > 1
    cells, git = _tree(manifest, "cells"), _tree(manifest, "git")
    rest = {key: value for key, value in manifest.items() if key != "config"}
    return {
        "title": f"{section.title} ({folder})" if several else section.title,
        "protocol": str(_tree(_tree(manifest, "config"), "protocol").get("name", "")),
        "command": str(manifest.get("command", "")),
        "revision": str(git.get("revision") or "")[:12] + (" with local changes" if git.get("dirty") else ""),
        "written": str(manifest.get("written", "")).replace("T", " ")[:16],
        "cells": f"{cells.get('ok')} of {cells.get('count')}" if cells.get("count") else "",
        "manifest": yaml.safe_dump(rest, allow_unicode=True, default_flow_style=None, width=120),
    }


def _tree(content: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = content.get(key)
    return found if isinstance(found, dict) else {}


def _read(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict):
            return content
        raise ValueError("it is not an object")
    except (OSError, ValueError) as error:
        problems.append(f"{path.parent.name}/{path.name} could not be read: {error}")
        return {}
