"""MLOML: a stack of metric layers with non-linearities between them, the paper's framework (Section III)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.kernels.padding import with_padding
from mloml.kernels.stack import layout
from mloml.learners.triplets import Rule

from .layer_settings import layer_kinds, layer_names, layer_settings, layer_steps
from .learned import learned
from .low_rank_state import first_factor
from .narrow_stack import NarrowStackState, require_narrow
from .online import OnlineLearner, Triplets
from .stack_outputs import StackOutputs
from .stack_state import Array, Propagation, StackState, scan_name, step_counts
from .stalling import warn_of_divergence


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
        Settings of all layers, or of each: "gamma" (also as "eta", "lam"), "variant", "factor", "cone",
        "cone_keep" and "cone_floor" of moml, "targets" and "percentiles" of lego (targets are squared
        distances between the user's rows, in every layer).
    factor : {"frame", "cholesky", "symmetric"}, default="frame"
        Factor of moml layers, see :class:`~mloml.learners.moml.MOML`.
    cone : {"split", "shrink", "clip", "skip"} or None, default=None
        What moml layers do with a step that would leave the cone, see :class:`~mloml.learners.moml.MOML`.
        None: the factor's default, "split" for "frame" and "cholesky", "clip" for "symmetric".
    cone_keep, cone_floor : float, default=0.1
        How much of a pull "split" takes, see :class:`~mloml.learners.moml.MOML`.
    n_components : int or None, default=None
        Rows of the first layer, (k, d), and size of all others, (k, k): for very many features, and for
        sparse rows. The first layer is then that of ``MOML(n_components=k)``; all are moml or opml layers
        that learn by forward propagation. None: d.
    init : {"pca", "random"}, default="pca"
        Where a first layer of k rows starts, see :class:`~mloml.learners.moml.MOML`.
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
        Steps that changed the layer, and steps that would have left the cone; under "split", shortened pulls.
    diverged_ : bool
        Whether learning had to stop because the numbers grew beyond all bounds.
    classes_, scale_, n_triplets_
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
    ``n_cone_failures_`` near ``n_updates_`` says that ``gamma`` is too large for what it sees. A lego layer
    also counts pairs that coincide there, from which it cannot learn. rdml layers are projected
    onto eigenvalues of at least 1e-4, because a layer's inverse is kept; RDML alone onto those from 0.

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
        "layer": [StrOptions({"moml", "opml", "lego", "rdml"}), list, tuple],
        "n_layers": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(layout.ACTIVATIONS))],
        "propagation": [StrOptions({"fp", "bp", "fbp"})],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "rate": [Interval(Real, 0, None, closed="left")],
        "decay": [Interval(Real, 0, None, closed="left")],
        "local_loss": [StrOptions({"scaled", "hinge"})],
        "routing": [StrOptions({"below", "all"})],
        "freeze_w": ["boolean"],
        "layer_params": [Mapping, list, tuple, None],
        "factor": [StrOptions({"frame", "cholesky", "symmetric"})],
        "cone": [StrOptions(set(layout.POLICIES)), None],
        "cone_keep": [Interval(Real, 0, 1, closed="neither")],
        "cone_floor": [Interval(Real, 0, 1, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "init": [StrOptions({"pca", "random"})],
    }

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
        factor: str = "frame",
        cone: str | None = None,
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
        self.factor = factor
        self.cone = cone
        self.cone_keep = cone_keep
        self.cone_floor = cone_floor
        self.n_components = n_components
        self.init = init
        self.scale = scale
        self.scans = scans
        self.shuffle = shuffle
        self.random_state = random_state
        self.triplets = triplets

    def unused_parameters(self) -> set[str]:
        """Return the names of parameters that have no effect with this kind of propagation."""
        loss_layer = {"rate", "decay", "local_loss", "routing", "freeze_w"}
        if self.propagation == "fp":
            return loss_layer
        if self.propagation == "bp":
            return {"gamma", "local_loss", "routing", "freeze_w", "factor", "cone", "cone_keep", "cone_floor"}
        return set()

    def _start(self, n_features: int, X: Array | None = None, y: NDArray[Any] | None = None) -> None:
        self.diverged_ = False
        self._state: StackState | NarrowStackState
        if self.n_components is None:
            self._state = StackState(n_features, layer_settings(self, X))
            return
        require_narrow(self, layer_names(self.layer, self.n_layers), n_features)
        start = first_factor(X, self.n_components, self.init, self.random_state)
        self._state = NarrowStackState(start, layer_settings(self, None))

    def _scale_is_set(self) -> None:
        if self.scale_ != 1.0 and isinstance(self._state, StackState):  # targets of lego layers
            self._state.numbers[:, [layout.LOWER, layout.UPPER]] /= self.scale_
            self._state.numbers[:, [layout.LOWER, layout.UPPER]] /= self.scale_

    _starts_alike = False  # the steps are part of the state
    _may_change = ("rate", "decay", "local_loss", "routing", "freeze_w")
    _form_parameters = ("n_components",)

    def _take_step(self) -> None:
        self._state.take_steps(layer_steps(self))

    @property
    def _scan(self) -> str:  # type: ignore[override]
        return scan_name(self.propagation, layer_kinds(self))

    def _widen(self, n_features: int) -> None:
        if isinstance(self._state, NarrowStackState):
            super()._widen(n_features)  # says that a narrow first layer cannot
        else:
            self._state.widen(n_features)

    def _kernels(self) -> set[str]:
        first = set() if self.n_components is None else {"low_rank.low_rank_scan"}
        return super()._kernels() | first

    @property
    def _takes_sparse(self) -> bool:
        return self.n_components is not None

    def _arrange(self, rows: Array) -> Array:
        return with_padding(rows) if self.n_components is None else rows

    def _learn(self, rows: Array, triplets: Triplets) -> None:
        how = Propagation(
            self.propagation,
            self.activation,
            float(self.rate),
            float(self.decay),
            self.local_loss,
            self.routing,
            bool(self.freeze_w),
        )
        if not self.diverged_ and not self._state.learn(rows, triplets, how):
            self.diverged_ = True
            warn_of_divergence(self, f"a smaller rate (now {self.rate:g}) or gamma (now {self.gamma:g})")

    def _finish(self) -> None:
        self.w_ = self._state.weights
        self.n_updates_ = self._state.counts[:, layout.UPDATES].copy()
        self.n_cone_failures_ = self._state.counts[:, layout.FAILURES].copy()

    def _step_counts(self) -> tuple[Any, Any]:
        return step_counts(self._state.counts)

    @learned
    def layers_(self) -> Any:
        """Return the learned factors; the first takes the user's rows."""
        layers: Any = self._state.layers
        if self.scale_ != 1.0:
            layers[0] /= self.scale_
        return layers
