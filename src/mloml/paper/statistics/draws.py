"""How much an error depends on which rows a generator drew, apart from how they were split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Spread(NamedTuple):
    """What varies between draws and within them.

    Attributes
    ----------
    mean : float
        Over all draws.
    between : float
        Variance of a draw's expected error, unbiased: may come out below zero by chance.
    within : float
        Variance of the error over the splits of one draw.
    error : float
        Standard error of ``between``, for normal deviations.
    draws, splits : int
    """

    mean: float
    between: float
    within: float
    error: float
    draws: int
    splits: int


def spread_of_draws(errors: Sequence[Sequence[float]]) -> Spread:
    r"""Take the part that is due to splits off the variance of the draws' means.

    Error s of draw d is :math:`e_{ds} = \mu + b_d + w_{ds}`. The splits of a draw are chosen at random and
    independently *given its rows*, so the :math:`w_{ds}` are uncorrelated, whatever the overlap of halves:
    :math:`\mu + b_d` is the draw's expected error over all its splits. With m splits per draw

    .. math:: Var(\bar e_d) = \sigma_b^2 + \sigma_w^2 / m

    so :math:`\hat\sigma_b^2 = s^2(\bar e_d) - \overline{s_d^2} / m` is unbiased, with no assumption on the
    distributions. For normal ones the two parts are independent, and the variance of the estimate is
    :math:`2 (\sigma_b^2 + \sigma_w^2/m)^2 / (D-1) + 2 (\sigma_w^2/m)^2 / (D (m-1))`.

    Parameters
    ----------
    errors : sequence of sequences
        One row per draw, one error per split.

    Examples
    --------
    >>> spread = spread_of_draws([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    >>> round(spread.between, 6), spread.within
    (0.01, 0.0)
    """
    table = np.asarray(errors, dtype=float)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise ValueError(f"needs two draws with two finite errors each, got shape {table.shape}")
    draws, splits = table.shape
    of_means = float(table.mean(axis=1).var(ddof=1))
    within = float(table.var(axis=1, ddof=1).mean())
    by_splits = within / splits
    error = np.sqrt(2 * of_means**2 / (draws - 1) + 2 * by_splits**2 / (draws * (splits - 1)))
    return Spread(float(table.mean()), of_means - by_splits, within, float(error), draws, splits)
