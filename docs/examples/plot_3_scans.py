"""
Learning curve over scans
=========================

``iter_scans`` hands out the learner after each pass over the rows: when is enough enough?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from mloml import MLOML, MOML, OPML

X, y = load_wine(return_X_y=True)
X = normalize((X - X.mean(0)) / X.std(0))
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)


def errors(learner):
    knn = KNeighborsClassifier(5)
    for metric in learner.iter_scans(X_train, y_train):
        yield 1 - knn.fit(metric.transform(X_train), y_train).score(metric.transform(X_test), y_test)


for learner in (OPML(random_state=0), MOML(random_state=0), MLOML(activation="sigmoid", random_state=0)):
    plt.plot(range(1, 21), list(errors(learner)), marker=".", label=type(learner).__name__)
plain = 1 - KNeighborsClassifier(5).fit(X_train, y_train).score(X_test, y_test)
plt.axhline(plain, color="grey", linestyle=":", label="Euclidean")
plt.xlabel("scan")
plt.ylabel("error of 5-NN")
plt.xticks(range(0, 21, 5))
plt.legend()
plt.show()
