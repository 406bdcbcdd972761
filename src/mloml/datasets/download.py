"""Downloads with timeout, retries, checksums and a cache; a dead host is asked once per process."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from filelock import FileLock

from mloml.datasets.catalogue import LARGEST_FILE, DataSettings
from mloml.datasets.request import FetchError, PassingError, Request, UnreachableError, unreachable
from mloml.errors import DataFormatError
from mloml.files import clear, create

Checksums = dict[str, str | None]

_log = logging.getLogger(__name__)


class NotFetchedError(FetchError):
    """It is not in the cache, and the network was not to be asked."""


def forget_unreachable_hosts() -> None:
    """Ask again hosts that did not answer before."""
    unreachable.clear()


class Downloader:
    """Fetch addresses into the cache folder.

    A file in the cache is used when its checksum is the one noted when it was fetched; otherwise it is
    fetched again. Files appear under their name only when complete.
    """

    def __init__(self, settings: DataSettings) -> None:
        self.settings = settings
        self.folder = settings.cache_folder() / "downloads"
        self.used: list[Path] = []

    def fetch(
        self, url: str, *, sha256: str | None = None, md5: str | None = None, largest: int = LARGEST_FILE
    ) -> Path:
        """Return the path of the file behind ``url``, from the cache or the network."""
        path = self.path(url)
        self.used.append(path)
        if self._is_whole(path):
            return path
        if self.settings.offline:
            raise NotFetchedError("not fetched before, and no network allowed")
        host = urlsplit(url).netloc
        if host in unreachable:
            raise UnreachableError(unreachable[host])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{path}.lock"):
                if not self._is_whole(path):  # another process may have fetched it meanwhile
                    self._fetch(url, path, {"sha256": sha256, "md5": md5}, largest)
        except OSError as error:
            raise FetchError(f"cache folder {self.folder} cannot be used ({error}); set data.cache") from None
        return path

    def path(self, url: str) -> Path:
        """Return where ``url`` is kept: by host and file name, told apart by a hash of the address."""
        parts = urlsplit(url)
        name = re.sub(r"[^A-Za-z0-9._+-]", "_", parts.path.rsplit("/", 1)[-1]) or "index"
        digest = hashlib.sha256(url.encode()).hexdigest()[:12]
        return self.folder / re.sub(r"[^A-Za-z0-9.-]", "_", parts.netloc) / f"{digest}-{name[-80:]}"

    def discard(self, path: Path) -> None:
        """Forget a fetched file, because it turned out not to be what was asked for."""
        path.unlink(missing_ok=True)
        _note(path).unlink(missing_ok=True)

    def _is_whole(self, path: Path) -> bool:
        if not (path.is_file() and _note(path).is_file()):
            return False
        try:
            expected = json.loads(_note(path).read_text())["sha256"]
        except (ValueError, KeyError, TypeError):
            expected = None
        with path.open("rb") as stream:
            whole = hashlib.file_digest(stream, "sha256").hexdigest() == expected
        if not whole:
            _log.warning("%s is damaged; it will be fetched again", path)
        return whole

    def _fetch(self, url: str, path: Path, wanted: Checksums, largest: int) -> None:
        request = Request(url, self.settings, time.monotonic() + self.settings.deadline, largest)
        reason = ""
        for attempt in range(self.settings.attempts):
            if attempt:
                time.sleep(self.settings.backoff * 2 ** (attempt - 1))
            try:
                return self._try(request, path, wanted)
            except PassingError as error:
                reason = str(error)
                _log.info("%s: %s (try %d of %d)", url, reason, attempt + 1, self.settings.attempts)
        raise FetchError(f"{url}: {reason}, {self.settings.attempts} times")

    def _try(self, request: Request, path: Path, wanted: Checksums) -> None:
        clear(path.parent, "*.part")
        temporary = path.parent / f"{uuid4().hex}.part"
        try:
            with create(temporary) as stream:
                found = request.save(stream, path.name.split("-", 1)[1])
            for name, value in wanted.items():
                if value is not None and found[name] != value:
                    raise PassingError(f"wrong checksum ({name} {found[name][:12]}…, expected {value[:12]}…)")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        note = Path(f"{temporary}.json")
        note.write_text(json.dumps({"url": request.url, "sha256": found["sha256"]}))
        note.replace(_note(path))


def read_description(path: Path, service: str, key: str) -> dict[str, Any]:
    """Return what a service says of a dataset, from the JSON file that was fetched."""
    try:
        answer = json.loads(path.read_bytes())
    except ValueError:
        raise DataFormatError(f"{service}'s description is no JSON") from None
    data = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(data, dict):
        raise DataFormatError(f"{service}'s description lacks its data")
    return data


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".json")
