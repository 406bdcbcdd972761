"""Markdown files of ``results`` as parts of the page: headings moved down, raw HTML not let through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

LOWEST_HEADING = 6
NOT_PROSE = ("<sup>", "![", "Made by `", "(The ")

Places = Mapping[str, tuple[str, str]]
"""For a file's name, the anchor under which it is on the page and the title it has there."""


@dataclass(frozen=True)
class Document:
    """A Markdown file: its title, its first paragraph as plain text, and the rest as HTML."""

    title: str
    lead: str
    html: Markup
    source: str

    @property
    def listed(self) -> bool:
        """Tell whether there is a list, so more than the first paragraph."""
        return "<li>" in self.html


def read_document(path: Path, prose_only: bool = False, places: Places | None = None) -> Document:
    """Read a Markdown file; a heading of level 1 becomes the title, others go below it."""
    text = path.read_text(encoding="utf-8", errors="replace")  # a damaged file must not cost the page
    return document(text, f"{path.parent.name}/{path.name}", prose_only, places)


def document(text: str, source: str, prose_only: bool = False, places: Places | None = None) -> Document:
    r"""Render Markdown; ``prose_only`` leaves out tables with their footnotes, pictures and the command.

    Links to files that are on the page (``places``) lead there under the title they have on it; of other
    links only the words stay, because the page stands alone.

    >>> found = document("# Findings\n\nIt *holds*.\n\n## Layer 1\n<b>x</b>", "findings.md")
    >>> found.title, found.lead
    ('Findings', 'It holds.')
    >>> print(found.html)
    <p>It <em>holds</em>.</p>
    <h4>Layer 1</h4>
    <p>&lt;b&gt;x&lt;/b&gt;</p>
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    title = lead = ""
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title, tokens = _plain(tokens[1]), tokens[3:]
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and not lead:
            lead = _plain(token)
    if prose_only:
        tokens = _prose(tokens)
    below = 2 if title and not prose_only else 1  # a section's heading has level 2, a shown title level 3
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(max(3, int(token.tag[1]) + below), LOWEST_HEADING)}"
        token.children = _inside_the_page(token.children or [], places or {})
    html = parser.renderer.render(_without_bare_headings(tokens), parser.options, {})
    return Document(title, lead, Markup(html.rstrip("\n")), source)


def _prose(tokens: list[Token]) -> list[Token]:
    """Leave out tables, their footnotes, pictures and the line with the command."""
    kept: list[Token] = []
    inside_table = 0
    for token in tokens:
        inside_table += (token.type == "table_open") - (token.type == "table_close")
        if inside_table or token.type == "table_close":
            continue
        if token.type == "inline" and token.content.startswith(NOT_PROSE):
            kept.pop()  # the paragraph's opening; its end is dropped below
        elif token.type == "paragraph_close" and kept and kept[-1].type not in ("inline", "paragraph_open"):
            continue
        else:
            kept.append(token)
    return kept


def _without_bare_headings(tokens: list[Token]) -> list[Token]:
    """Drop headings below which nothing is left."""
    kept: list[Token] = []
    for token in [*tokens, None]:
        ends = token is None or token.type == "heading_open"
        if ends and kept and kept[-1].type == "heading_close":
            del kept[-3:]
        if token is not None:
            kept.append(token)
    return kept


def _inside_the_page(children: list[Token], places: Places) -> list[Token]:
    """Return inline tokens without pictures, and with links only to what is on the page."""
    kept: list[Token] = []
    title = ""
    for child in children:
        if child.type == "link_open":
            anchor, title = places.get(str(child.attrGet("href")), ("", ""))
            child.attrSet("href", f"#{anchor}")
        if child.type == "image" or (child.type in ("link_open", "link_close") and not title):
            continue
        if child.type == "text" and title:
            child.content = title
        if child.type == "link_close":
            title = ""
        kept.append(child)
    return kept


def _plain(token: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in token.children or [])
