"""Command lines: the one that was typed, sorted; the one behind an artefact; one for a single cell."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mloml.config import repository
from mloml.errors import ConfigError

if TYPE_CHECKING:
    from mloml.config.schema import Study
    from mloml.experiments.cell import Cell

# Overrides that say where and how to run; they change no result.
MACHINE = re.compile(r"[+~]*(execution|data\.dir|data\.cache)\b")


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


class Words(argparse.Namespace):
    """A command line, sorted: overrides, folders of the user's configs, Hydra's flags."""

    overrides: list[str]
    folders: list[str]
    cfg: str | None
    package: str
    resolve: bool
    multirun: bool = False

    @classmethod
    def of(cls, arguments: Sequence[str], *, sweeps: bool = False) -> Words:
        """Sort a command line; ``sweeps`` says whether there is a flag ``-m``.

        >>> words = Words.of(["--cfg", "job", "dataset=iris", "--config-dir", "my"])
        >>> words.overrides, words.folders, words.cfg
        (['dataset=iris'], ['my'], 'job')
        """
        parser = _Parser(add_help=False, allow_abbrev=False)
        parser.add_argument("overrides", nargs="*")
        parser.add_argument("-cd", "--config-dir", dest="folders", action="append", default=[])
        parser.add_argument("-p", "--package", default="")
        parser.add_argument("--resolve", action="store_true")
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument("-c", "--cfg", choices=("job", "hydra", "all"))
        if sweeps:
            modes.add_argument("-m", "--multirun", action="store_true")
        words, unknown = parser.parse_known_intermixed_args(list(arguments), cls())
        if unknown:
            known = f"only {'-m, ' if sweeps else ''}--config-dir FOLDER, --cfg job and --help"
            raise ConfigError(f"{unknown[0]}: no such flag here, {known}; overrides have no dashes")
        for flag in ("resolve", "package"):
            if getattr(words, flag) and not words.cfg:
                raise ConfigError(f"--{flag}: goes with --cfg job only")
        return words

    def with_folders(self) -> list[str]:
        """Return the overrides with the user's folders of configs among them, the one way they travel."""
        from mloml.config.overrides import address, search_path, search_path_override

        folders = [address(folder, "--config-dir") for folder in self.folders] + search_path(self.overrides)
        others = [word for word in self.overrides if not word.startswith("hydra.searchpath=")]
        return [*others, search_path_override(folders)] if folders else others

    def config_as_yaml(self, config_name: str, experiment: str = "") -> str:
        """Return the composed config that ``--cfg`` asks for; nothing is run."""
        from mloml.config.compose import compose_config, show_config

        config = compose_config(config_name, self.with_folders(), experiment)
        return show_config(config, str(self.cfg), self.package, self.resolve)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)


def rerun_command(study: Study, cell: Cell) -> str:
    """Return the command that runs just this cell, whatever command it was part of."""
    from mloml.config.overrides import search_path_override

    protocol, folders = asdict(cell.protocol), tuple(study.folders)
    config = next(config for config in study.datasets if config.name == cell.dataset)
    learner = {"name": cell.algorithm.name, "learner": cell.algorithm.learner, "grid": cell.algorithm.grid}
    words = [
        *_overrides("dataset", asdict(config), protocol, folders),
        *_overrides("algorithm", learner | cell.algorithm.params, protocol, folders),
        *_overrides("protocol", protocol, protocol, folders),
        *_overrides("data", asdict(study.data), protocol, folders)[1:],
    ]
    given = {key: getattr(study.execution, key) for key in ("results", "time_limit")} | {"only": [cell.split]}
    usual = asdict(type(study.execution)())
    words += _changes("execution", usual, usual, given)
    words += [f"record=[{','.join(cell.record)}]"] if cell.record else []
    words += [search_path_override(folders)] if folders else []
    return shlex.join(["mloml", *words])


def _overrides(
    group: str, wanted: dict[str, Any], protocol: dict[str, Any], folders: tuple[str, ...]
) -> list[str]:
    """Return the overrides that make these values: the config of that name, or the one that differs least."""
    from omegaconf import OmegaConf

    from mloml.config.compose import typed
    from mloml.config.schema import DatasetConfig, DataSettings, ProtocolConfig

    schema = {"dataset": DatasetConfig, "protocol": ProtocolConfig, "data": DataSettings}.get(group)
    ways: list[tuple[int, int, list[str]]] = []
    for start in (wanted.get("name"), None):
        for name, written in _written(group, start, folders).items():
            tree = OmegaConf.create({"protocol": protocol, group: written})
            found: Any = OmegaConf.to_container(tree[group], resolve=True)
            usual = asdict(typed(schema, found, group)) if schema else found
            words = [f"{group}={name}", *_changes(group, found, usual, wanted)]
            foreign = found.keys() - wanted.keys() - {"title", "note"}  # parameters of another learner
            ways.append((len(foreign), len(words), words))
        if min(ways)[0] == 0:
            break
    return min(ways)[2]


@cache
def _written(group: str, name: str | None, folders: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return the config of that name, or all of its group."""
    from mloml.config.compose import choices, compose_members

    known = choices(group, folders)
    return compose_members(group, [name] if name in known else known, folders)


def _changes(
    prefix: str, written: dict[str, Any], usual: dict[str, Any], wanted: dict[str, Any]
) -> Iterator[str]:
    """Yield an override for every value that differs; a key that is not written there gets a plus sign."""
    for name, value in wanted.items():
        if isinstance(value, dict):
            yield from _changes(f"{prefix}.{name}", written.get(name) or {}, usual.get(name) or {}, value)
        elif name not in usual or value != usual[name]:
            yield f"{'' if name in written else '+'}{prefix}.{name}={_word(value)}"


def _word(value: Any) -> str:
    """Spell a value for Hydra's command line.

    >>> _word(None), _word([1, 2]), _word("a.csv"), _word("my file.csv")
    ('null', '[1,2]', 'a.csv', '"my file.csv"')
    """
    plain = isinstance(value, str) and re.fullmatch(r"[\w./:~+-]+", value)
    return value if plain else json.dumps(value, separators=(",", ":"))
