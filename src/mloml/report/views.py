"""Tables of the HTML page, from the plain data of ``artefact.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mloml.report.document import DASH, MARKS, Entry

NAMES = ("algorithm", "reference", "activation")
"""Columns whose entries are an algorithm's config name, for which its printed title is shown."""

LINKS = ("shows", "numbers")
"""Columns whose entries are files of other artefacts, which have a place on the page."""

KINDS = {
    "agrees": "good",
    "yes": "good",
    "differs": "bad",
    "no": "bad",
    "reproduced": "good",
    "not reproduced": "bad",
    "false": "bad",
}
"""Answers that get a tick or a cross; the word itself stays."""


@dataclass(frozen=True)
class Cell:
    """One cell: what is printed, what is sorted by, and the errors behind it if there are any.

    ``mark`` follows the text, larger than it; ``link`` is a place on the page.
    """

    text: str
    value: float | None = None
    errors: Sequence[float] = ()
    label: str = ""
    kind: str = ""
    mark: str = ""
    link: str = ""


@dataclass(frozen=True)
class View:
    """A table ready to be printed.

    Rows of ``foot`` stay below whatever is sorted. ``notes`` maps a remark to the rows and columns it is
    about, which carry an asterisk. ``page`` holds the words about it, after caption and ``remarks``.
    Cells of ``sentences`` are shown in full.
    """

    title: str
    source: str
    columns: list[str]
    groups: list[list[list[Cell]]]
    foot: list[list[Cell]] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    page: Sequence[Mapping[str, Any]] = ()
    sentences: bool = False

    @property
    def anchor(self) -> str:
        """Name by which links inside the page find the table: ``table2-tests``."""
        return anchor_of(self.source)

    @property
    def first_page(self) -> Sequence[Mapping[str, Any]]:
        """The part of ``page`` that is in sight: up to its first table."""
        ends = [place for place, block in enumerate(self.page, start=1) if "view" in block]
        return self.page[: ends[0]] if ends else self.page

    @property
    def numeric(self) -> list[bool]:
        """Tell for each column whether all its entries are numbers."""
        rows = [row for group in self.groups for row in group]
        return [
            all(row[i].value is not None or row[i].text in ("", DASH) for row in rows)
            for i in range(len(self.columns))
        ]

    @property
    def n_rows(self) -> int:
        """Count the rows above the foot."""
        return sum(len(group) for group in self.groups)


def anchor_of(source: str) -> str:
    """Return the place of a file, or of a folder, on the page.

    >>> anchor_of("table2/tests.csv"), anchor_of("fig5/fig5.png"), anchor_of("beyond/clean")
    ('table2-tests', 'fig5-fig5-picture', 'beyond-clean')
    """
    stem, _, ending = source.partition(".")
    return stem.replace("/", "-") + ("-picture" if ending == "png" else "")


def frame_view(
    frame: Mapping[str, Any],
    title: str = "",
    source: str = "",
    titles: Mapping[str, str] | None = None,
    hidden: Sequence[str] = (),
) -> View:
    """Return plain numbers as a view: shortened, sorted by value; empty columns are left out.

    ``titles`` maps config names of algorithms to what is printed for them.

    >>> view = frame_view({"columns": ["dataset", "mean_error"], "rows": [["iris", 0.123456]]})
    >>> view.columns, [cell.text for cell in view.groups[0][0]], view.numeric
    (['dataset', 'mean error'], ['iris', '0.1235'], [False, True])
    """
    rows = frame["rows"]
    kept = [
        (i, name)
        for i, name in enumerate(frame["columns"])
        if name not in hidden and any(row[i] not in (None, "") for row in rows)
    ]
    cells = [
        [_linked(row[i]) if name in LINKS else _cell(_titled(row[i], name, titles)) for i, name in kept]
        for row in rows
    ]
    return View(title, source, [name.replace("_", " ") for _, name in kept], [cells])


def grid_view(grid: Mapping[str, Any], title: str = "", source: str = "") -> View:
    """Return a grid as a view whose cells know their errors.

    Datasets that are not counted are a group of their own, win/tie/loss is the foot, notes go below.
    """
    notes: dict[str, list[str]] = {}

    def starred(name: str, *remarks: str) -> str:
        text = "; ".join(remark for remark in remarks if remark)
        if text:
            notes.setdefault(text, []).append(name)
        return f"{name}*" if text else name

    headings = [f"{column['group']} {column['title']}".strip() for column in grid["columns"]]

    def line(row: Mapping[str, Any], remark: str = "") -> list[Cell]:
        first = Cell(starred(row["title"], remark, row["note"], row["details"]))
        return [
            first,
            *(_entry(e, f"{h} on {row['title']}") for e, h in zip(row["entries"], headings, strict=True)),
        ]

    counted, below = [line(row) for row in grid["rows"]], [line(row, "not counted") for row in grid["below"]]
    columns = [starred(h, column["note"]) for h, column in zip(headings, grid["columns"], strict=True)]
    foot = [[Cell("win/tie/loss"), *map(Cell, grid["counts"])]] if any(grid["counts"]) else []
    groups = [group for group in (counted, below) if group]
    remarks = [grid["caption"], *grid["remarks"]]
    return View(title, source, [grid["corner"], *columns], groups, foot, notes, remarks)


def _titled(value: Any, name: str, titles: Mapping[str, str] | None) -> Any:
    return (titles or {}).get(value, value) if name in NAMES else value


def _linked(path: Any) -> Cell:
    return replace(_cell(path), link=anchor_of(path)) if isinstance(path, str) else _cell(path)


def _entry(entry: Mapping[str, Any], label: str) -> Cell:
    shown = Entry(**{name: value for name, value in entry.items() if name != "kind"})
    text, mark = "±".join(shown.numbers()), MARKS.get(shown.mark, "")
    best = "best" if shown.best else ""
    return Cell(text, entry["mean"], entry["errors"], label, best, mark)


def _cell(value: str | int | float | None) -> Cell:
    if value is None or isinstance(value, str):
        return Cell(value or "", kind=KINDS.get((value or "").split(":")[0], ""))
    text = f"{value:.10g}"
    whole = isinstance(value, int) or (value == int(value) and len(text) <= 8)
    return Cell(text if whole else f"{value:.4g}", value)
