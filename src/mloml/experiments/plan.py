"""What a study consists of once its data have been found: the cells, and where their data come from."""

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mloml.config.schema import DatasetConfig, DataSettings, ProtocolConfig, Study
from mloml.datasets import Dataset, load, pin
from mloml.errors import DatasetUnavailableError, require
from mloml.experiments.cell import Cell, cells_of_splits
from mloml.experiments.job import Job
from mloml.experiments.manifest import Source
from mloml.experiments.splits import split_indices


@dataclass
class Plan:
    """The cells of a study in the order of its tables; datasets that are not available have none.

    Attributes
    ----------
    cells : list of Cell
    sources : dict
        For the manifest: which data each dataset's cells stand for.
    missing : dict
        Datasets that are not available, and how to provide them.
    pinned : dict
        Where workers find the very data that were found here.
    """

    study: Study
    cells: list[Cell] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    pinned: dict[str, tuple[DatasetConfig, DataSettings]] = field(default_factory=dict)

    def job(self, cell: Cell, store: Path, run: str) -> Job:
        """Return the job that computes a cell, in whatever folder its worker starts."""
        return Job(
            cell, *self.pinned[cell.dataset], str(store.resolve()), run, self.study.execution.time_limit
        )


def make_plan(study: Study, say: Callable[[str], None]) -> Plan:
    """Find the data of a study and list its cells; ``say`` is told, a line each, what is missing.

    Raises
    ------
    DatasetUnavailableError
        When there is none of its datasets.
    ConfigError
        When one of them is too small for the protocol.
    """
    plan, protocol = Plan(study), study.protocol
    for config in study.datasets:
        try:
            data = load(config, study.data)
        except DatasetUnavailableError as error:
            plan.missing[config.name] = str(error)
            continue
        if dropped := data.provenance.get("rows_dropped"):
            say(f"{config.name}: {dropped} rows with missing values left out, {len(data.y)} remain")
        _require_neighbours(protocol, data)
        plan.sources[config.name] = Source(data.checksum, data.source, data.regenerated)
        path = config.path and str(Path(config.path).expanduser().resolve())
        plan.pinned[config.name] = dataclasses.replace(config, path=path), pin(data, study.data)
        for algorithm in study.algorithms:
            if not study.leaves_out(config.name, algorithm.name):
                names = config.name, data.checksum, algorithm, protocol
                plan.cells += cells_of_splits(Cell(*names, 0, study.record, data.X.shape[1]), protocol.splits)
    # A set and the paper's variant of it are missing for one reason, which is said once.
    reasons = list(dict.fromkeys(plan.missing.values()))
    if reasons and not plan.sources:  # files of an earlier run must not be emptied
        others = f" (and no other of the {len(study.datasets)} datasets is available)" if reasons[1:] else ""
        raise DatasetUnavailableError(f"{reasons[0]}{others}")
    for reason in reasons:
        say(f"missing: {reason}")
    return plan


def in_turn(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells in the order to compute them: by dataset, then by split.

    So every algorithm is seen early, and two workers rarely wait for the compiler with the same learner.
    """
    cells = list(cells)
    place = {name: i for i, name in enumerate(dict.fromkeys(cell.dataset for cell in cells))}
    return sorted(cells, key=lambda cell: (place[cell.dataset], cell.split))


def _require_neighbours(protocol: ProtocolConfig, data: Dataset) -> None:
    """Refuse to take more neighbours than there are rows: everybody would vote on every row."""
    if protocol.window is not None:
        return
    half = len(split_indices(data.y, 0, protocol.seed, data.name)[0])
    fold = half - math.ceil(half / protocol.folds)
    why = f"the rows of {data.name} that a fold is trained on (protocol.folds={protocol.folds})"
    require(protocol.neighbours <= fold, "protocol.neighbours", protocol.neighbours, f"at most {fold}, {why}")
