"""Error curves: the numbers behind what is drawn."""

import numpy as np
import pytest

from mloml.report.figures.curves import curve_frame, curves_figure, plotted_numbers


def cell(dataset, algorithm, split, errors):
    """Return a record; a list of errors is a curve."""
    curve = errors if len(errors) > 1 else None
    place = {"dataset": dataset, "algorithm": algorithm, "split": split}
    return {**place, "error": errors[-1], "layer_errors": curve}


@pytest.fixture
def errors():
    """Errors by dataset and algorithm: splits by layers."""
    rng = np.random.default_rng(0)
    points = {"euclidean": 1, "moml": 1, "mloml_r_5": 5}
    return {(d, a): rng.uniform(0, 0.3, (3, n)) for d in ("iris", "wine") for a, n in points.items()}


def numbers_of(errors):
    records = [
        cell(*place, s, row.tolist()) for place, table in errors.items() for s, row in enumerate(table)
    ]
    frame = curve_frame(records, "layer_errors", "layer")
    return plotted_numbers(frame, "layer", {"mloml_r_5": "euclidean"})


def test_numbers_are_means_standard_errors_and_half_widths_of_bands(errors):
    numbers = numbers_of(errors).set_index(["dataset", "algorithm", "layer"])
    flat, deep = errors["wine", "euclidean"], errors["wine", "mloml_r_5"]
    row = numbers.loc[("wine", "euclidean", 0)]
    assert row["mean"] == pytest.approx(flat.mean()) and row["splits"] == 3
    assert row["standard_error"] == pytest.approx(flat.std(ddof=1) / np.sqrt(3))
    assert row["reference"] == "" and np.isnan(row["paired_standard_error"])
    row = numbers.loc[("wine", "mloml_r_5", 2)]
    half = (deep[:, 1] - flat[:, 0]).std(ddof=1) / np.sqrt(3)
    assert row["paired_standard_error"] == pytest.approx(half) and row["reference"] == "euclidean"


def test_methods_without_layers_are_lines_and_groups_have_panels_of_their_own(errors):
    numbers, titles = numbers_of(errors), {name: name for _, name in errors}
    groups = {"plain": ["euclidean", "mloml_r_5"], "learned": ["moml", "mloml_r_5"]}
    figure = curves_figure(numbers, "layer", {"wine": "Wine"}, titles, "layer", groups)
    panels = {axes.get_title(): axes for axes in figure.axes if axes.lines}
    assert list(panels) == ["Wine, plain", "Wine, learned"]
    shown = [{line.get_label(): line for line in axes.lines} for axes in panels.values()]
    assert [list(lines) for lines in shown] == list(groups.values())
    assert shown[0]["euclidean"].get_marker() == shown[1]["moml"].get_marker() == ""
    assert shown[0]["mloml_r_5"].get_ydata() == pytest.approx(errors["wine", "mloml_r_5"].mean(axis=0))
