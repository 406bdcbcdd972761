"""Streams: published numbers, from the published cells once more."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.published.oracle import REFERENCE, csv

pytestmark = pytest.mark.skipif(
    not (REFERENCE / "streams" / "cells.csv").is_file(), reason="the study of streams is not published yet"
)


@pytest.fixture(scope="module")
def accuracy() -> pd.Series:
    """Accuracy by dataset and algorithm."""
    cells = pd.read_csv(REFERENCE / "streams" / "cells.csv")
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
    manifest = json.loads((REFERENCE / "streams" / "manifest.json").read_text(encoding="utf-8"))
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
