"""MLOML: a stack of metric layers with non-linearities between them, the paper's framework (Section III)."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array
from mloml.errors import suggestion

from .layers import ACTIVATIONS, Layer, OpenStack, Stack
from .lego import make_lego_layer
from .low_rank_moml import LowRankLayer, first_factor, require_rank
from .moml import FLOOR, KEEP, MOMLLayer
from .online import OnlineLearner
from .opml import OPMLLayer
from .outputs import StackOutputs
from .propagation import GradientStack, Loss
from .rdml import RDMLLayer
from .stream import parameters_to_keep
from .triplets import Rule

# Settings that a layer of each algorithm can have.
KNOWN: dict[str, set[str]] = {
    "moml": {"gamma", "cone_keep", "cone_floor"},
    "opml": {"gamma"},
    "lego": {"gamma", "targets", "percentiles"},
    "rdml": {"gamma"},
}

# Settings of the gradient steps of bp and fbp, see Loss.
OF_GRADIENTS: dict[str, list[Any]] = {
    "rate": [Interval(Real, 0, None, closed="left")],
    "decay": [Interval(Real, 0, None, closed="left")],
    "local_loss": [StrOptions({"scaled", "hinge"})],
    "routing": [StrOptions({"below", "all"})],
    "freeze_w": ["boolean"],
}


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

    Each costs O(d²) per layer and triplet (rdml layers: O(d³) where they pull). With r, s, t for the
    activation the paper writes MLOML-r, -s, -t.

    Parameters
    ----------
    layer : {"moml", "opml", "lego", "rdml"} or list of them, default="moml"
        The algorithm of the layers. FBP needs moml and opml layers.
    n_layers : int or "auto", default=3
        Number of metric layers; 0 leaves the rows as they are, divided by ``scale_``. "auto" chooses from 0
        to ``max_layers``, together with ``gamma`` if that is "auto": a stack that learns by "fp" contains all
        shallower ones, so one fit gives the error of every depth.

        - ``fit`` chooses by the validation of ``gamma="auto"`` and goes deeper only for a gain of more than a
          standard error. Then ``max_layers`` layers learn from all rows.
        - In a stream, each span of 256 rows is classified at every depth before it is learned from, and older
          spans count less; the best depth is followed where it is surely better. Sahoo et al. and OAHU weigh
          the depths of a network online; here one of them answers.
    activation : {"relu", "sigmoid", "tanh"}, default="tanh"
        Non-linearity between layers. "tanh" and "sigmoid" suit all data. Near 0 "tanh" has slope 1, "sigmoid"
        1/4: it shrinks what the layers above see, so try it with a larger ``gamma``. "relu" is for rows
        without negative values: of standardised rows it throws away half of each layer's output.
    propagation : {"fp", "bp", "fbp"}, default="fp"
        How the layers learn.
    gamma : "auto" or float, default="auto"
        Step size of every layer's own algorithm. See :class:`~mloml.learners.opml.OPML`; "bp" has none.
    layer_params : dict or list of dicts, optional
        Further settings of all layers (a dict), or of each layer (a list of dicts):

        - "gamma": a layer's own step size;
        - "cone_keep" and "cone_floor" of moml layers, both 0.1: the share of the determinant of
          ``M + gamma q q'`` that a pull leaves at least, and how far a direction may be squeezed: a pull ends
          where ``p'M^-1 p`` reaches ``||p||² / cone_floor``;
        - "targets" and "percentiles" of lego layers, see :class:`~mloml.learners.lego.LEGO` (targets are
          squared distances between the user's rows, in every layer).

        In a dict also the settings of the gradient steps of "bp" and "fbp":

        - "rate", 1e-4: learning rate;
        - "decay", 0: weight ``lambda`` of the penalty in the loss;
        - "local_loss", "scaled" or "hinge": a layer's hinge times its step size, or its hinge;
        - "routing", "below" or "all": which layers the local loss of layer i moves, those below it (the
          paper's text), or layer i as well;
        - "freeze_w", False: keep the weights ``w_i`` at 1; learned ones can only fall, and stop at 0.

        :class:`~mloml.learners.paper_mloml.PaperMLOML` has them as parameters.
    n_components : int or None, default=None
        Rows of the first layer, (k, d), and size of all others, (k, k): for very many features, and for
        sparse rows. The first layer must be "moml" and is then that of
        :class:`~mloml.learners.low_rank_moml.LowRankMOML`; the others are moml or opml layers, and all
        learn by forward propagation. None: d.
    init : {"pca", "random"}, default="pca"
        Where a first layer of k rows starts, see :class:`~mloml.learners.low_rank_moml.LowRankMOML`.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.
    max_layers : int, default=5
        The most layers that ``n_layers="auto"`` may choose. Lists of ``layer`` and ``layer_params`` then have
        so many entries.

    Attributes
    ----------
    n_layers_ : int
        How many layers are in use. ``transform`` gives the output of the last of them; ``layer=`` asks for
        another, in use or not.
    layers_ : array of shape (n_layers, d, d), or list of arrays
        The learned ``L_i``; the first takes the user's rows, so it starts at the identity over ``scale_``.
        A list, (k, d) and then (k, k), with ``n_components``. ``max_layers`` of them with "auto".
    w_ : array of shape (n_layers,)
        Weights of the local losses.
    n_updates_, n_cone_failures_ : arrays of shape (n_layers,)
        Steps that changed the layer, and steps that would have left the cone: in moml layers, shortened
        pulls.
    classes_, gamma_, scale_, n_triplets_, n_unlabelled_, n_shortened_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    Each layer has its counters: one whose ``n_updates_`` stay at 0 sees its margins kept and is the identity;
    ``n_cone_failures_`` near ``n_updates_`` says that ``gamma`` is too large for what it sees. rdml layers
    are projected onto eigenvalues of at least 1e-4, because a layer's inverse is kept; RDML alone onto those
    from 0.

    References
    ----------
    W. Li, Y. Liu, J. Huo, Y. Shi, Y. Gao, L. Wang, J. Luo. A multilayer framework for online metric
    learning. IEEE Transactions on Neural Networks and Learning Systems, 2022 (arXiv 1805.05510).

    D. Sahoo, Q. Pham, J. Lu, S. C. H. Hoi. Online deep learning: learning deep neural networks on the fly.
    IJCAI, 2018.

    Y. Gao, Y.-F. Li, S. Chandra, L. Khan, B. Thuraisingham. Towards self-adaptive metric learning on the fly
    (OAHU). The Web Conference, 2019.

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
    0.978
    >>> search = GridSearchCV(model, {"mloml__activation": ["relu", "sigmoid", "tanh"]})  # fit: tries all
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "layer": [StrOptions(set(KNOWN)), list, tuple],
        "n_layers": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "max_layers": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "propagation": [StrOptions({"fp", "bp", "fbp"})],
        "layer_params": [Mapping, list, tuple, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "init": [StrOptions({"pca", "random"})],
    }

    def __init__(
        self,
        *,
        layer: str | Sequence[str] = "moml",
        n_layers: int | str = 3,
        activation: str = "tanh",
        propagation: str = "fp",
        gamma: float | str = "auto",
        layer_params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        n_components: int | None = None,
        init: str = "pca",
        scale: str | float | None = "auto",
        scans: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        triplets: Rule = "released",
        max_layers: int = 5,
    ) -> None:
        self.layer = layer
        self.n_layers = n_layers
        self.activation = activation
        self.propagation = propagation
        self.layer_params = layer_params
        self.n_components = n_components
        self.init = init
        self.max_layers = max_layers
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    _may_change: tuple[str, ...] = ("layer_params",)

    @property
    def _open(self) -> bool:  # type: ignore[override]
        return isinstance(self.n_layers, str)

    def _tried_steps(self) -> list[float]:
        fixed = self.propagation == "bp" or self.n_layers == 0  # which have no use for a step size
        return [self._given_step()] if fixed else super()._tried_steps()

    def _given_step(self) -> float:
        return 0.0 if self.n_layers == 0 else super()._given_step()

    def _require_forward(self) -> None:
        if self._open and self.propagation != "fp":
            raise ValueError(f"n_layers='auto' does not go with propagation={self.propagation!r}, use 'fp'")

    @available_if(lambda self: self._open)
    def fit_options(self, X: Any, y: Any, options: Sequence[Mapping[str, Any]]) -> list[Self]:
        """Return one fitted learner per candidate, such as ``{"n_layers": 2, "gamma": 0.01}``.

        One stack of ``max_layers`` per step size contains those of all depths. They share their layers: to go
        on learning with one of them, copy it. A stack that diverged does not contain the others: these are
        fitted one by one.
        """
        self._require_forward()
        deepest = clone(self).set_params(n_layers=self.max_layers)
        rests = [{name: value for name, value in option.items() if name != "n_layers"} for option in options]
        once = [rest for place, rest in enumerate(rests) if rest not in rests[:place]]
        if all(rest.keys() == {"gamma"} for rest in once):
            wholes = deepest.fit_grid(X, y, "gamma", [rest["gamma"] for rest in once])
        else:
            wholes = [clone(deepest).set_params(**rest).fit(X, y) for rest in once]
        found = []
        for option, rest in zip(options, rests, strict=True):
            whole, one = wholes[once.index(rest)], clone(self).set_params(**option)
            if whole.diverged_:
                found.append(one.fit(X, y))
                continue
            learned = {name: value for name, value in vars(whole).items() if name not in whole.get_params()}
            state = whole._state.prefix(option["n_layers"])
            vars(one).update(learned, _rivals=[state], _kept={}, _began_with=parameters_to_keep(one))
            found.append(one)
        return found

    @property
    def _takes_sparse(self) -> bool:
        return self.n_components is not None

    def _new_state(self, n_features: int, X: Any, step: float) -> Stack | GradientStack:
        self._require_forward()
        names, settings = self._layer_settings(step)
        unfit = sorted(set(names) - {"moml", "opml"})
        if self.propagation == "fbp" and unfit:
            raise ValueError(
                f"propagation='fbp' is defined for moml and opml layers only, layer has {unfit}; use fp or bp"
            )
        if self.n_components is not None:
            return self._narrow_stack(n_features, X, names, settings)
        if self.propagation == "fp":
            made = [
                make_layer(n, n_features, s, X, self.scale_) for n, s in zip(names, settings, strict=True)
            ]
            return self._stack(made)
        return GradientStack(n_features, names, settings, self.propagation == "fbp", self._loss())

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
        others = [make_layer(n, k, s, None, 1.0) for n, s in zip(names[1:], settings[1:], strict=True)]
        return self._stack([LowRankLayer(start, settings[0]["step"]), *others])

    def _stack(self, layers: list[Any]) -> Stack:
        return (OpenStack if self._open or not self.n_layers else Stack)(layers, self.activation)

    def _set_step(self, state: Any, step: float) -> None:
        steps = [settings["step"] * state.damping for settings in self._layer_settings(step)[1]]
        if isinstance(state, GradientStack):
            state.steps[:] = steps
            state.loss = self._loss()
        else:
            for layer, each in zip(state.layers, steps, strict=True):
                layer.step = each

    @property
    def w_(self) -> Array:
        """Weights of the local losses."""
        check_is_fitted(self)
        weights: Array = self._state.weights.copy()
        return weights

    def _gradient_settings(self) -> dict[str, Any]:
        """Return the settings of gradient steps that were given."""
        given = self.layer_params if isinstance(self.layer_params, Mapping) else {}
        return {name: given[name] for name in OF_GRADIENTS if name in given}

    def _loss(self) -> Loss:
        given = self._gradient_settings()
        validate_parameter_constraints(OF_GRADIENTS, given, f"layer_params of {type(self).__name__}")
        return Loss(self.activation, **given)

    def _layer_settings(self, step: float) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the algorithm of each layer and its settings, checked; ``step`` is that of all layers."""
        field = "max_layers" if self._open else "n_layers"
        n = max(1, getattr(self, field))  # one of none is there, and not in use
        names = [self.layer] * n if isinstance(self.layer, str) else list(self.layer)
        for name in names:
            if not isinstance(name, str) or name not in KNOWN:
                hint = suggestion(str(name), KNOWN)
                raise ValueError(f"layer has {name!r}, expected one of {', '.join(KNOWN)}{hint}")
        if len(names) != n:
            raise ValueError(
                f"layer has {len(names)} entries but {field} is {getattr(self, field)}: give one per layer"
            )
        given = self.layer_params or {}
        if isinstance(given, Mapping):
            alike = {key: value for key, value in given.items() if key not in OF_GRADIENTS}
        own: list[Any] = [alike] * len(names) if isinstance(given, Mapping) else list(given)
        if len(own) != len(names):
            raise ValueError(f"layer_params has {len(own)} entries, expected one per layer ({len(names)})")
        defaults = {"gamma": step, "cone_keep": KEEP, "cone_floor": FLOOR}
        return names, [checked(n, params, defaults) for n, params in zip(names, own, strict=True)]


