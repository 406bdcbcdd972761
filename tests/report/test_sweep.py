"""The table of a sweep: numbers in the file, words of equal length for people, nothing cut off in a pipe."""

from types import SimpleNamespace

import pandas as pd

from mloml.report.sweep import job_row, write_sweep

ROWS = [
    {
        "algorithm": "mloml_r",
        "algorithm.propagation": "forward",
        "error": 0.04,
        "std": 0.0333,
        "seconds": 0.2,
    },
    {"algorithm": "mloml_t", "algorithm.propagation": "back", "error": 0.1966, "std": None, "seconds": 12.0},
    {"algorithm": "mloml_t", "algorithm.propagation": "both", "error": None, "std": None, "seconds": 0.0},
]


def test_decimals_are_as_many_in_every_row_and_the_file_holds_numbers(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    write_sweep(tmp_path, [row | {"seed": "1"} for row in ROWS])
    header, *lines, written = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert header == [
        "algorithm",
        "propagation",
        "error",
        "std",
        "seconds",
    ]  # the seed is the same everywhere
    assert lines == [
        ["mloml_r", "forward", "0.0400", "0.0333", "0.20"],
        ["mloml_t", "back", "0.1966", "–", "12.00"],
        ["mloml_t", "both", "–", "–", "0.00"],
    ]
    assert written[0] == "written:"
    assert (tmp_path / "sweep.md").read_text().count("\n") == 5
    assert pd.read_csv(tmp_path / "sweep.csv")["error"].tolist()[:2] == [0.04, 0.1966]


def test_a_jobs_row_has_the_mean_and_deviation_of_its_errors():
    cells = pd.DataFrame({"status": ["ok"] * 3, "error": [0.1, 0.2, 0.6], "seconds": [1.0, 2.0, 3.5]})
    row = job_row(["dataset=iris", "algorithm.name=a=b"], SimpleNamespace(frame=cells))
    assert (row["dataset"], row["algorithm.name"]) == ("iris", "a=b")
    assert [row[key] for key in ("error", "std", "splits", "failed", "seconds")] == [0.3, 0.2646, 3, 0, 6.5]
    assert job_row([], SimpleNamespace(frame=cells[:1]))["std"] is None


def test_a_job_with_failed_cells_or_none_has_no_error():
    cells = pd.DataFrame({"status": ["ok", "failed"], "error": [0.1, None], "seconds": [1.0, None]})
    row = job_row([], SimpleNamespace(frame=cells))
    assert (row["error"], row["std"], row["splits"], row["failed"]) == (None, None, 1, 1)
    assert job_row([], SimpleNamespace(frame=cells[:0]))["error"] is None
    assert job_row(["dataset=lsvt"], None)["error"] is None
