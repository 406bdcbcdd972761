"""A laboratory for runs that go wrong: real worker processes, faults on demand, and counts of what ran."""

import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from mloml.experiments.study import run_study

HERE = Path(__file__).parent
PATIENCE = 600
"""Seconds that a test waits before it says that something hangs; a busy machine may be slow."""


def _heed_ctrl_c():
    """Undo what a shell does to its background jobs, in case the tests are one: they would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Lab:
    """Runs the small study here or in a process of its own, with faults in its workers."""

    def __init__(self, folder: Path, faults: Path):
        self.folder = folder
        self.results = folder / "results"
        self.faults = faults
        for leftover in faults.iterdir():
            leftover.unlink()
        self.plan({})
        self._processes = []

    def plan(self, faults):
        (self.faults / "plan.json").write_text(json.dumps(faults))

    def open_gate(self):
        (self.faults / "open").touch()

    def study(self, **settings):
        return driver().small_study(self.results, **settings)

    def run(self, **settings):
        """Run to the end in this process, whose workers are warm; return the result."""
        return run_study(self.study(**settings), refresh=driver().draw_means)

    def start(self, *arguments, splits=3, results=None, own_group=False):
        script = [sys.executable, str(HERE / "driver.py"), str(results or self.results), str(splits)]
        return self.start_process([*script, *arguments], own_group)

    def start_process(self, command, own_group=False):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": own_group}
        process = subprocess.Popen(command, **pipes, text=True, preexec_fn=_heed_ctrl_c)
        self._processes.append(process)
        return process

    def finish(self, *arguments, **settings):
        """Run to the end in a process of its own; return the exit code and what was printed."""
        process = self.start(*arguments, **settings)
        return self.ended(process)

    def ended(self, process):
        """Wait for a process of one's own; return its exit code and what was printed."""
        output, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, output

    def runs(self, word="end"):
        """Count how often each cell was run to its end (or started)."""
        return Counter(line.split()[1] for line in self._log() if line.startswith(word))

    def workers(self, word="start"):
        """Return the process that last worked on each cell."""
        return {line.split()[1]: int(line.split()[2]) for line in self._log() if line.startswith(word)}

    def wait_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "nothing happened"
            time.sleep(0.02)

    def stored(self):
        return sorted(self.results.glob("store/*/*/*.json"))

    def tidy_up(self):
        self.open_gate()
        for process in self._processes:
            process.kill()
            process.communicate()

    def _log(self):
        log = self.faults / "runs.log"
        return log.read_text().splitlines() if log.exists() else []


def comparable(path: Path) -> bytes:
    """Return a result file's bytes; of cells.csv all but the seconds, which no two runs share."""
    if path.name != "cells.csv":
        return path.read_bytes()
    cells = pd.read_csv(io.StringIO(path.read_text()), dtype=str, keep_default_na=False)
    return cells.drop(columns="seconds").to_csv(index=False).encode()


def driver():
    specification = importlib.util.spec_from_file_location("driver", HERE / "driver.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def read_comparable():
    return comparable


@pytest.fixture(scope="session")
def faults(tmp_path_factory):
    """The folder through which tests reach workers; one for all, so that warm workers can be used again."""
    folder = tmp_path_factory.mktemp("faults")
    path = os.pathsep.join(filter(None, (str(HERE / "faults"), os.environ.get("PYTHONPATH"))))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FAULTS": str(folder), "PYTHONPATH": path, "MLOML_DATA": ""}.items():
            patch.setenv(name, value)
        yield folder


@pytest.fixture
def lab(tmp_path, faults):
    found = Lab(tmp_path, faults)
    yield found
    found.tidy_up()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, faults):
    """The result files of the small study (three splits) when nothing goes wrong, ready to be compared."""
    lab = Lab(tmp_path_factory.mktemp("undisturbed"), faults)
    lab.run()
    names = ("cells.csv", "failures.csv", "means.csv")
    return {name: comparable(lab.results / "small" / name) for name in names}


@pytest.fixture
def assert_undisturbed(undisturbed, lab):
    """Assert that the files in a results folder are, byte for byte, those of an undisturbed run."""

    def check(results=None):
        for name, expected in undisturbed.items():
            assert comparable((results or lab.results) / "small" / name) == expected, name

    return check
