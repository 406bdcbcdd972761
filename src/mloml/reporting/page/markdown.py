"""Markdown files of ``results`` as parts of the page: headings moved down, raw HTML not let through."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

LOWEST_HEADING = 6


@dataclass(frozen=True)
class Document:
    """A Markdown file: its title, its first paragraph as plain text, and the rest as HTML."""

    title: str
    lead: str
    html: Markup
    source: str


def read_document(path: Path) -> Document:
    """Read a Markdown file; a heading of level 1 becomes the title, others go below it."""
    return document(path.read_text(encoding="utf-8"), f"{path.parent.name}/{path.name}")


def document(text: str, source: str) -> Document:
    r"""Render Markdown.

    >>> found = document("# Findings\n\nIt *holds*.\n\n## Layer 1\n<b>x</b>", "findings.md")
    >>> found.title, found.lead
    ('Findings', 'It holds.')
    >>> print(found.html)
    <p>It <em>holds</em>.</p>
    <h4>Layer 1</h4>
    <p>&lt;b&gt;x&lt;/b&gt;</p>
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(text)
    title = lead = ""
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title, tokens = _plain(tokens[1]), tokens[3:]
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and not lead:
            lead = _plain(token)
    below = 2 if title else 1  # the section has a heading of level 2, the title one of level 3
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(max(3, int(token.tag[1]) + below), LOWEST_HEADING)}"
    html = parser.renderer.render(tokens, parser.options, {})
    return Document(title, lead, Markup(html.rstrip("\n")), source)


def _plain(token: object) -> str:
    children = getattr(token, "children", None) or []
    return "".join(" " if child.type == "softbreak" else child.content for child in children)
