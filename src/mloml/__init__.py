"""Online metric learning for scikit-learn, and a reproduction of the MLOML paper.

>>> from mloml import OPML
>>> from sklearn.datasets import load_iris
>>> OPML(gamma=1e-2, random_state=0).fit(*load_iris(return_X_y=True)).components_.shape
(4, 4)
"""

import time
from importlib import import_module
from typing import Any

from mloml import learners

__version__ = "0.1.0"

# Source that was edited later is not what runs here, see ``experiments/code.py``.
imported_at = time.time()


def __getattr__(name: str) -> Any:
    # Learners, MetricKNN and stack only: `mloml.datasets` and the like are imported as modules.
    if name == "__all__":
        return [*learners.__all__, "MetricKNN", "stack"]
    if name == "MetricKNN":
        return import_module("mloml.knn").MetricKNN
    if name == "stack":
        return import_module("mloml.learners.stacking").stack
    if not name.startswith("_"):
        return getattr(learners, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__getattr__("__all__")])
