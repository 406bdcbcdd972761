"""Why a stored cell no longer counts: what it was computed from, beside what is asked for now."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mloml.experiments.determinants import determinants
from mloml.experiments.store import Store

if TYPE_CHECKING:
    from mloml.experiments.cell import Cell

Determinants = dict[str, Any]

ABSENT = "not there"


def stale_lines(store: Store, cells: Iterable[Cell]) -> list[str]:
    """Say, one line per reason, which stored cells cannot be used for these and why.

    Parameters
    ----------
    store : Store
    cells : iterable of Cell
        Those about to be computed.
    """
    cells = list(cells)
    wanted = _Wanted()
    reasons: Counter[str] = Counter()
    examples: dict[str, dict[str, None]] = {}
    for cell, records in store.siblings(cells):
        reason = wanted.reason(cell, [record.get("determinants", {}) for record in records])
        if reason:
            reasons[reason] += 1
            examples.setdefault(reason, {})[f"{cell.dataset}/{cell.algorithm.name}"] = None
    return [_line(count, list(examples[reason]), reason) for reason, count in reasons.items()]


def _line(count: int, places: list[str], reason: str) -> str:
    cells, are = ("cell", "is") if count == 1 else ("cells", "are")
    return f"stale: {count} stored {cells} of {_listing(places)} {are} not used: {reason}"


class _Wanted:
    """What is asked for now; cells that differ in their split only are looked at once."""

    def __init__(self) -> None:
        self._now: dict[tuple[object, ...], Determinants] = {}
        self._reasons: dict[tuple[object, ...], str] = {}

    def reason(self, cell: Cell, stored: list[Determinants]) -> str:
        """Say why none of the stored ones can be used; nothing when there is none, or one just as good."""
        if not stored:
            return ""
        # Identities are enough and quick: the caller keeps the cells, so nothing takes their place.
        group = cell.dataset, cell.checksum, id(cell.algorithm), id(cell.protocol), id(cell.record)
        known = group, json.dumps([before | {"split": 0} for before in stored], sort_keys=True)
        if known not in self._reasons:
            if group not in self._now:
                self._now[group] = json.loads(json.dumps(determinants(cell)))  # as it comes from a file
            self._reasons[known] = _reason(stored, self._now[group] | {"split": cell.split})
        return self._reasons[known]


def _reason(stored: list[Determinants], now: Determinants) -> str:
    if any(before | {"record": now["record"]} == now for before in stored):
        return ""  # it is as good as ever and recorded something else
    # The one with the fewest differences explains the most; of several, every split takes the same.
    fewest: list[str] = min((differences(before, now) for before in stored), key=lambda d: (len(d), d))
    return "; ".join(fewest)


def differences(before: Determinants, now: Determinants) -> list[str]:
    """Name what differs between two cells' determinants.

    >>> differences({"code": "a", "protocol": {"scans": 20}}, {"code": "b", "protocol": {"scans": 5}})
    ['the code that computes them changed', 'protocol.scans was 20, is 5']
    """
    if before.keys() != now.keys():
        return ["another version of mloml stored them"]
    words = {"checksum": "the data changed", "code": "the code that computes them changed"}
    found = [text for name, text in words.items() if before.get(name) != now.get(name)]
    old, new = _flat(before, skip=words), _flat(now, skip=words)
    for name in sorted(old.keys() | new.keys()):
        was, is_now = old.get(name, ABSENT), new.get(name, ABSENT)
        if was != is_now:
            found.append(f"{name.replace('algorithm.params.', 'algorithm.')} was {was}, is {is_now}")
    return found


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
