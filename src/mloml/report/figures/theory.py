"""Figures on the theory: eigenvalues and failures, regret against its bounds, layers, loss weights.

Frames come with the printed names of their datasets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from mloml.report.figures.panels import BAND_ALPHA, grid_of_panels, labelled, whole_ticks
from mloml.report.figures.style import BLACK, BLUE, GREEN, GREY, ORANGE, PAGE_WIDTH, PURPLE, SKY, VERMILION

LAYER_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE)
DATASET_COLOURS = (*LAYER_COLOURS, SKY, BLACK, GREY)
MARKERS = "os^DvP<>X*hd"
DASHES = ("-", "--", ":", "-.", (0, (5, 1.5)))
LEVEL = 0.05


def definiteness_figure(frame: pd.DataFrame) -> Figure:
    """Draw, against γ, the share of steps that break Theorem 1's condition and that would leave the cone."""
    datasets = list(dict.fromkeys(frame["dataset"]))
    figure, panels = grid_of_panels(len(datasets))
    for axes, dataset in zip(panels, datasets, strict=True):
        part = frame[frame["dataset"] == dataset]
        for layer, rows in part.groupby("layer"):
            style: dict[str, Any] = {"color": LAYER_COLOURS[layer - 1], "marker": MARKERS[layer - 1]}
            left = f"would leave the cone, layer {layer}"
            axes.plot(rows["gamma"], rows["share_leaving_cone"], **style, label=left)
            broken = rf"condition broken ($\gamma > \lambda_{{\min}}/4$), layer {layer}"
            hollow: dict[str, Any] = {"linestyle": ":", "markerfacecolor": "white"}
            axes.plot(rows["gamma"], rows["share_condition_broken"], **style, **hollow, label=broken)
        axes.set_xscale("log")
        axes.set_title(dataset)
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return labelled(figure, panels, ("step size γ", "share of active steps"))


def regret_figure(frame: pd.DataFrame, line: pd.DataFrame, phi: float = 1.0) -> Figure:
    """Draw regret and both bounds against T: the counterexample first, then each dataset's best matrix."""
    parts = {"on the line, U = −1/4": line}
    best = frame[(frame["comparator"] == "best") & (frame["phi"] == phi)]
    parts |= {f"{name}, best fixed U": part for name, part in best.groupby("dataset", sort=False)}
    figure, panels = grid_of_panels(len(parts))
    for axes, (title, part) in zip(panels, parts.items(), strict=True):
        positive = part["regret"].where(part["regret"] > 0)
        axes.plot(part["T"], positive, color=BLUE, marker="o", label="regret (where positive)")
        axes.plot(part["T"], part["claimed_bound"], color=VERMILION, linestyle="--", label="bound as claimed")
        axes.plot(part["T"], part["corrected_bound"], color=BLACK, linestyle="-.", label="bound as corrected")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(title, fontsize=6.5)
    return labelled(figure, panels, ("number of triplets T", "summed loss"))


def layers_figure(layers: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Draw how often the next layer is better, equal and worse; and the ratio of distances by layer."""
    figure = Figure(figsize=(PAGE_WIDTH, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.1))
    _draw_shares(left, layers)
    ratio = geometry.pivot_table(index="dataset", columns="layer", values="within_over_between", sort=False)
    for place, (dataset, row) in enumerate(ratio.iterrows()):
        right.plot(
            row.index,
            row / row.iloc[0],
            color=DATASET_COLOURS[place % len(DATASET_COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            label=str(dataset),
        )
    right.set_xticks(list(ratio.columns))
    right.axhline(1.0, color=GREY, linewidth=0.6)
    right.set(xlabel="metric layer", ylabel="within/between distance, layer 1 = 1")
    right.set_title("Distances on the test half")
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=6.5, labelspacing=0.6)
    return figure


def _draw_shares(axes: Axes, layers: pd.DataFrame) -> None:
    """Draw stacked shares of splits for each step to the next layer, and above them what is significant."""
    steps = [f"{a}→{b}" for a, b in zip(layers["layer"], layers["next_layer"], strict=True)]
    named = layers.assign(step=steps)
    table = named.groupby("step")[["share_better", "share_worse"]].mean()
    equal = 1.0 - table.sum(axis=1)
    bottom = np.zeros(len(table))
    bars = {"better": (table["share_better"], BLUE, ""), "equal": (equal, "#c8c8c8", ""),
            "worse": (table["share_worse"], VERMILION, "////")}  # fmt: skip
    for name, (share, colour, hatch) in bars.items():
        axes.bar(table.index, share, bottom=bottom, color=colour, edgecolor="white", hatch=hatch, label=name)
        bottom = bottom + share.to_numpy()
    for place, step in enumerate(table.index):
        rows = named[named["step"] == step]
        strict, plain = (_rises_and_falls(rows, test) for test in ("p_corrected", "p_paired"))
        axes.text(place, 1.02, f"{strict}\n({plain})", ha="center", va="bottom", fontsize=6)
    axes.set_ylim(0, 1.16)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set(xlabel="from layer to layer", ylabel="share of splits (mean over datasets)")
    axes.set_title("Error of the next layer")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)


def _rises_and_falls(rows: pd.DataFrame, test: str) -> str:
    """Count the datasets whose mean error falls and rises significantly: ``2↓ 0↑``."""
    differences = rows.loc[rows[test] < LEVEL, "difference"]
    return f"{(differences < 0).sum()}↓ {(differences > 0).sum()}↑"


def weights_figure(frame: pd.DataFrame) -> Figure:
    """Draw w_i against scans: one panel per local loss and rate, over datasets and activations."""
    combinations = list(dict.fromkeys(zip(frame["local_loss"], frame["rate"], strict=True)))
    figure, panels = grid_of_panels(len(combinations), columns=3)
    ticks = whole_ticks(int(frame["scan"].max()))
    for axes, (loss, rate) in zip(panels, combinations, strict=True):
        part = frame[(frame["local_loss"] == loss) & (frame["rate"] == rate)]
        for layer, rows in part.groupby("layer"):
            grouped = rows.groupby("scan")["weight"]
            low, middle, high = grouped.min(), grouped.median(), grouped.max()
            colour = LAYER_COLOURS[layer - 1]
            axes.plot(
                middle.index, middle, color=colour, label=f"layer {layer}, median", marker=MARKERS[layer - 1],
                linestyle=DASHES[layer - 1], markevery=[tick - 1 for tick in ticks],
            )  # fmt: skip
            axes.fill_between(
                low.index, low, high, color=colour, alpha=BAND_ALPHA, linewidth=0, label="smallest to largest"
            )
        name = "γ · hinge" if loss == "scaled" else "hinge"
        axes.set_title(f"local loss {name}, rate {rate:g}")
        axes.set_xticks(ticks)
        axes.set_ylim(-0.03, 1.03)
    return labelled(figure, panels, ("scans over the training half", "weight of the local loss"))
