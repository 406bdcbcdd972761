"""The command line in a process of its own, for the tests of it."""

import os
import subprocess
import sys


def mloml(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "mloml.cli", *arguments],
        cwd=cwd,
        env=os.environ | {"MLOML_DATA": ""} | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
