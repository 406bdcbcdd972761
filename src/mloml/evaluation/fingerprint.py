"""A hash of the code that computes a cell, so that results are computed again when that code changes.

It covers the module that defines the learner, the evaluation, and whatever of this package they import,
directly or not. Comments, docstrings and formatting do not count; neither does code that only describes
types. It is the hash of what this process has imported; when the disk has something else by now,
:func:`require_current_code` refuses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from mloml.errors import CodeChangedError
from mloml.evaluation.code_graph import Code, normalised
from mloml.evaluation.loaded_code import PACKAGE, SOURCES, Mark, mark_of, read_source

_EVALUATION = "mloml.evaluation.cell"
_imported = Code({path: file.content for path, file in SOURCES.items()})


@cache
def fingerprint(learner: str) -> str:
    """Return the hash of the code behind a learner's results, as 64 hexadecimal digits.

    >>> fingerprint("Euclidean") == fingerprint("KISSME")
    False
    """
    return fingerprint_of(learner, _imported)


@cache
def modules_behind(learner: str) -> list[str]:
    """Return the modules that take part in computing a learner's cells, as this process imported them.

    >>> "mloml.evaluation.knn" in modules_behind("Euclidean")
    True
    """
    return code_modules(learner, _imported)


def code_modules(learner: str, code: Code) -> list[str]:
    """Return the modules of some code that take part in computing a learner's cells, sorted by name."""
    return code.reached_from(code.learner_module(learner), _EVALUATION)


def fingerprint_of(learner: str, code: Code) -> str:
    """Return one hash over the normalised source of the modules behind a learner."""
    digest = hashlib.sha256()
    for module in code_modules(learner, code):
        digest.update(f"{module}\n{code.normalised(module)}\n".encode())
    return digest.hexdigest()


def require_current_code(learners: Iterable[str]) -> None:
    """Raise a :class:`CodeChangedError` when the disk has other code for a learner than this process."""
    changed = sorted({module for learner in set(learners) for module in changed_modules(learner)})
    if changed:
        names = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise CodeChangedError(
            f"the code of {names} was changed after this process imported it: restart it "
            "(the program, the notebook's kernel, the dask workers), so that nothing is mixed"
        )


def changed_modules(learner: str) -> list[str]:
    """Return the modules behind a learner whose code on the disk is not what this process imported."""
    return [module for module in modules_behind(learner) if _differs(_imported.path(module))]


@cache
def import_all(learner: str) -> None:
    """Import every module behind a learner now, so that none comes later from a newer version."""
    for module in modules_behind(learner):
        import_module(module)


_compared: dict[str, tuple[Mark, bool]] = {path: (file.mark, False) for path, file in SOURCES.items()}
"""For each file of the package: its mark when it was last compared, and whether its code differed."""


def _differs(path: str) -> bool:
    try:
        file = PACKAGE / path
        if _compared[path][0] != mark_of(file.stat()):
            now = read_source(file)
            _compared[path] = now.mark, not _same_code(now.content, SOURCES[path].content)
    except OSError:
        return True
    return _compared[path][1]


def _same_code(one: bytes, other: bytes) -> bool:
    try:
        return one == other or normalised(one) == normalised(other)
    except (SyntaxError, ValueError):
        return False
