"""
Feature relevance from M
========================

In a learned metric the diagonal of M tells how much a difference in each feature counts, the entries
beside it which features are read together. For that the features must be of one scale: standardise first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mloml import OPML

data = load_wine()
X = StandardScaler().fit_transform(data.data)
M = OPML(gamma=1e-2, random_state=0).fit(X, data.target).get_mahalanobis_matrix()

order = np.argsort(np.diag(M))
fig, (left, right) = plt.subplots(1, 2)
left.barh(np.array(data.feature_names)[order], np.diag(M)[order])
left.grid(visible=False, axis="y")
left.set(xlabel="diagonal of M")
limit = np.abs(M).max()
right.imshow(M, cmap="RdBu_r", vmin=-limit, vmax=limit)
right.grid(visible=False)
right.set(title="M", xticks=[], yticks=[])
plt.show()
