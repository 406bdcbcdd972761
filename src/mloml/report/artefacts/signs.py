"""Signs of the principal axes: how far an untrained stack's error moves with an arbitrary choice."""

import pandas as pd

from mloml.experiments.study import StudyResult
from mloml.report.artefacts.beyond import EUCLIDEAN
from mloml.report.document import Artefact, Table
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import summarise

# The run whose axes have their largest loading positive, as in all other tables.
FIXED = "fixed"
RANDOM = tuple(range(1, 11))


def build(*results: StudyResult) -> Artefact:
    """Return the mean errors under each choice of signs."""
    frame = signs_frame(results)
    titles = labels_of(results[0]).datasets
    moves = ranges(frame)
    printed = moves.assign(dataset=moves["dataset"].map(titles))
    stacks = moves[moves["algorithm"] != EUCLIDEAN]
    moved = int((stacks["largest"] - stacks["smallest"] > 1e-12).sum())
    values = {"ranges": printed, "stacks": len(stacks), "moved": moved}
    return Artefact(values, (Table("signs", frame, "Mean error under each choice of signs"),))


def signs_frame(results: tuple[StudyResult, ...]) -> pd.DataFrame:
    """Return a row per data set, algorithm and choice of signs: the mean error, where it is complete."""
    parts = []
    for result in results:
        signs = result.study.protocol.pca.signs
        complete = summarise(result.frame, labels_of(result), {}).complete
        parts.append(complete.assign(signs=FIXED if signs is None else str(signs)))
    return pd.concat(parts, ignore_index=True)[["dataset", "algorithm", "signs", "mean"]]


def ranges(frame: pd.DataFrame) -> pd.DataFrame:
    """Return for each data set and method the mean with the usual signs, and the range over random ones.

    >>> frame = pd.DataFrame({"dataset": "lsvt", "algorithm": "deep", "signs": ["fixed", "1", "2"],
    ...                       "mean": [0.2, 0.1, 0.3]})
    >>> ranges(frame)[["usual", "smallest", "median", "largest", "choices"]].values.tolist()
    [[0.2, 0.1, 0.2, 0.3, 2.0]]
    """
    place, usual = ["dataset", "algorithm"], frame["signs"] == FIXED
    random = frame[~usual].groupby(place, sort=False)["mean"]
    found = random.agg(smallest="min", median="median", largest="max", choices="count")
    fixed = frame[usual].set_index(place)["mean"].rename("usual")
    return found.join(fixed).reset_index()[[*place, "usual", *found.columns]]


RECIPE = Recipe(
    "signs",
    "Signs of the principal axes",
    "Untrained stacks after PCA, whose axes point either way.",
    build,
    variants={
        FIXED: ("protocol.pca.signs=null",),
        **{f"signs_{seed}": (f"protocol.pca.signs={seed}",) for seed in RANDOM},
    },
    in_all=False,
)
