"""Studies beyond the paper that never ran, and a published folder whose numbers are computed step by step."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.config.paths import repository
from mloml.config.schema import Algorithm, DatasetConfig, ProtocolConfig, Study
from mloml.experiments.failures import COLUMNS as FAILURE_COLUMNS
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.beyond import RECIPE
from mloml.report.document import Artefact
from mloml.report.publish import as_json, publish
from mloml.experiments.manifest import Source

TITLES = {
    "euclidean": "Euclidean",
    "lmnn": "LMNN",
    "opml": "OPML",
    "moml": "MOML",
    "mloml_r": "MLOML-r",
    "mloml_s": "MLOML-s",
    "mloml_t": "MLOML-t",
    "lda": "LDA",
    "mloml_r_untrained": "MLOML-r untrained",
    "mloml_s_untrained": "MLOML-s untrained",
    "mloml_t_untrained": "MLOML-t untrained",
}
STUDIES = {"clean": "standardised", "standardised": "clean"}
"""Each study and the other."""
EFFECTS = {
    "clean": {"mloml_r": -0.05, "mloml_r_untrained": -0.02, "mloml_s": -0.02, "mloml_s_untrained": -0.021,
              "lda": 0.03, "opml": -0.03, "moml": -0.03},
    "standardised": {"mloml_t": -0.02, "mloml_t_untrained": 0.01, "lmnn": -0.06, "lda": -0.03},
}  # fmt: skip
GAPS = {("set03", "lda"): "the matrix is singular", ("set04", "mloml_r"): "diverged"}

Make = Callable[..., StudyResult]


@pytest.fixture(scope="session")
def make_study(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a function that makes a study's result.

    ``effects`` says by how much a method's error differs from Euclidean's on every set; methods without one
    differ by as much on even sets as they do the other way on odd ones, so that nothing is shown of them.
    ``gaps`` are the cells that failed, by dataset and algorithm.
    """

    folder = tmp_path_factory.mktemp("beyond")

    def make(
        protocol: str = "clean",
        effects: Mapping[str, float] | None = None,
        gaps: Mapping[tuple[str, str], str] | None = None,
        sets: int = 12,
        splits: int = 5,
        algorithms: tuple[str, ...] = tuple(TITLES),
        base: float = 0.3,
    ) -> StudyResult:
        effects, gaps = effects or {}, gaps or {}
        names = [f"set{number:02d}" for number in range(sets)]
        rows = []
        for number, dataset in enumerate(names):
            for place, algorithm in enumerate(algorithms):
                rng = np.random.default_rng([number, place])
                sway = (
                    0.0
                    if algorithm == "euclidean"
                    else 0.01 * (-1) ** number * (1 + number // 2 + place / 50)
                )
                errors = base + effects.get(algorithm, sway) + 0.002 * rng.normal(size=splits)
                for split, error in enumerate(errors):
                    failed = (dataset, algorithm) in gaps
                    rows.append(
                        {
                            "dataset": dataset,
                            "algorithm": algorithm,
                            "split": split,
                            "error": np.nan if failed else float(error),
                            "seconds": 0.1 * (place + 1) * (1 + 0.1 * split),
                            "status": "failed" if failed else "ok",
                        }
                    )
        failures = [
            dict.fromkeys(FAILURE_COLUMNS, "")
            | {"dataset": dataset, "algorithm": algorithm, "split": split, "status": "failed"}
            | {"error": "ValueError", "message": reason}
            for (dataset, algorithm), reason in gaps.items()
            for split in range(splits)
        ]
        study = Study(
            name="beyond",
            datasets=[
                DatasetConfig(
                    name=name,
                    title=name.capitalize(),
                    rows=200,
                    note="A stratified sample of 200 of 400 rows: see docs/beyond.md."
                    if name == "set00"
                    else None,
                )
                for name in names
            ],
            algorithms=[Algorithm(name, TITLES[name], "Euclidean") for name in algorithms],
            protocol=ProtocolConfig(name=protocol, splits=splits),
        )
        return StudyResult(
            study,
            folder / protocol,
            pd.DataFrame(rows),
            [],
            pd.DataFrame(failures, columns=list(FAILURE_COLUMNS)),
            {},
            sources={name: Source("c", "bundled", False) for name in names},
            command="mloml reproduce beyond",
        )

    return make


@pytest.fixture(scope="module", params=["reference", "made up"])
def folder(request, make_study, tmp_path_factory) -> Path:
    """Return a published folder."""
    if request.param == "made up":
        results = [make_study(study, EFFECTS[study], GAPS, base=0.3) for study in STUDIES]
        return _published(results, tmp_path_factory.mktemp("results"))
    root = repository()
    found = root and root / "results" / "reference" / "beyond"
    if found is None or not found.is_dir():
        pytest.skip("results/reference/beyond is not published yet: mloml reproduce beyond")
    return found


@pytest.fixture(scope="module")
def cells(folder) -> dict[str, pd.DataFrame]:
    """Return the finished cells of each study."""
    frames = {study: pd.read_csv(folder / study / "cells.csv") for study in STUDIES}
    return {study: frame[frame["status"] == "ok"] for study, frame in frames.items()}


@pytest.fixture(scope="module")
def errors(cells) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    """Return the errors of the halves by study, method and set, where none is missing."""
    found: dict[str, dict[str, dict[str, np.ndarray]]] = {study: {} for study in STUDIES}
    for study, frame in cells.items():
        splits = frame["split"].max() + 1
        for (method, dataset), part in frame.groupby(["algorithm", "dataset"]):
            if len(part) == splits:
                values = part.sort_values("split")["error"].to_numpy()
                found[study].setdefault(method, {})[dataset] = values
    return found


@pytest.fixture(scope="module")
def made(folder) -> Artefact:
    """Return the artefact that today's code makes of the published cells."""
    return RECIPE.make([_result(folder, study) for study in STUDIES])


@pytest.fixture(scope="module")
def document(made) -> dict[str, Any]:
    """Return that artefact as plain data; that it is the published one is tested below."""
    return json.loads(json.dumps(as_json(made)))


class Oracle:
    """A pair over sets, computed step by step."""

    def __init__(self, ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> None:
        common = [name for name in ours if name in theirs]
        gaps = [ours[name] - theirs[name] for name in common]
        self.outcomes = [self._outcome(gap) for gap in gaps]
        means = np.round([ours[name].mean() - theirs[name].mean() for name in common], 12)
        self.sets = len(common)
        self.median = float(np.median(means)) if common else np.nan
        moved = means[means != 0]
        self.p = float(stats.wilcoxon(means).pvalue) if len(moved) else 1.0
        ranks = stats.rankdata(np.abs(moved))
        self.sign = int(np.sign(ranks[moved > 0].sum() - ranks[moved < 0].sum()))
        self.p_holm = np.nan

    @staticmethod
    def _outcome(gap: np.ndarray) -> str:
        n = len(gap)
        if np.ptp(gap) < 1e-12:
            p = 1.0 if abs(gap[0]) < 1e-12 else 0.0
        else:
            p = 2 * stats.t.sf(abs(gap.mean()) / (gap.std(ddof=1) * np.sqrt(1 / n + 1)), n - 1)
        return "tie" if p >= 0.05 else "win" if gap.mean() < 0 else "loss"

    @property
    def counts(self) -> list[int]:
        return [self.outcomes.count(word) for word in ("win", "tie", "loss")]

    @property
    def verdict(self) -> str:
        return {-1: "smaller", 0: "", 1: "larger"}[self.sign] if self.p_holm < 0.05 else ""


def correct(family: Mapping[Any, Oracle]) -> None:
    """Holm by its definition: the k-th smallest of m times m - k + 1, and none below the one before."""
    last = 0.0
    for place, test in enumerate(sorted(family.values(), key=lambda one: one.p)):
        last = max(last, min(1.0, test.p * (len(family) - place)))
        test.p_holm = last


@pytest.fixture(scope="module")
def tests(folder, errors) -> dict[tuple[str, str, str, str], Oracle]:
    """Return every test by study, kind, method and reference: the families of docs/beyond.md."""
    found: dict[tuple[str, str, str, str], Oracle] = {}
    for study in STUDIES:
        names = list(dict.fromkeys(pd.read_csv(folder / study / "cells.csv")["algorithm"]))
        stacks = [name for name in ("mloml_r", "mloml_s", "mloml_t") if name in names]
        others = [name for name in names if name != "euclidean"]
        families = {
            "euclidean": [(name, "euclidean") for name in others],
            "untrained": [(s, f"{s}_untrained") for s in stacks if f"{s}_untrained" in names],
            "layers": [(s, "moml") for s in stacks if "moml" in names],
            "rivals": [(s, rival) for s in stacks for rival in ("opml", "lmnn") if rival in names],
            "scaling": [(name, "euclidean") for name in others],
        }
        for kind, pairs in families.items():
            side = errors[STUDIES[study]] if kind == "scaling" else errors[study]
            family = {
                (study, kind, *pair): Oracle(errors[study].get(pair[0], {}), side.get(pair[1], {}))
                for pair in pairs
            }
            correct(family)
            found |= family
        plain = (study, "scaling", "euclidean", "euclidean")
        found[plain] = Oracle(errors[study]["euclidean"], errors[STUDIES[study]]["euclidean"])
        correct({plain: found[plain]})
    return found


def _published(results: Sequence[StudyResult], folder: Path) -> Path:
    """Write what a run writes: the cells, the manifest and the failures of each study, and the artefact."""
    for result in results:
        own = folder / result.study.protocol.name
        own.mkdir()
        result.frame.to_csv(own / "cells.csv", index=False)
        result.failures.to_csv(own / "failures.csv", index=False)
        manifest = {"config": dataclasses.asdict(result.study)}
        (own / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    publish(RECIPE.make(results), folder)
    return folder


def _result(folder: Path, study: str) -> StudyResult:
    """Return a study as its run had it, from its manifest and its cells."""
    config = json.loads((folder / study / "manifest.json").read_text(encoding="utf-8"))["config"]
    protocol = config["protocol"]
    failures = folder / study / "failures.csv"
    return StudyResult(
        Study(
            name="beyond",
            datasets=[DatasetConfig.from_mapping(one) for one in config["datasets"]],
            algorithms=[Algorithm(**one) for one in config["algorithms"]],
            protocol=ProtocolConfig(name=protocol["name"], splits=protocol["splits"]),
        ),
        folder / study,
        pd.read_csv(folder / study / "cells.csv"),
        [],
        pd.read_csv(failures) if failures.is_file() else pd.DataFrame(),
        {},
    )
