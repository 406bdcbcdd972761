"""Figures, theory, the untrained control and other data: published numbers, from the cells once more."""

import re

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


UNTRAINED = ("mloml_r_5_untrained", 5)
# What a claim is reproduced by, the controls by which it is valid, and what is shown beside.
PAIRS = {
    "fig5": (
        [(DEEP, ("mloml_r_5", 1))],
        [(DEEP, ("moml_split", 0)), (DEEP, UNTRAINED)],
        [(DEEP, ("moml", 0))],
    ),
    "fig7": ([((name, 20), (name, 1)) for name in ("mloml_r", "moml")], [], []),
    "fig8": (
        [((f"{name}_multi", 5), (name, 0)) for name in ("rdml", "lego", "opml")],
        [(("rdml_multi", 5), ("rdml_identity", 0))],
        [((f"{name}_multi", 5), UNTRAINED) for name in ("rdml", "lego", "opml")],
    ),
}


@pytest.mark.parametrize(
    ("figure", "pair"), [(figure, pair) for figure, pairs in PAIRS.items() for part in pairs for pair in part]
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


def triples(found: pd.DataFrame) -> list[str]:
    """Count lower/not different/higher errors: by the mean and by both tests."""
    sign = np.sign(found["difference"].round(9))
    mean = "/".join(str((sign == way).sum()) for way in (-1, 0, 1))
    return [mean, oracle.wtl(found["plain"]), oracle.wtl(found["corrected"])]


def share(found: pd.DataFrame, column: str) -> str:
    """Answer by the share of lower means, or of lower errors by the corrected test."""
    lower = found["difference"] < -1e-9 if column == "reproduced" else found["corrected"] == "win"
    return oracle.by_share(lower.sum(), len(found))


@pytest.mark.parametrize(
    ("beginning", "figure"), [("Figure 5", "fig5"), ("Figure 7: further", "fig7"), ("Figure 8", "fig8")]
)
def test_answers_on_the_figures_follow_their_rule(beginning, figure):
    row, (mine, controls, others) = claim(beginning), PAIRS[figure]
    found = pd.concat([along(figure, *pair) for pair in mine])
    for pair in (*mine, *controls):
        assert ", ".join(triples(along(figure, *pair))) in row["measured"]
    assert row["reproduced"] == share(found, "reproduced")
    against = [along(figure, *pair) for pair in controls]
    if figure == "fig8":  # RDML from where its layers start, in place of RDML from 0; and the untrained stack
        rest = [along(figure, *pair) for pair in mine[1:]]
        untrained = pd.concat([along(figure, *pair) for pair in others])
        assert ", ".join(triples(untrained)) in row["measured"]
        found, against = pd.concat([*against, *rest]), [untrained]
    order = ["no", "in part", "yes"]
    assert row["valid"] == min((share(part, "valid") for part in (found, *against)), key=order.index)


def test_a_stack_and_moml_after_equally_many_scans():
    wide = oracle.points("fig7/scan_errors").unstack("algorithm").swaplevel(axis=1)  # noqa: PD010
    table, row = csv("fig7/equal_scans"), claim("Figure 7: MLOML")
    answers = []
    for other in ("moml", "moml_split"):
        parts = []
        for scan in range(1, 21):
            differences = wide[other][scan] - wide["mloml_r"][scan]
            marks = {name: (-d.mean(), *both_marks(d)) for name, d in differences.groupby(level="dataset")}
            parts.append(
                pd.DataFrame.from_dict(marks, orient="index", columns=["difference", "plain", "corrected"])
            )
        found = pd.concat(parts)
        assert len(found) == 160 == (table["reference"] == other).sum()
        rest = found.drop(index="mlprove_paper")
        assert all(", ".join(triples(part)) in row["measured"] for part in (found, rest))
        answers.append(share(found, "valid"))
        if other == "moml":
            assert row["reproduced"] == share(found, "reproduced")
    assert row["valid"] == min(answers, key=["no", "in part", "yes"].index)


def test_layers_are_followed_from_each_to_the_next():
    points = oracle.points("theory/layer_errors")
    steps = [points[layer] - points[layer + 1] for layer in range(1, 5)]  # positive: it falls
    marks = [both_marks(part) for step in steps for _, part in step.groupby(level="dataset")]
    worse = np.concatenate([step.to_numpy() < -1e-12 for step in steps])
    corrected = [mark for _, mark in marks]
    row = claim("Proposition 1")
    better = np.concatenate([step.to_numpy() > 1e-12 for step in steps])
    shares = [100 * (~worse).mean(), 100 * better.mean(), 100 * worse.mean()]
    counts = {*map(round, shares), len(marks), corrected.count("win"), corrected.count("loss")}
    assert counts <= set(numbers(row["measured"]))
    assert row["reproduced"] == ("yes" if shares[0] > 50 else "no")
    falls_with_theorem2 = claim("Theorem 2")["valid"] == "false"
    refuted = 2 * corrected.count("loss") > len(corrected)
    assert row["valid"] == ("false" if refuted else "in part" if falls_with_theorem2 else "yes")


def test_ratios_of_distances_fall_and_by_how_much():
    geometry = pd.read_csv(REFERENCE / "theory/proposition1_geometry.csv")
    table = geometry.pivot_table(index="dataset", columns="layer", values="within_over_between").to_numpy()
    change = table[:, 1:] / table[:, :-1] - 1
    row = claim("Figure 6")
    assert {(change < 0).sum(), (change < -0.01).sum(), change.size} <= set(numbers(row["measured"]))
    assert row["reproduced"] == oracle.by_share((change < 0).sum(), change.size)
    assert row["valid"] == oracle.by_share((change < -0.01).sum(), change.size)


def test_the_theorems():
    steps = pd.read_csv(REFERENCE / "theory/theorem1.csv").query("layer == 1")
    assert not steps["left_although_condition_held"].any()
    assert int(steps["steps_looked_at"].sum()) in numbers(claim("Theorem 1: a step")["measured"])
    assert claim("Theorem 1: a step")["valid"] == "yes"
    largest, use = steps[steps.gamma == steps.gamma.max()], claim("Theorem 1 in use")
    shares = {round(100 * largest[n].mean()) for n in ("share_condition_broken", "share_leaving_cone")}
    small, leaving = steps[steps.gamma < steps.gamma.max()], int((largest["share_leaving_cone"] > 0).sum())
    inside, held = (int((small[f"share_{n}"] == 0).sum()) for n in ("leaving_cone", "condition_broken"))
    assert {*shares, inside, held, len(small), leaving, len(largest)} <= set(numbers(use["measured"]))
    assert use["reproduced"] == oracle.by_share(inside, len(small))
    assert use["valid"] == oracle.by_share(held, len(small))
    line, data = (pd.read_csv(REFERENCE / f"theory/{name}.csv") for name in ("counterexample", "theorem2"))
    above = [(frame.regret > frame.claimed_bound).sum() for frame in (data, line)]
    assert {*above, len(data), len(line)} <= set(numbers(claim("Theorem 2")["measured"]))
    assert all((frame.regret <= frame.corrected_bound * (1 + 1e-9)).all() for frame in (data, line))
    assert claim("Theorem 2")["valid"] == ("false" if sum(above) else "yes")


def test_costs():
    table = pd.read_csv(REFERENCE / "table3/cost.csv")
    table = table.pivot_table(index=["features", "activation"], columns="strategy")
    times = table["microseconds"]
    row = claim("FP is the fastest")
    lowest = (times.fp <= times[["bp", "fbp"]].min(axis=1)).sum()
    active = pd.read_csv(REFERENCE / "bench/per_triplet.csv").set_index(["method", "features"])["ours us"]
    fp, bp, fbp = (active[f"MLOML-r, 3 layers, {name}"] for name in ("FP", "BP", "FBP"))
    leads = sum(fp[d] <= bp[d] and fp[d] <= fbp[d] for d in fp.index)

    def spans(digits, slow, fast):  # as they are printed, shortest first
        return [round(end(other / fast), digits) for other in slow for end in (min, max)]

    leading = (times.fp <= times[["bp", "fbp"]].min(axis=1)).groupby(level="features").all()
    text = [
        0.01,
        1e-4,
        lowest,
        len(times),
        *leading.index[leading],
        *spans(1, (times.bp, times.fbp), times.fp),
    ]
    text += [leads, len(fp), *spans(2, (bp,), fp), *spans(1, (fbp,), fp)]
    said = row["measured"].replace("1e-4", "0.0001")
    assert numbers(said) == pytest.approx(text)
    clearly = (table["highest"].fp < table["lowest"][["bp", "fbp"]].min(axis=1)).sum()
    rules = (REFERENCE / "claims/claims.md").read_text(encoding="utf-8")
    assert f"held in {clearly} of {len(times)} settings of the reference" in rules
    assert row["reproduced"] == oracle.by_share(lowest, len(times))
    assert row["valid"] == oracle.by_share(leads, len(fp))
    runs = pd.read_csv(REFERENCE / "fig4/runs.csv")
    median = (runs.seconds / runs.triplets).groupby([runs.dataset, runs.method]).median().unstack()  # noqa: PD010
    for method in ("moml", "moml_frame"):
        ratio = median[method] / median["opml"]
        ends = {float(f"{end:.2f}") for end in (ratio.min(), ratio.max())}
        assert ends <= set(numbers(claim("Figure 4")["measured"]))
    assert claim("Figure 4")["reproduced"] == "yes" and (median["moml"] < median["opml"]).all()
    counts, measured = (
        csv("fig4/operations").set_index(["method", "features"])["multiplications"],
        claim("A step")["measured"],
    )
    for method in ("moml", "moml_frame", "renewal"):
        assert counts[method, 100] in numbers(measured)
    every = (counts["moml_frame"] + counts["renewal"] / 256).loc[[100, 400]]
    for ends_of in (counts["moml"].loc[[100, 400]], counts["moml_frame"].loc[[100, 400]], every):
        power = np.log(ends_of.iloc[1] / ends_of.iloc[0]) / np.log(4)
        assert float(f"{power:.2f}") in numbers(measured)


def test_times_of_a_triplet_as_multiples_of_moml():
    times = pd.read_csv(REFERENCE / "bench/per_triplet.csv").pivot_table(
        index="features", columns="method", values="ours us"
    )
    said, row = numbers(claim("How long do")["measured"]), claim("Figure 4")
    for name in ("OPML", "LEGO", "RDML", "OASIS", "SLMOML"):
        ratio = times[name] / times["MOML, M only"]
        assert {float(f"{ratio.min():.1f}"), float(f"{ratio.max():.1f}")} <= set(said)
    faster = int((times["MOML, M only"] < times["OPML"]).sum())
    assert {faster, len(times)} <= set(numbers(row["measured"])) and row["general"] == oracle.by_share(
        faster, len(times)
    )


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
    row = claim("Is what a stack gains")
    assert row["valid"] == oracle.by_share(both, wins)
    counts = {found.count(word) for found in corrected.values() for word in ("win", "loss")}
    assert (counts | {both}) - {corrected["whole"].count("loss")} <= set(numbers(row["measured"]))


@pytest.mark.parametrize(
    ("beginning", "tests", "own"),
    [
        ("Table II: MLOML-r", ["layers", "rivals", "euclidean"], "mloml_"),
        ("Figure 5", ["layers"], ""),
        ("Figure 7: MLOML", ["layers"], ""),
        ("Is what a stack gains", ["untrained"], ""),
    ],
)
def test_answers_on_other_data(beginning, tests, own):
    table, row = csv("beyond/over_sets"), claim(beginning)
    pairs = table[table["test"].isin(tests) & table["algorithm"].isin(STACKS if own else table["algorithm"])]
    for study in ("clean", "standardised"):
        words = pairs.loc[pairs["study"] == study, "verdict"].to_list()
        assert "/".join(str(words.count(word)) for word in ("smaller", "", "larger")) in row["measured"]
    assert row["general"] == oracle.by_share((pairs["verdict"] == "smaller").sum(), len(pairs))


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


PAPER_SETS = (
    "lsvt",
    "iris",
    "wine",
    "spect",
    "ionosphere",
    "balance",
    "breast",
    "pima",
    "diabetic",
    "waveform",
)


def means(algorithms):
    """Mean errors over the data sets that the paper never saw, each a mean over its splits."""
    cells = pd.read_csv(REFERENCE / "depth" / "standardised/cells.csv")
    assert (cells["status"] == "ok").all() and cells.groupby(["dataset", "algorithm"]).size().eq(10).all()
    new = cells[~cells["dataset"].isin(PAPER_SETS)]
    table = new.pivot_table(index="dataset", columns="algorithm", values="error")
    assert len(table) == 22
    return table[list(algorithms)].mean()


def test_the_guide_has_the_mean_errors_of_the_study():
    guide = (oracle.ROOT / "docs/guide/learning.md").read_text(encoding="utf-8")
    errors = (
        pd.read_csv(REFERENCE / "depth" / "errors_standardised.csv")
        .set_index("dataset")
        .drop(index=list(PAPER_SETS))
    )
    for letter, name in (("r", "relu"), ("s", "sigmoid"), ("t", "tanh")):
        quoted = re.search(rf"^\| {name} \|(.*)\|$", guide, re.M)[1].split("|")
        columns = [f"MLOML-{letter} {depth}" for depth in (1, 3, 5, "auto")]
        printed = [
            float(errors[column].astype(str).str.extract(r"(\.\d+)")[0].astype(float).mean())
            for column in columns
        ]
        assert [float(word) for word in quoted] == pytest.approx(printed, abs=0.0011)
        assert printed[-1] == pytest.approx(means([f"mloml_{letter}_auto"]).item(), abs=0.0006)
