"""A sweep: its table for people, its numbers in the file."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mloml.report.figures.comparisons import means_figure
from mloml.report.sweep import job_row, write_sweep


def test_the_file_holds_numbers_and_people_get_what_differs(tmp_path, capsys):
    values = [("a", 0.04, 0.03, 0.2), ("b", None, None, 12.0)]
    rows = [
        {
            "algorithm": n,
            "seed": "1",
            "chosen.mu": 0.5,
            "error": e,
            "std": s,
            "splits": 2,
            "failed": 0,
            "seconds": t,
        }
        for n, e, s, t in values
    ]
    write_sweep(tmp_path, [rows[0], rows[1] | {"chosen.mu": None, "chosen.gamma": 0.1}])
    header, *lines, _ = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert header == ["algorithm", "chosen", "mu", "chosen", "gamma", "error", "std", "seconds"]
    assert lines == [["a", "0.5", "–", "0.0400", "0.0300", "0.20"], ["b", "–", "0.1", "–", "–", "12.00"]]
    table = pd.read_csv(tmp_path / "sweep.csv")
    assert table["error"].fillna(-1).tolist() == [0.04, -1] and table["chosen.gamma"].tolist()[1] == 0.1
    tex = (tmp_path / "sweep.tex").read_text()
    assert f"label{{tab:{tmp_path.name}}}" in tex and "a & 0.5 & -- & 0.0400 & 0.0300 & 0.20" in tex
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".md", ".tex", ".png", ".pdf"}


def panels(keys, rows):
    """Return what a figure shows: of every panel its title, ticks, and the places of its points by line."""
    numbers = pd.DataFrame(rows, columns=[*keys, "mean", "std"])
    found = []
    for axes in means_figure(numbers, keys).axes:
        lines = {bars.get_label(): bars[0].get_ydata().tolist() for bars in axes.containers}
        found.append((axes.get_title(), [tick.get_text() for tick in axes.get_xticklabels()], lines))
    return found


def test_a_figure_orders_numbers_and_has_a_panel_per_data_set_or_a_line_per_value():
    layers = [("10", "fp", 0.3, 0.1), ("2", "fp", 0.2, 0.1), ("10", "bp", 0.5, None)]
    ((_, ticks, lines),) = panels(["algorithm.propagation", "n"], [(p, n, m, s) for n, p, m, s in layers])
    assert ticks == ["2", "10"] and lines["fp"] == [0.2, 0.3]
    assert lines["bp"][1] == 0.5 and np.isnan(lines["bp"][0])  # a job that has no result
    sets = [("iris", "moml", 0.1, 0.0), ("iris", "lego", 0.2, 0.0), ("wine", "moml", 0.3, 0.0)]
    first, second = panels(["dataset", "algorithm"], sets)
    assert first[:2] == ("iris", ["moml", "lego"]) and second[0] == "wine"
    assert [*first[2].values()] == [[0.1, 0.2]]


@pytest.mark.parametrize(("keys", "drawn"), [(0, False), (1, True), (2, True), (3, False)])
def test_a_figure_is_drawn_where_one_or_two_keys_vary(keys, drawn, tmp_path):
    measured = {"error": 0.1, "std": 0.1, "splits": 2, "failed": 0, "seconds": 1.0}
    write_sweep(tmp_path, [{f"k{key}": f"{job}" for key in range(keys)} | measured for job in range(2)])
    assert (tmp_path / "sweep.png").is_file() == drawn


def test_a_jobs_row_has_the_mean_and_deviation_of_its_errors():
    chosen = ['{"gamma": 0.1}', '{"gamma": 0.01}', '{"gamma": 0.1}']
    cells = pd.DataFrame(
        {"status": "ok", "error": [0.1, 0.2, 0.6], "seconds": [1.0, 2.0, 3.5], "chosen": chosen}
    )
    row = job_row(["dataset=iris", "algorithm.name=a=b"], SimpleNamespace(frame=cells))
    assert (row["dataset"], row["algorithm.name"]) == ("iris", "a=b")
    assert row["chosen.gamma"] == 0.1  # most often
    assert [row[key] for key in ("error", "std", "splits", "failed", "seconds")] == [0.3, 0.2646, 3, 0, 6.5]
    assert job_row([], SimpleNamespace(frame=cells[:1]))["std"] is None
