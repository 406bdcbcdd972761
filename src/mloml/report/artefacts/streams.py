"""Streams: test-then-train over real and generated streams, by a rule fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    from mloml.experiments.study import StudyResult

PLAIN, TRIVIAL, SEEDS = "euclidean", ("last_label", "majority"), {"arf_2": "arf", "arf_3": "arf"}
LEARNERS = ("moml", "opml", "lego", "rdml", "oasis", "slmoml", "mloml_t", "mloml_r")
OTHERS = ("lmnn", "kissme", "restarted_knn", "hoeffding_tree", "arf", "sgd")
# The pairs of each test, and what ``docs/stream_study.md`` says of a higher and of a lower accuracy.
FAMILIES = {
    "k-NN": [Pair(name, PLAIN) for name in LEARNERS],
    "untrained": [Pair(name, f"{name}_untrained") for name in ("mloml_t", "mloml_r")],
    "others": [Pair(name, other) for name in ("moml", "mloml_t") for other in OTHERS],
}
SAID = {"k-NN": ("helps", "harms"), "untrained": ("learning helps", "learning harms")}
SAID |= {"others": ("ahead", "behind")}
NO_DIFFERENCE = "no difference is shown"
MEASURES = {"accuracy": "Accuracy", "kappa": "κ", "kappa_temporal": "κ-temporal", "kappa_m": "κ-M"}
COSTS = ["seconds_per_sample", "bytes"]
CELLS = ["stream", "dataset", "algorithm", "seed_of", *MEASURES, *COSTS]
TESTS = ["test", "algorithm", "reference", "verdict", "streams", "median_difference", "higher", "lower"]
TESTS += ["p", "p_holm"]
# What the curves show, and how many blocks are one point.
SHOWN, DRAWN, POINT = ("elec", "covtype", "flights", "sea", "agrawal", "led"), (PLAIN, "moml", "mloml_t"), 4
DRAWN += ("arf", "last_label")


def build(result: StudyResult) -> Artefact:
    """Return the tables of all measures, the tests over streams, what each method costs, and curves."""
    labels = labels_of(result)
    titles = {name: title for name, title in labels.algorithms.items() if name not in SEEDS}
    streams = {config.generator or config.name: config.title for config in result.study.datasets}
    cells = cells_frame(result)
    means = cells.groupby(["stream", "algorithm"], sort=False)[[*MEASURES, *COSTS]].mean()
    accuracy = means["accuracy"].unstack("algorithm").reindex(index=list(streams), columns=list(titles))
    tests, best, curves = tests_frame(accuracy), best_frame(accuracy, streams, titles), curves_frame(result)
    gaps = gaps_of(result)
    tables = [Table("tests", tests, "Tests over streams"), Table("cells_measured", cells, "Every cell")]
    for measure, title in MEASURES.items():
        values = means[measure].unstack("algorithm").reindex(index=list(streams), columns=list(titles))
        grid = measure_grid(values, measure, streams, titles, gaps)
        tables.append(Table(measure, grid, title, latex=grid))
    cost = means[COSTS].groupby("algorithm").median().reindex(list(titles)).rename_axis("algorithm")
    values = {
        "streams": len(accuracy.dropna(how="all")),
        "answers": {test: tests[tests["test"] == test].drop(columns="test") for test in FAMILIES},
        "helping": int(((tests["test"] == "k-NN") & (tests["verdict"] == SAID["k-NN"][0])).sum()),
        "learners": len(LEARNERS),
        "best": best,
        "trivial": [str(name) for name in best.loc[best["trivial rule wins"] == "yes", "stream"]],
        "cost": cost.reset_index(),
        "gaps": [(*place, reason) for place, reason in gaps.items()],
        "window": result.study.protocol.window,
        "refit": result.study.protocol.refit,
    }
    draw = partial(stream_curves, curves, streams, titles, changes_of(result))
    figures = (Figure("curves", draw, "Accuracy along the streams", curves, result.finished),)
    return Artefact(values, tuple(tables), figures)


def finished(result: StudyResult) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the record of every finished cell with the name of its stream: draws of a generator are one."""
    streams = {config.name: config.generator or config.name for config in result.study.datasets}
    for record in result.records:
        yield streams[record["dataset"]], record


def cells_frame(result: StudyResult) -> pd.DataFrame:
    """Return every measure of every finished cell."""
    rows = []
    for stream, record in finished(result):
        tested, accuracy = record["rows"] - 1, 1 - record["error"]
        baselines = [record[name] / tested for name in TRIVIAL]
        kappas = kappa(record["confusion"]), *(beyond(accuracy, baseline) for baseline in baselines)
        name = record["algorithm"]
        names = stream, record["dataset"], SEEDS.get(name, name), name
        rows.append((*names, accuracy, *kappas, record["seconds"]["row"], record["memory"]))
    return pd.DataFrame(rows, columns=CELLS)


