"""What is known of each dataset before a byte of it is read.

Kept free of heavy imports: the command line builds its configs from here before it knows whether
it will read any data at all.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from mloml.config.names import require_name
from mloml.errors import ConfigError, suggestion

SOURCES = ("local", "bundled", "generated", "ucimlrepo", "archive", "openml")
UCI = ("ucimlrepo", "archive")
GENERATORS = ("balance", "waveform")
LARGEST_FILE = 2 * 2**30
"""Bytes of a file that is fetched or read, whatever it says it is; PEMS-SF has 0.5 GB."""
LARGEST_DESCRIPTION = 4 * 2**20
"""Bytes of a service's description of a dataset."""
LONGEST_VALUE = 40
"""Characters of a number with its separator; the longest of the paper's sets has 20 on average."""


class _FromMapping:
    """Build a dataclass from a YAML mapping, with one-line errors for what does not fit."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], where: str = "") -> Self:
        """Return the dataclass with these fields; ``where`` names the group in error messages."""
        known = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
        for key in mapping:
            if key not in known:
                raise ConfigError(f"{where}{key}: no such key{suggestion(key, known)}")
        return cls(**mapping)


@dataclass(frozen=True)
class OriginalFiles(_FromMapping):
    """UCI's own files: their names, their format and the zip they come in.

    Parameters
    ----------
    archive : path of the zip below ``<uci_url>/static/public/``; None when UCI no longer serves it.
    files : names of the files, read one after the other.
    format : ``delimited`` (rows of comma separated values), ``arff``, ``xlsx`` (one sheet of features,
        one of labels), ``indicators`` (labels as the last columns, one of them +1) or ``pems``.
    label : ``first`` or ``last``, the column of the label.
    skip : number of leading columns that are no features, such as an identifier.
    sha256 : checksum of the zip, where one is known.
    """

    archive: str | None = None
    files: list[str] = field(default_factory=list)
    format: str = "delimited"
    label: str = "last"
    skip: int = 0
    sha256: str | None = None


@dataclass(frozen=True)
class DatasetConfig(_FromMapping):
    """One dataset of the catalogue: where it comes from and what it must look like.

    Parameters
    ----------
    name, title : as in ``dataset=<name>``, and as printed.
    sources : where it may come from, in this order (a folder of the user's always comes first).
    rows, features : expected shape; None leaves it open.
    class_counts : label -> number of rows, in the order in which labels are coded; a count may be None.
    aliases : how a source spells a label -> the label.
    missing : ``error``, or ``drop`` for leaving out rows with missing values.
    base, variant : a dataset made from another one, and how (see :mod:`mloml.datasets.variants`).
    original : UCI's own files.
    path, label : a file of one's own, and the column its labels are in.
    note : what to know about it; ``footnote`` is the short form, shown below tables.
    generator, draw : ``balance`` or ``waveform``, and the seed of another draw than the usual one.
    """

    name: str
    title: str = ""
    uci_id: int | None = None
    openml_id: int | None = None
    sources: list[str] = field(default_factory=list)
    rows: int | None = None
    features: int | None = None
    class_counts: dict[str, int | None] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    missing: str = "error"
    base: str | None = None
    variant: str | None = None
    original: OriginalFiles | None = None
    licence: str = ""
    note: str | None = None
    footnote: str | None = None
    path: str | None = None
    label: str | None = None
    generator: str | None = None
    draw: int | None = None

    def __post_init__(self) -> None:
        require_name("dataset.name", self.name)
        if isinstance(self.original, Mapping):
            original = OriginalFiles.from_mapping(self.original, "dataset.original.")
            object.__setattr__(self, "original", original)
        for source in self.sources:
            if source not in SOURCES:
                raise ConfigError(f"dataset.sources: '{source}' is none of {', '.join(SOURCES)}")
        if self.missing not in ("error", "drop"):
            raise ConfigError(f"dataset.missing: '{self.missing}' is neither error nor drop")
        if self.generator not in (None, *GENERATORS):
            raise ConfigError(f"dataset.generator={self.generator}: must be one of {', '.join(GENERATORS)}")
        if ("generated" in self.sources) != (self.generator is not None):
            raise ConfigError("dataset.generator: goes with the source 'generated', and only with it")
        object.__setattr__(self, "title", self.title or self.name)
        counts = {str(label): count for label, count in self.class_counts.items()}
        object.__setattr__(self, "class_counts", counts)
        aliases = {str(there): str(here) for there, here in self.aliases.items()}
        object.__setattr__(self, "aliases", aliases)

    def largest_text(self) -> int | None:
        """Return the bytes that a file of this dataset can have as text; None when its shape is left open.

        >>> catalogue()["iris"].largest_text()
        1102576
        """
        if self.rows is None or self.features is None:
            return None
        values = self.rows * (self.features + len(self.class_counts) + 2)
        return min(LARGEST_FILE, 2**20 + LONGEST_VALUE * values)


@dataclass(frozen=True)
class DataSettings(_FromMapping):
    """Where data may come from: a folder of the user's, the cache, the network.

    Parameters
    ----------
    dir : folder with files of the user's; default: the environment variable ``MLOML_DATA``.
    source : ``auto``; ``uci`` insists on UCI; or a single one: local, bundled, generated, ucimlrepo, archive,
        openml.
    offline : never touch the network; what was fetched before is still used.
    cache : folder for what is fetched; default: ``MLOML_CACHE``, else the platform's cache folder.
    uci_url, openml_url : the two services, or mirrors of them.
    connect_timeout, read_timeout : seconds until a host counts as unreachable, and a silence as broken.
    deadline : seconds until the download of a file is given up, all tries together.
    attempts, backoff : how often a download is tried, and seconds before the second try (then doubling).
    redirects : further hosts to which the two services may send us on; their own names need not be listed.
    largest_text : MB that a packed file of one's own may unpack to.
    """

    dir: str | None = None
    source: str = "auto"
    offline: bool = False
    cache: str | None = None
    uci_url: str = "https://archive.ics.uci.edu"
    openml_url: str = "https://www.openml.org"
    connect_timeout: float = 4.0
    read_timeout: float = 15.0
    deadline: float = 1800.0
    attempts: int = 3
    backoff: float = 0.5
    redirects: list[str] = field(default_factory=lambda: ["www.openml.org", "api.openml.org"])
    largest_text: float = 64.0

    def __post_init__(self) -> None:
        known = ("auto", "uci", *SOURCES)
        if self.source not in known:
            raise ConfigError(f"data.source: '{self.source}' is none of {', '.join(known)}")
        if self.attempts < 1:
            raise ConfigError(f"data.attempts: {self.attempts} is not a number of tries, 1 or more")
        for name in ("connect_timeout", "read_timeout", "deadline", "largest_text"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"data.{name}={getattr(self, name)}: must be a number, more than 0")

    def folder(self) -> Path | None:
        """Return the user's folder, or None; a folder that does not exist is an error."""
        given = self.dir or os.environ.get("MLOML_DATA")
        if not given:
            return None
        folder = Path(given).expanduser()
        if not folder.is_dir():
            origin = "data.dir" if self.dir else "MLOML_DATA"
            raise ConfigError(f"{origin}: '{given}' is no folder")
        return folder

    def cache_folder(self) -> Path:
        """Return the cache folder, which need not exist yet."""
        given = self.cache or os.environ.get("MLOML_CACHE")
        if given:
            return Path(given).expanduser()
        from platformdirs import user_cache_path

        return user_cache_path("mloml")


def catalogue(beside: Sequence[str] = ()) -> dict[str, DatasetConfig]:
    """Compose all dataset configs, by name, in the order of the paper's table 1.

    Parameters
    ----------
    beside : folders of configs of one's own, see :mod:`mloml.config.tree`.

    >>> catalogue()["balance"].class_counts
    {'L': 288, 'B': 49, 'R': 288}
    >>> list(catalogue())[:3]
    ['lsvt', 'iris', 'wine']
    """
    from mloml.config.tree import choices

    names = [name for name in choices("dataset", beside) if name != "csv"]  # a form, not a dataset
    return _compose(sorted(names, key=_paper_order), beside)


def dataset_config(name: str, beside: Sequence[str] = ()) -> DatasetConfig:
    """Compose one dataset's config."""
    return _compose([name], beside)[name]


def _compose(names: list[str], beside: Sequence[str]) -> dict[str, DatasetConfig]:
    from omegaconf import OmegaConf

    from mloml.config.tree import compose_members

    configs = {}
    for name, node in compose_members("dataset", names, beside).items():
        mapping: Any = OmegaConf.to_container(node)
        configs[name] = DatasetConfig.from_mapping(mapping, f"dataset/{name}.yaml: ")
    return configs


_PAPER = (
    *("lsvt", "iris", "wine", "spect", "ionosphere", "pems"),
    *("balance", "breast", "pima", "diabetic", "waveform", "mlprove"),
)


def _paper_order(name: str) -> tuple[int, str]:
    base = name.removesuffix("_paper")
    return (_PAPER.index(base) if base in _PAPER else len(_PAPER), name)
