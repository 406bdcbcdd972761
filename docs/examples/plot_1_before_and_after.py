"""
A metric, before and after
==========================

One direction tells the classes apart, the other is louder and tells nothing. Nearest neighbours measure
both alike and err; a learned metric stretches the first and shrinks the second.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from mloml import OPML

rng = np.random.default_rng(0)
y = rng.integers(2, size=400)
turn = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)
X = np.column_stack([rng.normal(y, 0.3), rng.normal(0, 5, size=400)]) @ turn
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=100, random_state=0)

metric = OPML(gamma=1e-2, scans=5, random_state=0).fit(X_train, y_train)
before = KNeighborsClassifier(5).fit(X_train, y_train).score(X_test, y_test)
after = (
    KNeighborsClassifier(5).fit(metric.transform(X_train), y_train).score(metric.transform(X_test), y_test)
)
print(f"5-NN: {before:.2f} before, {after:.2f} after")

# %%
# The same rows as the metric sees them: in this space plain Euclidean distance is the learned distance.
fig, axes = plt.subplots(1, 2)
for ax, rows, title in zip(
    axes, (X, metric.transform(X)), (f"before: {before:.2f}", f"after: {after:.2f}"), strict=True
):
    for k in (0, 1):
        ax.plot(*rows[y == k].T, "o^"[k], markersize=3, alpha=0.8, label=f"class {k}")
    ax.axis("equal")
    ax.set(title=f"5-NN accuracy {title}", xticks=[], yticks=[])
axes[0].legend()
plt.show()
