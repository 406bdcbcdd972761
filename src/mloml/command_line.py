"""Command lines: the one that was typed, sorted; the one behind an artefact; one for a single cell."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mloml.config.paths import repository
from mloml.errors import ConfigError

if TYPE_CHECKING:
    from mloml.config.schema import Study
    from mloml.experiments.cell import Cell


FOLDER_FLAGS = ("-cd", "--config-dir")
VALUE_FLAGS = ("-c", "--cfg", "-p", "--package", "-cn", "--config-name", "-cp", "--config-path")
"""Hydra's flags that a value follows."""

PURPOSES = {
    "-m": "-m",
    "--multirun": "-m",
    "-c": "--cfg",
    "--cfg": "--cfg",
    "-i": "--info",
    "--info": "--info",
}
"""Hydra's flags that say what to do; it does one thing at a time."""

MACHINE = re.compile(r"[+~]*(execution|data\.dir|data\.cache)\b")
"""Overrides that say where and how to run; they change no result."""


@dataclass(frozen=True)
class Command:
    """A command line: the script or program, and its arguments.

    >>> command = Command("/somewhere/bin/mloml", ("dataset=iris", "execution.only=[1, 2]"))
    >>> command.typed
    "mloml dataset=iris 'execution.only=[1, 2]'"
    """

    script: str
    arguments: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        """As one would type it again."""
        start = ["python", self.script] if self.script.endswith(".py") else [Path(self.script).name]
        return shlex.join([*start, *self.arguments])

    @property
    def asked(self) -> str:
        """What was asked for, not where it ran: for the files of an artefact.

        The same for every machine, backend and results folder, so that files can be compared.

        >>> Command("mloml", ("reproduce", "table2", "protocol=clean", "execution.n_jobs=4")).asked
        'mloml reproduce table2 protocol=clean'
        """
        path, root, script = Path(self.script), repository(), self.script
        if path.is_absolute():
            inside = root is not None and path.is_relative_to(root)
            script = str(path.relative_to(root)) if root is not None and inside else path.name
        kept = (word for word in self.arguments if not MACHINE.match(word))
        return Command(script, tuple(kept)).typed


def process_command() -> Command:
    """Return the command line of this process; nothing else reads ``sys.argv``."""
    module = Path(sys.argv[0]).parts[-2:] == ("mloml", "__main__.py")  # python -m mloml
    return Command("mloml" if module else sys.argv[0], tuple(sys.argv[1:]))


@dataclass
class Words:
    """A command line, sorted: overrides, Hydra's flags with their values, folders of the user's configs."""

    overrides: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, arguments: Sequence[str]) -> Words:
        """Sort a command line.

        >>> Words.of(["--cfg", "job", "dataset=iris", "--config-dir", "my"])
        Words(overrides=['dataset=iris'], flags=['--cfg', 'job'], folders=['my'])
        """
        words, waiting = cls(), list(arguments)
        while waiting:
            word = waiting.pop(0)
            flag, equals, value = word.partition("=")
            if not word.startswith("-"):
                words.overrides.append(word)
                continue
            takes_value = flag in (*FOLDER_FLAGS, *VALUE_FLAGS)
            if takes_value and not equals:
                if not waiting:
                    raise ConfigError(f"{flag}: a value must follow")
                value = waiting.pop(0)
            if flag in FOLDER_FLAGS:
                words.folders.append(value)
            else:
                words.flags += [flag, value] if takes_value else [word]
        asked = dict.fromkeys(PURPOSES[flag] for flag in words.flags if flag in PURPOSES)
        if len(asked) > 1:
            raise ConfigError(f"{' '.join(asked)}: must be one of these, each asks for something else")
        return words

    @property
    def is_sweep(self) -> bool:
        """Whether several jobs are asked for."""
        return bool({"-m", "--multirun"} & set(self.flags))

    def with_folders(self) -> list[str]:
        """Return the overrides with the user's folders of configs among them, the one way they travel."""
        from mloml.config.tree import SEARCH_PATH, address, search_path, search_path_override

        folders = [
            *(address(folder, "--config-dir") for folder in self.folders),
            *search_path(self.overrides),
        ]
        others = [word for word in self.overrides if not word.startswith(f"{SEARCH_PATH}=")]
        return [*others, search_path_override(folders)] if folders else others


