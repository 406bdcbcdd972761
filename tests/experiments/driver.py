"""A run as a process of its own: `driver.py RESULTS SPLITS [key=value of execution ...]`."""

import json
import sys
from pathlib import Path

from omegaconf import OmegaConf

from mloml.config.compose import algorithm
from mloml.config.paths import conf_dir
from mloml.config.schema import ExecutionConfig, ProtocolConfig, Study
from mloml.datasets import DataSettings, catalogue
from mloml.errors import MlomlError
from mloml.experiments import ending
from mloml.experiments.study import run_study
from mloml.experiments.store import write_atomically

NAMES = ("euclidean", "kissme")


def small_study(results, splits=3, datasets=("iris",), algorithms=NAMES, protocol=None, **execution):
    known = catalogue()
    return Study(
        name="small",
        datasets=[known[name] for name in datasets],
        algorithms=[
            algorithm(OmegaConf.load(conf_dir() / "algorithm" / f"{name}.yaml")) for name in algorithms
        ],
        protocol=ProtocolConfig(splits=splits, **(protocol or {})),
        execution=ExecutionConfig(results=str(results), **({"n_jobs": 2} | execution)),
        data=DataSettings(offline=True),
    )


def draw_means(result):
    means = result.frame.groupby(["dataset", "algorithm"])["error"].mean().reset_index()
    write_atomically(result.folder / "means.csv", means.to_csv(index=False))


def main():
    results, splits, *pairs = sys.argv[1:]
    execution = {name: json.loads(value) for name, value in (pair.split("=", 1) for pair in pairs)}
    ending.PATIENCE = 120.0  # a busy machine may need more than seconds for an orderly end
    try:
        result = run_study(small_study(Path(results), int(splits), **execution), refresh=draw_means)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(len(result.failures) > 0)


if __name__ == "__main__":
    main()
