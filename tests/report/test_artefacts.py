"""Every artefact over synthetic cells: its template renders with all cells, with some and with none."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from mloml.config.compose import compose_study
from mloml.experiments.manifest import Source
from mloml.experiments.selection import candidates
from mloml.experiments.store import COLUMNS
from mloml.experiments.study import StudyResult
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.report import publish as writing
from mloml.report.recipe import recipes

FROM_CELLS = [n for n, r in recipes().items() if r.work == "cells" and not (r.before or r.after)]
SPLITS = 3


@cache
def study_of(name, *words):
    """Composing takes longer than all else here."""
    return compose_study(name, [*words, f"protocol.splits={SPLITS}"])


def result_of(recipe, variant, folder, share, full=SPLITS):
    """Return a study's result in which a share of the cells is finished, with errors drawn at random."""
    fixed = recipe.name in ("signs", "draws", "beyond", "streams", "drift")
    sets = () if fixed else ("datasets=[iris,balance,spect]",)
    study = study_of(recipe.experiment or recipe.name, *sets, *variant)
    study = replace(study, protocol=replace(study.protocol, full=full))
    rng, records = np.random.default_rng(sum("".join(variant).encode())), []  # variants differ
    places = [(d, a, s) for d in study.datasets for a in study.algorithms for s in range(SPLITS)]
    for config, algorithm, split in places[: int(share * len(places))]:
        layers, grid = algorithm.params.get("n_layers") or 0, dict([*algorithm.grid.items()][:1])
        if layers == "auto":
            grid, layers = {"n_layers": [0, 1, 2, 3, 4, 5], **grid}, 0
        entries = [(option, float(rng.random())) for option in candidates(grid)] if grid else []
        record = {"dataset": config.name, "algorithm": algorithm.name, "split": split, "error": rng.random()}
        record |= {"chosen": entries[0][0] if entries else {}, "seconds": {"total": 0.1}}
        record["grid"] = [{"params": p, "cv_error": e, "test_error": e} for p, e in entries or [({}, 0.5)]]
        record["layer_errors"] = rng.random(layers).tolist() if "layers" in study.record and layers else None
        record["scan_errors"] = rng.random(study.protocol.scans).tolist() if "scans" in study.record else None
        if study.protocol.window:
            counts = {
                "rows": config.rows,
                "hits": [int(rng.integers(50)) for _ in range(100)],
                "memory": 1000,
            }
            record |= counts | {"last_label": 100, "majority": 200, "confusion": [[3, 1, 0], [1, 2, 0]]}
            record["seconds"]["row"] = 1e-3
        records.append(record)
    done = {(r["dataset"], r["algorithm"], r["split"]): r for r in records}
    frame = pd.DataFrame(
        [
            (
                d.name,
                a.name,
                s,
                *_values(done.get((d.name, a.name, s))),
                study.protocol.name,
                f"{d.name}{a.name}{s}",
            )
            for d, a, s in places
        ],
        columns=list(COLUMNS),
    )
    sources = {config.name: Source("0" * 64, "bundled", False) for config in study.datasets}
    return StudyResult(study, folder, frame, records, pd.DataFrame(), {}, sources=sources, command="mloml")


def _values(record):
    if record is None:
        return np.nan, None, np.nan, "missing"
    return record["error"], json.dumps(record["chosen"]), 0.1, "ok"


@pytest.mark.parametrize("name", FROM_CELLS)
def test_an_artefact_is_written_whatever_is_finished(name, tmp_path, monkeypatch):
    recipe = recipes()[name]
    shares = (1.0, 0.4, 0.0) if name == "table2" else (1.0, 0.0)
    if name != "table2":  # drawing takes most of the time
        monkeypatch.setattr(writing, "write_figure", lambda figure, folder: None)
    for share in shares:
        folder = tmp_path / str(share)
        results = [result_of(recipe, words, folder, share) for words in recipe.variants.values() or ((),)]
        artefact = recipe.build(*results)
        assert writing.publish(artefact, recipe, writing.context_of(recipe, results), folder)
        assert json.loads((folder / writing.DOCUMENT).read_text(encoding="utf-8"))["name"] == name
        for table in artefact.tables:
            assert (folder / f"{table.name}.csv").is_file()
            assert (folder / f"{table.name}.tex").is_file() == (table.latex is not None)
            assert len(table.frame) or table.name == "readings" or share < 1
        for figure in artefact.figures if name == "table2" else ():
            assert (folder / f"{figure.name}.png").is_file() == figure.ready


@pytest.mark.parametrize("name", FROM_CELLS)
def test_a_trial_gives_no_verdicts_and_counts_no_agreement(name, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "write_figure", lambda figure, folder: None)
    recipe = recipes()[name]
    results = [
        result_of(recipe, words, tmp_path, 1.0, full=30) for words in recipe.variants.values() or ((),)
    ]
    context = writing.context_of(recipe, results)
    assert writing.publish(recipe.build(*results), recipe, context, tmp_path) == context["trial"] != ""
    verdicts = {AGREES, LOWER, HIGHER, "smaller", "larger"}
    for path in tmp_path.glob("*.csv"):
        frame = pd.read_csv(path)
        assert not verdicts & {*frame, *frame.astype(str).to_numpy().ravel()}, path.name
        for column in (column for column in frame if column.startswith(("verdict", "same_conclusion"))):
            assert set(frame[column]) == {"trial only"}
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert context["trial"] in page and not re.search("^[|].*[↑↓]", page, re.M)
    assert not verdicts & set(re.findall(r"[|] ([^|]*) (?=[|])", page))  # as headings or entries of a table


def test_a_run_is_a_trial_by_its_protocol_or_by_its_splits(tmp_path):
    table2 = recipes()["table2"]
    for words, trial in ([], False), (["protocol.splits=29"], True), (["protocol=clean"], False):
        result = result_of(table2, words, tmp_path, 0.0, full=30)
        study = compose_study("table2", words)
        context = writing.context_of(table2, [replace(result, study=study)])
        assert bool(context["trial"]) == study.protocol.is_trial == trial
    assert compose_study("table2", ["protocol=lite", "protocol.splits=99"]).protocol.is_trial
