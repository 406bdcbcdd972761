"""Every kernel that Python calls is compared with plain NumPy when it is first used."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from mloml.checks import check
from mloml.checks.problems import PROBLEMS
from mloml.errors import KernelError
from mloml.kernels import oasis

CHEAP = [p for p in PROBLEMS if not p.kernel.startswith(("stack", "scans", "moml")) and p.judge is None]
JUDGED = [p for p in PROBLEMS if p.judge is not None]

FIT = """
import sys
import numpy as np
import mloml
from mloml.evaluation.knn import predict
from mloml.checks import check
from mloml.kernels.compiled import Kernel
X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
learners = [mloml.OPML(), mloml.LEGO(), mloml.RDML(), mloml.OASIS(), mloml.SLMOML(), mloml.LMNN(),
            mloml.LMDML(), mloml.MLCC(), mloml.MOML(), mloml.MLOML()]
for learner in learners:
    learner.fit(X, y)
predict(X, y, X, 5)
called = {
    value.name
    for name, module in sys.modules.items() if name.startswith("mloml.kernels.")
    for value in vars(module).values()
    if isinstance(value, Kernel) and set(value.overloads) - value._for_others
}
print(*(called - {name.split()[0] for name in check.passed}), len(called))
"""


@pytest.mark.parametrize("problem", CHEAP, ids=lambda problem: problem.name)
def test_a_small_error_in_a_result_is_seen(problem):
    module, name = problem.kernel.rsplit(".", 1)
    right = getattr(import_module(f"mloml.kernels.{module}"), name)

    def wrong(*arguments):
        result = right(*arguments)
        for array, before in zip(arguments, problem.arguments(), strict=True):
            if isinstance(array, np.ndarray) and not np.array_equal(array, before):
                array[...] = array * (1 + 1e-4) if array.dtype == np.float64 else array + 1
        return None if result is None else np.add(result, 1)

    assert check.solves(problem, right)
    assert not check.solves(problem, wrong)


@pytest.mark.parametrize("problem", JUDGED, ids=lambda problem: problem.name)
def test_a_small_error_of_a_descent_is_seen(problem):
    module, name = problem.kernel.rsplit(".", 1)
    right = getattr(import_module(f"mloml.kernels.{module}"), name)

    def wrong(*arguments):
        result = right(*arguments)
        arguments[-1][0, 0] *= 1 + 1e-3
        return result

    assert check.solves(problem, right)
    assert not check.solves(problem, wrong)


@pytest.mark.slow
def test_what_learners_call_was_checked_at_its_first_use():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    *unchecked, called = done.stdout.split()
    assert not unchecked
    assert int(called) > 15


def test_in_ones_own_process_wrong_code_is_an_error_that_says_to_restart(monkeypatch):
    monkeypatch.setattr(oasis, "oasis_scan", lambda *arguments: None)
    monkeypatch.setattr(check, "_found_right", set())
    with pytest.raises(KernelError, match=r"oasis.oasis_scan computes something else .* restart Python"):
        check.check_kernels(["oasis.oasis_scan"])
