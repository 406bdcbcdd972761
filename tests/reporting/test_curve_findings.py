"""Words under figures 5, 7 and 8, against tests computed by scipy and counts made by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from mloml.reporting.figures.curves import curve_frame
from mloml.reporting.parts.curve_findings import curve_findings

DATASETS = {"iris": "iris", "spect_paper": "spect*", "wine": "wine"}
ALGORITHMS = {"moml": "MOML", "deep": "Deep"}


@pytest.fixture
def records():
    """Layers that help on iris, harm on spect and do nothing on wine, beside a method without layers."""
    rng = np.random.default_rng(0)
    cells = []
    for dataset, change in (("iris", -0.05), ("spect_paper", 0.05), ("wine", 0.0)):
        for split in range(20):
            wave = 0.01 * (-1) ** split  # as often up as down: no difference for certain
            layers = [0.2, 0.2 + rng.normal(0, 0.01), 0.2 + change + wave]
            cells += [
                {"dataset": dataset, "algorithm": "deep", "split": split, "error": layers[-1],
                 "layer_errors": layers},
                {"dataset": dataset, "algorithm": "moml", "split": split, "error": 0.3 + rng.normal(0, 0.01),
                 "layer_errors": None},
            ]  # fmt: skip
    return cells


def words(records, against=None, splits=20):
    frame = curve_frame(records, "layer_errors", "layer")
    return curve_findings(frame, "layer", DATASETS, ALGORITHMS, against or {}, splits)


def test_the_headline_counts_what_scipy_finds(records):
    cells = pd.DataFrame([cell for cell in records if cell["layer_errors"]])
    outcomes = []
    for name in DATASETS:
        layers = np.array(cells[cells["dataset"] == name]["layer_errors"].tolist())
        test = ttest_rel(layers[:, -1], layers[:, 0])
        outcomes.append(0 if test.pvalue >= 0.05 else np.sign(test.statistic))
    assert outcomes == [-1, 1, 0]
    headline, _ = words(records)
    assert headline.startswith("From layer 1 to the last, Deep: error lower on 1, higher on 1, ")
    assert headline.endswith(" no clear difference on 1 of 3 datasets.")


def test_sentences_name_the_datasets_their_means_and_what_the_stricter_test_says(records):
    _, (own, other) = words(records, {"deep": "moml"})
    means = {
        name: np.mean([c["layer_errors"] for c in records if c["layer_errors"] and c["dataset"] == name], 0)
        for name in DATASETS
    }
    first, last = (f"{means['iris'][i]:.3f}".removeprefix("0") for i in (0, 2))
    assert own.startswith(
        f"Deep, from layer 1 to layer 3: lower on iris ({first} → {last}); higher on spect* ("
    )
    assert own.endswith(
        "no clear difference on wine (paired t-test, 5 %; 2 of 2 also by the corrected test)."
    )
    assert other.startswith("Deep, layer 3, against MOML: lower on iris (")
    assert "higher" not in other and "no clear" not in other


def test_methods_with_too_few_splits_are_left_out(records):
    lacking = [cell for cell in records if not (cell["dataset"] == "iris" and cell["split"] == 3)]
    headline, sentences = words(lacking)
    assert "of 2 datasets" in headline and "iris" not in sentences[0]
    assert words([]) == ("No curve is complete yet.", [])
