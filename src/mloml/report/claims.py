"""The paper's claims, judged: numbers and verdicts by a rule for each; their words are in ``claims.yaml``."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from mloml import paper
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.paper.interpretations import UNSEEN, look_of
from mloml.paper.published import ACCIDENTS
from mloml.paper.statistics import OUTCOMES, gain, median_time
from mloml.report.document import DASH, TRIAL_ONLY

# What is asked of a claim: does it come out again, does it survive scrutiny, does it hold elsewhere?
COLUMNS = ("reproduced", "valid", "general")
YES, IN_PART, NO, FALSE, UNTESTED = "yes", "in part", "no", "false", "not tested"
# The only words of an answer: false is for what has a counterexample, a dash for what cannot be asked.
VERDICTS = (YES, IN_PART, NO, FALSE, UNTESTED, TRIAL_ONLY, DASH)
WORST_FIRST = (FALSE, NO, TRIAL_ONLY, UNTESTED, IN_PART, YES)

RECONSTRUCTIONS = ("mlcc", "slmoml")
DEEP, UNTRAINED = "mloml_r_5", "mloml_r_5_untrained"
FIGURE6, FIGURE6_LAYERS = ("balance", "ionosphere", "iris", "mlprove_paper"), 3
LEVEL, ROUNDING = 0.05, 1e-10
NOTICEABLE = 0.01  # share by which a ratio of distances must fall to count

Numbers = dict[str, Any]
# What tables answer, by column, and the numbers it follows from, by the names that ``claims.yaml`` prints.
Judged = tuple[dict[str, str], Numbers]


def command_for(artefacts: Iterable[str]) -> str:
    """Return what makes some artefacts.

    >>> command_for(["table2", "bench"])
    'make reproduce-table2 bench'
    """
    return " ".join(["make", *(name if name == "bench" else f"reproduce-{name}" for name in artefacts)])


@dataclass(frozen=True)
class Part:
    """What some tables say of a claim.

    Parameters
    ----------
    tables : list of str
        ``artefact/table``: the CSV files that ``judge`` gets, in this order.
    measured : str
        What was measured, with names of numbers in braces.
    judge : callable
        From these frames to answers and numbers. A pure function.
    decides : list of str
        The columns that it answers.
    rows : dict
        The entries that rows of the first table must have to count, by column of the table.
    """

    tables: list[str]
    measured: str
    judge: Callable[..., Judged]
    decides: Sequence[str] = COLUMNS[:2]
    rows: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def artefacts(self) -> list[str]:
        """The artefacts that its tables belong to."""
        return list(dict.fromkeys(table.split("/")[0] for table in self.tables))

    def answer(
        self, published: Mapping[str, pd.DataFrame], trials: Collection[str]
    ) -> tuple[str, dict[str, str]]:
        """Return what was measured and the answers; without the numbers, the command that makes them."""
        frames: list[Any] = [published.get(table) for table in self.tables]
        command, word = command_for(self.artefacts), UNTESTED
        if set(trials) & {*self.artefacts}:
            said, word = f"a trial run; in full: `{command}`", TRIAL_ONLY
        elif any(frame is None or frame.empty for frame in frames):
            said = f"not among these results; `{command}` makes them"
        else:
            try:
                for column, wanted in self.rows.items():
                    frames[0] = frames[0][frames[0][column].isin(wanted)]
                found, numbers = self.judge(*frames)
                return self.measured.format(**numbers), {column: found[column] for column in self.decides}
            except KeyError as error:
                said = f"{self.tables[0]}.csv has no {error}; run again: `{command}`"
        return said, dict.fromkeys(self.decides, word)


@dataclass(frozen=True)
class Claim:
    """One row of the claim table.

    Parameters
    ----------
    name, short, claim, paper : str
        What is claimed, in at most eight words and in full, and what the paper reports for it.
    rules : dict
        By column, how it is answered, in words. "not tested: why" and "–: why" are answers themselves.
    shows : str
        The file to look at.
    parts : list of Part
        Where several answer one column, the worst counts.
    added : bool
        A question that the paper does not ask; counted apart from its claims.
    """

    name: str
    short: str
    claim: str
    paper: str
    rules: dict[str, str]
    shows: str
    parts: list[Part]
    added: bool = False

    @property
    def tables(self) -> list[str]:
        """The tables of all parts."""
        return [table for part in self.parts for table in part.tables]

    @property
    def command(self) -> str:
        """What makes its tables and the file that it shows."""
        return command_for(dict.fromkeys(table.split("/")[0] for table in (self.shows, *self.tables)))

    def answer(
        self, published: Mapping[str, pd.DataFrame], trials: Collection[str] = ()
    ) -> tuple[str, dict[str, str]]:
        """Return what was measured, and a word for each column."""
        said, found = zip(*(part.answer(published, trials) for part in self.parts), strict=True)
        fixed = {column: rule.partition(":")[0] for column, rule in self.rules.items()}
        words = {column: [part[column] for part in found if column in part] for column in COLUMNS}
        return ". ".join(dict.fromkeys(said)), {c: worst(words[c]) if words[c] else fixed[c] for c in COLUMNS}


class Counts(NamedTuple):
    """Wins, ties and losses; or how often an error is lower, not different and higher."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return "/".join(map(str, self)) if sum(self) else "not run yet"

    @property
    def answer(self) -> str:
        """What the share of wins gives."""
        return by_share(self.wins, sum(self))


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
    """Answer by "so many of so many": nearly all (one test in twenty errs), most, or fewer.

    >>> by_share(45, 50), by_share(26, 50), by_share(25, 50), by_share(0, 0)
    ('yes', 'in part', 'no', 'not tested')
    """
    if not whole:
        return UNTESTED
    return YES if part >= 0.9 * whole else IN_PART if part > 0.5 * whole else NO


