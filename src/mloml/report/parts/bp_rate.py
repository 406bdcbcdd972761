"""FP against BP, at the protocol's learning rate of BP and at one chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from mloml.paper.statistics import Gain, gain
from mloml.report.captions import caption
from mloml.report.document import Table, Text, number
from mloml.report.parts.gains import both_tests, gain_text, interval, signed
from mloml.report.parts.strategies import STRATEGIES, activations, strategy_of
from mloml.report.tables import Results, build_grid

QUESTION = "Does FP still win when BP's learning rate is chosen by cross-validation?"
SAME_RATE = "This protocol chooses BP's rate by cross-validation anyway: both columns of BP are the same."


@dataclass(frozen=True)
class Lead:
    """FP's lead over BP (BP's error less FP's) on one data set, at the fixed and at the chosen rate."""

    dataset: str
    title: str
    activation: str
    fixed: Gain
    chosen: Gain
    counted: bool


def leads_of(results: Results) -> list[Lead]:
    """Return FP's leads where FP and BP at both rates are complete."""
    labels = results.labels
    complete = set(results.complete[["dataset", "algorithm"]].itertuples(index=False, name=None))
    found = []
    titles = labels.starred(labels.datasets)
    for base in activations(labels.algorithms):
        for dataset, title in titles.items():
            three = [(dataset, name) for name in (base, f"{base}_bp", f"{base}_bp_cv")]
            if complete.issuperset(three):
                fp, bp, bp_cv = (results.errors[cell] for cell in three)
                counted = dataset not in labels.uncounted
                found.append(Lead(dataset, title, base, gain(bp, fp), gain(bp_cv, fp), counted))
    return found


def bp_rate_frame(leads: list[Lead]) -> pd.DataFrame:
    """Return every lead with the interval of the corrected test, and both tests' marks of FP."""
    rows = []
    for lead in leads:
        row: dict[str, object] = {
            "dataset": lead.dataset,
            "activation": lead.activation,
            "fp": lead.fixed.after,
            "bp": lead.fixed.before,
            "bp_cv": lead.chosen.before,
        }
        for found, end in ((lead.fixed, ""), (lead.chosen, "_cv")):
            row |= {
                f"lead{end}": found.gain,
                f"low{end}": found.low,
                f"high{end}": found.high,
                f"mark{end}": found.mark_paired,
                f"mark_corrected{end}": found.mark_corrected,
            }
        rows.append({**row, "counted": lead.counted})
    return pd.DataFrame(rows)


def bp_rate_sentences(leads: list[Lead], titles: Mapping[str, str], rate: float | None) -> list[str]:
    """Answer the question for each activation, over the counted datasets."""
    if rate is None:
        return [SAME_RATE]
    sentences = []
    for base, title in titles.items():
        mine = [lead for lead in leads if lead.counted and lead.activation == base]
        if mine:
            fixed, chosen = [lead.fixed for lead in mine], [lead.chosen for lead in mine]
            wins = f"FP wins on {both_tests(fixed, 'win')}, BP on {both_tests(fixed, 'loss')}"
            sentences.append(
                f"{title}, {len(mine)} data sets, corrected test: at the rate {rate:g} FP's lead over BP is "
                f"{_median(fixed)} at the median, and {wins}. "
                f"With the rate chosen by cross-validation it is {_median(chosen)}; FP wins on "
                f"{both_tests(chosen, 'win')}{_named(mine, 'win')}, BP on {both_tests(chosen, 'loss')}"
                f"{_named(mine, 'loss')}."
            )
    return sentences or ["No dataset is complete for BP at both rates and FP yet."]


def bp_rate_headline(leads: list[Lead], titles: Mapping[str, str], rate: float | None) -> str:
    """Say in one sentence on how many data sets FP still wins when BP's rate is chosen."""
    parts = []
    for base, title in titles.items():
        mine = [lead for lead in leads if lead.counted and lead.activation == base]
        wins = [
            sum(found.mark_corrected == "win" for found in side)
            for side in ([lead.chosen for lead in mine], [lead.fixed for lead in mine])
        ]
        parts += (
            [f"{title} on {wins[0]} of {len(mine)} data sets (at the fixed rate {wins[1]})"] if mine else []
        )
    if rate is None or not parts:
        return ""
    return f"With BP's rate chosen by cross-validation FP wins, by the corrected test: {', '.join(parts)}."


def compare_rates(results: Results, rate: float | None) -> tuple[str, tuple[str, ...], Table]:
    """Return the answer in one sentence, by activation, and as a table."""
    leads, titles = leads_of(results), activations(results.labels.algorithms)
    sentences = tuple(bp_rate_sentences(leads, titles, rate))
    shown = [name for name in results.labels.algorithms if strategy_of(name)[1] != "fbp"]
    fixed = "chosen by the protocol" if rate is None else f"{rate:g}"
    columns = {name: STRATEGIES[strategy_of(name)[1]] for name in shown}
    grid = build_grid(
        results, caption("bp_rate", rate=fixed), "tab:bp-rate", shown, columns, [caption("bp_rate_marks")]
    )
    notes = results.labels.footnotes(results.labels.starred(results.labels.datasets))
    page = (
        Text(sentences, listed=True),
        grid,
        Text((caption("bp_rate_leads") + notes,), heading="FP's lead on each data set"),
        _printed(leads, titles),
    )
    table = Table("bp_rate", QUESTION, bp_rate_frame(leads), page)
    return bp_rate_headline(leads, titles, rate), sentences, table


def _median(found: list[Gain]) -> str:
    return signed(float(pd.Series([one.gain for one in found]).median()))


def _named(leads: list[Lead], mark: str) -> str:
    """Name the data sets on which the corrected test sees a winner at the chosen rate, with the interval."""
    names = [
        f"{lead.title} {signed(lead.chosen.gain)} ({interval(lead.chosen)})"
        for lead in leads
        if lead.chosen.mark_corrected == mark
    ]
    return f": {', '.join(names)}" if names else ""


def _printed(leads: list[Lead], titles: Mapping[str, str]) -> pd.DataFrame:
    rows = [
        (
            titles[lead.activation],
            lead.title if lead.counted else f"{lead.title}, not counted",
            number(lead.fixed.after),
            gain_text(lead.fixed),
            gain_text(lead.chosen),
        )
        for lead in leads
    ]
    return pd.DataFrame(rows, columns=["", "data set", "FP", "lead, fixed rate", "lead, chosen rate"])
