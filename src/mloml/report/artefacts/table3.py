"""Table III: BP, FBP and FP for three activations, and what the paper's text claims about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mloml import paper
from mloml.arrays import Array
from mloml.paper.statistics import median_time
from mloml.report.comparison import agreement_counts, compare_with_paper
from mloml.report.curves import points_table
from mloml.report.document import MARKS, Artefact, Figure, Grid, Table
from mloml.report.figures.curves import by_split, curve_frame, curves_figure, plotted_numbers
from mloml.report.gains import count_gains, gains_of, one_row_each
from mloml.report.labels import Labels, labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, build_grid, count_tables, summarise

if TYPE_CHECKING:
    from mloml.config.schema import Study
    from mloml.experiments.study import StudyResult

# Propagation strategies by the ending of a variant's name; FP is the algorithm itself, without an ending.
STRATEGIES = {"bp": "BP", "bp_cv": "BP, rate by CV", "fbp": "FBP", "fp": "FP"}
# BP at the protocol's learning rate, and at one chosen by cross-validation.
RATES = {"bp": "fixed", "bp_cv": "chosen"}
# Columns of :func:`catching_up_frame`: who leads after one scan, and what it means to catch up.
GOALS = {
    "level": ("FBP", "BP reaches FBP's error after one scan"),
    "same": ("FBP", "BP reaches FBP's error after the same scan"),
    "back": ("BP", "FBP reaches BP's error after one scan"),
}
CATCHING_UP = (
    "dataset", "activation", "rate", "split", "fbp_first", "bp_first", "scans", *GOALS, "counted",
)  # fmt: skip


def build(result: StudyResult, cost: pd.DataFrame) -> Artefact:
    """Return Table III from the cells there are, and what a triplet costs under each strategy."""
    names = [algorithm.name for algorithm in result.study.algorithms]
    titles = activations(names)
    labels = labels_of(result, {name: titles[strategy_of(name)[0]] for name in names})
    results = summarise(result.frame, labels, references(names))
    compared = compare_with_paper(
        results, paper.table3(), paper.table3_counts(), "Table III", result.finished
    )
    only_here = ~compared.verdicts["algorithm"].isin(paper.ALGORITHMS.values())
    leads = leads_of(results)
    bp_rate, leads_shown = bp_rate_frames(leads, results)
    curves = scan_curves(result.records, labels)
    numbers = plotted_numbers(curves, "scan")
    convergence, splits = convergence_frame(numbers, labels), catching_up_frame(curves, labels)
    values = {
        **compared.values,
        "only_here": agreement_counts(compared.verdicts[only_here]),
        "wrong_marks": wrong_marks(),
        "rate": result.study.protocol.bp_rate,
        "all_rates": count_gains(leads, ["step"]).set_index("step").to_dict("index"),
        "rates": count_gains(leads, ["activation", "step"]).rename(columns={"step": "BP's rate"}),
        "rate_grid": strategy_grid(results, "tab:bp-rate", without="fbp"),
        "leads": leads_shown,
        "activations": titles,
        "averages": averages(convergence),
        "catching_up": catching_up_counts(splits),
        "times_fp": {name: part["times_fp"] for name, part in cost.groupby("strategy")},
    }
    grid = strategy_grid(results, "tab:table3", without="bp_cv")
    tables = (
        Table("table3", grid, RECIPE.title, latex=grid),
        *compared.tables,
        *count_tables(results),
        Table("bp_rate", bp_rate, "FP's lead over BP at both rates"),
        Table("convergence", convergence, "Mean errors after the first and the last scan"),
        Table("cost", cost, "Cost per triplet of FP, BP and FBP"),
        Table("scans", numbers, "Mean errors after every scan"),
        Table("catching_up", splits, "Scans until BP catches up with FBP, in every split"),
        points_table(curve_frame(result.records, "scan_errors", "scan"), "scan"),
    )
    return Artefact(values, tables, (*compared.figures, *_figures(curves, labels, titles, result.finished)))


def measure(study: Study) -> pd.DataFrame:
    """Time a triplet under each strategy."""
    from mloml.paper.timing import cost_per_triplet

    return cost_per_triplet()


def wrong_marks() -> pd.DataFrame:
    """Return the marks of the paper's Table III that its own means and counts contradict."""
    table = paper.table3()
    fp = table[["dataset", "algorithm", "error"]].set_axis(["dataset", "reference", "error_of_FP"], axis=1)
    wrong = table[table["mark"] != table["corrected_mark"]].replace(MARKS).merge(fp)
    return wrong[["dataset", "algorithm", "error", "error_of_FP", "mark", "corrected_mark"]]


