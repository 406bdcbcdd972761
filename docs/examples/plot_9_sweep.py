"""
Reading a sweep with pandas
===========================

A sweep writes one table with a row per job; the cells behind it, one per split, are in its folders.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import pandas as pd

folder = Path(mkdtemp())
command = [sys.executable, "-m", "mloml", "-m", "dataset=iris", "algorithm=mloml_r"]
command += ["algorithm.n_layers=1,2,3", "protocol=lite", "protocol.splits=5", "execution.n_jobs=1"]
subprocess.run(command, cwd=folder, check=True, capture_output=True)

(sweep,) = (folder / "results/sweeps").iterdir()
table = pd.read_csv(sweep / "sweep.csv")
print(table.to_string())

# %%
# Every job's cells, with the parameters that cross-validation chose on each split:
cells = pd.concat(
    pd.read_csv(file).assign(job=file.parent.name) for file in sorted(sweep.glob("*/cells.csv"))
)
print(cells[["job", "split", "error", "chosen"]].head())

cells["layers"] = cells["job"].astype(int) + 1
plt.boxplot([part["error"] for _, part in cells.groupby("layers")], tick_labels=["1", "2", "3"])
plt.grid(visible=False, axis="x")
plt.title("iris, MLOML-r, five splits")
plt.xlabel("metric layers")
plt.ylabel("5-NN test error")
plt.show()
