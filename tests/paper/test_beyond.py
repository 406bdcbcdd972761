"""The families of tests that docs/beyond.md fixed."""

import numpy as np
import pytest

from mloml.config.compose import compose_study
from mloml.paper.statistics import Pair
from mloml.report.artefacts.beyond import carry_out, families


def drawn(seed, shift):
    """Return errors of five splits on ten data sets."""
    rng = np.random.default_rng(seed)
    return {f"s{i}": 0.3 + shift + 0.01 * rng.normal(size=5) for i in range(10)}


def test_the_families_are_those_of_the_rule():
    found = families([algorithm.name for algorithm in compose_study("beyond").algorithms])
    sizes = {test: len(pairs) for test, pairs in found.items()}
    assert sizes == {"euclidean": 18, "untrained": 3, "layers": 3, "rivals": 6}
    assert Pair("mloml_s", "mloml_s_untrained") in found["untrained"]
    assert {pair.reference for pair in found["rivals"]} == {"opml", "lmnn"}


def test_scaling_compares_with_the_other_studys_euclidean():
    other = {"euclidean": drawn(1, -0.1), "moml": drawn(2, 0.0)}
    over, on_sets = carry_out({"euclidean": drawn(3, 0.2), "moml": drawn(4, 0.0)}, other)
    over = over.set_index(["test", "algorithm"])["verdict"]
    assert over["scaling"].to_dict() == {"euclidean": "larger", "moml": "larger"}
    assert over["euclidean"].to_dict() == {"moml": "smaller"}
    mine = on_sets[(on_sets["test"] == "scaling") & (on_sets["algorithm"] == "moml")]
    assert mine["reference_mean"].tolist() == pytest.approx([np.mean(e) for e in other["euclidean"].values()])


def test_a_study_of_one_method_has_no_tests_but_that_of_scaling():
    over, _ = carry_out({"euclidean": drawn(0, 0.0)}, {})
    assert over[["test", "algorithm", "sets"]].to_numpy().tolist() == [["scaling", "euclidean", 0]]
