"""
Digits with 5-NN by several learners
====================================

Errors and times of one split. Rows go through PCA first: a step costs the square of the number of features.
"""

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from mloml import KISSME, LMNN, MLOML, MOML, OPML, Euclidean
from mloml.report.figures.style import style_of

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=600, stratify=y, random_state=0)
pca = PCA(16, random_state=0).fit(X_train)
X_train, X_test = pca.transform(X_train), pca.transform(X_test)

learners = [
    Euclidean(),
    OPML(random_state=0),
    MOML(gamma=1e-3, random_state=0),
    MLOML(activation="sigmoid", gamma=1e-3, random_state=0),
    KISSME(),
    LMNN(),
]
results = {}
for learner in learners:
    start = perf_counter()
    learner.fit(X_train, y_train)
    seconds = perf_counter() - start
    knn = KNeighborsClassifier(5).fit(learner.transform(X_train), y_train)
    results[type(learner).__name__] = 1 - knn.score(learner.transform(X_test), y_test)
    print(f"{type(learner).__name__:10} error {results[type(learner).__name__]:.3f}  fit {seconds:.2f} s")

# %%
# The times contain loading compiled code: on a new machine, the very first fit compiles it.
names = [{"MLOML": "mloml_s"}.get(name, name.lower()) for name in results]
plt.barh(list(results), list(results.values()), color=[style_of(name).colour for name in names])
plt.gca().invert_yaxis()
plt.grid(visible=False, axis="y")
plt.xlabel("5-NN error on 1197 digits")
plt.show()
