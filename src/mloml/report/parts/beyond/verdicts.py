"""What the rule says of each test: the words that ``docs/beyond.md`` fixed, whichever way a test falls."""

from __future__ import annotations

from mloml.paper.beyond import ONE_LAYER, UNTRAINED
from mloml.report.parts.beyond.side import Side, TestRow

NOTHING = "there is nothing to compare"
HELPS = {
    "smaller": "helps beyond the paper",
    "larger": "harms",
    "": "no difference from Euclidean is shown on these sets",
}
LAYERS = {
    "smaller": "layers help",
    "larger": "layers harm",
    "": "no difference between three layers and one is shown",
}


def helps(row: TestRow) -> str:
    """Return what is said of a method against Euclidean."""
    return HELPS[row["verdict"]] if row["sets"] else NOTHING


def layers(row: TestRow) -> str:
    """Return what is said of three layers against one."""
    return LAYERS[row["verdict"]] if row["sets"] else NOTHING


def beats(row: TestRow, rival: str) -> str:
    """Return what is said of the claim that a stack beats a rival."""
    if not row["sets"]:
        return NOTHING
    if row["verdict"] == "smaller":
        return "confirmed"
    better = f"; {rival} has the smaller errors" if row["verdict"] == "larger" else ""
    return f"not confirmed on these sets{better}"


def against(side: Side, stack: str, rival: str) -> TestRow | None:
    """Return the test of a stack against MOML, which is one layer of it, or against another rival."""
    return side.test("layers" if rival == ONE_LAYER else "rivals", stack, rival)


def learning(side: Side, stack: str) -> str | None:
    """Return what is said of learning a stack's layers; None if the study does not have all it takes.

    If learning is not shown to help, the untrained stack's test against Euclidean decides.
    """
    trained = side.test("untrained", stack, UNTRAINED[stack])
    alone = side.test("euclidean", UNTRAINED[stack])
    if trained is None or alone is None:
        return None
    if not trained["sets"]:
        return NOTHING
    if trained["verdict"] == "smaller":
        return "learning the layers helps"
    said = "the non-linearity alone does it" if alone["verdict"] == "smaller" else "nothing is shown"
    worse = ", and the trained stack errs more than the untrained one"
    return said + (worse if trained["verdict"] == "larger" else "")


def scaling(row: TestRow) -> str:
    """Return what is said of a method against Euclidean under the other scaling."""
    said = {"smaller": "beats it", "larger": "Euclidean beats it", "": "no difference is shown"}
    return said[row["verdict"]] if row["sets"] else NOTHING
