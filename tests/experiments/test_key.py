"""One list of what a cell follows from: the key is its hash, and what is not named as irrelevant counts."""

import dataclasses
import hashlib
import json
import pickle
from dataclasses import replace

import pytest

from mloml.config.schema import Algorithm, PcaConfig, ProtocolConfig
from mloml.experiments import key as key_module
from mloml.experiments.cell import Cell, cells_of_splits
from mloml.experiments.key import IRRELEVANT, key_fields, key_of

OPML = Algorithm("opml", "OPML", "OPML", params={"gamma": None}, grid={"gamma": [1e-1, 1e-3]})
CELL = Cell("iris", "0" * 64, OPML, ProtocolConfig(), 3, ("scans",))


def with_a_new_field(thing, **changes):
    """Return a copy of a dataclass with a field that its class does not have yet."""
    kind = dataclasses.make_dataclass("Newer", [("invented", int, 1)], bases=(type(thing),), frozen=True)
    values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return kind(**values | changes)


def protocol(**changes):
    return replace(CELL, protocol=replace(CELL.protocol, **changes))


def test_a_new_field_changes_the_key_by_itself_unless_it_is_named_as_irrelevant(monkeypatch):
    newer = replace(CELL, protocol=with_a_new_field(CELL.protocol))
    others = [
        with_a_new_field(CELL),
        replace(CELL, algorithm=with_a_new_field(OPML)),
        protocol(pca=with_a_new_field(PcaConfig())),
        replace(CELL, protocol=with_a_new_field(CELL.protocol, invented=2)),
    ]
    assert len({cell.key for cell in (CELL, newer, *others)}) == 6
    monkeypatch.setattr(key_module, "IRRELEVANT", IRRELEVANT | {"protocol.invented"})
    assert replace(newer).key == CELL.key


def test_every_irrelevant_field_exists_and_changes_no_key():
    other = {
        "features": replace(CELL, features=10_000),
        "algorithm.title": replace(CELL, algorithm=replace(OPML, title="x")),
        "algorithm.note": replace(CELL, algorithm=replace(OPML, note="x")),
        "protocol.name": protocol(name="x"),
        "protocol.splits": protocol(splits=4),
        "protocol.full": protocol(full=4),
        "protocol.trial": protocol(trial=True),
        "protocol.moml_cone": protocol(moml_cone="split"),
        "protocol.bp_rate": protocol(bp_rate=None),
        "protocol.scale": protocol(scale="auto"),
    }
    assert other.keys() == IRRELEVANT
    assert {cell.key for cell in other.values()} == {CELL.key}


def test_key_changes_with_everything_that_the_result_follows_from():
    variants = [
        CELL,
        replace(CELL, dataset="other"),
        replace(CELL, checksum="other"),
        replace(CELL, split=1),
        replace(CELL, record=()),
        replace(CELL, algorithm=replace(OPML, name="b")),
        replace(CELL, algorithm=replace(OPML, params={"gamma": 0.5})),
        replace(CELL, algorithm=replace(OPML, grid={"gamma": [1e-1]})),
        replace(CELL, algorithm=replace(OPML, learner="LEGO")),
        protocol(scans=4),
        protocol(folds=3),
        protocol(neighbours=3),
        protocol(seed=1),
        protocol(rows="standardised"),
        protocol(pca=PcaConfig(centred=True)),
        protocol(stratified=False),
        *(protocol(ties=ties) for ties in ("nearest", "alphabetical")),
        *(protocol(window=window) for window in (500, 1000)),
        protocol(window=1000, length=500),
        protocol(window=1000, refit=100),
    ]
    assert len({cell.key for cell in variants}) == len(variants)


def test_key_changes_with_the_code(monkeypatch):
    monkeypatch.setattr(key_module, "code_hash", lambda learner, root: "other code")
    assert replace(CELL).key != CELL.key


def test_the_key_is_the_hash_of_exactly_these_fields_as_they_are_stored():
    fields = key_fields(CELL)
    assert set(fields["protocol"]) == {
        *("scans", "folds", "neighbours", "seed", "rows", "pca", "stratified", "ties")
    }
    assert set(fields["algorithm"]) == {"name", "learner", "params", "grid"}
    assert fields["protocol"]["pca"] == dataclasses.asdict(PcaConfig())
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    assert CELL.key == hashlib.sha256(text.encode()).hexdigest()
    assert key_of(json.loads(json.dumps(fields))) == CELL.key
    assert pickle.loads(pickle.dumps(CELL)).key == CELL.key


def test_narrow_data_share_their_cells_between_pca_settings():
    paper = replace(CELL, features=4)
    clean = replace(protocol(pca=PcaConfig(fit="train", centred=True)), features=4)
    assert paper.key == clean.key
    for features in (200, 300):
        assert replace(paper, features=features).key != replace(clean, features=features).key


def test_asking_for_what_a_learner_does_not_have_makes_no_new_cell():
    euclidean = replace(CELL, algorithm=Algorithm("euclidean", "Euclidean", "Euclidean"), record=())
    assert replace(euclidean, record=("layers", "scans")).key == euclidean.key
    assert replace(CELL, record=("layers",)).key == replace(CELL, record=()).key
    assert replace(CELL, record=("layers", "scans")).key == CELL.key


def test_cells_of_many_splits_have_the_keys_each_would_have_alone():
    cells = cells_of_splits(CELL, 12)
    assert [cell.split for cell in cells] == list(range(12))
    assert [cell.key for cell in cells] == [replace(CELL, split=i).key for i in range(12)]
    assert len({cell.key for cell in cells}) == 12


def test_a_value_that_is_no_number_has_no_key():
    endless = replace(CELL, algorithm=replace(OPML, params={"gamma": float("nan")}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        _ = endless.key
