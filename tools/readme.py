"""Fill the README's marked blocks from the published results (``--check`` only looks).

``python tools/readme.py`` writes ``results/reference/claims`` as well. A block stands between
``<!-- NAME -->`` and ``<!-- /NAME -->``. Whatever number of a run the README shows is inside one, so that
it can be made anew, and checked, from ``results/reference``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from mloml.reporting.artefacts.claims import HOW, RECIPE, claims_frame, headline, linked, read
from mloml.reporting.markdown import escape, frame_to_markdown, table_lines
from mloml.reporting.publish import DOCUMENT, publish

ROOT = Path(__file__).parents[1]
README, REFERENCE = ROOT / "README.md", ROOT / "results" / "reference"
AT = "results/reference"
FEATURES = (21, 57, 100, 400)
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
    lmnn = batch.set_index("what").loc["LMNN, 2500 x 21"]
    return (
        f"{table}\n\nLMNN on 2500 × 21 takes {lmnn['ours s to theirs']:.1f} s to the objective at which "
        f"metric-learn ends after {lmnn['theirs s']:.0f} s ([all numbers]({AT}/bench/README.md), "
        "`make bench`)."
    )


BLOCKS: dict[str, Callable[[Path], str]] = {"picture": picture, "claims": claims, "speed": speed}


def fill(text: str, reference: Path = REFERENCE) -> str:
    """Return the text with every block made anew; a block whose results are not there is left empty."""
    for name, make in BLOCKS.items():
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
    """Fill the README, or say whether it is what the published results give."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit code 1 if a block is not up to date"
    )
    arguments = parser.parse_args()
    text = README.read_text(encoding="utf-8")
    new = fill(text)
    if not arguments.check:
        if claims(REFERENCE):
            publish(RECIPE.read(REFERENCE), REFERENCE / RECIPE.name)
        README.write_text(new, encoding="utf-8")
    return int(arguments.check and new != text)


if __name__ == "__main__":
    sys.exit(main())
