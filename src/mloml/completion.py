"""Shell completion of `mloml`: its commands here, configs and overrides by Hydra."""

from __future__ import annotations

import os
from collections.abc import Sequence

FLAGS = ("-sc", "--shell-completion")

DATA = ("list", "fetch", "show")


def is_completion(arguments: Sequence[str]) -> bool:
    """Tell whether a shell asks how a command line that Hydra does not understand may go on."""
    asked = bool(set(FLAGS) & set(arguments)) and any(word.startswith("query=") for word in arguments)
    return asked and options(os.environ.get("COMP_LINE", "")) is not None


def complete() -> int:
    """Print how the command line that the shell is at may go on, a line as the shell wants it."""
    print(" ".join(options(os.environ["COMP_LINE"]) or []))
    return 0


def options(line: str) -> list[str] | None:
    """Return the words that can follow one of our commands; None when it is a line for Hydra.

    >>> options("mloml data f"), options("mloml reproduce table2 "), options("mloml dataset=ir")
    (['fetch'], [], None)
    """
    words = line.split()[1:]
    started = words.pop() if words and not line.endswith(" ") else ""
    if not words:
        return None
    return [word for word in _following(words) if word.startswith(started)] if _is_ours(words[0]) else None


def _is_ours(word: str) -> bool:
    return word in ("data", "status", "reproduce", "report")


def _following(words: Sequence[str]) -> list[str]:
    if list(words) == ["data"]:
        return list(DATA)
    if words[0] == "data" and words[1] in ("fetch", "show"):
        from mloml.config.tree import choices

        return choices("dataset")
    if list(words) == ["reproduce"]:
        from mloml.report.recipe import recipes

        return [*recipes(), "all"]
    return []
