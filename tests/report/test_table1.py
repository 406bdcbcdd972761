"""Table I: sizes beside the paper's, and what is missing."""

import pandas as pd

from mloml.config.schema import Study
from mloml.datasets import DataSettings, catalogue, load
from mloml.report.artefacts.table1 import build, measure

SIZES = ("instances", "features", "classes")
COLUMNS = ["dataset", *(f"paper_{size}" for size in SIZES), *SIZES, "source", "note", "missing"]
ROWS = [
    ("iris", 150, 4, 3, 150, 4, 3, "bundled", "", ""),
    ("mlprove", 6118, 57, 6, 6118, 51, 6, "uci", "the real features", ""),
    ("pems", 440, 137710, 7, None, None, None, "missing", "", "no network"),
    ("mine", None, None, None, 10, 2, 2, "local", "", ""),
]


def test_the_table_has_the_papers_size_before_ours_and_dashes_for_what_is_missing(make_result) -> None:
    artefact = build(make_result(missing=("wine",)), pd.DataFrame(ROWS, columns=COLUMNS).convert_dtypes())
    grid, values = artefact.tables[0].latex, artefact.values
    assert [column.title for column in grid.columns][:2] == ["instances (paper)", "instances"]
    by_name = {row.name: [entry.printed for entry in row.entries] for row in grid.rows}
    assert by_name["iris"] == ["150", "150", "4", "4", "3", "3", "bundled"]
    assert by_name["pems"] == ["440", "–", "137710", "–", "7", "–", "missing"]
    assert (values["known"], len(values["absent"]), len(values["reasons"])) == (12, 10, 1)
    assert {"pems", "wine"} < set(values["absent"]) and not {"iris", "mlprove"} & set(values["absent"])
    assert values["remarks"] == [("mlprove", "the real features")]
    assert values["different"].to_numpy().tolist() == [["mlprove", "features", 51, 57]]


def test_the_papers_sizes_stand_beside_those_of_what_is_here(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("MLOML_DATA", raising=False)
    offline, known = DataSettings(offline=True, cache=str(tmp_path)), catalogue()
    names = ("iris", "spect_paper", "glass", "waveform", "mlprove")
    frame, loaded, missing = measure(Study("table1", [known[name] for name in names], [], data=offline))
    rows, sizes = frame.set_index("dataset"), ["instances", "features", "classes"]
    assert rows.loc["iris", sizes].tolist() == [150, 4, 3]
    assert rows.loc["spect_paper", [f"paper_{size}" for size in sizes]].tolist() == [267, 22, 2]
    assert rows.loc["glass", "paper_features"] is pd.NA
    assert rows["source"].tolist() == ["bundled", "bundled", "bundled", "regenerated", "missing"]
    assert rows.loc["mlprove", sizes].isna().all() and rows.loc["mlprove", "paper_features"] == 57
    assert "mlprove is missing" in rows.loc["mlprove", "missing"] == missing["mlprove"]
    assert loaded["iris"].X.shape == (0, 4)
    assert loaded["iris"].checksum == load(known["iris"], offline).checksum
