"""The weights of the local losses under FBP: the loss can only push them down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pandas as pd

from mloml.experiments.refit import Halves

ACTIVATIONS = ("relu", "sigmoid", "tanh")
RATES = (1e-4, 1e-3, 1e-2)


def follow_weights(
    half: Halves,
    gamma: float,
    n_scans: int,
    activations: Sequence[str] = ACTIVATIONS,
    rates: Sequence[float] = RATES,
    local_losses: Sequence[str] = ("scaled", "hinge"),
) -> pd.DataFrame:
    """Return ``w_i`` of a 3-layer FBP model after each scan.

    The derivative of the loss by ``w_i`` is the layer's local loss, which is never negative, so gradient
    descent can only lower ``w_i``; the learner stops it at 0.

    Returns
    -------
    DataFrame
        activation, local_loss, rate, scan, layer, weight; a diverged run ends early.
    """
    from mloml.learners import MLOML

    rows = []
    for activation, local_loss, rate in product(activations, local_losses, rates):
        model = MLOML(
            activation=activation, propagation="fbp", gamma=gamma, rate=rate, local_loss=local_loss,
            scans=n_scans, random_state=half.seed,
            scale=None,
        )  # fmt: skip
        for scan, learned in enumerate(model.iter_scans(half.X, half.y), start=1):
            if learned.diverged_:
                break
            for layer, weight in enumerate(learned.w_, start=1):
                rows.append((activation, local_loss, rate, scan, layer, float(weight)))
    return pd.DataFrame(rows, columns=["activation", "local_loss", "rate", "scan", "layer", "weight"])
