"""UCI's own files in every format, and archives that nobody should trust."""

import dataclasses
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
from openpyxl import Workbook

from mloml.datasets import Dataset, DatasetConfig, DataSettings, catalogue, load
from mloml.datasets.original import Files, folder_files, open_archive, read_spreadsheet
from mloml.errors import DataFormatError

KNOWN = catalogue()
LIMIT = 10**6


def opened(data: bytes) -> Files:
    return open_archive(io.BytesIO(data), "evil.zip", LIMIT)


def read(files: Files, name: str) -> bytes:
    with files.open(name, LIMIT) as stream:
        return stream.read()


def small(name: str, rows: int, features: int, counts: dict[str, int]) -> DatasetConfig:
    """Return the config of a real data set, with other sizes for a small file of the same format."""
    return dataclasses.replace(KNOWN[name], rows=rows, features=features, class_counts=counts)


def from_folder(config: DatasetConfig, folder: Path, name: str, content: bytes) -> Dataset:
    (folder / name).write_bytes(content)
    return load(config, DataSettings(dir=str(folder), cache=str(folder / "cache"), source="local"))


# -- formats ------------------------------------------------------------------------------------------


def test_breast_skips_the_sample_number_and_incomplete_rows(tmp_path):
    rows = b"1000025,5,1,2\n1002945,5,?,2\n1015425,3,1,4\n1016277,6,8,2\n1017023,4,1,4\n"
    config = small("breast", 4, 2, {"2": 2, "4": 2})
    data = from_folder(config, tmp_path, "breast-cancer-wisconsin.data", rows)
    assert data.X.tolist() == [[5, 1], [3, 1], [6, 8], [4, 1]]


def test_diabetic_is_an_arff_file(tmp_path, make_zip):
    text = (
        b"% a comment\n@relation messidor\n@attribute 0 {0,1}\n@attribute 1 numeric\n@attribute Class {0,1}\n"
        b"@data\n1,0.25,0\n% another\n0,2,1\n1,1,1\n\n0,3,0\n"
    )
    packed = make_zip({"messidor_features.arff": text})
    data = from_folder(small("diabetic", 4, 2, {"0": 2, "1": 2}), tmp_path, "diabetic.zip", packed)
    assert data.X.tolist() == [[1, 0.25], [0, 2], [1, 1], [0, 3]]
    assert data.y.tolist() == [0, 1, 1, 0]


def test_theorem_proving_is_a_tar_in_a_zip_with_indicator_columns(tmp_path, make_zip, make_tar):
    def lines(*rows: tuple[str, int]) -> bytes:
        text = (x + "".join(",1" if k == label else ",-1" for k in range(1, 7)) + "\n" for x, label in rows)
        return "".join(text).encode()

    parts = {
        "ml-prove/train.csv": lines(("0.5,1", 1), ("0.25,2", 6), ("1,3", 2), ("1,3", 3)),
        "ml-prove/validation.csv": lines(("7,8", 4), ("7,8", 5), ("0,1", 1), ("0,2", 2)),
        "ml-prove/test.csv": lines(("7,8", 4), ("7,8", 5), ("0,1", 3), ("0,2", 6)),
        "ml-prove/train.csv.notes": b"a file nobody asked for",
    }
    packed = make_zip({"ml-prove.tar.gz": make_tar(parts)})
    data = from_folder(small("mlprove", 12, 2, dict.fromkeys("123456", 2)), tmp_path, "mlprove.zip", packed)
    assert data.X[:3].tolist() == [[0.5, 1], [0.25, 2], [1, 3]]
    assert data.y.tolist() == [0, 5, 1, 2, 3, 4, 0, 1, 3, 4, 2, 5]


def workbook(*sheets: list[list[object]]) -> bytes:
    book, stream = Workbook(), io.BytesIO()
    for sheet in (book.active, *(book.create_sheet() for _ in sheets[1:])):
        for row in sheets[book.index(sheet)]:
            sheet.append(row)
    book.save(stream)
    return stream.getvalue()


