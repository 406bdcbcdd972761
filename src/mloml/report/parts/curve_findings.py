"""What figures 5, 7 and 8 show, in words: one end of a curve held against another, rises and falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from mloml.paper.statistics import corrected_t, paired_t
from mloml.report.document import number
from mloml.report.figures.curves import by_split

LEVEL = 0.05
COLUMNS = [
    "algorithm", "point", "reference", "reference_point", "dataset", "error", "reference_error",
    "difference", "p_paired", "p_corrected",
]  # fmt: skip
NOTHING = "No curve is complete yet."


@dataclass(frozen=True)
class Comparison:
    """The first or last point of a method held against the first or last of another, or of its own.

    A method without layers or scans has one point, its first and its last. Those that answer the paper's
    claim are ``main``: they make the headline.
    """

    algorithm: str
    reference: str
    at: str = "last"
    reference_at: str = "last"
    main: bool = False


def from_first_to_last(algorithm: str, main: bool = False) -> Comparison:
    """Compare a curve's end with its own beginning."""
    return Comparison(algorithm, algorithm, reference_at="first", main=main)


def compare_curves(
    frame: pd.DataFrame,
    along: str,
    datasets: Sequence[str],
    comparisons: Sequence[Comparison],
    splits: int,
) -> pd.DataFrame:
    """Return both tests of every comparison on every dataset, see :data:`COLUMNS`.

    Parameters
    ----------
    frame : one row per split and point, see :func:`mloml.report.figures.curves.curve_frame`.
    along : "layer" or "scan".
    datasets : in the order of the rows.
    comparisons : what is held against what.
    splits : how many splits a complete method has; others are left out.
    """
    tables = {place: errors for place, errors in by_split(frame, along).items() if len(errors) == splits}
    rows = []
    for asked in comparisons:
        for name in datasets:
            mine, other = (tables.get((name, a)) for a in (asked.algorithm, asked.reference))
            if mine is None or other is None or (asked.algorithm == asked.reference and len(mine.T) == 1):
                continue
            point, reference_point = _point(mine, asked.at), _point(other, asked.reference_at)
            errors, reference = mine[point], other[reference_point]
            plain, strict = paired_t(errors, reference), corrected_t(errors, reference)
            rows.append(
                (asked.algorithm, point, asked.reference, reference_point, name, errors.mean(),
                 reference.mean(), plain.difference, plain.p_value, strict.p_value)
            )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def curve_findings(
    compared: pd.DataFrame,
    along: str,
    datasets: Mapping[str, str],
    algorithms: Mapping[str, str],
    comparisons: Sequence[Comparison],
) -> tuple[str, list[str]]:
    """Say where the error is lower and where it is higher, by the corrected test and by the plain one.

    Parameters
    ----------
    compared : from :func:`compare_curves`.
    along : "layer" or "scan".
    datasets, algorithms : mapping from name to printed title.
    comparisons : in the order of the sentences.

    Returns
    -------
    headline : counts of datasets for the main comparisons.
    sentences : the same by name, for all of them.

    Examples
    --------
    >>> row = ("deep", 3, "flat", 0, "iris", 0.1, 0.2, -0.1, 0.001, 0.2)
    >>> asked = [Comparison("deep", "flat", main=True)]
    >>> headline, sentences = curve_findings(pd.DataFrame([row], columns=COLUMNS), "layer",
    ...     {"iris": "iris"}, {"deep": "Deep", "flat": "Flat"}, asked)
    >>> sentences[0][:78]
    'Deep, layer 3, against Flat, on 1 dataset: by the corrected test the error is '
    >>> sentences[0][78:]
    'lower on none and higher on none; by the plain one lower on 1 (iris .100 against .200), higher on none.'
    """
    counts, sentences = [], []
    for asked in comparisons:
        part = compared[_rows_of(compared, asked)]
        if part.empty:
            continue
        what = _what(part.iloc[0], along, algorithms)
        sentences.append(_sentence(what, part, datasets))
        if asked.main:
            counts.append(_counts(what, part))
    if not sentences:
        return NOTHING, []
    if not counts:  # the methods of the main comparisons were not asked for
        return sentences[0], sentences[1:]
    rule = "corrected resampled t-test at the 5 % level, the plain paired t-test in brackets"
    return f"Test errors ({rule}): {'; '.join(counts)}.", sentences


def _point(errors: pd.DataFrame, at: str) -> int:
    return int(errors.columns.min() if at == "first" else errors.columns.max())


def _rows_of(compared: pd.DataFrame, asked: Comparison) -> pd.Series:
    """Tell which rows belong to a comparison: a curve's first point is 1, its last is larger."""
    mine, other = compared["point"], compared["reference_point"]
    found: pd.Series = (
        (compared["algorithm"] == asked.algorithm)
        & (compared["reference"] == asked.reference)
        & ((mine == 0) | ((mine == 1) == (asked.at == "first")))
        & ((other == 0) | ((other == 1) == (asked.reference_at == "first")))
    )
    return found


def _what(row: pd.Series, along: str, algorithms: Mapping[str, str]) -> str:
    """Name both sides: ``MLOML-r, layer 5, against layer 1``."""
    mine = f", {along} {row['point']}" if row["point"] else ""
    other = f"{along} {row['reference_point']}" if row["reference_point"] else ""
    name = algorithms[row["reference"]] if row["reference"] != row["algorithm"] else ""
    return f"{algorithms[row['algorithm']]}{mine}, against {', '.join(filter(None, [name, other]))}"


def _sides(part: pd.DataFrame, test: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows whose error is significantly lower and those where it is higher."""
    marked = part[part[test] < LEVEL]
    return marked[marked["difference"] < 0], marked[marked["difference"] > 0]


def _counts(what: str, part: pd.DataFrame) -> str:
    lower, higher = (
        f"{len(strict)} ({len(plain)})"
        for strict, plain in zip(_sides(part, "p_corrected"), _sides(part, "p_paired"), strict=True)
    )
    return f"{what}: lower on {lower} and higher on {higher} of {_sets(len(part))}"


def _sentence(what: str, part: pd.DataFrame, datasets: Mapping[str, str]) -> str:
    """Name the datasets of each side; what the corrected test finds, the plain one finds too."""

    def names(rows: pd.DataFrame, values: bool) -> str:
        listed = []
        for name, *errors in zip(rows["dataset"], rows["error"], rows["reference_error"], strict=True):
            numbers = f" {' against '.join(map(number, errors))}" if values else ""
            listed.append(f"{datasets[name]}{numbers}")
        return f"{len(listed)} ({', '.join(listed)})" if listed else "none"

    if not (part["p_paired"] < LEVEL).any():
        return f"{what}, on {_sets(len(part))}: no significant difference on any of them, by either test."
    strict = [names(rows, values=False) for rows in _sides(part, "p_corrected")]
    plain = [names(rows, values=True) for rows in _sides(part, "p_paired")]
    return (
        f"{what}, on {_sets(len(part))}: by the corrected test the error is lower on {strict[0]} and higher "
        f"on {strict[1]}; by the plain one lower on {plain[0]}, higher on {plain[1]}."
    )


def _sets(count: int) -> str:
    return f"{count} dataset{'s' if count != 1 else ''}"
