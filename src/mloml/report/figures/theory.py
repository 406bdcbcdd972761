"""Figures on the theory: eigenvalues and failures, regret against its bounds, layers, loss weights.

Frames come with the printed names of their data sets.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from mloml.report.figures.panels import BAND_ALPHA, grid_of_panels, labelled, whole_ticks
from mloml.report.figures.style import BLACK, BLUE, GREY, ORANGE, PAGE_WIDTH, PALETTE, SKY, VERMILION

MARKERS = "os^DvP<>X*hd"
DASHES = ("-", "--", ":", "-.", (0, (5, 1.5)))
LEVEL = 0.05
# Of a layer: dark and light.
SHADES = ((BLUE, SKY), (VERMILION, ORANGE), (BLACK, GREY), ("#882255", "#CC79A7"))


def definiteness_figure(frame: pd.DataFrame) -> Figure:
    """Draw, against γ, the share of steps that break Theorem 1's condition and that would leave the cone.

    Data sets on which no step does either have no panel.
    """
    some = (
        frame.groupby("dataset")[["share_leaving_cone", "share_condition_broken"]]
        .transform("max")
        .max(axis=1)
    )
    parts = list(frame[some > 0].groupby("dataset", sort=False)) or list(frame.groupby("dataset", sort=False))
    figure, panels = grid_of_panels(len(parts))
    for axes, (dataset, part) in zip(panels, parts, strict=True):
        for (layer, rows), (dark, light), marker in zip(part.groupby("layer"), SHADES, MARKERS, strict=False):
            style: dict[str, Any] = {"color": dark, "marker": marker}
            left = f"would leave the cone, layer {layer}"
            axes.plot(rows["gamma"], rows["share_leaving_cone"], **style, label=left)
            style |= {"color": light, "linestyle": ":", "markerfacecolor": "white"}
            broken = rf"condition broken ($\gamma > \lambda_{{\min}}/4$), layer {layer}"
            axes.plot(rows["gamma"], rows["share_condition_broken"], **style, label=broken)
        axes.set(xscale="log", title=dataset, ylim=(-0.03, 1.03))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return labelled(figure, panels, ("step size γ", "share of active steps"))


def regret_figure(frame: pd.DataFrame, line: pd.DataFrame, phi: float = 1.0) -> Figure:
    """Draw regret and both bounds against T: the counterexample first, then each data set's best matrix."""
    best = frame[(frame["comparator"] == "best") & (frame["phi"] == phi)]
    parts = {f"counterexample, Φ = {value:g}": part for value, part in line.groupby("phi")}
    parts |= {f"{name}, best fixed U": part for name, part in best.groupby("dataset", sort=False)}
    figure, panels = grid_of_panels(len(parts))
    for axes, (title, part) in zip(panels, parts.items(), strict=True):
        positive = part["regret"].where(part["regret"] > 0)
        axes.plot(part["T"], positive, color=BLUE, marker="o", label="regret (where positive)")
        axes.plot(part["T"], part["claimed_bound"], color=VERMILION, linestyle="--", label="bound as claimed")
        axes.plot(part["T"], part["corrected_bound"], color=BLACK, linestyle="-.", label="bound as corrected")
        axes.set(xscale="log", yscale="log")
        axes.set_title(title, fontsize=6.5)
    return labelled(figure, panels, ("number of triplets T", "regret and its bounds (summed loss)"))


def layers_figure(layers: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Draw how often the next layer is better, equal and worse; and the ratio of distances by layer."""
    figure = Figure(figsize=(PAGE_WIDTH, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.1))
    _draw_shares(left, layers)
    ratio = geometry.pivot_table(index="dataset", columns="layer", values="within_over_between", sort=False)
    for place, (dataset, row) in enumerate(ratio.iterrows()):
        colour, marker = PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)]
        right.plot(row.index, row / row.iloc[0], color=colour, marker=marker, label=str(dataset))
    right.set_xticks(list(ratio.columns))
    right.axhline(1.0, color=GREY, linewidth=0.6)
    right.set(xlabel="metric layer", ylabel="within/between distance, layer 1 = 1")
    right.set_title("Distances on the test half")
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=6.5, labelspacing=0.6)
    return figure


def _draw_shares(axes: Axes, layers: pd.DataFrame) -> None:
    """Draw stacked shares of splits for each step to the next layer, and above them what is significant."""
    named = layers.assign(step=layers["layer"].astype(str) + "→" + layers["next_layer"].astype(str))
    shares = named.groupby("step")[["share_better", "share_worse"]].mean()
    shares["share_equal"] = 1.0 - shares.sum(axis=1)
    bars = {"better": (BLUE, ""), "equal": ("#c8c8c8", ""), "worse": (VERMILION, "////")}
    bottom = pd.Series(0.0, shares.index)
    for name, (colour, hatch) in bars.items():
        share = shares[f"share_{name}"]
        axes.bar(shares.index, share, bottom=bottom, color=colour, edgecolor="white", hatch=hatch, label=name)
        bottom = bottom + share
    for place, (_, part) in enumerate(named.groupby("step")):
        strict, plain = (_falls_and_rises(part, test) for test in ("p_corrected", "p_paired"))
        axes.text(place, 1.02, f"{strict}\n({plain})", ha="center", va="bottom", fontsize=6)
    axes.set_ylim(0, 1.16)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set(xlabel="from layer to layer", ylabel="share of splits (mean over datasets)")
    axes.set_title("Error of the next layer")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)


def _falls_and_rises(rows: pd.DataFrame, test: str) -> str:
    """Count the data sets whose mean error falls and rises significantly: ``2↓ 0↑``."""
    differences = rows.loc[rows[test] < LEVEL, "difference"]
    return f"{(differences < 0).sum()}↓ {(differences > 0).sum()}↑"


def weights_figure(frame: pd.DataFrame) -> Figure:
    """Draw w_i against scans: one panel per local loss and rate, over data sets and activations."""
    parts = list(frame.groupby(["local_loss", "rate"], sort=False))
    figure, panels = grid_of_panels(len(parts), columns=3)
    ticks = whole_ticks(int(frame["scan"].max()))
    for axes, ((loss, rate), part) in zip(panels, parts, strict=True):
        styles = zip(part.groupby("layer"), PALETTE, MARKERS, DASHES, strict=False)
        for (layer, rows), colour, marker, dashes in styles:
            band = rows.groupby("scan")["weight"].agg(["min", "median", "max"])
            style: dict[str, Any] = {"color": colour, "label": f"layer {layer}, median"}
            style |= {"marker": marker, "linestyle": dashes, "markevery": [tick - 1 for tick in ticks]}
            axes.plot(band.index, band["median"], **style)
            area: dict[str, Any] = {"alpha": BAND_ALPHA, "linewidth": 0, "label": "smallest to largest"}
            axes.fill_between(band.index, band["min"], band["max"], color=colour, **area)
        axes.set(xticks=ticks, ylim=(-0.03, 1.03))
        axes.set_title(f"local loss {'γ · hinge' if loss == 'scaled' else 'hinge'}, rate {rate:g}")
    return labelled(figure, panels, ("scans over the training half", "weight of the local loss"))
