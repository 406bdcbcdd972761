"""A run's own words are the last ones: nothing is left behind that loky would have to clean up."""

import subprocess
import sys
from pathlib import Path

import pytest

SLOW = """
import sys, time
sys.path.insert(0, sys.argv.pop(1))
from joblib.externals.loky.backend import queues, synchronize

def slowly(function):
    def run(*args):
        function(*args)
        time.sleep(0.3)
    return staticmethod(run)

def unlink_slowly(name):
    unlink(name)
    time.sleep(0.05)

unlink, synchronize.sem_unlink = synchronize.sem_unlink, unlink_slowly
queues.Queue._feed = slowly(queues.Queue._feed)
import driver
driver.main()
"""
"""A run in which all that ends an executor takes so long that who does not wait for it is found out."""


@pytest.mark.slow
def test_a_run_ends_without_a_word_about_semaphores(tmp_path):
    command = [sys.executable, "-c", SLOW, str(Path(__file__).parent)]
    done = subprocess.run([*command, str(tmp_path), "1", "n_jobs=1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "resource_tracker" not in done.stderr and "Traceback" not in done.stderr
