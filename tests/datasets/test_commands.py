"""`mloml data`, and the overview behind table I."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from mloml.paper import published
from mloml.command_line import Command
from mloml.datasets import DataSettings, catalogue, main
from mloml.datasets.overview import overview
from mloml.report.artefacts.table1 import difference_sentence
from mloml.report.reproduce import reproduce


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MLOML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")


def test_list_tells_where_each_dataset_would_come_from(capsys):
    assert main(["list", "--offline"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert set(catalogue()) <= set(lines)
    assert "bundled" in lines["iris"]
    assert "regenerated" in lines["waveform"]
    assert "missing" in lines["pems"]
    assert main(["show", "spect_paper", "--offline"]) == 0
    assert "made from spect" in capsys.readouterr().out


def test_list_fits_a_terminal_of_80_characters_and_offers_what_runs_offline(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(catalogue()) + 2
    assert not any("…" in line for line in lines)
    assert any(line.startswith("waveform") and "regenerated" in line for line in lines)


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
    assert "None" not in out and "UCI" not in out


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
    for part in ("L: 288, B: 49, R: 288", "625 x 4", "balance-scale.data", "CC BY 4.0"):
        assert part in out


def test_an_unknown_dataset_gets_a_suggestion(capsys):
    assert main(["show", "irs"]) == 1
    assert "no dataset 'irs'; did you mean 'iris'?" in capsys.readouterr().err


def test_a_folder_that_does_not_exist_is_one_line(capsys):
    assert main(["list", "--dir", "/no/such"]) == 1
    assert capsys.readouterr().err == "mloml data: data.dir: '/no/such' is no folder\n"


@pytest.fixture
def frame() -> pd.DataFrame:
    known = catalogue()
    chosen = {name: known[name] for name in ("iris", "spect_paper", "waveform", "mlprove")}
    return overview(chosen, DataSettings(offline=True), published.table1())[0]


def test_table1_puts_the_papers_figures_beside_ours(tmp_path, capsys):
    words = ["datasets=[iris,spect_paper,waveform,mlprove]", "data.offline=true"]
    command = Command("experiments/table1.py", tuple(words))
    assert reproduce("table1", [*words, f"execution.results={tmp_path}"], command) == 0
    shown = capsys.readouterr().out
    assert "missing: mlprove is missing" in shown and "in short: 3 of 4 datasets are here." in shown
    folder = tmp_path / "table1"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["code"] == {} and manifest["datasets"]["waveform"]["regenerated"]
    table = pd.read_csv(folder / "table1.csv").set_index("dataset")
    sizes = ["instances", "features", "classes"]
    assert table.loc["iris", sizes].tolist() == [150, 4, 3]
    assert table.loc["spect_paper", [f"paper_{size}" for size in sizes]].tolist() == [267, 22, 2]
    assert table.loc["waveform", "source"] == "regenerated"
    assert table.loc["mlprove", sizes].isna().all()
    assert table.loc["mlprove", "paper_features"] == 57
    page = (folder / "table1.md").read_text()
    assert "| mlprove | 6118 | – | 57 | – | 6 | – | missing |" in page
    assert "mlprove is missing" in page
    assert "\\toprule" in (folder / "table1.tex").read_text()


def test_table1_names_every_difference(frame):
    assert (
        difference_sentence(frame) == "3 of 4 datasets are here. All agree with the paper. Missing: mlprove."
    )
    frame.loc[frame["dataset"] == "iris", "features"] = 5
    assert "Different from the paper: iris (features: 5, paper 4)." in difference_sentence(frame)
