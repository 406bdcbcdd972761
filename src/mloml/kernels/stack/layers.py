"""One metric layer meets one triplet: its hinge, and its own algorithm's step where the hinge asks for it.

Before the call the layer's inputs (p, q, h) are in place. After it the outputs (u, v, z) are those of the
*updated* layer. Changes of rank 2 whose right side is (p, q) are left waiting in LEFT and RIGHT; see
``layout``.
"""

from __future__ import annotations

import numpy as np

from mloml.arrays import Array, Counts
from mloml.kernels.lego import lego_step, note_refusal
from mloml.kernels.linalg.passes import LIMIT, product
from mloml.kernels.linalg.refine import recompute, refine
from mloml.kernels.opml import KEPT, split_push, weak_split
from mloml.kernels.simd import exact, exact_inline
from mloml.kernels.stack import layout as at
from mloml.kernels.stack.factors import cholesky_step, split_step, symmetric_step
from mloml.kernels.stack.frame import REFINE_EVERY, frame_step
from mloml.kernels.stack.rdml_frame import DRIFTED, PROJECTED, UNDONE, UPDATED, rdml_frame_step
from mloml.kernels.stack.row_passes import map_rows
from mloml.kernels.stack.vectors import add_mix, add_pair, copy, gram, inner, mix, squares


@exact
def see(i: int, L: Array, V: Array, counts: Counts, all_three: bool, descent: bool | None, d: int) -> float:
    """Write the waiting change into ``L``, map the inputs, and return the hinge argument of the outputs."""
    m = V.shape[1]
    own = i * at.ROWS * m
    out = own + at.OUTPUT * m
    map_rows(
        L,
        i * m * m,
        V,
        own + at.INPUT * m,
        out,
        own + at.LEFT * m,
        own + at.RIGHT * m,
        counts[i, at.RANK],
        all_three,
        descent,
        d,
    )
    counts[i, at.RANK] = 0
    near, far = squares(V, out)
    return 1.0 + near - far


@exact_inline
def learn(
    i: int,
    L: Array,
    K: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    options: Counts,
    all_three: bool,
    work: Array,
    dense: Array | None,
    opml: bool | None,
    descent: bool | None,
    d: int,
) -> bool:
    """Let layer ``i`` learn from the triplet; False when its outputs are no longer sensible numbers.

    ``dense`` is the workspace of layers other than frames and OPML, and None where a stack has no such layer:
    the compiler then leaves their algorithms out, which saves most of its time. So do ``opml`` for layers of
    OPML and ``descent`` for changes by gradients.
    """
    kind = options[i, at.KIND]
    g = numbers[i, at.STEP]
    again = True
    learned = False
    while again:  # a layer that was changed at once, not left waiting, is looked at a second time
        again = False
        hinge = see(i, L, V, counts, all_three, descent, d)
        if not abs(hinge) < LIMIT:
            return False
        if learned or g <= 0.0:
            continue
        learned = True
        if hinge > 0.0 and options[i, at.VARIANT] == at.PASSIVE_AGGRESSIVE:
            g = min(g, passive_step(V, (i * at.ROWS + at.INPUT) * V.shape[1], hinge))
        if kind == at.FRAME:
            if hinge > 0.0:
                keep, floor = numbers[i, at.KEEP], numbers[i, at.FLOOR]
                frame_step(i, L, K, V, counts, g, options[i, at.POLICY], keep, floor, work, descent, d)
        elif kind == at.OPML:
            if opml is not None:
                opml_layer(i, V, counts, g, hinge)
        elif dense is not None:
            again = learn_at_once(i, L, K, V, numbers, counts, options, g, hinge, dense, d)
    return True


@exact
def learn_at_once(
    i: int,
    L: Array,
    K: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    options: Counts,
    g: float,
    hinge: float,
    work: Array,
    d: int,
) -> bool:
    """Take the step of a layer whose change cannot wait; False when the hinge asks for none."""
    kind = options[i, at.KIND]
    if kind == at.LEGO or kind == at.RDML:  # a tuple costs compile time
        learn_pairs(i, L, K, V, numbers, counts, kind, work, d)
        return True
    if hinge > 0.0:
        learn_dense(i, L, K, V, numbers, counts, options, g, work, d)
        return True
    return False


@exact
def passive_step(V: Array, x: int, hinge: float) -> float:
    """Return the step that brings the hinge to 0: ``hinge / ||A||²``."""
    a, b, c = gram(V, x)
    norm = a * a + b * b - 2.0 * c * c
    return hinge / norm if norm > 0.0 else np.inf


