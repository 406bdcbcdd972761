"""Figures on the theory: eigenvalues and failures, regret against its bounds, layers, loss weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from mloml.reporting.figures.panels import grid_of_panels, labelled
from mloml.reporting.figures.style import BLACK, BLUE, GREEN, GREY, ORANGE, PAGE_WIDTH, PURPLE, SKY, VERMILION

LAYER_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE)
MARKERS = "os^Dv"


def definiteness_figure(frame: pd.DataFrame) -> Figure:
    """Draw, against γ, the share of steps that break Theorem 1's condition and that would leave the cone."""
    datasets = list(dict.fromkeys(frame["dataset"]))
    figure, panels = grid_of_panels(len(datasets))
    for axes, dataset in zip(panels, datasets, strict=True):
        part = frame[frame["dataset"] == dataset]
        for layer, rows in part.groupby("layer"):
            style: dict[str, Any] = {"color": LAYER_COLOURS[layer - 1], "marker": MARKERS[layer - 1]}
            axes.plot(
                rows["gamma"], rows["share_leaving_cone"], **style, label=f"leaves the cone, layer {layer}"
            )
            broken = rf"$\gamma > \lambda_{{\min}}/4$, layer {layer}"
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
    """Draw how often the next layer is no worse, better and worse; and the ratio of distances by layer."""
    figure = Figure(figsize=(PAGE_WIDTH, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    steps = layers.assign(
        step=[f"{a}→{b}" for a, b in zip(layers["layer"], layers["next_layer"], strict=True)]
    )
    table = steps.groupby("step")[["share_better", "share_worse"]].mean()
    equal = 1.0 - table.sum(axis=1)
    bottom = np.zeros(len(table))
    bars = {"better": (table["share_better"], BLUE, ""), "equal": (equal, "#c8c8c8", ""),
            "worse": (table["share_worse"], VERMILION, "////")}  # fmt: skip
    for name, (share, colour, hatch) in bars.items():
        left.bar(table.index, share, bottom=bottom, color=colour, edgecolor="white", hatch=hatch, label=name)
        bottom = bottom + share.to_numpy()
    left.yaxis.set_major_formatter(PercentFormatter(1.0))
    left.set(xlabel="from layer to layer", ylabel="share of splits (mean over datasets)")
    left.set_title("Error of the next layer")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
    ratio = geometry.pivot_table(index="dataset", columns="layer", values="within_over_between", sort=False)
    for place, (dataset, row) in enumerate(ratio.iterrows()):
        colour = (*LAYER_COLOURS, SKY, BLACK, GREY)[place % 8]
        line = ("-", "--", ":")[place // 8 % 3]
        right.plot(row.index, row / row.iloc[0], color=colour, linestyle=line, label=str(dataset))
    right.set_xticks(list(ratio.columns))
    right.axhline(1.0, color=GREY, linewidth=0.6)
    right.set(xlabel="metric layer", ylabel="within/between distance, layer 1 = 1")
    right.set_title("Distances on the test half")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4, fontsize=6)
    return figure


def weights_figure(frame: pd.DataFrame) -> Figure:
    """Draw w_i against scans: one panel per local loss and rate, mean over datasets and activations."""
    combinations = list(dict.fromkeys(zip(frame["local_loss"], frame["rate"], strict=True)))
    figure, panels = grid_of_panels(len(combinations), columns=3)
    for axes, (loss, rate) in zip(panels, combinations, strict=True):
        part = frame[(frame["local_loss"] == loss) & (frame["rate"] == rate)]
        for layer, rows in part.groupby("layer"):
            grouped = rows.groupby("scan")["weight"]
            colour = LAYER_COLOURS[layer - 1]
            axes.plot(
                grouped.median().index,
                grouped.median(),
                color=colour,
                label=f"layer {layer}, median and range",
            )
            axes.fill_between(
                grouped.min().index, grouped.min(), grouped.max(), color=colour, alpha=0.12, linewidth=0
            )
        name = "γ · hinge" if loss == "scaled" else "hinge"
        axes.set_title(f"local loss {name}, rate {rate:g}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(-0.03, 1.03)
    return labelled(figure, panels, ("scans over the training half", "weight of the local loss"))
