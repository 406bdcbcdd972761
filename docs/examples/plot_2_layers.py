"""
What each layer sees
====================

The paper's figure 6 in small: the rows after each metric layer, drawn on their two main axes.
``transform(X, layer=i)`` gives the linear output of layer i.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from mloml import MLOML

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
stack = MLOML(n_layers=3, activation="tanh", gamma=1e-2, random_state=0).fit(X, y)

fig, axes = plt.subplots(1, 4, figsize=(7.16, 2.3))
outputs = {"input": X, **{f"layer {i}": stack.transform(X, layer=i) for i in (1, 2, 3)}}
for ax, (name, rows) in zip(axes, outputs.items(), strict=True):
    points = PCA(2).fit_transform(rows)
    for k in range(3):
        ax.plot(*points[y == k].T, "o^s"[k], markersize=2, label=f"class {k}")
    ax.set(title=name, xticks=[], yticks=[])
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# How many steps changed each layer, and how many had to be shortened:
print("steps:", stack.n_updates_, " shortened:", stack.n_cone_failures_, " triplets:", stack.n_triplets_)
