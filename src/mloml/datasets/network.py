"""The sources that need a network, and what they have in common: fetch files, read them, check them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mloml.datasets import openml, uci
from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.datasets.dataset import Dataset, make_dataset
from mloml.datasets.download import Downloader, FetchError, NotFetchedError
from mloml.datasets.local import file_digest
from mloml.datasets.remember import remembered
from mloml.datasets.table import Table
from mloml.errors import DataFormatError

__all__ = ["NETWORK", "FetchError", "NetworkSource", "NotFetchedError"]


@dataclass(frozen=True)
class NetworkSource:
    """One service: how its files are fetched, and how they are read."""

    name: str
    fetch: Callable[[DatasetConfig, Downloader], dict[str, Path]]
    read: Callable[[DatasetConfig, list[Path]], Table]

    def load(self, config: DatasetConfig, settings: DataSettings) -> Dataset:
        """Fetch what is not in the cache, and read it."""
        downloader = Downloader(settings)
        try:
            fetched = self.fetch(config, downloader)
            paths = list(fetched.values())
            digests = [file_digest(path) for path in paths]
            table = remembered(config, digests, paths, settings, lambda: self.read(config, paths))
            provenance = {"files": dict(zip(fetched, digests, strict=True))}
            return make_dataset(config, table, self.name, provenance)
        except DataFormatError:
            # a login page or an error text with status 200 must not stay in the cache
            for path in downloader.used:
                downloader.discard(path)
            raise

    def is_cached(self, config: DatasetConfig, settings: DataSettings) -> bool:
        """Tell whether everything needed has been fetched before."""
        try:
            self.fetch(config, Downloader(dataclasses.replace(settings, offline=True)))
        except (FetchError, DataFormatError):
            return False
        return True


NETWORK = {
    "ucimlrepo": NetworkSource("ucimlrepo", uci.fetch_table, uci.read_fetched_table),
    "archive": NetworkSource("archive", uci.fetch_archive, uci.read_archive),
    "openml": NetworkSource("openml", openml.fetch, openml.read),
}
