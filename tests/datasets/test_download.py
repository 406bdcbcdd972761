"""The real client code against a server on loopback: every way a download can go wrong."""

from __future__ import annotations

import dataclasses
import hashlib
import socket
import threading

import pytest

from mloml.datasets.download import Downloader, FetchError, NotFetchedError, UnreachableError

BODY = b"5.1,3.5,1.4,0.2,Iris-setosa\n" * 100


def test_a_file_is_fetched_once_and_then_taken_from_the_cache(site, settings):
    url = site.serve("/iris.data", BODY)
    paths = [Downloader(settings).fetch(url) for _ in range(3)]
    assert paths[0].read_bytes() == BODY
    assert len(set(paths)) == 1
    assert site.hits["/iris.data"] == 1


def test_addresses_that_differ_in_their_query_are_different_files(site, settings):
    one = Downloader(settings).fetch(site.serve("/api?id=1", b"one"))
    two = Downloader(settings).fetch(site.serve("/api?id=2", b"two"))
    assert (one.read_bytes(), two.read_bytes()) == (b"one", b"two")


def test_404_fails_at_once_and_names_the_address(site, settings):
    with pytest.raises(FetchError, match=r"/nothing: status 404"):
        Downloader(settings).fetch(site.url + "/nothing")
    assert site.hits["/nothing"] == 1


def test_500_is_tried_again(site, settings, Reply):
    url = site.serve("/x", Reply(status=500), Reply(status=503), BODY)
    assert Downloader(settings).fetch(url).read_bytes() == BODY
    assert site.hits["/x"] == 3


def test_500_for_ever_gives_up_after_the_attempts(site, settings, Reply):
    url = site.serve("/x", Reply(status=500))
    with pytest.raises(FetchError, match="status 500, 3 times"):
        Downloader(settings).fetch(url)
    assert site.hits["/x"] == 3
    assert not list(Downloader(settings).folder.rglob("*.part"))


def test_a_truncated_file_is_fetched_again(site, settings, Reply):
    url = site.serve("/x", Reply(BODY[:500], announced=len(BODY)), BODY)
    assert Downloader(settings).fetch(url).read_bytes() == BODY


def test_a_file_that_is_always_truncated_never_enters_the_cache(site, settings, Reply):
    url = site.serve("/x", Reply(BODY[:500], announced=len(BODY)))
    downloader = Downloader(settings)
    with pytest.raises(FetchError, match="broke off"):
        downloader.fetch(url)
    assert not downloader.path(url).exists()


def test_a_connection_that_stalls_in_the_middle_is_tried_again(site, settings, Reply):
    url = site.serve("/x", Reply(BODY[:500], announced=len(BODY), stall="middle"), BODY)
    assert Downloader(settings).fetch(url).read_bytes() == BODY


def test_a_connection_closed_without_an_answer_is_tried_again(site, settings, Reply):
    url = site.serve("/x", Reply(hang_up=True), BODY)
    assert Downloader(settings).fetch(url).read_bytes() == BODY


def test_a_host_that_never_answers_is_asked_once_per_process(site, settings, Reply):
    first, second = site.serve("/x", Reply(stall="before")), site.serve("/y", BODY)
    with pytest.raises(UnreachableError, match="does not answer"):
        Downloader(settings).fetch(first)
    with pytest.raises(UnreachableError, match="does not answer"):
        Downloader(settings).fetch(second)
    assert (site.hits["/x"], site.hits["/y"]) == (1, 0)


def test_a_refused_connection_is_found_out_once(settings):
    with socket.socket() as taken:  # bound but not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/x"
        with pytest.raises(UnreachableError, match="cannot be reached"):
            Downloader(settings).fetch(url)
    with socket.create_server(("127.0.0.1", int(url.split(":")[2][:-2]))) as server:
        server.setblocking(False)
        with pytest.raises(UnreachableError):
            Downloader(settings).fetch(url + "y")
        with pytest.raises(BlockingIOError):
            server.accept()  # nobody knocked


def test_a_wrong_checksum_is_tried_again_and_then_refused(site, settings):
    good, bad = hashlib.sha256(BODY).hexdigest(), b"something else"
    assert Downloader(settings).fetch(site.serve("/x", bad, BODY), sha256=good).read_bytes() == BODY
    url = site.serve("/y", bad)
    with pytest.raises(FetchError, match="wrong checksum"):
        Downloader(settings).fetch(url, sha256=good)
    assert not Downloader(settings).path(url).exists()


def test_md5_is_checked_too(site, settings):
    url = site.serve("/x", BODY)
    with pytest.raises(FetchError, match="wrong checksum"):
        Downloader(settings).fetch(url, md5="0" * 32)
    assert Downloader(settings).fetch(url, md5=hashlib.md5(BODY).hexdigest()).read_bytes() == BODY


@pytest.mark.parametrize("damage", [b"", BODY[:-1], BODY.replace(b"5", b"6")])
def test_a_damaged_file_in_the_cache_is_found_and_fetched_again(site, settings, damage):
    url = site.serve("/x", BODY)
    path = Downloader(settings).fetch(url)
    path.write_bytes(damage)
    assert Downloader(settings).fetch(url).read_bytes() == BODY
    assert site.hits["/x"] == 2


def test_a_damaged_note_counts_as_a_damaged_file(site, settings):
    url = site.serve("/x", BODY)
    path = Downloader(settings).fetch(url)
    path.with_name(path.name + ".json").write_text("{")
    assert Downloader(settings).fetch(url).read_bytes() == BODY


def test_offline_uses_the_cache_and_nothing_else(site, settings):
    url, other = site.serve("/x", BODY), site.serve("/y", BODY)
    Downloader(settings).fetch(url)
    offline = Downloader(dataclasses.replace(settings, offline=True))
    assert offline.fetch(url).read_bytes() == BODY
    with pytest.raises(NotFetchedError):
        offline.fetch(other)
    assert site.hits["/y"] == 0


def test_an_absurd_size_is_refused_before_it_is_read(site, settings, Reply):
    with pytest.raises(FetchError, match="refused"):
        Downloader(settings).fetch(site.serve("/x", Reply(b"x", announced=10**13)))


def test_two_at_once_fetch_one_file(site, settings):
    url = site.serve("/x", BODY)
    threads = [threading.Thread(target=Downloader(settings).fetch, args=(url,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert site.hits["/x"] == 1


def test_a_cache_folder_that_cannot_be_used_says_how_to_choose_another(site, settings, tmp_path):
    (tmp_path / "file").write_text("")
    broken = dataclasses.replace(settings, cache=str(tmp_path / "file"))
    with pytest.raises(FetchError, match=r"set data\.cache"):
        Downloader(broken).fetch(site.serve("/x", BODY))
