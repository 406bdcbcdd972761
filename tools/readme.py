"""Fill the marked blocks of README and guide from the published results (``--check`` only looks).

``python tools/readme.py`` writes ``results/reference/claims`` as well. A block stands between
``<!-- NAME -->`` and ``<!-- /NAME -->``. Whatever number of a run these pages show is inside one, so that
it can be made anew, and checked, from ``results/reference``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from mloml.paper.statistics import gain
from mloml.report.artefacts.claims import HOW, RECIPE, claims_frame, headline, linked, read
from mloml.report.document import number
from mloml.report.markdown import escape, frame_to_markdown, table_lines
from mloml.report.publish import DOCUMENT, publish

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
AT = "results/reference"
FEATURES = (21, 57, 100, 400)
ACTIVATIONS = ("relu", "sigmoid", "tanh", "one layer")
AFTER = ("after - plain 5-NN", "untrained - plain 5-NN")
METHODS = {
    "MLOML-r, three layers, FP, a factor kept in every step": "MLOML-r, 3 layers, FP",
    "MOML, metric only": "MOML, M only",
}


def picture(reference: Path) -> str:
    """Return the picture of every cell, and the sentence that Table II says of it."""
    folder = reference / "table2"
    if not (folder / DOCUMENT).is_file() or not (folder / "agreement.png").is_file():
        return ""
    said = escape(json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))["headline"])
    alt = "Our mean error less the paper's in every cell of Table II, with 95 % intervals"
    return (
        f"![{alt}]({AT}/table2/agreement.png)\n\n{said}\n"
        f"([every cell]({AT}/table2/paper_comparison.md), [numbers]({AT}/table2/agreement.csv), "
        "`make reproduce-table2`)"
    )


def claims(reference: Path) -> str:
    """Return the claim table with links into the reference, its rules a link away."""
    if not any(reference.glob(f"*/{DOCUMENT}")):
        return ""
    frame = claims_frame(read(reference))
    parts = [headline(frame), frame_to_markdown(linked(frame, AT)), *map(escape, HOW)]
    parts.append(f"How each verdict is decided: [claims.md]({AT}/claims/claims.md).")
    return "\n\n".join(parts)


def speed(reference: Path) -> str:
    """Return how many times faster than plain NumPy a triplet is, and LMNN beside metric-learn's."""
    times, batch = (pd.read_csv(reference / "bench" / f"{name}.csv") for name in ("per_triplet", "batch"))
    ratio = times.set_index(["method", "features"])["NumPy / ours"]
    rows = [[title, *(f"{ratio[method, d]:.0f}" for d in FEATURES)] for title, method in METHODS.items()]
    table = table_lines(["", *(f"d = {d}" for d in FEATURES)], rows)
    return f"{table}\n\n{_lmnn(batch)} ([all numbers]({AT}/bench/README.md), `make bench`)."


def equal_objective(reference: Path) -> str:
    """Return how long LMNN takes to metric-learn's objective, for a page that links to no file."""
    batch = pd.read_csv(reference / "bench" / "batch.csv")
    return f"{_lmnn(batch)} (`results/reference/bench/batch.csv`, `make bench`)."


def _lmnn(batch: pd.DataFrame) -> str:
    lmnn = batch.set_index("what").loc["LMNN, 2500 x 21"]
    return (
        f"LMNN on 2500 × 21 takes {lmnn['ours s to theirs']:.2g} s to the objective at which metric-learn "
        f"ends after {lmnn['theirs s']:.0f} s"
    )


def ranks(reference: Path) -> str:
    """Return every method's mean rank in Table II and the median seconds of one of its cells."""
    table, cells, title = _table2(reference)
    seconds = cells.groupby("algorithm")["seconds"].median()
    rows = [
        [title[str(name)], f"{rank:.1f}", f"{seconds[str(name)]:.2f}"]
        for name, rank in table["mean_rank"].items()
    ]
    sets = cells["dataset"].nunique()
    printed = table_lines(["method", "mean rank", "median seconds of a cell"], rows)
    return (
        f"Mean rank of each method over {_ranked(reference)} data sets (1 is best) and the median seconds of "
        f"one cell (a split with its choice of parameters) on all {sets}:\n\n{printed}\n\n"
        f"Mean ranks that differ by less than {table['critical_difference'].iloc[0]:.1f} cannot be told "
        "apart (Nemenyi)."
    )


def helps(reference: Path) -> str:
    """Return on which data sets which learners err less than Euclidean distance by the corrected test."""
    _, cells, title = _table2(reference)
    counted = list(dict.fromkeys(pd.read_csv(reference / "table2" / "paper_comparison.csv")["dataset"]))
    errors = {
        place: part.sort_values("split")["error"].to_numpy()
        for place, part in cells.groupby(["dataset", "algorithm"], sort=False)
    }
    found: dict[str, list[str]] = {}
    for dataset in counted:
        plain = errors[dataset, "euclidean"]
        gains = {name: gain(plain, errors[dataset, name]) for name in title if name != "euclidean"}
        better = [
            f"{title[name]} {number(g.after)}" for name, g in gains.items() if g.mark_corrected == "win"
        ]
        found[f"{dataset} (Euclidean {number(plain.mean())})"] = better
    some = "; ".join(f"{dataset}: {', '.join(names)}" for dataset, names in found.items() if names)
    none = ", ".join(dataset.split(" (")[0] for dataset, names in found.items() if not names)
    return (
        f"By the corrected test, errors smaller than Euclidean distance's: {some}. On {none} no learner's "
        "error is smaller by that test."
    )


