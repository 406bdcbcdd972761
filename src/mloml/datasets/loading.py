"""The catalogue of data sets, and loading one from the first source that has it.

The order: a folder of the user's; then the config's ``sources`` in turn. Before the first of them that
needs the network is asked, all of them are asked for what was fetched earlier. Bundled files therefore come
before the cache: their values are UCI's, and for iris, where they are not, the numbers should not depend on
what somebody fetched last month.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath

from mloml.config.schema import OWN, DatasetConfig, DataSettings
from mloml.datasets.dataset import Dataset, Table, make_dataset
from mloml.datasets.fetch import SERVICES, Cache, FetchError
from mloml.datasets.generated import derive, load_bundled, load_generated
from mloml.datasets.original import file_digest, folder_files, open_file, read_archive, read_original
from mloml.datasets.read import read_arff, read_csv
from mloml.errors import ConfigError, DataFormatError, DatasetUnavailableError, MlomlError

# The files of a data set, by path or address, and what reads them.
Found = tuple[Mapping[str, Path], Callable[[], Table]]

_SUFFIXES = (".csv", ".csv.gz", ".csv.xz", ".tsv", ".tsv.gz", ".tsv.xz")


def catalogue(folders: Sequence[str] = ()) -> dict[str, DatasetConfig]:
    """Return the configs of all data sets by name.

    Parameters
    ----------
    folders : folders of configs of one's own, see :mod:`mloml.config.compose`.

    >>> catalogue()["balance"].class_counts
    {'L': 288, 'B': 49, 'R': 288}
    """
    from mloml.config.compose import choices, compose_datasets

    names = [name for name in choices("dataset", folders) if name != OWN]  # a form, not a data set
    return compose_datasets(names, folders)


def load(config: DatasetConfig, settings: DataSettings | None = None) -> Dataset:
    """Return the data set, checked against its config.

    >>> from mloml.datasets import catalogue
    >>> data = load(catalogue()["balance"], DataSettings(source="generated"))
    >>> data.X.shape, data.labels, data.source
    ((625, 4), ['L', 'B', 'R'], 'generated')
    """
    settings = settings or DataSettings()
    if config.base is not None:
        return derive(config, load(_base(config), settings))
    if config.path is not None:
        return _load_own(config, settings)
    if not config.sources:
        raise ConfigError(f"dataset.path: dataset={config.name} needs the file to read, dataset.path=FILE")
    reasons: list[str] = []
    for source, offline in _attempts(config, settings):
        try:
            return _load_from(source, config, dataclasses.replace(settings, offline=offline))
        except (FetchError, DataFormatError) as error:
            if source not in SERVICES:
                raise
            reasons.append(str(error))
    raise DatasetUnavailableError(_explanation(config, settings, reasons))


def pin(dataset: Dataset, settings: DataSettings) -> DataSettings:
    """Return settings that give this very data set again without the network.

    For worker processes, wherever they start: what was found, or found out of reach, is not looked for again.
    """
    folder, cache = settings.folder(), str(settings.cache_folder().resolve())
    home = str(folder.resolve()) if folder else None
    return dataclasses.replace(settings, source=dataset.source, offline=True, dir=home, cache=cache)


def availability(config: DatasetConfig, settings: DataSettings) -> str:
    """Tell in a word where the data set would come from, without fetching it."""
    if config.base is not None:
        return availability(_base(config), settings)
    if config.path is not None:
        return "your file" if Path(config.path).expanduser().is_file() else "missing"
    first = ""
    for source, offline in _attempts(config, settings):
        if source not in SERVICES:
            regenerated = source == "generated" and config.sources[0] != source
            return f"{'regenerated' if regenerated else source}{', or fetch it' if first else ''}"
        if _is_cached(source, config, settings):
            return f"cache ({source})"
        first = first or ("" if offline else source)
    return "not yet, fetch it" if first else "missing"


def sources_of(config: DatasetConfig, settings: DataSettings) -> list[str]:
    """Return the sources that ``data.source`` allows for this data set, in order."""
    allowed = {"auto": ["local", *config.sources], "uci": ["ucimlrepo", "archive"]}
    wanted = allowed.get(settings.source, [settings.source])
    return [source for source in ("local", *config.sources) if source in wanted]


def _attempts(config: DatasetConfig, settings: DataSettings) -> Iterator[tuple[str, bool]]:
    """Yield (source, offline) in the order in which they are tried."""
    sources = sources_of(config, settings)
    remote = [source for source in sources if source in SERVICES]
    for source in sources:
        if remote[:1] == [source]:
            yield from ((name, True) for name in remote)
        if source not in SERVICES and (source != "local" or _find_local(config, settings)):
            yield source, True
        elif source in SERVICES and not settings.offline:
            yield source, False


def _load_from(source: str, config: DatasetConfig, settings: DataSettings) -> Dataset:
    if source == "bundled":
        return load_bundled(config)
    if source == "generated":
        return load_generated(config)
    if source == "local" and (found := _find_local(config, settings)):
        return _load_files(config, source, found)
    cache = Cache(settings)
    try:
        return _load_files(config, source, (cache.used, SERVICES[source](config, cache)))
    except DataFormatError:
        cache.forget()
        raise


def _load_own(config: DatasetConfig, settings: DataSettings) -> Dataset:
    path = Path(str(config.path)).expanduser()
    if not path.is_file():
        raise DatasetUnavailableError(f"dataset.path: '{config.path}' is not a file")
    known = (*_SUFFIXES, ".arff")
    if not path.name.endswith(known):
        raise DataFormatError(f"dataset.path: '{config.path}' is none of {', '.join(known)}")
    return _load_files(config, "local", _found([path], _read_table, config, path, settings))


def _find_local(config: DatasetConfig, settings: DataSettings) -> Found | None:
    """Look for a data set in the user's folder: as a table, as UCI's own files, or as UCI's zip."""
    folder = settings.folder()
    if folder is None:
        return None
    for path in (folder / f"{config.name}{suffix}" for suffix in _SUFFIXES):
        if path.is_file():
            return _found([path], _read_table, config, path, settings)
    if config.original is None:
        return None
    files = folder_files(folder)
    if names := files.find_all(config.original):
        return _found([folder / name for name in names], read_original, config, files, names)
    for path in (folder / name for name in files.openers if _is_archive_of(config, name)):
        return _found([path], read_archive, config, path, str(path))
    return None


