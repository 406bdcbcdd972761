"""An artefact before any file is written: tables, figures, and the numbers that its template mentions."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

DASH = "–"
# In place of a verdict, where a run is too small for one.
TRIAL_ONLY = "trial only"
# Filled: the reference is significantly better than the column; open: significantly worse.
MARKS = {"win": "•", "loss": "◦"}


def number(value: float) -> str:
    """Return an error as the paper prints it, with three digits and no leading zero.

    >>> number(0.0694), number(1.0), number(-0.012)
    ('.069', '1.000', '-.012')
    """
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


@dataclass(frozen=True)
class Entry:
    """One mean with its deviation, its mark, and whether it is the best of its row.

    ``text`` replaces mean and deviation in grids that show something else; with neither it is a dash.
    """

    mean: float | None = None
    std: float | None = None
    mark: str = ""
    best: bool = False
    note: str = ""
    text: str = ""

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
    label : str
        LaTeX's. Captions and remarks are words, so they stand in the artefact's template.
    columns : tuple of Column
    rows : tuple of Row
        Counted datasets.
    uncounted : tuple of Row
        Datasets below the rule, which are not counted.
    counts : tuple of str
        The win/tie/loss row, empty where a column has none.
    corner : str
        Heading of the column of row titles.
    widths : tuple of float
        Shares of LaTeX's text width, for columns of sentences; the first is that of the row titles.
    """

    label: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    uncounted: tuple[Row, ...] = ()
    counts: tuple[str, ...] = ()
    corner: str = "dataset"
    widths: tuple[float, ...] = ()

    def footnotes(self) -> dict[str, str]:
        """Return the letter of every note, in the order in which a reader meets them.

        >>> columns = (Column("lego", "LEGO"), Column("mlcc", "ML-CC", note="reconstruction"))
        >>> row = Row("iris", "iris", (Entry(0.1, 0.01), Entry(note="failed")))
        >>> Grid("", columns, (row,)).footnotes()
        {'reconstruction': 'a', 'failed': 'b'}
        """
        notes = [column.note for column in self.columns]
        for row in (*self.rows, *self.uncounted):
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
        lines += [_text_line(row, "not counted") for row in self.uncounted]
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


def frame_grid(frame: pd.DataFrame, label: str, widths: tuple[float, ...] = ()) -> Grid:
    """Return a frame of short texts and numbers as a grid; its first column names the rows."""
    corner, *names = (str(name) for name in frame.columns)
    lines = [[str(value) for value in line] for line in frame.itertuples(index=False)]
    rows = tuple(Row(title, title, tuple(Entry(text=text) for text in rest)) for title, *rest in lines)
    columns = tuple(Column(name, name) for name in names)
    return Grid(label, columns, rows, corner=corner, widths=widths)


@dataclass(frozen=True)
class Table:
    """Numbers with a name: ``NAME.csv``, and with ``latex`` also ``NAME.tex``."""

    name: str
    numbers: pd.DataFrame | Grid
    title: str = ""
    latex: Grid | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The numbers as a frame, as they go to CSV."""
        return self.numbers.frame() if isinstance(self.numbers, Grid) else self.numbers


@dataclass(frozen=True)
class Figure:
    """A picture, ``NAME.pdf`` and ``NAME.png``, and the numbers it shows, ``NAME.csv``.

    ``ready`` is false while cells come in: drawing takes seconds, and tables are written anew every few.
    """

    name: str
    draw: Callable[[], Drawing]
    title: str = ""
    numbers: pd.DataFrame | None = None
    ready: bool = True


@dataclass(frozen=True)
class Artefact:
    """What ``build`` makes of finished cells: tables, figures, and ``values`` for the template beside it."""

    values: Mapping[str, Any]
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
