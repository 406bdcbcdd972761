"""Markdown for people: the table with its footnotes, plain frames, and the command at the end."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from mloml.reporting.model import MARKS, Entry, Row, Table


def table_to_markdown(table: Table) -> str:
    """Render a table; the best mean of a row is bold, footnotes are letters.

    >>> from mloml.reporting.model import Column
    >>> row = Row("iris", "iris", (Entry(0.038, 0.016, "win"), Entry(0.026, 0.017, best=True)))
    >>> columns = (Column("euclidean", "Euclidean"), Column("mloml_r", "MLOML-r"))
    >>> print(table_to_markdown(Table("Errors.", "t", columns, (row,), counts=("1/0/0", ""))))
    Errors.
    <BLANKLINE>
    | dataset | Euclidean | MLOML-r |
    |---|---|---|
    | iris | .038±.016• | **.026±.017** |
    | *win/tie/loss* | 1/0/0 |  |
    <BLANKLINE>
    """
    letters = table.footnotes()

    def marked(text: str, note: str) -> str:
        return f"{escape(text)}<sup>{letters[note]}</sup>" if note else escape(text)

    def line(row: Row) -> list[str]:
        entries = [_entry(entry, letters) for entry in row.entries]
        return [marked(row.title, row.note), *entries]

    lines = [line(row) for row in table.rows]
    if any(table.counts):
        lines.append(["*win/tie/loss*", *table.counts])
    if table.below:
        lines.append(["*not counted:*"] + [""] * len(table.columns))
        lines += [line(row) for row in table.below]
    header = ["dataset", *(marked(column.heading, column.note) for column in table.columns)]
    parts = [table.caption, "", _grid(header, lines), ""]
    parts += [f"<sup>{letter}</sup> {escape(note)}  " for note, letter in letters.items()]
    parts += [""] if letters else []
    for remark in table.remarks:
        parts += [escape(remark), ""]
    return "\n".join(parts)


def _entry(entry: Entry, letters: dict[str, str]) -> str:
    text = escape("±".join(entry.numbers()))
    text = (f"**{text}**" if entry.best else text) + MARKS.get(entry.mark, "")
    return text + (f"<sup>{letters[entry.note]}</sup>" if entry.note else "")


def frame_to_markdown(frame: pd.DataFrame) -> str:
    r"""Render a frame of short texts and whole numbers.

    >>> print(frame_to_markdown(pd.DataFrame({"algorithm": ["a|b"], "wins": [3]})))
    | algorithm | wins |
    |---|---|
    | a\|b | 3 |
    """
    lines = [[escape(str(value)) for value in row] for row in frame.itertuples(index=False)]
    return _grid([escape(str(name)) for name in frame.columns], lines)


def document(title: str, parts: Sequence[str], command: str) -> str:
    """Join parts into a page that ends with the command that made it."""
    body = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    return f"# {title}\n\n{body}\n\nMade by `{command}`.\n"


def escape(text: str) -> str:
    """Keep a text from being read as markup or as the end of a table cell."""
    for sign in ("|", "*", "_", "<"):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")


def _grid(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, *lines]
    text = [f"| {' | '.join(row)} |" for row in rows]
    text.insert(1, "|" + "---|" * len(header))
    return "\n".join(text)
