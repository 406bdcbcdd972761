"""Overrides, ``key=value``: parsed, with the user's folders among them, and as a name for results."""

import json
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from mloml.config import conf_dir
from mloml.config.schema import LONGEST_NAME
from mloml.errors import ConfigError, require

# Keys that say where results go and how they are computed, not what they are.
ELSEWHERE = ("execution", "data", "hydra", "name")


def parse(overrides: Sequence[str]) -> list[Override]:
    """Parse ``key=value`` words; the first that is not one is refused by name."""
    parser, parsed = OverridesParser.create(), []
    for word in overrides:
        try:
            parsed.append(parser.parse_override(word))
        except HydraException as error:
            key, equals, value = word.partition("=")
            reason = f" ({str(error).splitlines()[0]})" if equals else ""
            if value and not set(value) & set("[]{}()\"'"):
                reason += f"""; text such as this goes in quotes: '{key}="{value}"'"""
            raise ConfigError(f"{word}: not of the form key=value{reason}") from None
    return parsed


def having(overrides: Sequence[str], *keys: str) -> list[str]:
    """Return the overrides of some keys.

    >>> having(["dataset=iris", "dataset.missing=drop", "hydra.searchpath=[]"], "dataset", "hydra.searchpath")
    ['dataset=iris', 'hydra.searchpath=[]']
    """
    return [str(override.input_line) for override in parse(overrides) if override.key_or_group in keys]


def own_name(overrides: Sequence[str], settings: Any) -> str:
    """Name results after overrides and all settings, so that the same settings find their folder again.

    >>> own_name(["protocol=lite", "datasets=[iris,wine]", "execution.n_jobs=2"], {})
    'datasets-iris_wine-protocol-lite-44136fa3'
    """
    words = sorted(word.lstrip("+~") for word in overrides)
    kept = [word.replace("=", "-") for word in words if re.split(r"[.=/]", word)[0] not in ELSEWHERE]
    slug = re.sub(r"[^A-Za-z0-9.-]+", "_", "-".join(kept)).replace("-_", "-").replace("_-", "-")
    if len(slug) > LONGEST_NAME:
        slug = re.sub("[-_.][^-_.]*$", "", slug[:LONGEST_NAME])  # whole words
    digest = sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()
    return "-".join(filter(None, [slug.strip("_-."), digest[:8]]))


def search_path_override(folders: Iterable[str]) -> str:
    """Return the override that adds folders of the user's to the tree.

    >>> search_path_override(["/"])
    'hydra.searchpath=["file:///"]'
    """
    return f"hydra.searchpath={json.dumps([address(folder) for folder in folders], ensure_ascii=False)}"


def search_path(overrides: Sequence[str]) -> list[str]:
    """Return the folders and packages that overrides add to the tree, as Hydra writes them.

    >>> search_path(["dataset=iris", "hydra.searchpath=[file:///home/me/conf]"])
    ['file:///home/me/conf']
    """
    found: list[str] = []
    for override in parse([word for word in overrides if word.startswith("hydra.searchpath=")]):
        folders: Any = override.value()
        if not isinstance(folders, list):
            raise ConfigError(f"{override.input_line}: must be a list of folders such as [my/conf]")
        found += [address(str(folder)) for folder in folders]
    return found


def address(folder: str, key: str = "hydra.searchpath") -> str:
    """Return a folder as Hydra writes it; one that is not there is refused under the key that named it."""
    if "://" in folder:
        return folder
    path = Path(folder).expanduser().resolve()
    require(path.is_dir(), key, folder, "a folder")
    return f"file://{path}"


def locate(values: Any, group: str, name: str, folders: Sequence[str]) -> None:
    """Make the path of a data file, if there is one, relative to the config file that names it."""
    if path := values.get("path"):
        homes = [conf_dir(), *(Path(folder.removeprefix("file://")) for folder in folders)]
        home = next((home for home in homes if (home / group / f"{name}.yaml").is_file()), None)
        values["path"] = str(Path(home, group, Path(path).expanduser()) if home else path)
