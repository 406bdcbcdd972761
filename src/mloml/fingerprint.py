"""A hash of the code that computes a cell, so that results are computed again when that code changes.

It covers the module that defines the learner, the evaluation, and whatever of this package they import,
directly or not. Comments, docstrings and formatting do not count; neither does code that only describes
types.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mloml.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent
_EVALUATION = "mloml.evaluation.cell"


@cache
def fingerprint(learner: str) -> str:
    """Return the hash of the code behind a learner's results, as 64 hexadecimal digits.

    >>> fingerprint("Euclidean") == fingerprint("KISSME")
    False
    """
    return fingerprint_of(code_modules(learner), _PACKAGE)


def code_modules(learner: str, package: Path = _PACKAGE) -> list[str]:
    """Return the modules that take part in computing a learner's cells, sorted by name.

    >>> "mloml.evaluation.knn" in code_modules("Euclidean")
    True
    """
    start = _defining_module("mloml.learners", learner, package)
    if start is None:
        raise ConfigError(f"learner '{learner}' is not defined in mloml.learners")
    seen: set[str] = set()
    waiting = [start, _EVALUATION]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += _imported_modules(module, package)
    return sorted(seen)


def fingerprint_of(modules: list[str], package: Path) -> str:
    """Return one hash over the normalised source of some modules."""
    digest = hashlib.sha256()
    for module in modules:
        path = _source(module, package)
        assert path is not None
        digest.update(f"{module}\n{normalised(path.read_text(encoding='utf-8'))}\n".encode())
    return digest.hexdigest()


def normalised(source: str) -> str:
    r"""Return source code without comments, docstrings and the author's formatting.

    >>> normalised('def f( x ):\n    "Doc."\n    return x  # why') == normalised('def f(x):\n  return x')
    True
    """
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _imported_modules(module: str, package: Path) -> Iterator[str]:
    """Yield the modules of this package that a module imports, at its top or inside functions.

    A package imported as a whole, such as ``mloml.learners``, is a list of exports and brings nothing by
    itself; a name imported from it brings the module that defines the name.
    """
    path = _source(module, package)
    assert path is not None
    for node in _runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in (alias.name for alias in node.names):
                if _is_module(name, package):
                    yield name
        elif isinstance(node, ast.ImportFrom):
            origin = _absolute(node, module, path)
            for name in (alias.name for alias in node.names):
                yield from _resolve(origin, name, package)


def _resolve(origin: str, name: str, package: Path) -> Iterator[str]:
    if _is_module(origin, package):
        yield origin
    elif _is_module(f"{origin}.{name}", package):
        yield f"{origin}.{name}"
    elif (defining := _defining_module(origin, name, package)) is not None:
        yield defining


def _runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a syntax tree, leaving out what stands under ``if TYPE_CHECKING:``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from _runtime_nodes(node)


def _absolute(node: ast.ImportFrom, module: str, path: Path) -> str:
    if not node.level:
        return node.module or ""
    up = node.level - (path.name == "__init__.py")
    parents = module.split(".")[: len(module.split(".")) - up]
    return ".".join(parents + ([node.module] if node.module else []))


def _source(module: str, package: Path) -> Path | None:
    """Return a module's file, or None if it is not of this package."""
    top, *rest = module.split(".")
    if top != "mloml":
        return None
    stem = package.joinpath(*rest)
    for path in (stem / "__init__.py", stem.with_suffix(".py") if rest else stem):
        if path.is_file():
            return path
    return None


def _is_module(name: str, package: Path) -> bool:
    """Tell a module with code of its own from a package and from other people's modules."""
    path = _source(name, package)
    return path is not None and path.name != "__init__.py"


def _defining_module(origin: str, name: str, package: Path) -> str | None:
    """Return the module inside a package that defines a class or function, or None."""
    init = _source(origin, package)
    if init is None or init.name != "__init__.py":
        return None
    for path in sorted(init.parent.glob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        if any(getattr(node, "name", None) == name for node in body):
            return origin if path == init else f"{origin}.{path.stem}"
    return None
