"""Two seeds side by side, from cells whose verdicts are known."""

from __future__ import annotations

import pandas as pd
import pytest

from mloml.command_line import Command
from mloml.errors import ConfigError
from mloml.report.artefacts.seeds import change_table, compare, conclusions_sentence, seeds_frame
from mloml.report.labels import Labels
from mloml.report.publish import publish
from mloml.report.reproduce import reproduce
from mloml.report.tables import Results, summarise

NOISE = [-0.012, 0.012, -0.009, 0.009, 0.0]
WOBBLE = [0.001, -0.001, 0.0, 0.001, -0.001]


def side(lego: dict[str, float]) -> Results:
    """MLOML-r at the paper's means (iris .026, wine .219), LEGO at others (the paper: .037, .231)."""
    labels = Labels({"iris": "iris", "wine": "wine"}, {"lego": "LEGO", "mloml_r": "MLOML-r"}, 5)
    rows = []
    for dataset, mean in {"iris": 0.026, "wine": 0.219}.items():
        for name, centre, extra in (("mloml_r", mean, 0), ("lego", lego[dataset], 1)):
            errors = [centre + a + extra * b for a, b in zip(NOISE, WOBBLE, strict=True)]
            rows += [(dataset, name, split, error, "ok") for split, error in enumerate(errors)]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])
    return summarise(frame, labels, "mloml_r")


FIRST, SECOND = side({"iris": 0.037, "wine": 0.231}), side({"iris": 0.10, "wine": 0.10})


def test_verdicts_that_change_are_counted() -> None:
    artefact = compare(FIRST, SECOND, (0, 1))
    assert artefact.headline == (
        "2 of 4 verdicts on agreement with the paper are the same from seed 0 and seed 1: "
        "4 and 2 cells agree, 2 from both, 4 from at least one."
    )
    both = seeds_frame(FIRST, SECOND).set_index(["dataset", "algorithm"])
    assert both.loc[("iris", "lego"), ["verdict", "verdict_2"]].tolist() == ["agrees", "differs: ours higher"]
    assert both.loc[("wine", "lego"), "verdict_2"] == "differs: ours lower"


def test_conclusions_that_turn_round_are_told_from_those_that_fade() -> None:
    both = seeds_frame(FIRST, SECOND)
    text = conclusions_sentence(both, (0, 1), "our_mark")
    # LEGO is worse on both sets from the first seed; from the second it is worse on iris, better on wine.
    assert "is the same in 1 of 2 comparisons: 2/0/0 from seed 0, 1/0/1 from seed 1; of the 2 " in text
    assert text.endswith("of the 2 that are no tie from seed 0, 1 stay; 1 turn from win to loss or back.")
    table = change_table(both, "our_mark").set_index("first seed \\ second seed")
    assert table.loc["win"].to_dict() == {"win": 1, "tie": 0, "loss": 1} and table.to_numpy().sum() == 2


def test_the_page_shows_both_means(tmp_path) -> None:
    publish(compare(FIRST, SECOND, (0, 1)), tmp_path)
    text = (tmp_path / "seeds.md").read_text()
    assert "| iris | .037 / .100↑ | .026 / .026 |" in text and "| wine | .231 / .100↓ |" in text


def test_nothing_in_common_is_said_plainly() -> None:
    empty = pd.DataFrame(columns=["dataset", "algorithm", "split", "error", "status"])
    nothing = summarise(empty, FIRST.labels, "mloml_r")
    assert compare(FIRST, nothing, (0, 1)).headline == "No cell is complete from both seeds yet."


def test_the_seeds_are_the_studys_own() -> None:
    with pytest.raises(ConfigError, match=r"protocol\.seed=3: seeds compares values of protocol\.seed"):
        reproduce("seeds", ["protocol.seed=3"], Command("mloml", ("reproduce", "seeds")))