def strategy_of(algorithm: str) -> tuple[str, str]:
    """Split a variant's name into the algorithm and its propagation strategy.

    >>> strategy_of("mloml_r_bp_cv"), strategy_of("mloml_s_fbp"), strategy_of("mloml_t")
    (('mloml_r', 'bp_cv'), ('mloml_s', 'fbp'), ('mloml_t', 'fp'))
    """
    for ending in ("bp_cv", "fbp", "bp"):
        if algorithm.endswith(f"_{ending}"):
            return algorithm.removesuffix(f"_{ending}"), ending
    return algorithm, "fp"


def variant(base: str, strategy: str) -> str:
    """Return the name of an algorithm under a propagation strategy.

    >>> variant("mloml_r", "bp"), variant("mloml_r", "fp")
    ('mloml_r_bp', 'mloml_r')
    """
    return base if strategy == "fp" else f"{base}_{strategy}"


def activations(algorithms: Iterable[str]) -> dict[str, str]:
    """Return the algorithms without their endings, with printed titles, in order of appearance.

    >>> activations(["mloml_r_bp", "mloml_r", "mloml_s_bp"])
    {'mloml_r': 'MLOML-r', 'mloml_s': 'MLOML-s'}
    """
    titles = {name: title for title, name in paper.ALGORITHMS.items()}
    bases = dict.fromkeys(strategy_of(name)[0] for name in algorithms)
    return {base: titles.get(base, base) for base in bases}


def references(algorithms: Iterable[str]) -> dict[str, str]:
    """Return FP of the same activation as the reference of every variant.

    >>> references(["mloml_r", "mloml_r_bp"])
    {'mloml_r_bp': 'mloml_r'}
    """
    return {name: base for name in algorithms if (base := strategy_of(name)[0]) != name}


def strategy_grid(results: Results, label: str, without: str) -> Grid:
    """Return errors of each activation in the paper's layout, but for one strategy."""
    shown = [name for name in results.labels.algorithms if strategy_of(name)[1] != without]
    return build_grid(results, label, shown, {name: STRATEGIES[strategy_of(name)[1]] for name in shown})


def leads_of(results: Results) -> pd.DataFrame:
    """Return FP's lead (BP's error minus FP's) where FP and BP at both rates are complete."""
    bases = activations(results.labels.algorithms)
    return gains_of(results, {b: {"fixed": (f"{b}_bp", b), "chosen": (f"{b}_bp_cv", b)} for b in bases})


