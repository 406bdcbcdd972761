"""Forward propagation: a layer learns from each triplet what the updated layers below make of it."""

from __future__ import annotations

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.simd import exact, exact_inline
from mloml.kernels.stack.activation import activate
from mloml.kernels.stack.layers import learn
from mloml.kernels.stack.layout import INPUT, K_LEFT, K_RANK, K_RIGHT, LEFT, OUTPUT, RANK, RIGHT, ROWS
from mloml.kernels.stack.row_passes import fold_rows
from mloml.kernels.stack.vectors import take_triplet


@exact_inline
def forward(
    L: Array,
    K: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    options: Counts,
    activation: int,
    work: Array,
    dense: Array | None,
    opml: bool | None,
    descent: bool | None,
    d: int,
) -> bool:
    """Take the triplet at the first inputs through the stack, every layer learning; False: diverged."""
    m = V.shape[1]
    layers = L.shape[0]
    for i in range(layers):
        inner_layer = i + 1 < layers
        if not learn(i, L, K, V, numbers, counts, options, inner_layer, work, dense, opml, descent, d):
            return False
        if inner_layer:
            activate(V, (i * ROWS + OUTPUT) * m, ((i + 1) * ROWS + INPUT) * m, activation, d)
    return True


@exact
def write_changes(L: Array, K: Array, V: Array, counts: Counts, d: int) -> None:
    """Write all waiting changes into the matrices."""
    m = V.shape[1]
    for i in range(L.shape[0]):
        base, own = i * m * m, i * ROWS * m
        fold_rows(L, base, V, own + LEFT * m, own + RIGHT * m, counts[i, RANK], d)
        fold_rows(K, base, V, own + K_LEFT * m, own + K_RIGHT * m, counts[i, K_RANK], d)
        counts[i, RANK] = counts[i, K_RANK] = 0


@exact
def fp_scan(
    rows: Array,
    triplets: Triplets,
    L: Array,
    K: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    options: Counts,
    activation: int,
    work: Array,
    dense: Array | None,
    opml: bool | None,
    d: int,
) -> int:
    """Run forward propagation over ``triplets``; return how many were learned from (fewer: diverged).

    All arrays are padded and changed in place, see ``layout``; ``work`` is (2, m, m), and so is ``dense`` for
    stacks with layers other than frames and OPML; for others it is None. ``opml`` is None for stacks without
    layers of OPML.
    """
    done = 0
    for k in range(triplets.shape[0]):
        take_triplet(rows, triplets[k, 0], triplets[k, 1], triplets[k, 2], V, INPUT * V.shape[1])
        if not forward(L, K, V, numbers, counts, options, activation, work, dense, opml, None, d):
            break
        done += 1
    write_changes(L, K, V, counts, d)
    return done
