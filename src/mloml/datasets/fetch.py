"""Fetching: tables by ``ucimlrepo``, files by ``pooch``; a deadline, retries, and a cache with checksums.

A host that sends a byte now and then would hold ``requests`` for ever; ``ucimlrepo`` has no timeout at all
and calls every failure "Error connecting to server". So a thread asks
them, and is left behind at the deadline.

A file is kept with a note of its checksum. From then on it must have that checksum, and the one pinned in the
catalogue where there is one: a file that differs is refused.
"""

import gzip
import hashlib
import json
import queue
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from filelock import FileLock

from mloml.config.schema import DatasetConfig, DataSettings
from mloml.datasets.dataset import Table
from mloml.datasets.original import LARGEST_FILE, archive_limit, file_digest, open_file, read_archive
from mloml.datasets.read import read_arff, read_csv
from mloml.errors import DataFormatError, MlomlError
from mloml.files import write_atomically

_LARGEST_DESCRIPTION = 4 * 2**20
unreachable: set[str] = set()  # hosts; none of them is asked again in this process


class FetchError(MlomlError):
    """Something could not be fetched; the message says what and why."""


class ChecksumError(MlomlError):
    """A file in the cache is not what it was; the message says which to delete."""


class Cache:
    """What was fetched, by address."""

    def __init__(self, settings: DataSettings) -> None:
        self.settings = settings
        self.folder = settings.cache_folder() / "downloads"
        self.used: dict[str, Path] = {}

    def get(self, url: str, name: str, known: str | None = None, **request: Any) -> Path:
        """Return the file kept for an address; what is not there yet is fetched.

        Parameters
        ----------
        url : the address.
        name : how the file is called in the cache.
        known : its checksum, such as ``sha256:...``, as far as one is known before the first fetch.
        request : ``largest``, its bytes at most, or the ``uci_id`` of a table.
        """
        host, digest = urlsplit(url).netloc.replace(":", "_"), hashlib.sha256(url.encode()).hexdigest()[:12]
        path = self.used[url] = self.folder / host / f"{digest}-{name}"
        if not _is_kept(path):
            ask = download if "largest" in request else ask_ucimlrepo
            self._fetch(path, url, lambda: ask(url, path, known, self.settings, **request))
        for expected, origin in ((known, "pinned"), (_noted(path), "noted when it was fetched")):
            if not _fits(path, expected):
                delete = f"delete it, and {_note(path).name} beside it, to fetch it again"
                raise ChecksumError(f"{path}: its checksum is not the one {origin}; {delete}")
        return path

    def forget(self) -> None:
        """Remove what was used: it turned out not to be what was asked for, such as a login page."""
        for path in self.used.values():
            path.unlink(missing_ok=True)
            _note(path).unlink(missing_ok=True)

    def _fetch(self, path: Path, url: str, ask: Callable[[], None]) -> None:
        """Fetch a file; it counts once its checksum is noted."""
        if self.settings.offline:
            raise FetchError("not fetched before, and no network allowed")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{path}.lock"):
                if _is_kept(path):  # another process was faster
                    return
                path.unlink(missing_ok=True)  # of a process that was killed
                self._try(ask, url)
                if not _fits(path, _noted(path)):
                    path.unlink()
                    raise FetchError(
                        f"{url}: not the file that was fetched before; to accept it delete {_note(path)}"
                    )
                write_atomically(_note(path), json.dumps({"url": url, "sha256": file_digest(path)}))
        except OSError as error:
            raise FetchError(f"cache folder {self.folder} cannot be used ({error}); set data.cache") from None

    def _try(self, action: Callable[[], None], url: str) -> None:
        """Let a thread try several times, until the deadline."""
        answer, deadline = queue.SimpleQueue[FetchError | None](), self.settings.deadline
        threading.Thread(target=lambda: answer.put(self._try_all(action, url)), daemon=True).start()
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(self.settings.read_timeout)
        try:
            error = answer.get(timeout=deadline)
        except queue.Empty:
            error = FetchError(f"{url}: not fetched within {deadline:g} s (data.deadline)")
        finally:
            socket.setdefaulttimeout(before)
        if error is not None:
            raise error

    def _try_all(self, action: Callable[[], None], url: str) -> FetchError | None:
        """Return why nothing could be fetched, or None."""
        host, reason = urlsplit(url).netloc, ""
        for attempt in range(self.settings.attempts):
            time.sleep(self.settings.backoff * (2**attempt - 1))
            try:
                if host not in unreachable:
                    action()
                    return None
            except FetchError as error:
                return error
            except Exception as error:  # whatever the answer made the libraries stumble over
                cause = error.__context__ if isinstance(error.__context__, URLError) else error
                reason = " ".join(str(cause).split())[:300] or type(cause).__name__
                if _nobody_answered(cause):
                    unreachable.add(host)
            if host in unreachable:
                return FetchError(f"{host} cannot be reached")
        return FetchError(f"{url}: {reason} ({self.settings.attempts} times)")


