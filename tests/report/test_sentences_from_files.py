"""Sentences under the figures, computed once more from nothing but the files beside them."""

import json
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from mloml.config.compose import compose_study
from mloml.experiments.study import StudyResult
from mloml.report.publish import publish
from mloml.report.recipe import find_recipe

matplotlib.use("Agg")

SPLITS = 9
TITLES = {"iris": "iris", "balance": "balance", "wine": "wine", "pima": "pima"}


def study_of(name):
    return compose_study(name, ["datasets=[iris,balance,wine,pima]", f"protocol.splits={SPLITS}"])


def cells_of(study, along, points):
    """Return cells with curves of some methods: differences of all sizes and signs, some of none."""
    rng = np.random.default_rng(7)
    cells = []
    for config in study.datasets:
        common = rng.normal(0.2, 0.03, SPLITS)
        for algorithm in study.algorithms:
            drift = rng.choice([0.0, 0.0, -0.02, 0.02, -0.006, 0.006]) * np.arange(points)
            noise = rng.normal(0, 0.008, (SPLITS, points))
            curves = np.round(common[:, None] + drift + noise, 4)
            layered = algorithm.name.endswith(("_multi", "_untrained", "_5"))
            has_curve = layered if along == "layer" else algorithm.name != "euclidean"
            cells += [
                {"dataset": config.name, "algorithm": algorithm.name, "split": split, "error": curve[-1],
                 f"{along}_errors": list(curve) if has_curve else None}
                for split, curve in enumerate(curves)
            ]  # fmt: skip
    return cells


def published(name, folder, cells, *found, study=None):
    study = study or study_of(name)
    frame = pd.DataFrame({"status": ["ok"] * len(cells)})
    result = StudyResult(study, folder, frame, cells, pd.DataFrame(), {}, command="mloml")
    artefact = replace(find_recipe(name).make([result], *found), figures=())  # drawing takes seconds
    publish(artefact, folder)
    document = json.loads((folder / "artefact.json").read_text(encoding="utf-8"))
    return document["headline"], document["findings"]


def p_values(mine, other):
    """Return the p-values of the plain paired t-test and of Nadeau and Bengio's, from their definitions."""
    difference = np.asarray(mine) - np.asarray(other)
    n = len(difference)
    for variance in (1 / n, 1 / n + 1):
        statistic = difference.mean() / (difference.std(ddof=1) * np.sqrt(variance))
        yield 2 * student.sf(abs(statistic), n - 1)


def sentence_from(file, along, mine, other):
    """Return the end of a sentence: on which datasets a point's error is lower and higher than another's."""
    errors = pd.read_csv(file)
    sides = {(test, sign): [] for test in ("plain", "corrected") for sign in (-1, 1)}
    for dataset in TITLES:
        first, second = (
            errors[(errors.dataset == dataset) & (errors.algorithm == a) & (errors[along] == point)]
            .sort_values("split")["error"]
            .to_numpy()
            for a, point in (mine, other)
        )
        assert len(first) == len(second) == SPLITS
        sign = int(np.sign(first.mean() - second.mean()))
        values = f"{first.mean():.3f} against {second.mean():.3f}".replace("0.", ".")
        plain, corrected = p_values(first, second)
        if plain < 0.05:
            sides["plain", sign].append(f"{dataset} {values}")
        if corrected < 0.05:
            sides["corrected", sign].append(dataset)
    named = {key: f"{len(v)} ({', '.join(v)})" if v else "none" for key, v in sides.items()}
    return (
        f"on 4 datasets: by the corrected test the error is lower on {named['corrected', -1]} and higher on "
        f"{named['corrected', 1]}; by the plain one lower on {named['plain', -1]}, higher on "
        f"{named['plain', 1]}."
    )


@pytest.mark.parametrize(
    ("name", "along", "beginning", "mine", "other"),
    [
        ("fig5", "layer", "MLOML-r (5 layers), layer 5, against MLOML-r untrained, layer 5",
         ("mloml_r_5", 5), ("mloml_r_5_untrained", 5)),
        ("fig5", "layer", "MLOML-r (5 layers), layer 5, against Euclidean",
         ("mloml_r_5", 5), ("euclidean", 0)),
        ("fig7", "scan", "MLOML-r, scan 5, against MOML, scan 5", ("mloml_r", 5), ("moml", 5)),
        ("fig8", "layer", "OPML-multi, layer 5, against OPML", ("opml_multi", 5), ("opml", 0)),
        ("fig8", "layer", "RDML-multi, layer 5, against RDML from M = I",
         ("rdml_multi", 5), ("rdml_identity", 0)),
    ],
)  # fmt: skip
def test_a_sentence_of_a_figure(name, along, beginning, mine, other, tmp_path):
    _, findings = published(name, tmp_path, cells_of(study_of(name), along, 5))
    (sentence,) = (line for line in findings if line.startswith(f"{beginning}, on"))
    assert sentence == f"{beginning}, {sentence_from(tmp_path / f'{along}_errors.csv', along, mine, other)}"


