"""Claims of Tables II and III: error rates, and who beats whom."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import pandas as pd

from mloml import paper
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.paper.published import ACCIDENTS
from mloml.paper.readings import UNSEEN, look_of
from mloml.paper.statistics.compare import OUTCOMES, win_tie_loss
from mloml.report.claims.claim import (
    BY_SHARE,
    IN_PART,
    NOT,
    REPRODUCED,
    UNTESTED,
    Answer,
    Claim,
    by_share,
    counted,
)
from mloml.report.parts.gains import signed

OWN = ("moml", "mloml_t", "mloml_s", "mloml_r")
OTHERS = (
    "euclidean", "lmnn", "kissme", "lmdml", "mlcc", "rdml", "lego", "oasis", "opml", "slmoml",
)  # fmt: skip
RECONSTRUCTIONS = ("mlcc", "slmoml")
BP, FBP = (tuple(f"mloml_{a}_{strategy}" for a in "rst") for strategy in ("bp", "fbp"))

WINS_RULE = (
    "reproduced: more than half of the wins that the paper counts are wins by the corrected test too; in "
    "part: "
    "more wins than losses by the paper's test"
)


def errors(comparison: pd.DataFrame, algorithms: Collection[str]) -> Answer:
    """Count the cells of some columns whose means agree with the paper's."""
    cells = comparison[comparison["algorithm"].isin(list(algorithms))]
    agree, lower, higher = (int((cells["verdict"] == word).sum()) for word in (AGREES, LOWER, HIGHER))
    sets = counted(cells["dataset"].nunique(), "set")
    text = f"{agree} of {len(cells)} cells agree on {sets} (Welch, 5 %); "
    text += f"ours is lower in {lower}, higher in {higher}"
    rebuilt = cells[cells["algorithm"].isin(RECONSTRUCTIONS)]
    if len(rebuilt):
        text += f"; of the {len(rebuilt)} cells of SLMOML and ML-CC, which are reconstructions, "
        text += f"{int((rebuilt['verdict'] == AGREES).sum())} agree"
    return Answer(text + _known_before(cells), by_share(agree, len(cells)))


def _known_before(cells: pd.DataFrame) -> str:
    """Say how many of the cells had been looked at when the paper's open questions were settled."""
    places = zip(cells["dataset"], cells["algorithm"], strict=True)
    new = [look_of(paper.paper_row(dataset) or "", algorithm) == UNSEEN for dataset, algorithm in places]
    others = f"; of the other {sum(new)}, {int((cells.loc[new, 'verdict'] == AGREES).sum())} agree"
    return (
        f"; {len(cells) - sum(new)} of the {len(cells)} had been looked at in settling what the paper leaves "
        f"open{others if any(new) else ''}"
    )


def beats_others(comparison: pd.DataFrame, tests: pd.DataFrame) -> Answer:
    """Count win/tie/loss of MLOML-r: as published on the same cells, ours, and ours by the corrected test."""
    cells = _marks(comparison, tests)
    answer = _against(cells, "")
    rest = cells[~cells["dataset"].isin(list(ACCIDENTS.values()))]
    if len(rest) in (0, len(cells)):
        return answer
    without = " and ".join(win_tie_loss(rest[mark]) for mark in ("mark_paired", "mark_corrected"))
    mixed_up = "the sets whose labels and features the paper mixed up (spect*, mlprove*)"
    return Answer(f"{answer.ours}; without {mixed_up}: {without}", answer.verdict, answer.paper)


def beats_bp(comparison: pd.DataFrame, tests: pd.DataFrame) -> Answer:
    """Count win/tie/loss of FP against BP at the fixed rate, and at one chosen by cross-validation."""
    fixed = _marks(comparison[comparison["algorithm"].isin(BP)], tests)
    chosen = _marks(
        comparison[comparison["algorithm"].isin(BP)].assign(algorithm=lambda c: c["algorithm"] + "_cv"), tests
    )
    answer = _against(fixed, "at a fixed rate of BP, read out of the paper's tables, ")
    if chosen.empty:
        return answer
    plain, corrected = (win_tie_loss(chosen[mark]) for mark in ("mark_paired", "mark_corrected"))
    text = (
        f"{answer.ours}; with BP's rate chosen by cross-validation {plain}, corrected {corrected} "
        f"({_wins_kept(chosen)})"
    )
    both = answer.verdict == REPRODUCED and _kept(chosen)
    weaker = IN_PART if answer.verdict == REPRODUCED else answer.verdict
    return Answer(text, REPRODUCED if both else weaker, answer.paper)