def ask_ucimlrepo(url: str, path: Path, known: str | None, settings: DataSettings, uci_id: int) -> None:
    """Write what ``ucimlrepo`` gives as a compressed CSV file with the header ``f1,...,fd,label``."""
    import pandas as pd
    import ucimlrepo

    ucimlrepo.fetch.API_BASE_URL = url.partition("?")[0]
    data = ucimlrepo.fetch_ucirepo(id=uci_id).data
    if data.features is None or data.targets is None or data.targets.shape[1] != 1:
        raise ValueError("its table has no features, or not exactly one target")
    table = pd.concat([data.features, data.targets], axis=1)
    names = [*(f"f{i}" for i in range(1, table.shape[1])), "label"]
    text = table.set_axis(names, axis=1).to_csv(index=False)
    write_atomically(path, gzip.compress(text.encode(), mtime=0))


def download(url: str, path: Path, known: str | None, settings: DataSettings, largest: int) -> None:
    """Let ``pooch`` download a file, check it, and put it into its place."""
    import pooch
    import requests

    def save(url: str, file: str, _: object) -> None:
        timeout = settings.connect_timeout, settings.read_timeout
        with requests.get(url, stream=True, timeout=timeout) as response, Path(file).open("wb") as stream:
            response.raise_for_status()
            for block in response.iter_content(2**16):
                stream.write(block)
                if stream.tell() > largest:
                    raise FetchError(f"{url}: more than {largest} bytes; refused")

    pooch.get_logger().setLevel("ERROR")
    pooch.retrieve(url, known, path.name, path.parent, downloader=save)


def _nobody_answered(error: BaseException) -> bool:
    import requests
    from urllib3.exceptions import MaxRetryError

    if isinstance(error, requests.RequestException):
        return isinstance(error, requests.Timeout) or isinstance((*error.args, None)[0], MaxRetryError)
    return isinstance(error, URLError | TimeoutError) and not isinstance(error, HTTPError)


def fetch_table(config: DatasetConfig, cache: Cache) -> Callable[[], Table]:
    """Fetch the table that ``ucimlrepo.fetch_ucirepo(id=...)`` gives."""
    if config.uci_id is None:
        raise FetchError(f"{config.name} has no number in UCI's repository")
    url = f"{cache.settings.uci_url.rstrip('/')}/api/dataset?id={config.uci_id}"
    path = cache.get(url, f"{config.name}.csv.gz", uci_id=config.uci_id)

    def read() -> Table:
        with open_file(path, config.largest_text() or LARGEST_FILE) as stream:
            return read_csv(stream, f"UCI's table of {config.name}", missing=config.missing)

    return read


def fetch_archive(config: DatasetConfig, cache: Cache) -> Callable[[], Table]:
    """Fetch the zip with UCI's own files."""
    original = config.original
    if original is None or original.archive is None:
        raise FetchError(f"{config.name} is not in UCI's archive")
    url = f"{cache.settings.uci_url.rstrip('/')}/static/public/{original.archive}"
    known = f"sha256:{original.sha256}" if original.sha256 else None
    name = url.rsplit("/", 1)[-1]
    path = cache.get(url, name, known, largest=archive_limit(config))
    return lambda: read_archive(config, path, name)


def fetch_openml(config: DatasetConfig, cache: Cache) -> Callable[[], Table]:
    """Fetch OpenML's description, and the arff file whose address, checksum and target it names."""
    if config.openml_id is None:
        raise FetchError(f"{config.name} has no number on OpenML")
    base = cache.settings.openml_url.rstrip("/")
    address = f"{base}/api/v1/json/data/{config.openml_id}"
    about = cache.get(address, f"{config.openml_id}", largest=_LARGEST_DESCRIPTION)
    try:
        description: dict[str, Any] = json.loads(about.read_bytes())["data_set_description"]
        url, md5 = base + urlsplit(description["url"]).path, description["md5_checksum"]
    except (ValueError, KeyError, TypeError):
        raise DataFormatError(f"OpenML's description of {config.name} makes no sense") from None
    path = cache.get(url, f"{config.name}.arff", f"md5:{md5}", largest=config.largest_text() or LARGEST_FILE)

    def read() -> Table:
        target = description.get("default_target_attribute")
        with path.open("rb") as stream:
            return read_arff(stream, f"OpenML's {config.name}", target, config.missing)

    return read


SERVICES = {"ucimlrepo": fetch_table, "archive": fetch_archive, "openml": fetch_openml}


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _noted(path: Path) -> str | None:
    try:
        return f"sha256:{json.loads(_note(path).read_text())['sha256']}"
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_kept(path: Path) -> bool:
    return path.is_file() and _noted(path) is not None


def _fits(path: Path, expected: str | None) -> bool:
    algorithm, _, digest = (expected or "").partition(":")
    return expected is None or file_digest(path, algorithm) == digest
