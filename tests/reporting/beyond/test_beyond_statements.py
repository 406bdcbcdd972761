"""What is said beyond the paper, recomputed from the published cells, without the package's own statistics.

Two folders go through it: the reference results, and studies that never ran but have every kind of outcome.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.config.paths import repository
from mloml.config.schema import Algorithm, DatasetConfig, ProtocolConfig, Study
from mloml.execution.study import StudyResult
from mloml.reporting.artefacts.beyond import RECIPE
from mloml.reporting.document import Artefact, Text
from mloml.reporting.markdown import page_to_markdown
from mloml.reporting.publish import as_json, publish

STUDIES = {"clean": "unit rows", "standardised": "standardised features"}
OTHER = {"clean": "standardised", "standardised": "clean"}
ACTIVATIONS = {"ReLU": "mloml_r", "sigmoid": "mloml_s", "tanh": "mloml_t"}
EFFECTS = {
    "clean": {"mloml_r": -0.05, "mloml_r_untrained": -0.02, "mloml_s": -0.02, "mloml_s_untrained": -0.021,
              "lda": 0.03, "opml": -0.03, "moml": -0.03},
    "standardised": {"mloml_t": -0.02, "mloml_t_untrained": 0.01, "lmnn": -0.06, "lda": -0.03},
}  # fmt: skip
GAPS = {("set03", "lda"): "the matrix is singular", ("set04", "mloml_r"): "diverged"}
NUMBERS = re.compile(r"(-?\d?\.\d{3}), (\d+)/(\d+)/(\d+), p (=|<) (1|\.\d+)(?: \((\d+) of \d+ sets\))?")


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
        stacks = [name for name in ACTIVATIONS.values() if name in names]
        others = [name for name in names if name != "euclidean"]
        families = {
            "euclidean": [(name, "euclidean") for name in others],
            "untrained": [(s, f"{s}_untrained") for s in stacks if f"{s}_untrained" in names],
            "layers": [(s, "moml") for s in stacks if "moml" in names],
            "rivals": [(s, rival) for s in stacks for rival in ("opml", "lmnn") if rival in names],
            "scaling": [(name, "euclidean") for name in others],
        }
        for kind, pairs in families.items():
            side = errors[OTHER[study]] if kind == "scaling" else errors[study]
            family = {
                (study, kind, *pair): Oracle(errors[study].get(pair[0], {}), side.get(pair[1], {}))
                for pair in pairs
            }
            correct(family)
            found |= family
        plain = (study, "scaling", "euclidean", "euclidean")
        found[plain] = Oracle(errors[study]["euclidean"], errors[OTHER[study]]["euclidean"])
        correct({plain: found[plain]})
    return found


def test_every_test_over_sets_is_that_of_the_cells(folder, tests) -> None:
    table = pd.read_csv(folder / "over_sets.csv", keep_default_na=False)
    keys = [tuple(row) for row in table[["study", "test", "algorithm", "reference"]].to_numpy().tolist()]
    assert sorted(keys) == sorted(tests)
    for key, row in zip(keys, table.to_dict("records"), strict=True):
        test = tests[key]
        assert int(row["sets"]) == test.sets, key
        assert [int(row[word]) for word in ("wins", "ties", "losses")] == test.counts, key
        assert float(row["p_wilcoxon"]) == pytest.approx(test.p, rel=1e-6), key
        assert float(row["p_holm"]) == pytest.approx(test.p_holm, rel=1e-6), key
        assert row["verdict"] == test.verdict, key
        if test.sets:
            assert float(row["median_difference"]) == pytest.approx(test.median, abs=1e-9), key


def frames(document: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return the tables of the page by the heading above them."""
    found, heading = {}, ""
    for block in document["notes"]:
        if block["kind"] == "Text":
            heading = block["heading"] or heading
        elif block["kind"] == "Frame":
            found[heading] = pd.DataFrame(block["rows"], columns=block["columns"])
    return found


def check(text: str, test: Oracle) -> None:
    """Compare a printed "difference, win/tie/loss, p" with a test."""
    if not test.sets:
        assert text == "–"
        return
    median, wins, ties, losses, sign, p, fewer = NUMBERS.fullmatch(text).groups()
    assert float(median) == pytest.approx(test.median, abs=0.00051)
    assert [int(wins), int(ties), int(losses)] == test.counts
    assert test.p_holm < 0.001 if sign == "<" else float(p) == pytest.approx(test.p_holm, abs=0.00051)
    assert fewer is None or int(fewer) == test.sets