def ties_with_fbp(comparison: pd.DataFrame, tests: pd.DataFrame) -> Answer:
    """Count how often FP against FBP ends as in the paper."""
    cells = _marks(comparison[comparison["algorithm"].isin(FBP)], tests)
    same = int((cells["paper_mark"] == cells["mark_paired"]).sum())
    text = (
        f"{win_tie_loss(cells['mark_paired'])} by the paper's test, {win_tie_loss(cells['mark_corrected'])} "
        f"corrected; {same} of {len(cells)} conclusions are the paper's"
    )
    if len(cells):  # a tie alone shows no equality
        low, high = (signed(float(end)) for end in (cells["difference"].min(), cells["difference"].max()))
        text += f"; FBP's mean error less FP's lies between {low} and {high}"
    return Answer(text, by_share(same, len(cells)), _printed(cells))


def _marks(comparison: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons that the paper has, with its mark and ours by both tests."""
    known = comparison.loc[comparison["paper_mark"].isin(OUTCOMES), ["dataset", "algorithm", "paper_mark"]]
    ours = tests[["dataset", "algorithm", "mark_paired", "mark_corrected", "difference"]]
    return known.merge(ours, on=["dataset", "algorithm"], how="inner", validate="one_to_one")


def _against(cells: pd.DataFrame, when: str) -> Answer:
    plain, corrected = (win_tie_loss(cells[mark]) for mark in ("mark_paired", "mark_corrected"))
    same = int((cells["paper_mark"] == cells["mark_paired"]).sum())
    text = (
        f"{when}{plain} by the paper's test, {corrected} by the corrected one ({_wins_kept(cells)}); {same} "
        f"of {len(cells)} conclusions are the paper's"
    )
    wins, losses = (int((cells["mark_paired"] == mark).sum()) for mark in ("win", "loss"))
    weaker = UNTESTED if cells.empty else IN_PART if wins > losses else NOT
    return Answer(text, REPRODUCED if _kept(cells) else weaker, _printed(cells))


def _kept(cells: pd.DataFrame) -> bool:
    """Tell whether more than half of the paper's wins are wins by the corrected test."""
    kept, theirs = _wins(cells)
    return 2 * kept > theirs


def _wins(cells: pd.DataFrame) -> tuple[int, int]:
    """Count the paper's wins that are wins by the corrected test, and all of the paper's wins."""
    theirs = cells[cells["paper_mark"] == "win"]
    return int((theirs["mark_corrected"] == "win").sum()), len(theirs)


def _wins_kept(cells: pd.DataFrame) -> str:
    return "{} of the paper's {} wins".format(*_wins(cells))


def _printed(cells: pd.DataFrame) -> str:
    return f"win/tie/loss {win_tie_loss(cells['paper_mark'])} on these {len(cells)} comparisons"


def _total(counts: pd.DataFrame, algorithms: Collection[str]) -> str:
    """Return the paper's own win/tie/loss over all of its sets."""
    mine = counts[counts["algorithm"].isin(list(algorithms))]
    return f"win/tie/loss {'/'.join(str(mine[name].sum()) for name in OUTCOMES)} over 12 sets"


# What a person looks at, and the command that makes it.
TABLE2 = ("table2/paper_comparison.md", "make reproduce-table2")
TABLE3 = ("table3/paper_comparison.md", "make reproduce-table3")

CLAIMS = (
    Claim(
        "errors_own",
        "Table II: the error rates of MOML and MLOML-t, -s, -r",
        "means over 30 random halves on 12 sets",
        ("table2/paper_comparison",),
        partial(errors, algorithms=OWN),
        f"cells that agree; {BY_SHARE}",
        *TABLE2,
    ),
    Claim(
        "errors_others",
        "Table II: the error rates of the ten other methods",
        "means over 30 random halves on 12 sets",
        ("table2/paper_comparison",),
        partial(errors, algorithms=OTHERS),
        f"cells that agree; {BY_SHARE}",
        *TABLE2,
    ),
    Claim(
        "mloml_wins",
        "Table II: MLOML-r is significantly better than the 13 others",
        _total(paper.table2_counts(), (*OTHERS, *OWN)),
        ("table2/paper_comparison", "table2/tests"),
        beats_others,
        WINS_RULE,
        *TABLE2,
    ),
    Claim(
        "errors_propagation",
        "Table III: the error rates of BP and FBP",
        "means over 30 random halves on 12 sets",
        ("table3/paper_comparison",),
        partial(errors, algorithms=(*BP, *FBP)),
        f"cells that agree (FP's are Table II's and not counted again); {BY_SHARE}",
        *TABLE3,
    ),
    Claim(
        "fp_beats_bp",
        "Table III: forward propagation (FP) beats backward propagation (BP)",
        _total(paper.table3_counts(), BP),
        ("table3/paper_comparison", "table3/tests"),
        beats_bp,
        f"{WINS_RULE}; for reproduced, at a chosen rate of BP as well",
        "table3/bp_rate.md",
        TABLE3[1],
    ),
    Claim(
        "fp_ties_fbp",
        "Table III: FP does as well as both together (FBP), or nearly",
        _total(paper.table3_counts(), FBP),
        ("table3/paper_comparison", "table3/tests"),
        ties_with_fbp,
        f"equal conclusions by the paper's test; {BY_SHARE}",
        *TABLE3,
    ),
)
