"""Figures from small frames: what is drawn, on which scale, and files that do not depend on the day."""

import re
from dataclasses import replace
from functools import partial

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mloml.report.document import Artefact, Figure
from mloml.report.figures.curves import curve_frame, curves_figure, plotted_numbers
from mloml.report.figures.panels import BAND_LABEL, grid_of_panels, whole_ticks
from mloml.report.figures.space import feature_space_figure, plane
from mloml.report.figures.style import STYLES, paper_style, style_of
from mloml.report.figures.time import running_time_figure, time_numbers
from mloml.report.publish import publish
from mloml.report.recipe import find_recipe

matplotlib.use("Agg")

ALGORITHMS = {"euclidean": "Euclidean", "moml": "MOML", "mloml_r_5": "MLOML-r (5 layers)"}
REFERENCES = {"mloml_r_5": "euclidean"}


@pytest.fixture
def records():
    rng = np.random.default_rng(0)
    cells = []
    for dataset in ("iris", "wine"):
        for split in range(3):
            for algorithm in ALGORITHMS:
                layers = rng.uniform(0, 0.3, 5).tolist() if algorithm == "mloml_r_5" else None
                error = layers[-1] if layers else rng.uniform(0, 0.3)
                cells.append(
                    {"dataset": dataset, "algorithm": algorithm, "split": split, "error": error,
                     "layer_errors": layers}
                )  # fmt: skip
    return cells


def layers_figure(records, titles=("iris", "wine"), algorithms=None):
    frame = curve_frame(records, "layer_errors", "layer")
    names = {name: name for name in titles}
    with paper_style():
        return curves_figure(frame, "layer", names, algorithms or ALGORITHMS, "metric layer", REFERENCES)


def test_a_curve_shows_the_mean_over_splits_of_every_layer(records):
    axes = layers_figure(records).axes[0]
    line = next(one for one in axes.lines if one.get_label() == "MLOML-r (5 layers)")
    expected = np.mean(
        [cell["layer_errors"] for cell in records if cell["dataset"] == "iris" and cell["layer_errors"]],
        axis=0,
    )
    np.testing.assert_allclose(line.get_ydata(), expected)
    np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4, 5])


def test_a_method_without_layers_is_a_horizontal_line(records):
    axes = layers_figure(records).axes[1]
    line = next(one for one in axes.lines if one.get_label() == "MOML")
    errors = [cell["error"] for cell in records if cell["dataset"] == "wine" and cell["algorithm"] == "moml"]
    np.testing.assert_allclose(line.get_ydata(), [np.mean(errors)] * 5)
    assert line.get_markerfacecolor() == "white"


def test_a_band_is_the_standard_error_of_the_paired_difference_to_its_reference(records):
    axes = layers_figure(records).axes[0]
    (band,) = axes.collections  # of the only curve; lines have none
    iris = [cell for cell in records if cell["dataset"] == "iris"]
    stack = np.array([cell["layer_errors"] for cell in iris if cell["algorithm"] == "mloml_r_5"])
    euclidean = np.array([cell["error"] for cell in iris if cell["algorithm"] == "euclidean"])
    half = (stack - euclidean[:, None]).std(axis=0, ddof=1) / np.sqrt(3)
    edges = band.get_paths()[0].vertices
    for layer, mean in enumerate(stack.mean(axis=0)):
        heights = edges[edges[:, 0] == layer + 1, 1]
        assert heights.min() == pytest.approx(mean - half[layer])
        assert heights.max() == pytest.approx(mean + half[layer])


def test_a_line_far_from_the_curves_is_named_at_the_edge_and_does_not_squash_them(records):
    for cell in records:
        if cell["algorithm"] == "mloml_r_5":
            cell["layer_errors"] = [0.21, 0.22, 0.2, 0.21, 0.2]
        else:
            cell["error"] = 0.07 if cell["algorithm"] == "moml" else 0.22
    axes = layers_figure(records).axes[0]
    low, high = axes.get_ylim()
    assert 0.19 < low < 0.2 and 0.22 < high < 0.23
    assert [text.get_text() for text in axes.texts] == ["↓ MOML .070"]


def test_an_untrained_stack_far_from_the_curves_is_named_with_its_first_and_last_error(records):
    """As on mlprove, where it would press all learners onto the axis."""
    curves = {"mloml_r_5": [0.014, 0.007, 0.005], "mloml_r_5_untrained": [0.083, 0.131, 0.131]}
    names = {"mloml_r_5": "trained", "mloml_r_5_untrained": "untrained"}
    cells = [
        {"dataset": dataset, "algorithm": name, "split": split, "error": curve[-1], "layer_errors": curve}
        for dataset in ("near", "far")
        for name, curve in curves.items()
        for split in (0, 1)
    ]
    for cell in cells[:4]:
        cell["layer_errors"] = [error / 10 for error in cell["layer_errors"]]
    near, far = layers_figure(cells, ("near", "far"), names).axes
    assert not near.texts and near.get_ylim()[1] > 0.0131  # within reach: drawn, and it widens the panel
    assert far.get_ylim()[1] < 0.02
    assert [text.get_text() for text in far.texts] == ["↑ untrained .083 → .131"]


