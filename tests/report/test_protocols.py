"""What differs between two protocols."""

from mloml.config.compose import compose_study
from mloml.report.artefacts.protocols import PCA, what_differs


def test_what_differs_is_the_label_pca_and_momls_policy_and_an_unused_rate_is_nothing():
    asked = ["datasets=[iris,lsvt,spect_paper,spect]", "algorithms=[euclidean,moml,mloml_r]"]
    studies = tuple(compose_study("table2", [f"protocol={name}", *asked]) for name in ("paper", "clean"))
    cone = "MOML's cone (free, split)"
    found = {
        (dataset, name): what_differs(studies, name, (dataset, dataset.removesuffix("_paper")))
        for dataset in ("iris", "spect_paper", "lsvt")
        for name in ("euclidean", "moml", "mloml_r")
    }
    assert found == {
        ("iris", "euclidean"): [], ("iris", "moml"): [cone], ("iris", "mloml_r"): [],
        ("spect_paper", "euclidean"): ["spect's label"], ("spect_paper", "moml"): ["spect's label", cone],
        ("spect_paper", "mloml_r"): ["spect's label"],
        ("lsvt", "euclidean"): [PCA], ("lsvt", "moml"): [cone, PCA], ("lsvt", "mloml_r"): [PCA],
    }  # fmt: skip
