"""Two seeds side by side, from cells whose verdicts are known."""

import pandas as pd
import pytest

from mloml.command_line import Command
from mloml.errors import ConfigError
from mloml.report.artefacts.seeds import change_table, compare, seeds_frame
from mloml.report.labels import Labels
from mloml.report.reproduce import reproduce
from mloml.report.tables import summarise

NOISE, WOBBLE = (-0.012, 0.012, -0.009, 0.009, 0.0), (0.001, -0.001, 0.0, 0.001, -0.001)


def seed(lego):
    """MLOML-r at the paper's means (iris .026, wine .219), LEGO at others (the paper: .037, .231)."""
    labels = Labels({"iris": "iris", "wine": "wine"}, {"lego": "LEGO", "mloml_r": "MLOML-r"}, 5)
    rows = []
    for dataset, mean in {"iris": 0.026, "wine": 0.219}.items():
        for split, (a, b) in enumerate(zip(NOISE, WOBBLE, strict=True)):
            rows.append((dataset, "mloml_r", split, mean + a, "ok"))
            rows.append((dataset, "lego", split, lego[dataset] + a + b, "ok"))
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])
    return summarise(frame, labels, "mloml_r")


FIRST, SECOND = seed({"iris": 0.037, "wine": 0.231}), seed({"iris": 0.10, "wine": 0.10})


def test_verdicts_that_change_are_counted_and_both_means_are_shown():
    both = seeds_frame(FIRST, SECOND).set_index(["dataset", "algorithm"])
    assert both.loc[("iris", "lego"), ["verdict", "verdict_2"]].tolist() == ["agrees", "differs: ours higher"]
    assert both.loc[("wine", "lego"), "verdict_2"] == "differs: ours lower"
    artefact = compare(FIRST, SECOND, (0, 1))
    assert (artefact.values["same"], artefact.values["compared"]) == (2, 4)
    grid = artefact.tables[0].numbers.frame().set_index("dataset")
    assert grid.loc["iris", ["LEGO", "MLOML-r"]].tolist() == [".037 / .100↑", ".026 / .026"]
    assert grid.loc["wine", "LEGO"] == ".231 / .100↓"


def test_conclusions_that_turn_round_are_told_from_those_that_stay():
    # LEGO is worse on both sets from the first seed; from the second it is worse on iris, better on wine.
    table = change_table(seeds_frame(FIRST, SECOND), "our_mark").set_index("first seed \\ second seed")
    assert table.loc["win"].to_dict() == {"win": 1, "tie": 0, "loss": 1} and table.to_numpy().sum() == 2


def test_nothing_in_common_is_nothing_compared():
    nothing = pd.DataFrame(columns=["dataset", "algorithm", "split", "error", "status"])
    values = compare(FIRST, summarise(nothing, FIRST.labels, "mloml_r"), (0, 1)).values
    assert values["compared"] == 0 and values["changes"]["verdict"].iloc[:, 1:].to_numpy().sum() == 0


def test_the_seeds_are_the_studys_own():
    with pytest.raises(ConfigError, match=r"protocol\.seed=3"):
        reproduce("seeds", ["protocol.seed=3"], Command("mloml", ("reproduce", "seeds")))
