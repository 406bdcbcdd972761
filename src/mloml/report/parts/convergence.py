"""Error against scans for FP, BP and FBP, to see whether FP speeds up BP's convergence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from mloml.report.captions import caption
from mloml.report.document import DASH, Block, Figure, Table, Text, number
from mloml.report.figures.curves import (
    AXIS,
    by_split,
    curve_frame,
    draw_curve,
    paired_spread,
    plotted_numbers,
)
from mloml.report.figures.panels import error_axis, panel_page, whole_ticks
from mloml.report.labels import Labels
from mloml.report.parts.catching_up import catching_up_frame, catching_up_sentences
from mloml.report.parts.strategies import STRATEGIES, STYLES, activations, strategy_of

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

NEVER = "not within the scans"


def scan_curves(records: Sequence[Mapping[str, Any]], labels: Labels) -> pd.DataFrame:
    """Return the error after every scan, one row per split, of complete cells that recorded it."""
    curves = curve_frame([record for record in records if record.get("scan_errors")], "scan_errors", "scan")
    curves = curves[curves["scan"] > 0]
    splits = curves.groupby(["dataset", "algorithm"])["split"].transform("nunique")
    return curves[splits == labels.splits].reset_index(drop=True)


def convergence_frame(numbers: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Return mean errors after the first and the last scan, and the scan in which BP's mean catches up.

    ``*_catches_up`` is the first scan at which BP's mean error is no higher than FBP's after one scan;
    empty when it never is. What happens in single splits is in :mod:`mloml.report.parts.catching_up`.
    """
    curves = {
        (str(dataset), str(algorithm)): part.sort_values("scan")["mean"].to_numpy()
        for (dataset, algorithm), part in numbers.groupby(["dataset", "algorithm"], sort=False)
    }
    rows = []
    for base in activations(labels.algorithms):
        for dataset in labels.datasets:
            mine = {s: curves.get((dataset, base if s == "fp" else f"{base}_{s}")) for s in STRATEGIES}
            if mine["fbp"] is None or mine["bp"] is None:
                continue
            row: dict[str, Any] = {"dataset": dataset, "activation": base}
            for strategy, curve in mine.items():
                row[f"{strategy}_first"] = None if curve is None else float(curve[0])
                row[f"{strategy}_last"] = None if curve is None else float(curve[-1])
            for strategy in ("bp", "bp_cv"):
                row[f"{strategy}_catches_up"] = _first_scan(mine[strategy], float(mine["fbp"][0]))
            rows.append({**row, "counted": dataset not in labels.uncounted})
    return pd.DataFrame(rows)


def average_sentences(convergence: pd.DataFrame) -> list[str]:
    """Give the average errors after the first and the last scan, over pairs that have all strategies."""
    if convergence.empty:
        return []
    ends = [f"{strategy}_{end}" for strategy in STRATEGIES for end in ("first", "last")]
    known = convergence[convergence["counted"].astype(bool)].dropna(subset=ends)
    if known.empty:
        return []
    parts = [
        f"{title} {number(known[f'{strategy}_first'].mean())} and {number(known[f'{strategy}_last'].mean())}"
        for strategy, title in STRATEGIES.items()
    ]
    return [
        f"Mean errors after the first and the last scan, over {len(known)} (dataset, activation) pairs: "
        f"{'; '.join(parts)}."
    ]


def convergence_figure(curves: pd.DataFrame, base: str, labels: Labels) -> Drawing:
    """Draw error against scans, one panel per dataset that has curves, one line per strategy.

    The band of a strategy is the standard error of its paired difference to FP after the same scan.
    """
    mine = curves[[strategy_of(name)[0] == base for name in curves["algorithm"]]]
    tables = by_split(mine, "scan")
    steps = int(mine["scan"].max())

    def draw(axes: Axes, dataset: str) -> None:
        forward = tables.get((dataset, base))
        for strategy, title in STRATEGIES.items():
            errors = tables.get((dataset, base if strategy == "fp" else f"{base}_{strategy}"))
            if errors is None:
                continue
            spread = None if forward is None or strategy == "fp" else paired_spread(errors, forward)
            style = STYLES[strategy]
            marks = {"linestyle": style.line, "marker": style.marker, "markersize": 2.5}
            draw_curve(axes, errors.mean(), spread, style.colour, title, **marks)
        axes.set_xticks(whole_ticks(steps))
        error_axis(axes)

    titles = labels.starred(name for name in labels.datasets if name in set(mine["dataset"]))
    return panel_page(titles, draw, ("scans over the training half", AXIS), columns=4, height=1.3)


def compare_convergence(result: StudyResult, labels: Labels) -> tuple[tuple[str, ...], Table, Table, Table]:
    """Return the answer in sentences, the table with a figure per activation, every curve and every split."""
    curves = scan_curves(result.records, labels)
    numbers = plotted_numbers(curves, "scan")
    convergence = convergence_frame(numbers, labels)
    splits = catching_up_frame(curves, labels)
    sentences = (*catching_up_sentences(splits), *average_sentences(convergence))
    page: list[Block] = [Text((caption("convergence_claim"),)), Text(sentences, listed=True)]
    for base, title in activations(labels.algorithms).items():
        mine = [strategy_of(name)[0] == base for name in curves["algorithm"]]
        there = set(curves["dataset"][mine])
        figure = Figure(
            f"convergence_{base}",
            f"Error against scans: FP, BP and FBP of {title}",
            caption("convergence") + labels.left_out(labels.datasets, there),
            partial(convergence_figure, curves, base, labels),
            ready=result.finished and bool(there),
        )
        page += [Text(heading=title), figure, _printed(convergence, base, labels)]
    page.append(labels.notes_text(starred=True))
    table = Table("convergence", "Does FP speed up convergence?", convergence, tuple(page))
    return (
        sentences,
        table,
        Table("scans", "Errors after each scan", numbers),
        Table("catching_up", "Scans until BP catches up with FBP, split by split", splits),
    )


def _first_scan(curve: Any, level: float) -> float | None:
    if curve is None:
        return None
    return next((float(scan) for scan, error in enumerate(curve, start=1) if error <= level), None)


def _printed(convergence: pd.DataFrame, base: str, labels: Labels) -> pd.DataFrame:
    """Return the table of one activation for readers."""
    titles = labels.starred(labels.datasets)
    rows = []
    for cell in convergence.to_dict("records"):
        if cell["activation"] != base:
            continue
        row = {"dataset": titles[cell["dataset"]]}
        for strategy, title in STRATEGIES.items():
            ends = (cell[f"{strategy}_first"], cell[f"{strategy}_last"])
            row[f"{title}: first → last scan"] = DASH if pd.isna(ends[0]) else " → ".join(map(number, ends))
        for strategy in ("bp", "bp_cv"):
            scan = cell[f"{strategy}_catches_up"]
            known = not pd.isna(cell[f"{strategy}_first"])
            row[f"{STRATEGIES[strategy]} catches up"] = (
                (NEVER if pd.isna(scan) else f"{scan:g}") if known else DASH
            )
        rows.append(row)
    return pd.DataFrame(rows)
