"""Streams: published numbers, from the published cells once more."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.published import oracle

pytestmark = oracle.needs_reference
REAL = ["Electricity", "NOAA weather", "Covertype", "Flights", "Seattle weather"]
LEARNERS = ["moml", "opml", "lego", "rdml", "oasis", "slmoml", "mloml_t", "mloml_r"]


def csv(name: str) -> pd.DataFrame:
    """Return a published table; an empty field is an empty text."""
    return pd.read_csv(oracle.REFERENCE / f"{name}.csv", keep_default_na=False)


@pytest.fixture(scope="module")
def accuracy() -> pd.Series:
    """Accuracy by dataset and algorithm."""
    cells = pd.read_csv(oracle.REFERENCE / "streams" / "cells.csv")
    assert (cells["status"] == "ok").all()
    return 1 - cells.set_index(["dataset", "algorithm"])["error"]


@pytest.fixture(scope="module")
def measured(accuracy) -> pd.DataFrame:
    """Every measure of every cell, from its confusion matrix and the trivial rules' accuracies."""
    table = csv("streams/measures").set_index(["dataset", "variant"])
    assert set(table.index) == set(accuracy.index)
    rows, counted = {}, csv("streams/counts").set_index(["dataset", "algorithm"])
    for (dataset, name), text in counted["confusion"].items():
        counts = np.array(json.loads(text))
        tested, right = counts.sum(), sum(counts[c, c] for c in range(len(counts)))
        assert right / tested == pytest.approx(accuracy[dataset, name])
        chance = sum(counts[c].sum() * counts[:, c].sum() for c in range(len(counts))) / tested**2
        last, most = accuracy[dataset, "last_label"], accuracy[dataset, "majority"]
        found = [(right / tested - base) / (1 - base) for base in (chance, last, most)]
        rows[dataset, name] = [right / tested, *found]
    names = ["accuracy", "kappa", "kappa_temporal", "kappa_m"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=names).set_index(
        pd.MultiIndex.from_tuples(rows)
    )


@pytest.fixture(scope="module")
def means(measured) -> pd.DataFrame:
    """Means over draws and seeds, by stream and method."""
    table = measured.rename_axis(["dataset", "variant"]).reset_index()
    table["stream"] = table["dataset"].str.replace(r"_\d$", "", regex=True)
    table["method"] = table["variant"].str.replace(r"^arf_\d$", "arf", regex=True)
    return table.groupby(["stream", "method"])[list(measured)].mean()


def test_measures_of_every_cell(measured):
    table = csv("streams/measures").set_index(["dataset", "variant"])[list(measured)].astype(float)
    assert table.to_numpy() == pytest.approx(measured.loc[table.index].to_numpy(), abs=1e-9)


@pytest.mark.parametrize("measure", ["accuracy", "kappa", "kappa_temporal", "kappa_m"])
def test_printed_tables(measure, means):
    titles = {row["title"]: name for name, row in _titles().iterrows()}
    table = csv(f"streams/{measure}").set_index("method").drop(columns="note")
    assert len(table) == 20 and len(table.columns) == 11
    for method, row in table.iterrows():
        for title, text in row.items():
            assert abs(float(text.rstrip("*")) - means[measure][titles[title], method]) <= 0.00051
    for title in table:
        values = {text.rstrip("*") for text in table[title]}
        best = {text.rstrip("*") for text in table[title] if text.endswith("*")}
        assert best == {max(values, key=float)}


