"""Archives that nobody should trust."""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import lzma
import pickle
import stat
import struct
import tarfile
import zipfile
from random import Random

import pytest

from mloml.datasets import DataSettings, catalogue, load, unpack
from mloml.datasets.catalogue import DatasetConfig
from mloml.datasets.lzw import decompress
from mloml.datasets.unpack import Files, folder_files, open_archive
from mloml.datasets.xlsx import read_xlsx
from mloml.errors import DataFormatError


def opened(data: bytes) -> Files:
    return open_archive(io.BytesIO(data), "evil.zip")


@pytest.mark.parametrize(
    "name", ["../iris.data", "/etc/passwd", "a/../../b", "..\\iris.data", "C:\\iris.data"]
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_members_that_climb_out_are_refused(make_zip, make_tar, name, kind):
    build = {"zip": make_zip, "tar": make_tar}[kind]
    with pytest.raises(DataFormatError, match="points outside"):
        opened(build({"iris.data": b"1,2,a\n", name: b"1,2,a\n"}))


def test_a_link_in_a_zip_is_refused(make_zip):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        link = zipfile.ZipInfo("iris.data")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(DataFormatError, match="is a link"):
        opened(stream.getvalue())


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_refused(kind):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo("train.csv")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(DataFormatError, match="link or a device"):
        opened(stream.getvalue())


def test_a_bomb_in_a_zip_is_refused_before_it_goes_off(make_zip):
    bomb = make_zip({"iris.data": b"0" * (64 * 2**20)})
    assert len(bomb) < 2**20
    with pytest.raises(DataFormatError, match="unpacks to 67108864 bytes; refused"):
        opened(bomb)


def test_a_size_that_lies_about_a_bomb_is_not_believed(make_zip):
    data = bytearray(make_zip({"iris.data": b"0" * (4 * 2**20)}))
    at = data.rindex(b"PK\x01\x02") + 24
    assert struct.unpack_from("<I", data, at) == (4 * 2**20,)
    struct.pack_into("<I", data, at, 100)
    with pytest.raises(DataFormatError, match="damaged"):
        opened(bytes(data)).open("iris.data").read()


@pytest.mark.parametrize("name", ["iris.data.gz", "iris.csv.xz"])
def test_a_packed_file_is_read_up_to_a_limit(name):
    pack = gzip.compress if name.endswith("gz") else lzma.compress
    files = Files("here", {name: lambda: io.BytesIO(pack(b"0" * 10**6))})
    assert len(files.open(name, limit=10**6).read()) == 10**6
    with pytest.raises(DataFormatError, match="refused"):
        files.open(name, limit=10**6 - 1).read()


def test_a_tar_that_unpacks_to_too_much_is_refused(make_tar, monkeypatch):
    monkeypatch.setattr(unpack, "SMALL", 10**6)
    with pytest.raises(DataFormatError, match="refused"):
        opened(make_tar({"train.csv": b"0" * 10**7}))


def test_members_that_overlap_are_refused(make_zip):
    data = make_zip({"iris.data": bytes(range(256)) * 40})
    start = data.rindex(b"PK\x01\x02")
    end = data.rindex(b"PK\x05\x06")
    entry, tail = data[start:end], bytearray(data[end:])
    copies = 50
    struct.pack_into("<HHI", tail, 8, copies, copies, len(entry) * copies)
    with pytest.raises(DataFormatError, match="overlap"):
        opened(data[:start] + entry * copies + bytes(tail))


def test_too_many_members_are_refused(make_tar, monkeypatch):
    monkeypatch.setattr(unpack, "_MAX_MEMBERS", 10)
    with pytest.raises(DataFormatError, match="more than 10 members"):
        opened(make_tar({f"f{i}": b"" for i in range(11)}))


def test_what_is_no_archive_says_so():
    for data in (b"", b"<html>", b"PK\x03\x04 cut short", gzip.compress(b"no tar")[:-3]):
        with pytest.raises(DataFormatError, match=r"evil.zip: damaged"):
            opened(data)


def test_damage_inside_a_member_is_noticed(make_zip):
    data = bytearray(make_zip({"iris.data": bytes(range(256)) * 40}))
    data[60] ^= 0xFF
    with pytest.raises(DataFormatError, match="damaged"):
        opened(bytes(data)).open("iris.data").read()


def test_pickles_are_never_loaded(make_zip):
    class Bang:
        def __reduce__(self) -> tuple:
            return (pytest.fail, ("a pickle was loaded",))

    pickled = pickle.dumps(Bang())
    files = opened(make_zip({"data.pkl": pickled, "iris.data": pickled}))
    from mloml.datasets.parsers import read_delimited

    with pytest.raises(DataFormatError):
        read_delimited(files.open("iris.data"), label="last", where="iris.data")


def test_a_spreadsheet_is_held_to_the_same_rules(make_zip):
    for members, message in (({"../x": b""}, "points outside"), ({"xl/workbook.xml": b"<"}, "spreadsheet")):
        with pytest.raises(DataFormatError, match=message):
            read_xlsx(io.BytesIO(make_zip(members)), where="x.xlsx")


def test_a_spreadsheet_with_a_cell_far_out_is_refused():
    from openpyxl import Workbook

    book = Workbook()
    book.active["XFD9000"] = 1
    book.create_sheet().append([1])
    stream = io.BytesIO()
    book.save(stream)
    stream.seek(0)
    with pytest.raises(DataFormatError, match="cells; refused"):
        read_xlsx(stream, where="x.xlsx")


def test_files_are_found_in_subfolders_and_packed(tmp_path):
    for name in ("b/iris.data.gz", "a/deep/iris.data", "wine.data.txt", "ml-prove/train.csv", "train.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    files = folder_files(tmp_path)
    assert files.find("iris.data") == "b/iris.data.gz"
    assert files.find("wine.data") == "wine.data.txt"
    assert files.find("ml-prove/train.csv") == "ml-prove/train.csv"
    assert files.find("absent") is None


# "0 1 4 9 16 ..." (the squares up to 399^2), packed by Unix compress: codes of 9, 10 and 11 bits
SQUARES = """
H52QMEDEAEEDRA6BNkDIqAFiRkIaB20UxDEwBoyAMWRUpFEwho2DMXIklLFQYY2ROA7OkFHQ4UAaFwnSeImjYA0ZB2vcSGijpI2d
IG7gDFoTRM2BOWKKrAiDpUAYKQXGOCmQJMOMIgU6BMmx482KNmJ6pChwZ8eaIHM4VNiUoUaPCmXAOChjBoyCLGEMXBhTRti9N+4q
xDFXYQ64dkvOiLF2JcSGDlvSIOsw5gyhA2fUbCnyIMysNKwSnEGVY1QaPQvS2PkyacAadwfWiFG0xsqcqxOeLKkTaI0cQ8MWTT1Q
YkwbJ4sLLWgDR9TAVIWWvDEj642TB2/c4BgU+ECKMXHIIFtTolGJB52vTVrSe8Icnw2GLZiDMNOLGJvqfQqzI4ywIEEFVwwWlURg
XQkRyBFIHplHoHMVaSRWXRpVVQN3Ge0EEk5ZMSYaYzRQxVhzIFXnVAwz2bARTBihNpNAkxU1FVYC2QbUVD1dVQMON6o4lEeadWSD
RGC5VpZHFW134k5RxXBDDiKKZyBaCfL4kUBJYahWhSGFhVF9ZMnlEV53PSYXdSMV6BZjcGkEoEIhCUaSmHHBFhBJ9im0mJwzxFfX
DW3CVBJLM6zFEnoKQWTeQuPtdVJfv1XoF0t4IXelXymNJJ1b11Elww3O0SUlXjgkN5iROLG0F5RFcThUYkDZlWNDc8XqoUpjtSTX
i45Z9qmKkGXUUp9RFVpqQn2K1udvyCqqkm3ckYZZQypaJhFlzZl3GUsq7dQYYYodhaxzhZkoWHV/EYRfQP3tBxNhqmVUWIpwhdYW
QYQ+NN5jNKxkXr/NvTRTTBx9JRN8qtl2ZYhPPtRTSahZSlBgp13n1GpLEVQTwc69CNG+BOUgVE56+fYfbxb5NtVQs9VnE6Wy4RST
bS6BYJt4NoUW1YXX6XYTb9jppuKVJ0lkE6AV6uSlzYSRteNJNmWZE5RreekTDLPxZFFhKsLGnFz75XicXWGTJphxXIcIF3L3Iqcw
CEPeFZGlzFGs3NIBV5gtdx95FFFnCQUmWmA9B5XRc7Q5JVTNI8dEHUcDUedyUCEOdR0MQPU8nYqZ/2S5UEVpdxRRLBKV8ZM3TXRR
VIRJTJFoFDVsFILp4cQdDqRVeFR4qJF3k3mlonUewEYJzpCVcDknV3rkTgTffq4p9R/08tJHW2HApWhQYgypZcN6oT0GHw7mQTkZ
UtUGJNK0IvdJX8MH1cesQcC1J3+CF00W4IH+OQlsgaWziF1eJMDm+KdfP5LbjbA2K4v0ZIEfSeB1ZAQVVT0lJWKZi6kI1JQTWSRU
UpmKiDLyocN1iDHYkUr4OoIi70jlURjxSKOk8hEH+e8xDypUguJkoJAAKkG7KkxGONgRjeSJhHaqykr2k5HqCEZYb8qIbQbkl3tl
5CdrydCCqkIRB40HQlURiVjsspKK7AlDi9GQVriVoEJ9qFBQamPvSnShE7nkf1sZo1nMiDsZVYdGjKnPjWDSwJlcJkGhAaTOZAQw
AnZFLGr7X4iyB6MhNWk1IUKklK6ivw5BRI1TwRqGZlPGGkkIIzcB41Qc4qALbVGECKpRWAx0ki7WaCdC3FF/agQcvQA=
"""


def test_unix_compress_is_unpacked(make_zip):
    expected = " ".join(str(i * i) for i in range(400)).encode()
    files = opened(make_zip({"waveform.data.Z": base64.b64decode(SQUARES)}))
    assert files.open(files.find("waveform.data")).read() == expected
    assert decompress(base64.b64decode(SQUARES), 10**6, "x.Z") == expected
    with pytest.raises(DataFormatError, match="refused"):
        decompress(base64.b64decode(SQUARES), 100, "x.Z")


@pytest.mark.parametrize(
    "data", [b"", b"\x1f\x9d", b"\x1f\x8b\x08", b"\x1f\x9d\x9f000", b"\x1f\x9d\x90\xff\xff\xff\xff"]
)
def test_what_was_not_packed_by_unix_compress_is_refused(data):
    with pytest.raises(DataFormatError):
        decompress(data, 10**6, "x.Z")


@pytest.mark.parametrize("method", [9, 12, 14, 93, 98])
def test_a_zip_packed_by_another_method_says_so(make_zip, method):
    data = bytearray(make_zip({"iris.data": b"1,2,a\n"}))
    for at in (data.rindex(b"PK\x01\x02") + 10, data.index(b"PK\x03\x04") + 8):
        struct.pack_into("<H", data, at, method)
    with pytest.raises(DataFormatError, match=rf"iris.data: damaged \(packed by method {method}, "):
        opened(bytes(data)).open("iris.data")


def test_a_name_that_differs_inside_a_zip_is_one_line(make_zip):
    data = make_zip({"iris.data": b"1,2,a\n"}).replace(b"iris.data", b"iris.dat_", 1)
    with pytest.raises(DataFormatError, match="damaged"):
        opened(data).open("iris.data")


def test_a_list_of_a_million_members_is_refused_before_it_is_read(monkeypatch):
    entry = struct.pack(
        "<4s4B4HL2L5H2L", b"PK\x01\x02", *[20, 0, 20, 0], *[0] * 4, *[0] * 3, *[1, 0, 0, 0, 0], 0, 0
    )
    directory = (entry + b"x") * 10**6
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), 4, 0)
    monkeypatch.setattr(zipfile, "ZipFile", lambda stream: pytest.fail("it was read"))
    with pytest.raises(DataFormatError, match="more than 10000 members"):
        opened(b"PK\x03\x04" + directory + end)


