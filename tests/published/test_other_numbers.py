"""Figures, theory, the untrained control and other data: what is said of them, from the published numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from tests.published import oracle
from tests.published.oracle import REFERENCE, STACKS, both_marks, claim, errors, needs_reference, said

pytestmark = needs_reference


def csv(name: str) -> pd.DataFrame:
    return pd.read_csv(REFERENCE / f"{name}.csv")


def along(figure: str, one: tuple[str, int], other: tuple[str, int]) -> tuple[list[str], list[str], int]:
    """Return both tests' marks of a point of a curve against another, over the sets: a win is a fall."""
    name = "scan" if figure == "fig7" else "layer"
    points = csv(f"{figure}/{name}_errors").set_index(["algorithm", name, "dataset", "split"])["error"]
    points = points.sort_index()
    differences = points.loc[other] - points.loc[one]
    marks = [both_marks(part) for _, part in differences.groupby(level="dataset")]
    assert (differences.groupby(level="dataset").size() == 30).all()
    return [plain for plain, _ in marks], [corrected for _, corrected in marks], len(marks)


def sentence(figure: str, one: tuple[str, int], other: tuple[str, int]) -> str:
    plain, corrected, sets = along(figure, one, other)
    return (
        f"lower on {plain.count('win')} and higher on {plain.count('loss')} of {sets} sets by the plain "
        f"paired test, {corrected.count('win')} and {corrected.count('loss')} by the corrected one"
    )


DEEP = ("mloml_r_5", 5)


def test_claims_on_figures_five_seven_and_eight():
    against = {"the first": ("mloml_r_5", 1), "MOML": ("moml", 0),
               "the same stack untrained": ("mloml_r_5_untrained", 5)}  # fmt: skip
    parts = [f"against {words}: {sentence('fig5', DEEP, other)}" for words, other in against.items()]
    assert claim("Figure 5")["measured"] == f"the last layer {'; '.join(parts)}"
    scans = {"MOML": "moml", "MLOML-r": "mloml_r"}
    parts = [f"{title} {sentence('fig7', (name, 20), (name, 1))}" for title, name in scans.items()]
    assert claim("Figure 7")["measured"] == f"last scan against first: {'; '.join(parts)}"
    shallow = {"RDML": "rdml_identity", "LEGO": "lego", "OPML": "opml"}
    parts = [
        f"{title} {sentence('fig8', (f'{title.lower()}_multi', 5), (name, 0))}"
        for title, name in shallow.items()
    ]
    assert claim("Figure 8")["measured"] == f"last layer against the shallow algorithm: {'; '.join(parts)}"


@pytest.mark.parametrize(
    ("beginning", "figure", "pairs"),
    [
        ("Figure 5", "fig5", [(DEEP, ("mloml_r_5", 1))]),
        ("Figure 7", "fig7", [((name, 20), (name, 1)) for name in ("moml", "mloml_r")]),
        ("Figure 8", "fig8", [(("rdml_multi", 5), ("rdml_identity", 0)), (("lego_multi", 5), ("lego", 0)),
                              (("opml_multi", 5), ("opml", 0))]),
    ],
)  # fmt: skip
def test_verdicts_on_the_figures_follow_their_rule(beginning, figure, pairs):
    found = [along(figure, one, other) for one, other in pairs]
    plain, corrected = ([mark for part in found for mark in part[test]] for test in (0, 1))
    sure = 2 * corrected.count("win") > len(corrected) and "loss" not in corrected
    part = "reproduced in part" if plain.count("win") > plain.count("loss") else "not reproduced"
    assert claim(beginning)["verdict"] == ("reproduced" if sure else part)


