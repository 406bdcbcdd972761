"""What figures 5, 7 and 8 show, in words: from the first layer or scan to the last, and against others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from mloml.analysis.statistics import corrected_t, outcome, paired_t
from mloml.reporting.document import number

WORDS = {"win": "lower on", "loss": "higher on", "tie": "no clear difference on"}
TESTS = {"paired": paired_t, "corrected": corrected_t}


@dataclass(frozen=True)
class Change:
    """Errors of the same splits before and after; an outcome speaks of the latter: a win is a lower error."""

    dataset: str
    before: pd.Series
    after: pd.Series

    def outcome(self, test: str = "paired") -> str:
        """Return win, tie or loss at the 5 % level."""
        result = TESTS[test](self.before, self.after)
        return outcome(result.difference, result.p_value)

    def __str__(self) -> str:
        if self.outcome() == "tie":
            return self.dataset
        return f"{self.dataset} ({number(self.before.mean())} → {number(self.after.mean())})"


def curve_findings(
    frame: pd.DataFrame,
    along: str,
    datasets: Mapping[str, str],
    algorithms: Mapping[str, str],
    against: Mapping[str, str],
    splits: int,
) -> tuple[str, list[str]]:
    """Say where a curve's end lies below its beginning, and below the method it is compared with.

    Parameters
    ----------
    frame : one row per split and point, see :func:`mloml.reporting.figures.curves.curve_frame`.
    along : "layer" or "scan".
    datasets, algorithms : mapping from name to printed title.
    against : for a curve, the method whose end its own end is compared with.
    splits : how many splits a complete method has; others are left out.

    Returns
    -------
    headline : counts of datasets, from the first point of each curve to its last.
    sentences : the same by name, and the comparisons with other methods.

    Examples
    --------
    >>> rows = [("iris", "deep", split, layer, error + split / 100)
    ...         for split in range(3) for layer, error in ((1, 0.3), (2, 0.1))]
    >>> frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "layer", "error"])
    >>> headline, sentences = curve_findings(frame, "layer", {"iris": "iris"}, {"deep": "Deep"}, {}, 3)
    >>> headline
    'From layer 1 to the last, Deep: error lower on 1, higher on 0, no clear difference on 0 of 1 datasets.'
    >>> sentences[0].split(" (paired")[0]
    'Deep, from layer 1 to layer 2: lower on iris (.310 → .110)'
    """
    counts, sentences = [], []
    errors = _complete(frame, along, splits)
    for algorithm, title in algorithms.items():
        found = {name: errors[name, algorithm] for name in datasets if (name, algorithm) in errors}
        curves = {name: curve for name, curve in found.items() if len(curve.columns) > 1}
        if not curves:
            continue
        last = max(next(iter(curves.values())).columns)
        own = [Change(datasets[name], curve[1], curve[last]) for name, curve in curves.items()]
        counts.append(f"{title}: error {_counts(own)} of {len(own)} datasets")
        sentences.append(_sentence(f"{title}, from {along} 1 to {along} {last}", own))
        other = against.get(algorithm, "")
        rivals = [
            Change(datasets[name], errors[name, other].iloc[:, -1], curve[last])
            for name, curve in curves.items()
            if (name, other) in errors
        ]
        if rivals:
            sentences.append(_sentence(f"{title}, {along} {last}, against {algorithms[other]}", rivals))
    if not counts:
        return "No curve is complete yet.", []
    return f"From {along} 1 to the last, {'; '.join(counts)}.", sentences


def _complete(frame: pd.DataFrame, along: str, splits: int) -> dict[tuple[str, str], pd.DataFrame]:
    """Return, by dataset and algorithm, the errors of each split (rows) at each point (columns)."""
    found = {}
    for (dataset, algorithm), part in frame.groupby(["dataset", "algorithm"], sort=False):
        errors = part.pivot(index="split", columns=along, values="error")  # noqa: PD010
        if len(errors) == splits:
            found[str(dataset), str(algorithm)] = errors
    return found


def _counts(changes: list[Change]) -> str:
    found = [change.outcome() for change in changes]
    return ", ".join(f"{words} {found.count(mark)}" for mark, words in WORDS.items())


def _sentence(what: str, changes: list[Change]) -> str:
    parts = [
        f"{words} {', '.join(str(c) for c in changes if c.outcome() == mark)}"
        for mark, words in WORDS.items()
        if any(c.outcome() == mark for c in changes)
    ]
    marked = [c for c in changes if c.outcome() != "tie"]
    kept = sum(c.outcome("corrected") == c.outcome() for c in marked)
    stricter = f"; {kept} of {len(marked)} also by the corrected test" if marked else ""
    return f"{what}: {'; '.join(parts)} (paired t-test, 5 %{stricter})."
