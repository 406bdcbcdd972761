"""MLOML with every setting of the paper as a parameter: what the configs of the reproduction set."""

from collections.abc import Mapping, Sequence
from typing import Any

from .mloml import MLOML, OF_GRADIENTS
from .triplets import Rule


class PaperMLOML(MLOML):
    """:class:`~mloml.learners.mloml.MLOML` whose gradient settings are parameters that can be searched.

    Parameters
    ----------
    layer, n_layers, activation, propagation, gamma, layer_params
        See :class:`~mloml.learners.mloml.MLOML`; the default of gamma is 1e-4. Gradient settings
        go into the parameters below, not into ``layer_params``, where they have no effect.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.
    max_layers
        See :class:`~mloml.learners.mloml.MLOML`.
    rate, decay, local_loss, routing, freeze_w
        As in its ``layer_params``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> learner = PaperMLOML(propagation="bp", rate=1e-3, scans=1, random_state=0)
    >>> learner.fit(*load_iris(return_X_y=True)).layers_.shape
    (3, 4, 4)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        name: allowed
        for name, allowed in {**MLOML._parameter_constraints, **OF_GRADIENTS}.items()
        if name not in ("n_components", "init")  # which the paper has no use for
    }

    _may_change = tuple(OF_GRADIENTS)

    def __init__(
        self,
        *,
        layer: str | Sequence[str] = "moml",
        n_layers: int | str = 3,
        activation: str = "tanh",
        propagation: str = "fp",
        gamma: float | str = 1e-4,
        rate: float = 1e-4,
        decay: float = 0.0,
        local_loss: str = "scaled",
        routing: str = "below",
        freeze_w: bool = False,
        layer_params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
        max_layers: int = 5,
    ) -> None:
        self.rate = rate
        self.decay = decay
        self.local_loss = local_loss
        self.routing = routing
        self.freeze_w = freeze_w
        super().__init__(
            layer=layer, n_layers=n_layers, activation=activation, propagation=propagation, gamma=gamma,
            layer_params=layer_params, scale=scale, scans=scans, shuffle=shuffle, random_state=random_state,
            triplets=triplets, max_layers=max_layers,
        )  # fmt: skip

    def unused_parameters(self) -> set[str]:
        """Return the names of parameters that have no effect with this kind of propagation."""
        if self.propagation == "fp":
            return set(OF_GRADIENTS)
        return {"gamma", "local_loss", "routing", "freeze_w"} if self.propagation == "bp" else set()

    def _gradient_settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in OF_GRADIENTS}
