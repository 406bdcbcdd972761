"""Why a stored cell no longer counts: what it was computed from, beside what is asked for now."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mloml.experiments.key import key_fields
from mloml.experiments.store import Store

if TYPE_CHECKING:
    from mloml.experiments.cell import Cell

WORDS = {"checksum": "the data changed", "code": "the code that computes them changed"}
MOST_NAMES = 4


def stale_lines(store: Store, cells: Iterable[Cell]) -> list[str]:
    """Say, one line per reason, which stored cells cannot be used for those about to be computed, and why."""
    places: dict[str, list[str]] = {}
    wanted: dict[tuple[str, str], dict[str, Any]] = {}
    for cell, records in store.siblings(cells):
        if not records:
            continue
        place = cell.dataset, cell.algorithm.name
        if place not in wanted:
            wanted[place] = json.loads(json.dumps(key_fields(cell)))  # as it comes from a file
        stored = [record.get("key_fields", {}) for record in records]
        reason = _reason(stored, wanted[place] | {"split": cell.split})
        if reason:
            places.setdefault(reason, []).append("/".join(place))
    return [_line(found, reason) for reason, found in places.items()]


def _line(places: list[str], reason: str) -> str:
    cells, are = ("cell", "is") if len(places) == 1 else ("cells", "are")
    names = list(dict.fromkeys(places))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    listing = ", ".join(names[:MOST_NAMES]) + more
    return f"stale: {len(places)} stored {cells} of {listing} {are} not used: {reason}"


def _reason(stored: list[dict[str, Any]], now: dict[str, Any]) -> str:
    if any(before | {"record": now["record"]} == now for before in stored):
        return ""  # it is as good as ever and recorded something else
    # The one with the fewest differences explains the most; of several, every split takes the same.
    fewest: list[str] = min((differences(before, now) for before in stored), key=lambda d: (len(d), d))
    return "; ".join(fewest)


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Name what differs between what two cells follow from.

    >>> differences({"code": "a", "protocol": {"scans": 20}}, {"code": "b", "protocol": {"scans": 5}})
    ['the code that computes them changed', 'protocol.scans was 20, is 5']
    """
    if before.keys() != now.keys():
        return ["another version of mloml stored them"]
    found = [text for name, text in WORDS.items() if before.get(name) != now.get(name)]
    old, new = _flat(before), _flat(now)
    for name in sorted((old.keys() | new.keys()) - WORDS.keys()):
        was, is_now = old.get(name, "not there"), new.get(name, "not there")
        if was != is_now:
            found.append(f"{name.replace('algorithm.params.', 'algorithm.')} was {was}, is {is_now}")
    return found


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
