"""A cell's chosen model learned once more on the rows of its split, to see inside its layers."""

from typing import Any, NamedTuple

from mloml.arrays import Array
from mloml.config.schema import Study
from mloml.datasets import load
from mloml.experiments.cell import Cell, make_learner
from mloml.experiments.neighbours import Rows
from mloml.experiments.splits import Halves, halves
from mloml.learners.euclidean import Euclidean

__all__ = ["Halves", "Refitted", "halves", "layer_outputs", "refit"]


class Refitted(NamedTuple):
    """A learner fitted on the training half of its cell's split."""

    learner: Any
    half: Halves
    neighbours: int
    ties: str = "smallest"

    def error(self, **options: Any) -> float:
        """Return the 5-NN test error; ``layer=2`` asks for that of the second layer."""
        return Rows(*self.half[:4], self.neighbours, self.ties).error(self.learner, **options)


def refit(study: Study, record: dict[str, Any]) -> Refitted:
    """Learn the model that a cell of the study chose; it is the same model, seed included."""
    config = next(config for config in study.datasets if config.name == record["dataset"])
    algorithm = next(a for a in study.algorithms if a.name == record["algorithm"])
    data = load(config, study.data)
    cell = Cell(config.name, data.checksum, algorithm, study.protocol, record["split"])
    half = halves(data, study.protocol, record["split"])
    learner: Any = make_learner(cell).set_params(**record["chosen"])
    return Refitted(learner.fit(half.X, half.y), half, study.protocol.neighbours, study.protocol.ties)


def layer_outputs(model: Refitted) -> dict[str, tuple[Array, float]]:
    """Return the test half in the input space and at each layer's output, with the 5-NN error there."""
    half = model.half
    plain = model._replace(learner=Euclidean().fit(half.X, half.y))
    outputs = {"input": (half.X_test, plain.error())}
    for layer in range(1, len(model.learner.layers_) + 1):
        rows = model.learner.transform(half.X_test, layer=layer)
        outputs[f"layer {layer}"] = (rows, model.error(layer=layer))
    return outputs
