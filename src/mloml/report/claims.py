"""The paper's claims, judged: numbers and verdicts by a rule for each; their words are in ``claims.yaml``."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from mloml import paper
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.paper.interpretations import UNSEEN, look_of
from mloml.paper.published import ACCIDENTS
from mloml.paper.statistics import OUTCOMES, median_time
from mloml.report.document import TRIAL_ONLY

REPRODUCED, IN_PART, NOT = "reproduced", "reproduced in part", "not reproduced"
FALSE, UNTESTED = "false", "not tested"
# The only words a verdict may be: false is for theorems, not tested for what has not been run.
VERDICTS = (REPRODUCED, IN_PART, NOT, FALSE, UNTESTED, TRIAL_ONLY)

OWN = ("moml", "mloml_t", "mloml_s", "mloml_r")
OTHERS = ("euclidean", "lmnn", "kissme", "lmdml", "mlcc", "rdml", "lego", "oasis", "opml", "slmoml")
RECONSTRUCTIONS = ("mlcc", "slmoml")
BP, FBP = (tuple(f"mloml_{a}_{strategy}" for a in "rst") for strategy in ("bp", "fbp"))
DEEP = "mloml_r_5"
# What Figure 8 compares each stack with: RDML from the identity, where its layers start.
SHALLOW = {"rdml": "rdml_identity", "lego": "lego", "opml": "opml"}
FIGURE6 = ("balance", "ionosphere", "iris", "mlprove_paper")
LEVEL, ROUNDING = 0.05, 1e-10
NOTICEABLE = 0.01  # share by which a ratio of distances must fall to count
# Largest exponent of time against features that still counts as quadratic (timings scatter, and matrices that
# no longer fit into a cache take longer), and from which on it is nearer to cubic.
QUADRATIC, NEARER_TO_CUBIC = 2.2, 2.5

Numbers = dict[str, Any]
# A verdict, and the numbers it follows from, by the names that ``claims.yaml`` prints.
Judged = tuple[str, Numbers]


@dataclass(frozen=True)
class Claim:
    """One row of the claim table.

    Parameters
    ----------
    name, short, claim, paper : str
        What is claimed, in at most eight words and in full, and what the paper reports for it.
    tables : list of str
        ``artefact/table``: the CSV files that ``judge`` gets, in this order; the first is linked.
    measured : str
        What was measured, with names of numbers in braces.
    rule : str
        How the verdict is decided, in words: what ``judge`` does.
    shows, command : str
        The file to look at, and what makes it.
    judge : callable
        From these frames to verdict and numbers. A pure function.
    added : bool
        A question that the paper does not ask; counted apart from its claims.
    """

    name: str
    short: str
    claim: str
    paper: str
    tables: list[str]
    measured: str
    rule: str
    shows: str
    command: str
    judge: Callable[..., Judged]
    added: bool = False

    def answer(self, frames: Sequence[pd.DataFrame | None]) -> tuple[str, str]:
        """Return what was measured and the verdict; without the numbers, the command that makes them."""
        if any(frame is None or frame.empty for frame in frames):
            return f"not run yet: `{self.command}`", UNTESTED
        try:
            verdict, numbers = self.judge(*frames)
        except KeyError as error:
            return f"{self.tables[0]}.csv has no {error}; run again: `{self.command}`", UNTESTED
        return self.measured.format(**numbers), verdict


class Counts(NamedTuple):
    """Wins, ties and losses; or how often an error is lower, not different and higher."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return "/".join(map(str, self))


def count(words: pd.Series, win: object = "win", loss: object = "loss") -> Counts:
    """Count words; what is neither a win nor a loss is a tie.

    >>> str(count(pd.Series(["win", "tie", "win"])))
    '2/1/0'
    """
    wins, losses = int((words == win).sum()), int((words == loss).sum())
    return Counts(wins, len(words) - wins - losses, losses)