def test_ticks_have_three_decimals_and_are_whole_layers(records):
    figure = layers_figure(records)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels and all(re.fullmatch(r"-?\d?\.\d{3}", label) for label in labels)
    for label, value in zip(labels, axes.get_yticks(), strict=True):
        assert float(label) == pytest.approx(value, abs=1e-9)  # what is printed is where the tick is
    assert list(axes.get_xticks()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("steps", [1, 2, 8, 9, 20, 50])
def test_the_first_scan_has_a_tick(steps):
    ticks = whole_ticks(steps)
    assert ticks[0] == 1 and ticks[-1] <= steps and len(ticks) <= 8
    assert sorted(set(ticks)) == ticks


@pytest.mark.parametrize(("count", "panels"), [(1, 1), (2, 2), (4, 4), (5, 6), (8, 9)])
def test_few_datasets_leave_no_empty_columns(count, panels):
    figure, used = grid_of_panels(count, columns=3)
    assert len(figure.axes) == panels and len(used) == count


def test_the_legend_stands_in_pairs():
    """RDML above RDML-multi: two lines, filled column by column."""
    pairs = find_recipe("fig8").build.keywords["pairs"]
    names = [*pairs, "rdml_identity", "mloml_r_5_untrained"]
    records = [
        {"dataset": "iris", "algorithm": name, "split": split, "error": 0.1,
         "layer_errors": [0.2, 0.1] if name.endswith(("_multi", "_untrained")) else None}
        for name in reversed(names) for split in (0, 1)
    ]  # fmt: skip
    legend = layers_figure(records, ["iris"], {name: name for name in names}).legends[0]
    handles = dict(zip((text.get_text() for text in legend.texts), legend.legend_handles, strict=True))
    assert list(handles)[:6] == list(pairs) and len(handles) == 8
    assert legend._ncols == 4
    for shallow, multi in zip(pairs[::2], pairs[1::2], strict=True):
        assert handles[shallow].get_color() == handles[multi].get_color()
        assert handles[shallow].get_marker() == handles[multi].get_marker()
        assert handles[shallow].get_markerfacecolor() == "white" != handles[multi].get_markerfacecolor()


def test_the_legend_names_every_method_once_and_says_what_the_band_is(records):
    legend = layers_figure(records).legends[0]
    assert [text.get_text() for text in legend.texts] == [*ALGORITHMS.values(), BAND_LABEL]


def test_plotted_numbers_are_means_and_standard_errors(records):
    numbers = plotted_numbers(curve_frame(records, "layer_errors", "layer"), "layer")
    row = numbers[(numbers.dataset == "iris") & (numbers.algorithm == "euclidean")].iloc[0]
    errors = [c["error"] for c in records if c["dataset"] == "iris" and c["algorithm"] == "euclidean"]
    assert row["mean"] == pytest.approx(np.mean(errors))
    assert row["standard_error"] == pytest.approx(np.std(errors, ddof=1) / np.sqrt(3))
    assert row["splits"] == 3 and row["layer"] == 0


def test_bands_are_among_the_plotted_numbers(records):
    numbers = plotted_numbers(curve_frame(records, "layer_errors", "layer"), "layer", REFERENCES)
    row = numbers[(numbers.dataset == "wine") & (numbers.algorithm == "mloml_r_5") & (numbers.layer == 2)]
    wine = [cell for cell in records if cell["dataset"] == "wine"]
    deep = [cell["layer_errors"][1] for cell in wine if cell["algorithm"] == "mloml_r_5"]
    flat = [cell["error"] for cell in wine if cell["algorithm"] == "euclidean"]
    expected = np.std(np.subtract(deep, flat), ddof=1) / np.sqrt(3)
    assert row["paired_standard_error"].item() == pytest.approx(expected)
    assert row["reference"].item() == "euclidean"
    assert numbers[numbers.algorithm == "moml"]["paired_standard_error"].isna().all()


def test_the_same_frame_gives_the_same_bytes_and_no_date(records, tmp_path):
    for folder in ("first", "second"):
        numbers = plotted_numbers(curve_frame(records, "layer_errors", "layer"), "layer")
        draw = partial(layers_figure, records)
        figure = Figure("fig5", "Figure 5", "Error of each layer.", draw, numbers, page=True)
        publish(Artefact("It falls.", figures=(figure,), command="make reproduce-fig5"), tmp_path / folder)
    names = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert names == ["artefact.json", "fig5.csv", "fig5.md", "fig5.pdf", "fig5.png", "findings.md"]
    for name in names:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    assert b"CreationDate" not in (tmp_path / "first" / "fig5.pdf").read_bytes()


@pytest.mark.parametrize("name", ["fig5", "fig7", "fig8"])
def test_the_curves_of_a_figure_can_be_told_apart_without_colours(name):
    curves = find_recipe(name).build.keywords["references"]
    assert len({style_of(curve).marker for curve in curves}) == len(curves)
    assert len(set(STYLES.values())) == len(STYLES)
    assert style_of("opml_multi") == style_of("opml")


def test_running_time_bars_show_medians_on_one_scale():
    runs = pd.DataFrame(
        [(dataset, method, run, 22, 100, size * (1 + run) * 1e-4)
         for dataset, size in (("spect_paper", 1), ("waveform", 5))
         for method in ("opml", "moml", "moml_frame") for run in range(5)],
        columns=["dataset", "method", "run", "features", "triplets", "seconds"],
    )  # fmt: skip
    numbers = time_numbers(runs)
    np.testing.assert_allclose(numbers["median"][:3], 3.0)
    np.testing.assert_allclose(numbers[["lower", "upper"]].iloc[0], [2.0, 4.0])
    with paper_style():
        figure = running_time_figure(numbers, {"spect_paper": "spect", "waveform": "waveform"})
    small, large = figure.axes
    assert [bar.get_height() for bar in small.patches] == pytest.approx([3.0] * 3)
    assert small.get_ylim() == large.get_ylim() and large.get_ylim()[1] > 15
    assert small.get_title() == "spect, d = 22"


def test_the_plane_is_the_principal_plane_of_the_normalised_rows():
    from sklearn.decomposition import PCA

    features = np.random.default_rng(2).normal(size=(40, 5))
    rows = features / np.linalg.norm(features, axis=1, keepdims=True)
    model = PCA(2, svd_solver="full")
    expected = model.fit_transform(rows)
    found = plane(features)
    np.testing.assert_allclose(np.abs(found.points), np.abs(expected), atol=1e-12)
    np.testing.assert_allclose(found.shares, model.explained_variance_ratio_, atol=1e-6)
    np.testing.assert_allclose(found.points, plane(3 * features).points, atol=1e-12)


def test_axes_of_the_next_space_do_not_flip():
    features = np.random.default_rng(3).normal(size=(60, 4)) * [3.0, 2.0, 1.0, 0.5]
    first = plane(features).points
    for signs in ([1, 1], [-1, 1], [1, -1], [-1, -1]):
        turned = plane(1.01 * features, before=first * signs).points
        correlations = [np.corrcoef(turned[:, i], first[:, i])[0, 1] for i in (0, 1)]
        np.testing.assert_allclose(correlations, signs)


def test_feature_space_has_a_row_per_dataset_and_a_column_per_layer():
    names = ["input", "layer 1"]
    points = pd.DataFrame(
        [("iris", space, i, i**2, i % 2) for space in names for i in range(6)],
        columns=["dataset", "space", "x", "y", "code"],
    )
    spaces = pd.DataFrame(
        [("iris", space, 0.25, 0.6, 0.3, 0.01) for space in names],
        columns=["dataset", "space", "error", "share_x", "share_y", "gamma"],
    )
    with paper_style():
        figure = feature_space_figure(points, spaces, {"iris": "iris"}, {"iris": ["a", "b"]})
    assert len(figure.axes) == 2
    assert figure.axes[0].get_title() == "input (.250)"
    assert figure.axes[0].get_xlabel() == "60 % + 30 %"
    assert figure.axes[0].get_ylabel() == "iris\nγ = 0.01"
    assert sum(len(one.get_offsets()) for one in figure.axes[1].collections) == 6


def test_a_picture_is_replaced_whole_or_not_at_all(records, tmp_path, monkeypatch):
    drawing = layers_figure(records)
    artefact = Artefact("", figures=(Figure("plot", "Plot", "", lambda: drawing),))
    publish(artefact, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def stopped(file, **_):
        (file.write if hasattr(file, "write") else file.write_bytes)(b"half a pic")
        raise KeyboardInterrupt

    monkeypatch.setattr(drawing, "savefig", stopped)
    with pytest.raises(KeyboardInterrupt):
        publish(artefact, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_picture_of_an_earlier_run_goes_while_cells_come_in(records, tmp_path):
    figure = Figure("plot", "Plot", "", lambda: layers_figure(records))
    publish(Artefact("", figures=(figure,)), tmp_path)
    assert (tmp_path / "plot.png").is_file()
    publish(Artefact("", figures=(replace(figure, ready=False),)), tmp_path)
    assert not list(tmp_path.glob("plot.*"))
