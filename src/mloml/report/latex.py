r"""LaTeX with booktabs: a ``table*`` to ``\input``, which is a document of its own when compiled alone."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

from jinja2 import Environment, StrictUndefined

from mloml.report.document import MARKS, Column, Grid
from mloml.report.render import TEMPLATES

# Columns side by side; wider tables are stacked, as the paper does, to fit a page of article as well.
BLOCK = 7

SPECIALS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$",
    "±": r"$\pm$", "×": r"$\times$", "•": r"$\bullet$", "◦": r"$\circ$", "–": "--", "ℓ": r"$\ell$",
    "γ": r"$\gamma$", "λ": r"$\lambda$", "−": "$-$", "≥": r"$\ge$", "≤": r"$\le$", "…": r"\dots{}",
    "Φ": r"$\Phi$", "√": r"$\surd$", "‖": r"$\|$", "½": r"$\frac12$", "→": r"$\to$",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "²": "$^2$",
}  # fmt: skip


def escape(text: str) -> str:
    r"""Return text with LaTeX's special characters made harmless.

    >>> print(escape("mloml_r: 95 % of {30}"))
    mloml\_r: 95 \% of \{30\}
    """
    return "".join(SPECIALS.get(sign, sign) for sign in text.replace("\n", " ").replace("`", ""))


def grid_to_latex(grid: Grid, caption: str, remarks: Sequence[str] = ()) -> str:
    """Render a grid as a ``table*`` of one or more stacked blocks with footnotes below."""
    letters = grid.footnotes()
    notes = [f"\\textsuperscript{{{letter}}}~{escape(note)}." for note, letter in letters.items()]
    notes += [escape(remark) for remark in remarks]
    # Jinja's usual braces are LaTeX's.
    signs = ("<%", "%>", "<<", ">>", "<#", "#>")
    environment = Environment(
        *signs, loader=TEMPLATES, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters["tex"] = escape
    return environment.get_template("table.tex").render(
        grid=grid,
        caption=caption,
        letters=letters,
        marks=MARKS,
        counted=[i for i, count in enumerate(grid.counts) if count],
        blocks=_blocks(grid.columns),
        notes=[textwrap.fill(note, 110, break_long_words=False) for note in notes],
    )


def _blocks(columns: Sequence[Column]) -> list[list[tuple[str, list[int]]]]:
    """Cut the columns into blocks of at most :data:`BLOCK`, never inside a group: ``(group, columns)``."""
    blocks: list[list[tuple[str, list[int]]]] = []
    room = 0
    for _, members in groupby(range(len(columns)), key=lambda i: columns[i].group or str(i)):
        group = list(members)
        if len(group) > room:
            blocks.append([])
            room = BLOCK
        blocks[-1].append((columns[group[0]].group, group))
        room -= len(group)
    return blocks
