"""`mloml status --recompute N`: real cells computed again; equal, different, of other code or versions."""

import json
import re
import sys
from dataclasses import replace

import pandas as pd
import pytest

from mloml.config.schema import Algorithm, DataSettings, ProtocolConfig, Study
from mloml.datasets import catalogue, load
from mloml.errors import MlomlError
from mloml.experiments import status
from mloml.experiments.cell import Cell, cells_of_splits, run_cell
from mloml.experiments.manifest import Source, write_manifest
from mloml.experiments.status import main
from mloml.experiments.store import Store, cells_frame
from mloml.experiments.study import StudyResult

EUCLIDEAN = Algorithm("euclidean", "Euclidean", "Euclidean")
SETTINGS = DataSettings(source="bundled", offline=True)


@pytest.fixture(scope="module")
def made():
    """Five finished cells and their data."""
    data = load(catalogue()["iris"], SETTINGS)
    first = Cell("iris", data.checksum, EUCLIDEAN, ProtocolConfig(splits=5), 0, features=4)
    return data, {cell.split: (cell, run_cell(cell, data)) for cell in cells_of_splits(first, 5)}


class Artefact:
    """A finished artefact whose cells and files can be tampered with."""

    def __init__(self, results, made, config=None, settings=SETTINGS):
        config = config or catalogue()["iris"]
        data, self.cells = made
        self.results, self.folder = results, results / "small"
        self.store = Store(results / "store")
        for cell, record in self.cells.values():
            self.store.put(cell, record)
        study = Study("small", [config], [EUCLIDEAN], ProtocolConfig(splits=5), data=settings)
        self.folder.mkdir(parents=True)
        self.write = lambda: self._write(study, {config.name: Source(data.checksum, settings.source)})
        self.write()

    def _write(self, study, sources):
        cells = [cell for cell, _ in self.cells.values()]
        frame = cells_frame(cells, self.store.get_all(cells))
        frame.to_csv(self.folder / "cells.csv", index=False)
        records = [*self.store.get_all(cells).values()]
        write_manifest(StudyResult(study, self.folder, frame, records, pd.DataFrame(), {}, sources=sources))

    def alter_rows(self, split, **changes):
        rows = pd.read_csv(self.folder / "cells.csv", dtype=str)
        for name, value in changes.items():
            rows.loc[rows["split"] == str(split), name] = value
        rows.to_csv(self.folder / "cells.csv", index=False)

    def alter_manifest(self, change):
        path = self.folder / "manifest.json"
        manifest = json.loads(path.read_text())
        change(manifest)
        path.write_text(json.dumps(manifest))

    def recompute(self, count, *words):
        return main(["--recompute", str(count), *words, "--results", str(self.results)])

    def contents(self):
        return {path: path.read_bytes() for path in self.results.rglob("*") if path.is_file()}


@pytest.fixture
def artefact(tmp_path, made, monkeypatch):
    monkeypatch.setattr(status, "in_processes", lambda function, jobs, at_once: map(function, jobs))
    return Artefact(tmp_path / "results", made)


def counts(output):
    """Return how many cells came out in each way."""
    (row,) = [line for line in output.splitlines() if re.search("small: [0-9]", line)]
    pairs = (part.split(" ", 1) for part in row.rpartition(": ")[2].split("; "))
    return {verdict: int(count) for count, verdict in pairs}


def test_an_untouched_artefact_is_equal_and_nothing_is_written(artefact, capsys):
    before = artefact.contents()
    assert artefact.recompute(100) == 0
    assert counts(capsys.readouterr().out) == {"equal": 5}
    assert artefact.contents() == before


def test_only_a_difference_under_the_same_code_and_versions_is_a_failure(artefact, capsys):
    for split in (1, 2, 3):
        cell, record = artefact.cells[split]
        versions = record["versions"] | ({"numpy": "1.0"} if split == 2 else {})
        artefact.store.put(cell, record | {"error": 0.5, "versions": versions})
    artefact.write()
    artefact.alter_rows(3, key="0" * 64)
    assert artefact.recompute(5) == 1
    output = capsys.readouterr().out
    assert counts(output) == {"equal": 2, "different": 1, "different, other code or versions": 2}
    now = artefact.cells[1][1]["error"]
    assert f"different: iris/euclidean, split 1: stored 0.5 with {{}}, now {now} with {{}}" in output
    assert "different, other code or versions: iris/euclidean, split 2: stored 0.5" in output
    assert "different, other code or versions: iris/euclidean, split 3: stored 0.5" in output
    artefact.alter_rows(1, error=str(now))
    assert artefact.recompute(5) == 0


