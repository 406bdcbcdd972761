"""
An own learner in the benchmark
===============================

Any scikit-learn transformer with ``fit(X, y)`` takes part: a YAML file names its class. It then goes
through the same splits, the same choice of parameters and the same 5-NN as the paper's algorithms.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

folder = Path(mkdtemp())
(folder / "my_learner.py").write_text('''
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class Whitener(TransformerMixin, BaseEstimator):
    """Divides by the spread within the classes."""

    def __init__(self, ridge=0.1):
        self.ridge = ridge

    def fit(self, X, y):
        X, y = np.asarray(X), np.asarray(y)
        within = sum(np.cov(X[y == c].T, bias=True) for c in np.unique(y)) / len(np.unique(y))
        values, vectors = np.linalg.eigh(within)
        self.components_ = (vectors / np.sqrt(values + self.ridge * values.mean())).T
        return self

    def transform(self, X):
        return np.asarray(X) @ self.components_.T
''')
(folder / "conf/algorithm").mkdir(parents=True)
(folder / "conf/algorithm/whitener.yaml").write_text("""
name: whitener
title: Whitener
learner: my_learner.Whitener
note: null
grid:
  ridge: [0.01, 0.1, 1.0]
ridge: null     # chosen by cross-validation from grid
""")

# %%
# One command for each; both run the protocol ``lite`` on five splits of iris.


def errors(algorithm):
    command = [sys.executable, "-m", "mloml", f"--config-dir={folder / 'conf'}", f"algorithm={algorithm}"]
    command += ["dataset=iris", "protocol=lite", "protocol.splits=5", "execution.n_jobs=1"]
    command += [f"hydra.run.dir=results/{algorithm}"]
    surroundings = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run(command, cwd=folder, env=surroundings, check=True, capture_output=True)
    return pd.read_csv(folder / f"results/{algorithm}/cells.csv")["error"]


import matplotlib.pyplot as plt
import pandas as pd

table = pd.DataFrame({name: errors(name) for name in ("euclidean", "whitener")})
print(table.describe().loc[["mean", "std"]].round(3))

for name, column in table.items():
    plt.plot([name] * len(column), column, "o")
plt.ylabel("5-NN test error, each split")
plt.xlim(-0.5, 1.5)
plt.show()
