"""The identity of the code that computes a cell: a hash of its source, comments and docstrings aside.

It covers ``cell.py`` (of a stream, ``prequential.py``), the module that defines the learner, and all they
import of this package, directly or not. A class from elsewhere counts by the version it was installed with,
else by its source and that of the modules beside it that it imports. When the disk has other code by now
than this process imported, :func:`require_current_code` refuses.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import all_suffixes
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple

import mloml
from mloml.config.lookup import imported_at, is_foreign, learner_class
from mloml.errors import CodeChangedError

# Where the code of a cell begins: of one with two halves, and of one that is a stream.
HALVES, STREAM = "mloml.experiments.cell", "mloml.experiments.prequential"
PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = {"site-packages", "dist-packages"}
_distributions = cache(packages_distributions)


class Source(NamedTuple):
    """What counts of a module's file, and what it imports: modules, and names in modules."""

    path: Path
    module: str
    text: str
    imports: frozenset[str]


class Code(NamedTuple):
    """The code behind a learner's results: source by module, and the versions of installed packages."""

    modules: dict[str, Source]
    versions: set[str]

    def hash(self) -> str:
        """Return one hash over all of it, as 64 hexadecimal digits."""
        texts = sorted((module, source.text) for module, source in self.modules.items())
        return hashlib.sha256(repr((texts, sorted(self.versions))).encode()).hexdigest()


@cache
def code_hash(learner: str, root: str = HALVES) -> str:
    """Return the hash of the code behind a learner's results, as this process has imported it.

    A class from elsewhere is imported by this call: ask only on behalf of a user who named it.

    >>> code_hash("Euclidean") == code_hash("KISSME")
    False
    """
    return _imported(learner, root)[0].hash()


def require_current_code(learners: Iterable[str], root: str = HALVES) -> None:
    """Raise a :class:`CodeChangedError` when the disk has other code for a learner than this process."""
    changed = {
        source.module
        for code, edited in (_imported(learner, root) for learner in set(learners))
        for source in code.modules.values()
        if source in edited or _read(source.path, source.module) != source
    }
    if changed:
        raise CodeChangedError(
            f"the code of {', '.join(sorted(changed)[:3])} was changed after this process imported it: "
            "restart it (the program, the notebook's kernel, the dask workers), so that nothing is mixed"
        )


@cache
def _imported(learner: str, root: str) -> tuple[Code, set[Source]]:
    """Return the code behind a learner as it is now, and what of it was edited after its import.

    All of it is imported by this call, so that none comes later from a newer version.
    """
    code = code_behind(learner, root=root)
    for module in code.modules:
        if _top(module) == "mloml":
            import_module(module)
    return code, {source for source in code.modules.values() if _edited_since_import(source)}


def _edited_since_import(source: Source) -> bool:
    since, status = imported_at.get(source.module, mloml.imported_at), source.path.stat()
    # A time yet to come is no time of an edit: clocks differ, and archives keep the times of their files.
    edits = [moment for moment in (status.st_mtime, status.st_ctime) if moment <= time.time()]
    return source.module in sys.modules and max(edits, default=0.0) > since


def code_behind(learner: str, package: Path = PACKAGE, root: str = HALVES) -> Code:
    """Return the code behind a learner's results as it is on the disk, in this package or a copy of it."""
    bases = [base.__module__ for base in learner_class(learner).__mro__]
    own = [module for module in bases if _top(module) == "mloml"]
    code = Code({}, set())
    if is_foreign(learner):
        for top in {_top(name) for name in (learner, *bases)} - {"mloml"} - sys.stdlib_module_names:
            _add_elsewhere(code, top)
        if own or any("mloml" in map(_top, source.imports) for source in code.modules.values()):
            own = [f"mloml.learners.{path.stem}" for path in (package / "learners").glob("*.py")]
    _follow(code, {root, *own}, package.parent, _own_files)
    return code


def _add_elsewhere(code: Code, top: str) -> None:
    """Add the version of an installed package, or the source of another."""
    spec = find_spec(top)
    assert spec is not None, top  # it has been imported
    place = Path([*(spec.submodule_search_locations or ()), spec.origin or ""][0]).absolute()
    installed = _distributions().get(top)
    if installed and INSTALLED & {*place.resolve().parts}:
        code.versions.update(f"{name} {version(name)}" for name in installed)
    else:
        _follow(code, {top}, place.parent, _files_beside)


def _follow(code: Code, names: set[str], root: Path, files_of: Callable[[str, Path], list[Path]]) -> None:
    """Add the files behind some names, and behind all that these import, directly or not."""
    seen: set[str] = set()
    while names:
        seen.add(name := names.pop())
        for path in files_of(name, root):
            module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            if module not in code.modules:
                code.modules[module] = _read(path, module)
                names |= code.modules[module].imports - seen


def _own_files(name: str, root: Path) -> list[Path]:
    """Return the files of this package behind an imported module, or behind a name imported from one.

    A package as a whole is a list of exports. A name of it that is not a module may be from any file of it.
    """
    if _top(name) != "mloml" or (stem := root.joinpath(*name.split("."))).is_dir():
        return []
    modules = [path for path in (stem.with_suffix(".py"), stem.parent.with_suffix(".py")) if path.is_file()]
    return modules[:1] or list(stem.parent.glob("*.py"))


def _files_beside(name: str, root: Path) -> list[Path]:
    """Return all files of somebody's package, or the file of a module; none of this package."""
    top = _top(name)
    found = [*(root / top).rglob("*.py"), *(root / (top + suffix) for suffix in all_suffixes())]
    return [path for path in found if path.is_file() and top != "mloml"]


def _top(name: str) -> str:
    return name.split(".")[0]


def _read(path: Path, module: str) -> Source:
    try:
        status = path.stat()
    except OSError:
        return Source(path, module, "not there", frozenset())
    mark = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return _read_once(path, module, mark)


@cache
def _read_once(path: Path, module: str, mark: tuple[int, ...]) -> Source:
    content = path.read_bytes()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    try:
        tree = ast.parse(content)
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list):
                body[:] = [statement for statement in body if not _only_describes(statement)]
        return Source(path, module, ast.unparse(tree), frozenset(_imports(tree, package)))
    except (SyntaxError, ValueError, ImportError):
        return Source(path, module, repr(content), frozenset())


def _only_describes(statement: ast.stmt) -> bool:
    """Tell docstrings, and what is there for the checker of types, from code."""
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) == "TYPE_CHECKING" and not statement.orelse
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{origin}.{alias.name}" for alias in node.names)
