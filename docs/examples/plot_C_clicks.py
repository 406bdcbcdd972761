"""
Tune embeddings from clicks
===========================

A frozen network has made vectors of pictures: an object beside a background, 128 numbers in which both are
mixed. Users look for *the object*, and click on it among what they are shown. A click is a triplet: what was
searched is nearer to what was clicked than to what was passed over. No labels are needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mloml import Euclidean, LowRankMOML
from mloml.metrics import recall_at_k

rng = np.random.default_rng(0)
digits = load_digits().data / 16
network = rng.normal(size=(128, 128)) / np.sqrt(128)


def pictures(objects, times=4):
    """Show each object before several backgrounds; return pictures, embeddings and whose they are."""
    shown = np.repeat(objects, times)
    noisy = digits[shown] + 0.15 * rng.normal(size=(len(shown), 64))
    both = np.hstack([noisy, digits[rng.integers(len(digits), size=len(shown))]])
    return both, np.tanh(both @ network), shown


_, X, objects = pictures(np.arange(300))
both, X_new, objects_new = pictures(np.arange(300, 700))  # objects that nobody has clicked on yet

# %%
# A user searches with one picture and sees the 50 nearest. The click goes to a picture of the same object;
# one of another object, which was shown, was passed over.
clicks = []
for query in rng.integers(len(X), size=3000):
    shown = np.argsort(((X - X[query]) ** 2).sum(axis=1))[1:51]
    same = np.setdiff1d(np.flatnonzero(objects == objects[query]), query)
    clicks.append([query, rng.choice(same), rng.choice(shown[objects[shown] != objects[query]])])

# %%
# The metric learns from each click as it comes, and maps the embeddings to 32 numbers. How often is the
# object among the 10 nearest pictures? (With ``gamma="auto"`` the same step size is found on the way, but
# some hundred clicks pass first.)
before = recall_at_k(Euclidean().fit(X_new, objects_new), X_new, objects_new, k=10)
metric, seen, recalls = LowRankMOML(n_components=32, gamma=0.1, random_state=0), [0], [before]
for start in range(0, len(clicks), 300):
    metric.partial_fit_triplets(X, clicks[start : start + 300])
    seen.append(start + 300)
    recalls.append(recall_at_k(metric, X_new, objects_new, k=10))
print(f"recall@10 on new objects: {before:.2f} before, {recalls[-1]:.2f} after {len(clicks)} clicks")

plt.plot(seen, recalls, marker="o")
plt.axhline(before, linestyle=":", color="black")
plt.annotate("embeddings as they are", (3000, before), textcoords="offset points", xytext=(-110, 5))
plt.xlabel("clicks")
plt.ylabel("recall@10, new objects")
plt.ylim(0.4, 1)
plt.show()

# %%
# Five queries, left, and what comes first: by the embeddings, then by the learned metric. The object is the
# left half of a picture; a frame means that it is the right one.
fig, axes = plt.subplots(5, 7, figsize=(7.16, 2.8))
for row, query in zip(axes, range(2, 200, 40), strict=True):
    for ax in row:
        ax.axis("off")
    row[0].imshow(both[query].reshape(2, 8, 8).swapaxes(0, 1).reshape(8, 16), cmap="gray_r", vmin=0, vmax=1)
    for column, Z in ((1, X_new), (4, metric.transform(X_new))):
        nearest = np.argsort(((Z - Z[query]) ** 2).sum(axis=1))[1:4]
        for ax, i in zip(row[column:], nearest, strict=False):
            ax.imshow(both[i].reshape(2, 8, 8).swapaxes(0, 1).reshape(8, 16), cmap="gray_r", vmin=0, vmax=1)
            if objects_new[i] == objects_new[query]:
                ax.add_patch(plt.Rectangle((-0.5, -0.5), 16, 8, fill=False, color="C1", linewidth=3))
for column, title in ((0, "query"), (2, "before"), (5, "after")):
    axes[0, column].set_title(title)
plt.show()
