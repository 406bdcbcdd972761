"""From the config tree and the command line to validated dataclasses: Hydra composes, once; we check.

The tree is ``conf/``, and folders of the user's laid out like it, which travel among the overrides as
``hydra.searchpath=[FOLDER]`` (``--config-dir FOLDER`` on a command line).
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Glob, Override
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from mloml.config import conf_dir
from mloml.config.lookup import learner_class, parameter_names
from mloml.config.overrides import having, locate, own_name, parse, search_path, search_path_override
from mloml.config.schema import Algorithm, DatasetConfig, DataSettings, ExecutionConfig, ProtocolConfig, Study
from mloml.errors import ConfigError, require, suggestion

T = TypeVar("T")

RUN = ("dataset", "algorithm", "protocol", "execution", "data", "record")
# The fields of ``conf/config.yaml`` (one dataset under one algorithm) and ``conf/study.yaml`` (several).
STUDY = ("name", "datasets", "algorithms", "protocol", "execution", "data", "record", "leave_out")

# Hydra's own settings that have an effect here.
HYDRA = ("hydra.searchpath", "hydra.run.dir", "hydra.sweep.dir", "hydra.sweep.subdir")

# Groups whose keys may be left out: parameters of a learner, what is handed on to a cluster.
FREE = ("algorithm.", "execution.slurm.", "hydra.")

# Keys of an algorithm's YAML that are not parameters of its learner.
DESCRIPTION = ("name", "title", "learner", "_target_", "note", "grid")

# Learner parameters that only the protocol decides, so that all algorithms see the same stream.
SET_BY_PROTOCOL = ("random_state",)


def compose_study(name: str, overrides: Sequence[str] = ()) -> Study:
    """Compose an experiment: ``conf/experiment/<name>.yaml``.

    >>> compose_study("table2", ["datasets=[iris]", "algorithms=[euclidean]"]).datasets[0].name
    'iris'
    """
    folders, config = search_path(overrides), compose_config("study", overrides, name)
    settings = _settings(config)
    sets, variants = _variants(config, "datasets"), _variants(config, "algorithms")
    if not having(overrides, "datasets"):
        for _, changes in sets:
            locate(changes, "experiment", name, folders)
    datasets = compose_members("dataset", [base for base, _ in sets], folders)
    members = compose_members("algorithm", [base for base, _ in variants], folders)
    algorithms = [_changed(base, members[base], changes, config) for base, changes in variants]
    return Study(
        name=config.name,
        datasets=[typed(DatasetConfig, datasets[base] | changes, "dataset") for base, changes in sets],
        algorithms=algorithms,
        folders=tuple(folders),
        leave_out=_left_out(config),
        reference=(config.reference or algorithms[0].name) if "reference" in config else None,
        **settings,
    )


class Run(NamedTuple):
    """One dataset under one algorithm, the folder of its results, and that of its sweep's table."""

    study: Study
    folder: Path
    sweep: Path


def compose_run(overrides: Sequence[str] = (), job: int | None = None) -> Run:
    """Compose one dataset under one algorithm: ``conf/config.yaml``; ``job`` is its number in a sweep.

    >>> compose_run(["dataset=wine", "algorithm=moml"]).folder.as_posix()
    'results/runs/wine/moml'
    """
    folders, config = search_path(overrides), compose_config("config", overrides)
    if not having(overrides, "dataset.path"):
        locate(config.dataset, "dataset", config.hydra.runtime.choices.dataset, folders)
    study = Study(
        name="runs",
        datasets=[typed(DatasetConfig, config.dataset, "dataset")],
        algorithms=[algorithm(config.algorithm)],
        folders=tuple(folders),
        **_settings(config),
    )
    config.hydra.job.num = job or 0
    config.dataset.name = study.datasets[0].name
    with _one_line():
        sweep, folder = Path(config.hydra.sweep.dir), Path(config.hydra.run.dir)
        if job is not None:
            folder = sweep / str(config.hydra.sweep.subdir)
        elif not having(overrides, "hydra.run.dir"):
            usual = having(overrides, "dataset", "algorithm", "hydra.searchpath")
            others = [word for word in overrides if word not in [*usual, *having(overrides, "dataset.path")]]
            if len(usual) < len(overrides):
                folder = own_folder(folder, others, study, lambda: compose_run(usual).study)
    return Run(study, folder, sweep)