def span(values: pd.Series) -> tuple[Any, Any]:
    """Return the smallest and the largest value."""
    return values.min(), values.max()


def by_share(part: int, whole: int) -> str:
    """Return the verdict on "so many of so many": nearly all (one test in twenty errs), most, or fewer.

    >>> by_share(45, 50), by_share(26, 50), by_share(25, 50), by_share(0, 0)
    ('reproduced', 'reproduced in part', 'not reproduced', 'not tested')
    """
    if not whole:
        return UNTESTED
    return REPRODUCED if part >= 0.9 * whole else IN_PART if part > 0.5 * whole else NOT


def errors(algorithms: Collection[str], comparison: pd.DataFrame) -> Judged:
    """Count the entries that agree with the paper, and those that no interpretation was chosen by."""
    cells = comparison[comparison["algorithm"].isin(list(algorithms))]
    agrees, rebuilt = cells["verdict"] == AGREES, cells["algorithm"].isin(RECONSTRUCTIONS)
    places = zip(cells["dataset"], cells["algorithm"], strict=True)
    new = np.array([look_of(paper.paper_row(row) or "", name) == UNSEEN for row, name in places], dtype=bool)
    return by_share(agrees.sum(), len(cells)), {
        "cells": len(cells), "sets": cells["dataset"].nunique(), "agree": agrees.sum(),
        "lower": (cells["verdict"] == LOWER).sum(), "higher": (cells["verdict"] == HIGHER).sum(),
        "seen": (~new).sum(), "new": new.sum(), "new_agree": agrees[new].sum(),
        "rebuilt": rebuilt.sum(), "rebuilt_agree": agrees[rebuilt].sum(),
    }  # fmt: skip


