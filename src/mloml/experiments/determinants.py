"""What a cell's result follows from: the one list from which its key is the hash and staleness is explained.

Every field of the cell, its algorithm and its protocol counts, also one that is added tomorrow, unless
:data:`IRRELEVANT` names it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mloml.experiments.cell import Cell

IRRELEVANT = frozenset(
    {
        "features",  # acts through protocol.pca, which data too narrow for PCA do not have
        "algorithm.title",
        "algorithm.note",
        "protocol.name",
        "protocol.splits",  # which splits there are, not what one of them gives
        "protocol.bp_rate",  # this and the next two act through the algorithm's parameters
        "protocol.scale",
        "protocol.moml_cone",
    }
)
"""Fields that change no result."""


def determinants(cell: Cell) -> dict[str, Any]:
    """Return what a cell's result follows from, under the names of its fields; stored with the cell.

    >>> from mloml.config.schema import Algorithm, ProtocolConfig
    >>> from mloml.experiments.cell import Cell
    >>> euclidean = Algorithm("euclidean", "Euclidean", "Euclidean")
    >>> sorted(determinants(Cell("iris", "0" * 64, euclidean, ProtocolConfig(), 0)))
    ['algorithm', 'checksum', 'code', 'dataset', 'protocol', 'record', 'split']
    """
    found = _relevant_fields(cell)
    if cell.too_narrow_for_pca:
        found["protocol"]["pca"] = None
    return found | {"record": cell.recorded, "code": cell.code}


def key_of(content: dict[str, Any]) -> str:
    """Return the hash of determinants, as 64 hexadecimal digits."""
    return KeyMaker(content).key(content["split"])


class KeyMaker:
    """The keys of cells that differ in their split only; what they share is hashed once.

    Parameters
    ----------
    content : dict
        Determinants of any of the cells.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        shared = {name: value for name, value in content.items() if name != "split"}
        canonical = json.dumps(shared, sort_keys=True, separators=(",", ":"), allow_nan=False)
        self._shared = hashlib.sha256(canonical.encode())

    def key(self, split: int) -> str:
        """Return the key of the cell of one split."""
        digest = self._shared.copy()
        digest.update(b" split %d" % split)
        return digest.hexdigest()


def _relevant_fields(thing: Any, prefix: str = "") -> dict[str, Any]:
    found = {}
    for field in dataclasses.fields(thing):
        value, name = getattr(thing, field.name), prefix + field.name
        if name not in IRRELEVANT:
            found[field.name] = (
                _relevant_fields(value, f"{name}.") if dataclasses.is_dataclass(value) else value
            )
    return found
