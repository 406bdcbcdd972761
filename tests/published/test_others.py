"""Figures, theory, the untrained control and other data: published numbers, from the cells once more."""

import numpy as np
import pandas as pd
import pytest
from tests.published import oracle
from tests.published.oracle import REFERENCE, STACKS, both_marks, claim, csv, errors, needs_reference, numbers

pytestmark = needs_reference
DEEP = ("mloml_r_5", 5)


def along(figure: str, one: tuple[str, int], other: tuple[str, int]) -> pd.DataFrame:
    """Return mean difference and both tests' marks of a point of a curve against another: a win is a fall."""
    name = "scan" if figure == "fig7" else "layer"
    points = oracle.points(f"{figure}/{name}_errors")
    mine, theirs = (points.xs(method, level="algorithm")[point] for method, point in (one, other))
    differences = theirs - mine
    groups = dict(list(differences.groupby(level="dataset")))
    assert all(len(part) == 30 for part in groups.values())
    rows = {dataset: (-part.mean(), *both_marks(part)) for dataset, part in groups.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "plain", "corrected"])


PAIRS = {
    "fig5": [(DEEP, ("mloml_r_5", 1)), (DEEP, ("moml", 0)), (DEEP, ("mloml_r_5_untrained", 5))],
    "fig7": [((name, 20), (name, 1)) for name in ("mloml_r", "moml")],
    "fig8": [
        ((f"{n}_multi", 5), (s, 0))
        for n, s in (("rdml", "rdml_identity"), ("lego", "lego"), ("opml", "opml"))
    ],
}


@pytest.mark.parametrize(
    ("figure", "pair"), [(figure, pair) for figure, pairs in PAIRS.items() for pair in pairs]
)
def test_comparisons_of_the_figures(figure, pair):
    (name, point), (other, other_point) = pair
    table = csv(f"{figure}/comparisons").astype({"point": int, "reference_point": int})
    rows = table[
        (table["algorithm"] == name)
        & (table["point"] == point)
        & (table["reference"] == other)
        & (table["reference_point"] == other_point)
    ].set_index("dataset")
    mine = along(figure, *pair)
    assert set(rows.index) == set(mine.index)
    for dataset, row in rows.iterrows():
        difference = float(row["difference"])
        assert difference == pytest.approx(mine["difference"][dataset], abs=1e-9)
        for test, mark in (("p_paired", "plain"), ("p_corrected", "corrected")):
            said = "tie" if float(row[test]) >= 0.05 else "win" if difference < 0 else "loss"
            assert said == mine[mark][dataset]


@pytest.mark.parametrize(
    ("beginning", "figure", "count"),
    [("Figure 5", "fig5", 1), ("Figure 7", "fig7", 2), ("Figure 8", "fig8", 3)],
)
def test_verdicts_on_the_figures_follow_their_rule(beginning, figure, count):
    found = pd.concat([along(figure, *pair) for pair in PAIRS[figure][:count]])
    plain, corrected = found["plain"].to_list(), found["corrected"].to_list()
    sure = 2 * corrected.count("win") > len(corrected) and "loss" not in corrected
    part = "reproduced in part" if plain.count("win") > plain.count("loss") else "not reproduced"
    row = claim(beginning)
    assert row["verdict"] == ("reproduced" if sure else part)
    for pair in PAIRS[figure][:count]:
        marks = along(figure, *pair)["corrected"].to_list()
        assert {marks.count("win"), marks.count("loss")} <= set(numbers(row["measured"]))


def test_layers_are_followed_from_each_to_the_next():
    points = oracle.points("theory/layer_errors")
    steps = [points[layer] - points[layer + 1] for layer in range(1, 5)]  # positive: it falls
    marks = [both_marks(part) for step in steps for _, part in step.groupby(level="dataset")]
    worse = np.concatenate([step.to_numpy() < -1e-12 for step in steps])
    corrected = [mark for _, mark in marks]
    row = claim("Proposition 1")
    counts = {round(100 * worse.mean()), len(marks), corrected.count("win"), corrected.count("loss")}
    assert counts <= set(numbers(row["measured"]))
    assert row["verdict"] == ("false" if "loss" in corrected else "not reproduced")


def test_ratios_of_distances_fall_and_by_how_much():
    geometry = pd.read_csv(REFERENCE / "theory/proposition1_geometry.csv")
    table = geometry.pivot_table(index="dataset", columns="layer", values="within_over_between").to_numpy()
    change = table[:, 1:] / table[:, :-1] - 1
    row = claim("Figure 6")
    assert {(change < 0).sum(), (change < -0.01).sum(), change.size} <= set(numbers(row["measured"]))
    assert row["verdict"] == oracle.by_share((change < -0.01).sum(), change.size)


