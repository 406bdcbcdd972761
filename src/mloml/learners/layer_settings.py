"""From the parameters of a stack to the settings of each of its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from mloml.errors import suggestion
from mloml.kernels.stack import layout
from mloml.learners.triplets import distance_percentiles

from .stack_state import Array, Layer, choose_cone
from .targets import FEWEST_ROWS, two_numbers

STEP_NAMES = ("gamma", "eta", "lam")

KNOWN: dict[str, set[str]] = {
    "moml": {"gamma", "variant", "factor", "cone", "cone_keep", "cone_floor"},
    "opml": {"gamma"},
    "lego": {"gamma", "eta", "targets", "percentiles"},
    "rdml": {"gamma", "lam"},
}
"""Settings a layer of each algorithm can have."""

LAYER_CONES = tuple(policy for policy in layout.POLICIES if policy != "free")
"""What a moml layer can do with a step that would leave the cone."""


def layer_settings(stack: Any, X: Array | None) -> list[Layer]:
    """Return what each layer of a stack is; ``X`` are the rows that percentiles are taken from."""
    names = layer_names(stack.layer, stack.n_layers)
    unfit = sorted(set(names) - {"moml", "opml"})
    if stack.propagation == "fbp" and unfit:
        raise ValueError(
            f"propagation='fbp' is defined for moml and opml layers only, layer has {unfit}; use 'fp' or 'bp'"
        )
    defaults = {name: getattr(stack, name) for name in ("gamma", "factor", "cone", "cone_keep", "cone_floor")}
    return [
        one_layer(name, {**defaults, **own}, X)
        for name, own in zip(names, own_params(stack.layer_params, names), strict=True)
    ]


def layer_steps(stack: Any) -> list[float]:
    """Return the step size of each layer."""
    names = layer_names(stack.layer, stack.n_layers)
    own = own_params(stack.layer_params, names)
    return [
        step_size(name, {"gamma": stack.gamma, **params}) for name, params in zip(names, own, strict=True)
    ]


def layer_kinds(stack: Any) -> list[str]:
    """Return the kind of each layer, as :class:`~mloml.learners.stack_state.Layer` has it."""
    names = layer_names(stack.layer, stack.n_layers)
    own = own_params(stack.layer_params, names)
    return [
        str(params.get("factor", stack.factor)) if name == "moml" else name
        for name, params in zip(names, own, strict=True)
    ]


def layer_names(layer: str | Sequence[str], n_layers: int) -> list[str]:
    """Return the algorithm of each layer.

    >>> layer_names("moml", 2)
    ['moml', 'moml']
    """
    names = [layer] * n_layers if isinstance(layer, str) else list(layer)
    for name in names:
        if not isinstance(name, str) or name not in KNOWN:
            hint = suggestion(str(name), KNOWN)
            raise ValueError(f"layer has {name!r}, expected one of {', '.join(KNOWN)}{hint}")
    if len(names) != n_layers:
        raise ValueError(f"layer has {len(names)} entries but n_layers is {n_layers}: give one per layer")
    return names


def own_params(given: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return each layer's entry of ``layer_params``, checked."""
    if given is None or isinstance(given, Mapping):
        entries: list[Any] = [given or {}] * len(names)
    else:
        entries = list(given)
    if len(entries) != len(names):
        raise ValueError(f"layer_params has {len(entries)} entries, expected one per layer ({len(names)})")
    for entry, name in zip(entries, names, strict=True):
        if not isinstance(entry, Mapping):
            raise ValueError(f"layer_params has {entry!r}, expected a dict per layer")
        for key in entry:
            if key not in KNOWN[name]:
                raise ValueError(
                    f"layer_params has {key!r}, but a {name} layer has {', '.join(sorted(KNOWN[name]))}"
                )
    return [dict(entry) for entry in entries]


def one_layer(name: str, params: dict[str, Any], X: Array | None) -> Layer:
    """Return the settings of one layer."""
    step = step_size(name, params)
    if name == "moml":
        return moml_layer(step, params)
    if name == "lego":
        return Layer("lego", step, targets=lego_targets(params, X))
    return Layer(name, step)


def step_size(name: str, params: dict[str, Any]) -> float:
    """Return the step size of one layer, by whichever name it is given."""
    step = next(params[key] for key in reversed(STEP_NAMES) if key in params)
    if not isinstance(step, Real) or not 0 <= float(step) < np.inf:
        raise ValueError(f"the step size of a {name} layer is {step!r}, expected a number >= 0")
    return float(step)


def moml_layer(step: float, params: dict[str, Any]) -> Layer:
    """Return the settings of a moml layer."""
    factor, variant, cone = params["factor"], params.get("variant", "paper"), params["cone"]
    if factor not in layout.KINDS[:3]:
        raise ValueError(f"factor is {factor!r}, expected one of {', '.join(layout.KINDS[:3])}")
    if variant not in layout.VARIANTS:
        raise ValueError(f"variant is {variant!r}, expected one of {', '.join(layout.VARIANTS)}")
    if cone is not None and cone not in LAYER_CONES:
        why = ": an indefinite metric has no factor to map rows with" if cone == "free" else ""
        raise ValueError(f"cone of a layer is {cone!r}, expected one of {', '.join(LAYER_CONES)}{why}")
    keep, floor = params["cone_keep"], params["cone_floor"]
    if not isinstance(keep, Real) or not 0 < float(keep) < 1:
        raise ValueError(f"cone_keep of a layer is {keep!r}, expected a number above 0 and below 1")
    if not isinstance(floor, Real) or not 0 <= float(floor) < 1:
        raise ValueError(f"cone_floor of a layer is {floor!r}, expected a number from 0 and below 1")
    return Layer(factor, step, choose_cone(factor, cone), variant, keep=float(keep), floor=float(floor))


def lego_targets(params: dict[str, Any], X: Array | None) -> tuple[float, float]:
    """Return the target distances of a lego layer: as given, or percentiles of the input rows' distances."""
    targets = params.get("targets", "percentiles")
    if isinstance(targets, str):
        if targets != "percentiles":
            raise ValueError(f"targets is {targets!r}, expected 'percentiles' or two numbers")
        count = 0 if X is None else len(X)
        if X is None or count < FEWEST_ROWS:
            raise ValueError(
                f"percentiles need at least {FEWEST_ROWS} rows in the first call, got {count} sample(s); "
                "give layer_params={'targets': (lower, upper)} for a stream"
            )
        low, high = two_numbers("percentiles", params.get("percentiles", (5, 95)), 100.0)
        targets = distance_percentiles(X, (low, high))
    return two_numbers("targets", targets)
