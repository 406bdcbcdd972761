"""Where a stack's numbers lie: names for the rows and columns of the arrays that the kernels share.

``L`` and ``K`` are (layers, m, m) with ``m`` the padded number of features. ``vectors`` is (layers * ROWS,
m): each layer owns ``ROWS`` vectors, in threes that belong together. ``numbers`` and ``counts`` are
(layers, columns).

A change of rank at most 3 is not written into a matrix at once. It waits as ``left right'`` until the
matrix is read next, and is added on the way: one pass over memory instead of two.
"""

from __future__ import annotations

# rows of `vectors`: three vectors each
INPUT = 0  # p = h_t - h_p, q = h_t - h_q, h_t: what the layer sees
OUTPUT = 3  # u = L p, v = L q, z = L h_t
LEFT = 6  # waiting change of L: left right'
RIGHT = 9
K_LEFT = 12  # waiting change of K; after a frame step P = K p and Q = K q
K_RIGHT = 15
DELTA = 18  # gradient of the loss by the layer's outputs (t, p, q)
SPARE = 21
SUMS = 24
ROWS = 27

# columns of `numbers`
STEP = 0  # gamma of moml and opml layers, eta of lego, lambda of rdml
LOWER = 1  # lego's target for similar pairs
UPPER = 2  # lego's target for dissimilar pairs
WEIGHT = 3  # w_i of the loss layer
KEEP = 4  # policy split: share of the metric's determinant that a pull leaves at least
FLOOR = 5  # policy split: a direction that is pulled on is not squeezed below this
FLOATS = 6

# columns of `counts`
UPDATES = 0
FAILURES = 1  # steps that would have left the cone; under split, shortened pulls
RANK = 2  # rank of the change waiting for L
K_RANK = 3
AGE = 4  # steps since K was refined
MOVED = 5  # L was moved by back-propagation since it was factorised
REFUSED = 6  # active steps that were not taken at all
WEAK = 7  # active steps that moved the metric by less than WEAK_SHARE of the full step, refused ones too
INTEGERS = 8

WEAK_SHARE = 0.01
"""A step that is a smaller share of the full one than this hardly counts as learning."""

# columns of `options`
KIND = 0
POLICY = 1
VARIANT = 2
CHOICES = 3

KINDS = ("frame", "cholesky", "symmetric", "opml", "lego", "rdml")
FRAME, CHOLESKY, SYMMETRIC, OPML, LEGO, RDML = range(len(KINDS))

POLICIES = ("shrink", "clip", "skip", "split", "free")
SHRINK, CLIP, SKIP, SPLIT, FREE = range(len(POLICIES))

VARIANTS = ("paper", "pa")
PAPER, PASSIVE_AGGRESSIVE = range(len(VARIANTS))

ACTIVATIONS = ("relu", "sigmoid", "tanh")
RELU, SIGMOID, TANH = range(len(ACTIVATIONS))
