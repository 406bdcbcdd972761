"""Choosing hyper-parameters by stratified cross-validation inside the training half.

Every grid value is also fitted on the whole half and tested, so that the choice per split, one per dataset
and the oracle follow from the same records without refitting.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mloml.experiments.neighbours import DIVERGED, Rows

Params = dict[str, Any]
Record = dict[str, Any]


class Selection(NamedTuple):
    """What a selection found: the chosen learner, fitted on the whole half, and every candidate's errors."""

    learner: Any
    error: float
    chosen: Params
    grid: list[dict[str, Any]]
    seconds: dict[str, float]


def tuned_grid(learner: Any, params: Params, grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the part of the grid that is to be tried, numbers ascending.

    A parameter is tuned when it has a grid, its value is null (None or absent) and the learner uses it:
    MLOML by forward propagation has no ``rate``, and says so through ``unused_parameters()``. A depth that is
    "auto" is tuned, too, from 0 to ``max_layers``, unless the step size is "auto": then the learner chooses.
    """
    unused = unused_parameters(learner)
    tuned = {name: grid[name] for name in grid if params.get(name) is None and name not in unused}
    if params.get("n_layers") == "auto" and params.get("gamma") != "auto":
        tuned = {"n_layers": list(range(learner.max_layers + 1)), **tuned}
    return {
        name: sorted(values) if all(isinstance(value, int | float) for value in values) else list(values)
        for name, values in tuned.items()
    }


def unused_parameters(learner: Any) -> set[str]:
    """Return the parameters that play no part as the learner is set; learners may name them."""
    return set(learner.unused_parameters()) if hasattr(learner, "unused_parameters") else set()


def stages(grid: dict[str, list[Any]]) -> list[tuple[dict[str, list[Any]], Params]]:
    """Return the grids to go through one after the other, each with the parameters fixed meanwhile.

    One stage, except when both the step size γ of forward and the rate of backward propagation are open
    (FBP): then γ first with rate 0, which is plain forward propagation, and the rate with the γ so chosen.

    >>> stages({"gamma": [0.01, 0.1], "rate": [0.001]})
    [({'gamma': [0.01, 0.1]}, {'rate': 0.0}), ({'rate': [0.001]}, {})]
    """
    if {"gamma", "rate"} <= grid.keys():
        rest = {name: values for name, values in grid.items() if name != "rate"}
        return [(rest, {"rate": 0.0}), ({"rate": grid["rate"]}, {})]
    return [(grid, {})]


def candidates(grid: dict[str, list[Any]]) -> list[Params]:
    """Return all combinations in order, the last name varying fastest; an empty grid has one, empty.

    >>> candidates({"mu": [0.1, 0.3], "K": [2, 4]})
    [{'mu': 0.1, 'K': 2}, {'mu': 0.1, 'K': 4}, {'mu': 0.3, 'K': 2}, {'mu': 0.3, 'K': 4}]
    """
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def select(
    learner: Any, grid: dict[str, list[Any]], half: Rows, folds: Sequence[tuple[Rows, int]]
) -> Selection:
    """Choose the candidate with the smallest validation error; ties go to the first, the smallest values.

    Parameters
    ----------
    learner : estimator
        Unfitted, with everything set that is not tuned, its ``random_state`` included.
    grid : dict of lists
        As :func:`tuned_grid` returns it.
    half : Rows
        The whole training half, scored on the test half.
    folds : sequence of (Rows, seed)
        The folds of the training half, and the ``random_state`` to learn each with.
    """
    seconds = {"select": 0.0, "fit": 0.0, "test": 0.0}

    def timed(name: str, action: Callable[..., Any], *arguments: Any) -> Any:
        start = time.perf_counter()
        result = action(*arguments)
        seconds[name] += time.perf_counter() - start
        return result

    entries: list[dict[str, Any]] = []
    chosen: Params = {}
    plan = stages(grid)
    for number, (stage_grid, fixed) in enumerate(plan, start=1):
        base = clone(learner).set_params(**fixed, **chosen)
        options = candidates(stage_grid)
        cv_errors: list[float | None] = [None]  # one candidate needs no validation
        if len(options) > 1:
            cv_errors = timed("select", cross_validation_errors, base, options, folds)
        fitted = timed("fit", fit_candidates, base, options, half)
        errors = timed("test", lambda models: [half.error(model) for model in models], fitted)
        for option, cv_error, error in zip(options, cv_errors, errors, strict=True):
            entry = {"params": {**fixed, **chosen, **option}, "cv_error": cv_error, "test_error": error}
            entries.append(entry if len(plan) == 1 else {"stage": number, **entry})
        best = int(np.argmin([error or 0.0 for error in cv_errors]))
        chosen = {**chosen, **options[best]}
    return Selection(fitted[best], errors[best], chosen, entries, seconds)


def cross_validation_errors(
    learner: Any, options: list[Params], folds: Sequence[tuple[Rows, int]]
) -> list[float]:
    """Return each candidate's share of wrong predictions over all folds; 1.0 if it diverged in any."""
    mistakes = np.zeros(len(options))
    for rows, seed in folds:
        seeded = clone(learner)
        if "random_state" in seeded.get_params():
            seeded.set_params(random_state=seed)
        for index, fitted in enumerate(fit_candidates(seeded, options, rows)):
            try:
                mistakes[index] += rows.mistakes(fitted)
            except DIVERGED:
                mistakes[index] = np.inf
    total = sum(len(rows.y_score) for rows, _ in folds)
    return [min(1.0, float(count) / total) for count in mistakes]


def fit_candidates(learner: Any, options: list[Params], rows: Rows) -> list[Any]:
    """Return the learner fitted with each candidate's parameters, None where it diverged.

    A learner that offers ``fit_grid`` fits all values of a single parameter in one go; one that offers
    ``fit_options`` fits all candidates so.
    """
    X, y = rows.X_fit, rows.y_fit
    try:
        if len(options) > 1 and hasattr(learner, "fit_options"):
            return list(learner.fit_options(X, y, options))
        if len(options) > 1 and len(options[0]) == 1 and hasattr(learner, "fit_grid"):
            (name,) = options[0]
            return list(learner.fit_grid(X, y, name, [option[name] for option in options]))
    except DIVERGED:
        pass  # one by one below, to see which candidate it was

    def fit_one(option: Params) -> Any:
        try:
            return clone(learner).set_params(**option).fit(X, y)
        except DIVERGED:
            return None

    return [fit_one(option) for option in options]


class Choice(NamedTuple):
    """The parameters used in one split, and their error on its test half."""

    split: int
    params: Params
    error: float


def choose_per_split(records: Sequence[Record]) -> list[Choice]:
    """Return what cross-validation chose inside each split: the default, free of leakage.

    This and the next two take the records of one (dataset, algorithm), one per split.
    """
    return [_choice(record, int(np.argmin(_errors(record, "cv_error")))) for record in records]


def choose_per_dataset(records: Sequence[Record]) -> list[Choice]:
    """Use in all splits the value whose validation error, averaged over the splits, is smallest.

    Where parameters were chosen in stages (FBP), the last stage is chosen so, on top of each split's first
    choice.
    """
    return _one_for_all(records, "cv_error")


def oracle(records: Sequence[Record], per: str = "split") -> list[Choice]:
    """Use the value that is best on the test half: a bound, not achievable.

    ``per="split"`` takes the best value of each split, which no choice can beat; ``per="dataset"`` the
    single value with the smallest mean test error.
    """
    if per == "dataset":
        return _one_for_all(records, "test_error")
    if per != "split":
        raise ValueError(f"per={per!r}, expected 'split' or 'dataset'")
    return [_choice(record, int(np.argmin(_errors(record, "test_error")))) for record in records]


def _one_for_all(records: Sequence[Record], column: str) -> list[Choice]:
    table = [_errors(record, column) for record in records]
    if len({len(row) for row in table}) > 1:
        raise ValueError("the records come from different grids; give those of one algorithm and protocol")
    # Rounding the sum of 30 errors must not decide between equal means: ties go to the smallest value.
    best = int(np.argmin(np.round(np.mean(table, axis=0), 12))) if table else 0
    return [_choice(record, best) for record in records]


def _errors(record: Record, column: str) -> list[float]:
    return [entry[column] or 0.0 for entry in _last_stage(record)]  # one without rivals has no cv_error


def _choice(record: Record, index: int) -> Choice:
    entry = _last_stage(record)[index]
    return Choice(record["split"], entry["params"], entry["test_error"])


def _last_stage(record: Record) -> list[dict[str, Any]]:
    last = max(entry.get("stage", 1) for entry in record["grid"])
    return [entry for entry in record["grid"] if entry.get("stage", 1) == last]
