"""How much of FP's lead over BP is due to BP's learning rate."""

from __future__ import annotations

import pandas as pd

from mloml.analysis.statistics.compare import win_tie_loss
from mloml.reporting.captions import caption
from mloml.reporting.document import Table, Text, number
from mloml.reporting.parts.strategies import STRATEGIES, activations, strategy_of
from mloml.reporting.tables import Results, build_grid

COLUMNS = ("dataset", "activation", "fp", "bp", "bp_cv", "lead", "lead_cv", "mark", "mark_cv", "counted")


def bp_rate_frame(results: Results) -> pd.DataFrame:
    """Return FP's lead over BP (BP's error less FP's) at both rates, where all three are complete."""
    labels = results.labels
    means = {(c["dataset"], c["algorithm"]): c["mean"] for c in results.complete.to_dict("records")}
    marks = {(c["dataset"], c["algorithm"]): c["mark_paired"] for c in results.comparisons.to_dict("records")}
    rows = []
    for base in activations(labels.algorithms):
        names = (base, f"{base}_bp", f"{base}_bp_cv")
        for dataset in labels.datasets:
            fp, bp, bp_cv = (means.get((dataset, name)) for name in names)
            if fp is None or bp is None or bp_cv is None:
                continue
            outcomes = [marks[(dataset, name)] for name in names[1:]]
            counted = dataset not in labels.uncounted
            rows.append((dataset, base, fp, bp, bp_cv, bp - fp, bp_cv - fp, *outcomes, counted))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def bp_rate_sentences(leads: pd.DataFrame, titles: dict[str, str], rate: float | None) -> list[str]:
    """Answer the question for each activation, over the counted datasets."""
    if rate is None:
        return [
            "This protocol chooses BP's rate by cross-validation anyway: both columns of BP are the same."
        ]
    counted = leads[leads["counted"].astype(bool)]
    sentences = []
    for base, title in titles.items():
        mine = counted[counted["activation"] == base]
        if mine.empty:
            continue
        lead, lead_cv = float(mine["lead"].mean()), float(mine["lead_cv"].mean())
        share = f" ({_gone(lead, lead_cv)} of the lead goes)" if lead > 0 else ""
        wins = [win_tie_loss(mine[column]) for column in ("mark", "mark_cv")]
        sentences.append(
            f"{title}, {len(mine)} datasets: BP's error at the rate {rate:g} is {number(lead)} above FP's on "
            f"average (win/tie/loss of FP {wins[0]}); with the rate chosen by cross-validation it is "
            f"{number(lead_cv)} ({wins[1]}){share}."
        )
    return sentences or ["No dataset is complete for BP at both rates and FP yet."]


def bp_rate_headline(leads: pd.DataFrame, titles: dict[str, str], rate: float | None) -> str:
    """Say in one sentence which share of FP's lead goes with a chosen rate; nothing where there is no lead.

    >>> leads = pd.DataFrame({"activation": ["mloml_r"], "lead": [0.02], "lead_cv": [0.005], "counted": True})
    >>> bp_rate_headline(leads, {"mloml_r": "MLOML-r"}, 1e-4)
    "With BP's rate chosen by cross-validation, this much of FP's lead over BP goes: MLOML-r 75 %."
    """
    means = leads[leads["counted"].astype(bool)].groupby("activation")[["lead", "lead_cv"]].mean()
    shares = [
        f"{title} {_gone(means['lead'][base], means['lead_cv'][base])}"
        for base, title in titles.items()
        if base in means.index and means["lead"][base] > 0
    ]
    if rate is None or not shares:
        return ""
    gone = ", ".join(shares)
    return f"With BP's rate chosen by cross-validation, this much of FP's lead over BP goes: {gone}."


def compare_rates(results: Results, rate: float | None) -> tuple[str, tuple[str, ...], Table]:
    """Return the answer in one sentence, by activation, and as a table."""
    leads = bp_rate_frame(results)
    titles = activations(results.labels.algorithms)
    sentences = tuple(bp_rate_sentences(leads, titles, rate))
    shown = [name for name in results.labels.algorithms if strategy_of(name)[1] != "fbp"]
    fixed = "chosen by the protocol" if rate is None else f"{rate:g}"
    columns = {name: STRATEGIES[strategy_of(name)[1]] for name in shown}
    grid = build_grid(
        results, caption("bp_rate", rate=fixed), "tab:bp-rate", shown, columns, [caption("bp_rate_marks")]
    )
    title = "How much of FP's lead is BP's learning rate?"
    table = Table("bp_rate", title, leads, (Text(sentences, listed=True), grid))
    return bp_rate_headline(leads, titles, rate), sentences, table


def _gone(lead: float, lead_cv: float) -> str:
    """Say how much of a lead is gone.

    >>> _gone(0.02, 0.005), _gone(0.02, -0.001), _gone(0.02, 0.03)
    ('75 %', 'all', 'none')
    """
    if lead_cv <= 0:
        return "all"
    return f"{100 * (1 - lead_cv / lead):.0f} %" if lead_cv < lead else "none"
