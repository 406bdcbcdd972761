"""Table II as a person makes it: the same files from every backend, and after a run that was killed."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTING = ["datasets=[iris]", "algorithms=[kissme,mloml_r]", "protocol.splits=2", "protocol.scans=1"]
CELLS = [f"iris/{algorithm}/{split}" for algorithm in ("kissme", "mloml_r") for split in range(2)]
BACKENDS = {
    "loky": ["execution.n_jobs=2"],
    "dask": ["execution=dask", "execution.n_jobs=2"],
    "slurm": ["execution=slurm", "execution.cluster=local"],
}


def start_table2(lab, name, backend):
    words = [*SETTING, *BACKENDS[backend], f"execution.results={lab.folder / name}"]
    return lab.start_process([sys.executable, str(ROOT / "experiments" / "table2.py"), *words])


def make_table2(lab, read_comparable, name, backend):
    """Run to the end; return the bytes of every file but the manifest, which tells time and place."""
    process = start_table2(lab, name, backend)
    code, output = lab.ended(process)
    assert code == 0, output
    files = (lab.folder / name / "table2").iterdir()
    return {path.name: read_comparable(path) for path in files if path.name != "manifest.json"}


@pytest.mark.slow
def test_table2_is_the_same_from_every_backend_and_after_a_kill(lab, read_comparable):
    expected = make_table2(lab, read_comparable, "loky", "loky")
    paper = {"table2.csv", "table2.tex", "table2.md", "win_tie_loss.csv", "paper_comparison.csv"}
    assert paper | {"cells.csv", "failures.csv"} <= set(expected)
    for backend in ("dask", "slurm"):
        assert make_table2(lab, read_comparable, backend, backend) == expected, backend

    before = lab.runs()
    lab.plan({"iris/mloml_r/0": "gate"})
    process = start_table2(lab, "killed", "loky")
    lab.wait_until(lambda: len(list((lab.folder / "killed").glob("store/*/*/*.json"))) == 3)
    process.kill()
    process.wait()
    lab.open_gate()
    assert make_table2(lab, read_comparable, "killed", "loky") == expected
    assert lab.runs() - before == dict.fromkeys(CELLS, 1)