@exact
def opml_layer(i: int, V: Array, counts: Counts, g: float, hinge: float) -> None:
    """Leave OPML's split step waiting, if the hinge asks for one; the outputs follow at once.

    The step itself: :mod:`mloml.kernels.opml`.
    """
    if not hinge > 0.0:
        return
    m = V.shape[1]
    own = i * at.ROWS * m
    x, out, left = own + at.INPUT * m, own + at.OUTPUT * m, own + at.LEFT * m
    a, b, c = gram(V, x)
    push = split_push(a, b, c, g)
    den = (1.0 + g * a) * (1.0 - g * b) + g * g * c * c
    if push < g:
        den = KEPT * (1.0 + g * a)
        counts[i, at.FAILURES] += 1
        counts[i, at.WEAK] += weak_split(a, b, c, g, push)
    k = g / den
    cross = -k * push * c
    mix(V, out, left, -k * (1.0 - push * b), cross, cross, push / den * (1.0 + g * a))
    copy(V, x, own + at.RIGHT * m, 2)
    add_mix(V, left, out, a, c, c, b)
    h = x + 2 * m
    add_pair(V, left, out + 2 * m, inner(V, x, h), inner(V, x + m, h))
    counts[i, at.RANK] = 2
    counts[i, at.UPDATES] += 1


@exact
def learn_dense(
    i: int,
    L: Array,
    K: Array,
    V: Array,
    numbers: Array,
    counts: Counts,
    options: Counts,
    g: float,
    work: Array,
    d: int,
) -> None:
    """Take MOML's step on a Cholesky or symmetric factor."""
    own = i * at.ROWS
    x, spare = own + at.INPUT, own + at.SPARE
    policy, moved = options[i, at.POLICY], counts[i, at.MOVED] == 1
    if options[i, at.KIND] == at.CHOLESKY and policy == at.SPLIT:
        keep, floor = numbers[i, at.KEEP], numbers[i, at.FLOOR]
        taken, failed = split_step(i, L, V, own, g, keep, floor, moved, work, d)
    elif options[i, at.KIND] == at.CHOLESKY:
        taken, failed = cholesky_step(
            L[i], V[x, :d], V[x + 1, :d], g, policy, moved, work, V[spare : spare + 3]
        )
    else:
        taken, failed = symmetric_step(
            L[i], K[i], V[x, :d], V[x + 1, :d], g, policy, moved, work, V[spare : spare + 3]
        )
    counts[i, at.FAILURES] += failed
    counts[i, at.UPDATES] += taken
    counts[i, at.REFUSED] += not taken
    counts[i, at.WEAK] += not taken
    if taken:
        counts[i, at.MOVED] = 0


@exact
def learn_pairs(
    i: int, L: Array, K: Array, V: Array, numbers: Array, counts: Counts, kind: int, work: Array, d: int
) -> None:
    """Show the pairs (t, p) and (t, q) to a LEGO or RDML layer, in this order."""
    own = i * at.ROWS
    changed = False
    for side in range(2):
        z, u, w = V[own + at.INPUT + side], V[own + at.OUTPUT + side], V[own + at.SPARE]
        if changed:
            product(L[i], z, u)
        if kind == at.LEGO:
            done = lego_step(
                L[i], z, u, w, numbers[i, at.LOWER if side == 0 else at.UPPER], numbers[i, at.STEP]
            )
            counts[i, at.FAILURES] += not done
            if not done:
                note_refusal(z, counts[i])
        else:
            done = rdml_layer(i, L, K, V, counts, side, numbers[i, at.STEP], work, d)
        counts[i, at.UPDATES] += done
        changed = changed or done


@exact
def rdml_layer(
    i: int, L: Array, K: Array, V: Array, counts: Counts, side: int, lam: float, work: Array, d: int
) -> bool:
    """Show one pair to an RDML layer; K is refined in time, and made anew where that was too late."""
    own, m = i * at.ROWS, V.shape[1]
    z, u, rows = V[own + at.INPUT + side], V[own + at.OUTPUT + side], V[own + at.K_LEFT : own + at.K_LEFT + 5]
    if counts[i, at.AGE] >= REFINE_EVERY:
        refine(L, K, i * m * m, m, d, work)
        counts[i, at.AGE] = 0
    status = rdml_frame_step(L[i], K[i], z, u, side == 0, lam, d, rows, work[0])
    if status == DRIFTED:
        recompute(L, K, i * m * m, m, d, work)
        counts[i, at.AGE] = 0
        status = rdml_frame_step(L[i], K[i], z, u, side == 0, lam, d, rows, work[0])
    counts[i, at.FAILURES] += status >= PROJECTED
    counts[i, at.REFUSED] += status == DRIFTED
    counts[i, at.WEAK] += status >= UNDONE
    counts[i, at.AGE] += 1
    return UPDATED <= status < DRIFTED
