"""A learner from elsewhere that does what a test asks for: fail, hang, die, or wait.

In the folder that the environment variable ``FAULTS`` names, ``plan.json`` maps "algorithm/split" to what
should happen, and ``runs.log`` collects who computed what. Otherwise it is the Euclidean distance.
"""

import ctypes
import json
import os
import resource
import signal
import threading
import time
from pathlib import Path

from sklearn.base import BaseEstimator, TransformerMixin

from mloml.experiments.splits import derive_seed

FOLDER = Path(os.environ.get("FAULTS", ""))  # unset while tests are collected


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Faulty(TransformerMixin, BaseEstimator):
    def __init__(self, label="one", random_state=0):
        self.label = label
        self.random_state = random_state

    def fit(self, X, y):
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        splits = {derive_seed(0, "iris", split, "stream"): split for split in range(8)}
        cell = f"{self.label}/{splits[self.random_state]}"
        log(f"start {cell} {os.getpid()}")
        act(cell, json.loads((FOLDER / "plan.json").read_text()).get(cell))
        return self

    def transform(self, X):
        return X


def act(cell, action):
    marker = FOLDER / f"did-{cell.replace('/', '-')}"
    if action == "raise":
        raise ValueError("made to fail")
    if action == "kill" or (action == "kill once" and not marker.exists()):
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "hold the lock":  # the interpreter's: no other thread of this process runs from here on
        ctypes.PyDLL(None).sleep(3600)
    if action == "leave a thread":
        threading.Thread(target=time.sleep, args=(3600,)).start()
    if action == "interrupt":
        raise KeyboardInterrupt
    if action == "raise the unspeakable":
        raise Unspeakable
    if action == "fill the disk":  # until the next cell the kernel refuses to write more than a hundred bytes
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    while action == "gate" and not (FOLDER / "open").exists():  # until the test opens the gate
        time.sleep(0.02)


def die(job):
    os._exit(1)


def log(line):
    descriptor = os.open(FOLDER / "runs.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)