def conclusions(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count win/tie/loss where the paper has a mark; judge by its wins that the corrected test keeps."""
    known = comparison.loc[comparison["paper_mark"].isin(OUTCOMES), ["dataset", "algorithm", "paper_mark"]]
    ours = tests[["dataset", "algorithm", "mark_paired", "mark_corrected", "difference"]]
    cells = known.merge(ours, on=["dataset", "algorithm"], validate="one_to_one")
    won, plain = cells[cells["paper_mark"] == "win"], count(cells["mark_paired"])
    kept = (won["mark_corrected"] == "win").sum()
    weaker = UNTESTED if cells.empty else IN_PART if plain.wins > plain.losses else NOT
    return REPRODUCED if 2 * kept > len(won) else weaker, {
        "cells": len(cells), "printed": count(cells["paper_mark"]), "plain": plain,
        "corrected": count(cells["mark_corrected"]), "won": len(won), "kept": kept,
        "same": (cells["paper_mark"] == cells["mark_paired"]).sum(), "between": span(cells["difference"]),
    }  # fmt: skip


def mloml_wins(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count on all data sets, and without those whose labels and features the paper mixed up."""
    verdict, numbers = conclusions(comparison, tests)
    sound = ~comparison["dataset"].isin(list(ACCIDENTS.values()))
    return verdict, {**numbers, "sound": conclusions(comparison[sound], tests)[1]}


def fp_beats_bp(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count at the fixed rate of BP, and at a rate chosen by cross-validation, which may only weaken it."""
    fixed = comparison[comparison["algorithm"].isin(BP)]
    verdict, numbers = conclusions(fixed, tests)
    chosen, others = conclusions(fixed.assign(algorithm=fixed["algorithm"] + "_cv"), tests)
    weaker = verdict == REPRODUCED and chosen not in (REPRODUCED, UNTESTED)
    return IN_PART if weaker else verdict, {**numbers, "chosen": others}


def fp_ties_fbp(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count how often FP against FBP ends as in the paper."""
    _, numbers = conclusions(comparison[comparison["algorithm"].isin(FBP)], tests)
    return by_share(numbers["same"], numbers["cells"]), numbers


def convergence(splits: pd.DataFrame) -> Judged:
    """Count where FBP is ahead of BP after one scan, and when the other catches up."""
    found: Numbers = {}
    for name, rate in (("fixed", "bp"), ("chosen", "bp_cv")):
        cases = splits[splits["counted"].astype(bool) & (splits["rate"] == rate)]
        ahead, behind = (cases[sign * (cases["bp_first"] - cases["fbp_first"]) > 0] for sign in (1, -1))
        found[name] = {
            "cases": len(cases), "lower": len(ahead), "higher": len(behind),
            "bp": _median_scan(ahead, "level"), "bp_never": ahead["level"].isna().sum(),
            "fbp": _median_scan(behind, "back"), "fbp_never": behind["back"].isna().sum(),
        }  # fmt: skip
    most = all(2 * part["lower"] > part["cases"] for part in found.values())
    weaker = IN_PART if found["fixed"]["lower"] > found["fixed"]["higher"] else NOT
    return REPRODUCED if most else weaker, found


def _median_scan(cases: pd.DataFrame, column: str) -> str:
    """Return the median scan, in which a lead that is never made up counts as longer than all scans."""
    known = cases[column].notna()
    median = median_time(cases[column].where(known, cases["scans"]), known)
    return f"> {cases['scans'].max():g}" if median is None else f"{median:g}"


def moml_faster(times: pd.DataFrame) -> Judged:
    """Divide MOML's time by OPML's, with and without keeping a factor of M."""
    medians = times.pivot(index="dataset", columns="method", values="median")  # noqa: PD010
    plain, factor = (span(medians[name] / medians["opml"]) for name in ("moml", "moml_frame"))
    faster = [highest < 1 for _, highest in (plain, factor)]
    verdict = REPRODUCED if all(faster) else IN_PART if any(faster) else NOT
    return verdict, {"plain": plain, "factor": factor, "sets": len(medians)}


def space(geometry: pd.DataFrame) -> Judged:
    """Follow the ratio of distances within classes to those between them from layer to layer."""
    ratios = geometry.pivot(index="dataset", columns="layer", values="within_over_between")  # noqa: PD010
    steps = ratios.pct_change(axis="columns").iloc[:, 1:].to_numpy()
    falling, clear = ((steps < -least).sum() for least in (0.0, NOTICEABLE))
    whole = ratios.iloc[:, -1] < ratios.iloc[:, 0]
    drawn = whole[whole.index.isin(FIGURE6)]
    return by_share(clear, steps.size), {
        "steps": steps.size, "falls": falling, "by_falls": by_share(falling, steps.size), "clear": clear,
        "whole": whole.sum(), "sets": len(whole), "drawn": drawn.sum(), "of_drawn": len(drawn),
    }  # fmt: skip


def ends(compared: pd.DataFrame, algorithm: str, reference: str) -> pd.DataFrame:
    """Return the comparisons of a curve's end with another curve, or with its own beginning."""
    mine = compared[(compared["algorithm"] == algorithm) & (compared["reference"] == reference)]
    return mine[(mine["point"] > 1) & ((algorithm != reference) | (mine["reference_point"] == 1))]


def changes(*parts: pd.DataFrame) -> dict[str, Counts]:
    """Count data sets whose error is lower, not different and higher, by the plain and corrected test."""
    part = pd.concat(parts)
    sign, tests = np.sign(part["difference"]), {"plain": "p_paired", "corrected": "p_corrected"}
    return {name: count(sign.where(part[p] < LEVEL, 0), -1, 1) for name, p in tests.items()}


def falls(plain: Counts, corrected: Counts) -> str:
    """Judge by the data sets on which an error falls and rises."""
    if not sum(plain):
        return UNTESTED
    surely = 2 * corrected.wins > sum(plain) and not corrected.losses
    return REPRODUCED if surely else IN_PART if plain.wins > plain.losses else NOT


def layers(compared: pd.DataFrame) -> Judged:
    """Compare the last layer of the deep stack with its first, with MOML and with the stack untrained."""
    references = {"first": DEEP, "moml": "moml", "untrained": f"{DEEP}_untrained"}
    found = {name: changes(ends(compared, DEEP, other)) for name, other in references.items()}
    return falls(**found["first"]), found


def scans(compared: pd.DataFrame) -> Judged:
    """Compare the error after the last scan with that after the first."""
    parts = {name: ends(compared, name, name) for name in ("moml", "mloml_r")}
    return falls(**changes(*parts.values())), {name: changes(part) for name, part in parts.items()}


def other_layers(compared: pd.DataFrame) -> Judged:
    """Compare the last layer of each stack with the shallow algorithm."""
    parts = {name: ends(compared, f"{name}_multi", shallow) for name, shallow in SHALLOW.items()}
    return falls(**changes(*parts.values())), {name: changes(part) for name, part in parts.items()}


def theorem1(steps: pd.DataFrame) -> Judged:
    """Look for steps that leave the cone while the condition holds, and for the condition breaking."""
    first = steps[steps["layer"] == 1]
    broken = first["left_although_condition_held"].sum() + (first["sandwich_excess"] > ROUNDING).sum()
    weaker = IN_PART if first["share_condition_broken"].any() else REPRODUCED
    largest = first[first["gamma"] == first["gamma"].max()]
    return FALSE if broken else weaker, {
        "broken": broken, "gamma": largest["gamma"].max(), "sets": largest["dataset"].nunique(),
        "condition": 100 * largest["share_condition_broken"].mean(),
        "leaving": 100 * largest["share_leaving_cone"].mean(),
        "sampled": first.loc[first["steps_looked_at"] < first["steps"], "dataset"].nunique(),
    }  # fmt: skip


def theorem2(line: pd.DataFrame, regrets: pd.DataFrame) -> Judged:
    """Count regrets above the claimed constant, and above the corrected bound."""
    on_line, on_data = (_above(part, "claimed_bound") for part in (line, regrets))
    worst = line.sort_values("regret").iloc[-1]
    return FALSE if on_line + on_data else REPRODUCED, {
        "on_data": on_data, "data": len(regrets), "on_line": on_line, "line": len(line),
        "regret": worst["regret"], "T": worst["T"], "constant": worst["claimed_bound"],
        "corrected": _above(pd.concat([line, regrets]), "corrected_bound"),
    }  # fmt: skip


def _above(regrets: pd.DataFrame, bound: str) -> int:
    return int((regrets["regret"] > regrets[bound] * (1 + ROUNDING)).sum())


def proposition1(steps: pd.DataFrame) -> Judged:
    """Look for layers that are worse than the one before, in single splits and on average."""
    worse = 100 * (steps["share_worse"] * steps["splits"]).sum() / steps["splits"].sum()
    sure = steps.loc[steps["p_corrected"] < LEVEL, "difference"]
    falling, rising = (sure < 0).sum(), (sure > 0).sum()
    verdict = REPRODUCED if worse == 0 else FALSE if rising else NOT
    return verdict, {"worse": worse, "steps": len(steps), "falling": falling, "rising": rising}


def cost(growth: pd.DataFrame) -> Judged:
    """Read off how the time per triplet grows with the number of features."""
    exponents: Any = growth.set_index("propagation")["exponent in features"].to_dict()
    nearer = IN_PART if exponents["fp"] < NEARER_TO_CUBIC else NOT
    return REPRODUCED if exponents["fp"] <= QUADRATIC else nearer, exponents


def fp_fastest(runs: pd.DataFrame) -> Judged:
    """Count the settings in which FP is the fastest of the three strategies beyond the spread of the runs."""
    medians, fastest, slowest = (
        runs.pivot(index=["features", "activation"], columns="strategy", values=name)  # noqa: PD010
        for name in ("microseconds", "lowest", "highest")
    )
    lowest = (medians["fp"] <= medians[["bp", "fbp"]].min(axis=1)).sum()
    clearly = (slowest["fp"] < fastest[["bp", "fbp"]].min(axis=1)).sum()
    ratios = {name: span(medians[name] / medians["fp"]) for name in ("bp", "fbp")}
    numbers = {"settings": len(medians), "lowest": lowest, "clearly": clearly, **ratios}
    return by_share(clearly, len(medians)), {**numbers, "by_medians": by_share(lowest, len(medians))}


def seed(both: pd.DataFrame) -> Judged:
    """Count the conclusions and the agreements with the paper that are the same from another seed."""
    known = both[both["our_mark"].isin(OUTCOMES) & both["our_mark_2"].isin(OUTCOMES)]
    agreed = (both["verdict"] == both["verdict_2"]).sum()
    numbers: Numbers = {"cells": len(known), "agreed": agreed, "compared": len(both)}
    for name, mark in (("plain", "our_mark"), ("corrected", "our_mark_corrected")):
        same, found = known[mark] == known[f"{mark}_2"], known[mark] != "tie"  # ties stay easily
        numbers[name] = {"same": same.sum(), "found": found.sum(), "kept": (same & found).sum()}
    return by_share(numbers["plain"]["same"], len(known)), numbers


def learned(gains: pd.DataFrame) -> Judged:
    """Count the stacks that beat Euclidean distance, and those among them that beat an untrained one."""
    cases = gains[gains["counted"].astype(bool)]
    whole, untrained, learning = (
        cases[f"{step}_mark_corrected"] for step in ("whole", "untrained", "learning")
    )
    better, both = (whole == "win").sum(), ((whole == "win") & (learning == "win")).sum()
    none = UNTESTED if cases.empty else NOT
    return by_share(both, better) if better else none, {
        "cases": len(cases), "better": better, "both": both,
        "untrained": count(untrained), "learning": count(learning),
    }  # fmt: skip


def over_sets(pairs: pd.DataFrame) -> Judged:
    """Count pairs with smaller and larger errors in each study: Wilcoxon's test over the data sets, Holm."""
    studies = {
        study: count(pairs.loc[pairs["study"] == study, "verdict"], "smaller", "larger")
        for study in ("clean", "standardised")
    }
    smaller = sum(found.wins for found in studies.values())
    return by_share(smaller, len(pairs)), {**studies, "sets": pairs["sets"].min()}


def rivals_elsewhere(tests: pd.DataFrame) -> Judged:
    """Compare the stacks with MOML, OPML and LMNN."""
    return over_sets(tests[tests["test"].isin(["layers", "rivals"])])


def euclidean_elsewhere(tests: pd.DataFrame) -> Judged:
    """Compare the stacks with Euclidean distance, and with themselves untrained."""
    verdict, numbers = over_sets(tests[(tests["test"] == "euclidean") & tests["algorithm"].isin(OWN[1:])])
    return verdict, {**numbers, "untrained": over_sets(tests[tests["test"] == "untrained"])[1]}


JUDGES: dict[str, Callable[..., Judged]] = {
    "errors_own": partial(errors, OWN),
    "errors_others": partial(errors, OTHERS),
    "errors_propagation": partial(errors, (*BP, *FBP)),
    **{judge.__name__: judge for judge in (
        mloml_wins, fp_beats_bp, fp_ties_fbp, convergence, moml_faster, layers, space, scans, other_layers,
        theorem1, theorem2, proposition1, cost, fp_fastest, seed, learned, rivals_elsewhere,
        euclidean_elsewhere,
    )},
}  # fmt: skip


def _claims() -> tuple[Claim, ...]:
    entries: Any = OmegaConf.to_container(OmegaConf.load(Path(__file__).with_suffix(".yaml")))
    return tuple(Claim(**entry, judge=JUDGES[entry["name"]]) for entry in entries)


CLAIMS = _claims()
