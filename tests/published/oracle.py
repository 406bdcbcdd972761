"""What a reader needs to check a published number: the files, and tests written out from their definitions.

Nothing here is imported from the package, so that a mistake there is not made here a second time.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"
PAPER = ROOT / "src" / "mloml" / "paper"
VARIANTS = {"spect": "spect_paper", "mlprove": "mlprove_paper"}
STACKS = ("mloml_r", "mloml_s", "mloml_t")

needs_reference = pytest.mark.skipif(
    not (REFERENCE / "table2" / "cells.csv").is_file(), reason="the published results are not here"
)


def errors(run: str) -> pd.DataFrame:
    """Return the errors of a run: rows are (dataset, split), columns algorithms."""
    cells = pd.read_csv(REFERENCE / run / "cells.csv")
    assert (cells["status"] == "ok").all()
    return cells.pivot_table(index=["dataset", "split"], columns="algorithm", values="error")


def points(name: str) -> pd.DataFrame:
    """Return the errors of every layer or scan: rows are cells, columns the numbers of layers or scans."""
    table = pd.read_csv(REFERENCE / f"{name}.csv")
    return table.set_index(["dataset", "algorithm", "split"]).rename(columns=int)


def csv(name: str) -> pd.DataFrame:
    """Return a published table; an empty field is an empty text."""
    return pd.read_csv(REFERENCE / f"{name}.csv", keep_default_na=False)


def numbers(text: str) -> list[float]:
    """Return the numbers of a text, in order: those of ``81/41/21`` are three."""
    return [float(word) for word in re.findall(r"(?<![\w.])\d*\.?\d+", text.replace(",", ""))]


def headline(artefact: str) -> str:
    """Return what an artefact says in short."""
    return json.loads((REFERENCE / artefact / "artefact.json").read_text(encoding="utf-8"))["headline"]


def claim(beginning: str) -> pd.Series:
    """Return the row of the claim table that begins so."""
    (row,) = (row for _, row in csv("claims/claims").iterrows() if row["claim"].startswith(beginning))
    return row


def by_share(part: int, whole: int) -> str:
    """Return the answer that a share has: nearly all, more than half, or less."""
    return "yes" if part >= 0.9 * whole else "in part" if 2 * part > whole else "no"


def p_plain(difference) -> float:
    """Return the p-value of the paired t-test."""
    d = np.asarray(difference, float)
    return 1.0 if np.abs(d).max() < 1e-12 else float(stats.ttest_1samp(d, 0.0).pvalue)


def p_corrected(difference) -> float:
    """Return the p-value of Nadeau and Bengio's test: halves, so as many test rows as training rows."""
    d = np.asarray(difference, float)
    n, variance = len(d), d.var(ddof=1)
    if variance < 1e-24:
        return 1.0 if abs(d.mean()) < 1e-12 else 0.0
    return float(2 * stats.t.sf(abs(d.mean()) / np.sqrt((1 / n + 1) * variance), n - 1))


def mark(difference, p: float) -> str:
    """Return win, tie or loss of what is subtracted."""
    return "tie" if p >= 0.05 else "win" if np.mean(difference) > 0 else "loss"


def both_marks(difference) -> tuple[str, str]:
    """Return the mark by the plain and by the corrected test."""
    return mark(difference, p_plain(difference)), mark(difference, p_corrected(difference))


def wtl(marks) -> str:
    """Count win/tie/loss."""
    found = list(marks)
    return "/".join(str(found.count(word)) for word in ("win", "tie", "loss"))


def welch(mine: pd.Series, mean: float, std: float, rounding: float = 0.001**2 / 12):
    """Return a mean less a printed, rounded one in standard errors, that error, and its distribution."""
    a, b = mine.var(ddof=1) / len(mine), std**2 / 30
    total, freedom = a + b + rounding, a**2 / (len(mine) - 1) + b**2 / 29
    error = np.sqrt(total) or 1e-12
    return (mine.mean() - mean) / error, error, stats.t(total**2 / freedom) if freedom > 1e-40 else stats.norm


def welch_verdict(mine: pd.Series, mean: float, std: float) -> str:
    """Say whether a mean agrees with a printed one."""
    t, _, distribution = welch(mine, mean, std)
    return "agrees" if 2 * distribution.sf(abs(t)) >= 0.05 else "higher" if t > 0 else "lower"


def printed(table: str) -> pd.DataFrame:
    """Return a table of the paper with our names of its data sets and algorithms."""
    frame = pd.read_csv(PAPER / f"{table}.csv")
    names = frame["algorithm"].str.lower().str.replace("-", "_").replace("ml_cc", "mlcc")
    if "propagation" in frame:
        names += frame["propagation"].map({"FP": "", "BP": "_bp", "FBP": "_fbp"})
    return frame.assign(algorithm=names, dataset=frame["dataset"].replace(VARIANTS))


def holm(p_values) -> np.ndarray:
    """Return p-values with Holm's correction."""
    p = np.asarray(p_values, float)
    order = np.argsort(p)
    steps = np.maximum.accumulate(np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order]))
    adjusted = np.empty(len(p))
    adjusted[order] = steps
    return adjusted


def wilcoxon(difference) -> float:
    """Return the p-value of Wilcoxon's signed-rank test; 1 if nothing differs."""
    d = np.round(np.asarray(difference, float), 10)  # equal differences of counts are equal
    return float(stats.wilcoxon(d).pvalue) if d.any() else 1.0
