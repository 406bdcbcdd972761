"""Structured configs: what a dataset, a protocol, an algorithm, an execution and a study consist of.

These dataclasses are plain data. They know types and ranges; Hydra composes them
(see :mod:`mloml.config.compose`), and everything downstream receives them validated.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from mloml.errors import ConfigError, require

SOURCES = ("local", "bundled", "generated", "ucimlrepo", "archive", "openml")
GENERATORS = ("balance", "waveform", "sea", "agrawal", "stagger", "led", "rbf", "hyperplane")
OWN = "csv"  # the form for a file of one's own, which has the file's name unless it is given another
LONGEST_NAME = 80


def require_name(key: str, value: object) -> None:
    """Refuse a name that could leave its folder, hide in it, or mean something to a shell.

    >>> require_name("dataset.name", "../mine")
    Traceback (most recent call last):
    mloml.errors.ConfigError: dataset.name='../mine': must be letters, digits, '_', '-', and '.' but not first
    """
    fits = isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}", value, re.ASCII)
    shown = repr(value) if len(str(value)) <= 100 else f"'{str(value)[:20]}… (over 100 characters)'"
    require(bool(fits), key, shown, "letters, digits, '_', '-', and '.' but not first")


@dataclass(frozen=True)
class _Checked:
    """Fields that know what they may hold; null always passes, where the type allows it."""

    _key: ClassVar[str]

    def __post_init__(self) -> None:
        for each in fields(self):
            value, (holds, allowed) = getattr(self, each.name), each.metadata.get("check", (None, ""))
            if holds is not None and value is not None:
                require(holds(value), f"{self._key}.{each.name}", value, allowed)


def _checked(default: Any, holds: Callable[[Any], bool], allowed: str) -> Any:
    return field(default=default, metadata={"check": (holds, allowed)})


def _at_least(least: int, default: int | None) -> Any:
    return _checked(default, lambda value: value >= least, f"a whole number, at least {least}")


def _positive(default: float | None) -> Any:
    return _checked(default, lambda value: value > 0, "a number, more than 0")


def _one_of(known: Sequence[str], default: str | None) -> Any:
    return _checked(default, lambda value: value in known, f"one of {', '.join(known)}")


@dataclass  # not frozen: OmegaConf does not merge into a frozen one that is None at first
class OriginalFiles:
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
class DatasetConfig(_Checked):
    """One dataset of the catalogue: where it comes from and what it must look like.

    Parameters
    ----------
    name, title : as in ``dataset=<name>``, and as printed.
    sources : where it may come from, in this order (a folder of the user's always comes first).
    rows, features : expected shape; None leaves it open.
    class_counts : label -> number of rows, in the order in which labels are coded; a count may be None.
    aliases : how a source spells a label -> the label.
    missing : ``error``, or ``drop`` for leaving out rows with missing values.
    base, variant : a dataset made from another one, and how (see ``mloml/datasets/generated.py``).
    original : UCI's own files.
    path, label, ignore : a file of one's own, the column its labels are in, and columns to leave out.
    note : what to know about it; ``footnote`` is the short form, shown below tables.
    generator, draw : one of ``GENERATORS``, and the seed of another draw than the usual one.
    """

    _key = "dataset"
    name: str
    title: str = ""
    uci_id: int | None = None
    openml_id: int | None = None
    sources: list[str] = field(default_factory=list)
    rows: int | None = None
    features: int | None = None
    class_counts: dict[str, int | None] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    missing: str = _one_of(("error", "drop"), "error")
    base: str | None = None
    variant: str | None = None
    original: OriginalFiles | None = None
    licence: str = ""
    note: str | None = None
    footnote: str | None = None
    path: str | None = None
    label: str | None = None
    ignore: list[str] = field(default_factory=list)
    generator: str | None = _one_of(GENERATORS, None)
    draw: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_name("dataset.name", self.name)
        for source in self.sources:
            require(source in SOURCES, "dataset.sources", source, f"one of {', '.join(SOURCES)}")
        if ("generated" in self.sources) != (self.generator is not None):
            raise ConfigError("dataset.generator: goes with the source 'generated', and only with it")
        if self.ignore and self.sources:
            raise ConfigError(f"dataset.ignore={self.ignore}: must be empty but for a file of your own")
        if self.name == OWN and self.path:
            stem = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(self.path).name.split(".")[0])
            object.__setattr__(self, "name", stem[:LONGEST_NAME] or OWN)
        object.__setattr__(self, "title", self.title or self.name)

    def largest_text(self) -> int | None:
        """Return the bytes that a file of this dataset can have as text; None when its shape is left open."""
        if self.rows is None or self.features is None:
            return None
        return min(2**31, 2**20 + 40 * self.rows * (self.features + len(self.class_counts) + 2))


@dataclass(frozen=True)
class DataSettings(_Checked):
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
    largest_text : MB that a packed file of one's own may unpack to.
    """

    _key = "data"
    dir: str | None = None
    source: str = _one_of(("auto", "uci", *SOURCES), "auto")
    offline: bool = False
    cache: str | None = None
    uci_url: str = "https://archive.ics.uci.edu"
    openml_url: str = "https://www.openml.org"
    connect_timeout: float = _positive(4.0)
    read_timeout: float = _positive(15.0)
    deadline: float = _positive(1800.0)
    attempts: int = _at_least(1, 3)
    backoff: float = 0.5
    largest_text: float = _positive(64.0)

    def folder(self) -> Path | None:
        """Return the user's folder, or None; a folder that does not exist is an error."""
        given = self.dir or os.environ.get("MLOML_DATA")
        if not given:
            return None
        folder = Path(given).expanduser()
        require(folder.is_dir(), "data.dir" if self.dir else "MLOML_DATA", given, "a folder")
        return folder

    def cache_folder(self) -> Path:
        """Return the cache folder, which need not exist yet."""
        from platformdirs import user_cache_path

        given = self.cache or os.environ.get("MLOML_CACHE")
        return Path(given).expanduser() if given else user_cache_path("mloml")


@dataclass(frozen=True)
class PcaConfig(_Checked):
    """PCA of wide data sets, before the rows are divided by their norm.

    ``fit="all"`` takes all rows, both halves, as the paper seems to; ``"train"`` the training half only.
    ``signs`` is the seed of random signs of the axes; None: the largest loading of each is positive.
    """

    _key = "protocol.pca"
    fit: str = _one_of(("all", "train"), "all")
    threshold: int = _at_least(1, 200)
    components: int = _at_least(1, 100)
    centred: bool = False
    signs: int | None = _at_least(0, None)


@dataclass(frozen=True)
class ProtocolConfig(_Checked):
    """How a method is judged: splits, scans, model selection and the classifier.

    A run with fewer splits than ``full``, or of a protocol made for ``trial`` runs, gives no verdicts.
    With a ``window`` the samples are a stream (see :mod:`mloml.experiments.prequential`).
    """

    _key = "protocol"
    name: str = "paper"
    splits: int = _at_least(1, 30)
    full: int = 1
    trial: bool = False
    scans: int = _at_least(1, 20)
    folds: int = _at_least(2, 5)
    neighbours: int = _at_least(1, 5)
    seed: int = _at_least(0, 0)
    bp_rate: float | None = _checked(1e-4, lambda rate: rate >= 0, "null or a number, at least 0")
    moml_cone: str = _one_of(("free", "split"), "free")
    rows: str = _one_of(("unit", "standardised"), "unit")
    scale: Any = None
    stratified: bool = True
    ties: str = _one_of(("smallest", "alphabetical", "nearest"), "smallest")
    window: int | None = None
    length: int | None = _at_least(2, None)
    refit: int = _at_least(1, 500)
    pca: PcaConfig = field(default_factory=PcaConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.window is None or self.window >= self.neighbours
        require(fits, "protocol.window", self.window, f"null, or at least {self.neighbours} samples")

    @property
    def is_trial(self) -> bool:
        """Whether nothing can be concluded from a run."""
        return self.trial or self.splits < self.full


@dataclass(frozen=True)
class ExecutionConfig(_Checked):
    """Where and how cells run. Nothing here changes a result. Each key is explained in ``conf/execution``."""

    _key = "execution"
    backend: str = _one_of(("local", "dask", "slurm"), "local")
    n_jobs: int = _checked(-1, bool, "a number of workers, or -1 for all cores")
    results: str = _checked("results", bool, "a folder such as results")
    only: list[int] | None = _checked(  # noqa: RUF009 - a field, as for the others
        None, lambda splits: min(splits, default=0) >= 0, "null or splits, from 0"
    )
    fail_fast: bool = False
    time_limit: float | None = _positive(None)
    address: str | None = None
    cluster: str = _one_of(("slurm", "local"), "slurm")
    slurm: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Algorithm:
    """A learner with its parameters; ``None`` marks those chosen from ``grid`` by cross-validation."""

    name: str
    title: str
    learner: str
    params: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, list[Any]] = field(default_factory=dict)
    note: str | None = None

    def __post_init__(self) -> None:
        require_name("algorithm.name", self.name)


@dataclass(frozen=True)
class Study:
    """Everything a run consists of: each dataset under each algorithm, by one protocol.

    ``folders`` are the user's own folders of configs that it was composed from. ``leave_out`` lists what is
    not run although both are named, because it would take too long: ``{algorithms: [...], datasets: [...]}``.
    ``reference`` is the algorithm that a table of one's own tests the others against.
    """

    name: str
    datasets: list[DatasetConfig]
    algorithms: list[Algorithm]
    protocol: ProtocolConfig = field(default_factory=ProtocolConfig)
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    data: DataSettings = field(default_factory=DataSettings)
    record: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    leave_out: tuple[dict[str, list[str]], ...] = ()
    reference: str | None = None

    def __post_init__(self) -> None:
        require_name("name", self.name)
        for key, parts in (("datasets", self.datasets), ("algorithms", self.algorithms)):
            names = [part.name for part in parts]
            twice = ",".join(name for name in names if names.count(name) > 1)
            require(not twice, key, f"[{twice}]", "different names; a variant takes one by 'name: NAME'")
        names = [algorithm.name for algorithm in self.algorithms]
        fits = self.reference is None or self.reference in names
        require(fits, "reference", self.reference, f"one of the algorithms, {', '.join(names)}")

    def settings(self) -> dict[str, Any]:
        """Return what its results follow from: neither where it runs nor what it is called."""
        kept = ("datasets", "algorithms", "protocol", "record", "leave_out", "reference")
        return {name: asdict(self)[name] for name in kept} | {"source": self.data.source}

    def leaves_out(self, dataset: str, algorithm: str) -> bool:
        """Tell whether an algorithm is not run on a dataset."""
        return any(
            dataset in pairs["datasets"] and algorithm in pairs["algorithms"] for pairs in self.leave_out
        )
