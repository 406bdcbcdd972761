"""UCI and OpenML through the real client code, with the formats they really serve."""

from __future__ import annotations

import dataclasses
import hashlib
import io

import numpy as np
import pytest
from openpyxl import Workbook

from mloml.datasets import availability, catalogue, load
from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.datasets.dataset import Dataset
from mloml.datasets.loading import Availability
from mloml.errors import DatasetUnavailableError

KNOWN = catalogue()


def small(name: str, **changes: object) -> DatasetConfig:
    """Return the config of a real dataset, with other sizes for a small file of the same format."""
    config = KNOWN[name]
    original = dataclasses.replace(config.original, sha256=None) if config.original else None
    return dataclasses.replace(config, original=original, **changes)


def from_source(config: DatasetConfig, settings: DataSettings, source: str) -> Dataset:
    return load(config, dataclasses.replace(settings, source=source))


def ucimlrepo_reply(uci_id: int, variables: list[tuple[str, str]], **changes: object) -> dict:
    data = {
        "uci_id": uci_id,
        "name": "Something",
        "data_url": f"https://archive.ics.uci.edu/static/public/{uci_id}/data.csv",
        "additional_info": {"summary": ""},
        "intro_paper": None,
        "variables": [{"name": name, "role": role, "type": "Continuous"} for name, role in variables],
    }
    return {"status": 200, "data": {**data, **changes}}


IRIS_VARIABLES = [
    *((name, "Feature") for name in ("sepal length", "sepal width", "petal length", "petal width")),
    ("class", "Target"),
]


def iris_rows() -> list[str]:
    data = load(KNOWN["iris"], DataSettings(source="bundled"))
    return [
        ",".join([*(f"{v:.1f}" for v in x), f"Iris-{data.labels[k]}"])
        for x, k in zip(data.X, data.y, strict=True)
    ]


def test_ucimlrepo_gives_the_same_iris_as_the_bundled_one(site, settings):
    site.serve("/api/dataset?id=53", ucimlrepo_reply(53, IRIS_VARIABLES))
    header = "sepal length,sepal width,petal length,petal width,class\n"
    site.serve("/static/public/53/data.csv", header + "\n".join(iris_rows()) + "\n")
    data = from_source(KNOWN["iris"], settings, "ucimlrepo")
    assert data.checksum == load(KNOWN["iris"], DataSettings(source="bundled")).checksum
    assert data.source == "ucimlrepo"
    assert list(data.provenance["files"])[1] == site.url + "/static/public/53/data.csv"


def test_ucimlrepo_drops_incomplete_rows_and_the_identifier(site, settings):
    variables = [("id", "ID"), ("a", "Feature"), ("b", "Feature"), ("class", "Target")]
    site.serve("/api/dataset?id=15", ucimlrepo_reply(15, variables))
    site.serve("/static/public/15/data.csv", "id,a,b,class\n9,1,2,2\n8,3,,4\n7,5,6,4\n6,1,1,2\n5,0,0,4\n")
    config = small("breast", rows=4, features=2, class_counts={"2": 2, "4": 2})
    data = from_source(config, settings, "ucimlrepo")
    assert data.X.tolist() == [[1, 2], [5, 6], [1, 1], [0, 0]]
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.provenance["rows_dropped"] == 1


def test_a_description_cannot_send_us_to_another_host(site, settings):
    reply = ucimlrepo_reply(53, IRIS_VARIABLES, data_url="http://169.254.169.254/static/public/53/data.csv")
    site.serve("/api/dataset?id=53", reply)
    with pytest.raises(DatasetUnavailableError, match=f"{site.url}/static/public/53/data.csv: status 404"):
        from_source(KNOWN["iris"], settings, "ucimlrepo")


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("<html>log in</html>", "no JSON"),
        ({"status": 200, "data": None}, "lacks its data"),
        (ucimlrepo_reply(53, IRIS_VARIABLES, data_url=None), "offers no table"),
        ([], "lacks its data"),
    ],
)
def test_a_description_that_makes_no_sense_is_reported_and_not_kept(site, settings, reply, message):
    import json

    site.serve("/api/dataset?id=53", json.dumps(reply) if not isinstance(reply, str) else reply)
    for _ in range(2):
        with pytest.raises(DatasetUnavailableError, match=message):
            from_source(KNOWN["iris"], settings, "ucimlrepo")
    if message != "offers no table":  # a valid answer, worth keeping
        assert site.hits["/api/dataset?id=53"] == 2


def test_archive_zip_with_data_file(site, settings, make_zip):
    site.serve(
        "/static/public/53/iris.zip", make_zip({"iris.data": "\n".join([*iris_rows(), "", ""]).encode()})
    )
    data = from_source(KNOWN["iris"], settings, "archive")
    assert data.checksum == load(KNOWN["iris"], DataSettings(source="bundled")).checksum


