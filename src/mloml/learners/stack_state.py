"""The arrays of a stack of metric layers, and the way they meet the compiled scans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.padding import padded, with_padding, zeros
from mloml.kernels.stack import layout

from .widening import widened

DEFAULT_CONE = {"frame": "split", "cholesky": "split", "symmetric": "clip", "none": "clip"}
"""What a step that would leave the cone does by default, for each factor."""

NEEDS = {
    "clip": (("symmetric", "none"), "L must stay invertible"),
    "split": (("frame", "cholesky"), "the pull is measured by a factor that follows each step"),
    "free": (("none",), "an indefinite M has no factor; with one, use cone='split'"),
}
"""Policies that only go with some factors, and why."""


def choose_cone(factor: str, cone: str | None) -> str:
    """Return the policy for steps that would leave the cone.

    >>> choose_cone("frame", None)
    'split'
    >>> choose_cone("cholesky", "clip")
    Traceback (most recent call last):
    ...
    ValueError: cone='clip' needs factor='symmetric' or 'none', not 'cholesky': L must stay invertible
    """
    if cone is None:
        return DEFAULT_CONE[factor]
    factors, why = NEEDS.get(cone, (tuple(DEFAULT_CONE), ""))
    if factor not in factors:
        allowed = " or ".join(map(repr, factors))
        raise ValueError(f"cone={cone!r} needs factor={allowed}, not {factor!r}: {why}")
    return cone


@dataclass(frozen=True)
class Layer:
    """What one layer is: its algorithm (with MOML's factor as kind) and that algorithm's settings."""

    kind: str = "frame"
    step: float = 1e-2
    cone: str = "shrink"
    variant: str = "paper"
    targets: tuple[float, float] = (0.0, 1.0)
    keep: float = 0.1
    floor: float = 0.1


@dataclass(frozen=True)
class Propagation:
    """How a stack learns; the numbers are those of the loss layer."""

    strategy: str = "fp"
    activation: str = "relu"
    rate: float = 0.0
    decay: float = 0.0
    local_loss: str = "scaled"
    routing: str = "below"
    freeze_w: bool = False


class StackState:
    """Layers ``L`` with all that is needed to go on learning; starts at identities."""

    def __init__(self, n_features: int, layers: Sequence[Layer]) -> None:
        self.n_features = n_features
        n, d, m = len(layers), n_features, padded(n_features)
        self.L, self.K = zeros(n, m, d), zeros(n, m, d)
        self.L[:, range(d), range(d)] = self.K[:, range(d), range(d)] = 1.0
        self.numbers = np.zeros((n, layout.FLOATS))
        self.counts = np.zeros((n, layout.INTEGERS), dtype=np.int64)
        self.options = np.zeros((n, layout.CHOICES), dtype=np.int64)
        for i, layer in enumerate(layers):
            self.numbers[i] = [layer.step, *layer.targets, 1.0, layer.keep, layer.floor]
            self.options[i] = [
                layout.KINDS.index(layer.kind),
                layout.POLICIES.index(layer.cone),
                layout.VARIANTS.index(layer.variant),
            ]
        self._make_room()

    def widen(self, n_features: int) -> None:
        """Go on with more features: every layer starts as the identity on the new ones."""
        self.L, self.K = (
            widened(self.L, self.n_features, n_features),
            widened(self.K, self.n_features, n_features),
        )
        self.n_features = n_features
        self._make_room()

    def _make_room(self) -> None:
        """Allocate the workspace, which holds nothing of value between scans."""
        n, m = self.L.shape[:2]
        self._vectors, self._work = zeros(n * layout.ROWS, m), zeros(2, m, m)
        variant = scan_variant([layout.KINDS[kind] for kind in self.options[:, layout.KIND]])
        self._dense = self._work if variant == "dense" else None
        self._opml = None if variant == "" else True

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for name in ("L", "K"):  # back to a cache line
            aligned = zeros(*state[name].shape)
            aligned[:] = state[name]
            setattr(self, name, aligned)
        self._make_room()

    @property
    def layers(self) -> Array:
        """The factors as learned so far, (layers, d, d)."""
        d = self.n_features
        return self.L[:, :d, :d].copy()

    @property
    def weights(self) -> Array:
        """The weights of the local losses."""
        return self.numbers[:, layout.WEIGHT].copy()

    def take_steps(self, steps: Sequence[float]) -> None:
        """Go on with these step sizes, one per layer."""
        self.numbers[:, layout.STEP] = steps

    def learn(self, rows: Array, triplets: Triplets, how: Propagation) -> bool:
        """Run one compiled scan; False when it had to stop because the numbers grew beyond all bounds."""
        return self.scan(rows, triplets, how) == len(triplets)

    def scan(self, rows: Array, triplets: Triplets, how: Propagation) -> int:
        """Run one compiled scan; return how many triplets were seen."""
        from mloml.kernels.stack import backward
        from mloml.kernels.stack.forward import fp_scan

        d = self.n_features
        data = with_padding(rows)
        activation = layout.ACTIVATIONS.index(how.activation)
        state = (self.L, self.K, self._vectors, self.numbers, self.counts, self.options, activation)
        if how.strategy == "fp":
            done = fp_scan(data, triplets, *state, self._work, self._dense, self._opml, d)
        elif how.strategy == "bp":
            done = backward.bp_scan(data, triplets, *state, how.rate, how.decay, d)
        else:
            local = backward.HINGE if how.local_loss == "hinge" else backward.SCALED_HINGE
            extra = (local, how.routing == "all", how.freeze_w)
            done = backward.fbp_scan(
                data, triplets, *state, how.rate, how.decay, *extra, self._work, self._dense, self._opml, d
            )
        return int(done)


CHANGES_WAIT = ("frame", "opml")
"""Kinds of layers whose changes wait until the matrix is read next; all others are changed at once."""


def scan_name(propagation: str, kinds: Sequence[str]) -> str:
    """Return the compiled kernel that a stack of such layers calls, see :mod:`mloml.checks.problems`.

    >>> scan_name("fp", ["frame", "frame"]), scan_name("fbp", ["cholesky"])
    ('stack.forward.fp_scan', 'stack.backward.fbp_scan dense')
    """
    if propagation == "bp":
        return "stack.backward.bp_scan"
    scan = "stack.forward.fp_scan" if propagation == "fp" else "stack.backward.fbp_scan"
    return f"{scan} {scan_variant(kinds)}".strip()


def scan_variant(kinds: Sequence[str]) -> str:
    """Return which algorithms of layers a scan is compiled with: frames alone, OPML too, or all.

    >>> scan_variant(["frame", "frame"]), scan_variant(["frame", "opml"]), scan_variant(["opml", "rdml"])
    ('', 'opml', 'dense')
    """
    if set(kinds) <= {"frame"}:
        return ""
    return "opml" if set(kinds) <= set(CHANGES_WAIT) else "dense"


def step_counts(counts: Counts) -> tuple[Any, Any]:
    """Return, for each layer, how many steps were active and how many of them were weak."""
    return counts[:, layout.UPDATES] + counts[:, layout.REFUSED], counts[:, layout.WEAK]


def activate(Z: Array, activation: str) -> Array:
    """Apply the non-linearity to the outputs of a layer.

    >>> activate(np.array([-1.0, 2.0]), "relu")
    array([0., 2.])
    """
    if activation == "relu":
        return np.maximum(Z, 0.0)
    if activation == "tanh":
        return np.tanh(Z)
    e = np.exp(-np.abs(Z))
    return np.where(Z >= 0, 1.0, e) / (1.0 + e)