def test_archives_without_end_in_an_archive_are_refused(make_zip):
    inner = make_zip({"other.txt": b""})
    with pytest.raises(DataFormatError, match="more than 20 archives"):
        opened(make_zip({f"{i}.zip": inner for i in range(21)})).archives()


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_text_that_unpacks_to_too_much_is_refused_before_a_row_is_read(pack, tmp_path, monkeypatch):
    suffix = "gz" if pack is gzip.compress else "xz"
    (tmp_path / f"iris.csv.{suffix}").write_bytes(pack(b"0,0,0,0,a\n" * 10**6))
    own = DatasetConfig(name="own", path=str(tmp_path / f"iris.csv.{suffix}"))
    monkeypatch.setattr("mloml.datasets.local.read_csv", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(DataFormatError, match="unpacks to more than 4 MB; refused"):
        load(own, DataSettings(largest_text=4.0, cache=str(tmp_path / "cache")))
    with pytest.raises(DataFormatError, match=r"unpacks to more than 1\.05 MB; refused"):  # iris is small
        load(catalogue()["iris"], DataSettings(dir=str(tmp_path), cache=str(tmp_path / "cache")))


def test_a_member_larger_than_the_dataset_is_refused(make_zip, tmp_path):
    rows = b"".join(b"%d.%d,0,0,0,Iris-setosa\n" % (i, i * i) for i in range(60000))
    (tmp_path / "iris.zip").write_bytes(make_zip({"iris.data": rows}))
    with pytest.raises(DataFormatError, match=r"unpacks to more than 1\.05 MB; refused"):
        load(catalogue()["iris"], DataSettings(dir=str(tmp_path), cache=str(tmp_path / "cache")))


def test_every_dataset_fits_its_own_limit():
    for config in catalogue().values():
        assert config.largest_text() > 20 * config.rows * config.features or config.name.startswith("pems")
    assert catalogue()["pems"].largest_text() > 600e6


def test_a_damaged_spreadsheet_is_one_line_whatever_is_wrong_with_it(make_zip):
    from openpyxl import Workbook

    book = Workbook()
    book.active.append([1, 2])
    book.create_sheet().append([1])
    stream = io.BytesIO()
    book.save(stream)
    whole = stream.getvalue()
    random = Random(0)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, content in members.items():
        for damaged in (b"", b"<", content[: len(content) // 2], content.replace(b"1", b"x"), b"<a/>"):
            with contextlib.suppress(DataFormatError):
                read_xlsx(io.BytesIO(make_zip(members | {name: damaged})), where="x.xlsx")
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(3):
            data[random.randrange(len(data))] = random.randrange(256)
        with contextlib.suppress(DataFormatError):
            read_xlsx(io.BytesIO(bytes(data)), where="x.xlsx")
