"""Structured configs: what a protocol, an algorithm, an execution and a study consist of.

These dataclasses are plain data. They know types and ranges; Hydra composes them
(see :mod:`mloml.config.compose`), and everything downstream receives them validated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mloml.config.names import require_name
from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.errors import ConfigError


def _require(holds: bool, key: str, value: object, allowed: str) -> None:
    """Refuse a value with one line that names the key, the value and what is allowed."""
    if not holds:
        raise ConfigError(f"{key}={value}: must be {allowed}")


@dataclass(frozen=True)
class PcaConfig:
    """PCA of wide data sets, before the rows are divided by their norm.

    ``fit="all"`` is the paper's reading (all rows, both halves); ``"train"`` fits on the training half only.
    ``signs`` is the seed of random signs of the axes; None: the largest loading of each is positive.
    """

    fit: str = "all"
    threshold: int = 200
    components: int = 100
    centred: bool = False
    signs: int | None = None

    def __post_init__(self) -> None:
        _require(self.fit in ("all", "train"), "protocol.pca.fit", self.fit, "'all' or 'train'")
        _require(self.threshold >= 1, "protocol.pca.threshold", self.threshold, "a whole number, at least 1")
        _require(
            self.components >= 1, "protocol.pca.components", self.components, "a whole number, at least 1"
        )
        signs = self.signs
        _require(signs is None or signs >= 0, "protocol.pca.signs", signs, "null or a seed, at least 0")


@dataclass(frozen=True)
class ProtocolConfig:
    """How a method is judged: splits, scans, model selection and the classifier."""

    name: str = "paper"
    splits: int = 30
    scans: int = 20
    folds: int = 5
    neighbours: int = 5
    seed: int = 0
    bp_rate: float | None = 1e-4
    moml_cone: str = "free"
    rows: str = "unit"
    scale: Any = None
    pca: PcaConfig = field(default_factory=PcaConfig)

    def __post_init__(self) -> None:
        for key, least in (("splits", 1), ("scans", 1), ("folds", 2), ("neighbours", 1), ("seed", 0)):
            value = getattr(self, key)
            _require(value >= least, f"protocol.{key}", value, f"a whole number, at least {least}")
        rate = self.bp_rate
        _require(rate is None or rate >= 0, "protocol.bp_rate", rate, "null or a number, at least 0")
        cone = self.moml_cone
        _require(cone in ("free", "split"), "protocol.moml_cone", cone, "'free' or 'split'")
        _require(
            self.rows in ("unit", "standardised"), "protocol.rows", self.rows, "'unit' or 'standardised'"
        )


@dataclass(frozen=True)
class ExecutionConfig:
    """Where and how cells run. Nothing here changes a result. Each key is explained in ``conf/execution``."""

    backend: str = "local"
    n_jobs: int = -1
    results: str = "results"
    only: list[int] | None = None
    fail_fast: bool = False
    time_limit: float | None = None
    refresh: float = 5.0
    address: str | None = None
    cluster: str = "slurm"
    slurm: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = ("local", "dask", "slurm")
        _require(self.backend in known, "execution.backend", self.backend, f"one of {', '.join(known)}")
        _require(
            self.n_jobs != 0, "execution.n_jobs", self.n_jobs, "a number of workers, or -1 for all cores"
        )
        _require(bool(self.results), "execution.results", self.results, "a folder such as results")
        limit, only = self.time_limit, self.only
        _require(limit is None or limit > 0, "execution.time_limit", limit, "null or seconds, more than 0")
        _require(self.refresh > 0, "execution.refresh", self.refresh, "seconds, more than 0")
        _require(
            only is None or all(split >= 0 for split in only),
            "execution.only",
            only,
            "null or splits, from 0",
        )
        clusters = ("slurm", "local")
        _require(self.cluster in clusters, "execution.cluster", self.cluster, "'slurm' or 'local'")


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

    def __post_init__(self) -> None:
        require_name("name", self.name)
        for key, parts in (("datasets", self.datasets), ("algorithms", self.algorithms)):
            names = [part.name for part in parts]
            twice = [name for name in names if names.count(name) > 1]
            _require(
                not twice, key, f"[{','.join(twice)}]", "different names; a variant takes one by 'name: NAME'"
            )

    def leaves_out(self, dataset: str, algorithm: str) -> bool:
        """Tell whether an algorithm is not run on a dataset."""
        return any(
            dataset in pairs["datasets"] and algorithm in pairs["algorithms"] for pairs in self.leave_out
        )