def _found(paths: list[Path], read: Callable[..., Table], *arguments: object) -> Found:
    return {str(path): path for path in paths}, partial(read, *arguments)


def _read_table(config: DatasetConfig, path: Path, settings: DataSettings) -> Table:
    limit = config.largest_text() or int(settings.largest_text * 2**20)
    with open_file(path, limit if path.suffix in (".gz", ".xz") else None) as stream:
        read = read_arff if path.suffix == ".arff" else read_csv
        if ".tsv" in path.suffixes:
            read = partial(read_csv, separators="\t")
        return read(stream, str(path), label=config.label, missing=config.missing, ignore=config.ignore)


def _load_files(config: DatasetConfig, source: str, found: Found) -> Dataset:
    files, read = found
    digests = {name: file_digest(path) for name, path in files.items()}
    return make_dataset(config, read(), source, {"files": digests})


def _is_cached(source: str, config: DatasetConfig, settings: DataSettings) -> bool:
    with suppress(MlomlError):
        return bool(SERVICES[source](config, Cache(dataclasses.replace(settings, offline=True))))
    return False


def _is_archive_of(config: DatasetConfig, name: str) -> bool:
    """Compare letters and digits only: ``PEMS-SF.zip`` and ``pems+sf.zip`` are the same archive."""
    archive = (config.original and config.original.archive) or ""
    known = (name, f"{config.name}.zip", f"{config.name}.tar.gz", archive)
    first, *others = ("".join(filter(str.isalnum, PurePosixPath(path).name.lower())) for path in known)
    return first in others


def _base(config: DatasetConfig) -> DatasetConfig:
    from mloml.config.compose import compose_datasets

    return compose_datasets([str(config.base)])[str(config.base)]


def _explanation(config: DatasetConfig, settings: DataSettings, reasons: list[str]) -> str:
    if not sources_of(config, settings):
        have = ", ".join(["local", *config.sources])
        return f"{config.name} has no source '{settings.source}' (data.source); it has {have}"
    files = ", ".join(config.original.files) if config.original else ""
    provide = f"put {config.name}.csv{f' or {files}' if files else ''} into a folder and set MLOML_DATA to it"
    if settings.source == "local":
        return f"{config.name} is not in the folder of MLOML_DATA or data.dir: {provide}"
    why = "; ".join(dict.fromkeys(reasons)) or "nothing fetched"
    fetch = f"run `mloml data fetch {config.name}` with a network"
    return f"{config.name} is missing ({why}): {provide}, or {fetch}"
