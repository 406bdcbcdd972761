"""A metric that moves under a search index: recall@10 against exact search, and what it costs.

python benchmarks/search.py      needs faiss: pip install faiss-cpu

An HNSW graph of faiss holds 50,000 rows of 64 features, 16 of which tell 200 classes apart. The metric goes
on learning while the index stays as it was built. What is compared for MOML, d(x, y)² = (x - y)'M(x - y):

- rebuilt: the index of L_now y, built anew.
- stale: the index of L_then y, asked with L_then x.
- stale, re-ranked: 100 rows of that, ordered by the metric as it is now.
- query map: with an inner product, 2 (Mx)'y - y'My, only the query and one more coordinate of the rows depend
  on the metric; the graph was built for y and y'M_then y. "refreshed" is the same, built with y'M_now y.

For OASIS, x'Wy, the index holds the rows as they are, and the query becomes W'x.
"""

import time
from typing import Any

import faiss
import measure
import numpy as np
from sklearn.preprocessing import normalize

from mloml import MOML, OASIS

ROWS, FEATURES, CLASSES, TOLD_BY = 50_000, 64, 200, 16
QUERIES, K, CANDIDATES = 500, 10, 100
FIRST, STEPS = 2000, (0, 100, 1000, 10_000)  # rows learned before the index is built, and after it


def rows(n: int, rng: Any, centres: Any) -> tuple[Any, Any]:
    """Return rows of many classes that some of the features tell apart."""
    y = rng.integers(CLASSES, size=n)
    X = rng.normal(size=(n, FEATURES))
    X[:, :TOLD_BY] += centres[y]
    return X, y


def built(Z: Any, kind: int) -> tuple[Any, float]:
    """Return an index, and the seconds that it took."""
    start = time.process_time()
    index = faiss.IndexHNSWFlat(Z.shape[1], 16, kind)
    index.hnsw.efConstruction, index.hnsw.efSearch = 100, 64
    index.add(np.ascontiguousarray(Z, dtype=np.float32))
    return index, time.process_time() - start


def asked(index: Any, Z: Any, k: int = K) -> Any:
    return index.search(np.ascontiguousarray(Z, dtype=np.float32), k)[1]


def reranked(found: Any, X: Any, Q: Any, L: Any) -> Any:
    """Order each query's candidates by the metric as it is now."""
    best = []
    for x, places in zip(Q, found, strict=True):
        gaps = (X[places] - x) @ L.T
        best.append(places[np.argsort(np.einsum("ij,ij->i", gaps, gaps), kind="stable")[:K]])
    return np.array(best)


def line(
    name: str, step: tuple[int, float], truth: Any, index: Any, Z: Any, seconds: Any = None, again: Any = None
) -> measure.Row:
    """Return recall and the time of a query; ``seconds`` is what building took, ``again`` ranks once more."""
    start = time.process_time()
    found = asked(index, Z) if again is None else reranked(asked(index, Z, CANDIDATES), *again)
    took = (time.process_time() - start) / QUERIES * 1e6
    right = np.mean([np.isin(some, best).mean() for some, best in zip(found, truth, strict=True)])
    return {
        "what": name, "learned since": step[0], "moved": step[1], "recall@10": float(right),
        "us per query": took, "building, s": seconds,
    }  # fmt: skip


def moving(metric: Any, matrix: str, stream: Any) -> Any:
    """Yield the metric's matrix now, with how many rows it has learned since and how far it moved."""
    done, then = 0, None
    for steps in STEPS:
        part = slice(done, FIRST + steps)
        metric.partial_fit(stream[0][part], stream[1][part])
        now, done = getattr(metric, matrix), FIRST + steps
        now = now() if callable(now) else now
        then = now if then is None else then
        yield now, (steps, float(np.linalg.norm(now - then) / np.linalg.norm(then)))


def mahalanobis(X: Any, Q: Any, stream: Any) -> list[measure.Row]:
    lines: list[measure.Row] = []
    for L, step in moving(MOML(gamma=1e-2), "components_", stream):
        Z, z, squares = X @ L.T, Q @ L.T, ((X @ L.T) ** 2).sum(axis=1)
        flat = faiss.IndexFlatL2(FEATURES)
        flat.add(Z.astype(np.float32))
        truth = asked(flat, z)
        fresh = built(Z, faiss.METRIC_L2)
        longer = (*built(np.c_[X, squares / squares.mean()], faiss.METRIC_INNER_PRODUCT), squares.mean())
        if not lines:
            then, stale, longer_then = L, fresh, longer
        lines += [
            line("MOML, exact", step, truth, flat, z),
            line("MOML, rebuilt", step, truth, fresh[0], z, fresh[1]),
            line("MOML, stale", step, truth, stale[0], Q @ then.T, stale[1]),
            line("MOML, stale, re-ranked", step, truth, stale[0], Q @ then.T, stale[1], again=(X, Q, L)),
        ]
        for name, (index, seconds, unit) in (("", longer_then), (", refreshed", longer)):
            query = np.c_[2 * z @ L, np.full(QUERIES, -unit)]
            lines.append(line(f"MOML, query map{name}", step, truth, index, query, seconds))
    return lines


def bilinear(X: Any, Q: Any, stream: Any) -> list[measure.Row]:
    flat = faiss.IndexFlatIP(FEATURES)
    flat.add(X.astype(np.float32))
    graph, seconds = built(X, faiss.METRIC_INNER_PRODUCT)
    lines: list[measure.Row] = []
    for W, step in moving(OASIS(gamma=1e-2), "get_bilinear_matrix", stream):
        truth = np.argsort(-(Q @ W @ X.T), axis=1, kind="stable")[:, :K]
        fresh, fresh_seconds = built(X @ W.T, faiss.METRIC_INNER_PRODUCT)
        lines += [
            line("OASIS, exact, W'x", step, truth, flat, Q @ W),
            line("OASIS, graph, W'x", step, truth, graph, Q @ W, seconds),
            line("OASIS, rebuilt of Wy", step, truth, fresh, Q, fresh_seconds),
        ]
    return lines


def main() -> list[measure.Row]:
    faiss.omp_set_num_threads(1)
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(CLASSES, TOLD_BY))
    (X, _), (Q, _) = rows(ROWS, rng, centres), rows(QUERIES, rng, centres)
    stream = rows(FIRST + max(STEPS), rng, centres)
    units = normalize(X), normalize(Q), (normalize(stream[0]), stream[1])
    return measure.write("search", mahalanobis(X, Q, stream) + bilinear(*units))


if __name__ == "__main__":
    main()
