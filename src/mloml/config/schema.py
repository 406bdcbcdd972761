"""Structured configs: what a dataset, a protocol, an algorithm, an execution and a study consist of.

These dataclasses are plain data. They know types and ranges; Hydra composes them
(see :mod:`mloml.config.compose`), and everything downstream receives them validated.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

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


def _require_one_of(key: str, value: object, known: Sequence[str]) -> None:
    require(value in known, key, value, f"one of {', '.join(known)}")


def _require_at_least(key: str, value: float, least: float) -> None:
    require(value >= least, key, value, f"a whole number, at least {least}")


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
class DatasetConfig:
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
    ignore: list[str] = field(default_factory=list)
    generator: str | None = None
    draw: int | None = None

    def __post_init__(self) -> None:
        require_name("dataset.name", self.name)
        for source in self.sources:
            _require_one_of("dataset.sources", source, SOURCES)
        _require_one_of("dataset.missing", self.missing, ("error", "drop"))
        if self.generator is not None:
            _require_one_of("dataset.generator", self.generator, GENERATORS)
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
class DataSettings:
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
    largest_text: float = 64.0

    def __post_init__(self) -> None:
        _require_one_of("data.source", self.source, ("auto", "uci", *SOURCES))
        _require_at_least("data.attempts", self.attempts, 1)
        for key in ("connect_timeout", "read_timeout", "deadline", "largest_text"):
            require(getattr(self, key) > 0, f"data.{key}", getattr(self, key), "a number, more than 0")

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
class PcaConfig:
    """PCA of wide data sets, before the rows are divided by their norm.

    ``fit="all"`` takes all rows, both halves, as the paper seems to; ``"train"`` the training half only.
    ``signs`` is the seed of random signs of the axes; None: the largest loading of each is positive.
    """

    fit: str = "all"
    threshold: int = 200
    components: int = 100
    centred: bool = False
    signs: int | None = None

    def __post_init__(self) -> None:
        require(self.fit in ("all", "train"), "protocol.pca.fit", self.fit, "'all' or 'train'")
        _require_at_least("protocol.pca.threshold", self.threshold, 1)
        _require_at_least("protocol.pca.components", self.components, 1)
        signs = self.signs
        require(signs is None or signs >= 0, "protocol.pca.signs", signs, "null or a seed, at least 0")


@dataclass(frozen=True)
class ProtocolConfig:
    """How a method is judged: splits, scans, model selection and the classifier.

    A run with fewer splits than ``full``, or of a protocol made for ``trial`` runs, gives no verdicts.
    With a ``window`` the samples are a stream (see :mod:`mloml.experiments.prequential`).
    """

    name: str = "paper"
    splits: int = 30
    full: int = 1
    trial: bool = False
    scans: int = 20
    folds: int = 5
    neighbours: int = 5
    seed: int = 0
    bp_rate: float | None = 1e-4
    moml_cone: str = "free"
    rows: str = "unit"
    scale: Any = None
    window: int | None = None
    length: int | None = None
    refit: int = 500
    pca: PcaConfig = field(default_factory=PcaConfig)

    def __post_init__(self) -> None:
        for key, least in (("splits", 1), ("scans", 1), ("folds", 2), ("neighbours", 1), ("seed", 0)):
            _require_at_least(f"protocol.{key}", getattr(self, key), least)
        rate, cone, rows = self.bp_rate, self.moml_cone, self.rows
        require(rate is None or rate >= 0, "protocol.bp_rate", rate, "null or a number, at least 0")
        require(cone in ("free", "split"), "protocol.moml_cone", cone, "'free' or 'split'")
        require(rows in ("unit", "standardised"), "protocol.rows", rows, "'unit' or 'standardised'")
        _require_at_least("protocol.refit", self.refit, 1)
        if self.window is not None:
            _require_at_least("protocol.window", self.window, self.neighbours)
        if self.length is not None:
            _require_at_least("protocol.length", self.length, 2)

    @property
    def is_trial(self) -> bool:
        """Whether nothing can be concluded from a run."""
        return self.trial or self.splits < self.full


@dataclass(frozen=True)
class ExecutionConfig:
    """Where and how cells run. Nothing here changes a result. Each key is explained in ``conf/execution``."""

    backend: str = "local"
    n_jobs: int = -1
    results: str = "results"
    only: list[int] | None = None
    fail_fast: bool = False
    time_limit: float | None = None
    address: str | None = None
    cluster: str = "slurm"
    slurm: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limit, splits, jobs = self.time_limit, self.only, self.n_jobs
        _require_one_of("execution.backend", self.backend, ("local", "dask", "slurm"))
        _require_one_of("execution.cluster", self.cluster, ("slurm", "local"))
        require(jobs != 0, "execution.n_jobs", jobs, "a number of workers, or -1 for all cores")
        require(bool(self.results), "execution.results", self.results, "a folder such as results")
        require(limit is None or limit > 0, "execution.time_limit", limit, "null or seconds, more than 0")
        require(min(splits or [0]) >= 0, "execution.only", splits, "null or splits, from 0")


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
