"""
Search pictures with OASIS
==========================

OASIS learns a similarity for search. As in its paper, a picture is a bag of visual words: which small patches
it has, not where. What a query looks for is pictures of its class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from mloml import OASIS
from mloml.metrics import precision_at_k

images, y = load_digits().images, load_digits().target
patches = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2)).reshape(len(y), -1, 9)

train, test = slice(900), slice(900, None)
dictionary = MiniBatchKMeans(400, n_init=1, random_state=0).fit(patches[train].reshape(-1, 9))
words = dictionary.predict(patches.reshape(-1, 9)).reshape(len(y), -1)
X = normalize([np.bincount(row, minlength=400) for row in words])

# %%
# With a step of 0, W stays the identity: that is cosine similarity.
learners = {"cosine": OASIS(gamma=0.0, scans=1), "OASIS": OASIS(gamma=0.3, scans=5, random_state=0)}
ks = [1, 2, 5, 10, 20, 50]
for name, learner in learners.items():
    learner.fit(X[train], y[train])
    precisions = [precision_at_k(learner, X[test], y[test], k=k) for k in ks]
    print(f"{name:7} precision at 10: {precisions[3]:.3f}, at 50: {precisions[5]:.3f}")
    plt.plot(ks, precisions, marker="o", label=name)
plt.xscale("log")
plt.xticks(ks, ks)
plt.minorticks_off()
plt.xlabel("pictures shown")
plt.ylabel("share of the query's class")
plt.legend()
plt.show()

# %%
# For a search index nothing but the query changes: keep the pictures as they are, and ask for the largest
# inner product with ``W'x``. The index stays valid while OASIS goes on learning.
queries = X[test][:5] @ learners["OASIS"].get_bilinear_matrix()
nearest = np.argsort(-queries @ X[train].T, axis=1)[:, :8]
print("looked for", y[test][:5])
print(y[train][nearest])
