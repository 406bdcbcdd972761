"""
A stream with drift
===================

Which feature matters changes half-way. A metric that goes on learning follows; one that stopped does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from mloml import OPML

rng = np.random.default_rng(0)
n, d = 4000, 6
y = rng.integers(2, size=n)
X = rng.normal(size=(n, d))
X[: n // 2, 0] += 3 * y[: n // 2]  # first half: feature 0 tells the classes apart
X[n // 2 :, 1] += 3 * y[n // 2 :]  # second half: feature 1 does

stream = OPML(gamma=1e-2)
weights, active, seen = [], [], 0
for start in range(0, n, 100):
    stream.partial_fit(X[start : start + 100], y[start : start + 100])
    weights.append(np.diag(stream.get_mahalanobis_matrix()))
    active.append(stream.n_updates_ - seen)
    seen = stream.n_updates_

# %%
# The diagonal of M says how much each feature counts. The share of triplets that led to a step is the
# other thing to watch in a stream: it falls while the metric fits, and jumps when the world changes.
fig, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(7.16, 3.6))
rows = np.arange(100, n + 1, 100)
shares = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
top.plot(rows, shares[:, 0], label="feature 0")
top.plot(rows, shares[:, 1], label="feature 1")
top.plot(rows, shares[:, 2:].mean(1), color="grey", label="the others (mean)")
top.set(ylabel="share of M's diagonal")
top.legend()
bottom.plot(rows, np.array(active), color="black")
bottom.set(xlabel="samples seen", ylabel="steps per 100 samples")
for ax in (top, bottom):
    ax.axvline(n // 2, linestyle=":", color="black")
plt.show()
