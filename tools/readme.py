"""Fill the marked blocks of README and guide with tables from the published results (``--check`` only looks).

``python -m tools.readme`` writes ``results/reference/claims`` as well. A block stands between
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

from mloml.paper.interpretations import choices
from mloml.paper.statistics import gain
from mloml.report.artefacts.claims import CLAIMED, claims_frame, read
from mloml.report.claims import COLUMNS
from mloml.report.document import DASH, number
from mloml.report.publish import DOCUMENT
from mloml.report.recipe import find_recipe
from mloml.report.render import escape, table_lines
from mloml.report.reproduce import from_documents
from tools.report import numbers, page

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
AT = "results/reference"
FEATURES = (21, 57, 100, 400)
AFTER = ("after - plain 5-NN", "untrained - plain 5-NN")
STREAMS = {
    "euclidean": "k-NN", "moml": "MOML", "slmoml": "SLMOML", "mloml_t": "MLOML", "mloml_r": "MLOML relu",
    "restarted_knn": "k-NN restarted", "arf": "ARF", "sgd": "SGD", "last_label": "last label",
    "majority": "majority",
}  # fmt: skip
METHODS = {
    "MLOML-r, three layers, FP, a factor kept in every step": "MLOML-r, 3 layers, FP",
    "one layer, as in `MOML()`": "MLOML-r, 1 layers, FP",
    '`MOML(cone="free")`: the printed step alone': "MOML, M only",
}


def picture(reference: Path) -> str:
    """Return the picture of every entry of Table II."""
    alt = "Our mean error less the paper's in every entry of Table II, with 95 % intervals"
    return f"![{alt}]({AT}/table2/agreement.png)"


def verdicts(reference: Path) -> str:
    """Count the answers on the paper's claims, question by question."""
    found = claims_frame(read(reference))
    found = found[found["kind"] == CLAIMED]
    answers = {
        "reproduced": "come out again?",
        "valid": "stand up to a stricter look?",
        "general": "hold on other data?",
    }
    words = ("yes", "in part", "no", "false", "not tested", DASH)
    rows = [[f"Do they {answers[q]}", *((found[q] == word).sum() for word in words)] for q in COLUMNS]
    return table_lines(
        [f"{len(found)} claims of the paper", *words[:-1], "does not apply"],
        [[str(cell) for cell in row] for row in rows],
    )


def findings(reference: Path) -> str:
    """Return what is strongest, in a few lines; the words are in ``docs/report/findings.md``."""
    return page(numbers(reference), "findings.md").strip()


def headline(reference: Path, name: str) -> str:
    """Return what an artefact says in short."""
    return escape(str(json.loads((reference / name / DOCUMENT).read_text(encoding="utf-8"))["headline"]))


def speed(reference: Path) -> str:
    """Return how many times faster than plain NumPy a triplet is."""
    times = pd.read_csv(reference / "bench" / "per_triplet.csv")
    ratio = times.set_index(["method", "features"])["NumPy / ours"]
    rows = [[title, *(f"{ratio[method, d]:.0f}" for d in FEATURES)] for title, method in METHODS.items()]
    return table_lines(["", *(f"d = {d}" for d in FEATURES)], rows)


def lmnn(reference: Path) -> str:
    """Return how long LMNN takes to the objective at which metric-learn ends, and metric-learn."""
    row = pd.read_csv(reference / "bench" / "batch.csv").set_index("what").loc["LMNN, 2500 x 21"]
    ours, theirs = f"{row['ours s to theirs']:.2g} s", f"{row['theirs s']:.0f} s"
    return table_lines(
        ["LMNN on 2500 × 21, to the same objective", "mloml", "metric-learn"], [["", ours, theirs]]
    )


def ranks(reference: Path) -> str:
    """Return every method's mean rank in Table II and the median seconds of one of its cells."""
    table, cells, title = _table2(reference)
    seconds = cells.groupby("algorithm")["seconds"].median()
    rows = [
        [title[str(name)], f"{rank:.1f}", f"{seconds[str(name)]:.2f}"]
        for name, rank in table["mean_rank"].items()
    ]
    rows.append(["*critical difference (Nemenyi)*", f"{table['critical_difference'].iloc[0]:.1f}", ""])
    return table_lines(["method", "mean rank (1 is best)", "median seconds of a cell"], rows)


def helps(reference: Path) -> str:
    """Return on which data sets which learners err less than Euclidean distance by the corrected test."""
    _, cells, title = _table2(reference)
    groups = cells.sort_values("split").groupby(["dataset", "algorithm"], sort=False)["error"]
    errors = {place: part.to_numpy() for place, part in groups}
    rows = []
    for dataset in dict.fromkeys(pd.read_csv(reference / "table2" / "paper_comparison.csv")["dataset"]):
        plain = errors[dataset, "euclidean"]
        gains = {name: gain(plain, errors[dataset, name]) for name in title if name != "euclidean"}
        better = [f"{title[n]} {number(g.after)}" for n, g in gains.items() if g.mark_corrected == "win"]
        rows.append([escape(dataset), number(plain.mean()), ", ".join(better) or "none"])
    return table_lines(["data set", "Euclidean", "smaller error by the corrected test"], rows)


