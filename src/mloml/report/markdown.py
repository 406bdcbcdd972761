"""Markdown for people: grids with their footnotes, frames, words and pictures, the command at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from mloml.report.document import MARKS, Block, Entry, Figure, Grid, Row, Text


def page_to_markdown(title: str, blocks: Sequence[Block], command: str) -> str:
    """Return a page that ends with the command that made it."""
    parts = [f"# {title}", *map(block_to_markdown, blocks), f"Made by `{command}`."]
    return "\n\n".join(part for part in parts if part) + "\n"


def block_to_markdown(block: Block) -> str:
    """Render one part of a page."""
    if isinstance(block, Grid):
        return grid_to_markdown(block)
    if isinstance(block, Text):
        return _text(block)
    if isinstance(block, Figure):
        if block.ready:
            return f"![{block.title}]({block.name}.png)"
        return f"({block.title}: drawn when all cells are computed.)"
    return frame_to_markdown(block)


def grid_to_markdown(grid: Grid) -> str:
    """Render a grid; the best mean of a row is bold, footnotes are letters.

    >>> from mloml.report.document import Column
    >>> row = Row("iris", "iris", (Entry(0.038, 0.016, "win"), Entry(0.026, 0.017, best=True)))
    >>> columns = (Column("euclidean", "Euclidean"), Column("mloml_r", "MLOML-r"))
    >>> print(grid_to_markdown(Grid("Errors.", "t", columns, (row,), counts=("1/0/0", ""))))
    Errors.
    <BLANKLINE>
    | dataset | Euclidean | MLOML-r |
    |---|---|---|
    | iris | .038±.016• | **.026±.017** |
    | *win/tie/loss* | 1/0/0 |  |
    """
    letters = grid.footnotes()

    def noted(text: str, note: str) -> str:
        return f"{text}<sup>{letters[note]}</sup>" if note else text

    def entry(cell: Entry) -> str:
        text = escape("±".join(cell.numbers()))
        return noted((f"**{text}**" if cell.best else text) + MARKS.get(cell.mark, ""), cell.note)

    def line(row: Row) -> list[str]:
        return [noted(escape(row.title), row.note), *map(entry, row.entries)]

    lines = [line(row) for row in grid.rows]
    if any(grid.counts):
        lines.append(["*win/tie/loss*", *grid.counts])
    if grid.below:
        lines.append(["*not counted:*"] + [""] * len(grid.columns))
        lines += [line(row) for row in grid.below]
    header = [grid.corner, *(noted(escape(column.heading), column.note) for column in grid.columns)]
    notes = "\n".join(f"<sup>{letter}</sup> {escape(note)}  " for note, letter in letters.items())
    parts = [escape(grid.caption), table_lines(header, lines), notes, *map(escape, grid.remarks)]
    return "\n\n".join(part for part in parts if part)


def frame_to_markdown(frame: pd.DataFrame, align: str = "") -> str:
    r"""Render a frame of short texts and numbers; what is not there stays empty.

    >>> print(frame_to_markdown(pd.DataFrame({"algorithm": ["a|b"], "wins": [3]})))
    | algorithm | wins |
    |---|---|
    | a\|b | 3 |
    """
    cells = frame.astype(object).where(frame.notna(), "")
    lines = [[escape(str(value)) for value in row] for row in cells.itertuples(index=False)]
    return table_lines([escape(str(name)) for name in frame.columns], lines, align)


def table_lines(header: Sequence[str], lines: Sequence[Sequence[str]], align: str = "") -> str:
    """Return a Markdown table of ready texts; ``align`` has ``l`` or ``r`` for each column, left by default.

    >>> print(table_lines(["cores", "time"], [["2", "1 h"]], "lr"))
    | cores | time |
    |---|---:|
    | 2 | 1 h |
    """
    text = [f"| {' | '.join(row)} |" for row in (header, *lines)]
    text.insert(1, "|" + "".join("---:|" if side == "r" else "---|" for side in align.ljust(len(header))))
    return "\n".join(text)


def escape(text: str) -> str:
    r"""Keep a text from being read as markup or as the end of a table cell; `code` stays as it is.

    >>> print(escape("spect* of `spect_paper` | mloml_r"))
    spect\* of `spect_paper` \| mloml\_r
    """
    pieces = re.split(r"(`[^`|]*`)", text.replace("\n", " "))
    return "".join(piece if i % 2 else re.sub(r"([|*_<])", r"\\\1", piece) for i, piece in enumerate(pieces))


def _text(text: Text) -> str:
    heading = f"## {escape(text.heading)}" if text.heading else ""
    sentences = [escape(sentence) for sentence in text.sentences if sentence]
    see = f"Details: [{text.details}.md]({text.details}.md)." if text.details else ""
    if text.listed:
        parts = [heading, "\n".join(f"- {sentence}" for sentence in sentences), see]
    else:
        parts = [heading, " ".join(filter(None, [*sentences, see]))]
    return "\n\n".join(part for part in parts if part)
