"""A web server on loopback that behaves, or misbehaves, as told."""

from __future__ import annotations

import io
import json
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mloml.datasets.catalogue import DataSettings
from mloml.datasets.download import forget_unreachable_hosts


@dataclass
class Reply:
    """What the server does with a request."""

    body: bytes = b""
    status: int = 200
    announced: int | None = None  # Content-Length, when it is to be wrong
    stall: str = ""  # "before" the answer or in the "middle" of it
    hang_up: bool = False  # close the connection without an answer
    trickle: float = 0.0  # seconds between single bytes
    location: str = ""  # where a redirect leads
    length: str = ""  # Content-Length as text, when it is to be no number, or "none"


@dataclass
class Site:
    """Addresses and replies; several replies to one address are given in turn, the last one for ever."""

    url: str = ""
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    hits: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)

    def serve(self, path: str, *replies: Reply | bytes | str | dict) -> str:
        self.replies[path] = [_reply(reply) for reply in replies]
        return self.url + path

    def next_reply(self, path: str) -> Reply:
        self.hits[path] += 1
        queue = self.replies.get(path, [Reply(status=404)])
        return queue.pop(0) if len(queue) > 1 else queue[0]


def _reply(given: Reply | bytes | str | dict) -> Reply:
    if isinstance(given, Reply):
        return given
    if isinstance(given, dict):
        given = json.dumps(given)
    return Reply(given.encode() if isinstance(given, str) else given)


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reply = site.next_reply(self.path)
            if reply.stall == "before":
                site.over.wait(20)
            if reply.hang_up or reply.stall == "before":
                return
            self.send_response(reply.status)
            size = len(reply.body) if reply.announced is None else reply.announced
            if reply.length != "none":
                self.send_header("Content-Length", reply.length or str(size))
            if reply.location:
                self.send_header("Location", reply.location)
            self.end_headers()
            for i in range(len(reply.body) if reply.trickle else 0):
                self.wfile.write(reply.body[i : i + 1])
                if site.over.wait(reply.trickle):
                    return
            self.wfile.write(b"" if reply.trickle else reply.body)
            if reply.stall == "middle":
                self.wfile.flush()
                site.over.wait(20)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield site
    site.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _no_memory_of_dead_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_unreachable_hosts()
    monkeypatch.delenv("MLOML_DATA", raising=False)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def settings(site: Site, tmp_path: Path) -> DataSettings:
    """Settings that know the loopback server only, and wait for nothing."""
    return DataSettings(
        cache=str(tmp_path / "cache"),
        uci_url=site.url,
        openml_url=site.url,
        connect_timeout=0.5,
        read_timeout=0.3,
        attempts=3,
        backoff=0.01,
    )


@pytest.fixture
def make_zip() -> Callable[[dict[str, bytes]], bytes]:
    def build(members: dict[str, bytes]) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return stream.getvalue()

    return build


@pytest.fixture
def make_tar() -> Callable[[dict[str, bytes]], bytes]:
    def build(members: dict[str, bytes]) -> bytes:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        return stream.getvalue()

    return build


@pytest.fixture(name="Reply")
def reply_class() -> type[Reply]:
    return Reply
