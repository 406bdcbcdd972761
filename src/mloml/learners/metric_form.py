"""Which parameters of MOML go together: a full metric, a diagonal one, or one of low rank."""

from __future__ import annotations

from typing import Any


def require_possible(moml: Any, n_features: int) -> None:
    """Refuse parameters that contradict the form of the metric, by their names."""
    k = moml.n_components
    if moml.metric == "full" and k is None:
        return
    if moml.metric != "full" and k is not None:
        raise ValueError(f"n_components={k} does not go with metric={moml.metric!r}: choose one of them")
    form = f"metric={moml.metric!r}" if k is None else f"n_components={k}"
    if moml.factor is not None:
        raise ValueError(f"factor={moml.factor!r} does not go with {form}, which has a factor of its own")
    if moml.cone not in (None, "split"):
        raise ValueError(f"cone={moml.cone!r} does not go with {form}, expected 'split' or None")
    if k is not None:
        require_rank(k, n_features)
        if moml.variant != "paper":
            raise ValueError(f"variant={moml.variant!r} does not go with {form}, expected 'paper'")


def require_rank(n_components: int, n_features: int) -> None:
    """Refuse more components than there are features."""
    if n_components > n_features:
        raise ValueError(f"n_components={n_components} is more than the {n_features} features of the rows")
