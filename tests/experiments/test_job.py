"""What a worker does with one job, in this process."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mloml.config.schema import Algorithm, DataSettings, ProtocolConfig
from mloml.datasets import catalogue, load
from mloml.errors import KernelError
from mloml.experiments.cell import Cell
from mloml.experiments.job import Job, compute, one_target
from mloml.experiments.store import Store
from mloml.files import hold


@pytest.fixture(autouse=True)
def no_watch(monkeypatch):
    monkeypatch.setattr("mloml.experiments.job.end_with_parent", lambda: None)  # this is not a worker


@pytest.fixture
def job(tmp_path):
    iris, settings = catalogue()["iris"], DataSettings(source="bundled")
    algorithm = Algorithm("euclidean", "Euclidean", "Euclidean")
    cell = Cell("iris", load(iris, settings).checksum, algorithm, ProtocolConfig(), 0)
    assert cell.key  # as in a run, where the key is known before the job is sent
    return Job(cell, iris, settings, str(tmp_path / "store"), "run")


def test_a_computed_cell_is_stored_with_what_it_follows_from_and_then_found(job):
    store = Store(job.store)
    assert compute(job).state == "ok"
    record = store.get(job.cell)
    assert 0 < record["error"] < 0.2
    assert record["key_fields"]["protocol"]["neighbours"] == 5
    assert not list(store.folder.glob(".claims/*"))
    written = store.path(job.cell).stat().st_mtime_ns
    assert compute(job).state == "found"
    assert store.path(job.cell).stat().st_mtime_ns == written


def test_a_cell_that_somebody_else_computes_is_left_to_them(job):
    with hold(Store(job.store).claim(job.cell, "lock")):
        assert compute(job).state == "busy"


def test_a_cell_that_cost_two_workers_of_this_run_is_not_tried_again(job):
    job.note.parent.mkdir(parents=True)
    job.note.write_text("run\nrun\n")
    assert compute(job).state == "killed"
    assert compute(job).state == "killed"  # whoever asks again, because the first answer was lost
    job.note.write_text("another\nanother\n")
    assert compute(job).state == "ok"


def test_wrong_compiled_code_ends_the_worker_and_if_found_again_the_run(job, monkeypatch):
    def wrong(cell, data):
        raise KernelError("wrong")

    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr("mloml.experiments.cell.run_cell", wrong)
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(SystemExit):
        compute(job)
    outcome = compute(job)
    assert (outcome.state, outcome.error) == ("halt", "KernelError")


def test_other_code_than_the_run_began_with_halts_the_run(job):
    job.cell.__dict__["key"] = "0" * 64  # what the main process would have sent from another checkout
    outcome = compute(job)
    assert (outcome.state, outcome.error) == ("halt", "CodeChangedError")
    assert not list(Path(job.store).rglob("*.json"))


def test_other_data_than_the_run_began_with_are_refused(job):
    elsewhere = dataclasses.replace(job, cell=dataclasses.replace(job.cell, checksum="0" * 64))
    outcome = compute(elsewhere)
    assert (outcome.state, outcome.error) == ("failed", "DataFormatError")
    assert "are not those the run began with" in outcome.message


def test_workers_compile_for_one_target_unless_the_user_chose_another(monkeypatch):
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    path = Path("/proc/cpuinfo")
    has_target = path.exists() and " avx2 " in path.read_text()
    assert one_target() == ({"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""} if has_target else {})
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert one_target() == {}


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_CPU_NAME") != "x86-64-v3", reason="another processor or target")
def test_code_for_the_one_target_uses_none_of_a_newer_processors_registers(tmp_path):
    """Whatever the processor offers beyond the target, the machine code is the same."""
    code = (
        "import numpy as np\nfrom mloml.learners.slmoml import slmoml_scan\n"
        "slmoml_scan(np.ones((3, 3, 16)), np.eye(16), 0.1, 1.0, np.zeros(5, np.int64))\n"
        "assembly = ''.join(slmoml_scan.inspect_asm().values())\n"
        "print('zmm' in assembly, 'vfmadd' in assembly)"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}  # kept code has no assembly
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr
