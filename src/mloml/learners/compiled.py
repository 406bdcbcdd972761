"""How functions are compiled by numba, and kept on disk in a folder named after all that the code depends on.

``@compiled`` is for functions that other compiled functions call, ``@entry`` for those that Python calls:
only their code is kept, with all that they call inside it. ``@exact`` and ``@exact_entry`` leave sums in the
order in which they are written, for code that breaks ties by comparing sums.

numba's own cache does not notice an edited function in another file, and a process killed between its two
files may leave old code for new source. Here neither can happen: the folder's name is a hash of the source of
all learners, the versions and the processor. Two processes that compile two signatures of one function at
once would mix them up; every entry therefore has one signature, and :func:`ready` compiles under the folder's
lock.
"""

import atexit
import gc
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np

from mloml.errors import KernelError

config: Any = numba.config
SOURCE = Path(__file__).parent
# Sums may be reordered and fused; NaN and infinity keep their meaning: divergence is told by them.
FREEDOM = {"reassoc", "contract", "arcp", "nsz"}
# Set in a process that compiles for another one.
COMPILING = "MLOML_COMPILING"
# Seconds after which a process no longer waits for another one to compile: that may have been stopped.
LONGEST_WAIT = 600.0


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that other compiled functions call."""
    return _compile(function, fastmath=FREEDOM)


def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile such a function with its sums in the order in which they are written."""
    return _compile(function)


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls, and keep its code on disk."""
    return _compile(function, fastmath=FREEDOM, cache=True)


def exact_entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile such a function with its sums in the order in which they are written."""
    return _compile(function, cache=True)


# All functions that Python calls; each must have one signature.
ENTRIES: list[Any] = []


def _compile(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder())
    try:
        made: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", **options)(function)
    finally:
        config.CACHE_DIR = before
    if "cache" in options:
        ENTRIES.append(made)
    return made


@cache
def folder() -> Path:
    """Return the folder of the compiled code of this source, these versions and this processor."""
    chosen = Path(config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = chosen / "mloml" / f"compiled-{_state()[:16]}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return place
    except OSError:
        say(f"{place} cannot be written: every start compiles anew")
        place = Path(tempfile.mkdtemp(prefix="mloml-"))
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        return place


def _state() -> str:
    """Return a hash of the source, the versions, numba's settings and the processor."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.glob("*.py")):
        digest.update(path.read_bytes())
    versions = [numba.__version__, np.__version__, platform.python_version()]
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    digest.update(repr((versions, settings, processor())).encode())
    return digest.hexdigest()


@cache
def processor() -> tuple[str, ...]:
    """Return what distinguishes this processor's instructions from another's."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine(), platform.processor()
    told = {line.split(":")[0].strip(): line for line in lines}
    return platform.machine(), *(told[name] for name in ("model name", "flags", "Features") if name in told)


@cache
def say(text: str) -> None:
    """Tell the person at the terminal, once; a warning would end up in the record of a cell."""
    print(f"mloml: {text}", file=sys.stderr, flush=True)


# The algorithms whose code was found right in this process, and those that are being looked at.
_known: set[str] = set()
_begun: set[str] = set()
_one_at_a_time = threading.RLock()


def ready(algorithm: str) -> None:
    """Load or compile an algorithm's functions, once in a process, and compare them with known answers."""
    if algorithm in _known or config.DISABLE_JIT:
        return
    with _one_at_a_time:
        if algorithm not in _begun:  # else this is its own problem
            _begun.add(algorithm)
            try:
                _find_right(algorithm)
            finally:
                _begun.remove(algorithm)
            _known.add(algorithm)


def _find_right(algorithm: str) -> None:
    with _lock():
        collects = gc.isenabled()
        gc.disable()  # numba holds so much that looking for garbage takes a tenth of the time
        try:
            _load(algorithm)
        except KernelError:
            _clear()
            raise
        except Exception:  # a damaged file: without it the code is compiled anew
            _clear()
            _load(algorithm)
        finally:
            if collects:
                gc.enable()


def _load(algorithm: str) -> None:
    """Compare an algorithm's functions with known answers; what is not on disk is compiled first.

    Another process does it. In one that has compiled a function, the parts of it that are not inlined come
    from elsewhere than in one that has loaded it, and differ in the last bits.
    """
    mark = folder() / f"{algorithm}.ready"
    if not mark.exists() and COMPILING not in os.environ:
        say("compiling, once on this machine ...")
        program = f"from mloml.learners.compiled import ready; ready({algorithm!r})"
        environment = os.environ | {COMPILING: "yes", "PYTHONPATH": os.pathsep.join(sys.path)}
        with suppress(OSError):  # where there are no other processes, this one compiles
            subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    import_module("mloml.learners.check").check(algorithm)
    mark.touch()


def _clear() -> None:
    """Throw away all that was kept."""
    for path in folder().iterdir():
        if path.name != "lock":
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


@contextmanager
def _lock() -> Iterator[None]:
    """Let one process at a time compile; without a lock, one signature per entry has to be enough."""
    if COMPILING in os.environ:  # whoever started this process holds the lock
        yield
        return
    try:
        from filelock import FileLock

        # The same one if a check is made inside another.
        held = FileLock(folder() / "lock", is_singleton=True)
        held.acquire(timeout=LONGEST_WAIT)
    except (ImportError, OSError, NotImplementedError):  # filelock's Timeout is an OSError
        yield
        return
    try:
        yield
    finally:
        held.release()
