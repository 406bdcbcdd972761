"""Every number of the report, from the published files once more."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.published.oracle import PAPER, REFERENCE, csv, errors, needs_reference

report = pytest.importorskip("tools.report", reason="the tools are not part of an installed wheel")
pytestmark = needs_reference

OWN = {"MOML": "moml", "MLOML-t": "mloml_t", "MLOML-s": "mloml_s", "MLOML-r": "mloml_r"}
PRINTED = pd.read_csv(PAPER / "table2.csv").set_index(["dataset", "algorithm"])


@pytest.fixture(scope="module")
def found():
    return report.numbers()


def welch(ours, mean, std, rounding=0.001**2 / 12):
    """Return the statistic and the p-value of our errors against a printed mean, 30 splits on both sides."""
    mine, theirs = ours.var(ddof=1) / len(ours), std**2 / 30
    variance = mine + theirs + rounding
    free = variance**2 / (mine**2 / (len(ours) - 1) + theirs**2 / 29)
    z = (ours.mean() - mean) / variance**0.5
    return z, 2 * stats.t.sf(abs(z), free)


def corrected(first, second):
    """Return the mean difference and the p-value of the corrected resampled t-test, for equal halves."""
    gap = first - second
    if not gap.var(ddof=1):
        return gap.mean(), float(gap.mean() == 0)
    t = gap.mean() / np.sqrt((1 / len(gap) + 1) * gap.var(ddof=1))
    return gap.mean(), 2 * stats.t.sf(abs(t), len(gap) - 1)


def outcome(gap, p):
    return "tie" if p >= 0.05 else "win" if gap > 0 else "loss"


def test_agreement_with_the_papers_own_methods(found):
    table = errors("table2")
    z, agree = [], 0
    for row, name in PRINTED.index:
        place = {"spect": "spect_paper", "mlprove": "mlprove_paper"}.get(row, row)
        if name in OWN and place in table.index.get_level_values("dataset"):
            ours = table.loc[place][OWN[name]].to_numpy()
            statistic, p = welch(ours, *PRINTED.loc[(row, name), ["error", "std"]].astype(float))
            z.append(statistic)
            agree += p >= 0.05
    assert (found["own_cells"], found["own_agree"]) == (len(z), agree)
    assert found["own_z2"] == pytest.approx(np.mean(np.square(z)), rel=1e-6)


def test_wins_of_the_reference(found):
    table = errors("table2")
    wins, kept, places, counts = 0, 0, Counter(), Counter()
    codes = {"own": OWN, }
    names = pd.read_csv(REFERENCE / "table2/paper_comparison.csv")[["dataset", "algorithm", "paper_mark"]]
    for _, (dataset, algorithm, mark) in names[names["paper_mark"].isin(["win", "tie", "loss"])].iterrows():
        part = table.loc[dataset]
        ours = outcome(*corrected(part[algorithm].to_numpy(), part["mloml_r"].to_numpy()))
        counts[ours] += 1
        wins += mark == "win"
        kept += mark == ours == "win"
        places[dataset] += mark == "win"
    assert codes and (found["won"], found["kept"]) == (wins, kept)
    assert found["accident_wins"] == sum(places[d] for d in ("lsvt", "spect_paper", "mlprove_paper"))
    assert found["corrected"] == "/".join(str(counts[word]) for word in ("win", "tie", "loss"))


def test_data_sets_with_wrong_labels(found):
    plain = errors("table2")["euclidean"].groupby("dataset").mean()
    assert found["spect_true"] == pytest.approx(plain["spect"])
    assert found["spect_last"] == pytest.approx(plain["spect_paper"])
    assert found["mlprove_paper_way"] == pytest.approx(plain["mlprove_paper"])
    assert found["spect_paper"] == PRINTED.loc[("spect", "Euclidean"), "error"]
    assert found["mlprove_printed"] == PRINTED.loc[("mlprove", "Euclidean"), "error"]
    assert found["lsvt_printed"] == PRINTED.loc[("lsvt", "MLOML-r"), "error"]
    untrained = errors("untrained")["mloml_r_untrained"].groupby("dataset").mean()
    assert found["lsvt_untrained"] == pytest.approx(untrained["lsvt"])
    drawn = [
        pd.read_csv(path).query("algorithm == 'mloml_r_untrained'")["error"].mean()
        for path in REFERENCE.glob("signs/signs_*/cells.csv")
    ]
    assert found["sign_draws"] == len(drawn)
    assert [found["signs_low"], found["signs_high"]] == pytest.approx([min(drawn), max(drawn)])


def test_theory(found):
    steps = csv("theory/theorem1").astype({"layer": int, "gamma": float})
    first = steps[steps["layer"] == 1]
    largest = first[first["gamma"] == 0.1]
    assert found["t1_steps"] == first["steps_looked_at"].astype(int).sum()
    assert found["t1_broken"] == pytest.approx(largest["share_condition_broken"].astype(float).mean())
    points = pd.read_csv(REFERENCE / "theory/layer_errors.csv")
    wide = points.pivot_table(index=["dataset", "split"], columns="layer", values="error")
    gaps = np.round(np.diff(wide[[1, 2, 3, 4, 5]].to_numpy(), axis=1), 9)
    assert found["p1_steps"] == gaps.size
    assert found["p1_no_worse"] == pytest.approx((gaps <= 0).mean(), abs=1e-9)
    assert found["p1_better"] == pytest.approx((gaps < 0).mean(), abs=1e-9)


def test_the_page_is_what_the_results_give():
    assert (report.FOLDER / "report.md").read_text(encoding="utf-8") == report.page(report.numbers())
    assert json.dumps(sorted(report.numbers()))  # every part is there
