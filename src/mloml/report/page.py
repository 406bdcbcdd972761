"""One self-contained HTML page over all artefacts: from each ``artefact.json`` and the pictures it names.

Where an artefact comes from, and how far it is, stands in the run's ``manifest.json``. Whatever is missing or
damaged is named on the page, never raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from mloml.report.files import write_file
from mloml.report.pictures import Picture, load_picture
from mloml.report.publish import DOCUMENT, FORMAT
from mloml.report.recipe import recipes
from mloml.report.views import View, anchor_of, frame_view, grid_view

ELSEWHERE = ("store", "runs", "sweeps", "report", "reference")
"""Folders of results that hold no artefacts of their own; the published reference has a page of its own."""

MOST_ROWS = 160
"""Longer tables, mostly numbers behind a curve, are named, not shown: the page must be easy to send."""


@dataclass
class Section:
    """Everything found of one artefact; ``name`` is that of its folder, ``artefact`` what is inside."""

    name: str
    title: str
    about: str
    command: str
    present: bool = False
    artefact: str = ""
    headline: str = ""
    findings: list[str] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    main: View | None = None
    in_sight: list[View] = field(default_factory=list)
    tables: list[View] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    failures: View | None = None
    manifests: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Name by which links inside the page find it: ``beyond-clean``."""
        return anchor_of(self.name)

    @property
    def state(self) -> str:
        """Say in a word or two how far the artefact is: what its manifests say, if it has any."""
        if not self.present:
            return "not made yet"
        states = [str(manifest.get("state", "made")) for manifest in self.manifests.values()] or ["made"]
        return next((state for state in states if state != "complete"), states[0])

    @property
    def places(self) -> dict[str, View]:
        """The tables by name, for links from one to another."""
        views = [*self.in_sight, *self.tables, *filter(None, [self.main])]
        return {Path(view.source).stem: view for view in views}


def write_report(results: Path) -> Path:
    """Write ``report/index.html`` below ``results`` and return its path."""
    page = results / "report" / "index.html"
    write_file(page, render(gather(results)))
    return page


def gather(results: Path) -> list[Section]:
    """Return a section for every artefact of the project, found or not, and for every other that is there.

    What is made of the others, the claim table, comes first; a run beside a main one follows it.
    """
    known = recipes()
    sections = [
        _section(results / name, name, Section(name, recipe.title, recipe.about, f"mloml reproduce {name}"))
        for name, recipe in known.items()
    ]
    others = _others(results, known)
    sections += [_section(results / name, name, Section(name, name, "", "")) for name in others]
    first = [name for name, recipe in known.items() if recipe.work == "reading"]
    order = {name: place for place, name in enumerate(dict.fromkeys([*first, *known]))}
    return sorted(sections, key=lambda section: order.get(section.artefact or section.name, len(order)))


def _others(results: Path, known: Mapping[str, Any]) -> list[str]:
    """Return the folders of runs beside the main ones, also below another folder: ``beyond/clean``."""
    folders = sorted(path.parent.relative_to(results) for path in results.rglob(DOCUMENT))
    inside = [folder for folder in folders if folder.parts and folder.parts[0] not in ELSEWHERE]
    return [folder.as_posix() for folder in inside if folder.as_posix() not in known]


