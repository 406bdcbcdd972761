"""What the report looks for: each artefact of the paper, and the command that makes it."""

from __future__ import annotations

from typing import NamedTuple


class Artefact(NamedTuple):
    """A folder of ``results``; ``table`` is its table's file if that has another name."""

    name: str
    title: str
    command: str
    about: str
    table: str = ""

    @property
    def main(self) -> str:
        """Name, without ending, of the file that the artefact is about."""
        return self.table or self.name


ARTEFACTS = (
    Artefact("table1", "Table I: the datasets", "make reproduce-table1", "Rows, features and classes."),
    Artefact(
        "table2", "Table II: error rates of all algorithms", "make reproduce-table2",
        "Mean and standard deviation of the 5-NN test error over the splits.",
    ),
    Artefact(
        "table3", "Table III: propagation strategies", "make reproduce-table3",
        "BP, FBP and FP with ReLU, sigmoid and tanh.",
    ),
    Artefact("fig4", "Figure 4: running time", "make reproduce-fig4", "Update loops of OPML and MOML."),
    Artefact("fig5", "Figure 5: error of each layer", "make reproduce-fig5", "A stack of five layers."),
    Artefact("fig6", "Figure 6: feature space", "make reproduce-fig6", "What each layer makes of the data."),
    Artefact("fig7", "Figure 7: scans", "make reproduce-fig7", "Error against the number of scans."),
    Artefact(
        "fig8", "Figure 8: other algorithms as layers", "make reproduce-fig8",
        "RDML, LEGO and OPML in layers against their shallow versions.",
    ),
    Artefact("theory", "Theory", "make reproduce-theory", "Theorems 1 and 2, Proposition 1, loss weights."),
    Artefact(
        "protocols", "Two protocols side by side", "make reproduce-protocols",
        "Which conclusions survive when nothing leaks.",
    ),
    Artefact("lite", "Table II in small", "make lite", "A minute's run, not the paper's protocol.", "table2"),
)  # fmt: skip

OPTIONAL = {"lite"}
"""Left out of the page when they are not there: nobody misses them."""

CSV_TITLES = {
    "paper_comparison_counts": "Verdicts counted",
    "paper_comparison": "Verdicts: our means against the paper's",
    "win_tie_loss": "Win/tie/loss under three tests",
    "counts": "Win/tie/loss under both protocols",
    "ranks": "Mean ranks",
    "selections": "Three ways of choosing the step size",
    "tests": "Tests against the reference",
    "bp_rate": "How much of FP's lead is BP's learning rate?",
    "convergence": "Does FP speed up convergence?",
    "cost": "Cost per triplet of FP, BP and FBP",
    "conclusions": "Which conclusions survive the clean protocol?",
    "theorem1": "Theorem 1: positive definiteness",
    "counterexample": "Theorem 2: the counterexample on the line",
    "theorem2": "Theorem 2: regret and bounds",
    "theorem2_slopes": "Theorem 2: growth of the regret",
    "proposition1": "Proposition 1: is the next layer no worse?",
    "proposition1_geometry": "Proposition 1: distances and margins of each layer",
    "weights": "Loss weights under FBP",
    "runs": "Every run",
}
"""Headings of CSV files, in the order in which they are shown; others follow under their own names."""

CONVERGENCE = (
    "Mean test error after each scan under the three propagation strategies, BP with the protocol's learning "
    "rate and with one chosen by cross-validation; one panel per dataset, bands one standard error."
)

PICTURES = {
    "critical_difference": (
        "Critical-difference diagram",
        "Mean rank of each algorithm over the datasets (left is better); algorithms joined by a bar do not "
        "differ significantly (Nemenyi).",
    ),
    "convergence_mloml_r": ("Error against scans: FP, BP and FBP of MLOML-r", CONVERGENCE),
    "convergence_mloml_s": ("Error against scans: FP, BP and FBP of MLOML-s", CONVERGENCE),
    "convergence_mloml_t": ("Error against scans: FP, BP and FBP of MLOML-t", CONVERGENCE),
}
"""Title and caption of pictures without a caption file."""


def csv_order(stem: str) -> tuple[int, str]:
    """Return a key that sorts CSV files as in :data:`CSV_TITLES`."""
    known = list(CSV_TITLES)
    return (known.index(stem) if stem in known else len(known), stem)


def picture_text(stem: str) -> tuple[str, str]:
    """Return title and caption of a picture that has no caption file.

    >>> picture_text("my_plot")
    ('My plot', '')
    """
    return PICTURES.get(stem, (csv_title(stem), ""))


def csv_title(stem: str) -> str:
    """Return the heading of a CSV file.

    >>> csv_title("tests"), csv_title("cost_per_triplet")
    ('Tests against the reference', 'Cost per triplet')
    """
    return CSV_TITLES.get(stem, stem.replace("_", " ").capitalize())
