"""Learned attributes that are computed when they are asked for, and kept until the next step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

from sklearn.utils.validation import check_is_fitted

Value = TypeVar("Value")


class learned(Generic[Value]):
    """Decorator like ``property``; the value is kept in the learner's ``_kept`` until that is cleared."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, learner: None, owner: type) -> Self: ...

    @overload
    def __get__(self, learner: Any, owner: type | None = None) -> Value: ...

    def __get__(self, learner: Any, owner: type | None = None) -> Any:
        if learner is None:
            return self
        if not learner.__sklearn_is_fitted__():  # the check itself takes longer than a row does
            check_is_fitted(learner)
        kept = learner._kept
        if self.name not in kept:
            kept[self.name] = self.compute(learner)
        return kept[self.name]
