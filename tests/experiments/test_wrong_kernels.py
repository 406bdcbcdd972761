"""Compiled code that computes something else than its formulas is found before a cell is computed with it."""

import json

import pytest

from mloml.experiments.claims import STARTED, WRONG, claim, ended_wrong, verdict


@pytest.mark.slow
def test_wrong_code_stops_the_run_after_one_new_process_and_nothing_is_stored(lab, monkeypatch):
    monkeypatch.setenv("WRONG_KERNEL", "always")
    code, output = lab.finish("n_jobs=1")
    assert code != 0
    assert "the compiled code of neighbours computes something else than its formulas" in output
    assert "found again in a new process" in output
    assert len(lab.runs("voted")) == 2  # processes
    assert not lab.runs("start")
    assert not lab.stored()


@pytest.mark.slow
def test_code_that_is_right_in_a_new_process_costs_nothing_but_time(lab, monkeypatch, assert_undisturbed):
    monkeypatch.setenv("WRONG_KERNEL", "once")
    code, output = lab.finish("n_jobs=1")
    assert code == 0, output
    assert len(lab.runs("voted")) == 1
    assert_undisturbed()
    assert {json.loads(path.read_text())["record"]["kernels"] for path in lab.stored()} == {"checked"}


def test_a_worker_that_ends_for_its_wrong_code_is_no_death(tmp_path):
    path = tmp_path / "claim"
    for words in ((STARTED, WRONG), (STARTED,), ()):
        with claim(path, "run") as held:
            for word in words:
                held.note(word)
        assert verdict(path, "run") is None
        assert ended_wrong(path, "run") == (WRONG in words)
    with claim(path, "run") as held:
        held.note(STARTED)
    assert verdict(path, "run") == "killed"