def gaps_of(result: StudyResult) -> dict[tuple[str, str], str]:
    """Return why a stream has no number of a method, by stream and method."""
    streams = {config.name: config.generator or config.name for config in result.study.datasets}
    return {
        (streams[row["dataset"]], row["algorithm"]): f"{row['status']}: {row['error']}: {row['message']}"
        for row in result.failures.to_dict("records")
    }


def tests_frame(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Compare the pairs of each family over the streams that both have: Wilcoxon's test, Holm's correction.

    Parameters
    ----------
    accuracy : DataFrame
        Streams by methods.
    """
    parts = []
    for test, pairs in FAMILIES.items():
        rows: list[dict[str, Any]] = []
        for pair in (pair for pair in pairs if {*pair} <= set(accuracy.columns)):
            both = accuracy[[*pair]].dropna()
            one, other = (both[name].to_numpy(dtype=float) for name in pair)
            gaps = np.round(one - other, 12)
            p = wilcoxon(one, other).p_value if len(both) else 1.0
            middle = float(np.median(gaps)) if len(both) else np.nan
            counts = {"higher": int((gaps > 0).sum()), "lower": int((gaps < 0).sum())}
            row = {"test": test, **pair._asdict(), "streams": len(both), "median_difference": middle}
            rows.append({**row, **counts, "p": p, "way": signed_rank_direction(gaps)})
        table = pd.DataFrame(rows, columns=[*TESTS[:3], *TESTS[4:-1], "way"])
        table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
        told = zip(table["way"], table["p_holm"], strict=True)
        table["verdict"] = [SAID[test][way < 0] if p < LEVEL else NO_DIFFERENCE for way, p in told]
        parts.append(table[TESTS])
    return pd.concat(parts, ignore_index=True)


def best_frame(
    accuracy: pd.DataFrame, streams: Mapping[str, str], titles: Mapping[str, str]
) -> pd.DataFrame:
    """Name the best method of each stream, and tell whether a trivial rule is at least as good."""
    rows = []
    for stream, row in accuracy.dropna(how="all").iterrows():
        rules = row.reindex(list(TRIVIAL)).max()
        best = row.drop(list(TRIVIAL), errors="ignore")
        found = titles[str(best.idxmax())], best.max(), row.get(PLAIN, np.nan), *row.reindex(list(TRIVIAL))
        rows.append((streams[str(stream)], *found, "yes" if rules >= best.max() else "no"))
    columns = ["stream", "best method", "its accuracy", "k-NN", "last label", "majority", "trivial rule wins"]
    return pd.DataFrame(rows, columns=columns)


def measure_grid(
    values: pd.DataFrame,
    measure: str,
    streams: Mapping[str, str],
    titles: Mapping[str, str],
    gaps: Mapping[tuple[str, str], str],
) -> Grid:
    """Lay a measure out, methods by streams; the best of a stream is marked, a gap has its reason."""
    highest = {name: values.loc[name].max() for name in streams}
    rows = []
    for name, title in titles.items():
        entries = []
        for stream in streams:
            value = values.loc[stream, name]
            best = pd.notna(value) and number(value) == number(highest[stream])
            mean = float(value) if pd.notna(value) else None
            entries.append(Entry(mean, best=best, note=gaps.get((stream, name), "")))
        rows.append(Row(name, title, tuple(entries)))
    columns = tuple(Column(name, title) for name, title in streams.items())
    return Grid(f"tab:streams-{measure}", columns, tuple(rows), corner="method")


def curves_frame(result: StudyResult, shown: Sequence[str] = SHOWN) -> pd.DataFrame:
    """Return the accuracy along some streams, :data:`POINT` blocks at a time; draws and seeds are averaged."""
    rows = []
    for stream, record in finished(result):
        name = SEEDS.get(record["algorithm"], record["algorithm"])
        if stream in shown and name in DRAWN:
            tested = np.bincount(blocks(record["rows"]), minlength=BLOCKS)
            hits, tests = (np.add.reduceat(part, range(0, BLOCKS, POINT)) for part in (record["hits"], tested))
            ends = (np.arange(len(hits)) + 1) * POINT * record["rows"] // BLOCKS
            rows += [(stream, name, *point) for point in zip(ends, hits / np.maximum(tests, 1), strict=True)]
    frame = pd.DataFrame(rows, columns=["stream", "algorithm", "sample", "accuracy"])
    return frame.groupby(["stream", "algorithm", "sample"], sort=False)["accuracy"].mean().reset_index()


def changes_of(result: StudyResult) -> dict[str, list[int]]:
    """Return where each stream changes abruptly, as far as it was run."""
    length = result.study.protocol.length or np.inf
    return {
        config.generator or config.name: [
            point for point in drift_points(config.generator, config.rows or 0) if point < length
        ]
        for config in result.study.datasets
    }


RECIPE = Recipe(
    "streams",
    "Streams: test-then-train",
    "Real and generated streams, each sample predicted and then learned from, once and in its order.",
    build,
    in_all=False,
)