def bp_rate_frames(leads: pd.DataFrame, results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return FP's leads with intervals and marks for CSV, and as texts for readers."""
    errors = {"fp": "{}", "bp": "{}_bp", "bp_cv": "{}_bp_cv"}
    parts = {"gain": "lead", "low": "low", "high": "high", "mark_paired": "mark"}
    named = leads.rename(columns=parts)
    frame = one_row_each(named, results, errors, [*parts.values(), "mark_corrected"], "{part}_{step}")
    shown = one_row_each(leads, results, {}, ["text"], "lead, {step} rate").drop(columns="counted")
    titles = results.labels.starred(results.labels.datasets)
    return (
        frame.rename(columns=lambda name: name.removesuffix("_fixed").replace("_chosen", "_cv")),
        shown.assign(dataset=shown["dataset"].map(titles)),
    )


def scan_curves(records: Sequence[Mapping[str, Any]], labels: Labels) -> pd.DataFrame:
    """Return the error after every scan, one row per split, of complete cells that recorded it."""
    curves = curve_frame([record for record in records if record.get("scan_errors")], "scan_errors", "scan")
    curves = curves[curves["scan"] > 0]
    splits = curves.groupby(["dataset", "algorithm"])["split"].transform("nunique")
    return curves[splits == labels.splits].reset_index(drop=True)


def convergence_frame(numbers: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Return mean errors after the first and the last scan, where BP and FBP have recorded their scans."""
    means = numbers.groupby(["dataset", "algorithm"], sort=False)["mean"]
    ends: Any = means.agg(["first", "last"]).to_dict("index")
    rows = []
    for base, dataset in product(activations(labels.algorithms), labels.datasets):
        known = {name: ends.get((dataset, variant(base, name)), {}) for name in STRATEGIES}
        if known["fbp"] and known["bp"]:
            row = {f"{name}_{end}": known[name].get(end) for name in STRATEGIES for end in ("first", "last")}
            counted = dataset not in labels.uncounted
            rows.append({"dataset": dataset, "activation": base, **row, "counted": counted})
    return pd.DataFrame(rows)


def averages(convergence: pd.DataFrame) -> pd.DataFrame:
    """Return mean errors after the first and the last scan, over counted cases that have all strategies."""
    known = convergence[convergence["counted"]] if len(convergence) else convergence
    known = known.dropna(subset=[name for name in known if str(name).endswith(("_first", "_last"))])
    rows = [
        (title, len(known), known[f"{strategy}_first"].mean(), known[f"{strategy}_last"].mean())
        for strategy, title in STRATEGIES.items()
        if len(known)
    ]
    return pd.DataFrame(rows, columns=["strategy", "cases", "after the first scan", "after the last scan"])


def catching_up_frame(curves: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Return, for every split, both errors after one scan and the scan in which the other catches up.

    The columns of :data:`GOALS` are the first scan in which the goal is reached, empty if there is none.
    """
    errors = by_split(curves, "scan")
    rows = []
    for base, dataset, rate in product(activations(labels.algorithms), labels.datasets, RATES):
        ours, theirs = (errors.get((dataset, variant(base, name))) for name in ("fbp", rate))
        if ours is None or theirs is None:
            continue
        for split in ours.index.intersection(theirs.index):
            fbp, bp = ours.loc[split].to_numpy(), theirs.loc[split].to_numpy()
            goals = [first_scan(reached) for reached in (bp <= fbp[0], bp <= fbp, fbp <= bp[0])]
            counted = dataset not in labels.uncounted
            rows.append((dataset, base, rate, split, fbp[0], bp[0], len(bp), *goals, counted))
    return pd.DataFrame(rows, columns=list(CATCHING_UP))


def first_scan(reached: Array) -> float | None:
    """Return the first scan, from 1 on, in which something is reached.

    >>> first_scan(np.array([False, True, True])), first_scan(np.array([False]))
    (2.0, None)
    """
    return float(np.argmax(reached) + 1) if reached.any() else None


def catching_up_counts(splits: pd.DataFrame) -> pd.DataFrame:
    """Count leads after one scan, and what becomes of them: the Kaplan-Meier median, and how many last.

    A case is a data set under an activation in one split; sets that are not counted are left out. The
    median is empty if more than half never reach the goal.
    """
    rows = []
    for rate in RATES:
        cases = splits[splits["counted"].astype(bool) & (splits["rate"] == rate)]
        ahead = {"FBP": cases["fbp_first"] < cases["bp_first"], "BP": cases["fbp_first"] > cases["bp_first"]}
        for goal, (leader, words) in GOALS.items():
            leads = cases[ahead[leader]]
            known = leads[goal].notna()
            median = median_time(leads[goal].where(known, leads["scans"]), known) if len(leads) else None
            if len(cases):
                rows.append((RATES[rate], words, len(cases), len(leads), median, int((~known).sum())))
    return pd.DataFrame(rows, columns=["BP's rate", "goal", "cases", "leads", "median scan", "never"])


def _figures(curves: pd.DataFrame, labels: Labels, titles: Mapping[str, str], finished: bool) -> list[Figure]:
    """Return a figure of each activation's curves; bands are those of the paired difference to FP."""
    found = []
    known = curves["algorithm"].map(strategy_of)
    for base, title in titles.items():
        mine = curves.assign(algorithm=known.str[1])[known.str[0] == base]
        datasets = labels.starred(name for name in labels.datasets if name in set(mine["dataset"]))
        numbers = plotted_numbers(mine, "scan", dict.fromkeys(("bp", "bp_cv", "fbp"), "fp"))
        draw = partial(curves_figure, numbers, "scan", datasets, STRATEGIES, "scans over the training half")
        words = f"Error against scans: FP, BP and FBP of {title}"
        found.append(Figure(f"convergence_{base}", draw, words, ready=finished and len(mine) > 0))
    return found


RECIPE = Recipe(
    "table3",
    "Table III: propagation strategies",
    "BP, FBP and FP with ReLU, sigmoid and tanh.",
    build,
    before=measure,
)
