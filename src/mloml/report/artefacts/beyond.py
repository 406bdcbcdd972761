"""Beyond the paper: does it help on data the paper never saw? Two studies, by a rule fixed beforehand."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mloml.config.schema import DatasetConfig
from mloml.experiments.study import StudyResult
from mloml.paper.statistics import Halves, Pair, Ranking, compare_family, complete_errors, win_tie_loss
from mloml.report.document import Artefact, Column, Entry, Figure, Grid, Table
from mloml.report.figures.comparisons import cost_figure, critical_difference_figure
from mloml.report.labels import Labels, labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, lay_out, ranking_of, ranking_values, summarise

EUCLIDEAN, ONE_LAYER, RIVALS = "euclidean", "moml", ("opml", "lmnn")
STACKS = ("mloml_r", "mloml_s", "mloml_t")
UNTRAINED = {name: f"{name}_untrained" for name in STACKS}

Errors = Mapping[str, Halves]

# What each protocol does to the samples.
SCALINGS = {"clean": "unit rows", "standardised": "standardised features"}
WORSE = ", and the trained stack errs more than the untrained one"
ALONE, NOTHING_SHOWN = "the non-linearity alone does it", "nothing is shown"
# What ``docs/beyond.md`` fixed for errors that are significantly smaller, larger, and neither.
SAID = {
    "euclidean": ["helps beyond the paper", "harms", "no difference from Euclidean is shown on these sets"],
    "layers": ["layers help", "layers harm", "no difference between three layers and one is shown"],
    "rivals": [
        "confirmed", "not confirmed on these sets; the rival has the smaller errors",
        "not confirmed on these sets",
    ],
    "untrained": ["learning the layers helps", NOTHING_SHOWN + WORSE, NOTHING_SHOWN],
    "untrained helps": ["learning the layers helps", ALONE + WORSE, ALONE],
    "scaling": ["beats it", "Euclidean beats it", "no difference is shown"],
}  # fmt: skip
NOTHING = "there is nothing to compare"
ANSWERS = ["algorithm", "reference", "study", "verdict", "sets", "median_difference", "wins/ties/losses", "p"]
COST = ["study", "algorithm", "sets", "seconds_per_row", "relative_error"]
# Marks of a grid speak of the reference, outcomes of the method.
MARK = {"win": "loss", "loss": "win", "tie": ""}
# Ends that part of a data set's note which says what of it was taken.
SEE_RULE = ": see docs/beyond.md"


@dataclass(frozen=True)
class Scaled:
    """One of the two studies; ``errors`` are complete ones, by algorithm and dataset."""

    result: StudyResult
    labels: Labels
    errors: Errors
    ranked: Results
    ranking: Ranking

    @property
    def name(self) -> str:
        """The protocol's name."""
        return self.result.study.protocol.name

    def gaps(self) -> dict[tuple[str, str], str]:
        """Return why there is no mean error, by dataset and algorithm."""
        failures: dict[tuple[str, str], list[dict[Any, Any]]] = {}
        for failure in self.result.failures.to_dict("records"):
            failures.setdefault((failure["dataset"], failure["algorithm"]), []).append(failure)
        labels, found = self.labels, {}
        for place in ((d, a) for d in labels.datasets for a in labels.algorithms if d not in self.errors[a]):
            reason = f"not all {labels.splits} splits are computed"
            if failed := failures.get(place):
                what = " ".join(f"{failed[0]['error']}: {failed[0]['message']}".split())
                reason = f"{failed[0]['status']} in {len(failed)} of {labels.splits} splits ({what})"
            found[place] = labels.missing.get(place[0]) or reason
        return found


def scaled(result: StudyResult) -> Scaled:
    """Return a study with its errors in the order of the table; all ranked methods learn or need not."""
    plain = labels_of(result)
    taken = {config.name: part_taken(config) for config in result.study.datasets}
    notes = {**plain.notes, **{name: text for name, text in taken.items() if text}}
    labels = replace(plain, notes=notes, uncounted=frozenset())
    found = complete_errors(result.frame, labels.splits)
    errors = {
        name: {d: found[name][d] for d in labels.datasets if d in found.get(name, {})}
        for name in labels.algorithms
    }
    without = {name: title for name, title in labels.algorithms.items() if name not in UNTRAINED.values()}
    ranked = summarise(result.frame, replace(labels, algorithms=without), EUCLIDEAN)
    return Scaled(result, labels, errors, ranked, ranking_of(ranked))


