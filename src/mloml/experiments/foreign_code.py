"""The code of a class from elsewhere: what a cell's key holds of it, and what was imported of it.

A package that is installed counts by its version. Anything else counts by its source: all of a package's
files, or a single file, and the modules beside it that they import.
"""

from __future__ import annotations

import ast
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

from mloml.experiments.code_graph import imported_names, normalised
from mloml.experiments.loaded_code import SourceFile, read_source, read_sources

OWN = "mloml"
_began = time.time_ns()


@dataclass(frozen=True)
class ForeignCode:
    """A package or a single module, as it was when this process imported it.

    Attributes
    ----------
    version : str
        Name and version of what it was installed with; empty when its source counts instead.
    sources : dict
        Files by their full path.
    root : Path
        The folder on Python's path that holds it; the same code elsewhere is the same code.
    imported_before : bool
        Whether somebody had imported it before its source was read.
    """

    version: str
    sources: dict[str, SourceFile]
    root: Path
    imported_before: bool

    @property
    def identity(self) -> str:
        """What a key holds of it."""
        if self.version:
            return self.version
        files = {str(Path(path).relative_to(self.root)): file for path, file in self.sources.items()}
        return "\n".join(f"{name}\n{_what_counts(files[name].content)}" for name in sorted(files))

    @property
    def edited_too_early(self) -> list[str]:
        """Files that may have been edited between their import and the reading of their source."""
        files = self.sources.items() if self.imported_before else ()
        return [path for path, file in files if file.mark[2] > _began]

    def own_imports(self) -> Iterator[tuple[str, str]]:
        """Yield what it imports of this package, as (module, name)."""
        for file in self.sources.values():
            for module, name in _imports(file.content):
                if module.split(".")[0] == OWN:
                    yield module, name


_known: dict[str, ForeignCode] = {}


def read_before_import(top: str) -> ForeignCode:
    """Return a top-level package or module as it is on the disk; only the first call reads it.

    Raises
    ------
    ImportError
        When there is none of this name.
    """
    if top not in _known:
        try:
            spec = find_spec(top)
        except ValueError as error:
            raise ImportError(str(error)) from None
        if spec is None:
            raise ImportError(f"No module named '{top}'")
        before, place = top in sys.modules, _place(spec)
        installed = _installed(top, place)
        sources = {} if installed else _with_neighbours(spec, place.parent)
        _known[top] = ForeignCode(installed, sources, place.parent, before)
    return _known[top]


def code_of_class(kind: type) -> list[ForeignCode]:
    """Return the code of a class and of all it derives from, but for Python's own and this package's."""
    tops = dict.fromkeys(base.__module__.split(".")[0] for base in kind.__mro__)
    return [read_before_import(top) for top in tops if top not in (OWN, "builtins")]


def _place(spec: ModuleSpec) -> Path:
    """Return the folder of a package or the file of a module."""
    folders = list(spec.submodule_search_locations or ())
    return Path(folders[0] if folders else spec.origin or "").resolve()


def _installed(top: str, place: Path) -> str:
    """Return with what a package was installed, or nothing when it is somebody's own code."""
    if {"site-packages", "dist-packages"} & {*place.parts}:
        names = sorted(set(_distributions().get(top, ())))
        return " ".join(f"{name} {version(name)}" for name in names)
    return f"python {platform.python_version()}" if top in sys.stdlib_module_names else ""


@cache
def _distributions() -> dict[str, list[str]]:
    return {top: list(names) for top, names in packages_distributions().items()}


def _with_neighbours(spec: ModuleSpec, root: Path) -> dict[str, SourceFile]:
    """Return the source of a module and of those beside it on the path that it imports, directly or not."""
    found: dict[str, SourceFile] = {}
    seen: set[str] = set()
    waiting = [spec.name]
    while waiting:
        top = waiting.pop()
        if top in seen or top == OWN:
            continue
        seen.add(top)
        files = _files(root / top)
        found |= files
        waiting += [name.split(".")[0] for file in files.values() for name, _ in _imports(file.content)]
    return found


def _files(stem: Path) -> dict[str, SourceFile]:
    if stem.is_dir():
        return {str(stem / name): file for name, file in read_sources(stem).items()}
    path = stem.with_suffix(".py")
    return {str(path): read_source(path)} if path.is_file() else {}


def _imports(source: bytes) -> Iterator[tuple[str, str]]:
    try:
        yield from imported_names(ast.parse(source))
    except (SyntaxError, ValueError):
        return


def _what_counts(source: bytes) -> str:
    try:
        return normalised(source)
    except (SyntaxError, ValueError):
        return repr(source)