def test_every_number_beside_a_sentence_and_the_sentence_itself(document, tests) -> None:
    names = {title: name for name, title in document["titles"].items()}
    page = frames(document)
    helps = {"smaller": "helps beyond the paper", "larger": "harms"}
    layers = {"smaller": "layers help", "larger": "layers harm"}
    scaled = {"smaller": "beats it", "larger": "Euclidean beats it"}
    seen = 0
    same = "no difference between three layers and one is shown"
    for heading, kind, words, nothing in (
        ("Does learning help?", "euclidean", helps, "no difference from Euclidean is shown on these sets"),
        ("Do three layers help, against one?", "layers", layers, same),
        ("What scaling alone does", "scaling", scaled, "no difference is shown"),
    ):
        for row in page[heading].to_numpy().tolist():
            subject = ACTIVATIONS.get(row[0]) or names[row[0]]
            reference = "moml" if kind == "layers" else "euclidean"
            for study, said, numbers in zip(STUDIES, row[1::2], row[2::2], strict=True):
                test = tests[study, kind, subject, reference]
                check(numbers, test)
                assert said == (
                    words.get(test.verdict, nothing) if test.sets else "there is nothing to compare"
                )
                seen += 1
    for row in page["Does MLOML beat MOML, OPML and LMNN?"].to_numpy().tolist():
        stack, rival = (names[title] for title in row[0].split(" beats "))
        for study, said, numbers in zip(STUDIES, row[1::2], row[2::2], strict=True):
            test = tests[study, "layers" if rival == "moml" else "rivals", stack, rival]
            check(numbers, test)
            assert said.startswith(
                "confirmed" if test.verdict == "smaller" else "not confirmed on these sets"
            )
            assert said.endswith("has the smaller errors") == (test.verdict == "larger")
            seen += 1
    assert seen == sum(1 for key in tests if key[1] != "untrained" and key[2] != "euclidean") + sum(
        1 for key in tests if key[1] == "layers"
    )


def test_what_is_said_of_learning_the_layers(document, tests) -> None:
    for row in frames(document)["Learning the layers, or the non-linearity alone?"].to_numpy().tolist():
        stack = ACTIVATIONS[row[0]]
        study = next(name for name, scaling in STUDIES.items() if scaling == row[1])
        trained = tests[study, "untrained", stack, f"{stack}_untrained"]
        alone, both = (tests[study, "euclidean", name, "euclidean"] for name in (f"{stack}_untrained", stack))
        for text, test in zip(row[3:], (trained, alone, both), strict=True):
            check(text, test)
        if trained.verdict == "smaller":
            assert row[2] == "learning the layers helps"
        else:
            expected = "the non-linearity alone does it" if alone.verdict == "smaller" else "nothing is shown"
            assert row[2].startswith(expected) and ("errs more" in row[2]) == (trained.verdict == "larger")


def test_the_sentences_in_short_name_those_that_the_tests_name(document, tests) -> None:
    said = " ".join([document["headline"], *document["findings"]])
    titles = document["titles"]
    for study, scaling in STUDIES.items():
        mine = {key[2]: test for key, test in tests.items() if key[:2] == (study, "euclidean")}
        for word, verdict in ((r"helps? beyond the paper", "smaller"), (r"harms?", "larger")):
            expected = [titles[name] for name in mine if mine[name].verdict == verdict]
            found = re.search(rf"On {scaling} [^.]*?(\d+)(?: of \d+ methods)? {word} \(([^)]*)\)", said)
            assert sorted(found[2].split(", ") if found else []) == sorted(expected), (study, verdict)
            assert int(found[1] if found else 0) == len(expected)
        claims = [t for k, t in tests.items() if k[0] == study and k[1] in ("layers", "rivals")]
        won = sum(test.verdict == "smaller" for test in claims)
        none = f"On {scaling} none of {len(claims)} claims" in said
        rest = re.search(rf"On {scaling} MLOML-\w beats [^.]*?; (\d+) of (\d+) such claims", said)
        assert none == (won == 0)
        if 0 < won < len(claims):
            assert (int(rest[1]), int(rest[2])) == (len(claims) - won, len(claims))


def test_means_ranks_and_costs_are_those_of_the_cells(folder, cells, errors, document) -> None:
    cost = pd.read_csv(folder / "cost.csv").set_index(["study", "algorithm"])
    for study in STUDIES:
        manifest = json.loads((folder / study / "manifest.json").read_text(encoding="utf-8"))
        rows = {config["name"]: config["rows"] for config in manifest["config"]["datasets"]}
        table = pd.read_csv(folder / f"errors_{study}.csv", dtype=str).set_index("dataset")
        ranked = pd.read_csv(folder / f"ranks_{study}.csv").set_index("algorithm")
        own = errors[study]
        for method, by_set in own.items():
            for dataset, values in by_set.items():
                printed = table.loc[dataset, document["titles"][method]].rstrip("*•◦")
                assert float(printed) == pytest.approx(values.mean(), abs=0.00051)
            mine = cells[study][cells[study]["algorithm"] == method]
            per_row = [
                np.median(part["seconds"]) / (rows[name] / 2) for name, part in mine.groupby("dataset")
            ]
            assert cost.loc[(study, method), "seconds_per_row"] == pytest.approx(np.median(per_row))
            common = [name for name in by_set if name in own["euclidean"]]
            ratio = sum(by_set[n].mean() for n in common) / sum(own["euclidean"][n].mean() for n in common)
            assert cost.loc[(study, method), "relative_error"] == pytest.approx(ratio)
        sets = [name for name in rows if all(name in own[method] for method in ranked.index)]
        places = np.mean(
            [stats.rankdata([own[m][name].mean() for m in ranked.index]) for name in sets], axis=0
        )
        assert ranked["mean_rank"].to_numpy() == pytest.approx(places)
        assert not [name for name in ranked.index if name.endswith("_untrained")]


def test_the_published_page_is_what_the_cells_make_of_it(folder, made) -> None:
    short = (Text((made.headline,)), Text(made.findings, listed=True))
    for name, title, blocks in (("beyond.md", made.title, made.notes), ("findings.md", "In short", short)):
        text = (folder / name).read_text(encoding="utf-8")
        expected = page_to_markdown(title, blocks, "")
        assert text.rpartition("Made by")[0] == expected.rpartition("Made by")[0], name


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