def part_taken(config: DatasetConfig) -> str:
    """Return what the note of a data set says of the samples taken, if only a part of them was."""
    part, found, _ = (config.note or "").partition(SEE_RULE)
    return part if found else ""


def build(unit: StudyResult, standardised: StudyResult) -> Artefact:
    """Return the answers that the rule gives, with the tests and costs behind them."""
    first, second = studies = (scaled(unit), scaled(standardised))
    scalings = {study.name: SCALINGS[study.name] for study in studies}
    over, on_sets = both_studies(first, second)
    cost = pd.concat([cost_frame(study) for study in studies], ignore_index=True)
    ranks = {study.name: ranks_frame(study.ranking) for study in studies}
    titles = {**first.labels.datasets, **first.labels.algorithms, **second.labels.algorithms}
    methods, notes = methods_frame(over, cost, ranks), first.labels.notes
    claims = answers(over, "layers", "rivals", words="rivals")
    confirmed = (claims["verdict"] == SAID["rivals"][0]).groupby(claims["study"], sort=False)
    verdicts = methods.groupby("algorithm", sort=False)["verdict"].nunique()
    values = {
        "sets": len(first.labels.datasets) - len(first.labels.missing),
        "studies": scalings,
        "confirmed": confirmed.agg(["sum", "count"]).to_dict("index"),
        "beaten": (claims["verdict"] == SAID["rivals"][1])
        .groupby(claims["study"], sort=False)
        .sum()
        .to_dict(),
        "differing": [titles[str(name)] for name, different in verdicts.items() if different > 1],
        "methods": methods,
        "claims": claims,
        "layers": answers(over, "layers"),
        "learning": answers(over, "untrained"),
        "scaled": answers(over, "scaling"),
        "summary": summary_frame(methods, on_sets, titles),
        "where": where_frame(on_sets, titles),
        "rankings": {scalings[study.name]: ranking_values(study.ranked, study.ranking) for study in studies},
        "gaps": gaps_frame(*studies),
        "notes": [(title, notes[name]) for name, title in titles.items() if notes.get(name)],
    }
    tables = [Table("over_sets", over, "Tests over data sets"), Table("on_sets", on_sets, "Tests on each")]
    draw = partial(cost_figure, cost, scalings, titles)
    ready = first.result.finished and second.result.finished
    figures = [Figure("cost", draw, "Cost against accuracy", cost, ready)]
    for study in studies:
        grid, title = errors_grid(study, on_sets), scalings[study.name]
        tables.append(Table(f"errors_{study.name}", grid, f"Mean errors on {title}", latex=grid))
        tables.append(Table(f"ranks_{study.name}", ranks[study.name], f"Mean ranks on {title}"))
        starred = study.labels.starred(study.ranked.labels.algorithms)
        draw = partial(critical_difference_figure, study.ranking, starred)
        figures.append(Figure(f"critical_difference_{study.name}", draw, f"Ranks on {title}", ready=ready))
    return Artefact(values, tuple(tables), tuple(figures))


def families(algorithms: Collection[str]) -> dict[str, list[Pair]]:
    """Return the pairs of each test, among the methods of a study.

    >>> families(["euclidean", "moml", "mloml_r"])["layers"]
    [Pair(algorithm='mloml_r', reference='moml')]
    """
    pairs = {
        "euclidean": [Pair(name, EUCLIDEAN) for name in algorithms if name != EUCLIDEAN],
        "untrained": [Pair(name, untrained) for name, untrained in UNTRAINED.items()],
        "layers": [Pair(name, ONE_LAYER) for name in STACKS],
        "rivals": [Pair(name, rival) for rival in RIVALS for name in STACKS],
    }
    known = set(algorithms)
    return {test: [pair for pair in mine if {*pair} <= known] for test, mine in pairs.items()}


