"""A sweep: its table for people, its numbers in the file."""

from types import SimpleNamespace

import pandas as pd

from mloml.report.sweep import job_row, write_sweep


def test_the_file_holds_numbers_and_people_get_what_differs(tmp_path, capsys):
    values = [("a", 0.04, 0.03, 0.2), ("b", None, None, 12.0)]
    rows = [{"algorithm": n, "seed": "1", "error": e, "std": s, "seconds": t} for n, e, s, t in values]
    write_sweep(tmp_path, rows)
    header, *lines, _ = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert header == ["algorithm", "error", "std", "seconds"]
    assert lines == [["a", "0.0400", "0.0300", "0.20"], ["b", "–", "–", "12.00"]]
    assert pd.read_csv(tmp_path / "sweep.csv")["error"].fillna(-1).tolist() == [0.04, -1]


def test_a_jobs_row_has_the_mean_and_deviation_of_its_errors():
    cells = pd.DataFrame({"status": ["ok"] * 3, "error": [0.1, 0.2, 0.6], "seconds": [1.0, 2.0, 3.5]})
    row = job_row(["dataset=iris", "algorithm.name=a=b"], SimpleNamespace(frame=cells))
    assert (row["dataset"], row["algorithm.name"]) == ("iris", "a=b")
    assert [row[key] for key in ("error", "std", "splits", "failed", "seconds")] == [0.3, 0.2646, 3, 0, 6.5]
    assert job_row([], SimpleNamespace(frame=cells[:1]))["std"] is None