@pytest.mark.parametrize(
    ("figure", "beginning", "one", "other"),
    [
        ("fig5", "MLOML-r (5 layers), layer 5, against layer 1", DEEP, ("mloml_r_5", 1)),
        ("fig5", "MLOML-r (5 layers), layer 5, against MOML", DEEP, ("moml", 0)),
        ("fig5", "MLOML-r (5 layers), layer 5, against MLOML-r untrained, layer 5", DEEP,
         ("mloml_r_5_untrained", 5)),
        ("fig7", "MOML, scan 20, against scan 1", ("moml", 20), ("moml", 1)),
        ("fig7", "MLOML-r, scan 20, against MOML, scan 20", ("mloml_r", 20), ("moml", 20)),
        ("fig8", "RDML-multi, layer 5, against RDML from M = I", ("rdml_multi", 5), ("rdml_identity", 0)),
        ("fig8", "LEGO-multi, layer 5, against LEGO", ("lego_multi", 5), ("lego", 0)),
        ("fig8", "OPML-multi, layer 5, against OPML", ("opml_multi", 5), ("opml", 0)),
    ],
)  # fmt: skip
def test_headlines_of_the_figures(figure, beginning, one, other):
    plain, corrected, sets = along(figure, one, other)
    assert (
        f"{beginning}: lower on {corrected.count('win')} ({plain.count('win')}) and higher on "
        f"{corrected.count('loss')} ({plain.count('loss')}) of {sets} datasets"
    ) in said(figure)


def test_layers_are_followed_from_each_to_the_next():
    points = csv("theory/layer_errors").set_index(["layer", "dataset", "split"])["error"]
    steps = [points.loc[layer] - points.loc[layer + 1] for layer in range(1, 5)]  # positive: it falls
    marks = [both_marks(part) for step in steps for _, part in step.groupby(level="dataset")]
    worse = np.concatenate([step.to_numpy() < -1e-12 for step in steps])
    plain, corrected = ([pair[test] for pair in marks] for test in (0, 1))
    assert claim("Proposition 1")["measured"] == (
        f"the next layer is strictly worse in {100 * worse.mean():.0f} % of the splits; of {len(marks)} "
        f"steps from a layer to the next {corrected.count('win')} lower and {corrected.count('loss')} raise "
        "the mean error by the corrected test"
    )
    assert f"({plain.count('win')} and {plain.count('loss')} by the plain paired one)" in said("theory")
    assert claim("Proposition 1")["verdict"] == ("false" if "loss" in corrected else "not reproduced")


def test_ratios_of_distances_fall_and_by_how_much():
    wide = (
        csv("theory/proposition1_geometry")
        .pivot_table(index="dataset", columns="layer", values="within_over_between")
        .to_numpy()
    )
    change = wide[:, 1:] / wide[:, :-1] - 1
    measured = claim("Figure 6")["measured"]
    assert f"fall in {(change < 0).sum()} of {change.size} steps" in measured
    assert f"by more than 1 % in {(change < -0.01).sum()}, and" in measured
    assert f"on {(wide[:, -1] < wide[:, 0]).sum()} of {len(wide)} sets" in measured
    assert claim("Figure 6")["verdict"] == oracle.by_share((change < -0.01).sum(), change.size)


def test_what_is_said_of_the_theorems():
    steps = csv("theory/theorem1").query("layer == 1")
    assert not steps["left_although_condition_held"].any()
    largest = steps[steps.gamma == steps.gamma.max()]
    sampled = (largest.steps_looked_at < largest.steps).sum()
    assert (
        f"with γ = {largest.gamma.iloc[0]:g} it is broken in "
        f"{100 * largest.share_condition_broken.mean():.0f} % of the steps, and "
        f"{100 * largest.share_leaving_cone.mean():.0f} % "
        f"would leave the cone (mean of {len(largest)} sets; on {sampled} of them the condition was "
        f"looked at in a sample of the steps)"
    ) in claim("Theorem 1")["measured"]
    line, data = csv("theory/counterexample"), csv("theory/theorem2")
    above = [(frame.regret > frame.claimed_bound).sum() for frame in (data, line)]
    measured = claim("Theorem 2")["measured"]
    assert f"exceeded in {above[0]} of {len(data)} cases on data" in measured
    assert f"and in {above[1]} of {len(line)} in one dimension" in measured
    assert all((frame.regret <= frame.corrected_bound * (1 + 1e-9)).all() for frame in (data, line))
    assert set(data.comparator) == {"0", "I", "best"}  # all of them metrics
    assert claim("Theorem 2")["verdict"] == ("false" if sum(above) else "reproduced")
    assert claim("Theorem 1")["verdict"] == "reproduced in part" and steps.share_condition_broken.any()


