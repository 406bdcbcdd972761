"""An artefact as a document: what it says, its tables and its figures, before any file is written.

Plain data. :mod:`mloml.report.publish` turns it into files; the HTML page shows the same document.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

DASH = "–"
MARKS = {"win": "•", "loss": "◦"}
"""Filled: the reference is significantly better than the column; open: significantly worse."""


def number(value: float) -> str:
    """Return an error as the paper prints it, with three digits and no leading zero.

    >>> number(0.0694), number(1.0), number(-0.012)
    ('.069', '1.000', '-.012')
    """
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


@dataclass(frozen=True)
class Entry:
    """One mean with its deviation, its mark, whether it is the best of its row, and the errors behind it.

    ``text`` replaces mean and deviation in grids that show something else; with neither it is a dash.
    """

    mean: float | None = None
    std: float | None = None
    mark: str = ""
    best: bool = False
    note: str = ""
    text: str = ""
    errors: tuple[float, ...] = ()

    def numbers(self) -> tuple[str, ...]:
        """Return the printed mean and deviation, or the text, or a dash.

        >>> Entry(0.038, 0.016).numbers(), Entry(0.038).numbers(), Entry().numbers()
        (('.038', '.016'), ('.038',), ('–',))
        """
        if self.text or self.mean is None:
            return (self.text or DASH,)
        return (number(self.mean),) if self.std is None else (number(self.mean), number(self.std))

    @property
    def printed(self) -> str:
        """Mean, deviation and mark in one: ``.038±.016•``."""
        return "±".join(self.numbers()) + MARKS.get(self.mark, "")


@dataclass(frozen=True)
class Column:
    """One algorithm; neighbouring columns of one ``group`` share a heading."""

    name: str
    title: str
    group: str = ""
    note: str = ""

    @property
    def heading(self) -> str:
        """Title and group in one, for formats with a single heading row."""
        return f"{self.group} {self.title}".strip()


@dataclass(frozen=True)
class Row:
    """One dataset; ``details`` (which splits are missing, and why) go to the CSV only."""

    name: str
    title: str
    entries: tuple[Entry, ...]
    note: str = ""
    details: str = ""


@dataclass(frozen=True)
class Grid:
    """Datasets by algorithms, in the paper's layout.

    Parameters
    ----------
    caption, label : str
        ``label`` is LaTeX's.
    columns : tuple of Column
    rows : tuple of Row
        Counted datasets.
    below : tuple of Row
        Datasets below the rule, which are not counted.
    counts : tuple of str
        The win/tie/loss row, empty where a column has none.
    remarks : tuple of str
        Sentences below the grid that belong to no entry.
    corner : str
        Heading of the column of row titles.
    widths : tuple of float
        Shares of LaTeX's text width, for columns of sentences; the first is that of the row titles.
    """

    caption: str
    label: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    below: tuple[Row, ...] = ()
    counts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    corner: str = "dataset"
    widths: tuple[float, ...] = ()

    def footnotes(self) -> dict[str, str]:
        """Return the letter of every note, in the order in which a reader meets them.

        >>> columns = (Column("lego", "LEGO"), Column("mlcc", "ML-CC", note="reconstruction"))
        >>> row = Row("iris", "iris", (Entry(0.1, 0.01), Entry(note="failed")))
        >>> Grid("", "", columns, (row,)).footnotes()
        {'reconstruction': 'a', 'failed': 'b'}
        """
        notes = [column.note for column in self.columns]
        for row in (*self.rows, *self.below):
            notes += [row.note, *(entry.note for entry in row.entries)]
        distinct = dict.fromkeys(note for note in notes if note)
        return {note: _letter(index) for index, note in enumerate(distinct)}

    def frame(self) -> pd.DataFrame:
        """Return the grid as texts for CSV; the best mean of a row carries an asterisk.

        Footnotes are spelt out: those of rows in the last column, those of algorithms in the last row.
        """
        lines = [_text_line(row, "") for row in self.rows]
        if any(self.counts):
            lines.append(["win/tie/loss", *self.counts, ""])
        lines += [_text_line(row, "not counted") for row in self.below]
        if any(column.note for column in self.columns):
            lines.append(["note", *(column.note for column in self.columns), ""])
        headings = [column.heading for column in self.columns]
        return pd.DataFrame(lines, columns=[self.corner, *headings, "note"])


def _text_line(row: Row, remark: str) -> list[str]:
    notes = [text for text in (remark, row.note, row.details) if text]
    entries = [entry.printed + ("*" if entry.best else "") for entry in row.entries]
    return [row.name, *entries, "; ".join(notes)]


def _letter(index: int) -> str:
    letters = string.ascii_lowercase
    return letters[index] if index < 26 else _letter(index // 26 - 1) + letters[index % 26]


def frame_grid(frame: pd.DataFrame, caption: str, label: str, remarks: tuple[str, ...] = ()) -> Grid:
    """Return a frame of short texts and numbers as a grid; its first column names the rows."""
    corner, *names = (str(name) for name in frame.columns)
    lines = [[str(value) for value in line] for line in frame.itertuples(index=False)]
    rows = tuple(Row(title, title, tuple(Entry(text=text) for text in rest)) for title, *rest in lines)
    columns = tuple(Column(name, name) for name in names)
    return Grid(caption, label, columns, rows, remarks=remarks, corner=corner)


@dataclass(frozen=True)
class Text:
    """Sentences under an optional heading: one paragraph, or a list of them if ``listed``.

    ``details`` is the name of the table where a reader finds more. Words between backticks are code.
    """

    sentences: tuple[str, ...] = ()
    heading: str = ""
    listed: bool = False
    details: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture, drawn when it is published, and the numbers it shows.

    Parameters
    ----------
    name : str
        Of the files: ``.pdf`` and ``.png``; ``.csv`` if there are numbers, ``.md`` if it has a page.
    title, caption : str
    draw : callable
        Returns the drawing.
    numbers : DataFrame, optional
    page : bool
        Whether a Markdown file of its own shows picture and caption.
    ready : bool
        False while cells come in: drawing takes seconds, and tables are written anew every few.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Drawing]
    numbers: pd.DataFrame | None = None
    page: bool = False
    ready: bool = True


Block = Text | Grid | pd.DataFrame | Figure


@dataclass(frozen=True)
class Table:
    """Numbers with a name: ``.csv``, with words about them ``.md``, as a LaTeX table ``.tex``.

    ``hidden`` names columns that the HTML page leaves out, because words beside them say the same. What is
    ``in_sight`` is shown there unfolded: its page first, its numbers below. A table of ``sentences`` has its
    cells in full.
    """

    name: str
    title: str
    numbers: pd.DataFrame | Grid
    page: tuple[Block, ...] = ()
    latex: Grid | None = None
    hidden: tuple[str, ...] = ()
    in_sight: bool = False
    sentences: bool = False

    @property
    def frame(self) -> pd.DataFrame:
        """The numbers as a frame, as they go to CSV."""
        return self.numbers.frame() if isinstance(self.numbers, Grid) else self.numbers


@dataclass(frozen=True)
class Artefact:
    """One table or figure of the paper with everything that is said about it.

    Parameters
    ----------
    headline : str
        What came out, in a sentence or two.
    findings : tuple of str
        Further sentences; all come from the numbers of this run.
    tables : tuple of Table
    figures : tuple of Figure
    notes : tuple of Block
        The page ``<name>.md`` of artefacts that are neither one table nor one figure.
    name, title, about : str
        As in its recipe; the table called ``name`` is the main one.
    failures : DataFrame, optional
        Cells that failed.
    titles : mapping
        Printed titles of algorithms by name.
    sources : mapping
        Where the data of each dataset come from.
    command : str
        That asked for it.
    """

    headline: str
    findings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[Block, ...] = ()
    name: str = ""
    title: str = ""
    about: str = ""
    failures: pd.DataFrame | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
