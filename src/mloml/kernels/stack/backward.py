"""Whole scans with backward propagation: BP alone, and FBP."""

from __future__ import annotations

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.simd import exact, exact_inline
from mloml.kernels.stack.activation import activate
from mloml.kernels.stack.forward import forward, write_changes
from mloml.kernels.stack.gradients import HINGE, NO_LOCAL_LOSS, SCALED_HINGE, backward, descend, sensible
from mloml.kernels.stack.layers import LIMIT, see
from mloml.kernels.stack.layout import INPUT, OUTPUT, ROWS, UPDATES
from mloml.kernels.stack.vectors import take_triplet

__all__ = ["HINGE", "SCALED_HINGE", "bp_scan", "fbp_scan"]


@exact_inline
def map_triplet(L: Array, V: Array, counts: Counts, activation: int, d: int) -> bool:
    """Take the triplet through the stack without learning; False when an output is no sensible number."""
    m = V.shape[1]
    layers = L.shape[0]
    for i in range(layers):
        hinge = see(i, L, V, counts, i + 1 < layers, True, d)
        if not abs(hinge) < LIMIT:
            return False
        if i + 1 < layers:
            activate(V, (i * ROWS + OUTPUT) * m, ((i + 1) * ROWS + INPUT) * m, activation, d)
    return True


@exact
def bp_scan(
    rows: Array,
    triplets: Triplets,
    L: Array,
    K: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    options: Counts,
    activation: int,
    rate: float,
    decay: float,
    d: int,
) -> int:
    """Run backward propagation over ``triplets``; return how many were learned from (fewer: diverged)."""
    done = 0
    for k in range(triplets.shape[0]):
        take_triplet(rows, triplets[k, 0], triplets[k, 1], triplets[k, 2], V, INPUT * V.shape[1])
        if not map_triplet(L, V, counts, activation, d):
            break
        alive = backward(L, V, numbers, counts, activation, NO_LOCAL_LOSS, False, rate, True, d)
        if rate > 0.0 and (alive or decay > 0.0):
            if not sensible(L, V, rate):
                break
            descend(L, K, V, counts, options, rate, decay, False, d)
            if alive:
                for i in range(L.shape[0]):
                    counts[i, UPDATES] += 1
        done += 1
    write_changes(L, K, V, counts, d)
    return done


@exact
def fbp_scan(
    rows: Array,
    triplets: Triplets,
    L: Array,
    K: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    options: Counts,
    activation: int,
    rate: float,
    decay: float,
    local: int,
    own_too: bool,
    freeze: bool,
    work: Array,
    dense: Array | None,
    opml: bool | None,
    d: int,
) -> int:
    """Run, for each triplet in order, a forward and then a backward step; return how many were learned from.

    ``local`` is 1 for hinges as local losses, 2 for hinges times the layer's step; ``own_too`` lets a local
    loss move its own layer; ``freeze`` keeps the weights ``w_i``.
    """
    done = 0
    for k in range(triplets.shape[0]):
        take_triplet(rows, triplets[k, 0], triplets[k, 1], triplets[k, 2], V, INPUT * V.shape[1])
        if not forward(L, K, V, numbers, counts, options, activation, work, dense, opml, True, d):
            break
        if rate > 0.0:
            alive = backward(L, V, numbers, counts, activation, local, own_too, rate, freeze, d)
            if alive or decay > 0.0:
                if not sensible(L, V, rate):
                    break
                descend(L, K, V, counts, options, rate, decay, True, d)
        done += 1
    write_changes(L, K, V, counts, d)
    return done
