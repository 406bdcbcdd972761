"""Commands to print: the one that was typed, the one behind an artefact, and one for a single cell."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mloml.config.paths import conf_dir, repository
from mloml.config.plain_yaml import load_yaml

if TYPE_CHECKING:
    from mloml.config.schema import Study
    from mloml.evaluation.cell import Cell


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

        >>> Command("experiments/table2.py", ("protocol=clean", "execution=dask", "execution.n_jobs=4")).asked
        'python experiments/table2.py protocol=clean'
        """
        path, root, script = Path(self.script), repository(), self.script
        if path.is_absolute():
            inside = root is not None and path.is_relative_to(root)
            script = str(path.relative_to(root)) if root is not None and inside else path.name
        kept = (word for word in self.arguments if not MACHINE.match(word))
        return Command(script, tuple(kept)).typed


def process_command() -> Command:
    """Return the command line of this process; nothing else reads ``sys.argv``."""
    return Command(sys.argv[0], tuple(sys.argv[1:]))


def rerun_command(study: Study, cell: Cell) -> str:
    """Return the command that runs just this cell, whatever command it was part of."""
    base = _algorithm_file(cell)
    words = [f"dataset={cell.dataset}", f"algorithm={base}", f"protocol={cell.protocol.name}"]
    protocol = dataclasses.asdict(cell.protocol)
    words += _changes("protocol", _defaults("protocol", cell.protocol.name), protocol)
    given = cell.algorithm.params | {"name": cell.algorithm.name, "grid": cell.algorithm.grid}
    words += _changes("algorithm", _defaults("algorithm", base, protocol), given)
    if cell.record:
        words.append(f"record=[{','.join(cell.record)}]")
    config = next(config for config in study.datasets if config.name == cell.dataset)
    words += _changes(
        "dataset", _defaults("dataset", cell.dataset), {"path": config.path, "label": config.label}
    )
    data = _defaults("data", "default", protocol) | {"dir": None}
    words += _changes("data", data, dataclasses.asdict(study.data), dataclasses.asdict(type(study.data)()))
    if study.execution.results != type(study.execution)().results:
        words.append(f"execution.results={study.execution.results}")
    return shlex.join(["mloml", *words, f"execution.only=[{cell.split}]"])


def _algorithm_file(cell: Cell) -> str:
    """Return the config an algorithm comes from; a variant under another name shares its learner."""
    folder = conf_dir() / "algorithm"
    if (folder / f"{cell.algorithm.name}.yaml").is_file():
        return cell.algorithm.name
    for path in sorted(folder.glob("*.yaml")):
        if _defaults("algorithm", path.stem).get("learner") == cell.algorithm.learner:
            return path.stem
    return cell.algorithm.name


def _defaults(group: str, name: str, protocol: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a config file's values; an algorithm's may refer to the protocol beside it."""
    from omegaconf import OmegaConf

    path = conf_dir() / group / f"{name}.yaml"
    if not path.is_file():
        return {}
    tree = OmegaConf.create({"protocol": protocol or {}, group: load_yaml(path)})
    resolved: Any = OmegaConf.to_container(tree, resolve=protocol is not None)
    return dict(resolved[group])


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
