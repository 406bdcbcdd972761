"""Known answers: every compiled function has some, and code that gives others is refused.

That plain Python gives the same is tested in ``test_compiled.py``; that it is right, with each learner.
"""

import numpy as np
import pytest

from mloml.errors import KernelError
from mloml.learners import check, compiled, find_learners


def test_every_algorithm_has_an_answer_and_another_number_is_refused(monkeypatch):
    known = check.known()
    assert {name for name, entry in known.items() if not entry["problems"]} == check.OTHERS.keys()
    check.check("rows")
    other = known["rows"] | {"answers": np.array(known["rows"]["answers"]) * (1 + 1e-5)}
    monkeypatch.setattr(check, "known", lambda: {"rows": other})
    with pytest.raises(KernelError, match="the compiled code of rows"):
        check.check("rows")


def test_the_problems_call_every_compiled_function_with_one_signature():
    find_learners()
    for name in check.known():
        compiled.ready(name)
    assert {function.__name__: len(function.signatures) for function in compiled.ENTRIES} == {
        function.__name__: 1 for function in compiled.ENTRIES
    }
