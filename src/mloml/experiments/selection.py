"""Choosing hyper-parameters by stratified cross-validation inside the training half.

Every grid value is also fitted on the whole half and tested, so that the choice per split, one per dataset
and the oracle (:mod:`mloml.experiments.choices`) follow from the same records without refitting.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from mloml.experiments.scoring import DIVERGED, Rows

Params = dict[str, Any]


@dataclass
class Selection:
    """What a selection found: the chosen learner, fitted on the whole half, and every candidate's errors."""

    learner: Any
    error: float
    chosen: Params
    grid: list[dict[str, Any]]
    seconds: dict[str, float] = field(default_factory=dict)


def tuned_grid(learner: Any, params: Params, grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the part of the grid that is to be tried, values ascending.

    A parameter is tuned when it has a grid, its value is null (None or absent) and the learner uses it:
    MLOML by forward propagation has no ``rate``, and says so through ``unused_parameters()``.
    """
    unused = unused_parameters(learner)
    tuned = [name for name in grid if params.get(name) is None and name not in unused]
    return {name: _ascending(grid[name]) for name in tuned}


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
    learner: Any, grid: dict[str, list[Any]], half: Rows, folds: Iterable[tuple[Rows, int]]
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
    folds : iterable of (Rows, seed)
        The folds of the training half, and the ``random_state`` to learn each with.
    """
    folds = list(folds)
    seconds = {"select": 0.0, "fit": 0.0, "test": 0.0}
    entries: list[dict[str, Any]] = []
    chosen: Params = {}
    plan = stages(grid)
    for number, (stage_grid, fixed) in enumerate(plan, start=1):
        base = clone(learner).set_params(**fixed, **chosen)
        options = candidates(stage_grid)
        cv_errors: list[float | None] = [None]
        if len(options) > 1:
            cv_errors = list(_timed(seconds, "select", cross_validation_errors, base, options, folds))
        fitted = _timed(seconds, "fit", fit_candidates, base, options, half)
        errors = _timed(seconds, "test", _test_errors, fitted, half)
        for option, cv_error, error in zip(options, cv_errors, errors, strict=True):
            entry = {"params": {**fixed, **chosen, **option}, "cv_error": cv_error, "test_error": error}
            entries.append(entry if len(plan) == 1 else {"stage": number, **entry})
        best = int(np.argmin([0.0 if error is None else error for error in cv_errors]))
        chosen = {**chosen, **options[best]}
    return Selection(fitted[best], errors[best], chosen, entries, seconds)


def cross_validation_errors(
    learner: Any, options: list[Params], folds: list[tuple[Rows, int]]
) -> list[float]:
    """Return each candidate's share of wrong predictions over all folds; 1.0 if it diverged in any."""
    mistakes = np.zeros(len(options))
    for rows, seed in folds:
        for index, fitted in enumerate(fit_candidates(with_seed(learner, seed), options, rows)):
            try:
                if fitted is None:
                    raise ArithmeticError("diverged")
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
    if len(options) > 1 and hasattr(learner, "fit_options"):
        try:
            return list(learner.fit_options(rows.X_fit, rows.y_fit, options))
        except DIVERGED:
            pass  # one by one below, to see which candidate it was
    if len(options) > 1 and len(options[0]) == 1 and hasattr(learner, "fit_grid"):
        (name,) = options[0]
        try:
            return list(learner.fit_grid(rows.X_fit, rows.y_fit, name, [option[name] for option in options]))
        except DIVERGED:
            pass  # one by one below, to see which value it was
    return [_fit_or_none(clone(learner).set_params(**option), rows) for option in options]


def with_seed(learner: Any, seed: int) -> Any:
    """Return an unfitted copy with this ``random_state``, if the learner has one."""
    copy = clone(learner)
    return copy.set_params(random_state=seed) if "random_state" in copy.get_params() else copy


def _fit_or_none(learner: Any, rows: Rows) -> Any:
    try:
        return learner.fit(rows.X_fit, rows.y_fit)
    except DIVERGED:
        return None


def _test_errors(fitted: list[Any], half: Rows) -> list[float]:
    return [1.0 if learner is None else half.error(learner) for learner in fitted]


def _ascending(values: list[Any]) -> list[Any]:
    numbers = all(isinstance(value, int | float) for value in values)
    return sorted(values) if numbers else list(values)


def _timed(seconds: dict[str, float], name: str, action: Callable[..., Any], *arguments: Any) -> Any:
    start = time.perf_counter()
    result = action(*arguments)
    seconds[name] += time.perf_counter() - start
    return result
