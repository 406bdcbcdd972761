"""How time and memory of a stack grow: with features, rows and layers.

python benchmarks/growth.py

Times are processor seconds of one thread. The exponent in the number of features is fitted from 100 to 400,
where the matrices no longer fit into the nearest cache; 2 is what the algorithm promises.
"""

import statistics
import time
import tracemalloc

import measure
import numpy as np

from mloml.learners.stack_state import Layer, Propagation, StackState

STRATEGIES = ("fp", "bp", "fbp")


def scan_seconds(d: int, triplets: int, layers: int, strategy: str, repeats: int = 5) -> float:
    """Return the median time of one scan from a fresh start, every hinge active."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, d))
    X *= 0.4 / np.linalg.norm(X, axis=1, keepdims=True)
    stream = rng.integers(0, len(X), size=(triplets, 3))
    times = []
    for _ in range(repeats + 1):
        state = StackState(d, [Layer("frame", 1e-4)] * layers)
        start = time.thread_time()
        state.learn(X, stream, Propagation(strategy, rate=1e-6))
        times.append(time.thread_time() - start)
    return statistics.median(times[1:])


def slope(x: list[int], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def memory(d: int, layers: int) -> tuple[float, float]:
    """Return kilobytes of a learned stack, and the peak while it learns."""
    X = np.random.default_rng(0).normal(size=(50, d))
    stream = np.random.default_rng(1).integers(0, 50, size=(300, 3))
    tracemalloc.start()
    state = StackState(d, [Layer()] * layers)
    state.learn(X, stream, Propagation())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (state.L.nbytes + state.K.nbytes) / 1e3, peak / 1e3


def main() -> list[measure.Row]:
    rows = []
    features, counts, depths = [100, 200, 400], [1000, 2000, 4000], [1, 2, 4, 8]
    for strategy in STRATEGIES:
        by_d = [scan_seconds(d, 300, 3, strategy) for d in features]
        by_n = [scan_seconds(21, n, 3, strategy) for n in counts]
        by_depth = [scan_seconds(57, 600, n, strategy) for n in depths]
        per_entry = [seconds / d**2 for seconds, d in zip(by_d, features, strict=True)]
        rows.append(
            {
                "propagation": strategy,
                "exponent in features": slope(features, by_d),
                "per d², 400 / 100": per_entry[-1] / per_entry[0],
                "exponent in triplets": slope(counts, by_n),
                "exponent in layers": slope(depths, by_depth),
            }
        )
    measure.write("growth", rows)
    sizes = []
    for d in (21, 100, 400):
        kept, peak = memory(d, 3)
        sizes.append({"features": d, "KB per layer": kept / 3, "peak KB, 3 layers": peak})
    return measure.write("memory", sizes)


if __name__ == "__main__":
    main()