def activations(reference: Path) -> str:
    """Return the mean ranks of the three activations and of one layer, and what a difference must be."""
    table, _, title = _table2(reference)
    names = ("mloml_r", "mloml_s", "mloml_t", "moml")
    head = [f"{word} ({title[name]})" for word, name in zip(ACTIVATIONS, names, strict=True)]
    printed = table_lines(head, [[f"{table['mean_rank'][name]:.1f}" for name in names]])
    least = table["critical_difference"].iloc[0]
    return (
        f"{printed}\n\nThe differences are no proof: with {_ranked(reference)} sets, mean ranks must differ "
        f"by {least:.1f} to be significant (Nemenyi)."
    )


def drift(reference: Path) -> str:
    """Return what each learner has over plain 5-NN after a stream changed, and what it has untrained."""
    runs = pd.read_csv(reference / "bench" / "streams.csv")
    of = {str(rows): found.set_index("learner") for rows, found in runs.groupby("rows")}
    printed = table_lines(
        ["", *(f"{rows}: {what}" for rows in of for what in ("trained", "untrained"))],
        [
            [learner, *(_signed(found.loc[learner, column]) for found in of.values() for column in AFTER)]
            for learner in runs["learner"].unique()
        ],
    )
    plain = runs["after"] - runs[AFTER[0]]
    return (
        f"{printed}\n\nAccuracy of 5-NN less that of plain 5-NN ({plain.min():.2f} to {plain.max():.2f}), "
        f"mean of {runs['seeds'].min()} seeds "
        "(`python benchmarks/streams.py --seeds 5 MOML MLOML MLOML-r OPML LEGO RDML OASIS SLMOML`)."
    )


def _signed(difference: float) -> str:
    return f"{difference:+.3f}" if difference else "0"


def at_the_border(reference: Path) -> str:
    """Return on which data sets how many steps of the largest step size would leave the cone."""
    steps = pd.read_csv(reference / "theory" / "theorem1.csv")
    first = steps[(steps["layer"] == 1) & (steps["gamma"] == steps["gamma"].max())]
    shares = first.set_index("dataset")["share_leaving_cone"].sort_values(ascending=False)
    most = ", ".join(f"{100 * share:.0f} % on {name}" for name, share in shares.head(3).items())
    return (
        f"With γ = {first['gamma'].iloc[0]:g} the active steps of the first layer that would leave the cone "
        f"are {most}, and fewer on the {len(shares) - 3} other sets "
        "(`results/reference/theory/theorem1.csv`)."
    )


def _table2(reference: Path) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    folder = reference / "table2"
    table = pd.read_csv(folder / "ranks.csv").set_index("algorithm")
    cells = pd.read_csv(folder / "cells.csv")
    title = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))["titles"]
    return table, cells[cells["status"] == "ok"], title


def _ranked(reference: Path) -> int:
    """Return how many data sets the ranks are over: those that are counted and complete."""
    compared = pd.read_csv(reference / "table2" / "paper_comparison.csv")
    return int(compared["dataset"].nunique())


PAGES: dict[str, dict[str, Callable[[Path], str]]] = {
    "README.md": {"picture": picture, "claims": claims, "speed": speed},
    "docs/guide/choosing.md": {"ranks": ranks, "helps": helps},
    "docs/comparison.md": {"lmnn": equal_objective},
    "docs/reproducibility.md": {"cone": at_the_border},
    "docs/guide/learning.md": {"activations": activations},
    "docs/guide/streams.md": {"drift": drift},
}


def fill(
    text: str, reference: Path = REFERENCE, blocks: Mapping[str, Callable[[Path], str]] = PAGES["README.md"]
) -> str:
    """Return the text with every block made anew; a block whose results are not there is left empty."""
    for name, make in blocks.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"there must be one block {begin} ... {end}")
        before, rest = text.split(begin)
        content = make(reference)
        text = f"{before}{begin}\n{content + chr(10) if content else ''}{end}{rest.split(end)[1]}"
    return text


def outside(text: str) -> str:
    """Return the text without its blocks."""
    return re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", text, flags=re.S)


def main() -> int:
    """Fill the pages, or say whether they are what the published results give."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit code 1 if a block is not up to date"
    )
    arguments = parser.parse_args()
    if not arguments.check and claims(REFERENCE):
        publish(RECIPE.read(REFERENCE), REFERENCE / RECIPE.name)
    old = 0
    for name, blocks in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        new = fill(text, blocks=blocks)
        old += new != text
        if not arguments.check:
            (ROOT / name).write_text(new, encoding="utf-8")
    return int(arguments.check and old > 0)


if __name__ == "__main__":
    sys.exit(main())
