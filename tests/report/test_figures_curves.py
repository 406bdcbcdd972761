"""Error curves from small frames: what is drawn, and on which scale."""

import re

import numpy as np
import pytest

from mloml.report.artefacts.fig8 import PAIRS
from mloml.report.figures.curves import curve_frame, curves_figure, plotted_numbers
from mloml.report.figures.panels import BAND_LABEL, grid_of_panels, whole_ticks
from mloml.report.figures.style import paper_style

ALGORITHMS = {"euclidean": "Euclidean", "moml": "MOML", "mloml_r_5": "MLOML-r (5 layers)"}


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


def drawn(errors, algorithms=ALGORITHMS):
    titles = {dataset: dataset for dataset, _ in errors}
    with paper_style():
        return curves_figure(numbers_of(errors), "layer", titles, algorithms, "metric layer")


def line_of(axes, label):
    return next(line for line in axes.lines if line.get_label() == label)


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


def test_a_curve_shows_means_with_a_band_and_a_method_without_layers_is_a_line(errors):
    axes, second = drawn(errors).axes
    mean = errors["iris", "mloml_r_5"].mean(axis=0)
    curve = line_of(axes, "MLOML-r (5 layers)")
    np.testing.assert_allclose(curve.get_ydata(), mean)
    np.testing.assert_array_equal(curve.get_xdata(), [1, 2, 3, 4, 5])
    (band,) = axes.collections  # of the only curve; lines have none
    half = (errors["iris", "mloml_r_5"] - errors["iris", "euclidean"]).std(axis=0, ddof=1) / np.sqrt(3)
    edges = band.get_paths()[0].vertices
    for layer in range(5):
        heights = edges[edges[:, 0] == layer + 1, 1]
        assert (heights.min(), heights.max()) == pytest.approx(
            (mean[layer] - half[layer], mean[layer] + half[layer])
        )
    line = line_of(second, "MOML")
    np.testing.assert_allclose(line.get_ydata(), [errors["wine", "moml"].mean()] * 5)
    assert line.get_markerfacecolor() == "white"


def test_a_line_far_from_the_curves_is_named_at_the_edge_and_does_not_squash_them():
    levels = {"mloml_r_5": [0.21, 0.22, 0.2, 0.21, 0.2], "moml": [0.07], "euclidean": [0.22]}
    (axes,) = drawn({("iris", name): np.array([curve] * 3) for name, curve in levels.items()}).axes
    low, high = axes.get_ylim()
    assert 0.19 < low < 0.2 and 0.22 < high < 0.23
    assert [text.get_text() for text in axes.texts] == ["↓ MOML .070"]


def test_an_untrained_stack_far_from_the_curves_is_named_with_its_first_and_last_error():
    """As on mlprove, where it would press all learners onto the axis."""
    curves = {"mloml_r_5": [0.014, 0.007, 0.005], "mloml_r_5_untrained": [0.083, 0.131, 0.131]}
    sizes = {"near": 0.1, "far": 1.0}
    errors = {(d, name): np.array([c, c]) * size for d, size in sizes.items() for name, c in curves.items()}
    near, far = drawn(errors, {"mloml_r_5": "trained", "mloml_r_5_untrained": "untrained"}).axes
    assert not near.texts and near.get_ylim()[1] > 0.0131  # within reach: drawn, and it widens the panel
    assert far.get_ylim()[1] < 0.02
    assert [text.get_text() for text in far.texts] == ["↑ untrained .083 → .131"]


def test_ticks_have_three_decimals_and_are_whole_layers(errors):
    figure = drawn(errors)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels and all(re.fullmatch(r"-?\d?\.\d{3}", label) for label in labels)
    for label, value in zip(labels, axes.get_yticks(), strict=True):
        assert float(label) == pytest.approx(value, abs=1e-9)  # what is printed is where the tick is
    assert list(axes.get_xticks()) == [1, 2, 3, 4, 5]


def test_the_legend_names_every_method_once_and_says_what_the_band_is(errors):
    legend = drawn(errors).legends[0]
    assert [text.get_text() for text in legend.texts] == [*ALGORITHMS.values(), BAND_LABEL]


def test_the_legend_stands_in_pairs():
    """RDML above RDML-multi: two lines, filled column by column."""
    names = [*PAIRS, "rdml_identity", "mloml_r_5_untrained"]
    points = {name: 2 if name.endswith(("_multi", "_untrained")) else 1 for name in reversed(names)}
    errors = {("iris", name): np.full((2, n), 0.1) for name, n in points.items()}
    legend = drawn(errors, {name: name for name in names}).legends[0]
    handles = dict(zip((text.get_text() for text in legend.texts), legend.legend_handles, strict=True))
    assert list(handles) == names and legend._ncols == 4
    for shallow, multi in zip(PAIRS[::2], PAIRS[1::2], strict=True):
        assert handles[shallow].get_color() == handles[multi].get_color()
        assert handles[shallow].get_marker() == handles[multi].get_marker()
        assert handles[shallow].get_markerfacecolor() == "white" != handles[multi].get_markerfacecolor()


@pytest.mark.parametrize("steps", [1, 2, 8, 9, 20, 50])
def test_the_first_scan_has_a_tick(steps):
    ticks = whole_ticks(steps)
    assert ticks[0] == 1 and ticks[-1] <= steps and len(ticks) <= 8
    assert sorted(set(ticks)) == ticks


@pytest.mark.parametrize(("count", "panels"), [(1, 1), (2, 2), (4, 4), (5, 6), (8, 9)])
def test_few_datasets_leave_no_empty_columns(count, panels):
    figure, used = grid_of_panels(count, columns=3)
    assert len(figure.axes) == panels and len(used) == count
