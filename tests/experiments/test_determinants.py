"""One list of what a cell follows from: the key is its hash, and what is not named as irrelevant counts."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import pytest

from mloml.config.schema import Algorithm, PcaConfig, ProtocolConfig
from mloml.experiments import determinants as determinants_module
from mloml.experiments.cell import Cell, cells_of_splits
from mloml.experiments.determinants import IRRELEVANT, determinants, key_of

OPML = Algorithm("opml", "OPML", "OPML", params={"gamma": None}, grid={"gamma": [1e-1, 1e-3]})
CELL = Cell("iris", "0" * 64, OPML, ProtocolConfig(), 3, ("scans",))


def with_a_new_field(thing, **changes):
    """Return a copy of a dataclass with a field that its class does not have yet."""
    kind = dataclasses.make_dataclass("Newer", [("invented", int, 1)], bases=(type(thing),), frozen=True)
    values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return kind(**values | changes)


NEWER = {
    "cell": with_a_new_field(CELL),
    "algorithm": dataclasses.replace(CELL, algorithm=with_a_new_field(OPML)),
    "protocol": dataclasses.replace(CELL, protocol=with_a_new_field(CELL.protocol)),
    "pca": dataclasses.replace(
        CELL, protocol=dataclasses.replace(CELL.protocol, pca=with_a_new_field(PcaConfig()))
    ),
}


@pytest.mark.parametrize("place", NEWER)
def test_a_new_field_changes_the_key_by_itself(place):
    assert NEWER[place].key != CELL.key


def test_a_new_value_of_a_new_field_changes_the_key_again():
    protocols = [with_a_new_field(CELL.protocol, invented=value) for value in (1, 2)]
    one, two = (dataclasses.replace(CELL, protocol=protocol) for protocol in protocols)
    assert one.key != two.key
    assert determinants(one)["protocol"]["invented"] == 1


def test_a_field_that_is_named_as_irrelevant_does_not_count(monkeypatch):
    monkeypatch.setattr(determinants_module, "IRRELEVANT", IRRELEVANT | {"protocol.invented"})
    assert dataclasses.replace(NEWER["protocol"]).key == CELL.key
    assert NEWER["algorithm"].key != CELL.key


def test_every_irrelevant_field_exists_and_changes_no_key():
    other = {
        "features": dataclasses.replace(CELL, features=10_000),
        "algorithm.title": dataclasses.replace(CELL, algorithm=dataclasses.replace(OPML, title="x")),
        "algorithm.note": dataclasses.replace(CELL, algorithm=dataclasses.replace(OPML, note="x")),
        "protocol.name": dataclasses.replace(CELL, protocol=ProtocolConfig(name="x")),
        "protocol.splits": dataclasses.replace(CELL, protocol=ProtocolConfig(splits=4)),
        "protocol.moml_cone": dataclasses.replace(CELL, protocol=ProtocolConfig(moml_cone="split")),
        "protocol.bp_rate": dataclasses.replace(CELL, protocol=ProtocolConfig(bp_rate=None)),
        "protocol.scale": dataclasses.replace(CELL, protocol=ProtocolConfig(scale="auto")),
    }
    assert other.keys() == IRRELEVANT
    assert {cell.key for cell in other.values()} == {CELL.key}


def test_every_other_field_is_among_the_determinants():
    found = determinants(CELL)
    assert set(found["protocol"]) == {"scans", "folds", "neighbours", "seed", "rows", "pca"}
    assert set(found["algorithm"]) == {"name", "learner", "params", "grid"}
    assert set(found["protocol"]["pca"]) == {field.name for field in dataclasses.fields(PcaConfig)}
    assert found["protocol"]["pca"] == dataclasses.asdict(PcaConfig())


def test_the_key_is_the_hash_of_exactly_the_determinants():
    content = determinants(CELL)
    split = content.pop("split")
    text = json.dumps(content, sort_keys=True, separators=(",", ":")) + f" split {split}"
    assert CELL.key == hashlib.sha256(text.encode()).hexdigest()


def test_the_key_follows_from_what_is_stored_with_the_cell():
    assert key_of(json.loads(json.dumps(determinants(CELL)))) == CELL.key


def test_cells_of_many_splits_have_the_keys_each_would_have_alone():
    cells = cells_of_splits(CELL, 12)
    assert [cell.split for cell in cells] == list(range(12))
    assert [cell.key for cell in cells] == [dataclasses.replace(CELL, split=i).key for i in range(12)]
    assert len({cell.key for cell in cells}) == 12


def test_a_value_that_is_no_number_has_no_key():
    endless = dataclasses.replace(CELL, algorithm=dataclasses.replace(OPML, params={"gamma": float("nan")}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        _ = endless.key
