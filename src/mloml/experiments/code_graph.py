"""The modules of the package as text: which imports which, and what counts of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mloml.experiments.loaded_code import SOURCES

_LEARNERS = "mloml.learners"


class Code:
    """The source of the whole package, by path (``evaluation/cell.py``); a file is parsed once at most."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._trees: dict[str, ast.Module] = {}
        self._normalised: dict[str, str] = {}

    def learner_module(self, learner: str) -> str | None:
        """Return the module that defines a learner, or None."""
        return self._defining_module(_LEARNERS, learner)

    def reached_from(self, *modules: str) -> list[str]:
        """Return these modules and all they import of the package, directly or not, sorted by name."""
        seen: set[str] = set()
        waiting = list(modules)
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += self._imports(module)
        return sorted(seen)

    def imported_elsewhere(self, origin: str, name: str) -> Iterator[str]:
        """Yield the modules of this package behind ``from origin import name`` in somebody else's code.

        Learners are also exported by the package itself; who imports it as a whole may use any of them.
        """
        if origin in ("mloml", _LEARNERS) and name in ("", "*"):
            yield from (self._module(path) for path in self._sources if path.startswith("learners/"))
        elif name:
            yield from self._resolve(origin, name)
            yield from self._resolve(_LEARNERS, name) if origin == "mloml" else ()
        elif self._is_module(origin):
            yield origin

    def normalised(self, module: str) -> str:
        """Return a module's code without what does not count."""
        if module not in self._normalised:
            self._normalised[module] = normalised(self._sources[self.path(module)])
        return self._normalised[module]

    def path(self, module: str) -> str:
        """Return the path of a module of this package."""
        path = self._find(module)
        assert path is not None
        return path

    def _tree(self, path: str) -> ast.Module:
        if path not in self._trees:
            self._trees[path] = ast.parse(self._sources[path])
        return self._trees[path]

    def _imports(self, module: str) -> Iterator[str]:
        """Yield the modules of this package that a module imports, at its top or inside functions.

        A package imported as a whole, such as ``mloml.learners``, is a list of exports and brings nothing by
        itself; a name imported from it brings the module that defines the name.
        """
        path = self.path(module)
        for node in _runtime_nodes(self._tree(path)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if self._is_module(alias.name))
            elif isinstance(node, ast.ImportFrom):
                origin = _absolute(node, module, path)
                for alias in node.names:
                    yield from self._resolve(origin, alias.name)

    def _resolve(self, origin: str, name: str) -> Iterator[str]:
        if self._is_module(origin):
            yield origin
        elif self._is_module(f"{origin}.{name}"):
            yield f"{origin}.{name}"
        elif (defining := self._defining_module(origin, name)) is not None:
            yield defining

    def _find(self, module: str) -> str | None:
        """Return a module's path, or None if it is not of this package."""
        top, *rest = module.split(".")
        if top != "mloml":
            return None
        names = "/".join([*rest, "__init__.py"]), "/".join(rest) + ".py"
        return next((name for name in names if name in self._sources), None)

    @staticmethod
    def _module(path: str) -> str:
        return "mloml." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def _is_module(self, name: str) -> bool:
        """Tell a module with code of its own from a package and from other people's modules."""
        path = self._find(name)
        return path is not None and not path.endswith("__init__.py")

    def _defining_module(self, origin: str, name: str) -> str | None:
        """Return the module inside a package that defines a class or function, or None."""
        init = self._find(origin)
        if init is None or not init.endswith("__init__.py"):
            return None
        folder = init.removesuffix("__init__.py")
        for path in sorted(self._sources):
            stem = path.removeprefix(folder).removesuffix(".py")
            inside = path.startswith(folder) and "/" not in stem
            if inside and any(getattr(node, "name", None) == name for node in self._tree(path).body):
                return origin if path == init else f"{origin}.{stem}"
        return None


IMPORTED = Code({path: file.content for path, file in SOURCES.items()})
"""The package as imported by this process."""


def normalised(source: str | bytes) -> str:
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


def imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (module, name) for every import in somebody's code but relative ones; name may be empty."""
    for node in _runtime_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module or "", alias.name) for alias in node.names)


def _runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a syntax tree, leaving out what stands under ``if TYPE_CHECKING:``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from _runtime_nodes(node)


def _absolute(node: ast.ImportFrom, module: str, path: str) -> str:
    if not node.level:
        return node.module or ""
    up = node.level - path.endswith("__init__.py")
    parents = module.split(".")[: len(module.split(".")) - up]
    return ".".join(parents + ([node.module] if node.module else []))
