"""LaTeX compiles by itself and inside article and IEEEtran; without TeX its syntax is checked."""

import itertools
import re
import shutil
import subprocess

import pytest

from mloml.paper import ALGORITHMS
from mloml.report.labels import labels_of
from mloml.report.latex import escape, grid_to_latex
from mloml.report.tables import build_grid, summarise

WRAPPER = r"\documentclass{%s}\usepackage{booktabs}\begin{document}Before.\input{table}After.\end{document}"
TABULAR = r"\\begin\{tabular\*\}\{\\textwidth\}\{@\{\\extracolsep\{\\fill\}\}(l+)@\{\}\}"
AWKWARD = "100 % offline; put it into {data.dir}"


@pytest.fixture
def latex(make_result) -> str:
    """A table with everything in it: footnotes, dashes, marks, bold, rules, awkward characters."""
    cells = {"missing": ("wine",), "keep": lambda d, a, s: (d, a) != ("iris", "lego")}
    result = make_result(algorithms=tuple(ALGORITHMS.values()), **cells)
    results = summarise(result.frame, labels_of(result), "mloml_r")
    return grid_to_latex(build_grid(results, "tab:t"), "Errors, 5 % & more", [f"•/◦: mloml_r. {AWKWARD}"])


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
    depths = list(itertools.accumulate((sign == "{") - (sign == "}") for sign in text))
    assert min(depths) == depths[-1] == 0
    assert text.count("$") % 2 == 0 and latex.isascii()
    assert r"100 \% offline" in latex and r"\{data.dir\}" in latex and r"mloml\_r." in latex


@pytest.mark.parametrize("sign", list("\\&%$#_{}~^<>±×•◦–ℓγ≤…²"))
def test_no_special_character_survives_unescaped(sign: str) -> None:
    assert escape(sign) != sign and escape(f"a{sign}b").startswith("a")


@pytest.mark.parametrize(
    ("kind", "files"), [("article", ["booktabs.sty"]), ("IEEEtran", ["booktabs.sty", "ptmr7t.tfm"])]
)
def test_it_compiles_without_overfull_lines_alone_and_in_a_paper(kind, files, latex, tmp_path) -> None:
    for file in (f"{kind}.cls", *files):
        if not shutil.which("pdflatex") or subprocess.run(["kpsewhich", file], check=False).returncode:
            pytest.skip(f"no TeX with {file} on this machine: only the syntax was checked")
    (tmp_path / "table.tex").write_text(latex)
    (tmp_path / "paper.tex").write_text(WRAPPER % kind)
    for name in ("table", "paper"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert run.returncode == 0 and b"Overfull" not in run.stdout, run.stdout[-2000:]
