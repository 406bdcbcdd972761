"""The real client code against a server on loopback: every way a download can go wrong."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import socket
import threading

import pytest

from mloml.datasets.download import Downloader, FetchError, NotFetchedError, UnreachableError
from mloml.files import create

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


def test_a_redirect_on_the_own_host_is_followed(site, settings, Reply):
    site.serve("/there", BODY)
    assert (
        Downloader(settings).fetch(site.serve("/x", Reply(status=302, location="/there"))).read_bytes()
        == BODY
    )
    far = site.serve("/y", Reply(status=301, location=f"{site.url}/there"))
    assert Downloader(settings).fetch(far).read_bytes() == BODY


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2"])
def test_a_redirect_to_another_host_is_followed_only_when_the_config_lists_it(site, settings, Reply, host):
    port = site.url.rsplit(":", 1)[1]
    elsewhere = f"http://{host}:{port}/there"
    site.serve("/there", BODY)
    url = site.serve("/x", Reply(status=302, location=elsewhere))
    with pytest.raises(FetchError, match=rf"/x: sends us to {elsewhere}; refused \(.*data.redirects\)"):
        Downloader(settings).fetch(url)
    assert site.hits["/there"] == 0
    with pytest.raises(FetchError, match="refused"):  # a host alone stands for its usual port
        Downloader(dataclasses.replace(settings, redirects=[host])).fetch(url)
    listed = dataclasses.replace(settings, redirects=[f"{host}:{port}"])
    if host == "localhost":  # the server listens on one address only
        assert Downloader(listed).fetch(url).read_bytes() == BODY
    else:
        with pytest.raises(UnreachableError, match=rf"{host}:{port} cannot be reached"):
            Downloader(listed).fetch(url)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://[", "//127.0.0.1:1/x"])
def test_a_redirect_to_something_else_is_refused(site, settings, Reply, target):
    with pytest.raises(FetchError, match=r"sends us to|Invalid IPv6"):
        Downloader(settings).fetch(site.serve("/x", Reply(status=302, location=target)))


def test_redirects_in_a_circle_end(site, settings, Reply):
    with pytest.raises(FetchError, match="more than 5 redirects"):
        Downloader(settings).fetch(site.serve("/x", Reply(status=302, location="/x")))


def test_a_download_that_trickles_for_ever_ends_at_the_deadline(site, settings, Reply):
    patient = dataclasses.replace(settings, deadline=0.4, read_timeout=5.0)
    url = site.serve("/x", Reply(BODY, trickle=0.05))  # two minutes, and never silent for long
    downloader = Downloader(patient)
    with pytest.raises(FetchError, match=r"/x: not fetched within 0.4 s \(data.deadline\)"):
        downloader.fetch(url)
    assert not list(downloader.folder.rglob("*.part"))
    assert not downloader.path(url).exists()


def test_the_deadline_is_for_all_tries_together(site, settings, Reply):
    slow = dataclasses.replace(settings, deadline=0.3, backoff=0.2, attempts=10)
    with pytest.raises(FetchError, match=r"data\.deadline"):
        Downloader(slow).fetch(site.serve("/x", Reply(status=500)))
    assert site.hits["/x"] < 5


@pytest.mark.parametrize("length", ["abc", "-1", "1e3", "\u00b2"])
def test_a_length_that_is_no_number_is_one_line(site, settings, Reply, length):
    with pytest.raises(FetchError) as caught:
        Downloader(settings).fetch(site.serve("/x", Reply(BODY, length=length)))
    assert "\n" not in str(caught.value)


def test_more_than_a_dataset_can_have_is_refused(site, settings, Reply):
    for reply in (Reply(BODY), Reply(BODY, length="none")):
        with pytest.raises(FetchError, match="refused"):
            Downloader(settings).fetch(site.serve("/x", reply), largest=len(BODY) - 1)


def test_what_a_killed_download_left_is_cleared_and_a_living_one_is_not(site, settings):
    downloader = Downloader(settings)
    folder = downloader.path(site.url).parent
    folder.mkdir(parents=True)
    (folder / "dead.part").write_bytes(b"half")
    with create(folder / "living.part"):
        for name in ("dead", "living"):
            os.utime(folder / f"{name}.part", (0, 0))
        downloader.fetch(site.serve("/x", BODY))
        assert [path.name for path in folder.glob("*.part")] == ["living.part"]
