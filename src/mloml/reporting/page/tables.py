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
    """A table ready to be printed.

    Rows of ``foot`` stay below whatever is sorted. ``notes`` maps a remark to the rows and columns it is
    about, which carry an asterisk.
    """

    title: str
    source: str
    columns: list[str]
    groups: list[list[list[Entry]]]
    foot: list[list[Entry]] = field(default_factory=list)
    about: Markup = field(default_factory=Markup)
    notes: dict[str, list[str]] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """Name by which links inside the page find the table."""
        return anchor_of(self.source)

    @property
    def numeric(self) -> list[bool]:
        """Tell for each column whether all its entries are numbers."""
        rows = [row for group in self.groups for row in group]
        return [all(_is_number(row[i]) for row in rows) for i in range(len(self.columns))]

    @property
    def n_rows(self) -> int:
        """Count the rows above the foot."""
        return sum(len(group) for group in self.groups)


def anchor_of(source: str) -> str:
    """Return the anchor of the table of a CSV file.

    >>> anchor_of("table2/tests.csv")
    'table2-tests'
    """
    return source.removesuffix(".csv").replace("/", "-")


def _is_number(entry: Entry) -> bool:
    return entry.value is not None or entry.text in ("", DASH)


FOOT_ROWS = {"win/tie/loss"}
NOTE_ROW = "note"

KINDS = {"agrees": "good", "yes": "good", "differs": "bad", "no": "bad"}
"""Answers that get a tick or a cross; the word itself stays."""


NAMES = ("algorithm", "reference", "activation")
"""Columns whose entries are an algorithm's config name, for which its printed title is shown."""


def any_table(frame: pd.DataFrame, title: str, source: str, titles: Mapping[str, str] | None = None) -> Table:
    """Turn a frame of strings into a table; numbers are shortened and sorted by value.

    ``titles`` maps config names of algorithms to what is printed for them. Empty columns are left out.

    >>> table = any_table(pd.DataFrame({"dataset": ["iris"], "error": ["0.123456"]}), "Errors", "errors.csv")
    >>> [entry.text for entry in table.groups[0][0]], table.numeric
    (['iris', '0.1235'], [False, True])
    """
    frame = frame.loc[:, (frame != "").any()]
    named = {name: frame[name].replace(dict(titles or {})) for name in NAMES if name in frame}
    rows = [[_entry(text) for text in row] for row in frame.assign(**named).itertuples(index=False)]
    return Table(title, source, [_heading(column) for column in frame.columns], [rows])


def error_table(
    frame: pd.DataFrame, title: str, source: str, errors: Mapping[tuple[str, str], Sequence[float]]
) -> Table:
    """Turn a table in the paper's layout into one whose cells know their errors.

    The first column names the dataset, the last one carries notes, the others are algorithms by their
    printed headings.  ``errors`` maps dataset and heading to the errors of the splits.  Datasets that
    are not counted are a group of their own, win/tie/loss goes to the foot, notes go below the table.
    """
    headings = [str(column) for column in frame.columns[1:-1]]
    counted: list[list[Entry]] = []
    below: list[list[Entry]] = []
    foot: list[list[Entry]] = []
    notes: dict[str, list[str]] = {}
    for dataset, *texts, note in frame.astype(str).itertuples(index=False, name=None):
        if dataset == NOTE_ROW:
            for heading, text in zip(headings, texts, strict=True):
                _remember(notes, text, heading)
        elif dataset in FOOT_ROWS:
            foot.append([Entry(dataset), *(Entry(text) for text in texts)])
        else:
            _remember(notes, note, dataset)
            entries = [
                error_entry(text, errors.get((dataset, heading), ()), f"{heading} on {dataset}")
                for heading, text in zip(headings, texts, strict=True)
            ]
            group = below if note.startswith("not counted") else counted
            group.append([Entry(f"{dataset}*" if note else dataset), *entries])
    marked = {name for names in notes.values() for name in names}
    columns = ["dataset", *(f"{heading}*" if heading in marked else heading for heading in headings)]
    groups = [group for group in (counted, below) if group]
    return Table(title, source, columns, groups, foot, notes=notes)


def _remember(notes: dict[str, list[str]], note: str, name: str) -> None:
    if note:
        notes.setdefault(note, []).append(name)


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