def test_archive_spect_parts_are_joined_with_the_diagnosis_first(site, settings, make_zip):
    members = {"SPECT.names": b"", "SPECT.train": b"1,0,1\n0,0,0\n", "SPECT.test": b"1,1,1\n0,1,0\n1,0,0\n"}
    site.serve("/static/public/95/spect+heart.zip", make_zip(members))
    data = from_source(small("spect", rows=5, features=2, class_counts={"0": 2, "1": 3}), settings, "archive")
    assert data.X.tolist() == [[0, 1], [0, 0], [1, 1], [1, 0], [0, 0]]
    assert data.y.tolist() == [1, 0, 1, 0, 1]


def test_archive_breast_skips_the_sample_number_and_incomplete_rows(site, settings, make_zip):
    rows = b"1000025,5,1,2\n1002945,5,?,2\n1015425,3,1,4\n1016277,6,8,2\n1017023,4,1,4\n"
    name = "/static/public/15/breast+cancer+wisconsin+original.zip"
    site.serve(name, make_zip({"breast-cancer-wisconsin.data": rows}))
    config = small("breast", rows=4, features=2, class_counts={"2": 2, "4": 2})
    assert from_source(config, settings, "archive").X.tolist() == [[5, 1], [3, 1], [6, 8], [4, 1]]


def test_archive_lsvt_spreadsheet(site, settings, make_zip):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(6, 5)), 6)
    book = Workbook()
    features, labels = book.active, book.create_sheet("Binary response")
    features.title = "Data"
    features.append([f"measure {i}" for i in range(5)])
    labels.append(["Binary class 1=acceptable, 2=unacceptable"])
    for row, label in zip(X.tolist(), [1, 2, 2, 1, 2, 2], strict=True):
        features.append(row)
        labels.append([label])
    book.create_sheet("Subject demographics").append(["Age", "Gender"])
    stream = io.BytesIO()
    book.save(stream)
    name = "/static/public/282/lsvt+voice+rehabilitation.zip"
    site.serve(name, make_zip({"LSVT_voice_rehabilitation.xlsx": stream.getvalue()}))
    config = small("lsvt", rows=6, features=5, class_counts={"1": 2, "2": 4})
    data = from_source(config, settings, "archive")
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [0, 1, 1, 0, 1, 1]


def test_archive_theorem_proving_is_a_tar_in_a_zip_with_indicator_columns(site, settings, make_zip, make_tar):
    def line(features: str, label: int) -> str:
        return features + "".join(",1" if k == label else ",-1" for k in range(1, 7)) + "\n"

    parts = {
        "ml-prove/train.csv": line("0.5,1", 1) + line("0.25,2", 6) + line("1,3", 2) + line("1,3", 3),
        "ml-prove/validation.csv": line("7,8", 4) + line("7,8", 5) + line("0,1", 1) + line("0,2", 2),
        "ml-prove/test.csv": line("7,8", 4) + line("7,8", 5) + line("0,1", 3) + line("0,2", 6),
        "ml-prove/train.csv.notes": "a file nobody asked for",
    }
    tar = make_tar({name: text.encode() for name, text in parts.items()})
    site.serve("/static/public/249/first+order+theorem+proving.zip", make_zip({"ml-prove.tar.gz": tar}))
    config = small("mlprove", rows=12, features=2, class_counts=dict.fromkeys("123456", 2))
    data = from_source(config, settings, "archive")
    assert data.X[:3].tolist() == [[0.5, 1], [0.25, 2], [1, 3]]
    assert data.y.tolist() == [0, 5, 1, 2, 3, 4, 0, 1, 3, 4, 2, 5]


def pems_zip(make_zip, X: np.ndarray, labels: list[int], stations: int) -> bytes:
    def matrix(row: np.ndarray) -> str:
        return "[" + ";".join(" ".join(f"{v:.4f}" for v in r) for r in row.reshape(stations, -1)) + "]\n"

    members = {"stations_list": b"[1 2 3]", "randperm": b"[2 1]"}
    for part, rows in (("train", slice(0, 5)), ("test", slice(5, None))):
        members[f"PEMS_{part}"] = "".join(map(matrix, X[rows])).encode()
        members[f"PEMS_{part}labels"] = ("[" + " ".join(map(str, labels[rows])) + "]").encode()
    return make_zip(members)


def test_archive_pems_matrices_are_laid_out_station_by_station(site, settings, make_zip):
    X = np.round(np.random.default_rng(1).uniform(size=(8, 12)), 4)
    site.serve("/static/public/204/pems+sf.zip", pems_zip(make_zip, X, [1, 2, 1, 2, 1, 2, 1, 2], stations=3))
    config = small("pems", rows=8, features=12, class_counts={"1": 4, "2": 4})
    data = from_source(config, settings, "archive")
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [0, 1, 0, 1, 0, 1, 0, 1]


