"""The claim of the paper's text that FP speeds up the convergence of BP."""

from __future__ import annotations

import pandas as pd

from mloml.paper.statistics import median_time
from mloml.report.claims.claim import IN_PART, NOT, REPRODUCED, Answer, Claim

RATES = {
    "bp": "at a fixed rate of BP, read out of the paper's tables,",
    "bp_cv": "with BP's rate chosen by cross-validation",
}


def fp_speeds_up_bp(splits: pd.DataFrame) -> Answer:
    """Count where FBP leads BP after one scan, and how long BP takes to get there."""
    counted = splits[splits["counted"].astype(str) == "True"]
    parts, lower, higher = [], {}, {}
    for rate, words in RATES.items():
        mine = counted[counted["rate"] == rate]
        leads = mine[mine["fbp_first"] < mine["bp_first"]]
        lower[rate], higher[rate] = len(leads), int((mine["fbp_first"] > mine["bp_first"]).sum())
        parts.append(
            f"{words} FBP's error after one scan is lower than BP's in {lower[rate]} and higher in "
            f"{higher[rate]} of {len(mine)} cases{_until(leads, mine[mine['fbp_first'] > mine['bp_first']])}"
        )
    cases = {rate: int((counted["rate"] == rate).sum()) for rate in RATES}
    most = all(2 * lower[rate] > cases[rate] for rate in RATES)
    weaker = IN_PART if lower["bp"] > higher["bp"] else NOT
    return Answer("; ".join(parts), REPRODUCED if most else weaker)


def _until(ahead: pd.DataFrame, behind: pd.DataFrame) -> str:
    """Say when BP reaches what FBP had after one scan, and FBP, where it is behind, what BP had."""
    parts = [
        f"{who} gets there {_when(leads[column], leads['scans'])}"
        for who, leads, column in (("BP", ahead, "level"), ("where BP leads, FBP", behind, "back"))
        if len(leads)
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _when(scan: pd.Series, last: pd.Series) -> str:
    """Return the median scan, in which a lead that is never made up counts as longer than all scans."""
    known = scan.notna()
    median = median_time(scan.where(known, last), known)
    when = "later than the last scan" if median is None else f"in scan {median:g}"
    return f"{when} at the median, never in {int((~known).sum())}"


CLAIMS = (
    Claim(
        "convergence",
        "FP vastly speeds up the convergence of BP",
        "said in the text, nothing shown",
        ("table3/catching_up",),
        fp_speeds_up_bp,
        "reproduced: FBP's error after one scan is lower than BP's in more than half of the cases (a set "
        "under an activation in one split) at both rates of BP; in part: lower more often than higher at the "
        "fixed one",
        "table3/convergence.md",
        "make reproduce-table3",
    ),
)