def render(sections: list[Section]) -> str:
    """Return the page as one string; styles, script and images are inside it."""
    environment = Environment(
        loader=PackageLoader("mloml.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "pretty": _pretty,
        "code": _code,
        "breakable": _breakable,
        "place": _place,
        "short": lambda error: f"{error:.4g}",
    }
    folder = Path(__file__).parent / "templates"
    # Markup: these two files are ours, everything from results is escaped.
    environment.globals["inline"] = lambda name: Markup((folder / name).read_text(encoding="utf-8"))
    origins = [origin(section, folder) for section in sections for folder in section.manifests]
    return environment.get_template("report.html").render(
        sections=sections,
        anchors=_anchors(sections),
        failures=[section for section in sections if section.failures],
        origins=origins,
        summary=provenance_line(origins),
    )


def _anchors(sections: list[Section]) -> set[str]:
    """Return every place of the page that a link may lead to."""
    places = {section.anchor for section in sections}
    for section in sections:
        views = [*section.places.values(), *(picture.numbers for picture in section.pictures)]
        places |= {part.anchor for part in (*views, *section.pictures) if part is not None}
    return places


def _place(link: str, anchors: set[str]) -> str:
    """Return where a link leads: its own place, or the section of a file that the page does not show.

    >>> _place("table3-catching_up", {"table2", "table3"})
    'table3'
    """
    while link and link not in anchors:
        link = link.rpartition("-")[0]
    return link


def provenance_line(origins: list[dict[str, Any]]) -> str:
    """Say in one sentence which protocols and which revisions the artefacts come from."""
    protocols, revisions = (sorted({o[key] for o in origins} - {""}) for key in ("protocol", "revision"))
    if not origins:
        return "Nothing has been run yet."
    parts = [f"Protocol: {', '.join(protocols)}."] if protocols else []
    parts += [f"Code revision: {', '.join(revisions)}."] if revisions else []
    return " ".join(parts)


def origin(section: Section, folder: str) -> dict[str, Any]:
    """Read off a manifest what people ask for first: a row of the page's last table."""
    manifest, several = section.manifests[folder], len(section.manifests) > 1
    cells, git = _tree(manifest, "cells"), _tree(manifest, "git")
    local = " with local changes" if git.get("dirty") else ""
    return {
        "title": f"{section.title} ({folder})" if several else section.title,
        "protocol": str(_tree(_tree(manifest, "config"), "protocol").get("name", "")),
        "command": str(manifest.get("command", "")),
        "revision": str(git.get("revision") or "")[:12] + local,
        "written": str(manifest.get("written", "")).replace("T", " ")[:16],
        "cells": f"{cells.get('ok')} of {cells.get('count')}" if cells.get("count") else "",
        "manifest": manifest,
    }


def _pretty(manifest: Mapping[str, Any]) -> str:
    """Return a manifest without its config, which follows from the command and is most of it."""
    rest = {key: value for key, value in manifest.items() if key != "config"}
    return yaml.safe_dump(rest, allow_unicode=True, default_flow_style=None, width=120)


def _tree(content: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = content.get(key)
    return found if isinstance(found, dict) else {}


def _section(folder: Path, name: str, section: Section) -> Section:
    own = folder / "manifest.json"
    manifests = [own] if own.is_file() else sorted(folder.glob("*/manifest.json"))
    read = {path.parent.name: _read(path, section.problems) for path in manifests}
    section.manifests = {folder: content for folder, content in read.items() if content}
    document = _read(folder / DOCUMENT, section.problems) if (folder / DOCUMENT).is_file() else None
    if document is not None and document.get("format") != FORMAT:
        section.problems.append(f"{folder.name}/{DOCUMENT} is of another version; run its command again.")
    elif document is not None:
        try:
            return _filled(section, folder, name, document)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            section.problems.append(
                f"{folder.name}/{DOCUMENT} is damaged ({error!r}); run its command again."
            )
    return section


def _filled(found: Section, folder: Path, name: str, document: dict[str, Any]) -> Section:
    """Return the section with the document in it."""
    beside = "" if name == document["name"] else f" ({name})"
    titles, problems = document["titles"], [*found.problems]
    section = replace(
        found,
        present=True,
        artefact=document["name"],
        title=document["title"] + beside,
        notes=[_block(block, titles) for block in document["notes"]],
        in_sight=[],
        tables=[],
        pictures=[],
        problems=problems,
        **{word: document[word] for word in ("about", "command", "headline", "findings")},
    )
    for table in document["tables"]:
        view = _view(table, name, titles, problems)
        page = [_block(block, titles) for block in table["page"] if block != table["numbers"]]
        if view is not None and table["name"] == document["name"]:
            section.main = replace(view, page=_words(page), title=section.title)
        elif view is not None:
            (section.in_sight if table.get("in_sight") else section.tables).append(replace(view, page=page))
    for figure in document["figures"]:
        if figure["ready"]:
            numbers = _view(figure, name, titles, problems)
            section.pictures += load_picture(figure, folder, name, numbers, problems)
    if document["failures"] is not None:
        section.failures = frame_view(document["failures"], "Failures", f"{name}/failures.csv")
    return section


def _view(table: Mapping[str, Any], name: str, titles: Mapping[str, str], problems: list[str]) -> View | None:
    source, numbers = f"{name}/{table['name']}.csv", table["numbers"]
    if numbers is None or numbers["kind"] == "Grid":
        return grid_view(numbers, table["title"], source) if numbers else None
    if numbers["rows"] is None or len(numbers["rows"]) > MOST_ROWS:
        problems.append(f"{source} has {numbers['length']} rows and is not shown here.")
        return None
    hidden = table.get("hidden", ())
    if not numbers["rows"]:
        return None
    view = frame_view(numbers, table["title"], source, titles, hidden)
    return replace(view, sentences=bool(table.get("sentences")))


def _words(page: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the words of a page, and the numbers that a bare heading announces; others have places below."""
    announced = [False, *(_is_bare_heading(block) for block in page)]
    return [block for block, kept in zip(page, announced, strict=False) if kept or "text" in block]


def _is_bare_heading(block: Mapping[str, Any]) -> bool:
    text = block.get("text", {})
    return bool(text.get("heading")) and not text.get("sentences")


def _block(block: dict[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    """Return a part of a page with its numbers as a view; pictures have places of their own."""
    if block["kind"] == "Grid":
        return {"view": grid_view(block)}
    return {"view": frame_view(block, titles=titles)} if block["kind"] == "Frame" else {"text": block}


def _read(path: Path, problems: list[str]) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict):
            return content
        raise ValueError("it is not an object")
    except (OSError, ValueError) as error:
        problems.append(f"{path.parent.name}/{path.name} could not be read: {error}")
        return None


def _breakable(path: str) -> Markup:
    """Escape a path; lines may break behind a slash or an underscore."""
    return Markup(re.sub(r"([/_])", r"\1<wbr>", str(escape(path))))


def _code(text: str) -> Markup:
    """Escape a text; words between backticks become code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))
