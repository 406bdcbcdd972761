"""A run as a process of its own: `driver.py RESULTS [key=value of execution ...]`."""

import json
import sys
from pathlib import Path

from mloml.config.schema import Algorithm, DataSettings, ExecutionConfig, ProtocolConfig, Study
from mloml.datasets import catalogue
from mloml.errors import MlomlError
from mloml.experiments.study import run_study
from mloml.files import write_atomically


def small_study(results, splits=3, datasets=("iris",), algorithms=("one", "two"), **execution):
    return Study(
        name="small",
        datasets=[catalogue()[name] for name in datasets],
        algorithms=[Algorithm(name, name.title(), "faulty.Faulty", {"label": name}) for name in algorithms],
        protocol=ProtocolConfig(splits=splits),
        execution=ExecutionConfig(results=str(results), **({"n_jobs": 2} | execution)),
        data=DataSettings(offline=True),
    )


def draw_means(result):
    means = result.frame.groupby(["dataset", "algorithm"])["error"].mean().reset_index()
    write_atomically(result.folder / "means.csv", means.to_csv(index=False))


def main():
    pairs = (pair.split("=", 1) for pair in sys.argv[2:])
    study = small_study(Path(sys.argv[1]), **{name: json.loads(value) for name, value in pairs})
    try:
        result = run_study(study, publish=draw_means)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(len(result.failures) > 0)


if __name__ == "__main__":
    main()
