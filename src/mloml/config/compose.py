"""From the config tree and the command line to validated dataclasses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

from mloml.config import overrides as override_checks
from mloml.config.schema import Algorithm, ExecutionConfig, ProtocolConfig, Study
from mloml.config.tree import compose_members, compose_one, search_path, search_path_override
from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.errors import ConfigError, suggestion
from mloml.experiments.lookup import learner_class, parameter_names

T = TypeVar("T")

DESCRIPTION = ("name", "title", "learner", "note", "grid")
"""Keys of an algorithm's YAML that are not parameters of its learner."""

SET_BY_PROTOCOL = ("random_state",)
"""Learner parameters that only the protocol decides, so that all algorithms see the same stream."""


def compose_study(name: str, overrides: Sequence[str] = ()) -> Study:
    """Compose an experiment of the paper.

    >>> compose_study("table2", ["datasets=[iris]", "algorithms=[euclidean]"]).datasets[0].name
    'iris'
    """
    config, beside = compose_config(f"experiment/{name}", overrides), search_path(overrides)
    sets, variants = (
        [_variant(entry, key) for entry in _listed(config, key)] for key in ("datasets", "algorithms")
    )
    datasets = compose_members("dataset", [base for base, _ in sets], beside)
    bases = compose_members("algorithm", [base for base, _ in variants], beside)
    return Study(
        name=config.name,
        datasets=[
            typed(DatasetConfig, {**_plain(datasets[base]), **changes}, "dataset") for base, changes in sets
        ],
        algorithms=[_changed(base, bases[base], changes, config) for base, changes in variants],
        folders=tuple(beside),
        leave_out=_left_out(config),
        **_settings(config),
    )


def study_from_config(config: DictConfig, name: str, folders: tuple[str, ...] = ()) -> Study:
    """Return the study of a composed ``config.yaml``: one dataset under one algorithm.

    ``folders`` are those of the user's own that took part.
    """
    return Study(
        name=name,
        datasets=[typed(DatasetConfig, config.dataset, "dataset")],
        algorithms=[algorithm(config.algorithm)],
        folders=folders,
        **_settings(config),
    )


def compose_config(config_name: str, overrides: Sequence[str]) -> DictConfig:
    """Compose with Hydra; unknown options and misspelt keys are refused with a suggestion first."""
    parsed = override_checks.parse(overrides)
    fields = override_checks.RUN if config_name == "config" else override_checks.EXPERIMENT
    override_checks.check_one_run(parsed, fields)
    beside = search_path(overrides)
    in_groups = [override for override in parsed if override.key_or_group in override_checks.GROUPS]
    override_checks.check(in_groups, OmegaConf.create(), beside)
    try:
        return compose_one(config_name, overrides)
    except ConfigError:
        groups = [override.input_line for override in in_groups if override.input_line]
        base = compose_one(config_name, [*groups, search_path_override(beside)])
        override_checks.check(parsed, base, beside)
        raise  # nothing we can say better than Hydra


def typed(cls: type[T], node: Any, key: str) -> T:
    """Turn a config node into its dataclass; a wrong type or key is one line that names it."""
    schema = _schema(cls)
    given = _plain(node)
    _require_groups(schema, given, key)
    try:
        return OmegaConf.to_object(OmegaConf.merge(schema, given))  # type: ignore[return-value]
    except ConfigKeyError as error:
        word = str(error.key)
        known = [str(name) for name in schema]
        raise ConfigError(f"{key}.{word}: no such key{suggestion(word, known)}") from None
    except OmegaConfBaseException as error:
        path = str(error.full_key or "")
        value = OmegaConf.select(OmegaConf.create(given), path) if path else given
        raise ConfigError(f"{key}.{path}={value}: {_expectation(error, value)}") from None


def algorithm(node: Any, key: str = "algorithm") -> Algorithm:
    """Turn an algorithm's YAML into a checked :class:`Algorithm`.

    Parameter names come from the learner's signature and their ranges from its scikit-learn
    constraints, so that a new algorithm needs no schema of its own.
    """
    given = _plain(node)
    for word in ("name", "title", "learner"):
        if not given.get(word):
            raise ConfigError(f"{key}.{word}: missing")
    learner = _learner_class(given["learner"], key)
    params = {word: value for word, value in given.items() if word not in DESCRIPTION}
    grid = {word: _grid_values(word, found, key) for word, found in (given.get("grid") or {}).items()}
    known = [word for word in parameter_names(learner) if word not in SET_BY_PROTOCOL]
    for word in [*params, *grid]:
        if word not in known:
            raise ConfigError(
                f"{key}.{word}: {learner.__name__} has no such parameter{suggestion(word, known)}"
            )
    for word, value in params.items():
        if value is None and word in grid:
            for candidate in grid[word]:
                _check_parameter(learner, word, candidate, f"{key}.grid.{word}")
        else:
            _check_parameter(learner, word, value, f"{key}.{word}")
    return Algorithm(given["name"], given["title"], given["learner"], params, grid, given.get("note"))


