"""Which parameters a stream keeps: its state is made for them, so that others would be ignored, or worse."""

from __future__ import annotations

from typing import Any

import numpy as np

NO_MATTER = ("scans", "shuffle", "random_state")
"""Parameters that mean nothing to a stream that has begun."""


def parameters_to_keep(learner: Any) -> dict[str, Any]:
    """Return the parameters, as they are now, that a stream of this learner goes on with.

    >>> from mloml import OPML
    >>> parameters_to_keep(OPML(gamma=0.1))
    {'scale': 'auto', 'triplets': 'released'}
    """
    free = {*NO_MATTER, learner.step_parameter, *learner._may_change}
    return {name: value for name, value in learner.get_params(deep=False).items() if name not in free}


def require_kept(learner: Any) -> None:
    """Refuse to go on with a stream whose parameters were changed since it began."""
    for name, value in learner._began_with.items():
        now = getattr(learner, name)
        if now is not value and not _equal(now, value):
            raise ValueError(
                f"{name} was {value!r} when {type(learner).__name__} began to learn and is {now!r} now: "
                "what it has learned is made for the former; set it back, or fit anew"
            )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    try:
        return bool(one == other)
    except ValueError:  # arrays inside say so for each entry
        return False
