r"""LaTeX with booktabs: a ``table*`` to ``\input``, which is a document of its own when compiled alone."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

import pandas as pd

from mloml.reporting.model import MARKS, Column, Entry, Row, Table

BLOCK = 7
"""Columns side by side; wider tables are stacked, as the paper does, to fit a page of article as well."""

# \@nodocument is \relax once \begin{document} has been read: that tells \input from compiling alone.
HEAD = r"""% Needs \usepackage{booktabs}. Use it by \input, or compile this file as it is.
\expandafter\ifx\csname @nodocument\endcsname\relax\else
  \documentclass{article}
  \usepackage{booktabs}
  \begin{document}
  \def\mlomlend{\end{document}}
\fi
"""
FOOT = "\\ifdefined\\mlomlend\\expandafter\\mlomlend\\fi\n"

SPECIALS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$",
    "±": r"$\pm$", "×": r"$\times$", "•": r"$\bullet$", "◦": r"$\circ$", "–": "--", "ℓ": r"$\ell$",
    "γ": r"$\gamma$", "λ": r"$\lambda$", "−": "$-$", "≥": r"$\ge$", "≤": r"$\le$", "…": r"\dots{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "²": "$^2$",
}  # fmt: skip


def escape(text: str) -> str:
    r"""Return text with LaTeX's special characters made harmless.

    >>> print(escape("mloml_r: 95 % of {30}"))
    mloml\_r: 95 \% of \{30\}
    """
    return "".join(SPECIALS.get(sign, sign) for sign in text.replace("\n", " "))


def table_to_latex(table: Table) -> str:
    """Render a table as a ``table*`` of one or more stacked blocks with footnotes below."""
    letters = table.footnotes()
    blocks = [_block(table, indices, letters) for indices in _blocks(table.columns)]
    notes = [f"\\textsuperscript{{{letter}}}~{escape(note)}." for note, letter in letters.items()]
    notes += [escape(remark) for remark in table.remarks]
    return _float(table.caption, table.label, "\n\\par\\medskip\n".join(blocks), notes)


def frame_to_latex(frame: pd.DataFrame, caption: str, label: str, notes: Sequence[str] = ()) -> str:
    """Render a frame of short texts and numbers in the same frame as the tables."""
    lines = [[escape(str(value)) for value in row] for row in frame.itertuples(index=False)]
    header = [escape(str(name)) for name in frame.columns]
    body = _tabular(len(header), [_line(header), r"\midrule", *map(_line, lines)])
    return _float(caption, label, body, [escape(note) for note in notes])


def _float(caption: str, label: str, body: str, notes: Sequence[str]) -> str:
    below = ""
    if notes:
        text = "\n".join(textwrap.fill(note, 110, break_long_words=False) + r"\par" for note in notes)
        below = f"\\par\\smallskip\n\\parbox{{\\textwidth}}{{\\scriptsize\n{text}\n}}\n"
    return (
        f"{HEAD}\\begin{{table*}}[t]\n\\centering\n\\caption{{{escape(caption)}}}\n\\label{{{label}}}\n\\smallskip\n"
        f"\\scriptsize\\setlength{{\\tabcolsep}}{{1pt}}\n{body}\n{below}\\end{{table*}}\n{FOOT}"
    )


def _blocks(columns: Sequence[Column]) -> list[list[int]]:
    """Cut the columns into blocks of at most :data:`BLOCK`, never inside a group."""
    blocks: list[list[int]] = []
    for _, members in groupby(range(len(columns)), key=lambda i: columns[i].group or str(i)):
        group = list(members)
        if blocks and len(blocks[-1]) + len(group) <= BLOCK:
            blocks[-1] += group
        else:
            blocks.append(group)
    return blocks


def _block(table: Table, indices: Sequence[int], letters: dict[str, str]) -> str:
    columns = [table.columns[i] for i in indices]
    lines = _group_heading(columns)
    lines += [_line(["dataset", *(_noted(escape(c.title), c.note, letters) for c in columns)]), r"\midrule"]

    def line(row: Row) -> str:
        entries = [_entry(row.entries[i], letters) for i in indices]
        return _line([_noted(escape(row.title), row.note, letters), *entries])

    lines += [line(row) for row in table.rows]
    counts = [table.counts[i] for i in indices] if table.counts else []
    if any(counts):
        lines += [r"\midrule", _line(["win/tie/loss", *counts])]
    if table.below:
        lines += [r"\midrule", *(line(row) for row in table.below)]
    return _tabular(1 + len(columns), lines)


def _group_heading(columns: Sequence[Column]) -> list[str]:
    if not any(column.group for column in columns):
        return []
    names, rules, start = [""], [], 2
    for group, members in groupby(columns, key=lambda column: column.group):
        width = len(list(members))
        names.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
        rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [_line(names), " ".join(rules)]


def _entry(entry: Entry, letters: dict[str, str]) -> str:
    numbers = [escape(text) for text in entry.numbers()]
    if entry.best:
        numbers = [rf"\textbf{{{text}}}" for text in numbers]
    return _noted(r"$\pm$".join(numbers) + escape(MARKS.get(entry.mark, "")), entry.note, letters)


def _noted(text: str, note: str, letters: dict[str, str]) -> str:
    return rf"{text}\textsuperscript{{{letters[note]}}}" if note else text


def _line(fields: Sequence[str]) -> str:
    return " & ".join(fields) + r" \\"


def _tabular(columns: int, lines: Sequence[str]) -> str:
    """Spread the columns over the page; left-aligned, so that marks do not shift the numbers."""
    body = "\n".join(lines)
    spec = "@{\\extracolsep{\\fill}}" + "l" * columns + "@{}"
    start = f"\\begin{{tabular*}}{{\\textwidth}}{{{spec}}}"
    return f"{start}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular*}}"
