"""The interval that belongs to a test of two means known only by mean, deviation and number of splits."""

from __future__ import annotations

import math

from scipy import stats

from mloml.paper.statistics.means import PRINTED_ROUNDING


def welch_half_width(
    std: float, n: int, printed_std: float, printed_n: int, between: float = 0.0, level: float = 0.95
) -> float:
    """Return half the width of the interval of :func:`~mloml.paper.statistics.welch`'s difference.

    Zero lies outside of it exactly when the test is significant at ``1 - level``. ``between`` is a variance
    that is known besides, as that between two draws of the same generator.

    >>> from mloml.paper.statistics import welch
    >>> test = welch(0.40, 0.05, 30, 0.369, 0.051, 30)
    >>> bool(abs(test.difference) > welch_half_width(0.05, 30, 0.051, 30)), test.p_value < 0.05
    (True, True)
    """
    ours, printed = std**2 / n, printed_std**2 / printed_n
    total = ours + printed + PRINTED_ROUNDING + between
    uncertainty = sum(part**2 / (m - 1) for part, m in ((ours, n), (printed, printed_n)) if m > 1)
    freedom = total**2 / uncertainty if uncertainty > 0 else math.inf
    return math.sqrt(total) * float(stats.t.ppf((1 + level) / 2, freedom))
