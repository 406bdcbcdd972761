"""Time per triplet: every online method against plain NumPy, side by side, and against the machine's roof.

python benchmarks/per_triplet.py            # about two minutes
python benchmarks/per_triplet.py 21 100     # only these numbers of features

Every hinge is active: rows are so short that no triplet reaches the margin. The NumPy version of a metric
layer takes two matrix-vector products for the hinge, subtracts two outer products, calls LAPACK for the
factor and maps the three samples by one product. The roof is the time that the step's floating-point
operations take at dgemm's rate, or its traffic at the bandwidth of the cache its matrices fit in, whichever
is longer.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import measure
import numpy as np
import numpy_stack
from threadpoolctl import threadpool_limits

from mloml.checks import plain_online as reference
from mloml.kernels import lego, oasis, opml, rdml, slmoml
from mloml.learners.metric_state import MetricState
from mloml.learners.stack_state import Layer, Propagation, StackState

FEATURES = (4, 21, 57, 100, 200, 400)
ROWS = 200
REPEATS = 10
STEP, RATE = 1e-4, 1e-6
Scan = Callable[[], Any]


class Method(NamedTuple):
    """A method as it is timed: how to prepare ours and NumPy's scan, and what a step costs at least."""

    name: str
    ours: Callable[[np.ndarray, np.ndarray], Scan]
    plain: Callable[[np.ndarray, np.ndarray], Scan]
    layers: int = 1
    flops: int | None = None  # per entry of a layer's matrix
    traffic: int = 0  # matrices read or written per layer
    cubic: bool = False


def stack(n: int, kind: str = "frame", activation: str = "relu", strategy: str = "fp") -> Any:
    def prepare(X: np.ndarray, triplets: np.ndarray) -> Scan:
        cone = "clip" if kind == "symmetric" else "split"
        state = StackState(X.shape[1], [Layer(kind, STEP, cone)] * n)
        how = Propagation(strategy, activation, RATE)
        return lambda: state.learn(X, triplets, how)

    return prepare


def plain_stack(n: int, factor: str = "cholesky", activation: str = "relu", strategy: str = "fp") -> Any:
    def prepare(X: np.ndarray, triplets: np.ndarray) -> Scan:
        return lambda: numpy_stack.scan(X, triplets, n, factor, activation, strategy, STEP, RATE)

    return prepare


def metric(X: np.ndarray, triplets: np.ndarray) -> Scan:
    state = MetricState(X.shape[1], STEP, "clip", "paper")
    return lambda: state.learn(X, triplets, Propagation())


def plain_metric(X: np.ndarray, triplets: np.ndarray) -> Scan:
    return lambda: numpy_stack.metric_scan(X, triplets, STEP)


def single(scan: Callable[..., Any], *settings: Any) -> Any:
    def prepare(X: np.ndarray, triplets: np.ndarray) -> Scan:
        A, counters = np.eye(X.shape[1]), np.zeros(2, dtype=np.int64)
        return lambda: scan(X, triplets, A, *settings, counters)

    return prepare


def both(name: str, module: Any, *settings: Any, **costs: Any) -> Method:
    scan = f"{name.lower()}_scan"
    ours, plain = getattr(module, scan), getattr(reference, scan)
    return Method(name, single(ours, *settings), single(plain, *settings), **costs)


FRAME = {
    "flops": 22,
    "traffic": 4,
}  # L: rank 2 and three products; K: rank 2, two products and two transposed
METHODS = [
    Method("MOML, M only", metric, plain_metric, 1, 8, 2),
    both("OPML", opml, STEP, flops=8, traffic=3),
    both("LEGO", lego, 0.1, 1.0, False, STEP),
    both("RDML", rdml, False, True, STEP, cubic=True),
    both("OASIS", oasis, STEP),
    both("SLMOML", slmoml, STEP, 1.0),
    *(Method(f"MLOML-r, {n} layers, FP", stack(n), plain_stack(n), n, **FRAME) for n in (1, 3, 5)),
    *(
        Method(
            f"MLOML-{name[0]}, 3 layers, FP",
            stack(3, "frame", name),
            plain_stack(3, "cholesky", name),
            3,
            **FRAME,
        )
        for name in ("sigmoid", "tanh")
    ),
    Method("MLOML-r, 3 layers, FP, F1", stack(3, "cholesky"), plain_stack(3), 3),
    Method("MLOML-r, 3 layers, FP, F2", stack(3, "symmetric"), plain_stack(3, "symmetric"), 3, cubic=True),
    Method(
        "MLOML-r, 3 layers, BP",
        stack(3, strategy="bp"),
        plain_stack(3, strategy="bp"),
        3,
        flops=18,
        traffic=3,
    ),
    Method(
        "MLOML-r, 3 layers, FBP",
        stack(3, strategy="fbp"),
        plain_stack(3, strategy="fbp"),
        3,
        flops=48,
        traffic=7,
    ),
]


