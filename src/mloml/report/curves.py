"""Figures 5, 7 and 8: errors along layers or scans, and which ends of the curves differ significantly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from mloml.experiments.study import StudyResult
from mloml.paper.statistics import corrected_t, paired_t
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.curves import by_split, curve_frame, curves_figure, plotted_numbers
from mloml.report.labels import labels_of

LEVEL = 0.05
COLUMNS = [
    "algorithm", "point", "reference", "reference_point", "dataset", "error", "reference_error",
    "difference", "p_paired", "p_corrected",
]  # fmt: skip
AXES = {"layer": "metric layer", "scan": "scans over the training half"}


@dataclass(frozen=True)
class Comparison:
    """The first or last point of a method against the first or last of another, or of its own.

    A method without layers or scans has one point, its first and its last.
    """

    algorithm: str
    reference: str
    at: str = "last"
    reference_at: str = "last"


def from_first_to_last(algorithm: str) -> Comparison:
    """Compare a curve's end with its own beginning."""
    return Comparison(algorithm, algorithm, reference_at="first")


def curves_artefact(
    result: StudyResult,
    name: str,
    along: str,
    comparisons: Mapping[str, Comparison],
    references: Mapping[str, str],
    groups: Mapping[str, Sequence[str]] | None = None,
    throughout: Sequence[Comparison] = (),
) -> Artefact:
    """Return the figure of a study that recorded the errors along its layers or scans.

    Parameters
    ----------
    result : StudyResult
    name : str
        Of the figure.
    along : {"layer", "scan"}
    comparisons : mapping
        By the names that the template calls them: the template gets the counts of each.
    references : mapping
        For a curve, the method to which its band is the paired difference.
    groups : mapping, optional
        Algorithms that share a panel, by its heading; the first two of each are neighbours in the legend.
    throughout : sequence of Comparison
        Carried out at every point, as if the curves ended there: ``equal_scans.csv``.
    """
    labels, study = labels_of(result), result.study
    frame = curve_frame(result.records, f"{along}_errors", along)
    there = set(frame["dataset"])
    datasets = labels.starred(config.name for config in study.datasets if config.name in there)
    known = [algorithm.name for algorithm in study.algorithms]
    first = [name for group in (groups or {}).values() for name in group[:2] if name in known]
    algorithms = labels.starred(dict.fromkeys([*first, *known]))
    compared = {
        key: compare_curves(frame, along, list(datasets), asked, study.protocol.splits)
        for key, asked in comparisons.items()
    }
    counts = {key: count_differences(part, datasets) for key, part in compared.items()}
    numbers = plotted_numbers(frame, along, references)
    draw = partial(curves_figure, numbers, along, datasets, algorithms, AXES[along], groups)
    figure = Figure(name, draw, f"Mean error by {along}", numbers, ready=bool(datasets))
    every = [Table("comparisons", together(compared.values()), "Both tests of every comparison")]
    if throughout:
        compare = partial(compare_curves, along=along, datasets=list(datasets), splits=study.protocol.splits)
        points = [at for _, at in frame[frame[along] > 0].groupby(along)]
        found = together(compare(at, asked=each) for at in points for each in throughout)
        every.append(Table(f"equal_{along}s", found, f"Both tests after every {along}"))
    printed = pd.DataFrame([row for row in counts.values() if row["sets"]], columns=SUMMARY)
    printed = printed.rename(columns={"point": along, "reference_point": f"reference_{along}"})
    values = {"picture": name, "counts": counts, "comparisons": printed}
    return Artefact(values, (points_table(frame, along), *every), (figure,))


def together(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join comparisons, of which there may be none."""
    filled = [part for part in parts if len(part)] or [pd.DataFrame(columns=COLUMNS)]
    return pd.concat(filled, ignore_index=True)


def compare_curves(
    frame: pd.DataFrame, along: str, datasets: Sequence[str], asked: Comparison, splits: int
) -> pd.DataFrame:
    """Return both tests of a comparison on every data set where both methods have all their splits.

    Parameters
    ----------
    frame : one row per split and point, see :func:`mloml.report.figures.curves.curve_frame`
    along : "layer" or "scan"
    datasets : in the order of the rows
    asked : what is compared with what
    splits : how many splits a complete method has
    """
    tables = by_split(frame[frame["algorithm"].isin([asked.algorithm, asked.reference])], along)
    rows = []
    for name in datasets:
        mine, other = (tables.get((name, method)) for method in (asked.algorithm, asked.reference))
        if mine is None or other is None or not len(mine) == len(other) == splits:
            continue
        point, reference_point = _point(mine, asked.at), _point(other, asked.reference_at)
        if asked.algorithm == asked.reference and point == reference_point:  # a method without a curve
            continue
        errors, reference = mine[point], other[reference_point]
        plain, strict = paired_t(errors, reference), corrected_t(errors, reference)
        means = errors.mean(), reference.mean(), plain.difference
        where = asked.algorithm, point, asked.reference, reference_point, name
        rows.append((*where, *means, plain.p_value, strict.p_value))
    return pd.DataFrame(rows, columns=COLUMNS)


def _point(errors: pd.DataFrame, at: str) -> int:
    return int(errors.columns.min() if at == "first" else errors.columns.max())


SUMMARY = [
    "algorithm", "point", "reference", "reference_point", "sets", "lower", "higher", "lower_plain",
    "higher_plain", "lower_on", "higher_on",
]  # fmt: skip


def count_differences(compared: pd.DataFrame, datasets: Mapping[str, str]) -> dict[str, Any]:
    """Count the data sets with a significantly lower and higher error, see :data:`SUMMARY`.

    ``lower`` and ``higher`` are by the corrected test, ``lower_plain`` and ``higher_plain`` by the plain one.
    ``lower_on`` and ``higher_on`` name the latter; what both tests find has a dagger.
    """
    counts: dict[str, Any] = {"sets": len(compared)}
    counts |= {name: compared[name].iloc[0] if len(compared) else "" for name in SUMMARY[:4]}
    for word, sign in (("lower", -1), ("higher", 1)):
        plain = compared[(compared["p_paired"] < LEVEL) & (sign * compared["difference"] > 0)]
        strict = plain["p_corrected"] < LEVEL
        names = [datasets[n] + "†" * both for n, both in zip(plain["dataset"], strict, strict=True)]
        counts |= {word: int(strict.sum()), f"{word}_plain": len(plain), f"{word}_on": ", ".join(names)}
    return counts


def points_table(frame: pd.DataFrame, along: str) -> Table:
    """Return the error of every cell, a row each, at every layer or after every scan: ``layer_errors.csv``.

    Columns are numbers of layers or scans; a method without them has its error in column 0.
    """
    wide = frame.pivot(index=["dataset", "algorithm", "split"], columns=along, values="error")  # noqa: PD010
    return Table(f"{along}_errors", wide.reset_index(), f"Test error of every split by {along}")
