"""One request to a host that nobody vouches for: where it may send us, how long, and how much."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, TypeVar
from urllib.parse import SplitResult, urljoin, urlsplit

from mloml.datasets.catalogue import DataSettings
from mloml.datasets.progress import progress
from mloml.errors import MlomlError

if TYPE_CHECKING:
    import requests

T = TypeVar("T")

_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_MOST_REDIRECTS = 5
_PORTS = {"http": 80, "https": 443}
unreachable: dict[str, str] = {}  # host -> why, for the rest of the process


class FetchError(MlomlError):
    """Something could not be fetched; the message says what and why."""


class UnreachableError(FetchError):
    """The host does not answer; it is not asked again in this process."""


class PassingError(Exception):
    """A failure that may be gone at the next try."""


class Request:
    """A file to be fetched before a deadline.

    Parameters
    ----------
    url : str
    settings : DataSettings
    end : float
        The deadline, as ``time.monotonic()`` will show it.
    largest : int
        More bytes are refused.
    """

    def __init__(self, url: str, settings: DataSettings, end: float, largest: int) -> None:
        self.url, self.settings, self.end, self.largest = url, settings, end, largest

    def save(self, stream: IO[bytes], name: str) -> dict[str, str]:
        """Write the body to ``stream`` and return its checksums.

        In a thread of its own, because neither the look-up of a name nor the lines before the body know of a
        timeout for the whole: a host that sends a byte now and then would hold us for ever.
        """
        left = self.end - time.monotonic()
        return _within(left, lambda: self._save(stream, name), self._too_slow)

    def _save(self, stream: IO[bytes], name: str) -> dict[str, str]:
        with self._open() as response:
            return self._copy(response, stream, name)

    def _open(self) -> requests.Response:
        """Return the answer of the host, or of one that it may send us to."""
        url = self.url
        for _ in range(_MOST_REDIRECTS):
            response = self._get(url)
            if not response.is_redirect:
                return _checked(response)
            response.close()
            target = urljoin(url, response.headers["Location"])
            self._require_known(url, target)
            url = target
        raise FetchError(f"{self.url}: more than {_MOST_REDIRECTS} redirects")

    def _get(self, url: str) -> requests.Response:
        """Ask once; tell a host that is not there from one that stumbled."""
        import requests
        from urllib3.exceptions import ProtocolError

        timeout = (self.settings.connect_timeout, self.settings.read_timeout)
        headers = {"Accept-Encoding": "identity"}
        try:
            return requests.get(url, stream=True, timeout=timeout, headers=headers, allow_redirects=False)
        except requests.ConnectionError as error:
            if error.args and isinstance(error.args[0], ProtocolError):
                raise PassingError("connection closed without an answer") from None
            raise _dead(url, "cannot be reached") from None
        except requests.Timeout:
            raise _dead(url, f"does not answer within {self.settings.read_timeout:g} s") from None
        except (requests.RequestException, ValueError) as error:
            raise FetchError(f"{url}: {error}") from None

    def _require_known(self, url: str, target: str) -> None:
        """Refuse a redirect to another host, unless the config lists it, and from https to http."""
        try:
            here, there = urlsplit(url), urlsplit(target)
            own = (here.hostname, _port(here)), (urlsplit(self.url).hostname, _port(urlsplit(self.url)))
            place = there.hostname, _port(there)
        except ValueError:
            raise FetchError(f"{url}: sends us to '{target}', which is no address") from None
        upgraded = here.hostname == there.hostname and (_port(here), _port(there)) == (80, 443)
        listed = there.netloc in self.settings.redirects or (
            there.hostname in self.settings.redirects and there.port is None
        )
        safe = there.scheme == "https" or (there.scheme == "http" and here.scheme == "http")
        if not (safe and (place in own or upgraded or listed)):
            raise FetchError(f"{url}: sends us to {target}; refused (allowed: its own host, data.redirects)")

    def _copy(self, response: requests.Response, stream: IO[bytes], name: str) -> dict[str, str]:
        """Copy the body; too short or too long is an error."""
        import requests
        from urllib3.exceptions import HTTPError

        announced = self._announced(response)
        sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
        try:
            with progress(name, announced) as advance:
                while block := response.raw.read1(2**18, decode_content=True):
                    stream.write(block)
                    sha256.update(block)
                    md5.update(block)
                    size += len(block)
                    advance(len(block))
                    if size > self.largest:
                        raise FetchError(f"{response.url}: more than {self.largest} bytes; refused")
                    if time.monotonic() > self.end:
                        raise self._too_slow()
        except (requests.RequestException, HTTPError, OSError):
            raise PassingError(f"transfer broke off after {size} bytes") from None
        if announced and size != announced:
            raise PassingError(f"{size} of {announced} bytes arrived")
        return {"sha256": sha256.hexdigest(), "md5": md5.hexdigest()}

    def _announced(self, response: requests.Response) -> int:
        text = response.headers.get("Content-Length", "0")[:30]
        if not (text.isascii() and text.isdigit()):
            raise FetchError(f"{response.url}: announces a length of '{text}', which is no number")
        if int(text) > self.largest:
            raise FetchError(f"{response.url}: announces {text} bytes; refused (at most {self.largest})")
        return int(text)

    def _too_slow(self) -> FetchError:
        return FetchError(f"{self.url}: not fetched within {self.settings.deadline:g} s (data.deadline)")


def _checked(response: requests.Response) -> requests.Response:
    if response.status_code in _TRY_AGAIN:
        raise PassingError(f"status {response.status_code}")
    if response.status_code != 200:
        raise FetchError(f"{response.url}: status {response.status_code}")
    return response


def _port(parts: SplitResult) -> int | None:
    return parts.port or _PORTS.get(parts.scheme)


def _dead(url: str, why: str) -> UnreachableError:
    host = urlsplit(url).netloc
    unreachable[host] = f"{host} {why}"
    return UnreachableError(unreachable[host])


def _within(seconds: float, work: Callable[[], T], too_slow: Callable[[], Exception]) -> T:
    """Return what ``work`` does in a thread; when it takes too long, leave it and raise ``too_slow()``."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised where the caller is
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if errors:
        raise errors[0]
    if not results:
        raise too_slow()
    return results[0]
