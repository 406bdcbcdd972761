"""What is said beyond the paper, recomputed from the published cells, without the package's own statistics.

Two folders go through it: the reference results, and studies that never ran but have every kind of outcome.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.report.document import Text
from mloml.report.markdown import page_to_markdown

STUDIES = {"clean": "unit rows", "standardised": "standardised features"}
ACTIVATIONS = {"ReLU": "mloml_r", "sigmoid": "mloml_s", "tanh": "mloml_t"}
NUMBERS = re.compile(r"(-?\d?\.\d{3}), (\d+)/(\d+)/(\d+), p (=|<) (1|\.\d+)(?: \((\d+) of \d+ sets\))?")


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


def check(text: str, test: Any) -> None:
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
            [stats.rankdata(np.round([own[m][name].mean() for m in ranked.index], 12)) for name in sets],
            axis=0,
        )
        assert ranked["mean_rank"].to_numpy() == pytest.approx(places)
        assert not [name for name in ranked.index if name.endswith("_untrained")]


def test_the_published_page_is_what_the_cells_make_of_it(folder, made) -> None:
    short = (Text((made.headline,)), Text(made.findings, listed=True))
    for name, title, blocks in (("beyond.md", made.title, made.notes), ("findings.md", "In short", short)):
        text = (folder / name).read_text(encoding="utf-8")
        expected = page_to_markdown(title, blocks, "")
        assert text.rpartition("Made by")[0] == expected.rpartition("Made by")[0], name
