"""A table in the paper's layout, before it becomes CSV, LaTeX or Markdown.

Datasets are rows, algorithms are columns. Everything a reader must know about an entry is in here, so that
the three renderers cannot disagree.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, field

DASH = "–"
MARKS = {"win": "•", "loss": "◦"}
"""Filled: the reference is significantly better than the column; open: significantly worse."""


@dataclass(frozen=True)
class Entry:
    """One mean with its deviation, its mark and whether it is the best of its row.

    ``text`` replaces mean and deviation in tables that show something else; with neither it is a dash.
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
class Table:
    """The whole table.

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
        Sentences below the table that belong to no entry.
    """

    caption: str
    label: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    below: tuple[Row, ...] = ()
    counts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())

    def footnotes(self) -> dict[str, str]:
        """Return the letter of every note, in the order in which a reader meets them.

        >>> columns = (Column("lego", "LEGO"), Column("mlcc", "ML-CC", note="reconstruction"))
        >>> row = Row("iris", "iris", (Entry(0.1, 0.01), Entry(note="failed")))
        >>> Table("", "", columns, (row,)).footnotes()
        {'reconstruction': 'a', 'failed': 'b'}
        """
        notes = [column.note for column in self.columns]
        for row in (*self.rows, *self.below):
            notes += [row.note, *(entry.note for entry in row.entries)]
        distinct = dict.fromkeys(note for note in notes if note)
        return {note: _letter(index) for index, note in enumerate(distinct)}


def number(value: float) -> str:
    """Return an error as the paper prints it, with three digits and no leading zero.

    >>> number(0.0694), number(1.0), number(-0.012)
    ('.069', '1.000', '-.012')
    """
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def _letter(index: int) -> str:
    letters = string.ascii_lowercase
    return letters[index] if index < 26 else _letter(index // 26 - 1) + letters[index % 26]
