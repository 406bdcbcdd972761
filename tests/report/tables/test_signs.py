"""Signs of the principal axes: what moves is told from what does not."""

from __future__ import annotations

import pandas as pd

from mloml.report.artefacts.signs import compare
from mloml.report.labels import Labels
from mloml.report.publish import publish

LABELS = Labels({"lsvt": "lsvt"}, {"euclidean": "Euclidean", "u": "MLOML-r untrained"}, 2)


def frame(**means: dict[str, float]) -> pd.DataFrame:
    rows = [("lsvt", name, signs, mean) for name, each in means.items() for signs, mean in each.items()]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "signs", "mean"])


MOVING = frame(euclidean={"fixed": 0.375, "1": 0.375, "2": 0.375}, u={"fixed": 0.324, "1": 0.31, "2": 0.41})


def test_what_moves_is_the_headline_and_what_does_not_a_finding(tmp_path) -> None:
    artefact = compare(MOVING, LABELS)
    assert artefact.headline == (
        "MLOML-r untrained on lsvt: .324 with the usual signs, .310 to .410 (median .360) over 2 random ones."
    )
    assert artefact.findings == ("Euclidean on lsvt: .375 whatever the signs (3 choices).",)
    publish(artefact, tmp_path)
    assert "| lsvt | MLOML-r untrained | .324 | .310 | .410 |" in (tmp_path / "signs.md").read_text()


def test_nothing_that_moves_and_nothing_at_all_are_said_plainly() -> None:
    still = compare(frame(euclidean={"fixed": 0.375, "1": 0.375}), LABELS)
    assert still.headline == "No mean error changes with the signs of the principal axes."
    assert compare(frame(), LABELS).headline.startswith("Signs matter only after PCA")