def _titles() -> pd.DataFrame:
    manifest = json.loads((oracle.REFERENCE / "streams" / "manifest.json").read_text(encoding="utf-8"))
    rows = {
        one["generator"] or one["name"]: {"title": one["title"]} for one in manifest["config"]["datasets"]
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def test_tests_over_streams(means):
    words = {"plain": ("helps", "harms"), "untrained": ("learning helps", "learning harms")}
    words["others"] = ("ahead", "behind")
    wide = means["accuracy"].unstack()  # noqa: PD010
    for test, part in csv("streams/tests").groupby("test"):
        p_values = []
        for _, row in part.iterrows():
            gaps = (wide[row["algorithm"]] - wide[row["reference"]]).round(12)
            assert float(row["median_difference"]) == pytest.approx(gaps.median(), abs=1e-9)
            assert [int(row["higher"]), int(row["lower"])] == [(gaps > 0).sum(), (gaps < 0).sum()]
            if gaps.abs().nunique() == len(gaps) and gaps.all():  # ties are another matter
                assert float(row["p"]) == pytest.approx(stats.wilcoxon(gaps).pvalue)
            p_values.append(float(row["p"]))
        order = np.argsort(p_values, kind="stable")
        steps = [min(1, p * (len(order) - i)) for i, p in enumerate(np.array(p_values)[order])]
        assert part["p_holm"].astype(float).to_numpy()[order] == pytest.approx(np.maximum.accumulate(steps))
        for _, row in part.iterrows():
            gaps = (wide[row["algorithm"]] - wide[row["reference"]]).round(12)
            ranks = stats.rankdata(gaps.abs())
            way = 0 if (ranks * np.sign(gaps)).sum() > 0 else 1
            sure = float(row["p_holm"]) < 0.05
            assert row["verdict"] == (words[test][way] if sure else "no difference is shown")


def test_what_the_guide_says(means):
    """Its sentences have no digits; these are the facts behind them."""
    titles = {row["title"]: name for name, row in _titles().iterrows()}
    real = [titles[title] for title in REAL]
    table = means["accuracy"].unstack()  # noqa: PD010
    learned, trivial = table[LEARNERS].max(axis=1), table[["last_label", "majority"]].max(axis=1)
    assert (csv("streams/tests").query("test == 'plain'")["verdict"] == "no difference is shown").all()
    assert (table["arf"] > learned)[real].all() and (table["arf"] > learned).drop(real).sum() == 2
    flights, others = titles["Flights"], [titles["Electricity"], titles["Seattle weather"]]
    rivals = table.drop(columns=["last_label", "majority"])
    assert trivial[flights] == table.loc[flights, "majority"] > rivals.loc[flights].max()
    ahead = table["last_label"] > table[[*LEARNERS, "euclidean", "river_knn", "restarted_knn"]].max(axis=1)
    assert list(ahead[ahead].index) == sorted(others)
    gains = table.sub(table["euclidean"], axis=0)
    largest = gains[["moml", "opml", "slmoml"]].min(axis=1).sort_values().index[-2:]
    assert set(largest) == {titles["LED"], titles["Hyperplane"]}
    assert (gains.loc[real, ["moml", "opml", "slmoml"]].max(axis=1) < gains.loc[largest, "moml"].min()).all()
    assert ((gains[["oasis", "mloml_r"]] < 0).sum() == 9).all()


def test_levels_around_a_change():
    """480 samples before a change, at once after it and before the next, from what every cell counted."""
    table = csv("drift/around").set_index(["window", "algorithm", "stream"]).astype(float)
    sums = {}
    for _, cell in csv("drift/counts").iterrows():
        hits = np.array(json.loads(cell["hits"])).reshape(4, 25)  # concepts of 2,000 samples, blocks of 80
        assert cell["rows"] == 8000
        place = cell["window"], cell["algorithm"], cell["dataset"].rsplit("_", 1)[0]
        tested = np.full((4, 25), 80)
        tested[0, 0] = 79
        accuracy = hits / tested
        sums.setdefault(place, []).append(
            [accuracy[:3, -6:].mean(), accuracy[1:, :6].mean(), accuracy[1:, -6:].mean()]
        )
    assert len(sums) == len(table) == 48
    for place, levels in sums.items():
        mine, plain = (np.mean(sums[p], axis=0) for p in (place, (place[0], "euclidean", place[2])))
        assert list(table.loc[place, ["before", "after", "later"]]) == pytest.approx(list(mine), abs=1e-9)
        shown = list(table.loc[place, ["gain_before", "gain_after", "gain_later"]])
        assert shown == pytest.approx(list(mine - plain), abs=1e-9) and len(levels) == 3


def test_gains_with_and_without_the_stream_that_gains_most():
    table = csv("drift/around").query("algorithm != 'euclidean'").astype({"gain_before": float})
    by_stream = table.groupby("stream")["gain_before"].mean().sort_values()
    text = oracle.headline("drift")
    assert by_stream.index[-1] in text and f"{by_stream.iloc[-1]:.3f}" in text
    for part in (table, table[table["stream"] != by_stream.index[-1]]):
        for name in ("gain_before", "gain_after"):
            means = part.astype({name: float}).groupby(["window", "algorithm"])[name].mean()
            assert f"{means.min():.3f} to {means.max():.3f}" in re.sub(r"\s+", " ", text).replace(
                " accuracy", ""
            )
