"""Tables of the page: any CSV file, and Table II and III with the errors behind each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from markupsafe import Markup

from mloml.reporting.model import DASH


@dataclass(frozen=True)
class Entry:
    """One cell of a table: what is printed, what is sorted by, and the errors behind it if known."""

    text: str
    value: float | None = None
    errors: tuple[float, ...] = ()
    label: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A table ready to be printed; rows of ``foot`` stay below whatever is sorted."""

    title: str
    source: str
    columns: list[str]
    groups: list[list[list[Entry]]]
    foot: list[list[Entry]] = field(default_factory=list)
    about: Markup = field(default_factory=Markup)

    @property
    def numeric(self) -> list[bool]:
        """Tell for each column whether all its entries are numbers."""
        rows = [row for group in self.groups for row in group]
        return [all(_is_number(row[i]) for row in rows) for i in range(len(self.columns))]

    @property
    def n_rows(self) -> int:
        """Count the rows above the foot."""
        return sum(len(group) for group in self.groups)


def _is_number(entry: Entry) -> bool:
    return entry.value is not None or entry.text in ("", DASH)


FOOT_ROWS = {"win/tie/loss", "note"}

KINDS = {"agrees": "good", "yes": "good", "differs": "bad", "no": "bad"}
"""Answers that get a tick or a cross; the word itself stays."""


def any_table(frame: pd.DataFrame, title: str, source: str) -> Table:
    """Turn a frame of strings into a table; numbers are shortened and sorted by value.

    >>> table = any_table(pd.DataFrame({"dataset": ["iris"], "error": ["0.123456"]}), "Errors", "errors.csv")
    >>> [entry.text for entry in table.groups[0][0]], table.numeric
    (['iris', '0.1235'], [False, True])
    """
    rows = [[_entry(text) for text in row] for row in frame.itertuples(index=False)]
    return Table(title, source, [_heading(column) for column in frame.columns], [rows])


def error_table(
    frame: pd.DataFrame, title: str, source: str, errors: Mapping[tuple[str, str], Sequence[float]]
) -> Table:
    """Turn a table in the paper's layout into one whose cells know their errors.

    The first column names the dataset, the last one carries notes, the others are algorithms by their
    printed headings.  ``errors`` maps dataset and heading to the errors of the splits.  Datasets that
    are not counted are a group of their own; win/tie/loss and notes go to the foot.
    """
    counted: list[list[Entry]] = []
    below: list[list[Entry]] = []
    foot: list[list[Entry]] = []
    for dataset, *texts, note in frame.astype(str).itertuples(index=False, name=None):
        headings = frame.columns[1:-1]
        entries = [
            error_entry(text, errors.get((dataset, heading), ()), f"{heading} on {dataset}")
            for heading, text in zip(headings, texts, strict=True)
        ]
        row = [Entry(dataset), *entries, Entry(note)]
        if dataset in FOOT_ROWS:
            foot.append([Entry(dataset), *(Entry(text) for text in texts), Entry(note)])
        else:
            (below if note.startswith("not counted") else counted).append(row)
    groups = [group for group in (counted, below) if group]
    return Table(title, source, [str(column) for column in frame.columns], groups, foot)


def error_entry(text: str, errors: Sequence[float], label: str) -> Entry:
    """Return a cell such as ``.069±.012•*`` (the asterisk marks the best of its row).

    Errors that do not have the printed mean belong to another run and are left out.

    >>> error_entry(".150±.071*", [0.1, 0.2], "MOML on iris")
    Entry(text='.150±.071', value=0.15, errors=(0.1, 0.2), label='MOML on iris', kind='best')
    """
    mean = _number(text.split("±")[0].rstrip("•◦*"))
    belongs = mean is not None and errors and abs(sum(errors) / len(errors) - mean) <= 5.1e-4
    kind = "best" if text.endswith("*") else ""
    return Entry(text.rstrip("*"), mean, tuple(errors) if belongs else (), label, kind)


def _entry(text: object) -> Entry:
    raw = str(text)
    value = _number(raw)
    if value is None:
        return Entry(raw, kind=KINDS.get(raw.split(":")[0], ""))
    whole = value == int(value) if abs(value) < 1e15 else False
    plain = raw.strip().lstrip("-").isdigit()
    return Entry(raw if plain or (whole and len(raw) <= 8) else f"{value:.4g}", value)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def _heading(column: object) -> str:
    return str(column).replace("_", " ")
