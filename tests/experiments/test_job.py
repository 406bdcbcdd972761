"""What a worker does with one job, in this process."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mloml.config.schema import Algorithm, ProtocolConfig
from mloml.datasets import DataSettings, catalogue, load
from mloml.experiments.cell import Cell
from mloml.experiments.claims import STARTED, claim
from mloml.experiments.job import Job, compute, one_target
from mloml.experiments.store import Store


def cpuinfo():
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


@pytest.fixture
def job(tmp_path):
    iris, settings = catalogue()["iris"], DataSettings(source="bundled")
    algorithm = Algorithm("euclidean", "Euclidean", "Euclidean")
    cell = Cell("iris", load(iris, settings).checksum, algorithm, ProtocolConfig(), 0)
    assert cell.key  # as in a run, where the key is known before the job is sent
    return Job(cell, iris, settings, str(tmp_path / "store"), "run")


def test_a_computed_cell_is_stored_with_what_it_follows_from(job):
    assert compute(job).state == "ok"
    record = Store(job.store).get(job.cell)
    assert 0 < record["error"] < 0.2
    assert record["determinants"]["protocol"]["neighbours"] == 5
    assert not list(Store(job.store).folder.glob(".claims/*"))


def test_a_stored_cell_is_found_and_not_computed(job):
    compute(job)
    written = Store(job.store).path(job.cell).stat().st_mtime_ns
    assert compute(job).state == "found"
    assert Store(job.store).path(job.cell).stat().st_mtime_ns == written


def test_a_cell_that_somebody_else_computes_is_left_to_them(job):
    with claim(Store(job.store).claim_path(job.cell), "another run"):
        assert compute(job).state == "busy"


def test_a_cell_that_cost_two_workers_is_not_tried_again(job):
    for _ in range(2):
        with claim(Store(job.store).claim_path(job.cell), job.run) as held:
            held.note(STARTED)
    assert compute(job).state == "killed"
    assert compute(job).state == "killed"  # whoever asks again, because the first answer was lost


def test_other_code_than_the_run_began_with_halts_the_run(job):
    job.cell.__dict__["key"] = "0" * 64  # what the main process would have sent from another checkout
    outcome = compute(job)
    assert (outcome.state, outcome.error) == ("halt", "CodeChangedError")
    assert not list(Store(job.store).records())


def test_other_data_than_the_run_began_with_are_refused(job):
    elsewhere = dataclasses.replace(job, cell=dataclasses.replace(job.cell, checksum="0" * 64))
    outcome = compute(elsewhere)
    assert (outcome.state, outcome.error) == ("failed", "DataFormatError")
    assert "are not those the run began with" in outcome.message


def test_workers_compile_for_one_target_unless_the_user_chose_another(monkeypatch):
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    flags = next((line for line in cpuinfo().splitlines() if line.startswith("flags")), "")
    expected = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""} if " avx2 " in flags else {}
    assert one_target() == expected
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert one_target() == {}


@pytest.mark.skipif(not one_target(), reason="this processor is not an x86-64-v3")
def test_code_for_the_one_target_uses_none_of_a_newer_processors_registers(tmp_path):
    """Whatever the processor offers beyond the target, the machine code is the same."""
    code = (
        "import numpy as np\nfrom mloml.learners.slmoml import slmoml_scan\n"
        "slmoml_scan(np.ones((3, 3, 16)), np.eye(16), 0.1, 1.0, np.zeros(5, np.int64))\n"
        "assembly = ''.join(slmoml_scan.inspect_asm().values())\n"
        "print('zmm' in assembly, 'vfmadd' in assembly)"
    )
    environment = os.environ | one_target() | {"NUMBA_CACHE_DIR": str(tmp_path)}  # kept code has no assembly
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr
