"""Look at command-line overrides before Hydra does, so that a slip is answered in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from mloml.config.tree import require_choice
from mloml.errors import ConfigError, suggestion

GROUPS = ("dataset", "algorithm", "protocol", "execution", "data")
RUN = (*GROUPS, "record")
EXPERIMENT = ("name", "datasets", "algorithms", "protocol", "execution", "data", "record", "leave_out")
"""The fields that a run and an experiment are read from."""

FREE = ("algorithm.", "execution.slurm.")
"""What lies in these groups can be left out."""


def parse(overrides: Sequence[str]) -> list[Override]:
    """Parse ``key=value`` words; the first that is not one is refused by name."""
    parsed = []
    for word in overrides:
        try:
            parsed.append(OverridesParser.create().parse_override(word))
        except HydraException as error:
            reason = f" ({_first_line(error)}){_quoted(word)}" if "=" in word else ""
            raise ConfigError(f"{word}: not of the form key=value{reason}") from None
    return parsed


def values(override: Override) -> list[Any]:
    """Return the values an override takes: one, or all of its sweep."""
    if override.is_sweep_override():
        return list(override.sweep_iterator())
    return [override.value()]


def check(overrides: Sequence[Override], base: DictConfig, beside: Sequence[str] = ()) -> None:
    """Refuse unknown groups' options and keys that ``base`` does not have, with the nearest known word.

    ``beside`` are the user's own folders of configs.
    """
    for override in overrides:
        key = override.key_or_group
        if key in GROUPS:
            for value in values(override):
                require_choice(key, str(value), beside)
        elif not (_adds(override) or _first_part(override) == "hydra"):
            _require_key(key, override, base)


def check_one_run(overrides: Sequence[Override], fields: Sequence[str]) -> None:
    """Refuse what no single run has: several values at once, groups and added fields that nobody reads.

    Nor can a field be taken away: its default would come back unseen. Parameters of a learner can, and what
    is handed on to a cluster.
    """
    for override in overrides:
        word, key, field = str(override.input_line), override.key_or_group, _first_part(override)
        if override.is_sweep_override():
            raise ConfigError(f"{word}: must be one value; several make a sweep: mloml -m {word}")
        free = field == "hydra" or key.startswith(FREE)
        if override.is_delete() and not free:
            raise ConfigError(f"{word}: no field can be taken away; say what it shall be: {key}=VALUE")
        if field not in (*fields, "hydra") and (field in GROUPS or _adds(override)):
            value = word.partition("=")[2].strip("[]")
            listed = key == field and f"{field}s" in fields
            hint = f"; did you mean '{field}s=[{value}]'?" if listed else suggestion(field, fields)
            raise ConfigError(f"{word}: there is no field '{field}' here, only {', '.join(fields)}{hint}")


def single_jobs(overrides: Sequence[str]) -> Iterator[list[str]]:
    """Yield enough single-value override lists to see every value of a sweep once.

    The sum of the sweeps, not their product: other sweeps stay at their first value.

    >>> list(single_jobs(["a=1,2", "b=3,4"]))
    [['a=1', 'b=3'], ['a=2', 'b=3'], ['a=1', 'b=4']]
    """
    parsed = parse(overrides)
    options = [list(o.sweep_string_iterator()) if o.is_sweep_override() else None for o in parsed]

    def job(position: int, choice: int) -> list[str]:
        picks = [choice if i == position else 0 for i in range(len(parsed))]
        return [
            o.input_line if option is None else f"{o.get_key_element()}={option[pick]}"
            for o, option, pick in zip(parsed, options, picks, strict=True)
            if o.input_line is not None
        ]

    yield job(-1, 0)
    for position, option in enumerate(options):
        for choice in range(1, len(option or [])):
            yield job(position, choice)


def number_of_jobs(overrides: Sequence[str]) -> int:
    """Return how many jobs a sweep has: the product of its sweeps.

    >>> number_of_jobs(["a=1,2", "b=3,4,5", "c=6"])
    6
    """
    return prod(len(values(override)) for override in parse(overrides))


def _adds(override: Override) -> bool:
    return override.is_add() or override.is_force_add()


def _first_part(override: Override) -> str:
    return override.key_or_group.split(".")[0].split("/")[0]


def _require_key(key: str, override: Override, base: DictConfig) -> None:
    node: Any = base
    parts = key.split(".")
    for depth, part in enumerate(parts):
        known = [str(name) for name in node] if OmegaConf.is_dict(node) else []
        if part not in known:
            where = ".".join(parts[:depth])
            place = f"'{where}' has" if where else "the config has"
            only = f"only {', '.join(known)}{suggestion(part, known)}"
            raise ConfigError(f"{override.input_line}: {place} no key '{part}', {only}")
        node = node._get_node(part) if OmegaConf.is_dict(node) else None
        if not OmegaConf.is_dict(node) and depth < len(parts) - 1:
            raise ConfigError(
                f"{override.input_line}: '{'.'.join(parts[: depth + 1])}' is a value, not a group"
            )
    if OmegaConf.is_dict(node) and not override.is_sweep_override():
        _require_keys_inside(override, node)


def _require_keys_inside(override: Override, node: DictConfig) -> None:
    """Refuse a mapping whose keys the config's does not have: Hydra only changes those that are there."""
    value = override.value()
    known = [str(name) for name in node]
    for word in value if isinstance(value, dict) else ():
        if str(word) not in known:
            only = f", only {', '.join(known)}" if known else ""
            hint = suggestion(str(word), known) or f"; +{override.key_or_group}={{...}} adds keys"
            place = f"'{override.key_or_group}' has no key '{word}'"
            raise ConfigError(f"{override.input_line}: {place}{only}{hint}")


def _quoted(word: str) -> str:
    """Show how to write text with signs that mean something to Hydra."""
    key, equals, value = word.partition("=")
    if not equals or not value or set(value) & set("[]{}()\"'"):
        return ""
    return f"; text such as this goes in quotes: '{key}=\"{value}\"'"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
