"""The table of a sweep: numbers in the file, words of equal length for people, nothing cut off in a pipe."""

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
    {
        "algorithm": "mloml_t",
        "algorithm.propagation": "backward",
        "error": 0.1966,
        "std": None,
        "seconds": 12.0,
    },
    {"algorithm": "mloml_t", "algorithm.propagation": "both", "error": None, "std": None, "seconds": 0.0},
]


def test_decimals_are_as_many_in_every_row_and_the_file_holds_numbers(tmp_path, capsys):
    write_sweep(tmp_path, ROWS)
    shown = [line.split("│")[3:-1] for line in capsys.readouterr().out.splitlines() if "mloml_" in line]
    expected = [["0.0400", "0.0333", "0.20"], ["0.1966", "–", "12.00"], ["–", "–", "0.00"]]
    assert [[word.strip() for word in row] for row in shown] == expected
    assert "| mloml\\_r | forward | 0.0400 | 0.0333 | 0.20 |" in (tmp_path / "sweep.md").read_text()
    assert pd.read_csv(tmp_path / "sweep.csv")["error"].tolist()[:2] == [0.04, 0.1966]


def test_names_are_whole_where_there_is_no_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    write_sweep(tmp_path, ROWS)
    out = capsys.readouterr().out
    assert "…" not in out
    assert all(word in out for word in ("propagation", "backward", "mloml_t"))


def test_a_refused_job_has_a_row_without_an_error():
    row = job_row(["dataset=lsvt"], None)
    assert (row["dataset"], row["error"]) == ("lsvt", None)