def test_what_is_said_of_costs():
    wide = csv("table3/cost").pivot_table(index=["features", "activation"], columns="strategy")
    times, slowest, fastest = wide["microseconds"], wide["highest"], wide["lowest"]
    lowest = (times.fp <= times[["bp", "fbp"]].min(axis=1)).sum()
    clearly = (slowest.fp < fastest[["bp", "fbp"]].min(axis=1)).sum()
    measured = claim("FP is the fastest")["measured"]
    assert f"the lowest in {lowest} of {len(times)} settings" in measured
    assert f"and in {clearly} its slowest run" in measured
    assert claim("FP is the fastest")["verdict"] == oracle.by_share(clearly, len(times))
    for name in ("bp", "fbp"):
        ratio = times[name] / times.fp
        assert f"{ratio.min():.1f} to {ratio.max():.1f}" in measured
    runs = csv("fig4/runs")
    median = (runs.seconds / runs.triplets).groupby([runs.dataset, runs.method]).median().unstack()  # noqa: PD010
    for method, words in (("moml", "without a factor of M"), ("moml_frame", "with one")):
        ratio = median[method] / median["opml"]
        text = f"{ratio.min():.2f} to {ratio.max():.2f} times"
        assert text in claim("Figure 4")["measured"] and words in claim("Figure 4")["measured"]


def test_what_an_untrained_stack_does_already():
    wide = errors("untrained").drop(index="spect", level="dataset")
    steps = {
        "whole": ("euclidean", ""),
        "untrained": ("euclidean", "_untrained"),
        "learning": ("_untrained", ""),
    }
    marks = {name: [] for name in steps}
    for stack in STACKS:
        for _, cell in wide.groupby(level="dataset"):
            for name, (before, after) in steps.items():
                first = cell[before if before == "euclidean" else f"{stack}{before}"]
                marks[name].append(both_marks(first - cell[f"{stack}{after}"]))
    corrected = {name: [pair[1] for pair in found] for name, found in marks.items()}
    both = sum(a == b == "win" for a, b in zip(corrected["whole"], corrected["learning"], strict=True))
    count = {(name, word): found.count(word) for name, found in corrected.items() for word in ("win", "loss")}
    assert claim("What a stack gains")["measured"] == (
        f"by the corrected test the trained stack beats Euclidean distance in {count['whole', 'win']} of "
        f"{len(marks['whole'])} cases (a set under an activation), and in {both} of these the untrained "
        f"stack too; the untrained one beats Euclidean distance in {count['untrained', 'win']} and loses in "
        f"{count['untrained', 'loss']}; learning lowers the untrained stack's error in "
        f"{count['learning', 'win']} and raises it in {count['learning', 'loss']}"
    )
    assert claim("What a stack gains")["verdict"] == oracle.by_share(both, count["whole", "win"])
    plain = [pair[0] for pair in marks["untrained"]]
    assert (
        f"already has in {count['untrained', 'win']} ({plain.count('win')} by the plain test), and has a "
        f"higher one in {count['untrained', 'loss']} ({plain.count('loss')} by the plain test)"
    ) in said("untrained")