def test_lsvt_is_a_spreadsheet(tmp_path, make_zip):
    X = np.random.default_rng(0).normal(size=(6, 5)).round(6)
    features = [[f"measure {i}" for i in range(5)], *X.tolist()]
    labels = [["Binary class 1=acceptable, 2=unacceptable"], *[[k] for k in (1, 2, 2, 1, 2, 2)]]
    book = workbook(features, labels, [["Age", "Gender"]])
    packed = make_zip({"LSVT_voice_rehabilitation.xlsx": book})
    data = from_folder(small("lsvt", 6, 5, {"1": 2, "2": 4}), tmp_path, "lsvt.zip", packed)
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [0, 1, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        (([["a", "b"], [1, "red"]], [["c"], [1]]), "x.xlsx, line 2, column 'b': 'red' is not a number"),
        (([["a", "b"], [1, None]], [["c"], [1]]), "line 2, column 'b': missing value ''"),
        (([["a"], [1], [2]], [["c"], [1]]), "2 rows of features, 1 of labels"),
        (([["a"], [1]], []), "a sheet of features and a sheet of labels are needed"),
        (([["a"], [1]],), "not a readable spreadsheet"),
    ],
)
def test_a_spreadsheet_that_cannot_be_used_is_named(sheets, message):
    with pytest.raises(DataFormatError, match=message):
        read_spreadsheet(io.BytesIO(workbook(*sheets)), KNOWN["lsvt"], "x.xlsx")


PEMS = {
    "PEMS_train": b"[1 2;3 4]\n[1 2 ; 3 5]\n",
    "PEMS_trainlabels": b"[1 2]",
    "PEMS_test": b"[5 6;7 8]\n\n[5 6;7 9.25]",
    "PEMS_testlabels": b"[2 1]\n",
}


@pytest.mark.parametrize("name", ["pems+sf.zip", "PEMS-SF.zip", "pems.zip"])
def test_pems_matrices_are_laid_out_station_by_station(tmp_path, make_zip, name):
    packed = make_zip({f"PEMS-SF/{part}": text for part, text in PEMS.items()})
    data = from_folder(small("pems", 4, 4, {"1": 2, "2": 2}), tmp_path, name, packed)
    assert data.X.tolist() == [[1, 2, 3, 4], [1, 2, 3, 5], [5, 6, 7, 8], [5, 6, 7, 9.25]]
    assert data.y.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("PEMS_train", b"[1 2;3 4]\n[1 2;3]\n", "PEMS_train: matrix 2 of 3 numbers, not 2 matrices of 4"),
        ("PEMS_train", b"[1 2;3 4]\n", "fewer matrices than the 2 labels"),
        ("PEMS_train", b"[1 2;3 4]\n" * 3, "matrix 3 of 4 numbers, not 2 matrices of 4"),
        ("PEMS_train", b"[1 2;3 x]\n[1 2;3 4]\n", "line 1: holds something that is not a finite number"),
        (
            "PEMS_test",
            b"[1 2;3 4]\n[1 2;3 nan]\n",
            "PEMS_test, line 2: holds something that is not a finite number",
        ),
        ("PEMS_test", b"1 2;3 4\n[1 2;3 4]\n", r"line 1: not of the form \[a b;c d\]"),
        ("PEMS_testlabels", b"[" + b"1 " * 10**6 + b"]", "1000002 labels, more than 4"),
    ],
)
def test_pems_files_that_do_not_fit_are_named(tmp_path, name, text, message):
    for part, content in (PEMS | {name: text}).items():
        (tmp_path / part).write_bytes(content)
    with pytest.raises(DataFormatError, match=message):
        load(small("pems", 4, 4, {"1": 2, "2": 2}), DataSettings(dir=str(tmp_path), source="local"))


