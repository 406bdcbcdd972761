"""A web server on loopback that behaves, or misbehaves, as told; archives made on the spot."""

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

from mloml.config.schema import DataSettings
from mloml.datasets.fetch import unreachable


@dataclass
class Reply:
    """What the server does with a request."""

    body: bytes = b""
    status: int = 200
    announced: int | None = None  # Content-Length, when it is to be wrong
    silent: bool = False  # never answer
    hang_up: bool = False  # close the connection without an answer
    trickle: float = 0.0  # seconds between single bytes


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

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.hits[handler.path] += 1
        queue = self.replies.get(handler.path, [Reply(status=404)])
        reply = queue.pop(0) if len(queue) > 1 else queue[0]
        if reply.silent:
            self.over.wait(20)
        if reply.hang_up or reply.silent:
            return
        handler.send_response(reply.status)
        size = len(reply.body) if reply.announced is None else reply.announced
        handler.send_header("Content-Length", str(size))
        handler.end_headers()
        blocks = [reply.body[i : i + 1] for i in range(len(reply.body))] if reply.trickle else [reply.body]
        for block in blocks:
            handler.wfile.write(block)
            if reply.trickle and self.over.wait(reply.trickle):
                return


def _reply(given: Reply | bytes | str | dict) -> Reply:
    if isinstance(given, dict):
        given = json.dumps(given)
    return given if isinstance(given, Reply) else Reply(given.encode() if isinstance(given, str) else given)


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.answer(self)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        site.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield site
        site.over.set()
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _nothing_but_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    unreachable.clear()
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("MLOML_DATA", raising=False)


@pytest.fixture
def settings(site: Site, tmp_path: Path) -> DataSettings:
    """Settings that know the loopback server only, and wait for nothing."""
    return DataSettings(
        cache=str(tmp_path / "cache"), uci_url=site.url, openml_url=site.url, connect_timeout=2.0,
        read_timeout=0.5, attempts=3, backoff=0.01,
    )  # fmt: skip


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
    def build(members: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size, info.type = len(data), kind
                archive.addfile(info, io.BytesIO(data))
        return stream.getvalue()

    return build


@pytest.fixture(name="Reply")
def reply_class() -> type[Reply]:
    return Reply