def test_archive_with_a_known_checksum_is_refused_when_it_differs(site, settings, make_zip):
    site.serve("/static/public/204/pems+sf.zip", pems_zip(make_zip, np.ones((8, 12)), [1, 2] * 4, stations=3))
    with pytest.raises(DatasetUnavailableError, match="wrong checksum"):
        from_source(KNOWN["pems"], settings, "archive")


def test_archive_arff(site, settings, make_zip):
    text = (
        "% a comment\n@relation messidor\n@attribute 0 {0,1}\n@attribute 1 numeric\n@attribute Class {0,1}\n"
        "@data\n1,0.25,0\n% another\n0,2,1\n1,1,1\n\n0,3,0\n"
    )
    name = "/static/public/329/diabetic+retinopathy+debrecen.zip"
    site.serve(name, make_zip({"messidor_features.arff": text.encode()}))
    config = small("diabetic", rows=4, features=2, class_counts={"0": 2, "1": 2})
    data = from_source(config, settings, "archive")
    assert data.X.tolist() == [[1, 0.25], [0, 2], [1, 1], [0, 3]]
    assert data.y.tolist() == [0, 1, 1, 0]


ARFF = b"@relation d\n@attribute 'a b' real\n@attribute class {tested_negative,tested_positive}\n"
ARFF += b"@attribute c real\n@data\n"
ARFF_ROWS = b"1,tested_positive,2\n3,tested_negative,4\n5,tested_positive,6\n7,tested_negative,8\n"


def openml_reply(body: bytes, **changes: object) -> dict:
    description = {
        "id": "37",
        "name": "diabetes",
        "url": "https://api.openml.org/data/v1/download/37/diabetes.arff",
        "md5_checksum": hashlib.md5(body).hexdigest(),
        "default_target_attribute": "class",
    }
    return {"data_set_description": {**description, **changes}}


def test_openml_names_the_target_and_the_checksum(site, settings):
    site.serve("/api/v1/json/data/37", openml_reply(ARFF + ARFF_ROWS))
    site.serve("/data/v1/download/37/diabetes.arff", ARFF + ARFF_ROWS[:20], ARFF + ARFF_ROWS)
    config = small("pima", rows=4, features=2, class_counts={"0": 2, "1": 2})
    data = from_source(config, settings, "openml")
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert data.y.tolist() == [1, 0, 1, 0]
    assert site.hits["/data/v1/download/37/diabetes.arff"] == 2  # the first had the wrong checksum


def test_a_source_that_fails_is_followed_by_the_next(site, settings, make_zip, Reply):
    site.serve("/api/dataset?id=53", Reply(status=500))
    site.serve("/static/public/53/iris.zip", make_zip({"iris.data": "\n".join(iris_rows()).encode()}))
    assert from_source(KNOWN["iris"], settings, "uci").source == "archive"


def test_a_file_of_the_wrong_shape_is_followed_by_the_next_source_and_not_kept(site, settings, make_zip):
    site.serve("/api/dataset?id=53", ucimlrepo_reply(53, IRIS_VARIABLES))
    header = "sepal length,sepal width,petal length,petal width,class\n"
    site.serve("/static/public/53/data.csv", header + "\n".join(iris_rows()[:-1]))
    site.serve("/static/public/53/iris.zip", make_zip({"iris.data": "\n".join(iris_rows()).encode()}))
    assert from_source(KNOWN["iris"], settings, "uci").source == "archive"
    offline = dataclasses.replace(settings, offline=True)
    with pytest.raises(DatasetUnavailableError, match="not fetched before"):
        from_source(KNOWN["iris"], offline, "ucimlrepo")


def test_what_was_fetched_is_used_without_the_network(site, settings, make_zip):
    site.serve("/static/public/53/iris.zip", make_zip({"iris.data": "\n".join(iris_rows()).encode()}))
    first = from_source(KNOWN["iris"], settings, "archive")
    again = from_source(KNOWN["iris"], dataclasses.replace(settings, offline=True), "archive")
    assert (again.checksum, again.provenance) == (first.checksum, first.provenance)
    assert availability(KNOWN["iris"], dataclasses.replace(settings, source="uci")) == Availability(
        "cache (archive)"
    )


def test_an_unreachable_host_is_asked_once_for_all_datasets(site, settings, Reply):
    for name in KNOWN.values():
        site.serve(f"/api/dataset?id={name.uci_id}", Reply(stall="before"))
        if name.original is not None and name.original.archive:
            site.serve(f"/static/public/{name.original.archive}", Reply(stall="before"))
    for name in ("lsvt", "pems", "diabetic", "mlprove", "mlprove_paper"):
        with pytest.raises(DatasetUnavailableError, match=f"{name[:7]}.*does not answer.*MLOML_DATA"):
            load(KNOWN[name], settings)
    assert load(KNOWN["waveform"], settings).regenerated
    assert site.hits.total() == 1