def checked(name: str, own: Any, defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of one layer: its own entry of ``layer_params`` over the stack's."""
    if not isinstance(own, Mapping):
        raise ValueError(f"layer_params has {own!r}, expected a dict per layer")
    for key in own:
        if key not in KNOWN[name]:
            has = ", ".join(sorted(KNOWN[name]))
            raise ValueError(f"layer_params has {key!r}, but a {name} layer has {has}")
    settings = {**defaults, **own}
    step = settings["gamma"]
    if not isinstance(step, Real) or not 0 <= float(step) < np.inf:
        raise ValueError(f"the step size of a {name} layer is {step!r}, expected a number >= 0")
    keep, floor = settings["cone_keep"], settings["cone_floor"]
    if not isinstance(keep, Real) or not 0 < float(keep) < 1:
        raise ValueError(f"cone_keep of a layer is {keep!r}, expected a number above 0 and below 1")
    if not isinstance(floor, Real) or not 0 <= float(floor) < 1:
        raise ValueError(f"cone_floor of a layer is {floor!r}, expected a number from 0 and below 1")
    return {**settings, "step": float(step)}


def make_layer(name: str, n_features: int, settings: dict[str, Any], X: Any, scale: float) -> Layer:
    """Return one layer at its start; ``X`` are the rows that percentiles of lego layers are taken from."""
    step = settings["step"]
    if name == "moml":
        return MOMLLayer(n_features, step, float(settings["cone_keep"]), float(settings["cone_floor"]))
    if name == "lego":
        return make_lego_layer(n_features, step, settings, X, scale)
    return OPMLLayer(n_features, step) if name == "opml" else RDMLLayer(n_features, step)
