"""
Classify a stream with a metric that learns
===========================================

Each letter is predicted from the last 500, then learned. ``MetricKNN(None)`` is plain k-NN on the same
window: what lies between the curves is the metric's doing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

from mloml import MOML, MetricKNN
from mloml.datasets import DataSettings, catalogue, load

data = load(catalogue()["letter"], DataSettings(source="bundled"))
X, y = shuffle(data.X, data.y, random_state=0)
X = StandardScaler().fit_transform(X)

models = {"plain 5-NN": MetricKNN(None, window=500), "5-NN, metric by MOML": MetricKNN(MOML(), window=500)}
errors = {}
for name, model in models.items():
    wrong = []
    for row, label in zip(X, y, strict=True):
        wrong.append(model.predict_one(row) != label)
        model.learn_one(row, label)
    errors[name] = np.array(wrong)
    print(f"{name:22} error on the last 1500 letters: {errors[name][1500:].mean():.3f}")

# %%
# Once the window is full, plain k-NN gets no better: it always knows 500 letters. The metric goes on.
last = 300
for name, wrong in errors.items():
    plt.plot(np.arange(last, len(y) + 1), np.convolve(wrong, np.ones(last) / last, "valid"), label=name)
plt.axvline(500, linestyle=":", color="black")
plt.annotate("window full", (500, 0.05), textcoords="offset points", xytext=(4, 0))
plt.xlabel("letters seen")
plt.ylabel(f"error on the last {last}")
plt.ylim(0, 0.8)
plt.legend()
plt.show()
