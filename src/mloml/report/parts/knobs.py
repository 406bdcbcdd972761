"""What is swept to look into a difference from the paper: knobs, and the cells that each value stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mloml.report.parts.selections import SELECTIONS

RATES = {"1e-4": "", "3e-4": "_3e4", "1e-3": "_1e3", "1e-2": "_1e2"}
STACKS = ("mloml_r", "mloml_s", "mloml_t")


@dataclass(frozen=True)
class Value:
    """One value of a knob.

    Parameters
    ----------
    title : str
    algorithms : mapping
        From a column of the paper's table to the algorithm here that stands for it.
    rule : str
        How the step size is chosen, a key of :data:`~mloml.report.parts.selections.SELECTIONS`.
    """

    title: str
    algorithms: Mapping[str, str]
    rule: str = "per_split"


@dataclass(frozen=True)
class Knob:
    """One thing that the paper leaves open, and the values it was given.

    Parameters
    ----------
    name, title : str
    values : tuple of Value
    default : str
        Title of the value that the main tables have.
    table : {"table2", "table3"}
        The paper's table that has the columns.
    about : str
        Why this knob.
    """

    name: str
    title: str
    values: tuple[Value, ...]
    default: str
    table: str = "table2"
    about: str = field(default="", kw_only=True)


def _one_column(column: str, values: Mapping[str, str]) -> tuple[Value, ...]:
    """Return the values of a knob that acts on one column, from their titles and algorithms."""
    return tuple(Value(title, {column: name}) for title, name in values.items())


KNOBS = (
    Knob(
        "lmnn_steps",
        "LMNN: steps before stopping",
        _one_column(
            "lmnn", {"5": "lmnn_5", "10": "lmnn_10", "20": "lmnn_20", "50": "lmnn_50", "2000": "lmnn"}
        ),
        "2000",
        about="On wine and ionosphere the paper's LMNN lies between Euclidean and ours, which converges.",
    ),
    Knob(
        "kissme_weight",
        "KISSME: weight and ridge",
        _one_column(
            "kissme",
            {
                "pairs, on failure": "kissme",
                "pairs, 1e-6": "kissme_ridge_1e6",
                "pairs, 1e-4": "kissme_ridge_1e4",
                "pairs, 1e-2": "kissme_ridge_1e2",
                "rows, on failure": "kissme_samples",
                "rows, 1e-6": "kissme_samples_ridge_1e6",
                "rows, 1e-4": "kissme_samples_ridge_1e4",
                "rows, 1e-2": "kissme_samples_ridge_1e2",
            },
        ),
        "pairs, on failure",
        about="What counts alike, all pairs or all rows; and the ridge of both matrices, over trace / d.",
    ),
    Knob(
        "kissme_pairs",
        "KISSME: number of pairs",
        _one_column("kissme", {"100": "kissme_pairs_100", "1000": "kissme_pairs_1000", "all": "kissme"}),
        "all",
        about="Random pairs of each kind instead of all of them.",
    ),
    Knob(
        "rdml_cone",
        "RDML: projection and pairs",
        _one_column(
            "rdml",
            {
                "project, triplets": "rdml",
                "project, adjacent": "rdml_adjacent",
                "free, triplets": "rdml_free",
                "free, adjacent": "rdml_free_adjacent",
            },
        ),
        "project, triplets",
        about="Whether M is projected onto the cone, and which pairs it sees.",
    ),
    Knob(
        "slmoml_margin",
        "SLMOML: scans and margin",
        _one_column(
            "slmoml",
            {
                "20 scans, margin 1": "slmoml",
                "20 scans, margin 2": "slmoml_margin_2",
                "20 scans, margin 5": "slmoml_margin_5",
                "1 scan, margin 1": "slmoml_scan",
                "1 scan, margin 2": "slmoml_scan_margin_2",
                "1 scan, margin 5": "slmoml_scan_margin_5",
            },
        ),
        "20 scans, margin 1",
        about="SLMOML is a reconstruction; its number of scans and its margin are guesses.",
    ),
    Knob(
        "slmoml_step",
        "SLMOML: step C",
        _one_column(
            "slmoml",
            {
                "1e-4": "slmoml_1e4",
                "1e-3": "slmoml_1e3",
                "1e-2": "slmoml_1e2",
                "1e-1": "slmoml_1e1",
                "by CV": "slmoml",
            },
        ),
        "by CV",
        about="One C for all sets instead of cross-validation over the same four.",
    ),
    Knob(
        "mlcc_reading",
        "ML-CC: reading",
        _one_column("mlcc", {"per class": "mlcc", "whole": "mlcc_whole"}),
        "per class",
        about="ML-CC is a reconstruction from a title: clusters in each class, or of all rows.",
    ),
    Knob(
        "bp_rate",
        "BP: learning rate",
        tuple(
            Value(rate, {f"{stack}_bp": f"{stack}_bp{ending}" for stack in STACKS})
            for rate, ending in RATES.items()
        ),
        "1e-4",
        "table3",
        about="The paper names no learning rate; one for all sets and activations.",
    ),
    Knob(
        "moml_cone",
        "MOML: at the cone",
        _one_column(
            "moml",
            {
                "free": "moml",
                "split": "moml_split",
                "shrink": "moml_shrink",
                "clip": "moml_clip",
                "skip": "moml_skip",
            },
        ),
        "free",
        about="What becomes of a step after which M would not be positive definite.",
    ),
    Knob(
        "mloml_selection",
        "MLOML: choice of the step size",
        tuple(
            Value(title, dict(zip(STACKS, STACKS, strict=True)), rule) for rule, title in SELECTIONS.items()
        ),
        SELECTIONS["per_split"],
        about="Three ways to choose, read from the same cells; the oracle looks at the test halves.",
    ),
)
"""All sweeps; ``conf/experiment/differences.yaml`` has their algorithms."""