@pytest.mark.parametrize(
    ("study", "words"), [("clean", "unit rows"), ("standardised", "standardised features")]
)
def test_what_is_said_of_other_data(study, words):
    means = errors(f"beyond/{study}").groupby(level="dataset").mean()

    def verdicts(pairs: list[tuple[str, str]]) -> list[str]:
        differences = [means[one] - means[other] for one, other in pairs]
        adjusted = oracle.holm([oracle.wilcoxon(d) for d in differences])
        signs = [np.sign(d.median()) for d in differences]
        return [
            "" if p >= 0.05 else "smaller" if s < 0 else "larger"
            for p, s in zip(adjusted, signs, strict=True)
        ]

    layers = verdicts([(stack, "moml") for stack in STACKS])
    rivals = verdicts([(stack, other) for stack in STACKS for other in ("opml", "lmnn")])
    names = list(means.columns.drop("euclidean"))
    plain = dict(zip(names, verdicts([(name, "euclidean") for name in names]), strict=True))
    own = [plain[stack] for stack in STACKS]
    untrained = verdicts([(stack, f"{stack}_untrained") for stack in STACKS])

    def counted(found: list[str]) -> str:
        smaller, larger = (found.count(word) for word in ("smaller", "larger"))
        return f"on {words}: smaller in {smaller} and larger in {larger} of {len(found)}"

    assert (
        counted(layers + rivals)
        in claim("On other data, too, MLOML has smaller errors than MOML")["measured"]
    )
    euclidean = claim("On other data, too, MLOML has smaller errors than Euc")["measured"]
    against, control = euclidean.split("against the same stacks untrained")
    assert counted(own) in against and counted(untrained) in control
    helping = sorted(oracle.titles("beyond")[name] for name, verdict in plain.items() if verdict == "smaller")
    (line,) = re.findall(
        rf"- On {words} \d+ of 18 methods? helps? beyond the paper \((.*?)\)", said("beyond")
    )
    assert sorted(line.split(", ")) == helping


def test_draws_of_waveform_and_signs_of_axes():
    cells = csv("draws/cells")
    for name, part in cells.groupby("algorithm"):
        draws = part.groupby("dataset")["error"]
        variance = draws.mean().var() - draws.var().mean() / draws.size().iloc[0]
        row = csv("draws/draws").set_index("algorithm").loc[name]
        assert row["variance"] == pytest.approx(max(variance, 0.0), rel=1e-6)
        assert row["draws"] == draws.ngroups == 20
    signs = csv("signs/signs").query("algorithm == 'mloml_r_untrained'").set_index("signs")["mean"]
    others = signs.drop("fixed")
    low, middle, high, fixed = (f"{v:.3f}"[1:] for v in (*others.quantile([0, 0.5, 1]), signs["fixed"]))
    assert f"{fixed} with the usual signs, {low} to {high} (median {middle}) over 10 random ones" in said(
        "signs"
    )


def test_what_the_paper_mixed_up_carries_an_asterisk_wherever_it_is_named():
    for artefact in ("table3", "fig4", "fig5", "fig6", "fig7", "fig8", "untrained", "theory"):
        text = re.sub(r"`[^`]*`", "", said(artefact))
        assert not re.findall(r"\b(?:spect|mlprove)\b(?!\*| \(true\))", text), artefact


def test_numbers_in_the_documentation():
    steps = csv("theory/theorem1").query("layer == 1 and gamma == 0.1").set_index("dataset")
    share = 100 * steps.loc["ionosphere", "share_leaving_cone"]
    assert f"{share:.0f} % on ionosphere" in (oracle.ROOT / "docs/reproducibility.md").read_text(
        encoding="utf-8"
    )
    batch = csv("bench/batch").set_index("what").loc["LMNN, 2500 x 21"]
    text = (oracle.ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    assert f"takes {batch['ours s to theirs']:.2g} s" in text and f"after {batch['theirs s']:.0f} s" in text
    wide = errors("table2")
    text = (oracle.ROOT / "docs/guide/choosing.md").read_text(encoding="utf-8")
    (nowhere,) = re.findall(r"On ([a-z_, ]*) no learner's", text)
    for dataset in wide.index.get_level_values(0).unique().drop("spect"):
        mine = wide.loc[dataset]
        better = [
            n for n in mine.columns.drop("euclidean") if both_marks(mine.euclidean - mine[n])[1] == "win"
        ]
        assert (dataset in nowhere.split(", ")) == (not better)
