"""A process that compiles a few kernels and prints what they compute; it can be made to die meanwhile.

    python cold_start.py map project exchange          # or DIE_AT=3 python cold_start.py map

With ``DIE_AT=n`` the process kills itself when numba begins to compile its n-th function, with
``SIGNAL=SIGINT`` by Ctrl-C.
"""

import hashlib
import os
import signal
import sys

import numpy as np
from numba.core import event

from mloml.kernels.padding import zeros
from mloml.kernels.stack import row_passes

D, M = 6, 8
BEFORE, INPUT, OUTPUT, LEFT, RIGHT, SUMS = (k * 3 * M for k in range(6))  # places of three vectors each


class Executioner(event.Listener):
    """Sends a signal to this process when the n-th compilation begins."""

    begun = 0

    def on_start(self, event):
        self.begun += 1
        if self.begun == int(os.environ.get("DIE_AT", 0)):
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
            os.kill(os.getpid(), getattr(signal, os.environ.get("SIGNAL", "SIGKILL")))

    def on_end(self, event):
        pass


def begin():
    numbers = np.sin(np.arange(1.0, 1000.0) ** 1.5)
    A, V = zeros(M, M), zeros(18, M)
    A[:D, :D] = numbers[: D * D].reshape(D, D)
    V[:, :D] = numbers[-18 * D :].reshape(18, D)
    return A, V


def sweep(name):
    """Return a digest of what one kind of sweep makes of fixed numbers, for changes of every rank."""
    digest = hashlib.sha256()
    for rank in (0, 2, 3):
        A, V = begin()
        if name == "map":
            for all_three in (False, True):
                row_passes.map_rows(A, 0, V, INPUT, OUTPUT, LEFT, RIGHT, rank, all_three, True, D)
        elif name == "project":
            row_passes.project_rows(A, 0, V, INPUT, OUTPUT, SUMS, LEFT, RIGHT, rank, True, D)
        else:
            row_passes.exchange_rows(A, 0, V, INPUT, BEFORE, OUTPUT, SUMS, LEFT, RIGHT, rank, D)
        digest.update(A.round(9).tobytes() + V.round(9).tobytes())
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    event.register("numba:compile", Executioner())
    for name in sys.argv[1:]:
        print(name, sweep(name), flush=True)
