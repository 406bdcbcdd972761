"""Put the page together and write it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mloml.reporting.files import write_text
from mloml.reporting.page.artefacts import Artefact
from mloml.reporting.page.gather import Section, gather


def write_report(results: Path) -> Path:
    """Write ``report/index.html`` below ``results`` and return its path."""
    page = results / "report" / "index.html"
    write_text(page, render(gather(results)))
    return page


def render(sections: list[Section]) -> str:
    """Return the page as one string; styles, script and images are inside it."""
    environment = Environment(
        loader=PackageLoader("mloml.reporting.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["pretty"] = _pretty
    folder = Path(__file__).parent / "templates"
    # Markup: these two files are ours, everything from results is escaped.
    environment.globals["inline"] = lambda name: Markup((folder / name).read_text(encoding="utf-8"))
    return environment.get_template("report.html").render(
        sections=sections,
        failures=[section for section in sections if section.failures],
        origins=[origin(section, manifest) for section in sections for manifest in section.manifests],
        summary=provenance_line(sections),
    )


def provenance_line(sections: list[Section]) -> str:
    """Say in one sentence which protocol and which revision the artefacts come from."""
    manifests = [manifest for section in sections for manifest in section.manifests]
    protocols = sorted({name for m in manifests if (name := _protocol(m))})
    revisions = sorted({name for m in manifests if (name := _revision(m))})
    if not manifests:
        return "Nothing has been run yet."
    parts = []
    if protocols:
        parts.append(f"Protocol: {', '.join(protocols)}.")
    if revisions:
        parts.append(f"Code revision: {', '.join(revisions)}.")
    return " ".join(parts)


@dataclass(frozen=True)
class Origin:
    """A row of the page's last table: where an artefact comes from."""

    artefact: Artefact
    protocol: str
    command: str
    revision: str
    written: str
    cells: str
    manifest: dict[str, Any]


def origin(section: Section, manifest: dict[str, Any]) -> Origin:
    """Read off a manifest what people ask for first."""
    cells = manifest.get("cells")
    counted = (
        f"{cells.get('ok')} of {cells.get('count')}" if isinstance(cells, dict) and cells.get("count") else ""
    )
    return Origin(
        section.artefact,
        _protocol(manifest),
        str(manifest.get("command", "")),
        _revision(manifest),
        str(manifest.get("written", "")).replace("T", " ")[:16],
        counted,
        manifest,
    )


def _protocol(manifest: dict[str, Any]) -> str:
    config = manifest.get("config")
    protocol = config.get("protocol") if isinstance(config, dict) else None
    return str(protocol.get("name", "")) if isinstance(protocol, dict) else str(protocol or "")


def _revision(manifest: dict[str, Any]) -> str:
    git = manifest.get("git") or manifest.get("git_revision") or manifest.get("revision") or ""
    if isinstance(git, dict):
        dirty = " with local changes" if git.get("dirty") else ""
        return str(git.get("revision") or git.get("commit") or "")[:12] + dirty
    return str(git)[:12]


def _pretty(content: object) -> str:
    return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, default=str)