def test_files_are_found_in_subfolders_and_packed(tmp_path):
    for name in ("b/iris.data.gz", "a/deep/iris.data", "wine.data.txt", "ml-prove/train.csv", "train.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    files = folder_files(tmp_path)
    assert files.find("iris.data") == "b/iris.data.gz"
    assert files.find("wine.data") == "wine.data.txt"
    assert files.find("ml-prove/train.csv") == "ml-prove/train.csv"
    assert files.find("absent") is None


# -- hostile archives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "..\\x", "C:\\x"])
def test_members_that_point_outside_are_refused(make_zip, make_tar, name):
    for build in (make_zip, make_tar):
        with pytest.raises(DataFormatError, match="points outside"):
            opened(build({"iris.data": b"1,2,a\n", name: b"1,2,a\n"}))


def test_links_and_devices_are_refused(make_tar):
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        with pytest.raises(DataFormatError, match=r"'train.csv' is a link or a device"):
            opened(make_tar({"train.csv": b""}, kind))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        link = zipfile.ZipInfo("iris.data")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(DataFormatError, match=r"'iris.data' is a link"):
        opened(stream.getvalue())


def test_a_bomb_is_refused_before_it_goes_off(make_zip, make_tar):
    bomb = b"0" * (LIMIT + 1)
    with pytest.raises(DataFormatError, match="unpacks to 1000001 bytes; refused"):
        opened(make_zip({"iris.data": bomb}))
    with pytest.raises(DataFormatError, match="unpacks to 1200000 bytes; refused"):
        opened(make_zip({"a": bomb[:600_000], "b": bomb[:600_000]}))
    with pytest.raises(DataFormatError, match=r"unpacks to more than .* MB; refused"):
        opened(make_tar({"train.csv": bomb}))


def test_a_size_that_lies_about_a_bomb_is_not_believed(make_zip):
    data = bytearray(make_zip({"iris.data": b"0" * (4 * 2**20)}))
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 24, 100)
    with pytest.raises(DataFormatError, match="damaged"):
        read(opened(bytes(data)), "iris.data")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_text_that_unpacks_to_too_much_is_refused_before_a_row_is_read(pack, tmp_path):
    path = tmp_path / f"iris.csv.{'gz' if pack is gzip.compress else 'xz'}"
    path.write_bytes(pack(b"0,0,0,0,a\n" * 10**6))
    own = DatasetConfig(name="own", path=str(path))
    with pytest.raises(DataFormatError, match="unpacks to more than 4 MB; refused"):
        load(own, DataSettings(largest_text=4.0))
    with pytest.raises(DataFormatError, match=r"unpacks to more than 1\.05 MB; refused"):  # iris is small
        load(KNOWN["iris"], DataSettings(dir=str(tmp_path)))


def test_a_member_larger_than_the_dataset_is_refused(make_zip, tmp_path):
    rows = b"".join(b"%d.%d,0,0,0,Iris-setosa\n" % (i, i * i) for i in range(60000))
    with pytest.raises(DataFormatError, match=r"unpacks to more than 1\.05 MB; refused"):
        from_folder(KNOWN["iris"], tmp_path, "iris.zip", make_zip({"iris.data": rows}))


def test_what_is_damaged_or_no_archive_says_so(make_zip):
    good = make_zip({"iris.data": bytes(range(256)) * 40})
    for data in (b"", b"<html>", b"PK\x03\x04 cut short", good[:-30], gzip.compress(b"no tar")[:-3]):
        with pytest.raises(DataFormatError, match=r"^evil.zip: damaged or cut short"):
            opened(data)
    flipped = bytearray(good)
    flipped[60] ^= 0xFF
    other_method = bytearray(good)
    for at in (good.rindex(b"PK\x01\x02") + 10, good.index(b"PK\x03\x04") + 8):
        struct.pack_into("<H", other_method, at, 93)
    for data in (bytes(flipped), bytes(other_method), good.replace(b"iris.data", b"iris.dat_", 1)):
        with pytest.raises(DataFormatError, match=r"evil.zip: iris.data: damaged"):
            read(opened(data), "iris.data")


def test_an_archive_without_the_files_says_which(make_zip, tmp_path):
    with pytest.raises(DataFormatError, match=r"iris\.zip: does not hold iris\.data"):
        from_folder(KNOWN["iris"], tmp_path, "iris.zip", make_zip({"other.txt": b""}))


def test_a_hostile_or_damaged_spreadsheet_is_one_line_whatever_is_wrong_with_it(make_zip):
    with pytest.raises(DataFormatError, match="points outside"):
        read_spreadsheet(io.BytesIO(make_zip({"../x": b""})), KNOWN["lsvt"], "x.xlsx")
    whole, random = workbook([[1, 2]], [[1]]), Random(0)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    tries = [make_zip(members | {name: text[: len(text) // 2]}) for name, text in members.items()]
    for _ in range(20):
        at = random.randrange(len(whole))
        tries.append(whole[:at] + random.randbytes(3) + whole[at + 3 :])
    for data in tries:
        with pytest.raises(DataFormatError) as caught:
            read_spreadsheet(io.BytesIO(data), KNOWN["lsvt"], "x.xlsx")
        assert "\n" not in str(caught.value)


def test_every_dataset_fits_its_own_limit():
    for config in KNOWN.values():
        assert config.largest_text() > 20 * config.rows * config.features or config.name == "pems"
    assert KNOWN["pems"].largest_text() > 600e6
