"""OpenML: a description in JSON that names an arff file, its checksum and its target."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mloml.datasets.catalogue import LARGEST_DESCRIPTION, LARGEST_FILE, DatasetConfig
from mloml.datasets.download import Downloader, FetchError, read_description
from mloml.datasets.parsers import read_arff
from mloml.datasets.table import Table


def fetch(config: DatasetConfig, downloader: Downloader) -> dict[str, Path]:
    """Fetch the description and the arff file."""
    if config.openml_id is None:
        raise FetchError(f"{config.name} has no number on OpenML")
    base = downloader.settings.openml_url.rstrip("/")
    about = f"{base}/api/v1/json/data/{config.openml_id}"
    path = downloader.fetch(about, largest=LARGEST_DESCRIPTION)
    description = _description(path)
    address = base + urlsplit(str(description.get("url") or "")).path
    if address == base:
        raise FetchError(f"OpenML names no file for {config.name}")
    md5 = description.get("md5_checksum")
    largest = config.largest_text() or LARGEST_FILE
    return {about: path, address: downloader.fetch(address, md5=str(md5) if md5 else None, largest=largest)}


def read(config: DatasetConfig, paths: list[Path]) -> Table:
    """Read the arff file."""
    about, data = paths
    target = _description(about).get("default_target_attribute")
    with data.open("rb") as stream:
        where = f"OpenML's {config.name}"
        return read_arff(stream, label=str(target) if target else None, missing=config.missing, where=where)


def _description(path: Path) -> dict[str, Any]:
    return read_description(path, "OpenML", "data_set_description")
