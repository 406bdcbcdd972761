"""Known answers: every process compares its compiled code with them before it believes it.

Each compiled algorithm solves fixed problems, large enough to reach all of its branches: learners are fitted
to the same few samples. ``answers.json`` has their settings and what comes out, which every process must find
again to 1e-6. The same code wrote it as plain Python: ``NUMBA_DISABLE_JIT=1 python -m mloml.learners.check``.
"""

import json
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mloml.arrays import Array, Codes
from mloml.errors import KernelError

TOLERANCE = 1e-6
ANSWERS = Path(__file__).with_name("answers.json")
N, D = 150, 21


@cache
def known() -> dict[str, dict[str, list[Any]]]:
    """Return for each algorithm its problems, learners with their parameters, and the answers: digests."""
    entries: dict[str, dict[str, list[Any]]] = json.loads(ANSWERS.read_text())
    return entries


def rows(n: int = N, d: int = D) -> Array:
    """Return rows of a norm near 1 in four classes; by sines, so that no library's random numbers matter."""
    X = np.sin(np.arange(1.0, n * d + 1).reshape(n, d) ** 1.5)
    X[np.arange(n), codes(n) % d] += 1.5
    return np.ascontiguousarray(0.3 * X)


def codes(n: int = N) -> Codes:
    """Return the classes of these rows."""
    return (np.arange(n) ** 2 % 7 + np.arange(n) // 5).astype(np.int64) % 4


def digest(result: Any) -> list[float]:
    """Return three numbers that change when any entry of an array does: its norm and two weighted sums.

    >>> digest([3.0, 4.0])[0]
    5.0
    """
    flat = np.asarray(result, dtype=np.float64).ravel()
    places = np.arange(1.0, flat.size + 1)
    return [float(np.linalg.norm(flat)), float(flat @ np.sin(places)), float(flat @ np.cos(1.3 * places))]


def solve(algorithm: str) -> list[list[float]]:
    """Return the digests of all that an algorithm's problems come to."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if algorithm in OTHERS:
            return [digest(result) for result in OTHERS[algorithm]()]
        problems = known()[algorithm]["problems"]
        return [digest(result) for problem in problems for result in learned(*problem)]


def learned(path: str, settings: dict[str, Any]) -> list[Any]:
    """Return what a learner makes of the rows, and of sparse ones and single ones if it takes them."""
    module, _, name = path.rpartition(".")
    kind = getattr(import_module(f"mloml.learners.{module}"), name)
    usual = {"scans": 1, "shuffle": False, "random_state": 0}
    shared = {key: value for key, value in usual.items() if key in kind._parameter_constraints}
    learner = kind(**shared | settings)
    X, y = rows(), codes()
    y[7] = 4  # alone in its class
    found = [output(learner.fit(X, y)), getattr(learner, "n_updates_", 0)]
    if hasattr(learner, "learn_one"):
        for i in range(20):
            learner.learn_one(X[i] * (9.0 if i == 3 else 1.0), y[i])  # the longest is shortened
        found.append(output(learner))
    if learner.__sklearn_tags__().input_tags.sparse:
        X.ravel()[::4] = 0.0
        found.append(output(learner.fit(csr_array(X), y)))
    return found


def output(learner: Any) -> Any:
    """Return what neighbours are found by."""
    X = rows(40)
    return learner.similarity(X, X) if hasattr(learner, "similarity") else learner.transform(X)


def neighbours() -> list[Any]:
    """Search training rows in two parts, narrow and wide, with ties; then similarities and votes."""
    from mloml.learners.neighbours import halvings, majority, most_similar_rows, nearest_rows

    found: list[Any] = []
    for n, d in ((300, 21), (60, 300)):
        train, test = rows(n, d), rows(n + 40, d)[n:]
        train[n // 2 :: 7] = train[: n // 2 : 7][: len(train[n // 2 :: 7])]  # ties
        distances, nearest = np.full((40, 5), np.inf), np.zeros((40, 5), dtype=np.int64)
        squares, blocks = (test**2).sum(axis=1), np.array(halvings(0, d))
        for first in (0, n // 3):
            part = train[: n // 3] if first == 0 else train[n // 3 :]
            rough = (part**2).sum(axis=1) / 2 - test @ part.T
            nearest_rows(rough, squares, np.full(40, 1e-9), train, first, test, blocks, distances, nearest)
        found += [distances, nearest]
    similar, winners = np.zeros((40, 5), dtype=np.int64), np.zeros(40, dtype=np.int64)
    most_similar_rows(np.round(rough, 1), similar)
    majority(similar, codes(60), np.zeros(4, dtype=np.int64), winners)
    return [*found, similar, winners]


def descent() -> list[Any]:
    """Go down a long valley."""
    from mloml.learners.descent import descend

    slopes = np.linspace(1.0, 30.0, D)
    return [descend(lambda x: (0.5 * float(slopes @ x**2), slopes * x), rows(1)[0], 1e-9, 12).x]


OTHERS = {"neighbours": neighbours, "descent": descent}


def check(algorithm: str) -> None:
    """Solve an algorithm's problems and compare; a wrong number means that this process must not go on."""
    for ours, theirs in zip(solve(algorithm), known()[algorithm]["answers"], strict=True):
        if not np.allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE * max(1e-3, theirs[0])):
            raise KernelError(
                f"the compiled code of {algorithm} computes something else than its formulas; what was kept "
                "of it is thrown away: restart Python, and it is compiled anew"
            )


if __name__ == "__main__":
    for name, entry in known().items():
        entry["answers"] = solve(name)
    ANSWERS.write_text(json.dumps(known(), indent=1) + "\n")