def test_the_theorems():
    steps = pd.read_csv(REFERENCE / "theory/theorem1.csv").query("layer == 1")
    assert not steps["left_although_condition_held"].any()
    largest = steps[steps.gamma == steps.gamma.max()]
    shares = {round(100 * largest[n].mean()) for n in ("share_condition_broken", "share_leaving_cone")}
    assert shares <= set(numbers(claim("Theorem 1")["measured"]))
    assert claim("Theorem 1")["verdict"] == "reproduced in part" and steps.share_condition_broken.any()
    line, data = (pd.read_csv(REFERENCE / f"theory/{name}.csv") for name in ("counterexample", "theorem2"))
    above = [(frame.regret > frame.claimed_bound).sum() for frame in (data, line)]
    assert {*above, len(data), len(line)} <= set(numbers(claim("Theorem 2")["measured"]))
    assert all((frame.regret <= frame.corrected_bound * (1 + 1e-9)).all() for frame in (data, line))
    assert claim("Theorem 2")["verdict"] == ("false" if sum(above) else "reproduced")


def test_costs():
    table = pd.read_csv(REFERENCE / "table3/cost.csv")
    table = table.pivot_table(index=["features", "activation"], columns="strategy")
    times, slowest, fastest = table["microseconds"], table["highest"], table["lowest"]
    clearly = (slowest.fp < fastest[["bp", "fbp"]].min(axis=1)).sum()
    row = claim("FP is the fastest")
    assert {(times.fp <= times[["bp", "fbp"]].min(axis=1)).sum(), clearly} <= set(numbers(row["measured"]))
    assert row["verdict"] == oracle.by_share(clearly, len(times))
    runs = pd.read_csv(REFERENCE / "fig4/runs.csv")
    median = (runs.seconds / runs.triplets).groupby([runs.dataset, runs.method]).median().unstack()  # noqa: PD010
    for method in ("moml", "moml_frame"):
        ratio = median[method] / median["opml"]
        ends = {float(f"{end:.2f}") for end in (ratio.min(), ratio.max())}
        assert ends <= set(numbers(claim("Figure 4")["measured"]))


def test_what_an_untrained_stack_does_already():
    wide = errors("untrained")
    shown = csv("untrained/gains").set_index(["activation", "dataset"])
    corrected = {"untrained": [], "learning": [], "whole": []}
    for stack in STACKS:
        for dataset, cell in wide.groupby(level="dataset"):
            before, between, after = cell["euclidean"], cell[f"{stack}_untrained"], cell[stack]
            steps = {"untrained": before - between, "learning": between - after, "whole": before - after}
            row = shown.loc[stack, dataset]
            for name, gain in steps.items():
                assert float(row[f"{name}_gain"]) == pytest.approx(gain.mean(), abs=1e-9)
                assert (row[f"{name}_mark_paired"], row[f"{name}_mark_corrected"]) == both_marks(gain)
                if dataset != "spect":
                    corrected[name].append(both_marks(gain)[1])
    wins = corrected["whole"].count("win")
    both = sum(a == b == "win" for a, b in zip(corrected["whole"], corrected["learning"], strict=True))
    row = claim("What a stack gains")
    assert row["verdict"] == oracle.by_share(both, wins)
    counts = {found.count(word) for found in corrected.values() for word in ("win", "loss")}
    assert counts - {corrected["whole"].count("loss")} <= set(numbers(row["measured"]))


@pytest.mark.parametrize("study", ["clean", "standardised"])
def test_other_data(study):
    means = errors(f"beyond/{study}").groupby(level="dataset").mean()
    table = csv("beyond/over_sets")
    table = table[table["study"] == study]
    for _, family in table[table["test"] != "scaling"].groupby("test"):  # that one is between studies
        pairs = list(zip(family["algorithm"], family["reference"], strict=True))
        differences = [means[name] - means[other] for name, other in pairs]
        adjusted = oracle.holm([oracle.wilcoxon(d) for d in differences])
        assert adjusted == pytest.approx(family["p_holm"].astype(float).to_numpy(), abs=1e-9)
        for said, p, difference in zip(family["verdict"], adjusted, differences, strict=True):
            expected = "smaller" if difference.median() < 0 else "larger"
            assert said == ("" if p >= 0.05 else expected)


def test_draws_of_waveform_and_signs_of_axes():
    cells, shown = pd.read_csv(REFERENCE / "draws/cells.csv"), csv("draws/draws").set_index("algorithm")
    for name, part in cells.groupby("algorithm"):
        draws = part.groupby("dataset")["error"]
        variance = draws.mean().var() - draws.var().mean() / draws.size().iloc[0]
        assert float(shown.loc[name, "variance"]) == pytest.approx(max(variance, 0.0), rel=1e-6)
        assert int(shown.loc[name, "draws"]) == draws.ngroups == 20
    signs = pd.read_csv(REFERENCE / "signs/signs.csv").set_index(["algorithm", "signs"])["mean"]
    for (name, run), mean in signs.items():
        folder = "fixed" if run == "fixed" else f"signs_{run}"
        cells = pd.read_csv(REFERENCE / "signs" / folder / "cells.csv")
        assert mean == pytest.approx(cells["error"][cells["algorithm"] == name].mean(), abs=1e-9)
