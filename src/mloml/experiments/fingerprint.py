"""A hash of the code that computes a cell, so that results are computed again when that code changes.

It covers the module that defines the learner, the evaluation, and whatever of this package they import,
directly or not; for a class from elsewhere also its version or its source. Comments, docstrings and
formatting do not count; neither does code that only describes types. It is the hash of what this process
has imported; when the disk has something else by now, :func:`require_current_code` refuses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

from mloml.errors import CodeChangedError, ConfigError
from mloml.experiments.code_graph import IMPORTED, Code, normalised
from mloml.experiments.foreign_code import OWN, ForeignCode, code_of_class, read_before_import
from mloml.experiments.loaded_code import PACKAGE, SOURCES, Mark, SourceFile, mark_of, read_source
from mloml.experiments.lookup import is_foreign, learner_class

_EVALUATION = "mloml.experiments.cell"


@cache
def fingerprint(learner: str) -> str:
    """Return the hash of the code behind a learner's results, as 64 hexadecimal digits.

    A class from elsewhere is imported by this call: ask only on behalf of a user who named it.

    >>> fingerprint("Euclidean") == fingerprint("KISSME")
    False
    """
    digest = _digest(modules_behind(learner), IMPORTED)
    for code in foreign_code(learner):
        digest.update(f"{code.identity}\n".encode())
    return digest.hexdigest()


@cache
def modules_behind(learner: str) -> list[str]:
    """Return the modules of this package that take part in computing a learner's cells, as imported here.

    >>> "mloml.experiments.knn" in modules_behind("Euclidean")
    True
    """
    if not is_foreign(learner):
        return code_modules(learner, IMPORTED)
    bases = [base.__module__ for base in learner_class(learner).__mro__]
    own = [module for module in bases if module.split(".")[0] == OWN]
    for code in foreign_code(learner):
        own += [module for names in code.own_imports() for module in IMPORTED.imported_elsewhere(*names)]
    return IMPORTED.reached_from(_EVALUATION, *own)


def foreign_code(learner: str) -> list[ForeignCode]:
    """Return the code of a class from elsewhere and of what it derives from; nothing for one of ours."""
    if not is_foreign(learner):
        return []
    named = read_before_import(learner.split(".")[0])
    return [named, *(code for code in code_of_class(learner_class(learner)) if code is not named)]


def code_modules(learner: str, code: Code) -> list[str]:
    """Return the modules of some code that take part in computing a learner's cells, sorted by name."""
    module = code.learner_module(learner)
    if module is None:
        raise ConfigError(f"learner '{learner}' is not defined in mloml.learners")
    return code.reached_from(module, _EVALUATION)


def fingerprint_of(learner: str, code: Code) -> str:
    """Return one hash over the normalised source of the modules behind a learner of this package."""
    return _digest(code_modules(learner, code), code).hexdigest()


def _digest(modules: Iterable[str], code: Code) -> hashlib._Hash:
    digest = hashlib.sha256()
    for module in modules:
        digest.update(f"{module}\n{code.normalised(module)}\n".encode())
    return digest


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
    """Return the modules behind a learner whose code on the disk is not what this process imported.

    Files of a class from elsewhere are named by their path.
    """
    paths = {module: IMPORTED.path(module) for module in modules_behind(learner)}
    changed = [module for module, path in paths.items() if _differs(str(PACKAGE / path), SOURCES[path])]
    for code in foreign_code(learner):
        changed += code.edited_too_early
        changed += [path for path, file in code.sources.items() if _differs(path, file)]
    return changed


@cache
def import_all(learner: str) -> None:
    """Import every module behind a learner now, so that none comes later from a newer version."""
    for module in modules_behind(learner):
        import_module(module)


_compared: dict[str, tuple[Mark, bool]] = {}
"""By path: a file's mark when it was last compared, and whether its code differed."""


def _differs(path: str, imported: SourceFile) -> bool:
    try:
        known, mark = _compared.get(path, (imported.mark, False)), mark_of(Path(path).stat())
        if known[0] != mark:
            now = read_source(path)
            known = _compared[path] = now.mark, not _same_code(now.content, imported.content)
    except OSError:
        return True
    return known[1]


def _same_code(one: bytes, other: bytes) -> bool:
    try:
        return one == other or normalised(one) == normalised(other)
    except (SyntaxError, ValueError):
        return False