def own_folder(plain: Path, overrides: Sequence[str], study: Study, usual: Callable[[], Study]) -> Path:
    """Return the plain folder for the usual settings; others have one beside it, named after overrides."""
    with suppress(ConfigError):  # configs may need overrides: then there are no usual settings
        if usual().settings() == study.settings():
            return plain
    return plain.with_name(f"{plain.name}-{own_name(overrides, study.settings())}")


def compose_datasets(names: Sequence[str], folders: Sequence[str] = ()) -> dict[str, DatasetConfig]:
    """Compose several datasets' configs."""
    found = compose_members("dataset", names, folders)
    return {name: typed(DatasetConfig, node, f"dataset/{name}.yaml: dataset") for name, node in found.items()}


def compose_config(config_name: str, overrides: Sequence[str], experiment: str = "") -> DictConfig:
    """Compose ``config`` or ``study`` with Hydra, Hydra's own settings included; a mistake is one line."""
    parsed = parse(overrides)
    own = ("reference",) if experiment == "compare" else ()
    _check(parsed, (*STUDY, *own) if config_name == "study" else RUN)
    chosen = [f"experiment={experiment}"] if experiment else []
    with _one_line(parsed), _loader():
        return compose(config_name, overrides=[*chosen, *overrides], return_hydra_config=True)


