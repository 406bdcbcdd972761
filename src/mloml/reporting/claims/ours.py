"""What the paper does not ask: whether it is the learning that helps, and whether on other data."""

from __future__ import annotations

import pandas as pd

from mloml.reporting.claims.claim import NOT, Answer, Claim, by_share


def gain_is_learned(gains: pd.DataFrame) -> Answer:
    """Count the stacks that beat Euclidean distance, and those among them that beat an untrained one."""
    cases = gains[gains["counted"].astype(str) == "True"]
    better, without, learned, worse = (
        cases[f"{step}_mark_corrected"] == mark
        for step, mark in (("whole", "win"), ("untrained", "win"), ("learning", "win"), ("learning", "loss"))
    )
    text = (
        f"by the corrected test the trained stack beats Euclidean distance in {int(better.sum())} of "
        f"{len(cases)} "
        f"cases (a set under an activation), the untrained one already in {int(without.sum())}; learning "
        "lowers "
        f"the untrained stack's error in {int(learned.sum())} and raises it in {int(worse.sum())}"
    )
    both = int((better & learned).sum())
    return Answer(text, by_share(both, int(better.sum())) if better.any() else NOT)


CLAIMS = (
    Claim(
        "learned",
        "What a stack gains over Euclidean distance is learned",
        "taken for granted; no untrained control",
        ("untrained/gains",),
        gain_is_learned,
        "of the cases where the trained stack beats Euclidean distance, those in which it beats the "
        "untrained one "
        "too; reproduced: at least 90 %; in part: more than half",
        "untrained/untrained.md",
        "make reproduce-untrained",
    ),
)