def worst(words: Iterable[str]) -> str:
    """Return the worst of some answers; what is missing is worse than a doubt and better than a no.

    >>> worst(["yes", "in part"]), worst(["yes", "not tested"]), worst(["not tested", "no"])
    ('in part', 'not tested', 'no')
    """
    return min(words, key=WORST_FIRST.index)


def errors(cells: pd.DataFrame) -> Judged:
    """Count the entries that agree with the paper, and those that no interpretation was chosen by."""
    agrees, rebuilt = cells["verdict"] == AGREES, cells["algorithm"].isin(RECONSTRUCTIONS)
    places = zip(cells["dataset"], cells["algorithm"], strict=True)
    new = np.array([look_of(paper.paper_row(row) or "", name) == UNSEEN for row, name in places], dtype=bool)
    return {"reproduced": by_share(agrees.sum(), len(cells))}, {
        "cells": len(cells), "sets": cells["dataset"].nunique(), "agree": agrees.sum(),
        "lower": (cells["verdict"] == LOWER).sum(), "higher": (cells["verdict"] == HIGHER).sum(),
        "seen": (~new).sum(), "new": new.sum(), "new_agree": agrees[new].sum(),
        "others": f"; {agrees[new].sum()} of the other {new.sum()} agree" if new.any() else "",
        "rebuilt": rebuilt.sum(), "rebuilt_agree": agrees[rebuilt].sum(),
    }  # fmt: skip


def gains_agree(gains: pd.DataFrame) -> Judged:
    """Count the gains over Euclidean distance that agree with the paper's."""
    return {}, {"gains": len(gains), "agree": (gains["verdict"] == AGREES).sum()}


def within(worth: pd.DataFrame) -> Judged:
    """Read off in how many entries the two expected errors are shown to be close."""
    return {}, {"within": int(worth["within .01"].sum()), "cells": int(worth["cells"].sum())}