def _schema(cls: type) -> DictConfig:
    """Return a dataclass's schema; OmegaConf makes frozen ones read-only, also against merging."""
    schema: DictConfig = OmegaConf.structured(cls)
    for node in (schema, *(schema._get_node(name) for name in schema)):
        if isinstance(node, DictConfig):
            OmegaConf.set_readonly(node, False)
    return schema


def _require_groups(schema: DictConfig, given: dict[str, Any], key: str) -> None:
    """Refuse a single value where a group of fields belongs: OmegaConf's own words name classes."""
    for word, value in given.items():
        fields = schema._get_node(word) if word in schema else None
        if isinstance(fields, DictConfig) and not isinstance(value, Mapping):
            inside = f"its fields are {', '.join(map(str, fields))}" if fields else "such as '{a: 1}'"
            raise ConfigError(f"{key}.{word}={value}: must be a group, not a single value; {inside}")


def _plain(node: Any) -> dict[str, Any]:
    return dict(_value(node))


def _value(node: Any) -> Any:
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def _settings(config: DictConfig) -> dict[str, Any]:
    record = _value(config.record)
    if not isinstance(record, list) or any(word not in ("layers", "scans") for word in record):
        raise ConfigError(f"record={record}: must be a list of 'layers' and 'scans'")
    return {
        "protocol": typed(ProtocolConfig, config.protocol, "protocol"),
        "execution": typed(ExecutionConfig, config.execution, "execution"),
        "data": typed(DataSettings, config.data, "data"),
        "record": tuple(record),
    }


def _listed(config: DictConfig, key: str) -> list[Any]:
    entries = _value(config[key])
    if not isinstance(entries, list) or not entries:
        raise ConfigError(f"{key}={entries}: must be a list such as '[a,b]' with at least one name")
    return entries


def _left_out(config: DictConfig) -> tuple[dict[str, list[str]], ...]:
    """Return the pairs that an experiment leaves out; one without names both ways would leave out nothing."""
    entries = _value(config.get("leave_out", []))
    for entry in entries if isinstance(entries, list) else [entries]:
        whole = isinstance(entry, dict) and set(entry) == {"algorithms", "datasets"}
        if not (whole and all(isinstance(names, list) for names in entry.values())):
            raise ConfigError(f"leave_out={entry}: must be '[{{algorithms: [a,b], datasets: [c]}}]'")
    return tuple(entries)


def _variant(entry: str | Mapping[str, Any], key: str) -> tuple[str, dict[str, Any]]:
    """Split ``{use: mloml_r, n_layers: 5}`` into the config it starts from and what it changes."""
    changes = dict(entry) if isinstance(entry, Mapping) else {"use": entry}
    if "use" not in changes:
        raise ConfigError(f"{key}={entry}: a variant needs 'use: NAME', the {key[:-1]} it starts from")
    return str(changes.pop("use")), changes


def _changed(base: str, node: DictConfig, changes: dict[str, Any], config: DictConfig) -> Algorithm:
    """Return an algorithm with changed parameters."""
    # The protocol stands beside it, because parameters may refer to it (`rate: ${protocol.bp_rate}`).
    OmegaConf.set_struct(node, False)
    beside = OmegaConf.create({"protocol": config.protocol, "algorithm": OmegaConf.merge(node, changes)})
    return algorithm(beside.algorithm, key=str(changes.get("name", base)))


def _learner_class(name: str, key: str) -> type[Any]:
    try:
        return learner_class(str(name))
    except ConfigError as error:
        raise ConfigError(f"{key}.{error}") from None


def _grid_values(word: str, found: Any, key: str) -> list[Any]:
    """Return a grid's values in ascending order: ties in cross-validation go to the smallest."""
    if not isinstance(found, list) or not found:
        raise ConfigError(f"{key}.grid.{word}={found}: must be a list with at least one value")
    return sorted(found)


def _check_parameter(learner: Any, word: str, value: Any, key: str) -> None:
    from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

    known = getattr(learner, "_parameter_constraints", {})
    constraints = {word: known[word]} if word in known else {}
    try:
        validate_parameter_constraints(constraints, {word: value} if constraints else {}, learner.__name__)
    except InvalidParameterError as error:
        raise ConfigError(f"{key}={value}: {error}") from None


def _expectation(error: OmegaConfBaseException, value: Any) -> str:
    """Say in words what type was expected."""
    message = str(error).splitlines()[0]
    words = {"Integer": "a whole number", "Float": "a number", "Boolean": "true or false"}
    words["ListConfig"] = f"a list such as [{value}]"
    return next((f"must be {text}" for kind, text in words.items() if kind in message), message)
