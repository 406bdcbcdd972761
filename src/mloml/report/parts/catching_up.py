"""Where FBP leads BP after one scan: how many scans until BP has caught up, if it ever does."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mloml.paper.statistics import median_time
from mloml.report.labels import Labels
from mloml.report.parts.strategies import activations

RATES = {"bp": "BP at the protocol's rate", "bp_cv": "BP with its rate chosen by cross-validation"}
GOALS = {"level": "what FBP had after one scan", "same": "what FBP has after the same scan"}
"""What it means to have caught up."""
BACK = "back"
"""The other way round, as a control: the scan in which FBP has what BP had after one scan."""
COLUMNS = (
    "dataset", "activation", "rate", "split", "fbp_first", "bp_first", "scans", *GOALS, BACK, "counted",
)  # fmt: skip


def catching_up_frame(curves: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Return, for every split, both errors after one scan and the scan in which BP catches up.

    The columns ``level`` and ``same`` (see :data:`GOALS`) are the first scan at which BP's error is no
    higher; empty if there is none among the ``scans`` there are. ``back`` is :data:`BACK`.
    """
    errors = {
        (str(dataset), str(algorithm)): part.pivot(index="split", columns="scan", values="error")  # noqa: PD010
        for (dataset, algorithm), part in curves.groupby(["dataset", "algorithm"], sort=False)
    }
    rows = []
    for base in activations(labels.algorithms):
        for dataset in labels.datasets:
            fbp = errors.get((dataset, f"{base}_fbp"))
            for rate in RATES:
                bp = errors.get((dataset, f"{base}_{rate}"))
                if fbp is None or bp is None:
                    continue
                for split in fbp.index.intersection(bp.index):
                    mine, theirs = fbp.loc[split].to_numpy(), bp.loc[split].to_numpy()
                    scans = [first_scan(theirs <= goal) for goal in (mine[0], mine)]
                    scans.append(first_scan(mine <= theirs[0]))
                    counted = dataset not in labels.uncounted
                    known = (dataset, base, rate, split, mine[0], theirs[0], len(theirs))
                    rows.append((*known, *scans, counted))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def first_scan(reached: NDArray[np.bool_]) -> float | None:
    """Return the first scan, from 1 on, in which something is reached.

    >>> first_scan(np.array([False, True, True])), first_scan(np.array([False]))
    (2.0, None)
    """
    return float(np.argmax(reached) + 1) if reached.any() else None


def catching_up_sentences(frame: pd.DataFrame) -> list[str]:
    """Say at each rate how often FBP leads after one scan, and what becomes of these leads."""
    counted = frame[frame["counted"].astype(bool)]
    sentences = []
    for rate, words in RATES.items():
        mine = counted[counted["rate"] == rate]
        if len(mine):
            sentences.append(f"{words}: {_sentence(mine)}")
    return sentences or ["No dataset has complete curves of BP and FBP yet."]


def _sentence(mine: pd.DataFrame) -> str:
    leads = mine[mine["fbp_first"] < mine["bp_first"]]
    behind = mine[mine["fbp_first"] > mine["bp_first"]]
    pairs = "cases (a dataset under an activation in one split)"
    text = (
        f"after one scan FBP's test error is lower in {len(leads)} of {len(mine)} {pairs}, higher in "
        f"{len(behind)}."
    )
    if len(leads):
        outcomes = (f"to {words}, BP {_outcome(leads, goal)}" for goal, words in GOALS.items())
        text += f" Of these {len(leads)} leads: {'; '.join(outcomes)}."
    if len(behind):
        text += (
            f" The other way round, where BP leads: to what BP had after one scan, FBP "
            f"{_outcome(behind, BACK)}. A lead in one split is partly luck, and is partly made up for that "
            "reason alone."
        )
    return text


def _outcome(leads: pd.DataFrame, goal: str) -> str:
    """Say when a goal is reached at the median, those that never do included, and how many never do."""
    scans, known = leads["scans"], leads[goal].notna()
    never, last = int((~known).sum()), int(scans.max())
    median = median_time(leads[goal].where(known, scans), known)
    when = (
        f"scan {median:g} at the median (those that never do included)"
        if median is not None
        else f"more than {last} scans at the median"
    )
    return f"needs {when}, and in {never} it never comes within {last} scans"
