"""Tiny fixed problems, one for every way in which Python calls a kernel."""

from __future__ import annotations

from mloml.checks import batch_problems, online_problems
from mloml.checks.problem import Problem

__all__ = ["PROBLEMS", "Problem"]

PROBLEMS = (*online_problems.PROBLEMS, *batch_problems.PROBLEMS)
