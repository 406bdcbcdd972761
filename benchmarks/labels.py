"""Which column did the paper take for the label? 5-NN errors of Euclidean distance, by the paper's protocol.

python benchmarks/labels.py        # mlprove only where it is had: mloml data fetch mlprove

spect: each of the 23 columns of UCI's file as the label, the others as features (column 1 is the diagnosis).
mlprove: the 51 features alone, and with the six label columns among them, as the paper's Table I counts them.
Every row is divided by its length; 30 stratified halves.
"""

import measure
import numpy as np

from mloml.datasets import DataSettings, catalogue, load
from mloml.errors import MlomlError
from mloml.experiments.neighbours import predict
from mloml.experiments.preprocessing import unit_rows
from mloml.experiments.splits import split_indices

SPLITS = 30


def error(X, y, name):
    """Return the mean error over the halves."""
    rows, errors = unit_rows(X), []
    for split in range(SPLITS):
        train, test = split_indices(y, split, 0, name)
        errors.append(np.mean(predict(rows[train], y[train], rows[test], 5) != y[test]))
    return float(np.mean(errors))


def main():
    """Write the table."""
    known, had = catalogue(), DataSettings(offline=True)
    spect = load(known["spect"], had)
    columns = np.column_stack([spect.y, spect.X])  # 0 and 1 everywhere
    rows = []
    for label in range(columns.shape[1]):
        y = columns[:, label].astype(int)
        found = error(np.delete(columns, label, axis=1).astype(float), y, "spect")
        rows.append({"dataset": "spect", "label": f"column {label + 1}", "error": round(found, 6)})
    for name, label in (("mlprove", "true"), ("mlprove_paper", "among the features")):
        try:
            data = load(known[name], had)
        except MlomlError as missing:
            print(missing)
            continue
        rows.append({"dataset": "mlprove", "label": label, "error": round(error(data.X, data.y, name), 6)})
    measure.write("labels", rows)


if __name__ == "__main__":
    main()
