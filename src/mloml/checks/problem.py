"""What a tiny fixed problem is, and the rows and triplets of all of them.

A problem calls the compiled function and its plain NumPy counterpart, which has the same name and signature,
with the same arguments, of the very types that the learners use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

D = 5
"""Features of a problem: more than four, so that a row takes two vectors, and not a multiple of four."""


@dataclass(frozen=True)
class Problem:
    """One call of a kernel.

    Parameters
    ----------
    kernel : str
        Module and function, such as ``opml.opml_scan``.
    reference : str
        The module with the plain function.
    arguments : callable
        Returns the arguments, new ones at each call.
    compared : callable, optional
        Returns, from the arguments after the call, what must agree; by default all arrays.
    plainly : callable, optional
        Returns the arguments of the plain function from those of the compiled one.
    judge : callable, optional
        Says, from the arguments after the call and its result, whether they are right: for a descent, which
        is compared with its plain objective at both ends.
    variant : str
        Tells problems of one kernel apart: other types of arguments are other compiled code.
    """

    kernel: str
    reference: str
    arguments: Callable[[], tuple[Any, ...]]
    compared: Callable[..., Any] = lambda *arguments: arguments
    plainly: Callable[..., tuple[Any, ...]] = lambda *arguments: arguments
    judge: Callable[[tuple[Any, ...], Any], bool] | None = None
    variant: str = ""

    @property
    def name(self) -> str:
        """Kernel and variant, such as ``stack.forward.fp_scan dense``."""
        return f"{self.kernel} {self.variant}".strip()


def rows(n: int = 12) -> Any:
    """Return rows of a norm near 1; written out by sines, so that no library's random numbers matter."""
    return np.sin(np.arange(1.0, n * D + 1).reshape(n, D) ** 1.5) * 0.7


def triplets(count: int = 14, n: int = 12) -> Any:
    """Return triplets of different rows."""
    k = np.arange(count)
    return np.column_stack([k % n, (k + 2 + k % 3) % n, (k + 6 + k % 2) % n]).astype(np.intp)
