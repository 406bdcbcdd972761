"""Which compiled kernels a cell calls: those a worker checks before its first one."""

from __future__ import annotations

from typing import Any


def kernels_of(learner: Any) -> set[str]:
    """Return the names of the kernels' problems, those of the 5-NN test included.

    >>> from mloml import MOML
    >>> sorted(kernels_of(MOML(factor="none", scale=None)))
    ['knn.majority', 'knn.nearest_rows', 'moml_metric.moml_scan', 'triplets.triplet_pass']
    """
    own = set(learner._kernels()) if hasattr(learner, "_kernels") else set()  # others' learners have none
    similar = hasattr(learner, "similarity") or getattr(learner, "cone", None) == "free"
    return own | {"knn.majority", "knn.nearest_rows"} | ({"knn.most_similar_rows"} if similar else set())