def test_the_headline_counts_what_the_sentences_name(tmp_path):
    headline, findings = published("fig8", tmp_path, cells_of(study_of("fig8"), "layer", 5))
    tests = pd.read_csv(tmp_path / "comparisons.csv")
    part = tests[(tests.algorithm == "lego_multi") & (tests.reference == "lego") & (tests.point == 5)]
    counts = {
        (p, sign): int(((part[p] < 0.05) & (np.sign(part.difference) == sign)).sum())
        for p in ("p_corrected", "p_paired")
        for sign in (-1, 1)
    }
    assert (
        f"LEGO-multi, layer 5, against LEGO: lower on {counts['p_corrected', -1]} ({counts['p_paired', -1]}) "
        f"and higher on {counts['p_corrected', 1]} ({counts['p_paired', 1]}) of 4 datasets"
    ) in headline
    assert len(findings) == 13


def test_the_sentence_on_proposition_1(tmp_path):
    from mloml.paper.theory.findings import steps_sentence
    from mloml.paper.theory.proposition import compare_layers
    from mloml.report.figures.curves import curve_frame
    from mloml.report.files import write_csv
    from mloml.report.parts.curves import points_table

    frame = curve_frame(cells_of(study_of("theory"), "layer", 5), "layer_errors", "layer")
    table = points_table(frame, "layer")
    write_csv(tmp_path / f"{table.name}.csv", table.numbers)
    errors = pd.read_csv(tmp_path / "layer_errors.csv").pivot_table(
        index=["dataset", "split"], columns="layer", values="error"
    )
    counts = np.zeros((2, 2), dtype=int)  # plain and corrected, falls and rises
    for dataset in TITLES:
        for layer in range(1, 5):
            below, above = errors.loc[dataset][layer], errors.loc[dataset][layer + 1]
            rises = int(above.mean() > below.mean())
            for row, p in enumerate(p_values(above, below)):
                counts[row, rises] += p < 0.05
    assert counts[0].sum() > counts[1].sum()
    assert steps_sentence(compare_layers(frame)) == (
        f"Of 16 steps from a layer to the next, {counts[1, 0]} lower the mean error significantly and "
        f"{counts[1, 1]} raise it by the corrected t-test ({counts[0, 0]} and {counts[0, 1]} by the plain "
        "paired one)."
    )


def test_the_sentence_on_running_time(tmp_path):
    rng = np.random.default_rng(0)
    runs = pd.DataFrame(
        [("iris", method, run, 4, 100, rng.uniform(1e-5, 1e-3))
         for method in ("opml", "moml", "moml_frame") for run in range(7)],
        columns=["dataset", "method", "run", "features", "triplets", "seconds"],
    )  # fmt: skip
    headline, _ = published("fig4", tmp_path, [], runs)
    file = pd.read_csv(tmp_path / "runs.csv")
    median = (file["seconds"] / file["triplets"]).groupby(file["method"]).median()
    plain, factor = median["moml"] / median["opml"], median["moml_frame"] / median["opml"]
    assert headline.startswith(
        f"On iris MOML takes {plain:.2f} times OPML's time without a factor and {factor:.2f}"
    )


def test_the_sentence_on_feature_spaces(tmp_path):
    spaces = pd.DataFrame(
        [("iris", "input", 0.1234, 0.6, 0.3, 0.01), ("iris", "layer 1", 0.0456, 0.7, 0.2, 0.01)],
        columns=["dataset", "space", "error", "share_x", "share_y", "gamma"],
    )
    points = pd.DataFrame({"dataset": ["iris"], "space": ["input"], "x": [0.1], "y": [0.2], "code": [0]})
    headline, _ = published("fig6", tmp_path, [], (points, spaces))
    first, last = pd.read_csv(tmp_path / "spaces.csv")["error"]
    expected = f"iris {first:.3f} → {last:.3f}".replace("0.", ".")
    assert expected in headline


def test_means_of_table_3_after_each_scan_come_from_errors_of_splits(tmp_path):
    study = study_of("table3")
    cells = [cell | {"grid": []} for cell in cells_of(study, "scan", 4)]
    times = {"microseconds": 2.0, "lowest": 1.9, "highest": 2.2, "triplets": 996, "times_fp": 1.0}
    cost = pd.DataFrame({"features": 4, "activation": "relu", "strategy": ["fp", "bp", "fbp"], **times})
    frame = pd.DataFrame(cells)[["dataset", "algorithm", "split", "error"]].assign(status="ok")
    result = StudyResult(study, tmp_path, frame, cells, pd.DataFrame(), {}, command="mloml")
    publish(replace(find_recipe("table3").make([result], cost), figures=()), tmp_path)
    each = pd.read_csv(tmp_path / "scan_errors.csv")
    means = pd.read_csv(tmp_path / "scans.csv").set_index(["dataset", "algorithm", "scan"])["mean"]
    assert len(each) == 4 * len(study.algorithms) * SPLITS * 4
    again = each.groupby(["dataset", "algorithm", "scan"])["error"].mean()
    pd.testing.assert_series_equal(means.sort_index(), again.sort_index(), check_names=False)
