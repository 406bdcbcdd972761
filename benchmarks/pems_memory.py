"""Peak memory and time of loading PEMS-SF at full size and reducing it by PCA to 100 components.

The file is generated in UCI's format (440 Matlab-style matrices of 963 x 144 numbers, in a zip), since what
is measured depends on its size only. Each step runs in its own process, so that its peak is its own.

    python benchmarks/pems_memory.py            # minutes, and 0.7 GB in the temporary folder
    python benchmarks/pems_memory.py days=60    # smaller
"""

import dataclasses
import json
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

STATIONS, TIMES, TRAIN_SHARE = 963, 144, 267 / 440
NUMBERS = np.array([f"{i / 10_000:.4f}" for i in range(10_001)], dtype=object)


def write_zip(path: Path, days: int) -> None:
    """Write a zip in UCI's format, one line at a time."""
    rng = np.random.default_rng(0)
    train = round(days * TRAIN_SHARE)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for part, count in (("train", train), ("test", days - train)):
            labels = np.arange(count) % 7 + 1
            archive.writestr(f"PEMS_{part}labels", f"[{' '.join(map(str, labels))}]\n")
            with archive.open(f"PEMS_{part}", "w", force_zip64=True) as member:
                for label in labels:
                    member.write(matrix_line(rng, label))


def matrix_line(rng: np.random.Generator, label: int) -> bytes:
    """Return one day: occupancy rates with four decimals, stations separated by semicolons."""
    hours = np.linspace(0, 24, TIMES)
    day = 0.05 + 0.03 * np.sin(hours * (1 + label / 7)) + rng.exponential(0.02, (STATIONS, TIMES))
    text = NUMBERS[np.minimum(day * 10_000, 10_000).astype(int)]
    return ("[" + ";".join(map(" ".join, text)) + "]\n").encode()


def load_step(folder: str, days: int, with_pca: bool) -> dict[str, float]:
    """Load the dataset (and prepare it as the paper's protocol does); return seconds and peak memory."""
    from mloml.config.schema import PcaConfig
    from mloml.datasets import DataSettings, catalogue, load
    from mloml.experiments.preprocessing import prepare

    known = catalogue()["pems"]
    original = dataclasses.replace(known.original, sha256=None)
    config = dataclasses.replace(known, rows=days, original=original)
    start = time.perf_counter()
    data = load(config, DataSettings(dir=folder, source="local", cache=f"{folder}/cache"))
    loaded = time.perf_counter()
    shape = data.X.shape
    if with_pca:
        shape = prepare(data, PcaConfig(), np.arange(0, days, 2)).shape
    return {
        "rows": shape[0],
        "columns": shape[1],
        "load_seconds": round(loaded - start, 1),
        "pca_seconds": round(time.perf_counter() - loaded, 1),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def in_own_process(folder: str, days: int, with_pca: bool) -> dict[str, float]:
    """Run :func:`load_step` in a new process."""
    command = [sys.executable, __file__, "step", folder, str(days), str(int(with_pca))]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main(days: int) -> None:
    with tempfile.TemporaryDirectory(prefix="mloml-pems-") as folder:
        start = time.perf_counter()
        write_zip(Path(folder, "pems+sf.zip"), days)
        size = Path(folder, "pems+sf.zip").stat().st_size / 2**20
        print(f"generated {days} days in {time.perf_counter() - start:.0f} s, zip of {size:.0f} MB")
        print("load from text:       ", in_own_process(folder, days, False))
        print("load again, then PCA: ", in_own_process(folder, days, True))


if __name__ == "__main__":
    if sys.argv[1:2] == ["step"]:
        print(json.dumps(load_step(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1")))
    else:
        given = dict(word.split("=") for word in sys.argv[1:])
        main(int(given.get("days", 440)))
