"""The prediction for pems: made once more from the published cells by code of its own."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.published.oracle import PAPER, REFERENCE, ROOT, csv, errors, needs_reference, numbers, printed

PAGE = ROOT / "docs/reproduction/pems.md"
pytestmark = [
    needs_reference,
    pytest.mark.skipif(not PAGE.is_file(), reason="the pages are not part of an installed wheel"),
    pytest.mark.skipif((REFERENCE / "pems").exists(), reason="pems has been run: its prediction stays"),
]


@pytest.fixture(scope="module")
def cells():
    """The paper's mean and deviation and ours, by method and data set."""
    ours = errors("table2").melt(var_name="algorithm", value_name="error", ignore_index=False)
    ours = ours.groupby(["dataset", "algorithm"])["error"].agg(["mean", "std"])
    paper = printed("table2").rename(columns={"std": "std_paper"})
    table = paper.set_index(["dataset", "algorithm"]).join(ours)
    return table[table["mean"].notna()], table.loc["pems"]


def interval(known, method, target, mean, std):
    """Return the expected error and half the interval's width, from one method's rows on the known sets."""
    signs = csv("signs/signs").query("algorithm == 'mloml_r_untrained' and signs != 'fixed'")["mean"]

    def chance(name, theirs, mine):
        wide = name in ("lsvt", "pems") and method == "mloml_r"
        return (theirs**2 + mine**2) / 30 + 0.001**2 / 12 + wide * 2 * np.var(signs, ddof=1)

    difference = known["mean"] - known["error"]
    noise = np.mean([chance(*row) for row in known[["std_paper", "std"]].itertuples()])
    spread, n = np.var(difference, ddof=1), len(known)
    total = max(0, spread - noise) + spread / n + chance(target, std, std)
    return mean + difference.mean(), stats.t.ppf(0.975, n - 1) * np.sqrt(total)


@pytest.fixture(scope="module")
def of_method(cells):
    return {name: part.droplevel("algorithm") for name, part in cells[0].groupby("algorithm")}


def test_the_prediction_is_what_the_published_cells_give(cells, of_method):
    found = pd.read_csv(PAPER / "pems_prediction.csv").set_index("algorithm")
    assert len(found) == 14
    for method, row in found.iterrows():
        theirs = cells[1].loc[method]
        expected, half = interval(of_method[method], method, "pems", theirs["error"], theirs["std_paper"])
        assert row["expected"] == pytest.approx(expected)
        assert (row["low"], row["high"]) == pytest.approx((expected - half, expected + half), rel=1e-8)
    assert {"kissme", "lmnn", "mlcc"} == set(found["between"].nlargest(3).index)


def test_the_page_counts_the_intervals_that_hold_on_the_known_sets(of_method):
    holds = {method: {} for method in of_method}
    for method, known in of_method.items():
        for name, row in known.iterrows():
            rest = known.drop(name)
            expected, half = interval(rest, method, name, row["error"], row["std_paper"])
            holds[method][name] = abs(row["mean"] - expected) <= half
    table = pd.DataFrame(holds)
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([*\w\\]+) \| (\d+) of (\d+) \|$", text, re.M)
    shown = {name.replace("\\", ""): (int(part), int(whole)) for name, part, whole in rows}
    assert shown.pop("*all*") == (table.to_numpy().sum(), table.size)
    assert shown == {name: (row.sum(), 14) for name, row in table.iterrows()}
    # What the page says in words.
    few = table.sum(axis=1) < 12
    assert list(few.index[few]) == ["mlprove_paper"] and table["euclidean"].all()
    share = table.to_numpy().mean()
    assert round(14 * share) == 13 and share == pytest.approx(0.95, abs=0.02)
    own = ~table[["moml", "mloml_s", "mloml_t"]]
    assert list(own.index[own.sum(axis=1) >= 2]) == ["breast"]
    features = pd.read_csv(PAPER / "table1.csv").set_index("dataset").loc["pems", "features"]
    assert {features, 963 * 144} <= set(numbers(text))


def test_the_page_shows_the_prediction():
    found = pd.read_csv(PAPER / "pems_prediction.csv")[["paper_mean", "expected", "low", "high"]]
    rows = re.findall(
        r"^\| [\w-]+ \| (\.\d+) \| (\.\d+) \| (\.\d+) \| (\.\d+) \|$", PAGE.read_text(encoding="utf-8"), re.M
    )
    np.testing.assert_allclose(np.array(rows, float), found, atol=0.00051)


def test_a_prediction_that_was_put_to_the_test_is_not_written_again(tmp_path, monkeypatch, capsys):
    tool = pytest.importorskip("tools.pems", reason="the tools are not part of an installed wheel")
    (tmp_path / "pems").mkdir()
    monkeypatch.setattr(tool, "REFERENCE", tmp_path)
    monkeypatch.setattr(tool, "ROOT", tmp_path)  # nothing could be written there
    assert tool.main() == 1 and "pems" in capsys.readouterr().err
