"""Figures from small frames: what is drawn, what is left empty, and files that do not depend on the day."""

from dataclasses import replace
from functools import partial

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mloml.reporting.document import Artefact, Figure
from mloml.reporting.figures.curves import curve_frame, curves_figure, plotted_numbers
from mloml.reporting.figures.panels import BAND_LABEL
from mloml.reporting.figures.space import feature_space_figure, plane
from mloml.reporting.figures.style import STYLES, paper_style, style_of
from mloml.reporting.figures.time import running_time_figure, time_numbers
from mloml.reporting.publish import publish

matplotlib.use("Agg")

ALGORITHMS = {"euclidean": "Euclidean", "moml": "MOML", "mloml_r_5": "MLOML-r (5 layers)"}


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


def layers_figure(records, missing=None):
    frame = curve_frame(records, "layer_errors", "layer")
    titles = {"iris": "iris", "pems": "pems", "wine": "wine"}
    with paper_style():
        return curves_figure(frame, "layer", titles, ALGORITHMS, missing or {}, "metric layer")


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
    axes = layers_figure(records).axes[2]
    line = next(one for one in axes.lines if one.get_label() == "MOML")
    errors = [cell["error"] for cell in records if cell["dataset"] == "wine" and cell["algorithm"] == "moml"]
    np.testing.assert_allclose(line.get_ydata(), [np.mean(errors)] * 2)


@pytest.mark.parametrize(
    ("missing", "message"), [({"pems": "no network"}, "no network"), ({}, "no finished cells")]
)
def test_a_missing_dataset_leaves_a_labelled_empty_panel(records, missing, message):
    axes = layers_figure(records, missing).axes[1]
    assert axes.get_title() == "pems"
    assert not axes.lines
    assert message in axes.texts[0].get_text().replace("\n", " ")


@pytest.mark.parametrize(("datasets", "panels"), [(["iris"], 1), (["iris", "wine"], 2), (list("abcd"), 6)])
def test_few_datasets_leave_no_empty_columns(datasets, panels):
    with paper_style():
        figure = curves_figure(
            curve_frame([], "layer_errors", "layer"),
            "layer",
            {n: n for n in datasets},
            ALGORITHMS,
            {},
            "layer",
        )
    assert len(figure.axes) == panels


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


def test_a_figure_of_no_cells_at_all_still_draws_its_panels():
    figure = layers_figure([])
    assert all(axes.texts for axes in figure.axes)


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


def test_methods_that_share_a_colour_have_different_markers_or_lines():
    assert len(set(STYLES.values())) == len(STYLES)
    assert style_of("opml_multi") == style_of("opml")


def test_running_time_bars_show_medians_and_an_empty_panel_for_missing_data():
    runs = pd.DataFrame(
        [("spect_paper", method, run, 22, 100, (1 + run) * 1e-4)
         for method in ("opml", "moml", "moml_frame") for run in range(5)],
        columns=["dataset", "method", "run", "features", "triplets", "seconds"],
    )  # fmt: skip
    numbers = time_numbers(runs)
    np.testing.assert_allclose(numbers["median"], 3.0)
    np.testing.assert_allclose(numbers[["lower", "upper"]].iloc[0], [2.0, 4.0])
    with paper_style():
        figure = running_time_figure(
            numbers, {"spect_paper": "spect", "waveform": "waveform"}, {"waveform": "no"}
        )
    assert [bar.get_height() for bar in figure.axes[0].patches] == pytest.approx([3.0] * 3)
    assert not figure.axes[1].patches and figure.axes[1].texts


def test_the_plane_is_the_principal_plane_of_the_normalised_rows():
    from sklearn.decomposition import PCA

    features = np.random.default_rng(2).normal(size=(40, 5))
    rows = features / np.linalg.norm(features, axis=1, keepdims=True)
    expected = PCA(2, svd_solver="full").fit_transform(rows)
    np.testing.assert_allclose(np.abs(plane(features)), np.abs(expected), atol=1e-12)
    np.testing.assert_allclose(plane(features), plane(3 * features), atol=1e-12)


def test_feature_space_has_a_row_per_dataset_and_a_column_per_layer():
    spaces = ["input", "layer 1"]
    points = pd.DataFrame(
        [("iris", space, i, i**2, i % 2, 0.25) for space in spaces for i in range(6)],
        columns=["dataset", "space", "x", "y", "code", "error"],
    )
    with paper_style():
        figure = feature_space_figure(
            points, {"iris": "iris", "balance": "balance"}, spaces, {"iris": ["a", "b"]}, {"balance": "gone"}
        )
    assert figure.axes[0].get_title() == "input (error 0.250)"
    assert figure.axes[0].get_ylabel() == "iris"
    assert sum(len(one.get_offsets()) for one in figure.axes[1].collections) == 6
    assert "gone" in figure.axes[2].texts[0].get_text()


def test_a_picture_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    drawing = layers_figure([])
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


def test_a_picture_of_an_earlier_run_goes_while_cells_come_in(tmp_path):
    figure = Figure("plot", "Plot", "", lambda: layers_figure([]))
    publish(Artefact("", figures=(figure,)), tmp_path)
    assert (tmp_path / "plot.png").is_file()
    publish(Artefact("", figures=(replace(figure, ready=False),)), tmp_path)
    assert not list(tmp_path.glob("plot.*"))