def test_cells_of_foreign_classes_and_data_and_of_other_times_are_skipped(artefact, capsys):
    artefact.alter_rows(1, dataset="mine")
    artefact.alter_rows(2, algorithm="foreign")
    foreign = {"name": "foreign", "title": "F", "learner": "this.Zen", "params": {}, "grid": {}}
    artefact.alter_manifest(lambda manifest: manifest["config"]["algorithms"].append(foreign))
    assert artefact.recompute(5) == 0
    output = capsys.readouterr().out
    assert counts(output) == {"equal": 3, "skipped": 2}
    assert all(
        f"skipped 1: the data or the learner of {name}" in output for name in ("mine/", "iris/foreign")
    )
    assert "this" not in sys.modules
    artefact.write()
    artefact.alter_manifest(lambda manifest: manifest["datasets"]["iris"].update(checksum="0"))
    assert artefact.recompute(2) == 0
    assert "skipped 2: the data or the learner of iris/euclidean" in capsys.readouterr().out
    artefact.alter_manifest(lambda manifest: manifest["config"]["protocol"].update(invented=1))
    assert artefact.recompute(2) == 1
    assert "its config is of another version of mloml" in capsys.readouterr().out


def test_the_seed_decides_which_cells_are_taken(artefact, monkeypatch):
    taken = []
    splits_of = lambda jobs: taken.append([job.cell.split for job in jobs]) or []  # noqa: E731
    monkeypatch.setattr(status, "in_processes", lambda function, jobs, at_once: splits_of(jobs))
    for seed in (0, 0, 1, 2, 3):
        artefact.recompute(2, "--seed", str(seed))
    assert taken[0] == taken[1]
    assert len({tuple(splits) for splits in taken}) > 1
    assert all(len(set(splits)) == 2 for splits in taken)


def test_a_cell_that_can_no_longer_be_computed_is_different(artefact, monkeypatch, capsys):
    def fail(*_):
        raise ValueError("too\nlate")

    monkeypatch.setattr("mloml.experiments.cell.run_cell", fail)
    assert artefact.recompute(1) == 1
    assert "now ValueError: too late" in capsys.readouterr().out


def test_a_damaged_artefact_and_a_senseless_number_are_one_line(artefact, capsys):
    (artefact.folder / "cells.csv").write_text("no cells")
    assert artefact.recompute(1) == 1
    assert "manifest.json or cells.csv is damaged" in capsys.readouterr().out
    (artefact.folder / "cells.csv").unlink()
    assert artefact.recompute(1) == 1
    assert "there is no cells.csv" in capsys.readouterr().out
    with pytest.raises(MlomlError, match="--recompute 0: must be a number of cells, at least 1"):
        artefact.recompute(0)


def test_the_manifest_lists_the_versions_of_its_cells_and_status_names_other_ones(artefact, capsys):
    cell, record = artefact.cells[1]
    artefact.store.put(cell, record | {"versions": record["versions"] | {"numpy": "1.0"}})
    artefact.write()
    manifest = json.loads((artefact.folder / "manifest.json").read_text())
    here = manifest["versions"]
    assert manifest["cell_versions"] == [
        {"cells": 4, "versions": here},
        {"cells": 1, "versions": here | {"numpy": "1.0"}},
    ]
    assert main(["--results", str(artefact.results)]) == 0
    output = capsys.readouterr().out
    assert "small: matches the store" in output
    assert f"1 of 5 cells were made by other versions: numpy 1.0 (here {here['numpy']})" in output


def test_a_draw_that_only_the_manifest_describes_is_made_from_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(status, "in_processes", lambda function, jobs, at_once: map(function, jobs))
    settings = DataSettings(source="generated", offline=True)
    config = replace(catalogue()["waveform"], name="waveform_1", draw=1, sources=["generated"])
    data = load(config, settings)
    cell = Cell(config.name, data.checksum, EUCLIDEAN, ProtocolConfig(splits=5), 0, features=21)
    made = data, {0: (cell, run_cell(cell, data))}
    assert Artefact(tmp_path / "results", made, config, settings).recompute(1) == 0
    assert counts(capsys.readouterr().out) == {"equal": 1}
