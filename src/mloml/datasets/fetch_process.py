"""A process of its own that fetches one file, and can be ended when the time is over.

A host that sends a byte now and then would hold ``requests`` for ever; ``ucimlrepo`` has no timeout at all
and calls every failure "Error connecting to server". Called as ``python fetch_process.py REQUEST``, where the
request is what :mod:`mloml.datasets.fetch` writes as JSON.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

# Exit code when nobody answers; after any other failure it is 1. Standard error has the reason.
UNREACHABLE = 3


def main(request: dict[str, Any]) -> int:
    """Fetch what the request asks for, with retries."""
    socket.setdefaulttimeout(request["timeout"][1])
    reason = ""
    for attempt in range(request["attempts"]):
        time.sleep(request["backoff"] * (2**attempt - 1))
        try:
            ask_ucimlrepo(request) if "uci_id" in request else download(request)
            return 0
        except Exception as error:  # whatever the answer made the libraries stumble over
            cause = error.__context__ if isinstance(error.__context__, URLError) else error
            reason = " ".join(str(cause).split())[:300] or type(cause).__name__
            if _nobody_answered(cause):
                return UNREACHABLE
    print(f"{reason} ({request['attempts']} times)", file=sys.stderr)
    return 1


def ask_ucimlrepo(request: dict[str, Any]) -> None:
    """Write what ``ucimlrepo`` gives as a compressed CSV file with the header ``f1,...,fd,label``."""
    import pandas as pd
    import ucimlrepo

    ucimlrepo.fetch.API_BASE_URL = request["url"].partition("?")[0]
    data = ucimlrepo.fetch_ucirepo(id=request["uci_id"]).data
    if data.features is None or data.targets is None or data.targets.shape[1] != 1:
        raise ValueError("its table has no features, or not exactly one target")
    table = pd.concat([data.features, data.targets], axis=1)
    names = [*(f"f{i}" for i in range(1, table.shape[1])), "label"]
    packing = {"method": "gzip", "mtime": 0}
    table.set_axis(names, axis=1).to_csv(request["file"], index=False, compression=packing)


def download(request: dict[str, Any]) -> None:
    """Let ``pooch`` download a file and check it."""
    import pooch
    import requests

    def save(url: str, file: str, _: object) -> None:
        timeout, largest = tuple(request["timeout"]), request["largest"]
        with requests.get(url, stream=True, timeout=timeout) as response, Path(file).open("wb") as stream:
            response.raise_for_status()
            for block in response.iter_content(2**16):
                stream.write(block)
                if stream.tell() > largest:
                    sys.exit(f"more than {largest} bytes; refused")

    pooch.get_logger().setLevel("ERROR")
    file = Path(request["file"])
    pooch.retrieve(request["url"], request["known"], file.name, file.parent, downloader=save)


def _nobody_answered(error: BaseException) -> bool:
    import requests
    from urllib3.exceptions import MaxRetryError

    if isinstance(error, requests.RequestException):
        return isinstance(error, requests.Timeout) or isinstance((*error.args, None)[0], MaxRetryError)
    return isinstance(error, URLError | TimeoutError) and not isinstance(error, HTTPError)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
