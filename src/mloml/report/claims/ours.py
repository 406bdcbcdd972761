"""What the paper does not ask: whether it is the learning that helps, and whether on other data."""

from __future__ import annotations

import pandas as pd

from mloml.report.claims.claim import BY_SHARE, NOT, UNTESTED, Answer, Claim, by_share
from mloml.report.parts.beyond.side import SCALINGS

STACKS = ("mloml_t", "mloml_s", "mloml_r")


def gain_is_learned(gains: pd.DataFrame) -> Answer:
    """Count the stacks that beat Euclidean distance, and those among them that beat an untrained one."""
    cases = gains[gains["counted"].astype(str) == "True"]
    better, without, lost, learned, worse = (
        cases[f"{step}_mark_corrected"] == mark
        for step, mark in (
            ("whole", "win"), ("untrained", "win"), ("untrained", "loss"), ("learning", "win"),
            ("learning", "loss"),
        )
    )  # fmt: skip
    both = int((better & learned).sum())
    text = (
        f"by the corrected test the trained stack beats Euclidean distance in {int(better.sum())} of "
        f"{len(cases)} cases (a set under an activation), and in {both} of these the untrained stack too; "
        f"the untrained one beats Euclidean distance in {int(without.sum())} and loses in {int(lost.sum())}; "
        f"learning lowers the untrained stack's error in {int(learned.sum())} and raises it in "
        f"{int(worse.sum())}"
    )
    none = UNTESTED if cases.empty else NOT
    return Answer(text, by_share(both, int(better.sum())) if better.any() else none)


def seed_does_not_matter(both: pd.DataFrame) -> Answer:
    """Count the conclusions and the agreements with the paper that are the same from another seed."""
    known = both[(both["our_mark"] != "") & (both["our_mark_2"] != "")]
    same = int((known["our_mark"] == known["our_mark_2"]).sum())
    strict = int((known["our_mark_corrected"] == known["our_mark_corrected_2"]).sum())
    agreed = int((both["verdict"] == both["verdict_2"]).sum())
    text = (
        f"with other halves {same} of {len(known)} conclusions on MLOML-r stay by the paper's test "
        f"({_kept(known, 'our_mark')}) and {strict} by the corrected one "
        f"({_kept(known, 'our_mark_corrected')}); {agreed} of {len(both)} verdicts on agreement with the "
        "paper stay"
    )
    return Answer(text, by_share(same, len(known)))


def _kept(known: pd.DataFrame, mark: str) -> str:
    """Leave the ties out: they are many, and stay easily."""
    found = known[known[mark] != "tie"]
    return f"{int((found[mark] == found[f'{mark}_2']).sum())} of {len(found)} that are no tie"


def beats_rivals_elsewhere(over_sets: pd.DataFrame) -> Answer:
    """Count the pairs in which a stack's errors are smaller than MOML's, OPML's or LMNN's over the sets."""
    return _over_sets(over_sets[over_sets["test"].isin(["layers", "rivals"])])


def beats_euclidean_elsewhere(over_sets: pd.DataFrame) -> Answer:
    """Count the stacks whose errors are smaller than those of Euclidean distance over the sets."""
    against = over_sets[(over_sets["test"] == "euclidean") & over_sets["algorithm"].isin(STACKS)]
    learned = over_sets[over_sets["test"] == "untrained"]
    answer = _over_sets(against)
    return Answer(
        f"{answer.ours}; against the same stacks untrained: {_over_sets(learned).ours}", answer.verdict
    )


def _over_sets(pairs: pd.DataFrame) -> Answer:
    """Count smaller and larger errors by study: Wilcoxon's test over the sets with Holm's correction."""
    if pairs.empty:
        return Answer("not compared", UNTESTED)
    parts = []
    for study, part in pairs.groupby("study", sort=False):
        smaller, larger = (int((part["verdict"] == word).sum()) for word in ("smaller", "larger"))
        parts.append(
            f"on {SCALINGS[str(study)]}: smaller in {smaller} and larger in {larger} of {len(part)} pairs"
        )
    least, most = int(pairs["sets"].min()), int(pairs["sets"].max())
    sets = f"{most}" if least == most else f"{least} to {most}"
    text = f"{'; '.join(parts)} (Wilcoxon's test over the means of {sets} sets, Holm's correction)"
    return Answer(text, by_share(int((pairs["verdict"] == "smaller").sum()), len(pairs)))


OVER_SETS_RULE = (
    "pairs in which errors are significantly smaller over the sets (by tests that `docs/beyond.md` fixed "
    "before any result, Holm's correction within each); reproduced: at least 90 %; in part: more than half"
)
SHOWS, COMMAND = "beyond/beyond.md", "make reproduce-beyond"

CLAIMS = (
    Claim(
        "seed",
        "The conclusions of Table II do not hang on the random halves",
        "means over 30 random halves",
        ("seeds/both",),
        seed_does_not_matter,
        f"equal conclusions by the paper's test from two seeds; {BY_SHARE}",
        "seeds/seeds.md",
        "make reproduce-seeds",
        added=True,
    ),
    Claim(
        "learned",
        "What a stack gains over Euclidean distance is learned",
        "no untrained control",
        ("untrained/gains",),
        gain_is_learned,
        "of the cases where the trained stack beats Euclidean distance, those in which it beats the "
        "untrained one "
        "too; reproduced: at least 90 %; in part: more than half",
        "untrained/untrained.md",
        "make reproduce-untrained",
        added=True,
    ),
    Claim(
        "rivals_elsewhere",
        "On other data, too, MLOML has smaller errors than MOML, OPML and LMNN",
        "no other data; shown on 12 sets",
        ("beyond/over_sets",),
        beats_rivals_elsewhere,
        OVER_SETS_RULE,
        SHOWS,
        COMMAND,
        added=True,
    ),
    Claim(
        "euclidean_elsewhere",
        "On other data, too, MLOML has smaller errors than Euclidean distance",
        "no other data; shown on 12 sets",
        ("beyond/over_sets",),
        beats_euclidean_elsewhere,
        OVER_SETS_RULE,
        SHOWS,
        COMMAND,
        added=True,
    ),
)