def activations(reference: Path) -> str:
    """Return the mean ranks of three activations and of MOML as printed, and what a difference must be."""
    table, _, title = _table2(reference)
    names = {"mloml_r": "relu", "mloml_s": "sigmoid", "mloml_t": "tanh", "moml": "no layers"}
    head = [*(f"{word} ({title[name]})" for name, word in names.items()), "critical difference (Nemenyi)"]
    ranked = [*(table["mean_rank"][name] for name in names), table["critical_difference"].iloc[0]]
    return table_lines(head, [[f"{rank:.1f}" for rank in ranked]])


def drift(reference: Path) -> str:
    """Return what each learner has over plain 5-NN after a stream changed, and what it has untrained."""
    runs = pd.read_csv(reference / "bench" / "streams.csv")
    of = {str(rows): found.set_index("learner") for rows, found in runs.groupby("rows")}
    lines = [
        [learner, *(f"{found.loc[learner, column]:+.3f}" for found in of.values() for column in AFTER)]
        for learner in runs["learner"].unique()
    ]
    return table_lines(["", *(f"{rows}: {what}" for rows in of for what in ("trained", "untrained"))], lines)


def on_streams(reference: Path) -> str:
    """Return the accuracies of some methods on every stream."""
    table = pd.read_csv(reference / "streams" / "accuracy.csv", dtype=str).set_index("method")
    shown = table.drop(columns="note").loc[list(STREAMS)].apply(lambda column: column.str.rstrip("*"))
    lines = [[str(stream), *shown[stream]] for stream in shown]
    return table_lines(["stream", *STREAMS.values()], lines)


def defaults(reference: Path) -> str:
    """Return what the learners' defaults gain over plain 5-NN, on average and at the least."""
    gains = pd.read_csv(reference / "bench" / "defaults.csv").set_index("dataset").drop(columns="plain")
    lines = [[str(name), *(f"{gain[row]:+.3f}" for row in ("mean", "least"))] for name, gain in gains.items()]
    return table_lines(["", "mean", "least"], lines)


def depth(reference: Path) -> str:
    """Return the mean errors of fixed and chosen depths over the data sets that the paper never saw."""
    judged = pd.read_csv(reference / "depth" / "on_sets.csv")
    judged = judged[(judged["study"] == "standardised") & (judged["group"] == "new")]
    lines = []
    for letter, name in (("r", "relu"), ("s", "sigmoid"), ("t", "tanh")):
        chosen = judged[judged["algorithm"] == f"mloml_{letter}_auto"]
        fixed = chosen.groupby("reference")["reference_mean"].mean()
        means = [*(fixed[f"mloml_{letter}_{layers}"] for layers in (1, 3, 5)), chosen["mean"].mean()]
        lines.append([name, *map(number, means)])
    return table_lines(["", "one layer", "three", "five", "chosen"], lines)


def cone(reference: Path) -> str:
    """Return how many steps of the largest step size would leave the cone, by data set."""
    steps = pd.read_csv(reference / "theory" / "theorem1.csv")
    first = steps[(steps["layer"] == 1) & (steps["gamma"] == steps["gamma"].max())]
    shares = first.set_index("dataset")["share_leaving_cone"].sort_values(ascending=False)
    lines = [[escape(str(name)), f"{100 * share:.0f} %"] for name, share in shares.items()]
    return table_lines(
        ["data set", f"active steps of layer 1 that would leave the cone, γ = {first['gamma'].iloc[0]:g}"],
        lines,
    )


def tried(reference: Path) -> str:
    """Return every question that the paper leaves open, what was tried and what was chosen."""
    lines = [
        [c.name, c.what, str(c.tried), str(c.chosen), ", ".join(c.decided_on), ", ".join(c.also_seen)]
        for c in choices()
    ]
    head = ["question", "what was tried", "tried", "chosen", "decided on", "only seen"]
    return table_lines(head, [[escape(text) for text in line] for line in lines])


def _table2(reference: Path) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    folder = reference / "table2"
    cells = pd.read_csv(folder / "cells.csv")
    title = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))["titles"]
    return pd.read_csv(folder / "ranks.csv").set_index("algorithm"), cells[cells["status"] == "ok"], title


PAGES: dict[str, dict[str, Callable[[Path], str]]] = {
    "README.md": {"picture": picture, "findings": findings, "verdicts": verdicts},
    "docs/guide/choosing.md": {"ranks": ranks, "helps": helps},
    "docs/comparison.md": {"lmnn": lmnn, "speed": speed},
    "docs/reproducibility.md": {"cone": cone},
    "docs/reproduction/interpretations.md": {"tried": tried},
    "docs/guide/learning.md": {"defaults": defaults, "activations": activations, "depth": depth},
    "docs/guide/streams.md": {"drift": drift},
    "docs/guide/expect.md": {"on_streams": on_streams},
}


def fill(text: str, blocks: Mapping[str, Callable[[Path], str]], reference: Path = REFERENCE) -> str:
    """Return the text with every block made anew."""
    for name, make in blocks.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"there must be one block {begin} ... {end}")
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{make(reference)}\n{end}{rest.split(end)[1]}"
    return text


def outside(text: str) -> str:
    """Return the text without its blocks."""
    return re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", text, flags=re.S)


def main() -> int:
    """Fill the pages, or say whether they are what the published results give."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a block is old")
    check = parser.parse_args().check
    if not check:
        from_documents(find_recipe("claims"), REFERENCE)
    old = 0
    for name, blocks in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        new = fill(text, blocks)
        old += new != text
        if not check:
            (ROOT / name).write_text(new, encoding="utf-8")
    return int(check and old > 0)


if __name__ == "__main__":
    sys.exit(main())
