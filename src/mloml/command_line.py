"""Command lines: the one that was typed, sorted; the one behind an artefact; one for what failed."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from mloml.config import repository
from mloml.errors import ConfigError

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

    def of_split(self, split: int) -> str:
        """As one would type it to compute what failed in one split: whatever else it asks for is stored.

        >>> Command("mloml", ("dataset=iris", "execution.only=[1,2]")).of_split(2)
        "mloml dataset=iris 'execution.only=[2]'"
        """
        others = [word for word in self.arguments if not word.startswith("execution.only=")]
        return Command(self.script, (*others, f"execution.only=[{split}]")).typed

    @property
    def asked(self) -> str:
        """What was asked for, not where it ran: for the files of an artefact.

        The same for every machine, backend and results folder, so that files can be compared.

        >>> Command("mloml", ("reproduce", "table2", "protocol=clean", "execution.n_jobs=4")).asked
        'mloml reproduce table2 protocol=clean'
        """
        path, root = Path(self.script), repository()
        if path.is_absolute():
            path = path.relative_to(root) if root and path.is_relative_to(root) else Path(path.name)
        kept = (word for word in self.arguments if not MACHINE.match(word))
        return Command(str(path), tuple(kept)).typed


def process_command() -> Command:
    """Return the command line of this process; nothing else reads ``sys.argv``."""
    module = Path(sys.argv[0]).parts[-2:] == ("mloml", "__main__.py")  # python -m mloml
    return Command("mloml" if module else sys.argv[0], tuple(sys.argv[1:]))


class Words(argparse.Namespace):
    """A command line, sorted: overrides, folders of the user's configs, Hydra's flags."""

    overrides: list[str]
    folders: list[str]
    cfg: str | None
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
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument("-c", "--cfg", choices=("job",))
        if sweeps:
            modes.add_argument("-m", "--multirun", action="store_true")
        words, unknown = parser.parse_known_intermixed_args(list(arguments), cls())
        if unknown:
            known = f"only {'-m, ' if sweeps else ''}--config-dir FOLDER, --cfg job and --help"
            raise ConfigError(f"{unknown[0]}: no such flag here, {known}; overrides have no dashes")
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

        return show_config(compose_config(config_name, self.with_folders(), experiment))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)
