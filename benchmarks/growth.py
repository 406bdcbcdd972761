"""How time and memory of a stack grow: with features, rows and layers.

python benchmarks/growth.py

Times are processor seconds of one thread. The exponent in the number of features is fitted from 100 to 400,
where the matrices no longer fit into the nearest cache; 2 is what the algorithm promises.
"""

import pickle
import statistics
import tracemalloc

import measure
import numpy as np
from per_triplet import microseconds, short_rows, stack
from threadpoolctl import threadpool_limits

from mloml import MLOML


def scan_seconds(d: int, rows: int, layers: int, strategy: str, repeats: int = 5) -> float:
    """Return the median time of one scan of a stack, every hinge active."""
    X, y = short_rows(d, rows)
    learner = stack("", layers, strategy=strategy).learner
    return rows * statistics.median([microseconds(learner, X, y) for _ in range(1 + repeats)][1:]) / 1e6


def slope(x: list[int], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def memory(d: int, layers: int) -> tuple[float, float]:
    """Return kilobytes of a learned stack as it is saved, and the peak while it learns."""
    X, y = short_rows(d, 300)
    learner = MLOML(n_layers=layers, gamma=1e-4, scans=1).fit(X, y)  # loads what is compiled
    tracemalloc.start()
    learner.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return len(pickle.dumps(learner)) / 1e3, peak / 1e3


def main() -> list[measure.Row]:
    rows = []
    features, counts, depths = [100, 200, 400], [1000, 2000, 4000], [1, 2, 4, 8]
    with threadpool_limits(1):
        for strategy in ("fp", "bp", "fbp"):
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
