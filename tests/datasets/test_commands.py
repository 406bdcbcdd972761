"""`mloml data list | fetch | show`."""

import pytest

from mloml.datasets import catalogue
from mloml.datasets.commands import main


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MLOML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")


def test_list_tells_where_each_dataset_would_come_from_in_80_columns(capsys):
    assert main(["list", "--offline"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert set(catalogue()) <= set(lines) and len(lines) == len(catalogue()) + 2
    assert not any("…" in line for line in lines.values())
    assert "bundled" in lines["iris"]
    assert "regenerated" in lines["waveform"]
    assert "missing" in lines["pems"]


def test_a_dataset_of_ones_own_is_listed_with_its_file(capsys, tmp_path):
    mine = tmp_path / "conf" / "dataset"
    mine.mkdir(parents=True)
    (tmp_path / "rows.csv").write_text("a,label\n1,x\n")
    (mine / "mine.yaml").write_text(f"name: mine\npath: {tmp_path / 'rows.csv'}\nlabel: label\n")
    assert main(["list", "--config-dir", str(tmp_path / "conf")]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("mine"))
    assert "your file" in line
    assert main(["show", "mine", "--config-dir", str(tmp_path / "conf")]) == 0
    out = capsys.readouterr().out
    assert "rows.csv" in out
    assert "None" not in out


def test_fetch_reports_one_line_per_dataset_and_fails_when_one_is_missing(capsys):
    assert main(["fetch", "iris", "waveform", "pems", "--offline"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("iris ")
    assert lines[0].endswith("150 x 4, 3 classes, from bundled")
    assert lines[1].endswith("from generated, regenerated")
    assert lines[2].startswith("pems is missing")
    assert lines[3] == "2 of 3 datasets are here"
    assert main(["fetch", "iris", "--offline"]) == 0


def test_show_tells_all_that_is_known(capsys):
    assert main(["show", "balance", "--offline"]) == 0
    out = capsys.readouterr().out
    for part in ("L: 288, B: 49, R: 288", "625", "balance-scale.data", "CC BY 4.0", "generated, ucimlrepo"):
        assert part in out


def test_an_unknown_dataset_gets_a_suggestion(capsys):
    assert main(["show", "irs"]) == 1
    assert "no dataset 'irs'; did you mean 'iris'?" in capsys.readouterr().err


def test_a_folder_that_does_not_exist_is_one_line(capsys):
    assert main(["list", "--dir", "/no/such"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "data.dir=/no/such" in line
    assert main(["list", "--source", "web"]) == 1
    assert "data.source=web" in capsys.readouterr().err
