"""Time every method of this checkout against another one, for instance the commit before, by turns.

python benchmarks/against.py ../older                     # all of it, about three minutes
python benchmarks/against.py ../older MLOML LMNN          # methods whose names begin like this
python benchmarks/against.py ../older --rounds 3 --features 13 57

Online methods: microseconds per triplet on rows of length 1. A fit of one scan is subtracted from one of 21,
so that checking input and loading compiled code cancel. Batch methods and 5-NN: milliseconds of a whole fit
or prediction on one half of each bundled data set. Each turn is a process of its own that imports one
checkout; of all turns the shortest time counts. Learners have their own defaults on each side. A ratio
above 1 means that this checkout takes longer.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

FEATURES = (4, 13, 21, 34, 57, 100)
SETS = ("iris", "wine", "breast", "pima", "balance", "ionosphere", "spect", "waveform")
SCANS, REPEATS = 20, 3


def online() -> dict[str, Any]:
    from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML

    relu, tanh = {"activation": "relu", "gamma": 1e-2}, {"activation": "tanh", "gamma": 1e-2}
    return {
        "MLOML FP relu": MLOML(**relu),
        "MLOML FP tanh": MLOML(**tanh),
        "MLOML FBP relu": MLOML(**relu, propagation="fbp"),
        "MLOML BP relu": MLOML(**relu, propagation="bp"),
        "MOML split": MOML(gamma=1e-2),
        "MOML free": MOML(gamma=1e-2, cone="free"),
        **{kind.__name__: kind(gamma=1e-2) for kind in (OPML, LEGO, RDML, OASIS, SLMOML)},
    }


def fastest(action: Callable[[], Any]) -> float:
    """Return the processor seconds of the fastest of some calls; one more, before, is not counted."""
    times = []
    for _ in range(1 + REPEATS):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times[1:])


def one_turn(begins: tuple[str, ...], features: list[int]) -> dict[str, float]:
    """Time this process's mloml."""
    import numpy as np
    from sklearn.preprocessing import normalize

    from mloml import KISSME, LMDML, LMNN, MLCC
    from mloml.datasets import DataSettings, catalogue, load
    from mloml.experiments.neighbours import predict

    warnings.simplefilter("ignore")
    found = {}
    for d in features:
        rng, y = np.random.default_rng(d), np.arange(400) % 4
        X = normalize(rng.normal(size=(400, d)) + rng.normal(size=(4, d))[y])
        for name, learner in online().items():
            if name.startswith(begins):
                learner.set_params(scale=None, random_state=0, scans=1)
                short = fastest(lambda: learner.fit(X, y))  # noqa: B023
                once = learner.n_triplets_
                whole = fastest(lambda: learner.set_params(scans=1 + SCANS).fit(X, y))  # noqa: B023
                found[f"{name}, d = {d}"] = (whole - short) / (learner.n_triplets_ - once) * 1e6
    batch = {"LMNN": LMNN(), "LMDML": LMDML(random_state=0), "MLCC": MLCC(random_state=0), "KISSME": KISSME()}
    for name in SETS:
        data = load(catalogue()[name], DataSettings(offline=True))
        X, (_, y) = normalize(data.X), np.unique(data.y, return_inverse=True)
        actions = {f"{kind}, {name}": lambda m=model: m.fit(X[::2], y[::2]) for kind, model in batch.items()}  # noqa: B023
        actions[f"5-NN, {name}"] = lambda: predict(X[::2], y[::2], X[1::2], 5)  # noqa: B023
        found |= {what: fastest(do) * 1e3 for what, do in actions.items() if what.startswith(begins)}
    return found


def in_process(checkout: Path, arguments: list[str]) -> dict[str, float]:
    """Return what a process that imports this checkout finds."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    environment = os.environ | threads | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, __file__, *arguments, "--turn"]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(older: Path, rounds: int, arguments: list[str]) -> None:
    import measure

    newer = Path(__file__).resolve().parents[1]
    sides = (older.resolve(), newer)
    turns = [[in_process(side, arguments) for side in sides] for _ in range(rounds)]
    rows = []
    for what in turns[0][0]:
        before, after = (min(turn[side][what] for turn in turns) for side in (0, 1))
        unit = "us per triplet" if " d = " in what else "ms"
        rows.append({"what": what, "unit": unit, "older": before, "newer": after, "ratio": after / before})
    measure.write("against", rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("older", type=Path, help="folder of the other checkout")
    parser.add_argument("methods", nargs="*", help="beginnings of names; all methods without any")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--features", type=int, nargs="+", default=list(FEATURES))
    parser.add_argument("--turn", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.turn:
        print(json.dumps(one_turn(tuple(given.methods) or ("",), given.features)))
    else:
        main(given.older, given.rounds, sys.argv[1:])
