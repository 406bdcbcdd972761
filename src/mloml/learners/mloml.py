"""MLOML: a stack of metric layers with non-linearities between them, the paper's framework (Section III)."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.arrays import Array, Triplets
from mloml.errors import suggestion

from .layers import ACTIVATIONS, Layer, Stack, StackOutputs
from .lego import LEGOLayer, lego_targets
from .low_rank_moml import LowRankLayer, first_factor, require_rank
from .moml import MOMLLayer
from .online import OnlineLearner
from .opml import OPMLLayer
from .propagation import GradientStack, Loss
from .rdml import RDMLLayer
from .triplets import Rule

# Settings a layer of each algorithm can have; eta and lam are other names of its step size.
KNOWN: dict[str, set[str]] = {
    "moml": {"gamma", "cone_keep", "cone_floor"},
    "opml": {"gamma"},
    "lego": {"gamma", "eta", "targets", "percentiles"},
    "rdml": {"gamma", "lam"},
}

# Settings of :class:`~mloml.learners.explicit.ExplicitMLOML` alone.
EXPLICIT = {"factor", "cone", "variant"}


class MLOML(StackOutputs, OnlineLearner):
    """Multi-layer online metric learning.

    ``n_layers`` metric layers ``L_i`` (square, starting at the identity) with a non-linearity after each but
    the last. A row is mapped to ``L_n phi(L_{n-1} ... phi(L_1 x))``, where Euclidean distance is the learned
    one. For each triplet

    - forward propagation (``"fp"``): layer after layer takes its own algorithm's step on what the already
      updated layers below make of the three samples;
    - backward propagation (``"bp"``): one gradient step on the last layer's hinge, for all layers;
    - both (``"fbp"``): a forward pass, then one gradient step of the loss (Eq. 1)::

        1/2 [1 + ||z_t - z_p||² - ||z_t - z_q||²]+ + sum_i w_i Loc_i + lambda/2 sum_i ||L_i||²

    Each costs O(d²) per layer and triplet. With r, s, t for the activation the paper writes MLOML-r, -s, -t.

    Parameters
    ----------
    layer : {"moml", "opml", "lego", "rdml"} or list of them, default="moml"
        The algorithm of the layers. FBP needs moml and opml layers.
    n_layers : int, default=3
        Number of metric layers.
    activation : {"relu", "sigmoid", "tanh"}, default="tanh"
        Non-linearity between layers. "tanh" and "sigmoid" suit all data. Near 0 "tanh" has slope 1, "sigmoid"
        1/4: it shrinks what the layers above see, so try it with a larger ``gamma``. "relu" is for rows
        without negative values: of standardised rows it throws away half of each layer's output.
    propagation : {"fp", "bp", "fbp"}, default="fp"
        How the layers learn.
    gamma : float, default=1e-4
        Step size of every layer's own algorithm (gamma of moml and opml, eta of lego, lambda of rdml).
    rate : float, default=1e-4
        Learning rate of the gradient steps of bp and fbp.
    decay : float, default=0.0
        Weight ``lambda`` of the penalty in the loss.
    local_loss : {"scaled", "hinge"}, default="scaled"
        Local loss of a layer in fbp: its hinge times its step size, or its hinge.
    routing : {"below", "all"}, default="below"
        Which layers the local loss of layer i moves: those below it (the paper's text), or layer i as well.
    freeze_w : bool, default=False
        Keep the weights ``w_i`` at 1 instead of learning them; learned ones can only fall, and stop at 0.
    layer_params : dict or list of dicts, optional
        Settings of all layers, or of each: "gamma" (also as "eta", "lam"), "cone_keep" and "cone_floor" of
        moml, "targets" and "percentiles" of lego (targets are squared distances between the user's rows, in
        every layer).
    cone_keep, cone_floor : float, default=0.1
        How much of a pull a moml layer takes, see :class:`~mloml.learners.moml.MOML`.
    n_components : int or None, default=None
        Rows of the first layer, (k, d), and size of all others, (k, k): for very many features, and for
        sparse rows. The first layer is then that of :class:`~mloml.learners.low_rank_moml.LowRankMOML`; all
        are moml or opml layers that learn by forward propagation. None: d.
    init : {"pca", "random"}, default="pca"
        Where a first layer of k rows starts, see :class:`~mloml.learners.low_rank_moml.LowRankMOML`.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    layers_ : array of shape (n_layers, d, d), or list of arrays
        The learned ``L_i``; the first takes the user's rows, so it starts at the identity over ``scale_``.
        A list, (k, d) and then (k, k), with ``n_components``.
    w_ : array of shape (n_layers,)
        Weights of the local losses.
    n_updates_, n_cone_failures_ : arrays of shape (n_layers,)
        Steps that changed the layer, and steps that would have left the cone: in moml layers, shortened
        pulls.
    classes_, scale_, n_triplets_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    The defaults of ``activation`` and ``gamma`` were nowhere more than .008 below plain 5-NN on the twelve
    settings of ``benchmarks/defaults.py --choose``, and have the best mean of all such pairs of "sigmoid" or
    "tanh" with 1e-5, 3e-5, 1e-4, 3e-4 or 1e-3; with "relu" every ``gamma`` from 3e-4 to 3e-2 was .15 or more
    below on one. On four settings that had no part in the choice they gained .04 and .05 on two and lost .005
    and .006 on two (``benchmarks/defaults.py --repeats 5``, "judged on"). Earlier defaults, "sigmoid" with
    1e-3, had been chosen on eight of the twelve and failed on others. Choose both by cross-validation as in
    the example.

    Each layer has its counters: one whose ``n_updates_`` stay at 0 sees its margins kept and is the identity;
    ``n_cone_failures_`` near ``n_updates_`` says that ``gamma`` is too large for what it sees. rdml layers
    are projected onto eigenvalues of at least 1e-4, because a layer's inverse is kept; RDML alone onto those
    from 0.

    References
    ----------
    W. Li, Y. Liu, J. Huo, Y. Shi, Y. Gao, L. Wang, J. Luo. A multilayer framework for online metric
    learning. IEEE Transactions on Neural Networks and Learning Systems, 2022 (arXiv 1805.05510).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), MLOML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.967
    >>> grid = {"mloml__gamma": [1e-4, 1e-3, 1e-2, 1e-1], "mloml__activation": ["relu", "sigmoid", "tanh"]}
    >>> search = GridSearchCV(model, grid)  # fit: tries all twelve
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "layer": [StrOptions(set(KNOWN)), list, tuple],
        "n_layers": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "propagation": [StrOptions({"fp", "bp", "fbp"})],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "rate": [Interval(Real, 0, None, closed="left")],
        "decay": [Interval(Real, 0, None, closed="left")],
        "local_loss": [StrOptions({"scaled", "hinge"})],
        "routing": [StrOptions({"below", "all"})],
        "freeze_w": ["boolean"],
        "layer_params": [Mapping, list, tuple, None],
        "cone_keep": [Interval(Real, 0, 1, closed="neither")],
        "cone_floor": [Interval(Real, 0, 1, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "init": [StrOptions({"pca", "random"})],
    }

    _moved = {name: f"use ExplicitMLOML({name}=...)" for name in ("factor", "cone")}

    def __init__(
        self,
        layer: str | Sequence[str] = "moml",
        n_layers: int = 3,
        *,
        activation: str = "tanh",
        propagation: str = "fp",
        gamma: float = 1e-4,
        rate: float = 1e-4,
        decay: float = 0.0,
        local_loss: str = "scaled",
        routing: str = "below",
        freeze_w: bool = False,
        layer_params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        cone_keep: float = 0.1,
        cone_floor: float = 0.1,
        n_components: int | None = None,
        init: str = "pca",
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
    ) -> None:
        self.layer = layer
        self.n_layers = n_layers
        self.activation = activation
        self.propagation = propagation
        self.gamma = gamma
        self.rate = rate
        self.decay = decay
        self.local_loss = local_loss
        self.routing = routing
        self.freeze_w = freeze_w
        self.layer_params = layer_params
        self.cone_keep = cone_keep
        self.cone_floor = cone_floor
        self.n_components = n_components
        self.init = init
        super().__init__(scale, scans, shuffle, random_state, triplets)

    _may_change = ("rate", "decay", "local_loss", "routing", "freeze_w")

    def unused_parameters(self) -> set[str]:
        """Return the names of parameters that have no effect with this kind of propagation."""
        if self.propagation == "fp":
            return {"rate", "decay", "local_loss", "routing", "freeze_w"}
        if self.propagation == "bp":
            return {"gamma", "local_loss", "routing", "freeze_w", "cone_keep", "cone_floor"}
        return set()

    @property
    def _takes_sparse(self) -> bool:
        return self.n_components is not None

    @property
    def _remedy(self) -> str:  # type: ignore[override]
        return f"a smaller rate (now {self.rate:g}) or gamma (now {self.gamma:g})"

    def _new_state(self, n_features: int, X: Any) -> Stack | GradientStack:
        names, settings = self._layer_settings()
        unfit = sorted(set(names) - {"moml", "opml"})
        if self.propagation == "fbp" and unfit:
            raise ValueError(
                f"propagation='fbp' is defined for moml and opml layers only, layer has {unfit}; use fp or bp"
            )
        if self.n_components is not None:
            return self._narrow_stack(n_features, X, names, settings)
        if self.propagation == "fp":
            made = [make_layer(n, n_features, s, X) for n, s in zip(names, settings, strict=True)]
            return Stack(made, self.activation)
        return GradientStack(n_features, names, settings, self.propagation == "fbp")

    def _narrow_stack(
        self, n_features: int, X: Any, names: list[str], settings: list[dict[str, Any]]
    ) -> Stack:
        """Return a stack whose first layer has few rows, and whose others work on its outputs."""
        form = f"n_components={self.n_components}"
        if self.propagation != "fp":
            raise ValueError(f"propagation={self.propagation!r} does not go with {form}, expected 'fp'")
        if names[0] != "moml" or not set(names) <= {"moml", "opml"}:
            raise ValueError(
                f"layer={self.layer!r} does not go with {form}: a moml layer first, then moml or opml"
            )
        k = int(self.n_components or 0)
        require_rank(k, n_features)
        start = first_factor(X, k, self.init, self.random_state)
        others = [make_layer(n, k, s, None) for n, s in zip(names[1:], settings[1:], strict=True)]
        return Stack([LowRankLayer(start, settings[0]["step"]), *others], self.activation)

    def _take_step(self) -> None:
        steps = [settings["step"] for settings in self._layer_settings()[1]]
        if isinstance(self._state, GradientStack):
            self._state.steps[:] = steps
        else:
            for layer, step in zip(self._state.layers, steps, strict=True):
                layer.step = step

    def _learn(self, D: Array, triplets: Triplets) -> int:
        if isinstance(self._state, GradientStack):
            loss = self.activation, self.rate, self.decay, self.local_loss, self.routing, self.freeze_w
            self._state.loss = Loss(*loss)
        return super()._learn(D, triplets)

    def _finish(self) -> None:
        super()._finish()
        self.w_ = self._state.weights.copy()

    def _layer_settings(self) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the algorithm of each layer and its settings, checked."""
        names = [self.layer] * self.n_layers if isinstance(self.layer, str) else list(self.layer)
        for name in names:
            if not isinstance(name, str) or name not in KNOWN:
                hint = suggestion(str(name), KNOWN)
                raise ValueError(f"layer has {name!r}, expected one of {', '.join(KNOWN)}{hint}")
        if len(names) != self.n_layers:
            raise ValueError(
                f"layer has {len(names)} entries but n_layers is {self.n_layers}: give one per layer"
            )
        given = self.layer_params
        own = [given or {}] * len(names) if given is None or isinstance(given, Mapping) else list(given)
        if len(own) != len(names):
            raise ValueError(f"layer_params has {len(own)} entries, expected one per layer ({len(names)})")
        defaults = {"gamma": self.gamma, "cone_keep": self.cone_keep, "cone_floor": self.cone_floor}
        return names, [checked(n, params, defaults) for n, params in zip(names, own, strict=True)]


def checked(name: str, own: Any, defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of one layer: its own entry of ``layer_params`` over the stack's."""
    if not isinstance(own, Mapping):
        raise ValueError(f"layer_params has {own!r}, expected a dict per layer")
    for key in own:
        if key not in KNOWN[name]:
            there = "; other factors and cones are in ExplicitMLOML" if key in EXPLICIT else ""
            raise ValueError(
                f"layer_params has {key!r}, but a {name} layer has {', '.join(sorted(KNOWN[name]))}{there}"
            )
    settings = {**defaults, **own}
    step = next(settings[key] for key in ("lam", "eta", "gamma") if key in settings)
    if not isinstance(step, Real) or not 0 <= float(step) < np.inf:
        raise ValueError(f"the step size of a {name} layer is {step!r}, expected a number >= 0")
    keep, floor = settings["cone_keep"], settings["cone_floor"]
    if not isinstance(keep, Real) or not 0 < float(keep) < 1:
        raise ValueError(f"cone_keep of a layer is {keep!r}, expected a number above 0 and below 1")
    if not isinstance(floor, Real) or not 0 <= float(floor) < 1:
        raise ValueError(f"cone_floor of a layer is {floor!r}, expected a number from 0 and below 1")
    return {**settings, "step": float(step)}


def make_layer(name: str, n_features: int, settings: dict[str, Any], X: Array | None) -> Layer:
    """Return one layer at its start; ``X`` are the rows that percentiles of lego layers are taken from."""
    step = settings["step"]
    if name == "moml":
        return MOMLLayer(n_features, step, float(settings["cone_keep"]), float(settings["cone_floor"]))
    if name == "lego":
        return LEGOLayer(n_features, step, lego_targets(settings, X))
    return OPMLLayer(n_features, step) if name == "opml" else RDMLLayer(n_features, step)