def rerun_command(study: Study, cell: Cell) -> str:
    """Return the command that runs just this cell, whatever command it was part of."""
    folders = study.folders
    base = _algorithm_config(cell, folders)
    words = [f"dataset={cell.dataset}", f"algorithm={base}", f"protocol={cell.protocol.name}"]
    protocol = dataclasses.asdict(cell.protocol)
    words += _changes("protocol", _composed("protocol", cell.protocol.name, folders), protocol)
    given = cell.algorithm.params | {"name": cell.algorithm.name, "grid": cell.algorithm.grid}
    words += _changes("algorithm", _composed("algorithm", base, folders, protocol), given)
    if cell.record:
        words.append(f"record=[{','.join(cell.record)}]")
    config = next(config for config in study.datasets if config.name == cell.dataset)
    words += _changes(
        "dataset",
        _composed("dataset", cell.dataset, folders),
        {"path": config.path, "label": config.label},
    )
    data = _composed("data", "default", folders, protocol) | {"dir": None}
    words += _changes("data", data, dataclasses.asdict(study.data), dataclasses.asdict(type(study.data)()))
    usual = type(study.execution)()
    for key in ("results", "time_limit"):
        if (value := getattr(study.execution, key)) != getattr(usual, key):
            words.append(f"execution.{key}={value}")
    return shlex.join(["mloml", *_folder_words(folders), *words, f"execution.only=[{cell.split}]"])


def _folder_words(folders: Sequence[str]) -> list[str]:
    paths = [folder.removeprefix("file://") for folder in folders if folder.startswith("file://")]
    others = [folder for folder in folders if not folder.startswith("file://")]
    found = [word for path in paths for word in ("--config-dir", path)]
    return [*found, f"hydra.searchpath=[{','.join(others)}]"] if others else found


def _algorithm_config(cell: Cell, folders: tuple[str, ...]) -> str:
    """Return the config an algorithm comes from; a variant under another name shares its learner."""
    from mloml.config.tree import choices

    names = choices("algorithm", folders)
    if cell.algorithm.name in names:
        return cell.algorithm.name
    same = (n for n in names if _composed("algorithm", n, folders).get("learner") == cell.algorithm.learner)
    return next(same, cell.algorithm.name)


def _composed(
    group: str, name: str, folders: tuple[str, ...], protocol: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a config's values; an algorithm's may refer to the protocol beside it."""
    from omegaconf import OmegaConf

    tree = OmegaConf.create({"protocol": protocol or {}, group: _as_written(group, name, folders)})
    resolved: Any = OmegaConf.to_container(tree, resolve=protocol is not None)
    return dict(resolved[group])


@cache
def _as_written(group: str, name: str, folders: tuple[str, ...]) -> dict[str, Any]:
    from omegaconf import OmegaConf

    from mloml.config.tree import choices, compose_members

    if name not in choices(group, folders):
        return {}
    members = compose_members(group, [name], folders)
    found: Any = OmegaConf.to_container(members[name], resolve=False)
    return dict(found)


def _changes(
    prefix: str, defaults: dict[str, Any], given: dict[str, Any], otherwise: dict[str, Any] | None = None
) -> Iterator[str]:
    """Yield an override for every value that differs from its config file, or from its default elsewhere."""
    for name, value in given.items():
        usual = defaults.get(name, (otherwise or {}).get(name))
        if isinstance(value, dict):
            yield from _changes(f"{prefix}.{name}", usual or {}, value)
        elif value != usual:
            # Hydra wants a plus sign for keys that the file does not have.
            yield f"{'' if name in defaults else '+'}{prefix}.{name}={_word(value)}"


def _word(value: Any) -> str:
    """Spell a value for Hydra's command line.

    >>> _word(None), _word([1, 2]), _word("a.csv"), _word("my file.csv")
    ('null', '[1,2]', 'a.csv', '"my file.csv"')
    """
    if isinstance(value, str) and re.fullmatch(r"[\w./:~+-]+", value):
        return value
    return json.dumps(value, separators=(",", ":"))
