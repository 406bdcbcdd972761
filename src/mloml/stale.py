"""Why a stored cell no longer counts: what it was computed from, beside what is asked for now."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mloml.store import Store

if TYPE_CHECKING:
    from mloml.evaluation.cell import Cell

NOT_DETERMINING = ("name", "splits", "bp_rate", "moml_cone")
"""Keys of a protocol that change no cell: which splits there are, not what one of them gives."""


def determinants(cell: Cell) -> dict[str, Any]:
    """Return what a cell's result follows from, under the names the config gives it; stored with the cell.

    The key is the hash that decides; this is its readable companion.
    """
    from mloml.fingerprint import fingerprint

    protocol = dataclasses.asdict(cell.protocol)
    return {
        "data": cell.checksum,
        "code": fingerprint(cell.algorithm.learner),
        "learner": cell.algorithm.learner,
        "algorithm": cell.algorithm.params,
        "grid": cell.algorithm.grid,
        "protocol": {name: value for name, value in protocol.items() if name not in NOT_DETERMINING},
        "record": sorted(cell.record),
    }


def stale_lines(store: Store, cells: Iterable[Cell]) -> list[str]:
    """Say, one line per reason, which stored cells cannot be used for these and why.

    Parameters
    ----------
    store : Store
    cells : iterable of Cell
        Those about to be computed.
    """
    reasons: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for cell in cells:
        now = determinants(cell)
        stored = [old.get("determinants", {}) for old in store.siblings(cell)]
        if any(before != now and before | {"record": now["record"]} == now for before in stored):
            continue  # it is as good as ever, and recorded something else
        if stored:
            # The one with the fewest differences explains the most.
            fewest: list[str] = min((differences(before, now) for before in stored), key=len)
            reason = "; ".join(fewest)
            reasons[reason] += 1
            names = examples.setdefault(reason, [])
            name = f"{cell.dataset}/{cell.algorithm.name}"
            if name not in names:
                names.append(name)
    return [
        f"stale: {count} stored cells of {_listing(examples[reason])} are not used: {reason}"
        for reason, count in reasons.items()
    ]


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Name what differs between two cells' determinants.

    >>> differences({"code": "a", "protocol": {"scans": 20}}, {"code": "b", "protocol": {"scans": 5}})
    ['the code that computes them changed', 'protocol.scans was 20, is 5']
    """
    words = {"data": "the data changed", "code": "the code that computes them changed"}
    found = [text for name, text in words.items() if before.get(name) != now.get(name)]
    old, new = _flat(before, skip=words), _flat(now, skip=words)
    changed = (name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name))
    found += [f"{name} was {old.get(name)}, is {new.get(name)}" for name in changed]
    return found or ["something else that determines them changed"]


def _flat(tree: dict[str, Any], skip: Iterable[str] = (), prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            flat |= _flat(value, prefix=f"{prefix}{name}.")
        elif prefix or name not in skip:
            flat[prefix + name] = value
    return flat


def _listing(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
