"""Settings of the whole suite."""

import os
import subprocess
import sys

# Two workers on two cores would wait for each other's threads. This has to stand before NumPy is imported.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from hypothesis import settings  # noqa: E402

from mloml.experiments.job import one_target  # noqa: E402

# What workers compile for: their code and that of the tests' own process is compiled once.
os.environ.update(one_target())

# The first call of a compiled function takes seconds: timing never decides a test.
settings.register_profile("suite", deadline=None, max_examples=30)
settings.load_profile("suite")

COMPILE = """
import sys
from mloml.learners.check import known
from mloml.learners.compiled import folder, ready
for name in [*known()][:: int(sys.argv[1])]:
    if not (folder() / f"{name}.ready").exists():
        ready(name)
"""


def pytest_sessionstart(session):
    """Compile all algorithms, from both ends, before workers start that would wait for each other."""
    if session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput"):
        environment = os.environ | {"MLOML_COMPILING": "yes"}
        orders = [[sys.executable, "-c", COMPILE, step] for step in ("1", "-1")]
        for process in [subprocess.Popen(order, env=environment) for order in orders]:
            process.wait()
