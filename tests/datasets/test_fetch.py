"""UCI and OpenML through the real client code, against a server on loopback that fails in every way."""

import dataclasses
import hashlib
import threading
import time
from pathlib import Path

import pytest

from mloml.datasets import Dataset, DatasetConfig, DataSettings, availability, catalogue, load
from mloml.datasets.fetch import Cache, ChecksumError, FetchError
from mloml.errors import DatasetUnavailableError

KNOWN = catalogue()
BODY = b"5.1,3.5,1.4,0.2,Iris-setosa\n" * 100
SHA256 = f"sha256:{hashlib.sha256(BODY).hexdigest()}"


def get(settings: DataSettings, url: str, **options: object) -> Path:
    return Cache(settings).get(url, "x.data", largest=10**6, **options)


def from_source(config: DatasetConfig, settings: DataSettings, source: str) -> Dataset:
    return load(config, dataclasses.replace(settings, source=source))


def test_a_file_is_fetched_once_even_by_several_at_once_and_then_used_without_the_network(site, settings):
    url, other = site.serve("/x?id=1", BODY), site.serve("/x?id=2", b"another")
    threads = [threading.Thread(target=get, args=(settings, url)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    offline = dataclasses.replace(settings, offline=True)
    assert get(offline, url).read_bytes() == BODY
    assert get(settings, other).read_bytes() == b"another"
    with pytest.raises(FetchError, match="not fetched before, and no network allowed"):
        get(offline, site.url + "/y")
    assert dict(site.hits) == {"/x?id=1": 1, "/x?id=2": 1}


def test_what_may_pass_is_tried_again(site, settings, Reply):
    truncated, bad = Reply(BODY[:500], announced=len(BODY)), b"something else"
    for first in (Reply(status=500), Reply(hang_up=True), truncated, bad):
        url = site.serve(f"/{id(first)}", first, BODY)
        assert get(settings, url, known=SHA256).read_bytes() == BODY


def test_what_never_works_ends_in_one_line_and_leaves_nothing(site, settings, Reply):
    for number, (reply, reason) in enumerate(
        {
            "404": (Reply(status=404), "404"),
            "500": (Reply(status=500), "500"),
            "cut off": (Reply(BODY[:500], announced=len(BODY)), "3 times"),
            "too large": (Reply(BODY * 400), "more than 1000000 bytes; refused"),
            "announces too much": (Reply(BODY, announced=10**13), "3 times"),
            "other content": (Reply(b"something else"), "does not match the known hash"),
        }.values()
    ):
        url = site.serve(f"/{number}", reply)
        with pytest.raises(FetchError) as caught:
            get(settings, url, known=SHA256)
        assert reason in str(caught.value) and f"/{number}: " in str(caught.value)
        assert "\n" not in str(caught.value)
    assert {path.suffix for path in Path(settings.cache).rglob("*") if path.is_file()} <= {".lock"}


@pytest.mark.parametrize("source", ["archive", "ucimlrepo"])
def test_a_server_that_drips_is_left_at_the_deadline(site, settings, Reply, source):
    hurried = dataclasses.replace(settings, deadline=2.0, read_timeout=5.0)
    for path in ("/static/public/53/iris.zip", "/api/dataset?id=53"):
        site.serve(path, Reply(BODY, trickle=0.05))  # two minutes, and never silent for long
    start = time.monotonic()
    with pytest.raises(DatasetUnavailableError, match=r"not fetched within 2 s \(data.deadline\)"):
        from_source(KNOWN["iris"], hurried, source)
    assert time.monotonic() - start < 6
    assert not list(Path(settings.cache).rglob("*.part"))


def test_a_host_that_never_answers_is_asked_once_for_all_datasets(site, settings, Reply):
    for config in KNOWN.values():
        site.serve(f"/api/dataset?id={config.uci_id}", Reply(silent=True))
        if config.original is not None:
            site.serve(f"/static/public/{config.original.archive}", Reply(silent=True))
    for name in ("diabetic", "lsvt", "pems", "mlprove_paper"):
        with pytest.raises(DatasetUnavailableError, match=r"127\.0\.0\.1:\d+ cannot be reached.*MLOML_DATA"):
            load(KNOWN[name], settings)
    assert load(KNOWN["waveform"], settings).regenerated
    assert site.hits.total() == 1


def test_a_refused_connection_is_found_out_at_once(site, settings):
    nobody = dataclasses.replace(settings, uci_url="http://127.0.0.1:9", read_timeout=30.0)
    for source in ("ucimlrepo", "archive"):
        with pytest.raises(DatasetUnavailableError, match=r"127\.0\.0\.1:9 cannot be reached"):
            from_source(KNOWN["iris"], nobody, source)


@pytest.mark.parametrize("pinned", [SHA256, None])
def test_a_file_in_the_cache_that_differs_is_refused_and_named(site, settings, pinned):
    url = site.serve("/x", BODY, b"another")
    path = get(settings, url, known=pinned)
    path.write_bytes(BODY[:-1])
    with pytest.raises(ChecksumError, match=rf"{path.name}.* delete it, and {path.name}.json"):
        get(settings, url, known=pinned)
    assert site.hits["/x"] == 1
    path.unlink()  # but not the note of its checksum
    with pytest.raises(FetchError, match=rf"/x: not the file that was fetched before.*{path.name}\.json"):
        get(settings, url)


def test_a_file_fetched_before_its_checksum_was_pinned_is_refused_too(site, settings):
    url = site.serve("/x", BODY)
    get(settings, url)
    with pytest.raises(ChecksumError, match="is not the one pinned"):
        get(settings, url, known="sha256:" + "0" * 64)


def test_a_note_that_is_damaged_or_missing_makes_the_file_fetched_again(site, settings):
    url = site.serve("/x", BODY)
    path = get(settings, url)
    path.write_bytes(b"half")
    path.with_name(path.name + ".json").write_text("{")
    assert get(settings, url).read_bytes() == BODY


def test_a_cache_folder_that_cannot_be_used_says_how_to_choose_another(site, settings, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match=r"set data\.cache"):
        get(dataclasses.replace(settings, cache=str(tmp_path / "file")), site.serve("/x", BODY))


# -- ucimlrepo ----------------------------------------------------------------------------------------


def iris_rows() -> list[str]:
    data = load(KNOWN["iris"], DataSettings(source="bundled"))
    return [
        ",".join([*(f"{v:.1f}" for v in x), f"Iris-{data.labels[k]}"])
        for x, k in zip(data.X, data.y, strict=True)
    ]


def serve_table(site, uci_id: int, roles: dict[str, str], rows: list[str], **changes: object) -> None:
    url = site.serve(f"/static/public/{uci_id}/data.csv", "\n".join([",".join(roles), *rows, ""]))
    variables = [{"name": name, "role": role, "type": "Continuous"} for name, role in roles.items()]
    data = {"uci_id": uci_id, "name": "x", "data_url": url, "variables": variables}
    data |= {"additional_info": None, "intro_paper": None, **changes}
    site.serve(f"/api/dataset?id={uci_id}", {"status": 200, "data": data})


IRIS = dict.fromkeys(["sepal length", "sepal width", "petal length", "petal width"], "Feature")
IRIS |= {"class": "Target"}


def test_ucimlrepo_gives_the_same_iris_as_the_bundled_one(site, settings):
    serve_table(site, 53, IRIS, iris_rows())
    data = from_source(KNOWN["iris"], settings, "ucimlrepo")
    assert data.checksum == load(KNOWN["iris"], DataSettings(source="bundled")).checksum
    assert list(data.provenance["files"]) == [site.url + "/api/dataset?id=53"]
    again = from_source(KNOWN["iris"], dataclasses.replace(settings, offline=True), "ucimlrepo")
    assert (again.checksum, again.provenance) == (data.checksum, data.provenance)
    uci = dataclasses.replace(settings, source="uci")
    assert availability(KNOWN["iris"], uci) == "cache (ucimlrepo)"


def test_ucimlrepo_drops_incomplete_rows_and_the_identifier(site, settings):
    roles = {"id": "ID", "a": "Feature", "b": "Feature", "class": "Target"}
    serve_table(site, 15, roles, ["9,1,2,2", "8,3,,4", "7,5,6.25,4", "6,1,1,2", "5,0,0,4"])
    config = dataclasses.replace(KNOWN["breast"], rows=4, features=2, class_counts={"2": 2, "4": 2})
    data = from_source(config, settings, "ucimlrepo")
    assert data.X.tolist() == [[1, 2], [5, 6.25], [1, 1], [0, 0]]
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.provenance["rows_dropped"] == 1


def test_ucimlrepos_failures_are_told_in_one_line(site, settings, Reply):
    two_targets = IRIS | {"petal width": "Target"}
    for reply, reason in (
        (Reply(status=404), "404"),
        ("<html>log in</html>", "Expecting value"),
        ({"status": 404, "message": "no such\nthing"}, "no such thing"),
        ({"status": 200, "data": {"name": "x", "data_url": None}}, "not available for import"),
        (None, "not exactly one target"),
    ):
        if reply is None:
            serve_table(site, 53, two_targets, iris_rows())
        else:
            site.serve("/api/dataset?id=53", reply)
        with pytest.raises(FetchError, match=reason) as caught:
            Cache(settings).get(f"{site.url}/api/dataset?id=53", "x.csv.gz", uci_id=53)
        assert "\n" not in str(caught.value)


def test_a_table_of_the_wrong_shape_is_followed_by_the_next_source_and_not_kept(site, settings, make_zip):
    serve_table(site, 53, IRIS, iris_rows()[:-1])
    site.serve("/static/public/53/iris.zip", make_zip({"iris.data": "\n".join(iris_rows()).encode()}))
    data = from_source(KNOWN["iris"], settings, "uci")
    assert data.source == "archive"
    assert data.checksum == load(KNOWN["iris"], DataSettings(source="bundled")).checksum
    with pytest.raises(DatasetUnavailableError, match="not fetched before"):
        from_source(KNOWN["iris"], dataclasses.replace(settings, offline=True), "ucimlrepo")


# -- archives, and OpenML -----------------------------------------------------------------------------


def test_an_archive_with_a_pinned_checksum_is_refused_when_it_differs(site, settings, make_zip):
    site.serve("/static/public/204/pems+sf.zip", make_zip({"PEMS_train": b"[1 2]"}))
    with pytest.raises(DatasetUnavailableError, match="does not match the known hash"):
        from_source(KNOWN["pems"], settings, "archive")


def test_the_cache_comes_before_the_network_and_damage_in_it_stops_the_loading(site, settings, make_zip):
    site.serve("/static/public/53/iris.zip", make_zip({"iris.data": "\n".join(iris_rows()).encode()}))
    from_source(KNOWN["iris"], settings, "archive")
    assert from_source(KNOWN["iris"], settings, "uci").source == "archive"
    (path,) = Path(settings.cache).rglob("*iris.zip")
    path.write_bytes(make_zip({"iris.data": b"1,2,3,4,Iris-setosa\n"}))
    with pytest.raises(ChecksumError, match=r"iris\.zip"):
        from_source(KNOWN["iris"], settings, "uci")
    assert site.hits.total() == 1


def test_openml_names_the_file_its_checksum_and_the_target(site, settings):
    arff = b"@relation d\n@attribute 'a b' real\n@attribute class {tested_negative,tested_positive}\n"
    arff += b"@attribute c real\n@data\n1,tested_positive,2\n3,tested_negative,4\n"
    arff += b"5,tested_positive,6\n7,tested_negative,8\n"
    description = {
        "url": "https://api.openml.org/data/v1/download/37/diabetes.arff",
        "md5_checksum": hashlib.md5(arff).hexdigest(),
        "default_target_attribute": "class",
    }
    site.serve("/api/v1/json/data/37", {"data_set_description": description})
    site.serve("/data/v1/download/37/diabetes.arff", arff[:-20], arff)
    config = dataclasses.replace(KNOWN["pima"], rows=4, features=2, class_counts={"0": 2, "1": 2})
    data = from_source(config, settings, "openml")
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert data.y.tolist() == [1, 0, 1, 0]
    assert site.hits["/data/v1/download/37/diabetes.arff"] == 2  # the first had the wrong checksum
    site.serve("/api/v1/json/data/61", "<html>log in</html>")
    with pytest.raises(DatasetUnavailableError, match="description of iris makes no sense"):
        from_source(KNOWN["iris"], settings, "openml")
