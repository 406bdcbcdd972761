"""The tree of configs: the package's own folder, and folders of the user's beside it, read by Hydra alone.

A folder of one's own is laid out like ``conf/`` and named by ``--config-dir FOLDER`` or
``hydra.searchpath=[FOLDER]``, on every command line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from mloml.config.paths import conf_dir
from mloml.config.plain_yaml import yaml_problem
from mloml.errors import ConfigError, suggestion

SEARCH_PATH = "hydra.searchpath"


def search_path_override(folders: Iterable[str]) -> str:
    """Return the override that adds folders of the user's to the tree.

    >>> search_path_override(["/"])
    'hydra.searchpath=[file:///]'
    """
    return f"{SEARCH_PATH}=[{','.join(_written(address(folder)) for folder in folders)}]"


def _written(place: str) -> str:
    """Return a folder as text for Hydra's command line; in quotes where it needs them."""
    plain = re.fullmatch(r"[A-Za-z0-9_./:-]+", place)
    return place if plain else json.dumps(place, ensure_ascii=False)


def search_path(overrides: Sequence[str]) -> list[str]:
    """Return the folders and packages that an override adds to the tree, as Hydra writes them.

    >>> search_path(["dataset=iris", "hydra.searchpath=[file:///home/me/conf]"])
    ['file:///home/me/conf']
    """
    for word in overrides:
        if word.startswith(f"{SEARCH_PATH}="):
            try:
                found: Any = OverridesParser.create().parse_override(word).value()
            except HydraException:
                found = None
            if not isinstance(found, list):
                raise ConfigError(f"{word}: must be a list of folders such as [my/conf]")
            return [address(str(folder)) for folder in found]
    return []


def choices(group: str, beside: Sequence[str] = ()) -> list[str]:
    """Return the names a config group knows, with those of the user's own folders.

    >>> "paper" in choices("protocol")
    True
    """
    folders = [conf_dir(), *(_folder(address) for address in beside)]
    found = (
        entry.name for folder in folders if (folder / group).is_dir() for entry in (folder / group).iterdir()
    )
    return sorted({name.removesuffix(".yaml") for name in found if name.endswith(".yaml")})


def require_choice(group: str, name: str, beside: Sequence[str] = ()) -> str:
    """Return ``name`` when the group knows it; otherwise say which ones it knows."""
    known = choices(group, beside)
    if name not in known:
        raise ConfigError(f"{group}={name}: not one of {', '.join(known)}{suggestion(name, known)}")
    return name


def compose_one(config_name: str, overrides: Sequence[str]) -> DictConfig:
    """Compose a config with Hydra; what Hydra does not like is one line."""
    GlobalHydra.instance().clear()
    first, *beside = _first_with(config_name, search_path(overrides))
    others = [word for word in overrides if not word.startswith(f"{SEARCH_PATH}=")]
    added = [search_path_override(beside)] if beside else []
    try:
        with initialize_config_dir(first.removeprefix("file://"), version_base="1.3"):
            return compose(config_name, overrides=[*others, *added])
    except (HydraException, OmegaConfBaseException) as error:
        cause = error.__cause__ or error
        raise ConfigError(" ".join(str(cause).split())) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        file = getattr(getattr(error, "problem_mark", None), "name", conf_dir())
        raise ConfigError(f"{file}: {yaml_problem(error)}") from None


def compose_members(group: str, names: Sequence[str], beside: Sequence[str] = ()) -> dict[str, DictConfig]:
    """Compose several options of one group side by side, each as ``group=name`` alone would be.

    References to other groups, such as ``${protocol.scans}``, are left for the caller to resolve.

    >>> compose_members("algorithm", ["mloml_s"])["mloml_s"].activation
    'sigmoid'
    """
    names = list(dict.fromkeys(require_choice(group, name, beside) for name in names))
    words = [f"+{group}@members.m{number}={name}" for number, name in enumerate(names)]
    members = compose_one("config", [*words, search_path_override(beside)]).members
    return {name: members._get_node(f"m{number}") for number, name in enumerate(names)}


def _first_with(config_name: str, beside: Sequence[str]) -> list[str]:
    """Return our folder and the user's; one that has this config first, where Hydra wants it."""
    ours = f"file://{conf_dir()}"
    has_it = (place for place in (ours, *beside) if (_folder(place) / f"{config_name}.yaml").is_file())
    first = next(has_it, ours)
    if not first.startswith("file://"):
        raise ConfigError(f"{first}: {config_name}.yaml must be in a folder, not in a package")
    return [first, *(place for place in (ours, *beside) if place != first)]


def address(folder: str, key: str = SEARCH_PATH) -> str:
    """Return a folder as Hydra writes it; one that is not there is refused under the key that named it.

    >>> address("/")
    'file:///'
    """
    if "://" in folder:
        return folder
    path = Path(folder).expanduser().resolve()
    if not path.is_dir():
        raise ConfigError(f"{key}: '{folder}' is no folder")
    return f"file://{path}"


def _folder(address: str) -> Any:
    kind, _, place = address.partition("://")
    if kind == "file":
        return Path(place)
    if kind == "pkg":
        try:
            return files(place.replace("/", "."))
        except ImportError as error:
            raise ConfigError(f"{SEARCH_PATH}: {address} cannot be imported ({error})") from None
    raise ConfigError(f"{SEARCH_PATH}: {address} is neither file:// nor pkg://")
