"""
Batch layers
============

Layers can learn one after the other, each from all rows: here KISSME alone, two of them with tanh between,
and an online MOML layer on top of one, over ten splits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mloml import KISSME, MOML, stack

X, y = load_iris(return_X_y=True)
splits = StratifiedShuffleSplit(10, test_size=0.5, random_state=0)
stacks = {
    "KISSME": [KISSME()],
    "KISSME, KISSME": [KISSME(), KISSME()],
    "KISSME, MOML": [KISSME(), MOML(gamma=1e-2, random_state=0)],
}
errors = {}
for name, learners in stacks.items():
    model = make_pipeline(StandardScaler(), stack(learners, activation="tanh"), KNeighborsClassifier(5))
    errors[name] = 1 - cross_val_score(model, X, y, cv=splits)

plt.boxplot(list(errors.values()), tick_labels=list(errors))
plt.xlabel("layers")
plt.grid(visible=False, axis="x")
plt.ylabel("5-NN test error, ten halves of iris")
plt.show()
