"""Tables I to III as the paper prints them, with this package's names for algorithms."""

from importlib.resources import files

import pandas as pd

# Splits behind every mean of the paper.
SPLITS = 30

# The paper's algorithms in the order of its Table II, and their names here.
ALGORITHMS = {
    "Euclidean": "euclidean", "LMNN": "lmnn", "KISSME": "kissme", "LMDML": "lmdml", "ML-CC": "mlcc",
    "RDML": "rdml", "LEGO": "lego", "OASIS": "oasis", "OPML": "opml", "SLMOML": "slmoml", "MOML": "moml",
    "MLOML-t": "mloml_t", "MLOML-s": "mloml_s", "MLOML-r": "mloml_r",
}  # fmt: skip

# The rows of the paper's tables, in its order.
DATASETS = (
    "lsvt", "iris", "wine", "spect", "ionosphere", "pems",
    "balance", "breast", "pima", "diabetic", "waveform", "mlprove",
)  # fmt: skip

# Rows measured with an accident of the paper's: the wrong label column, labels among the features.
ACCIDENTS = {"spect": "spect_paper", "mlprove": "mlprove_paper"}

# The algorithms that the paper itself proposes.
OWN = ("moml", "mloml_t", "mloml_s", "mloml_r")

# Table III's propagation strategies, and how the variants' names end here.
PROPAGATIONS = {"BP": "_bp", "FBP": "_fbp", "FP": ""}

COUNTS = ["reference", "algorithm", "win", "tie", "loss"]


def paper_row(dataset: str) -> str | None:
    """Return the row of the paper's tables that a dataset's errors may be compared with.

    The true-label versions of spect and mlprove have none: the paper never measured them.

    >>> paper_row("iris"), paper_row("spect_paper"), paper_row("spect")
    ('iris', 'spect', None)
    """
    by_variant = {variant: row for row, variant in ACCIDENTS.items()}
    if dataset in by_variant:
        return by_variant[dataset]
    return dataset if dataset in DATASETS and dataset not in ACCIDENTS else None


def table1() -> pd.DataFrame:
    """Return instances, features and classes of each dataset.

    >>> table1().set_index("dataset").loc["iris"].to_list()
    [150, 4, 3]
    """
    return _read("table1")


def table2() -> pd.DataFrame:
    """Return Table II, one row per cell: dataset, algorithm, error, std, mark (of MLOML-r), bold.

    >>> table = table2()
    >>> table[(table["dataset"] == "wine") & (table["algorithm"] == "kissme")].values.tolist()
    [['wine', 'kissme', 0.069, 0.021, 'loss', True]]
    """
    table = _read("table2")
    return table.assign(algorithm=table["algorithm"].map(ALGORITHMS))


def table2_counts() -> pd.DataFrame:
    """Return the win/tie/loss row of Table II as printed: reference, algorithm, win, tie, loss."""
    counts = _read("table2_win_tie_loss")
    return counts.replace({"reference": ALGORITHMS, "algorithm": ALGORITHMS})


def table3() -> pd.DataFrame:
    """Return Table III, one row per cell; ``algorithm`` names the variant, such as ``mloml_r_bp``.

    ``mark`` is as printed, ``corrected_mark`` agrees with the means and with the printed counts:
    three filled markers contradict both.

    >>> table = table3()
    >>> table.loc[table["mark"] != table["corrected_mark"], ["dataset", "algorithm"]].values.tolist()
    [['spect', 'mloml_s_fbp'], ['waveform', 'mloml_t_fbp'], ['mlprove', 'mloml_t_fbp']]
    """
    table = _read("table3")
    base = table["algorithm"].map(ALGORITHMS)
    return table.assign(algorithm=base + table["propagation"].map(PROPAGATIONS), reference=base)


def table3_counts() -> pd.DataFrame:
    """Return the win/tie/loss row of Table III as printed, for FP against BP and FBP."""
    counts = _read("table3_win_tie_loss")
    base = counts["algorithm"].map(ALGORITHMS)
    variants = base + counts["versus"].map(PROPAGATIONS)
    return counts[["win", "tie", "loss"]].assign(reference=base, algorithm=variants)[COUNTS]


def draws() -> dict[str, float]:
    """Return the variance between draws of the waveform generator, by algorithm.

    ``draws.csv`` has ``algorithm`` (a name of ours), ``draws`` (how many) and ``variance``: that of the mean
    error over draws, less the part that is due to the random halves within each (never below 0). Algorithms
    without a row were not measured.
    """
    table = _read("draws")
    return {str(row["algorithm"]): float(row["variance"]) for row in table.to_dict("records")}


def pems_prediction() -> pd.DataFrame:
    """Return what our errors on pems should be, as predicted by `tools/pems.py` before its file could be had.

    >>> pems_prediction()[["algorithm", "paper_mean", "expected"]].round(3).values.tolist()[0]
    ['euclidean', 0.498, 0.496]
    """
    return _read("pems_prediction")


def _read(name: str) -> pd.DataFrame:
    with files("mloml.paper").joinpath(f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)
