"""5-NN: ours, with its exact neighbour order, against scikit-learn's searches.

python benchmarks/neighbours.py
"""

import measure
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from mloml.experiments.neighbours import predict

SIZES = [(75, 4), (384, 8), (176, 34), (2500, 21), (3059, 57)]


def main() -> list[measure.Row]:
    rows = []
    rng = np.random.default_rng(0)
    for n, d in SIZES:
        train, test = rng.normal(size=(2, n, d))
        y = rng.integers(0, 3, n)
        ours, spread = measure.seconds(lambda: predict(train, y, test, 5))  # noqa: B023
        row = {"rows": n, "features": d, "ours ms": ours * 1e3, "spread": spread}
        for search in ("brute", "kd_tree"):
            knn = KNeighborsClassifier(5, algorithm=search)
            theirs, _ = measure.seconds(lambda: knn.fit(train, y).predict(test), repeats=5)  # noqa: B023
            row |= {f"{search} ms": theirs * 1e3, f"{search} / ours": theirs / ours}
        rows.append(row)
    return measure.write("neighbours", rows)


if __name__ == "__main__":
    main()
