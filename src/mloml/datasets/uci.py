"""UCI's repository: the tables that ``ucimlrepo`` offers, and the zips of its archive.

``ucimlrepo`` itself has no timeout, no retries and no cache, and turns every failure into "Error connecting
to server". Its two requests, a description in JSON and a CSV file, are made here by our own downloader;
where they go and what a description means is the package's.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mloml.datasets.catalogue import LARGEST_DESCRIPTION, LARGEST_FILE, DatasetConfig
from mloml.datasets.download import Downloader, FetchError, read_description
from mloml.datasets.original import locate_within, read_original
from mloml.datasets.parsers import text_lines
from mloml.datasets.table import Table, read_table
from mloml.datasets.unpack import open_archive
from mloml.errors import DataFormatError

LARGEST_EXTRAS = 64 * 2**20  # bytes of what else a zip may hold: descriptions, papers, earlier versions


def fetch_table(config: DatasetConfig, downloader: Downloader) -> dict[str, Path]:
    """Fetch the description and the CSV file that ``ucimlrepo.fetch_ucirepo(id=...)`` would."""
    from ucimlrepo.fetch import API_BASE_URL

    if config.uci_id is None:
        raise FetchError(f"{config.name} has no number in UCI's repository")
    base = downloader.settings.uci_url.rstrip("/")
    about = f"{base}{urlsplit(API_BASE_URL).path}?id={config.uci_id}"
    path = downloader.fetch(about, largest=LARGEST_DESCRIPTION)
    description = _description(path)
    # the host is ours to choose: a description cannot send us elsewhere
    address = base + urlsplit(str(description.get("data_url") or "")).path
    if address == base:
        raise FetchError(f"UCI offers no table for {config.name}, only its archive")
    return {about: path, address: downloader.fetch(address, largest=config.largest_text() or LARGEST_FILE)}


def read_fetched_table(config: DatasetConfig, paths: list[Path]) -> Table:
    """Read the CSV file: features and target as their roles in the description say."""
    about, data = paths
    variables = _description(about).get("variables") or []
    roles = {str(v.get("name")): v.get("role") for v in variables if isinstance(v, dict)}
    features = [name for name, role in roles.items() if role == "Feature"]
    targets = [name for name, role in roles.items() if role == "Target"]
    where = f"UCI's table of {config.name}"
    if len(targets) != 1 or not features:
        raise DataFormatError(
            f"{where}: {len(features)} features and {len(targets)} targets in its description"
        )
    with data.open("rb") as stream:
        reader = csv.reader(text_lines(stream, where), skipinitialspace=True)
        header = [name.strip() for name in next(reader, [])]
        absent = [name for name in (*features, *targets) if name not in header]
        if absent:
            raise DataFormatError(f"{where}: no column '{absent[0]}'")
        wanted = [header.index(name) for name in (*features, *targets)]
        rows = _selected(reader, wanted, len(header), where)
        names = [*features, *targets]
        return read_table(enumerate(rows, 2), names, label=-1, missing=config.missing, where=where)


def fetch_archive(config: DatasetConfig, downloader: Downloader) -> dict[str, Path]:
    """Fetch the zip with UCI's own files."""
    if config.original is None or config.original.archive is None:
        raise FetchError(f"{config.name} is not in UCI's archive")
    address = f"{downloader.settings.uci_url.rstrip('/')}/static/public/{config.original.archive}"
    largest = min(LARGEST_FILE, LARGEST_EXTRAS + (config.largest_text() or LARGEST_FILE))
    return {address: downloader.fetch(address, sha256=config.original.sha256, largest=largest)}


def read_archive(config: DatasetConfig, paths: list[Path]) -> Table:
    """Read the dataset out of the zip."""
    assert config.original is not None
    where = str(config.original.archive).rsplit("/", 1)[-1]
    with paths[0].open("rb") as stream:
        return read_original(config, *locate_within(open_archive(stream, where), config.original))


def _description(path: Path) -> dict[str, Any]:
    return read_description(path, "UCI", "data")


def _selected(rows: Iterator[list[str]], wanted: list[int], width: int, where: str) -> Iterator[list[str]]:
    for number, row in enumerate(rows, 2):
        if row and len(row) != width:
            raise DataFormatError(f"{where}, line {number}: {len(row)} values instead of {width}")
        if row:
            yield [row[i] for i in wanted]
