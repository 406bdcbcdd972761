"""Downloads with timeout, retries, checksums and a cache; a dead host is asked once per process."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from filelock import FileLock

from mloml.datasets.catalogue import DataSettings
from mloml.datasets.progress import progress
from mloml.errors import MlomlError

if TYPE_CHECKING:
    import requests

_log = logging.getLogger(__name__)
_LARGEST = 2 * 2**30
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_unreachable: dict[str, str] = {}  # host -> why, for the rest of the process


class FetchError(MlomlError):
    """Something could not be fetched; the message says what and why."""


class NotFetchedError(FetchError):
    """It is not in the cache, and the network was not to be asked."""


class UnreachableError(FetchError):
    """The host does not answer; it is not asked again in this process."""


class _PassingError(Exception):
    """A failure that may be gone at the next try."""


def forget_unreachable_hosts() -> None:
    """Ask again hosts that did not answer before."""
    _unreachable.clear()


class Downloader:
    """Fetch addresses into the cache folder.

    A file in the cache is used when its checksum is the one noted when it was fetched; otherwise it is
    fetched again. Files appear under their name only when complete.
    """

    def __init__(self, settings: DataSettings) -> None:
        self.settings = settings
        self.folder = settings.cache_folder() / "downloads"
        self.used: list[Path] = []

    def fetch(self, url: str, *, sha256: str | None = None, md5: str | None = None) -> Path:
        """Return the path of the file behind ``url``, from the cache or the network."""
        path = self.path(url)
        self.used.append(path)
        if self._is_whole(path):
            return path
        if self.settings.offline:
            raise NotFetchedError("not fetched before, and no network allowed")
        host = urlsplit(url).netloc
        if host in _unreachable:
            raise UnreachableError(_unreachable[host])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{path}.lock"):
                if not self._is_whole(path):  # another process may have fetched it meanwhile
                    self._fetch(url, path, sha256, md5)
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

    def _fetch(self, url: str, path: Path, sha256: str | None, md5: str | None) -> None:
        reason = ""
        for attempt in range(self.settings.attempts):
            if attempt:
                time.sleep(self.settings.backoff * 2 ** (attempt - 1))
            try:
                return self._try(url, path, sha256, md5)
            except _PassingError as error:
                reason = str(error)
                _log.info("%s: %s (try %d of %d)", url, reason, attempt + 1, self.settings.attempts)
        raise FetchError(f"{url}: {reason}, {self.settings.attempts} times")

    def _try(self, url: str, path: Path, sha256: str | None, md5: str | None) -> None:
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream, self._get(url) as response:
                found = _copy(response, stream, path.name.split("-", 1)[1])
            for name, wanted in (("sha256", sha256), ("md5", md5)):
                if wanted is not None and found[name] != wanted:
                    raise _PassingError(
                        f"wrong checksum ({name} {found[name][:12]}…, expected {wanted[:12]}…)"
                    )
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
        note = Path(f"{temporary}.json")
        note.write_text(json.dumps({"url": url, "sha256": found["sha256"]}))
        note.replace(_note(path))

    def _get(self, url: str) -> requests.Response:
        """Open the address; tell a host that is not there from one that stumbled."""
        import requests
        from urllib3.exceptions import ProtocolError

        timeout = (self.settings.connect_timeout, self.settings.read_timeout)
        try:
            response = requests.get(
                url, stream=True, timeout=timeout, headers={"Accept-Encoding": "identity"}
            )
        except requests.ConnectionError as error:
            if error.args and isinstance(error.args[0], ProtocolError):
                raise _PassingError("connection closed without an answer") from None
            raise _dead(url, "cannot be reached") from None
        except requests.Timeout:
            raise _dead(url, f"does not answer within {self.settings.read_timeout:g} s") from None
        except requests.RequestException as error:
            raise FetchError(f"{url}: {error}") from None
        if response.status_code in _TRY_AGAIN:
            raise _PassingError(f"status {response.status_code}")
        if response.status_code != 200:
            raise FetchError(f"{url}: status {response.status_code}")
        return response


def _dead(url: str, why: str) -> UnreachableError:
    host = urlsplit(url).netloc
    _unreachable[host] = f"{host} {why}"
    return UnreachableError(_unreachable[host])


def _copy(response: requests.Response, stream: IO[bytes], name: str) -> dict[str, str]:
    """Write the body to ``stream`` and return its checksums; too short or too long is an error."""
    import requests

    announced = int(response.headers.get("Content-Length", 0))
    if announced > _LARGEST:
        raise FetchError(f"{response.url}: announces {announced} bytes; refused")
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    try:
        with progress(name, announced) as advance:
            for block in response.iter_content(2**18):
                stream.write(block)
                sha256.update(block)
                md5.update(block)
                size += len(block)
                advance(len(block))
                if size > _LARGEST:
                    raise FetchError(f"{response.url}: more than {_LARGEST} bytes; refused")
    except requests.RequestException:
        raise _PassingError(f"transfer broke off after {size} bytes") from None
    if announced and size != announced:
        raise _PassingError(f"{size} of {announced} bytes arrived")
    return {"sha256": sha256.hexdigest(), "md5": md5.hexdigest()}


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".json")
