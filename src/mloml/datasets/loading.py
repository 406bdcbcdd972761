"""Loading a dataset from the first source that has it.

The order: a folder of the user's; then the config's ``sources`` in turn. Before the first of them that
needs the network is asked, all of them are asked for what was fetched earlier. Bundled files therefore come
before the cache: their values are UCI's, and for iris, where they are not, the numbers should not depend on
what somebody fetched last month.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator

from mloml.datasets import bundled, generated
from mloml.datasets.catalogue import UCI, DatasetConfig, DataSettings, dataset_config
from mloml.datasets.dataset import Dataset
from mloml.datasets.local import find_local, load_local, load_own, own_path
from mloml.datasets.network import NETWORK, FetchError, NotFetchedError
from mloml.datasets.variants import derive
from mloml.errors import ConfigError, DataFormatError, DatasetUnavailableError

_log = logging.getLogger(__name__)


def load(config: DatasetConfig, settings: DataSettings | None = None) -> Dataset:
    """Return the dataset, checked against its config.

    >>> from mloml.datasets import catalogue
    >>> data = load(catalogue()["balance"], DataSettings(source="generated"))
    >>> data.X.shape, data.labels, data.source
    ((625, 4), ['L', 'B', 'R'], 'generated')
    """
    settings = settings or DataSettings()
    if config.base is not None:
        return derive(config, load(dataset_config(config.base), settings))
    if config.path is not None:
        return load_own(config, settings)
    if not config.sources:
        raise ConfigError(f"dataset.path: dataset={config.name} needs the file to read, dataset.path=FILE")
    reasons: dict[str, str] = {}
    for source, offline in _attempts(config, settings):
        try:
            return _load_from(source, config, dataclasses.replace(settings, offline=offline))
        except FetchError as error:
            reasons[source] = str(error)
            if not isinstance(error, NotFetchedError):
                _log.info("%s from %s: %s", config.name, source, error)
        except DataFormatError as error:
            if source not in NETWORK:
                raise
            reasons[source] = str(error)
            _log.warning("%s from %s cannot be used: %s", config.name, source, error)
    raise DatasetUnavailableError(_explanation(config, settings, reasons))


def pin(dataset: Dataset, settings: DataSettings) -> DataSettings:
    """Return settings that give this very dataset again without the network.

    For worker processes, wherever they start: what was found, or found out of reach, is not looked for again.
    """
    folder = settings.folder()
    return dataclasses.replace(
        settings,
        source=dataset.source,
        offline=True,
        dir=str(folder.resolve()) if folder else None,
        cache=str(settings.cache_folder().resolve()),
    )


@dataclasses.dataclass(frozen=True)
class Availability:
    """Where a dataset would come from: a place on this machine (or ""), and a service asked before it."""

    here: str = ""
    network: str = ""


def availability(config: DatasetConfig, settings: DataSettings) -> Availability:
    """Tell where the dataset would come from, without reading or fetching it."""
    if config.base is not None:
        return availability(dataset_config(config.base), settings)
    if config.path is not None:
        return Availability("your file" if own_path(config).is_file() else "")
    network = ""
    for source, offline in _attempts(config, settings):
        if source not in NETWORK:
            regenerated = source == "generated" and config.sources[0] != source
            return Availability("regenerated" if regenerated else source, network)
        if NETWORK[source].is_cached(config, settings):
            return Availability(f"cache ({source})", network)
        network = network or ("" if offline else source)
    return Availability(network=network)


def sources_of(config: DatasetConfig, settings: DataSettings) -> list[str]:
    """Return the sources that ``data.source`` allows for this dataset, in order."""
    if settings.source == "auto":
        return ["local", *config.sources]
    wanted = UCI if settings.source == "uci" else (settings.source,)
    return [source for source in ("local", *config.sources) if source in wanted]


def _attempts(config: DatasetConfig, settings: DataSettings) -> Iterator[tuple[str, bool]]:
    """Yield (source, offline) in the order in which they are tried."""
    sources = sources_of(config, settings)
    remote = [source for source in sources if source in NETWORK]
    asked_cache = False
    for source in sources:
        if source == "local":
            folder = settings.folder()
            if folder is not None and find_local(config, folder):
                yield source, True
        elif source not in NETWORK:
            yield source, True
        else:
            if not asked_cache:
                yield from ((name, True) for name in remote)
                asked_cache = True
            if not settings.offline:
                yield source, False


def _load_from(source: str, config: DatasetConfig, settings: DataSettings) -> Dataset:
    if source == "local":
        return load_local(config, settings)
    if source == "bundled":
        return bundled.load_bundled(config)
    if source == "generated":
        return generated.load_generated(config)
    return NETWORK[source].load(config, settings)


def _explanation(config: DatasetConfig, settings: DataSettings, reasons: dict[str, str]) -> str:
    if not sources_of(config, settings):
        have = ", ".join(["local", *config.sources])
        return f"{config.name} has no source '{settings.source}' (data.source); it has {have}"
    files = ", ".join(config.original.files) if config.original else ""
    provide = f"put {config.name}.csv{f' or {files}' if files else ''} into a folder and set MLOML_DATA to it"
    if settings.source == "local":
        return f"{config.name} is not in the folder of MLOML_DATA or data.dir: {provide}"
    why = "; ".join(dict.fromkeys(reasons.values())) or "nothing fetched"
    return (
        f"{config.name} is missing ({why}): {provide}, or run `mloml data fetch {config.name}` with a network"
    )
