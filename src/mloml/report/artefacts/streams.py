"""Streams: test-then-train over real and generated streams, by a rule fixed beforehand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mloml.datasets.drift import drift_points
from mloml.experiments.measures import BLOCKS, beyond, blocks, kappa
from mloml.paper.statistics import Pair, holm, signed_rank_direction, wilcoxon
from mloml.paper.statistics.compare import LEVEL
from mloml.report.document import Artefact, Column, Entry, Figure, Grid, Row, Table, number
from mloml.report.figures.streams import stream_curves
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe

if TYPE_CHECKING:
    from mloml.config.schema import DatasetConfig
    from mloml.experiments.study import StudyResult

PLAIN, TRIVIAL, SEEDS = "euclidean", ["last_label", "majority"], {"arf_2": "arf", "arf_3": "arf"}
LEARNERS = ("moml", "opml", "lego", "rdml", "oasis", "slmoml", "mloml_t", "mloml_r")
OTHERS = ("lmnn", "kissme", "restarted_knn", "hoeffding_tree", "arf", "sgd")
# The pairs of each test.
FAMILIES = {
    "plain": [Pair(name, PLAIN) for name in LEARNERS],
    "untrained": [Pair(name, f"{name}_untrained") for name in ("mloml_t", "mloml_r")],
    "others": [Pair(name, other) for name in ("moml", "mloml_t") for other in OTHERS],
}
# What ``docs/stream_study.md`` says of accuracies that are not different, higher and lower.
SAME = "no difference is shown"
SAID = {
    "plain": (SAME, "helps", "harms"),
    "untrained": (SAME, "learning helps", "learning harms"),
    "others": (SAME, "ahead", "behind"),
}
MEASURES = {"accuracy": "Accuracy", "kappa": "κ", "kappa_temporal": "κ-temporal", "kappa_m": "κ-M"}
COSTS = ["seconds_per_sample", "bytes"]
COUNTED = ["window", "dataset", "algorithm", "rows", *TRIVIAL, "hits", "confusion", "seconds", "memory"]
# Streams and methods of the curves, and how many blocks are one point.
SHOWN = ("elec", "covtype", "flights", "sea", "agrawal", "led")
DRAWN, POINT = (PLAIN, "moml", "mloml_t", "arf", "last_label"), 4


def build(result: StudyResult) -> Artefact:
    """Return the tables of all measures, the tests over streams, what each method costs, and curves."""
    titles = {name: title for name, title in labels_of(result).algorithms.items() if name not in SEEDS}
    streams = {stream_of(config): config.title for config in result.study.datasets}
    cells, curves, failures = cells_frame(result), curves_frame(result), result.failures
    known = list(dict.fromkeys([*titles, PLAIN, *TRIVIAL]))
    grouped = cells.astype(dict.fromkeys([*MEASURES, *COSTS], float)).groupby(["stream", "algorithm"])
    places = pd.MultiIndex.from_product([streams, known], names=["stream", "algorithm"])
    mean: Any = grouped[[*MEASURES, *COSTS]].mean().reindex(places)
    means = {name: mean[name].unstack().loc[list(streams), known] for name in mean}  # noqa: PD010
    tests, best = tests_frame(means["accuracy"]), best_frame(means["accuracy"], streams, titles)
    tables = [Table("tests", tests, "Tests over streams"), Table("measures", cells, "Every cell")]
    tables.append(counts_table(result))
    for measure, title in MEASURES.items():
        grid = measure_grid(means[measure], measure, streams, titles)
        tables.append(Table(measure, grid, title, latex=grid))
    values = {
        "streams": len(best),
        "helping": int((tests["verdict"] == "helps").sum()),
        "learners": len(LEARNERS),
        "best": best,
        "trivial": {beaten: list(part["stream"]) for beaten, part in best.groupby("a trivial rule beats")},
        "cost": pd.DataFrame({name: means[name].median() for name in COSTS}).loc[list(titles)].reset_index(),
        "gaps": failures.reindex(columns=["dataset", "algorithm", "status", "error", "message"]),
        "window": result.study.protocol.window,
        "refit": result.study.protocol.refit,
    }
    values |= {test: tests[tests["test"] == test].drop(columns="test") for test in FAMILIES}
    changes = {stream_of(one): drift_points(one.generator, one.rows or 0) for one in result.study.datasets}
    draw = partial(stream_curves, curves, streams, titles, changes)
    figure = Figure("curves", draw, "Accuracy along the streams", curves, result.finished)
    return Artefact(values, tuple(tables), (figure,))


def stream_of(config: DatasetConfig) -> str:
    """Return the name of the stream that a data set is, or is a draw of."""
    return config.generator or config.name


def finished(result: StudyResult) -> Iterator[tuple[DatasetConfig, str, dict[str, Any]]]:
    """Yield every finished cell: its data set, its method (whatever its seed) and its record."""
    configs = {config.name: config for config in result.study.datasets}
    for record in result.records:
        name = str(record["algorithm"])
        yield configs[record["dataset"]], SEEDS.get(name, name), record


def cells_frame(result: StudyResult) -> pd.DataFrame:
    """Return every measure of every finished cell."""
    rows = []
    for config, name, record in finished(result):
        accuracy = 1 - record["error"]
        against = [beyond(accuracy, record[rule] / (record["rows"] - 1)) for rule in TRIVIAL]
        names = stream_of(config), config.name, name, record["algorithm"]
        measures = accuracy, kappa(record["confusion"]), *against
        rows.append((*names, *measures, record["seconds"]["row"], record["memory"]))
    return pd.DataFrame(rows, columns=["stream", "dataset", "algorithm", "variant", *MEASURES, *COSTS])


def counts_table(*results: StudyResult) -> Table:
    """Return what the cells of some studies counted: every number of an artefact follows from it."""
    rows = [
        {"window": result.study.protocol.window, "seconds": record["seconds"]["row"]}
        | {name: record[name] for name in ("dataset", "algorithm", "rows", *TRIVIAL, "memory")}
        | {name: json.dumps(record[name]) for name in ("hits", "confusion")}
        for result in results
        for record in result.records
    ]
    return Table("counts", pd.DataFrame(rows, columns=COUNTED), "What each cell counted")


def tests_frame(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Compare the pairs of each family over the streams that both have: Wilcoxon's test, Holm's correction.

    Parameters
    ----------
    accuracy : DataFrame
        Streams by methods.
    """
    parts = []
    for test, pairs in FAMILIES.items():
        rows = []
        for pair in (pair for pair in pairs if {*pair} <= set(accuracy)):
            both = accuracy[[*pair]].dropna().to_numpy(dtype=float)
            gaps, p = np.round(both[:, 0] - both[:, 1], 12), wilcoxon(*both.T).p_value if len(both) else 1.0
            counts = len(gaps), np.median(gaps) if len(gaps) else np.nan, (gaps > 0).sum(), (gaps < 0).sum()
            rows.append((test, *pair, *counts, p, signed_rank_direction(gaps)))
        counted = ["streams", "median_difference", "higher", "lower"]
        table = pd.DataFrame(rows, columns=["test", *Pair._fields, *counted, "p", "way"])
        adjusted = holm(table["p"].to_numpy(dtype=float))
        said = [SAID[test][way if p < LEVEL else 0] for way, p in zip(table["way"], adjusted, strict=True)]
        parts.append(table.drop(columns="way").assign(p_holm=adjusted, verdict=said))
    return pd.concat(parts, ignore_index=True)


