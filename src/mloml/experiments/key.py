"""What a cell's result follows from: its key is the hash of these fields, and they explain staleness.

Every field of the cell, its algorithm and its protocol counts, also one that is added tomorrow, unless
:data:`IRRELEVANT` names it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from functools import reduce
from typing import TYPE_CHECKING, Any

from mloml.config.lookup import learner_class, recordable
from mloml.experiments.code import HALVES, STREAM, code_hash
from mloml.experiments.preprocessing import needs_pca

if TYPE_CHECKING:
    from mloml.config.schema import ProtocolConfig
    from mloml.experiments.cell import Cell

# Fields that change no result.
IRRELEVANT = frozenset(
    {
        "features",  # acts through protocol.pca, which data too narrow for PCA do not have
        "algorithm.title",
        "algorithm.note",
        "protocol.name",
        "protocol.splits",  # which splits there are, not what one of them gives
        "protocol.full",
        "protocol.trial",
        "protocol.bp_rate",  # this and the next two act through the algorithm's parameters
        "protocol.scale",
        "protocol.moml_cone",
    }
)
# Fields of the protocol that act on streams alone.
ONLY_STREAMS = ("window", "length", "refit")


def key_fields(cell: Cell) -> dict[str, Any]:
    """Return what a cell's result follows from, under the names of its fields; stored with the cell.

    >>> from mloml.config.schema import Algorithm, ProtocolConfig
    >>> from mloml.experiments.cell import Cell
    >>> euclidean = Algorithm("euclidean", "Euclidean", "Euclidean")
    >>> sorted(key_fields(Cell("iris", "0" * 64, euclidean, ProtocolConfig(), 0)))
    ['algorithm', 'checksum', 'code', 'dataset', 'protocol', 'record', 'split']
    """
    fields = dataclasses.asdict(cell)
    for name in IRRELEVANT:
        *parts, last = name.split(".")
        del reduce(dict.__getitem__, parts, fields)[last]
    if cell.protocol.window is None:
        for name in ONLY_STREAMS:
            del fields["protocol"][name]
    if cell.features is not None and not needs_pca(cell.features, cell.protocol.pca):
        fields["protocol"]["pca"] = None
    learner = cell.algorithm.learner
    recorded = sorted(set(cell.record) & recordable(learner_class(learner)))
    return fields | {"record": recorded, "code": code_hash(learner, code_root(cell.protocol))}


def code_root(protocol: ProtocolConfig) -> str:
    """Return the module that computes the cells of a protocol."""
    return HALVES if protocol.window is None else STREAM


def key_of(fields: dict[str, Any]) -> str:
    """Return the hash of a cell's fields, as 64 hexadecimal digits."""
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