def conclusions(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count conclusions that are the paper's, and those of its wins that the corrected test keeps."""
    known = comparison.loc[comparison["paper_mark"].isin(OUTCOMES), ["dataset", "algorithm", "paper_mark"]]
    ours = tests[["dataset", "algorithm", "mark_paired", "mark_corrected", "difference"]]
    cells = known.merge(ours, on=["dataset", "algorithm"], validate="one_to_one")
    won, same = cells[cells["paper_mark"] == "win"], (cells["paper_mark"] == cells["mark_paired"]).sum()
    again, kept = ((won[mark] == "win").sum() for mark in ("mark_paired", "mark_corrected"))
    return {"reproduced": by_share(same, len(cells)), "valid": by_share(kept, len(won))}, {
        "cells": len(cells), "printed": count(cells["paper_mark"]), "plain": count(cells["mark_paired"]),
        "corrected": count(cells["mark_corrected"]), "won": len(won), "kept": kept, "same": same,
        "again": again, "between": span(cells["difference"]),
    }  # fmt: skip


def mloml_wins(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count on all data sets, and without those whose labels and features the paper mixed up."""
    found, numbers = conclusions(comparison, tests)
    sound = ~comparison["dataset"].isin(list(ACCIDENTS.values()))
    return found, {**numbers, "sound": conclusions(comparison[sound], tests)[1]}


def fp_beats_bp(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count at the fixed rate of BP and at a chosen one, and the wins where our BP is not the paper's."""
    found, numbers = conclusions(comparison, tests)
    chosen, others = conclusions(comparison.assign(algorithm=comparison["algorithm"] + "_cv"), tests)
    wins = tests.loc[tests["mark_corrected"] == "win", ["dataset", "algorithm"]].merge(comparison)
    numbers = {**numbers, "chosen": others, "differ": (wins["verdict"] != AGREES).sum()}
    return {**found, "valid": worst([found["valid"], chosen["valid"]])}, numbers


def fp_ties_fbp(comparison: pd.DataFrame, tests: pd.DataFrame) -> Judged:
    """Count how often FP against FBP ends as in the paper, and where FP is surely worse."""
    found, numbers = conclusions(comparison, tests)
    marks = paper.table3().query("mark != corrected_mark")
    wrong = [
        f"{row} (FBP of {name[6]})" for row, name in zip(marks["dataset"], marks["algorithm"], strict=True)
    ]
    valid = NO if numbers["corrected"].losses else IN_PART if numbers["cells"] else UNTESTED
    return {**found, "valid": valid}, {**numbers, "wrong": ", ".join(wrong), "marks": len(wrong)}


def convergence(splits: pd.DataFrame) -> Judged:
    """Count where FBP is ahead of BP after one scan, and when the other catches up."""
    found: Numbers = {}
    for name, rate in (("fixed", "bp"), ("chosen", "bp_cv")):
        cases = splits[splits["counted"].astype(bool) & (splits["rate"] == rate)]
        ahead, behind = (cases[sign * (cases["bp_first"] - cases["fbp_first"]) > 0] for sign in (1, -1))
        leads = [gain(c["bp_first"], c["fbp_first"]) for _, c in cases.groupby(["dataset", "activation"])]
        found[name] = {
            "splits": len(cases), "lower": len(ahead), "higher": len(behind),
            "bp": _median_scan(ahead, "level"), "bp_never": ahead["level"].isna().sum(),
            "fbp": _median_scan(behind, "back"), "fbp_never": behind["back"].isna().sum(),
            "cases": len(leads), "mean": sum(lead.gain > ROUNDING for lead in leads),
            "corrected": count(pd.Series([lead.mark_corrected for lead in leads], dtype=object)),
        }  # fmt: skip
    fixed, chosen = found["fixed"], found["chosen"]
    return {"reproduced": by_share(fixed["mean"], fixed["cases"]), "valid": chosen["corrected"].answer}, found


def _median_scan(cases: pd.DataFrame, column: str) -> str:
    """Return the median scan, in which a lead that is never made up counts as longer than all scans."""
    known = cases[column].notna()
    median = median_time(cases[column].where(known, cases["scans"]), known)
    return f"> {cases['scans'].max():g}" if median is None else f"{median:g}"


def moml_faster(times: pd.DataFrame) -> Judged:
    """Divide MOML's time by OPML's, without a factor of M, as the paper does, and with one."""
    table = times.pivot(index="dataset", columns="method")  # noqa: PD010
    medians = table["median"]
    plain, factor = (span(medians[name] / medians["opml"]) for name in ("moml", "moml_frame"))
    valid = YES if (table["upper"]["moml"] < table["lower"]["opml"]).all() else NO
    found = {"reproduced": by_share((medians["moml"] < medians["opml"]).sum(), len(medians)), "valid": valid}
    return found, {"plain": plain, "factor": factor, "sets": len(medians)}


def moml_faster_elsewhere(times: pd.DataFrame) -> Judged:
    """Count the widths at which a triplet takes MOML less time than OPML, and compare the others."""
    table = times.pivot(index="features", columns="method", values="ours us").dropna(axis="columns")  # noqa: PD010
    moml = table["MOML, M only"]
    others = ("OPML", "LEGO", "RDML", "OASIS", "SLMOML")
    ratios: Numbers = {name.lower(): span(table[name] / moml) for name in others}
    faster = (moml < table["OPML"]).sum()
    widths = {"widths": len(table), "faster": faster, "least": table.index.min(), "most": table.index.max()}
    return {"general": by_share(faster, len(table))}, {**ratios, **widths}


def space(geometry: pd.DataFrame) -> Judged:
    """Follow the ratio of distances within classes to those between them from layer to layer."""
    ratios = geometry.pivot(index="dataset", columns="layer", values="within_over_between")  # noqa: PD010
    steps = ratios.pct_change(axis="columns").iloc[:, 1:]
    drawn = steps.loc[steps.index.isin(FIGURE6)].iloc[:, : FIGURE6_LAYERS - 1].to_numpy() < 0
    falling, clear = ((steps.to_numpy() < -least).sum() for least in (0.0, NOTICEABLE))
    found = {"reproduced": by_share(drawn.sum(), drawn.size), "valid": by_share(clear, steps.size)}
    return found, {
        "steps": steps.size, "falls": falling, "clear": clear, "sets": len(ratios),
        "layers": ratios.shape[1], "drawn": drawn.sum(), "of_drawn": drawn.size,
    }  # fmt: skip


def ends(compared: pd.DataFrame, algorithm: str, reference: str) -> pd.DataFrame:
    """Return the comparisons of a curve's end with another curve, or with its own beginning."""
    mine = compared[(compared["algorithm"] == algorithm) & (compared["reference"] == reference)]
    return mine[(mine["point"] > 1) & ((algorithm != reference) | (mine["reference_point"] == 1))]


def changes(*parts: pd.DataFrame) -> dict[str, Counts]:
    """Count how often an error is lower, not different and higher: by the mean, and by both tests."""
    part = pd.concat(parts)
    sign, tests = np.sign(part["difference"].round(10)), {"plain": "p_paired", "corrected": "p_corrected"}
    found = {name: count(sign.where(part[p] < LEVEL, 0), -1, 1) for name, p in tests.items()}
    return {"mean": count(sign, -1, 1), **found}


def falls(found: Mapping[str, Mapping[str, Counts]], reproduced: str, *controls: str) -> dict[str, str]:
    """Answer by the share of lower means, and by the worst share of lower errors by the corrected test."""
    valid = worst(found[name]["corrected"].answer for name in (reproduced, *controls))
    return {"reproduced": found[reproduced]["mean"].answer, "valid": valid}


def layers(compared: pd.DataFrame) -> Judged:
    """Compare the last layer of the deep stack with its first, with MOML and with the stack untrained."""
    references = {"first": DEEP, "moml": "moml", "split": "moml_split", "untrained": UNTRAINED}
    found = {name: changes(ends(compared, DEEP, other)) for name, other in references.items()}
    return falls(found, "first", "split", "untrained"), found


def scans(compared: pd.DataFrame) -> Judged:
    """Compare the error after the last scan with that after the first."""
    parts = {name: ends(compared, name, name) for name in ("moml", "mloml_r")}
    found = {name: changes(part) for name, part in parts.items()} | {"both": changes(*parts.values())}
    return falls(found, "both"), found


def equal_scans(compared: pd.DataFrame) -> Judged:
    """Compare MLOML-r with MOML after every scan, on every data set."""
    references = {"moml": "moml", "split": "moml_split"}
    found = {name: changes(compared[compared["reference"] == other]) for name, other in references.items()}
    moml, accident = compared["reference"] == "moml", compared["dataset"] == ACCIDENTS["mlprove"]
    parts = {"mlprove": changes(compared[moml & accident]), "rest": changes(compared[moml & ~accident])}
    parts["rest_split"] = changes(compared[~moml & ~accident])
    return falls(found, "moml", "split"), {**found, **parts, "pairs": sum(found["moml"]["mean"])}


def other_layers(compared: pd.DataFrame) -> Judged:
    """Compare the last layer of each stack with the shallow algorithm, RDML's from both starts."""
    names = ("rdml", "lego", "opml")
    parts = {name: [ends(compared, f"{name}_multi", name)] for name in names}
    parts["identity"] = [ends(compared, "rdml_multi", "rdml_identity")]
    parts["all"] = [part for name in names for part in parts[name]]
    parts["same_start"] = [*parts["identity"], *parts["lego"], *parts["opml"]]
    parts["untrained"] = [ends(compared, f"{name}_multi", UNTRAINED) for name in names]
    found = {name: changes(*part) for name, part in parts.items()}
    return falls(found, "all", "same_start", "untrained"), found


def theorem1(first: pd.DataFrame) -> Judged:
    """Look for steps of the first layer that leave the cone although the condition holds."""
    left, outside = first["left_although_condition_held"].sum(), (first["sandwich_excess"] > ROUNDING).sum()
    checked = first["steps_looked_at"]
    held = (checked * (1 - first["share_condition_broken"])).round().sum()
    return {"valid": FALSE if left + outside else YES}, {
        "left": left, "outside": outside, "steps": checked.sum(), "held": int(held),
        "runs": len(first), "sets": first["dataset"].nunique(),
        "sampled": first.loc[first["steps_looked_at"] < first["steps"], "dataset"].nunique(),
    }  # fmt: skip


def constant_gamma(first: pd.DataFrame) -> Judged:
    """Count the runs at a small step size that never leave the cone, and whose condition never breaks."""
    is_largest = first["gamma"] == first["gamma"].max()
    small, largest = first[~is_largest], first[is_largest]
    inside, held = ((small[f"share_{name}"] == 0).sum() for name in ("leaving_cone", "condition_broken"))
    return {"reproduced": by_share(inside, len(small)), "valid": by_share(held, len(small))}, {
        "runs": len(small), "inside": inside, "held": held, "sets": first["dataset"].nunique(),
        "gamma": largest["gamma"].max(), "of_largest": len(largest),
        "left": (largest["share_leaving_cone"] > 0).sum(),
        "condition": 100 * largest["share_condition_broken"].mean(),
        "leaving": 100 * largest["share_leaving_cone"].mean(),
    }  # fmt: skip


def theorem2(line: pd.DataFrame, regrets: pd.DataFrame) -> Judged:
    """Count regrets above the claimed constant, and above the corrected bound."""
    on_line, on_data = (_above(part, "claimed_bound") for part in (line, regrets))
    worst_case = line.sort_values("regret").iloc[-1]
    return {"valid": FALSE if on_line + on_data else YES}, {
        "on_data": on_data, "data": len(regrets), "on_line": on_line, "line": len(line),
        "after": _above(line, "claimed_bound", "regret_after"),
        "regret": worst_case["regret"], "T": worst_case["T"], "constant": worst_case["claimed_bound"],
        "corrected": _above(pd.concat([line, regrets]), "corrected_bound"),
    }  # fmt: skip


def _above(regrets: pd.DataFrame, bound: str, regret: str = "regret") -> int:
    return int((regrets[regret] > regrets[bound] * (1 + ROUNDING)).sum())


def proposition1(steps: pd.DataFrame, line: pd.DataFrame, regrets: pd.DataFrame) -> Judged:
    """Count the splits in which a layer is not worse than the one before; the argument needs Theorem 2."""
    names = ("no_worse", "better", "worse")
    shares = {n: 100 * np.average(steps[f"share_{n}"], weights=steps["splits"]) for n in names}
    found_by = changes(steps)
    stands = theorem2(line, regrets)[0]["valid"] == YES
    valid = FALSE if 2 * found_by["corrected"].losses > len(steps) else YES if stands else IN_PART
    found = {"reproduced": YES if shares["no_worse"] > 50 else NO, "valid": valid}
    return found, {**shares, **found_by, "steps": len(steps)}


def cost(operations: pd.DataFrame) -> Judged:
    """Read off how the multiplications of a step grow; the third differences of a quadratic are 0."""
    table = operations.pivot(index="features", columns="method", values="multiplications")  # noqa: PD010
    every, d = operations["every"].max(), table.index
    table["with_renewals"] = table["moml_frame"] + table["renewal"] / every
    powers = np.log(table.iloc[-1] / table.iloc[0]) / np.log(d[-1] / d[0])
    found = {name: NO if np.diff(table[name], 3).any() else YES for name in ("moml", "moml_frame")}
    return {"reproduced": found["moml"], "valid": found["moml_frame"]}, {
        "at": table.iloc[0].astype(int).to_dict(), "grows": powers.to_dict(), "least": d[0], "most": d[-1],
        "every": every,
    }  # fmt: skip


def growth(times: pd.DataFrame) -> Judged:
    """Return how the measured time per triplet grows with the number of features."""
    exponents: Any = times.set_index("propagation")["exponent in features"].to_dict()
    return {}, exponents


def fp_fastest(runs: pd.DataFrame) -> Judged:
    """Count the settings in which FP is the fastest strategy by the medians."""
    medians = runs.pivot(index=["features", "activation"], columns="strategy", values="microseconds")  # noqa: PD010
    leads = medians["fp"] <= medians[["bp", "fbp"]].min(axis=1)
    by_width = leads.groupby(level="features").mean()
    always = ", ".join(map(str, by_width[by_width == 1].index)) or "none"
    ratios = {name: span(medians[name] / medians["fp"]) for name in ("bp", "fbp")}
    words = {"settings": len(medians), "lowest": leads.sum(), "always": always, **ratios}
    return {"reproduced": by_share(leads.sum(), len(medians))}, words


def fp_fastest_active(runs: pd.DataFrame) -> Judged:
    """Count the widths at which FP is the fastest although no strategy can skip a step."""
    table = runs.pivot(index="features", columns="method", values="ours us")  # noqa: PD010
    fp, bp, fbp = (table[f"MLOML-r, 3 layers, {strategy}"] for strategy in ("FP", "BP", "FBP"))
    fastest = (fp <= np.minimum(bp, fbp)).sum()
    words = {"fastest": fastest, "widths": len(table), "bp": span(bp / fp), "fbp": span(fbp / fp)}
    return {"valid": by_share(fastest, len(table))}, words


def seed(both: pd.DataFrame) -> Judged:
    """Count the conclusions and the agreements with the paper that are the same from another seed."""
    known = both[both["our_mark"].isin(OUTCOMES) & both["our_mark_2"].isin(OUTCOMES)]
    agreed = (both["verdict"] == both["verdict_2"]).sum()
    numbers: Numbers = {"cells": len(known), "agreed": agreed, "compared": len(both)}
    for name, mark in (("plain", "our_mark"), ("corrected", "our_mark_corrected")):
        same, found = known[mark] == known[f"{mark}_2"], known[mark] != "tie"  # ties stay easily
        numbers[name] = {"same": same.sum(), "found": found.sum(), "kept": (same & found).sum()}
    return {"valid": by_share(numbers["plain"]["same"], len(known))}, numbers


def learned(gains: pd.DataFrame) -> Judged:
    """Count the stacks that beat Euclidean distance, and those among them that beat an untrained one."""
    cases = gains[gains["counted"].astype(bool)]
    whole, untrained, learning = (
        cases[f"{step}_mark_corrected"] for step in ("whole", "untrained", "learning")
    )
    better, both = (whole == "win").sum(), ((whole == "win") & (learning == "win")).sum()
    none = UNTESTED if cases.empty else NO
    return {"valid": by_share(both, better) if better else none}, {
        "cases": len(cases), "better": better, "both": both,
        "as_well": f"; in {both} of these it also beats the untrained stack" if better else "",
        "untrained": count(untrained), "learning": count(learning),
    }  # fmt: skip


def over_sets(pairs: pd.DataFrame) -> Judged:
    """Count pairs with smaller and larger errors in each study: Wilcoxon's test over the data sets, Holm."""
    both, deep = (_by_study(part) for part in (pairs, pairs[pairs["algorithm"] == "mloml_r"]))
    sets = " to ".join(dict.fromkeys(map(str, span(pairs["sets"]))))
    smaller = sum(found.wins for found in both.values())
    return {"general": by_share(smaller, len(pairs))}, {**both, "deep": deep, "sets": sets}


def _by_study(pairs: pd.DataFrame) -> dict[str, Counts]:
    words = {study: pairs.loc[pairs["study"] == study, "verdict"] for study in ("clean", "standardised")}
    return {study: count(mine, "smaller", "larger") for study, mine in words.items()}


def streams(tests: pd.DataFrame) -> Judged:
    """Count the metric learners that help plain k-NN, and what learning adds to untrained stacks."""
    words = {"plain": "helps harms", "untrained": "learning_helps learning_harms", "others": "ahead behind"}
    said = tests["verdict"].str.replace(" ", "_")
    found = {name: count(said[tests["test"] == name], *pair.split()) for name, pair in words.items()}
    return {"general": found["plain"].answer}, {**found, "streams": tests["streams"].max()}


JUDGES: dict[str, Callable[..., Judged]] = {judge.__name__: judge for judge in (
    errors, gains_agree, within, conclusions, mloml_wins, fp_beats_bp, fp_ties_fbp, convergence, moml_faster,
    moml_faster_elsewhere, layers, space, scans, equal_scans, other_layers, theorem1, constant_gamma,
    theorem2, proposition1, cost, growth, fp_fastest, fp_fastest_active, seed, learned, over_sets, streams,
)}  # fmt: skip


def _claims() -> tuple[Claim, ...]:
    entries: Any = OmegaConf.to_container(OmegaConf.load(Path(__file__).with_suffix(".yaml")))
    for entry in entries:
        parts = ({"judge": entry["name"], **part} for part in entry["parts"])
        entry["parts"] = [Part(**{**part, "judge": JUDGES[part["judge"]]}) for part in parts]
    return tuple(Claim(**entry) for entry in entries)


CLAIMS = _claims()