def compose_members(
    group: str, names: Sequence[str], folders: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Compose several options of one group side by side, each as ``group=name`` alone would be.

    References to other groups, such as ``${protocol.scans}``, are left for the caller to resolve.

    >>> compose_members("algorithm", ["mloml_s"])["mloml_s"]["activation"]
    'sigmoid'
    """
    words = [f"+{group}@m{number}={name}" for number, name in enumerate(names)]
    with _one_line(), _loader():
        members = compose(overrides=[*words, search_path_override(folders)])
    plain: Any = OmegaConf.to_container(members)
    found = {name: plain[f"m{number}"] for number, name in enumerate(names)}
    for name, values in found.items():
        locate(values, group, name, folders)
    return found


def choices(group: str, folders: Sequence[str] = ()) -> list[str]:
    """Return the names a config group knows, with those of the user's own folders.

    >>> choices("protocol")
    ['clean', 'lite', 'paper', 'standardised', 'untuned']
    """
    with _one_line(), _loader() as loader:
        names = loader.get_group_options(group, overrides=[search_path_override(folders)])
    return [name for name in names if not name.startswith("_")]


def show_config(config: DictConfig) -> str:
    """Return a composed config as YAML, without Hydra's own settings."""
    return OmegaConf.to_yaml(OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"]))


def single_jobs(overrides: Sequence[str]) -> list[list[str]]:
    """Return the overrides of every job of a sweep.

    >>> single_jobs(["a=1,2", "b=range(3,5)", "c=6"])
    [['a=1', 'b=3', 'c=6'], ['a=1', 'b=4', 'c=6'], ['a=2', 'b=3', 'c=6'], ['a=2', 'b=4', 'c=6']]
    """
    folders = search_path(overrides)
    alternatives = [_alternatives(override, folders) for override in parse(overrides)]
    return [list(job) for job in product(*alternatives)]


def _alternatives(override: Override, folders: Sequence[str]) -> list[str]:
    word, pattern = str(override.input_line), override.value()
    if not override.is_sweep_override():
        return [word]
    if not override.is_discrete_sweep():
        raise ConfigError(f"{word}: must be values such as 1,3 or range(1,4) or choice(a,b), no interval")
    names = choices(override.key_or_group, folders) if isinstance(pattern, Glob) else []
    values = pattern.filter(names) if isinstance(pattern, Glob) else list(override.sweep_string_iterator())
    if not values:
        raise ConfigError(f"{word}: matches nothing")
    return [f"{override.get_key_element()}={value}" for value in values]


def typed(cls: type[T], node: Any, key: str) -> T:
    """Turn a config node into its dataclass; a wrong type or key is one line that names it."""
    schema, given = OmegaConf.structured(cls), _value(node)
    OmegaConf.set_readonly(schema, False)  # as frozen dataclasses are to OmegaConf, also against merging
    for word in (name for name in schema if not OmegaConf.is_missing(schema, name)):
        if isinstance(group := schema[word], DictConfig):
            OmegaConf.set_readonly(group, False)
            value, keys = given.get(word, {}), ", ".join(map(str, group)) or "such as '{a: 1}'"
            require(isinstance(value, Mapping), f"{key}.{word}", value, f"a group of keys: {keys}")
    try:
        return OmegaConf.to_object(OmegaConf.merge(schema, given))  # type: ignore[return-value]
    except ConfigKeyError as error:
        hint = suggestion(str(error.key), map(str, schema))
        raise ConfigError(f"{key}.{error.full_key}: no such key{hint}") from None
    except OmegaConfBaseException as error:
        path = str(error.full_key)
        value = OmegaConf.select(OmegaConf.create(given), path)
        raise ConfigError(f"{key}.{path}={value}: {_expectation(error, value)}") from None


def algorithm(node: Any, key: str = "algorithm") -> Algorithm:
    """Turn an algorithm's YAML into a checked :class:`Algorithm`.

    Parameter names come from the learner's signature and their ranges from its scikit-learn
    constraints, so that a new algorithm needs no schema of its own. The learner is a ``learner``, one of
    this package by name or any other by ``package.module.Class``, or Hydra's ``_target_``.
    """
    from mloml.learners.base import parameter_problem

    given = _value(node)
    learner = str(given.get("learner") or given.get("_target_") or "")
    for word, value in (("name", given.get("name")), ("title", given.get("title")), ("learner", learner)):
        if not value:
            raise ConfigError(f"{key}.{word}: missing")
    if learner.startswith("mloml."):
        learner = learner.rpartition(".")[2]
    try:
        kind = learner_class(learner)
    except ConfigError as error:
        raise ConfigError(f"{key}.{error}") from None
    params = {word: value for word, value in given.items() if word not in DESCRIPTION}
    grid = dict(given.get("grid") or {})
    for word, values in grid.items():
        fits = isinstance(values, list) and len(values) > 0
        require(fits, f"{key}.grid.{word}", values, "a list with at least one value")
        grid[word] = sorted(values)  # ties in cross-validation go to the smallest
    known = [word for word in parameter_names(kind) if word not in SET_BY_PROTOCOL]
    for word in [*params, *grid]:
        if word not in known:
            raise ConfigError(f"{key}.{word}: {kind.__name__} has no such parameter{suggestion(word, known)}")
    for word, value in params.items():
        chosen = value is None and word in grid
        for candidate in grid[word] if chosen else [value]:
            if problem := parameter_problem(kind, word, candidate):
                raise ConfigError(f"{key}.{'grid.' if chosen else ''}{word}={candidate}: {problem}")
    return Algorithm(given["name"], given["title"], learner, params, grid, given.get("note"))


@contextmanager
def _loader() -> Iterator[ConfigLoader]:
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"), warnings.catch_warnings():
        warnings.filterwarnings("error", "provider=")  # a place on the search path that is not there
        yield GlobalHydra.instance().config_loader()


@contextmanager
def _one_line(overrides: Sequence[Override] = ()) -> Iterator[None]:
    """Say in one line what Hydra does not like, and which word on the command line it is about."""
    try:
        yield
    except MissingConfigException as error:
        group, _, name = str(error.missing_cfg_file).partition("/")
        known = [option for option in error.options or [] if not option.startswith("_")]
        own = f"; a file of yours is dataset=csv dataset.path={name}, in a list {{use: csv, path: {name}}}"
        hint = own if group == "dataset" and Path(name).suffix else suggestion(name, known)
        raise ConfigError(f"{group}={name}: not one of {', '.join(known)}{hint}") from None
    except (HydraException, OmegaConfBaseException, UserWarning) as error:
        cause = error.__cause__ or error
        if isinstance(cause, ConfigKeyError | ConfigAttributeError):
            raise ConfigError(_unknown_key(cause, overrides)) from None
        key = f"{cause.full_key}: " if isinstance(cause, OmegaConfBaseException) else ""
        raise ConfigError(key + " ".join(str(cause).partition("full_key")[0].split())) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{mark.name}, line {mark.line + 1}" if mark else str(conf_dir())
        raise ConfigError(f"{place}: not plain YAML ({getattr(error, 'problem', error)})") from None


def _unknown_key(error: OmegaConfBaseException, overrides: Sequence[Override]) -> str:
    group, _, key = str(error.full_key).rpartition(".")
    known = [str(name) for name in error.parent_node or {}]
    words = (str(o.input_line) for o in overrides if str(error.full_key).startswith(o.key_or_group))
    only = f", only {', '.join(known)}" if known else ""
    hint = suggestion(key, known) or f"; +{group}.{key} adds it"
    return f"{next(words, error.full_key)}: '{group}' has no key '{key}'{only}{hint}"


def _check(overrides: Sequence[Override], fields: Sequence[str]) -> None:
    """Refuse what has no effect here, before Hydra adds it in silence."""
    for override in overrides:
        word, key = str(override.input_line), override.key_or_group
        field = re.split(r"[./]", key)[0]
        if field == "hydra" and key not in HYDRA:
            why = "sweeps run one job after another, its cells in parallel (execution.n_jobs)"
            raise ConfigError(f"{word}: only {', '.join(HYDRA)} have an effect here; {why}")
        if field not in (*fields, "hydra"):
            value = word.partition("=")[2].strip("[]")
            listed = key == field and f"{field}s" in fields
            hint = f"; did you mean '{field}s=[{value}]'?" if listed else suggestion(field, fields)
            raise ConfigError(f"{word}: there is no field '{field}' here, only {', '.join(fields)}{hint}")
        if override.is_sweep_override():
            raise ConfigError(f"{word}: must be one value; several make a sweep: mloml -m {word}")
        if override.is_delete() and not key.startswith(FREE):
            raise ConfigError(f"{word}: no field can be taken away; say what it shall be: {key}=VALUE")


def _value(node: Any) -> Any:
    """Return a config's plain values, references resolved."""
    with _one_line():
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def _settings(config: DictConfig) -> dict[str, Any]:
    record = _value(config.record)
    fits = isinstance(record, list) and set(record) <= {"layers", "scans"}
    require(fits, "record", record, "a list of 'layers' and 'scans'")
    groups = {"protocol": ProtocolConfig, "execution": ExecutionConfig, "data": DataSettings}
    return {key: typed(kind, config[key], key) for key, kind in groups.items()} | {"record": tuple(record)}


def _left_out(config: DictConfig) -> tuple[dict[str, list[str]], ...]:
    """Return the pairs that an experiment leaves out; one without names both ways would leave out nothing."""
    entries = _value(config.leave_out)
    for entry in entries if isinstance(entries, list) else [entries]:
        whole = isinstance(entry, dict) and set(entry) == {"algorithms", "datasets"}
        fits = whole and all(isinstance(names, list) for names in entry.values())
        require(fits, "leave_out", entry, "'[{algorithms: [a,b], datasets: [c]}]'")
    return tuple(entries)


def _variants(config: DictConfig, key: str) -> list[tuple[str, dict[str, Any]]]:
    """Split entries such as ``{use: mloml_r, n_layers: 5}`` into the config they start from and changes."""
    entries, found = _value(config.get(key)), []
    fits = isinstance(entries, list) and len(entries) > 0
    require(fits, key, entries, "a list such as '[a,b]' with at least one name")
    for entry in entries:
        changes = dict(entry) if isinstance(entry, Mapping) else {"use": entry}
        if "use" not in changes:
            raise ConfigError(f"{key}={entry}: a variant needs 'use: NAME', the {key[:-1]} it starts from")
        found.append((str(changes.pop("use")), changes))
    return found


def _changed(base: str, values: dict[str, Any], changes: dict[str, Any], config: DictConfig) -> Algorithm:
    """Return an algorithm with changed parameters, beside the protocol, which they may refer to."""
    named = {"title": changes["name"]} if "name" in changes else {}
    tree = OmegaConf.merge({"algorithm": values, "protocol": config.protocol}, {"algorithm": named | changes})
    return algorithm(tree.algorithm, key=str(changes.get("name", base)))


def _expectation(error: OmegaConfBaseException, value: Any) -> str:
    """Say in words what type was expected."""
    message = str(error).splitlines()[0]
    words = {"Integer": "a whole number", "Float": "a number", "bool": "true or false"}
    words["ListConfig"] = f"a list such as [{value}]"
    return next((f"must be {text}" for kind, text in words.items() if kind in message), message)
