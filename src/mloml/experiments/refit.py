"""The rows of a split, and a cell's chosen model learned on them once more, to see inside its layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mloml.arrays import Array, Codes
from mloml.datasets import load
from mloml.experiments.cell import Cell, make_learner
from mloml.experiments.preprocessing import prepare
from mloml.experiments.scoring import Rows
from mloml.experiments.splits import derive_seed, split_indices

if TYPE_CHECKING:
    from mloml.config.schema import ProtocolConfig, Study
    from mloml.datasets import Dataset


class Halves(NamedTuple):
    """Training and test half of one split, preprocessed, and the seed of its stream."""

    X: Array
    y: Codes
    X_test: Array
    y_test: Codes
    seed: int


def halves(data: Dataset, protocol: ProtocolConfig, split: int) -> Halves:
    """Return the rows that the cells of this split see."""
    train, test = split_indices(data.y, split, protocol.seed, data.name)
    X = prepare(data, protocol.pca, train, protocol.rows)
    seed = derive_seed(protocol.seed, data.name, split, "stream")
    return Halves(np.array(X[train]), data.y[train], np.array(X[test]), data.y[test], seed)


@dataclass(frozen=True)
class Refitted:
    """A learner fitted on the training half of its cell's split."""

    learner: Any
    half: Halves
    neighbours: int

    def error(self, **options: Any) -> float:
        """Return the 5-NN test error; ``layer=2`` asks for that of the second layer."""
        half = self.half
        rows = Rows(half.X, half.y, half.X_test, half.y_test, self.neighbours)
        return rows.error(self.learner, **options)


def refit(study: Study, record: dict[str, Any]) -> Refitted:
    """Learn the model that a cell of the study chose; it is the same model, seed included."""
    config = next(config for config in study.datasets if config.name == record["dataset"])
    algorithm = next(a for a in study.algorithms if a.name == record["algorithm"])
    data = load(config, study.data)
    cell = Cell(config.name, data.checksum, algorithm, study.protocol, record["split"])
    half = halves(data, study.protocol, record["split"])
    learner: Any = make_learner(cell).set_params(**record["chosen"])
    return Refitted(learner.fit(half.X, half.y), half, study.protocol.neighbours)


def layer_outputs(model: Refitted) -> dict[str, tuple[Array, float]]:
    """Return the test half in the input space and at each layer's output, with the 5-NN error there."""
    from mloml.learners import Euclidean

    half = model.half
    plain = Refitted(Euclidean().fit(half.X, half.y), half, model.neighbours)
    outputs = {"input": (half.X_test, plain.error())}
    for layer in range(1, len(model.learner.layers_) + 1):
        rows = model.learner.transform(half.X_test, layer=layer)
        outputs[f"layer {layer}"] = (rows, model.error(layer=layer))
    return outputs