def short_rows(d: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of norm 0.4 and triplets of them: squared distances stay below .64."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, d))
    return 0.4 * X / np.linalg.norm(X, axis=1, keepdims=True), rng.integers(0, ROWS, size=(count, 3))


def microseconds(prepare: Any, X: np.ndarray, triplets: np.ndarray) -> float:
    """Return microseconds per triplet of one scan from a fresh start."""
    scan = prepare(X, triplets)
    start = time.thread_time()  # not the clock on the wall: other processes shall not count
    scan()
    return (time.thread_time() - start) / len(triplets) * 1e6


def side_by_side(method: Method, X: np.ndarray, triplets: np.ndarray, few: np.ndarray) -> measure.Row:
    """Time ours and NumPy's by turns: the ratio is the median over pairs of runs that follow each other."""
    pairs = [
        (microseconds(method.ours, X, triplets), microseconds(method.plain, X, few)) for _ in range(REPEATS)
    ][1:]  # the first runs warm up
    ours, spread = measure.median_and_spread([ours for ours, _ in pairs])
    plain, plain_spread = measure.median_and_spread([plain for _, plain in pairs])
    ratio, ratio_spread = measure.median_and_spread([plain / ours for ours, plain in pairs])
    return {
        "ours us": ours,
        "spread": spread,
        "NumPy us": plain,
        "NumPy spread": plain_spread,
        "NumPy / ours": ratio,
        "ratio spread": ratio_spread,
    }


def best_seconds(action: Scan, calls: int) -> float:
    """Return the shortest time of a call: a roof is what the machine can do at its best."""
    times = []
    for _ in range(15):
        start = time.thread_time()
        for _ in range(calls):
            action()
        times.append((time.thread_time() - start) / calls)
    return min(times)


def gflops() -> float:
    """Return the rate of dgemm, one thread."""
    A = np.random.default_rng(0).normal(size=(400, 400))
    return 2 * 400**3 / best_seconds(lambda: A @ A, 2) / 1e9


def gigabytes(size: int) -> float:
    """Return the bandwidth of reading and writing memory of this many bytes again and again."""
    a = np.zeros(max(2048, size // 8))  # from 16 KB: below, the call itself would be measured
    return 2 * a.nbytes / best_seconds(lambda: np.negative(a, out=a), 2 + 4_000_000 // a.nbytes) / 1e9


def roof(method: Method, d: int, rate: float) -> float | None:
    """Return the microseconds below which a step cannot go on this machine."""
    if method.flops is None:
        return None
    entries = method.layers * d * d
    matrices = 1 if method.flops < 10 else 2
    bandwidth = gigabytes(8 * entries * matrices)
    return max(entries * method.flops / rate, 8 * entries * method.traffic / bandwidth) / 1e3


def main(features: list[int]) -> list[measure.Row]:
    rows = []
    with threadpool_limits(1):
        rate = gflops()
        for d in features:
            for method in METHODS:
                speed = 2e-3 * d**3 if method.cubic else 0.2 + 1e-3 * d * d  # rough µs per layer
                # a scan of 300 has its share of what is done once in 256 steps
                count = int(np.clip(4000 / (speed * method.layers), 8 if method.cubic else 300, 3000))
                X, triplets = short_rows(d, count)
                if method.name in ("LEGO", "RDML"):
                    X = X / 0.4  # pairs are judged by their distance
                few = triplets[: int(np.clip(3000 // d, 6, 60))]
                row = {"method": method.name, "features": d, **side_by_side(method, X, triplets, few)}
                least = roof(method, d, rate)
                share = least / row["ours us"] if least else None
                rows.append(row | {"roof us": least, "share of roof": share})
    return measure.write("per_triplet", rows)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or list(FEATURES))