def best_frame(accuracy: pd.DataFrame, streams: Mapping[str, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """Name the best method of each stream, and of whom a trivial rule is ahead (or level with)."""
    known = accuracy.dropna(how="all")
    methods, rules = known.drop(columns=TRIVIAL).dropna(how="all"), known[TRIVIAL].max(axis=1)
    best, learned = methods.max(axis=1), methods[[n for n in LEARNERS if n in methods]].max(axis=1)
    columns: dict[str, Any] = {"stream": methods.index.map(streams)}
    columns |= {"best method": methods.idxmax(axis=1).map(titles), "its accuracy": best}
    columns |= {"best metric learner": learned, "k-NN": known[PLAIN]}
    columns |= {rule: known[rule] for rule in TRIVIAL}
    ahead = [rules[methods.index] >= best, rules[methods.index] >= learned]
    columns["a trivial rule beats"] = np.select(ahead, ["every method", "every metric learner"], "")
    return pd.DataFrame(columns, index=methods.index)


def measure_grid(
    values: pd.DataFrame, measure: str, streams: Mapping[str, str], titles: Mapping[str, str]
) -> Grid:
    """Lay a measure out, methods by streams; the best of a stream is marked, gaps are dashes."""
    rows = []
    for name, title in titles.items():
        entries = []
        for stream in streams:
            row: Any = values.loc[stream]
            value, highest = float(row[name]), float(row.max())
            known = not np.isnan(value)
            entries.append(Entry(value if known else None, best=known and number(value) == number(highest)))
        rows.append(Row(name, title, tuple(entries)))
    columns = tuple(Column(name, title) for name, title in streams.items())
    return Grid(f"tab:streams-{measure}", columns, tuple(rows), corner="method")


def curves_frame(result: StudyResult) -> pd.DataFrame:
    """Return the accuracy along some streams, a few blocks at a time; draws and seeds are averaged."""
    rows = []
    for config, name, record in finished(result):
        if stream_of(config) in SHOWN and name in DRAWN:
            tested = np.bincount(blocks(record["rows"]), minlength=BLOCKS)
            parts = [np.add.reduceat(part, range(0, BLOCKS, POINT)) for part in (record["hits"], tested)]
            ends = np.arange(POINT, BLOCKS + 1, POINT) * record["rows"] // BLOCKS
            points = zip(ends, parts[0] / np.maximum(parts[1], 1), strict=True)
            rows += [(stream_of(config), name, *point) for point in points]
    keys = ["stream", "algorithm", "sample"]
    frame = pd.DataFrame(rows, columns=[*keys, "accuracy"])
    return frame.groupby(keys, sort=False)["accuracy"].mean().reset_index()


RECIPE = Recipe(
    "streams",
    "Streams: test-then-train",
    "Real and generated streams, each sample predicted and then learned from, once and in its order.",
    build,
    in_all=False,
)
