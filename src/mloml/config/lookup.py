"""From the name in a config to the class of a learner: the package's own, or any importable estimator."""

import inspect
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mloml import learners
from mloml.errors import RIVER, ConfigError, suggestion

# What a class from elsewhere must offer: a transformer's methods, or those of a classifier of streams.
NEEDED = ("fit", "transform", "get_params", "set_params")
CLASSIFIERS = (("learn_one", "predict_one"), ("partial_fit", "predict"))

# When each module from elsewhere was imported; its source may have been edited since.
imported_at: dict[str, float] = {}


def _import_and_note(name: str) -> Any:
    """Import a module; note when, for it and for those that it brings."""
    before, moment = set(sys.modules), time.time()
    try:
        return import_module(name)
    finally:
        imported_at.update(dict.fromkeys(sys.modules.keys() - before, moment))


def is_foreign(name: str) -> bool:
    """Tell a class from elsewhere (``package.module.Class``) from one of the package's own.

    >>> is_foreign("sklearn.neighbors.NeighborhoodComponentsAnalysis"), is_foreign("MOML")
    (True, False)
    """
    return "." in name


def learner_class(name: str) -> type[Any]:
    """Return a learner by its name; a class from elsewhere is imported by this call, and never called.

    >>> learner_class("os.system")
    Traceback (most recent call last):
    ...
    mloml.errors.ConfigError: learner 'os.system' is not a class
    """
    if is_foreign(name):
        return _foreign_class(name)
    known = learners.find_learners()
    if name in known:
        return known[name]
    if name == "BatchStack":  # which is not one to import: that is ``mloml.stack``
        kind: type[Any] = import_module("mloml.learners.stacking").BatchStack
        return kind
    others = "or package.module.Class for an estimator of yours"
    raise ConfigError(f"learner '{name}' is not one of {', '.join(known)}, {others}{suggestion(name, known)}")


def is_stream_classifier(kind: type[Any]) -> bool:
    """Tell a class from elsewhere that classifies streams by itself from one that maps rows."""
    own = kind.__module__.split(".")[0] == "mloml"
    return not own and any(all(callable(getattr(kind, name, None)) for name in pair) for pair in CLASSIFIERS)


def parameter_names(kind: type[Any]) -> list[str]:
    """Return the names of a learner's parameters."""
    return list(inspect.signature(kind).parameters)


def recordable(kind: type[Any]) -> set[str]:
    """Return what can be recorded of a learner besides its error; asking for more makes no new cell."""
    layers = {"layers"} if "n_layers" in parameter_names(kind) else set()
    return layers | ({"scans"} if hasattr(kind, "iter_scans") else set())


def _foreign_class(name: str) -> type[Any]:
    module, _, attribute = name.rpartition(".")
    try:
        if not _can_be_found(name.split(".")[0]):
            raise ImportError(f"No module named {module!r}")
        kind = getattr(_import_and_note(module), attribute)
    except AttributeError:
        raise ConfigError(f"learner '{name}': module {module} has no {attribute}") from None
    except ImportError as error:
        hint = RIVER if name.startswith("river.") else "is it on PYTHONPATH?"
        raise ConfigError(f"learner '{name}' cannot be imported ({error}); {hint}") from None
    except (Exception, SystemExit) as error:  # whatever the module does while it is imported
        raise ConfigError(f"learner '{name}': importing {module} failed ({error!r})") from None
    if not inspect.isclass(kind):
        raise ConfigError(f"learner '{name}' is not a class")
    if is_stream_classifier(kind):
        return kind
    missing = [method for method in NEEDED if not callable(getattr(kind, method, None))]
    if missing:
        raise ConfigError(f"learner '{name}' is no scikit-learn transformer: it has no {', '.join(missing)}")
    parameters = inspect.signature(kind).parameters.values()
    bare = [
        one.name for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    if bare:
        raise ConfigError(f"learner '{name}': parameter {', '.join(bare)} has no default")
    return kind


def _can_be_found(top: str) -> bool:
    try:
        return find_spec(top) is not None
    except ValueError:  # no name at all, or __main__, which workers cannot import
        return False
