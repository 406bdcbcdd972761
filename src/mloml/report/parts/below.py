"""Data sets that a table shows below its rule: which learners help there, held against Euclidean distance."""

from __future__ import annotations

from mloml.paper.statistics import Gain, gain
from mloml.report.document import number
from mloml.report.tables import Results

EUCLIDEAN = "euclidean"


def below_sentences(results: Results) -> list[str]:
    """Say of every data set that is not counted which learners do better or worse than Euclidean distance."""
    labels = results.labels
    complete = set(results.complete[["dataset", "algorithm"]].itertuples(index=False, name=None))
    sentences = []
    for dataset, title in labels.datasets.items():
        names = [name for name in labels.algorithms if (dataset, name) in complete]
        if dataset in labels.uncounted and EUCLIDEAN in names and len(names) > 1:
            plain = results.errors[dataset, EUCLIDEAN]
            gains = {
                labels.algorithms[name]: gain(plain, results.errors[dataset, name])
                for name in names
                if name != EUCLIDEAN
            }
            sentences.append(f"{title}, not counted above: {_against_euclidean(gains)}")
    return sentences


def _against_euclidean(gains: dict[str, Gain]) -> str:
    """Sort methods by the corrected test, and name those that the plain test adds.

    >>> worse = Gain(0.47, 0.69, -0.22, -0.3, -0.14, 0.001, "loss", 0.001, "loss")
    >>> _against_euclidean({"OASIS": worse}).partition("test ")[2]
    'no method has a lower error, 1 of 1 a higher: OASIS .690.'
    """
    found = list(gains.values())
    better, worse = (
        [f"{name} {number(one.after)}" for name, one in gains.items() if one.mark_corrected == mark]
        for mark in ("win", "loss")
    )
    lower = f"{len(better)} of {len(found)} have a lower error: {', '.join(better)}" if better else ""
    higher = f"{len(worse)} of {len(found)} a higher: {', '.join(worse)}" if worse else "none a higher"
    extra = [
        f"{name} {number(one.after)} ({'lower' if one.mark_paired == 'win' else 'higher'})"
        for name, one in gains.items()
        if one.mark_corrected == "tie" and one.mark_paired != "tie"
    ]
    plain = f" The paper's plain test adds {', '.join(extra)}." if extra else ""
    return (
        f"Euclidean distance has {number(found[0].before)}; by the corrected test "
        f"{lower or 'no method has a lower error'}, {higher}.{plain}"
    )
