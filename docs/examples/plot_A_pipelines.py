"""
Pipelines, GridSearchCV, dask-ml and river
==========================================

The learners are scikit-learn estimators with ``partial_fit``, so what takes those takes them.
"""

import dask.array as da
import matplotlib.pyplot as plt
from dask_ml.wrappers import Incremental
from river import compose, preprocessing
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

from mloml import MOML, OPML
from mloml.river import MetricKNN

X, y = load_wine(return_X_y=True)

# %%
# scikit-learn: the step size, chosen by cross-validation inside a pipeline.
model = make_pipeline(StandardScaler(), OPML(random_state=0), KNeighborsClassifier(5))
gammas = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
search = GridSearchCV(model, {"opml__gamma": gammas}, cv=3).fit(X, y)
plt.semilogx(gammas, search.cv_results_["mean_test_score"], marker="o")
plt.xlabel("step size γ")
plt.ylabel("5-NN accuracy (3 folds)")
plt.show()

# %%
# dask-ml: ``Incremental`` hands the blocks of an array to ``partial_fit``, one after the other. A metric has
# no score of its own, so ``scoring=`` has to say what is good: here, 5-NN on rows as the metric maps them.


def knn_score(metric, X, y):
    rows = metric.transform(X)
    return KNeighborsClassifier(5).fit(rows[::2], y[::2]).score(rows[1::2], y[1::2])


rows = normalize(StandardScaler().fit_transform(X))
order = rows[:, 0].argsort(kind="stable")  # any order that mixes the classes
blocks = da.from_array(rows[order], chunks=(60, 13)), da.from_array(y[order], chunks=60)
incremental = Incremental(MOML(gamma=1e-2), scoring=knn_score, assume_equal_chunks=True)
incremental.fit(*blocks)
print("triplets:", incremental.estimator_.n_triplets_)
print(f"score: {incremental.score(rows[order], y[order]):.2f}")

# %%
# river: dicts in, predictions out. ``MetricTransformer`` stands before any other model of river.
online = compose.Pipeline(preprocessing.StandardScaler(), MetricKNN(MOML(gamma=1e-2)))
right = 0
for row, label in zip(X[::-1], y[::-1], strict=True):
    x = dict(enumerate(row))
    right += online.predict_one(x) == label
    online.learn_one(x, int(label))
print("right before being told:", right, "of", len(X))
