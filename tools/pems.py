"""Predict Table II on pems from the published results, before its file can be had: ``python -m tools.pems``.

It writes ``src/mloml/paper/pems_prediction.csv`` and the tables of ``docs/reproduction/pems.md``, a page on
the model. It is called again when the reference is made anew; once ``results/reference/pems`` is there the
prediction stays as it was.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pandas as pd
from scipy import stats

from mloml.paper.published import ALGORITHMS, SPLITS, pems_prediction, table2
from mloml.paper.statistics import PRINTED_ROUNDING
from mloml.report.document import number
from mloml.report.publish import write_csv
from mloml.report.render import escape, table_lines
from tools.readme import REFERENCE, ROOT, fill

PAGE, FILE = "docs/reproduction/pems.md", "src/mloml/paper/pems_prediction.csv"
# Sets that are reduced by PCA, and the method whose error depends on the arbitrary signs of the axes.
WIDE, SIGNED = ("lsvt", "pems"), "mloml_r"
CELL = ["dataset", "algorithm", "paper_mean", "paper_std"]


def basis(reference: Path) -> tuple[pd.DataFrame, float]:
    """Return our cells of Table II beside the paper's, and the variance over choices of signs on lsvt."""
    known = pd.read_csv(reference / "table2" / "paper_comparison.csv")
    signs = pd.read_csv(reference / "signs" / "signs.csv")
    moved = (signs["algorithm"] == f"{SIGNED}_untrained") & (signs["signs"] != "fixed")
    return known[known["dataset"] != "pems"], float(signs.loc[moved, "mean"].var())


def predict_pems(known: pd.DataFrame, signs: float) -> pd.DataFrame:
    """Predict our mean error of every method of Table II on pems."""
    printed = table2().query("dataset == 'pems'").rename(columns={"error": "paper_mean", "std": "paper_std"})
    return predict(known, printed[CELL], signs)


def predict(known: pd.DataFrame, printed: pd.DataFrame, signs: float, level: float = 0.95) -> pd.DataFrame:
    """Predict our mean error of every printed cell.

    Parameters
    ----------
    known : DataFrame
        Our cells on other data sets beside the paper's, as ``paper_comparison.csv`` has them.
    printed : DataFrame
        The cells to predict: dataset, algorithm, paper_mean, paper_std.
    signs : float
        Variance of a mean error over choices of the signs of the principal axes.
    level : float
        Of the intervals.

    Returns
    -------
    DataFrame
        ``printed`` with ``shift`` (mean of our mean less the paper's, on the other sets), ``between`` (its
        standard deviation between sets, beyond chance), ``expected``, ``low`` and ``high``.
    """
    noise, rows = _noise(known, known["our_std"], signs), []
    ahead = _noise(printed, printed["paper_std"], signs)
    for cell, chance in zip(printed.to_dict("records"), ahead, strict=True):
        mine = known["algorithm"] == cell["algorithm"]
        differences = known.loc[mine, "difference"]
        sets, shift, spread = len(differences), differences.mean(), differences.var()
        between = max(0.0, spread - noise[mine].mean())
        half = math.sqrt(between + spread / sets + chance) * stats.t.ppf((1 + level) / 2, sets - 1)
        expected = cell["paper_mean"] + shift
        cell |= {"shift": shift, "between": math.sqrt(between), "expected": expected}
        rows.append(cell | {"low": max(0.0, expected - half), "high": min(1.0, expected + half)})
    return pd.DataFrame(rows)


def leave_one_out(known: pd.DataFrame, signs: float) -> pd.DataFrame:
    """Predict each data set from the others, and add whether the interval ``holds`` our mean."""
    parts = []
    for name, cells in known.groupby("dataset", sort=False):
        found, ours = predict(known[known["dataset"] != name], cells[CELL], signs), cells["our_mean"].array
        parts.append(found.assign(holds=(found["low"] <= ours) & (ours <= found["high"])))
    return pd.concat(parts, ignore_index=True)


def _noise(cells: pd.DataFrame, our_std: pd.Series, signs: float) -> pd.Series:
    """Return the variance that a difference of the two means has by chance: halves, rounding, signs."""
    signed = cells["dataset"].isin(WIDE) & (cells["algorithm"] == SIGNED)
    return (cells["paper_std"] ** 2 + our_std**2) / SPLITS + PRINTED_ROUNDING + 2 * signs * signed


def prediction(reference: Path) -> str:
    """Return the committed prediction as a table."""
    cells, titles = pems_prediction().to_dict("records"), {name: title for title, name in ALGORITHMS.items()}
    columns = ("paper_mean", "expected", "low", "high")
    rows = [[titles[cell["algorithm"]], *(number(cell[name]) for name in columns)] for cell in cells]
    return table_lines(["method", "paper", "expected", "from", "to"], rows)


def calibration(reference: Path) -> str:
    """Return how many intervals of each known data set hold when it is predicted from the others."""
    holds = leave_one_out(*basis(reference)).groupby("dataset", sort=False)["holds"].agg(["sum", "size"])
    rows = [[escape(str(name)), f"{row['sum']} of {row['size']}"] for name, row in holds.iterrows()]
    rows.append(["*all*", f"{holds['sum'].sum()} of {holds['size'].sum()}"])
    return table_lines(["data set", "intervals that hold"], rows)


BLOCKS = {"prediction": prediction, "calibration": calibration}


def main() -> int:
    """Write prediction and page, unless the prediction has been put to the test."""
    if (REFERENCE / "pems").exists():
        print("results/reference/pems: pems has been run, so its prediction stays as it was", file=sys.stderr)
        return 1
    write_csv(ROOT / FILE, predict_pems(*basis(REFERENCE)))
    page = ROOT / PAGE
    page.write_text(fill(page.read_text(encoding="utf-8"), BLOCKS), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