def carry_out(first: Errors, second: Errors, **named: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Carry out all tests of a study, and compare its methods with Euclidean of a ``second``: ``scaling``.

    Both studies have the same rows and halves under another scaling. Holm's family of ``scaling`` is the
    learners, as in the test against Euclidean; Euclidean itself is a family of its own.

    Returns
    -------
    over_sets, on_sets : DataFrame
        A row per pair over the data sets, and a row per pair and data set, each with its ``test``.
    """
    learners = [Pair(name, EUCLIDEAN) for name in first if name != EUCLIDEAN]
    other = [{"scaling": pairs} for pairs in ([Pair(EUCLIDEAN, EUCLIDEAN)], learners)]
    same = carried_out(families(first), first, first, **named)
    return stacked([same, *(carried_out(each, first, second, **named) for each in other)])


def carried_out(
    tests: Mapping[str, Sequence[Pair]], errors: Errors, others: Errors, **named: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare methods with those of others, a family per test; named constants are the first columns."""
    parts = []
    for test, pairs in tests.items():
        both = {pair: (errors.get(pair.algorithm, {}), others.get(pair.reference, {})) for pair in pairs}
        tables, about = compare_family(both), {**named, "test": test}
        parts.append([table.assign(**about)[[*about, *table]] for table in tables])
    return stacked(parts)


def stacked(parts: Iterable[Iterable[pd.DataFrame]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put pairs of tables below each other."""
    over, on_sets = (pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True))
    return over, on_sets


def both_studies(first: Scaled, second: Scaled) -> tuple[pd.DataFrame, ...]:
    """Carry out the tests of both studies; comparisons with Euclidean under the other scaling come last."""
    pairs = (first, second), (second, first)
    tables = stacked(carry_out(one.errors, other.errors, study=one.name) for one, other in pairs)
    last: dict[str, Any] = {"key": lambda test: test == "scaling", "kind": "stable", "ignore_index": True}
    return tuple(table.sort_values("test", **last) for table in tables)


def cost_frame(study: Scaled) -> pd.DataFrame:
    """Return seconds per training row and relative errors, a row per method.

    ``seconds_per_row`` is the median over the data sets of the median over the splits: the first cell of a
    worker may have to compile. ``relative_error`` is the mean error over the ``sets`` that the method and
    Euclidean both have, divided by Euclidean's mean error over the same sets.
    """
    frame, plain = study.result.frame, study.errors.get(EUCLIDEAN, {})
    rows = {config.name: config.rows for config in study.result.study.datasets if config.rows}
    done = frame[(frame["status"] == "ok") & frame["dataset"].isin(list(rows))]
    per_row = done["seconds"].astype(float) / (done["dataset"].map(rows).astype(float) / 2)
    medians = per_row.groupby([done["algorithm"], done["dataset"]]).median()
    seconds = medians.groupby(level=0).median()
    lines = []
    for name, own in study.errors.items():
        common = [dataset for dataset in own if dataset in plain]
        ours, theirs = (sum(float(np.mean(errors[d])) for d in common) for errors in (own, plain))
        relative = round(ours / theirs, 12) if theirs > 0 else np.nan
        lines.append((study.name, name, len(common), float(seconds.get(name, np.nan)), relative))
    return pd.DataFrame(lines, columns=COST)


def ranks_frame(ranking: Ranking) -> pd.DataFrame:
    """Return the mean ranks with Nemenyi's critical difference and Friedman's test."""
    table = ranking.ranks.rename_axis("algorithm").reset_index(name="mean_rank")
    table[["critical_difference", "sets"]] = ranking.critical_difference, len(ranking.datasets)
    table[["friedman_chi_square", "friedman_p"]] = ranking.statistic, ranking.p_value
    return table


def answers(over: pd.DataFrame, *tests: str, words: str = "") -> pd.DataFrame:
    """Return what the rule says of each pair of some tests, with the numbers it rests on."""
    helping = over[(over["test"] == "euclidean") & (over["verdict"] == "smaller")]
    alone = set(zip(helping["study"], helping["algorithm"], strict=True))

    def said(row: Mapping[Any, Any]) -> list[str]:
        kind = words or row["test"]
        untrained_helps = kind == "untrained" and (row["study"], row["reference"]) in alone
        return SAID["untrained helps" if untrained_helps else kind]

    return answers_by(said, over[over["test"].isin(tests)])


def answers_by(said: Callable[[Mapping[Any, Any]], list[str]], over: pd.DataFrame) -> pd.DataFrame:
    """Put into words what each test shows: errors that are significantly smaller, larger, and neither."""
    rows = []
    for row in over.to_dict("records"):
        verdict = said(row)[["smaller", "larger", ""].index(row["verdict"])] if row["sets"] else NOTHING
        counts = "/".join(str(row[word]) for word in ("wins", "ties", "losses"))
        pair = (row["algorithm"], row["reference"], SCALINGS[row["study"]])
        median = round(row["median_difference"], 12) + 0.0  # no trace of rounding, no negative zero
        rows.append((*pair, verdict, row["sets"], median, counts, row["p_holm"]))
    return by_method(pd.DataFrame(rows, columns=ANSWERS), "algorithm", "reference")


def by_method(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Put the rows of both studies on a method, or pair of methods, below each other."""
    return pd.concat([part for _, part in table.groupby(list(names), sort=False)] or [table])


def methods_frame(over: pd.DataFrame, cost: pd.DataFrame, ranks: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what is said of each method against Euclidean, with its relative error, rank and cost."""
    placed = pd.concat([frame.assign(study=name) for name, frame in ranks.items()])
    numbers = cost.drop(columns="sets").merge(placed[["study", "algorithm", "mean_rank"]], how="left")
    said = answers(over, "euclidean").drop(columns="reference")
    table = numbers.replace({"study": SCALINGS}).merge(said, how="left", on=["algorithm", "study"])
    return by_method(table, "algorithm")[[*said, "relative_error", "mean_rank", "seconds_per_row"]]


def summary_frame(methods: pd.DataFrame, on_sets: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Name the methods that help and harm, the best and the cheapest of them, and where no method wins."""
    rows = []
    for study, scaling in SCALINGS.items():
        mine = methods[methods["study"] == scaling]
        helping, harming = (mine[mine["verdict"] == words] for words in SAID["euclidean"][:2])
        best, cheapest = (helping.nsmallest(1, column) for column in ("relative_error", "seconds_per_row"))
        tests = on_sets[(on_sets["study"] == study) & (on_sets["test"] == "euclidean")]
        won = set(tests.loc[tests["outcome"] == "win", "dataset"])
        none = [name for name in dict.fromkeys(tests["dataset"]) if name not in won]
        groups = [*(list(frame["algorithm"]) for frame in (helping, harming, best, cheapest)), none]
        rows.append((scaling, *(", ".join(titles[name] for name in names) for names in groups)))
    columns = ["study", "help", "harm", "lowest error of those that help", "lowest cost of those that help"]
    return pd.DataFrame(rows, columns=[*columns, "no method wins over Euclidean on"])


def where_frame(on_sets: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Name the data sets on which the stacks win and lose against Euclidean and against one layer."""
    mine = on_sets[on_sets["algorithm"].isin(STACKS) & on_sets["test"].isin(["euclidean", "layers"])]
    rows = []
    for (algorithm, reference, study), part in mine.groupby(ANSWERS[:3], sort=False):
        names = (part.loc[part["outcome"] == word, "dataset"].map(titles) for word in ("win", "loss"))
        rows.append((algorithm, reference, SCALINGS[str(study)], *map(", ".join, names)))
    return by_method(pd.DataFrame(rows, columns=[*ANSWERS[:3], "wins on", "loses on"]), "algorithm")


def gaps_frame(*studies: Scaled) -> pd.DataFrame:
    """Return every gap with its reason: a row per method and reason."""
    rows = [
        (algorithm, SCALINGS[study.name], reason, study.labels.datasets[dataset])
        for study in studies
        for (dataset, algorithm), reason in study.gaps().items()
    ]
    table = pd.DataFrame(rows, columns=["algorithm", "study", "reason", "no result on"])
    return table.groupby(["algorithm", "study", "reason"], sort=False, as_index=False).agg(", ".join)


def errors_grid(study: Scaled, on_sets: pd.DataFrame) -> Grid:
    """Lay out the mean errors of all methods on all data sets; a gap is a dash with its reason."""
    labels = study.labels
    mine = on_sets[(on_sets["study"] == study.name) & (on_sets["test"] == "euclidean")]
    outcomes = mine.set_index(["dataset", "algorithm"])["outcome"].to_dict()
    entries, details = {}, dict.fromkeys(labels.datasets, "")
    for name, found in study.errors.items():
        for dataset, errors in found.items():
            mark = MARK[outcomes.get((dataset, name), "tie")]
            entries[dataset, name] = Entry(float(np.mean(errors)), mark=mark)
    for (dataset, name), reason in study.gaps().items():
        entries[dataset, name] = Entry(note=reason)
        details[dataset] += f"; {name}: {reason}"
    columns = [Column(n, title, note=labels.notes.get(n, "")) for n, title in labels.algorithms.items()]
    counts = {name: win_tie_loss(part["outcome"]) for name, part in mine.groupby("algorithm", observed=True)}
    return lay_out(labels, f"tab:beyond-{study.name}", columns, entries, details=details, counts=counts)


RECIPE = Recipe(
    "beyond",
    "Beyond the paper: which learner when",
    "Twenty-two data sets that the paper never saw, on unit rows and on standardised features.",
    build,
    variants={"clean": ("protocol=clean",), "standardised": ("protocol=standardised",)},
    experiment="beyond",
    in_all=False,
)
