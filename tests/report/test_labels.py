"""Order, titles and footnotes of rows and columns."""

from __future__ import annotations

import pytest

from mloml.report.labels import NOT_HERE, REGENERATED, labels_of


def test_rows_and_columns_stand_in_the_papers_order(make_result) -> None:
    result = make_result(datasets=("wine", "iris", "mlprove_paper"), algorithms=("mloml_r", "moml", "lego"))
    labels = labels_of(result)
    assert list(labels.datasets) == ["iris", "wine", "mlprove_paper"]
    assert list(labels.algorithms) == ["lego", "moml", "mloml_r"]
    grouped = labels_of(result, {"moml": "group"})
    assert list(grouped.algorithms) == ["mloml_r", "moml", "lego"]  # with groups, the study's own order


@pytest.mark.parametrize(
    ("protocol", "counted", "uncounted"),
    [("paper", "spect_paper", "spect"), ("lite", "spect_paper", "spect"), ("clean", "spect", "spect_paper")],
)
def test_each_protocol_counts_its_own_variant(make_result, protocol, counted, uncounted) -> None:
    labels = labels_of(make_result(protocol=protocol))
    assert counted in labels.counted and uncounted in labels.uncounted
    assert labels.datasets[counted] == "spect"
    assert (
        labels.datasets[uncounted] == {"spect": "spect (true)", "spect_paper": "spect (paper's)"}[uncounted]
    )


def test_notes_cover_regenerated_data_reconstructions_and_missing_datasets(make_result) -> None:
    labels = labels_of(make_result(missing=("wine",)))
    assert labels.notes["slmoml"] == "reconstruction" and labels.notes["waveform"] == REGENERATED
    assert labels.regenerated == {"waveform"}
    assert labels.note_of("wine") == NOT_HERE and labels.note_of("iris") == ""
    assert labels.starred(["iris", "waveform", "slmoml"]) == {
        "iris": "iris", "waveform": "waveform*", "slmoml": "SLMOML*",
    }  # fmt: skip
