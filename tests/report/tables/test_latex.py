"""LaTeX compiles by itself and inside article and IEEEtran; without TeX its syntax is checked."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mloml.report.document import Column, Entry, Grid, Row
from mloml.report.labels import labels_of
from mloml.report.latex import escape, grid_to_latex
from mloml.report.tables import build_grid, summarise

WRAPPER = r"""\documentclass{%s}
\usepackage{booktabs}
\begin{document}
Before.
\input{table}
After.
\end{document}
"""
TABULAR = r"\\begin\{tabular\*\}\{\\textwidth\}\{@\{\\extracolsep\{\\fill\}\}(l+)@\{\}\}"
AWKWARD = "100 % offline; put it into {data.dir}"
ALGORITHMS = (
    "euclidean", "lmnn", "kissme", "lmdml", "mlcc", "rdml", "lego", "oasis", "opml", "slmoml", "moml",
    "mloml_t", "mloml_s", "mloml_r",
)  # fmt: skip


@pytest.fixture
def latex(make_result) -> str:
    """A table with everything in it: footnotes, dashes, marks, bold, rules, awkward characters."""
    result = make_result(
        algorithms=ALGORITHMS,
        missing=("wine",),
        keep=lambda d, a, s: not (d == "iris" and a == "lego" and s > 4),
    )
    results = summarise(result.frame, labels_of(result), "mloml_r")
    return grid_to_latex(
        build_grid(results, "Errors, 5 % & more", "tab:t", remarks=[f"•/◦: mloml_r. {AWKWARD}"])
    )


def test_every_line_has_as_many_fields_as_the_block_has_columns(latex: str) -> None:
    blocks = re.findall(TABULAR + r"(.*?)\\end\{tabular\*\}", latex, flags=re.DOTALL)
    assert [spec for spec, _ in blocks] == ["llllllll", "llllllll"]
    for spec, body in blocks:
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        # Header, four counted rows, the counts, and below the rule a heading and one row.
        assert len(lines) == 8 and lines[-2].startswith(r"\emph{not counted:}")
        assert lines[-1].startswith("spect (true)")
        for line in lines:
            assert len(re.findall(r"(?<!\\)&", line)) == len(spec) - 1


def test_braces_and_dollars_are_balanced_and_specials_escaped(latex: str) -> None:
    text = re.sub(r"\\[{}$%&#_]", "", latex)
    depth = 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert text.count("$") % 2 == 0
    assert latex.isascii()
    assert r"100 \% offline" in latex and r"\{data.dir\}" in latex and r"mloml\_r." in latex


def test_marks_bold_rules_and_footnotes_are_there(latex: str) -> None:
    assert r"$\bullet$" in latex and re.search(r"\\textbf\{\.\d{3}\}\$\\pm\$\\textbf\{\.\d{3}\}", latex)
    assert r"SLMOML\textsuperscript{" in latex and "--\\textsuperscript{" in latex
    assert latex.count(r"\midrule") == 6 and r"\begin{table*}" in latex


def test_groups_share_a_heading_and_are_never_cut() -> None:
    columns = tuple(Column(f"{g}{s}", s, group=g) for g in ("r", "s", "t") for s in ("BP", "FBP", "FP"))
    row = Row("iris", "iris", tuple(Entry(0.1, 0.01) for _ in columns))
    text = grid_to_latex(Grid("c", "l", columns, (row,)))
    assert text.count(r"\multicolumn{3}{c}") == 3
    assert re.findall(TABULAR, text) == ["lllllll", "llll"]
    assert r"\cmidrule(lr){2-4} \cmidrule(lr){5-7}" in text


@pytest.mark.parametrize("sign", list("\\&%$#_{}~^<>±×•◦–ℓγ≤…²"))
def test_no_special_character_survives_unescaped(sign: str) -> None:
    assert escape(sign) != sign and escape(f"a{sign}b").startswith("a")


def test_the_log_of_a_compilation_is_clean_alone_and_in_article(latex: str, tmp_path: Path) -> None:
    _need_tex("article.cls", "booktabs.sty")
    (tmp_path / "table.tex").write_text(latex)
    (tmp_path / "paper.tex").write_text(WRAPPER % "article")
    for name in ("table", "paper"):
        log = _compile(tmp_path, name)
        assert "Overfull" not in log and (tmp_path / f"{name}.pdf").stat().st_size > 1000


def test_it_compiles_in_ieeetran(latex: str, tmp_path: Path) -> None:
    _need_tex("IEEEtran.cls", "booktabs.sty", "ptmr7t.tfm")
    (tmp_path / "table.tex").write_text(latex)
    (tmp_path / "paper.tex").write_text(WRAPPER % "IEEEtran")
    assert "Overfull" not in _compile(tmp_path, "paper")


def _need_tex(*files: str) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex on this machine: only the syntax was checked")
    for file in files:
        found = subprocess.run(["kpsewhich", file], capture_output=True, check=False)
        if found.returncode:
            pytest.skip(f"this TeX has no {file}: only the syntax was checked")


def _compile(folder: Path, name: str) -> str:
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    return run.stdout
