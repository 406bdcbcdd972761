"""Faults from outside: Python runs this file at the start of every process that has its folder on PYTHONPATH.

It wraps ``run_cell`` of :mod:`mloml.experiments.cell` when that module is imported, in whatever process that
may be: a loky worker, a dask worker, a batch job. Production code knows nothing of it. In the folder named by
the environment variable ``FAULTS``, ``plan.json`` maps the start of "dataset/algorithm/split" to what should
happen, and ``runs.log`` collects who ran what.
"""

import ctypes
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "mloml.experiments.cell":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            if "WRONG_KERNEL" in os.environ:
                _spoil_votes(Path(os.environ["FAULTS"]))
            module.run_cell = _faulty(module.run_cell, Path(os.environ["FAULTS"]))

        spec.loader.exec_module = exec_module
        return spec


def _faulty(run_cell, folder):
    def wrapped(cell, data):
        name = f"{cell.dataset}/{cell.algorithm.name}/{cell.split}"
        _log(folder, f"start {name} {os.getpid()}")
        plan = json.loads((folder / "plan.json").read_text())
        actions = [action for pattern, action in plan.items() if name.startswith(pattern)]
        for action in actions:
            _act(folder, name, action)
        record = run_cell(cell, data)
        _log(folder, f"end {name} {os.getpid()}")
        if "fill the disk" in actions:  # from here on the kernel refuses to write more than a hundred bytes
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        return record

    return wrapped


def _spoil_votes(folder):
    """Replace a kernel of the 5-NN test, in every process or until it was called once."""
    from mloml.experiments import knn
    from mloml.learners import neighbours

    right, marker = neighbours.majority, folder / "did-spoil"

    def wrong(neighbours, codes, votes, winners):
        _log(folder, f"voted wrong/{os.getpid()} {os.getpid()}")
        marker.touch()
        right(neighbours, codes, votes, winners)
        winners[:] = 0

    if os.environ["WRONG_KERNEL"] == "always" or not marker.exists():
        knn.majority = neighbours.majority = wrong


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def _act(folder, name, action):
    marker = folder / f"did-{name.replace('/', '-')}"
    if action == "raise":
        raise ValueError("made to fail")
    if action == "kill" or (action == "kill once" and not marker.exists()):
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "hang":
        time.sleep(3600)
    if action == "hold the lock":  # the interpreter's: no other thread of this process runs from here on
        ctypes.PyDLL(None).sleep(3600)
    if action == "leave a thread":
        threading.Thread(target=time.sleep, args=(3600,)).start()
    if action == "leave the generator":
        raise GeneratorExit
    if action == "interrupt":
        raise KeyboardInterrupt
    if action == "raise the unspeakable":
        raise Unspeakable
    if action == "gate":  # holds the cell until the test opens the gate
        while not (folder / "open").exists():
            time.sleep(0.02)


def _log(folder, line):
    descriptor = os.open(folder / "runs.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


if "FAULTS" in os.environ:
    sys.meta_path.insert(0, _Finder())
