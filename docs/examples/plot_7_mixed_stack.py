"""
A mixed stack
=============

The layers of a stack need not be of one kind: here OPML below and MOML above, against stacks of one kind,
over ten splits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from mloml import MLOML

X, y = load_iris(return_X_y=True)
splits = StratifiedShuffleSplit(10, test_size=0.5, random_state=0)
stacks = {"opml, opml": ["opml", "opml"], "moml, moml": ["moml", "moml"], "opml, moml": ["opml", "moml"]}
errors = {}
for name, layers in stacks.items():
    stack = MLOML(layer=layers, n_layers=2, activation="tanh", gamma=1e-2, random_state=0)
    model = make_pipeline(Normalizer(), stack, KNeighborsClassifier(5))
    errors[name] = 1 - cross_val_score(model, X, y, cv=splits)

plt.boxplot(list(errors.values()), tick_labels=list(errors))
plt.xlabel("first layer, second layer")
plt.grid(visible=False, axis="x")
plt.ylabel("5-NN test error, ten halves of iris")
plt.show()
