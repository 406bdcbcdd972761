"""Fill the numbers of the reproducibility report from the published results, and print it as a PDF.

``python -m tools.report`` writes ``docs/report/report.md`` from ``template.md`` beside it; ``--pdf`` also
prints ``report.pdf`` with Chromium, which ``MLOML_CHROMIUM`` may name. ``--check`` only says whether the page
is what the published results give. The sentences are in the template; ``tests/published/test_report.py``
recomputes every number.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markdown_it import MarkdownIt

from mloml.paper import table2 as printed_table
from mloml.paper.interpretations import choices
from mloml.paper.statistics import OUTCOMES, win_tie_loss
from mloml.report.render import table_lines

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
FOLDER = ROOT / "docs" / "report"
OWN = ["moml", "mloml_t", "mloml_s", "mloml_r"]
REBUILT = ["mlcc", "slmoml"]
ONLINE = ["rdml", "lego", "oasis", "opml", "slmoml", *OWN]
ACCIDENTS = ["spect_paper", "mlprove_paper"]
GROUP = ("group", "cells", "agree", "lower", "higher", "z2")
LEVEL, ROUNDING = 0.05, 1e-9
STYLE = """
@page { size: A4; margin: 20mm 18mm } body { font: 10.5pt/1.42 "DejaVu Serif", Georgia, serif; color: #111 }
h1 { font-size: 17pt; line-height: 1.2 } h2 { font-size: 13pt; margin-top: 1.4em } h3 { font-size: 11pt }
h1, h2, h3 { font-family: "DejaVu Sans", Helvetica, sans-serif; break-after: avoid }
img { max-width: 100%; max-height: 105mm; display: block; margin: 0 auto }
p { margin: .5em 0; text-align: justify }
table { border-collapse: collapse; margin: .8em auto; font-size: 9pt; break-inside: avoid }
th, td { padding: .15em .7em; border-bottom: .4pt solid #999; text-align: left }
blockquote { margin: .5em 2em; font-style: italic } code { font-size: 9pt } li { margin: .25em 0 }
"""


class Tables:
    """The published CSV files, by name."""

    def __init__(self, reference: Path) -> None:
        self.reference = reference

    def __call__(self, name: str) -> pd.DataFrame:
        """Return a table such as ``table2/tests``."""
        artefact, table = name.split("/")
        return pd.read_csv(self.folder(artefact) / f"{table}.csv")

    def folder(self, artefact: str) -> Path:
        """Return the published folder of an artefact: provisional until the next run of the reference."""
        folder = self.reference / artefact
        return folder if folder.is_dir() else self.reference.parent / "provisional" / artefact


def numbers(reference: Path = REFERENCE) -> dict[str, Any]:
    """Return every number of the report by its name in the template."""
    csv = Tables(reference)
    parts = (_agreement, _worth, _conclusions, _accidents, _curves, _propagation, _theory, _beyond)
    return {name: value for part in parts for name, value in part(csv).items()}


def _agreement(csv: Tables) -> dict[str, Any]:
    cells, more = csv("table2/paper_comparison"), csv("table3/paper_comparison")
    worth = csv("table2/agreement_worth").set_index("our means beside")
    groups = {
        "the paper's own methods": cells["algorithm"].isin(OWN),
        "published baselines": ~cells["algorithm"].isin([*OWN, *REBUILT]),
        "reconstructions": cells["algorithm"].isin(REBUILT),
        "all": cells["algorithm"].notna(),
    }
    rows = []
    for group, which in groups.items():
        found, z2 = cells[which]["verdict"], worth["mean z²"][group]
        sides = [(found == f"differs: ours {side}").sum() for side in ("lower", "higher")]
        rows.append((group, len(found), (found == "agrees").sum(), *sides, z2))
    own, more = rows[0], more[more["algorithm"].str.contains("bp")]
    table = printed_table()
    return {
        "agreement": [dict(zip(GROUP, row, strict=True)) for row in rows],
        "own_cells": own[1],
        "own_agree": own[2],
        "own_z2": own[-1],
        "sets": cells["dataset"].nunique(),
        "paper_sets": table["dataset"].nunique(),
        "paper_methods": table["algorithm"].nunique(),
        "t3_cells": len(more),
        "t3_agree": (more["verdict"] == "agrees").sum(),
        "tried": sum(choice.tried for choice in choices()),
        "questions": len(choices()),
    }


def _worth(csv: Tables) -> dict[str, Any]:
    worth: Any = csv("table2/agreement_worth").set_index("our means beside")
    own, gains = "the paper's own methods", csv("table2/gains_over_euclidean")
    wrong = worth.loc[f"{own}, another of their columns"]
    plain = worth.loc[f"Euclidean distance, columns of {own}"]
    differ = gains[gains["verdict"] != "agrees"]["dataset"].replace("spect_paper", "spect").value_counts()
    return {
        "wrong_agree": int(wrong["agrees"]),
        "wrong_cells": int(wrong["cells"]),
        "eucl_agree": int(plain["agrees"]),
        "eucl_cells": int(plain["cells"]),
        **{f"tost_{size}": int(worth[f"within .{size}"][own]) for size in ("01", "02", "03")},
        "gain_agree": (gains["verdict"] == "agrees").sum(),
        "gain_not": ", ".join(f"*{name}* ({count})" for name, count in differ.items()),
    }


def _conclusions(csv: Tables) -> dict[str, Any]:
    cells, gains = csv("table2/paper_comparison"), csv("untrained/gains")
    known = cells[cells["paper_mark"].isin(OUTCOMES)]
    won, sound = known[known["paper_mark"] == "win"], known[~known["dataset"].isin(ACCIDENTS)]
    counted = gains[gains["counted"].astype(bool)]
    learning = counted["learning_mark_corrected"]
    return {
        "won": len(won),
        "kept": (won["our_mark_corrected"] == "win").sum(),
        "accident_wins": won["dataset"].isin([*ACCIDENTS, "lsvt"]).sum(),
        "printed": win_tie_loss(known["paper_mark"]),
        "plain": win_tie_loss(known["our_mark"]),
        "corrected": win_tie_loss(known["our_mark_corrected"]),
        "sound_plain": win_tie_loss(sound["our_mark"]),
        "sound_corrected": win_tie_loss(sound["our_mark_corrected"]),
        "gain_cases": len(counted),
        "whole_wins": (counted["whole_mark_corrected"] == "win").sum(),
        "learning_wins": (learning == "win").sum(),
        "learning_losses": (learning == "loss").sum(),
    }


def _accidents(csv: Tables) -> dict[str, Any]:
    printed = printed_table().set_index(["dataset", "algorithm"])["error"]
    cells, gains, signs = csv("table2/cells"), csv("untrained/gains"), csv("signs/signs")
    tried = csv("bench/labels").set_index(["dataset", "label"])["error"]
    columns = tried["spect"].sort_values()
    ours = cells.groupby(["dataset", "algorithm"])["error"].mean()
    drawn = signs[(signs["algorithm"] == "mloml_r_untrained") & (signs["signs"] != "fixed")]["mean"]
    return {
        "spect_columns": len(columns),
        "spect_best": columns.iloc[-1],
        "spect_next": columns.iloc[-2],
        "mlprove_true": tried["mlprove", "true"],
        "spect_true": ours["spect", "euclidean"],
        "spect_last": ours["spect_paper", "euclidean"],
        "spect_paper": printed["spect", "euclidean"],
        "mlprove_printed": printed["mlprove", "euclidean"],
        "mlprove_paper_way": ours["mlprove_paper", "euclidean"],
        "lsvt_printed": printed["lsvt", "mloml_r"],
        "lsvt_untrained": gains.set_index(["dataset", "activation"])["untrained"]["lsvt", "mloml_r"],
        "sign_draws": len(drawn),
        "signs_low": drawn.min(),
        "signs_high": drawn.max(),
    }


def _curves(csv: Tables) -> dict[str, Any]:
    layers, scans, deep = csv("fig5/comparisons"), csv("fig7/equal_scans"), "mloml_r_5"
    last = layers[(layers["algorithm"] == deep) & (layers["reference"] == deep)]
    last = last[(last["point"] == last["point"].max()) & (last["reference_point"] == 1)]
    sure, lower = last["p_corrected"] < LEVEL, last["difference"] < 0
    pairs = scans[scans["reference"] == "moml"]
    ahead = pairs["difference"] < -ROUNDING
    return {
        "layers_sets": len(last),
        "layers_lower": (sure & lower).sum(),
        "layers_higher": (sure & ~lower).sum(),
        "scan_pairs": len(pairs),
        "scan_lower": ahead.sum(),
        "scan_higher": (pairs["difference"] > ROUNDING).sum(),
        **{f"scan_{p}": (ahead & (pairs[f"p_{p}"] < LEVEL)).sum() for p in ("paired", "corrected")},
        **{f"scan_{p}_higher": (~ahead & (pairs[f"p_{p}"] < LEVEL)).sum() for p in ("paired", "corrected")},
    }


def _propagation(csv: Tables) -> dict[str, Any]:
    tests, cells = csv("table3/tests"), csv("table3/paper_comparison")
    counted = tests[tests["dataset"].isin(cells["dataset"])]
    fixed = counted[counted["algorithm"].str.endswith("_bp")]["mark_corrected"]
    chosen = counted[counted["algorithm"].str.endswith("_bp_cv")]["mark_corrected"]
    return {
        "bp_cases": len(fixed),
        "bp_fixed": (fixed == "win").sum(),
        "bp_chosen": (chosen == "win").sum(),
        "bp_chosen_worse": (chosen == "loss").sum(),
    }


def _theory(csv: Tables) -> dict[str, Any]:
    first = csv("theory/theorem1").query("layer == 1")
    largest, regrets = first[first["gamma"] == first["gamma"].max()], csv("theory/theorem2")
    steps, example = csv("theory/proposition1"), csv("theory/counterexample").iloc[-1]
    splits = steps["splits"].sum()
    return {
        "t1_steps": first["steps_looked_at"].sum(),
        "t1_broken": largest["share_condition_broken"].mean(),
        "t1_leaving": largest["share_leaving_cone"].mean(),
        "t2_cases": len(regrets),
        "t2_above": (regrets["regret"] > regrets["claimed_bound"] * (1 + 1e-9)).sum(),
        "p1_steps": splits,
        "p1_no_worse": (steps["share_no_worse"] * steps["splits"]).sum() / splits,
        "p1_better": (steps["share_better"] * steps["splits"]).sum() / splits,
        "ce_phi": example["phi"],
        "ce_T": example["T"],
        "ce_regret": example["regret"],
        "ce_bound": example["claimed_bound"],
    }


def _beyond(csv: Tables) -> dict[str, Any]:
    pairs, depth, streams = csv("beyond/over_sets"), csv("depth/over_sets"), csv("streams/tests")
    rivals = pairs[pairs["test"].isin(["layers", "rivals"])]["verdict"]
    plain = pairs[pairs["test"] == "euclidean"]
    plain = plain[plain["algorithm"].isin(ONLINE) & (plain["verdict"] == "smaller")]
    chosen = depth[(depth["group"] == "new") & (depth["test"] == "depth")]["verdict"]
    learners, others = (streams[streams["test"] == test] for test in ("plain", "others"))
    return {
        "new_sets": pairs["sets"].max(),
        "rivals_pairs": len(rivals),
        "rivals_smaller": (rivals == "smaller").sum(),
        "rivals_larger": (rivals == "larger").sum(),
        "online": len(ONLINE),
        "online_clean": (plain["study"] == "clean").sum(),
        "online_standardised": (plain["study"] == "standardised").sum(),
        "depth_cases": len(chosen),
        "depth_helps": (chosen == "smaller").sum(),
        "depth_harms": (chosen == "larger").sum(),
        "streams": learners["streams"].max(),
        "streams_at": csv.folder("streams").relative_to(ROOT).as_posix(),
        "stream_learners": len(learners),
        "stream_helps": (learners["verdict"] == "helps").sum(),
        "stream_harms": (learners["verdict"] == "harms").sum(),
        "stream_pairs": len(others),
        "stream_ahead": (others["verdict"] == "ahead").sum(),
        "stream_behind": (others["verdict"] == "behind").sum(),
    }


def page(found: dict[str, Any], template: str = "template.md") -> str:
    """Return the report, or another page, in Markdown."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.filters |= {f"f{digits}": f"{{:.{digits}f}}".format for digits in (1, 2, 3)}
    environment.filters |= {"pct": "{:.0%}".format, "rows": table_lines}
    return environment.from_string((FOLDER / template).read_text(encoding="utf-8")).render(n=found)


def print_pdf(markdown: str, target: Path) -> None:
    """Print the page with Chromium."""
    names = (os.environ.get("MLOML_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    browser = next((path for name in names if name and (path := shutil.which(name))), None)
    if browser is None:
        sys.exit("report.pdf: needs Chromium; install it, or name it in MLOML_CHROMIUM")
    body = MarkdownIt("commonmark").enable("table").render(markdown)
    with tempfile.TemporaryDirectory() as folder:
        base = f'<base href="{FOLDER.as_uri()}/">'
        html = (
            f'<!doctype html><html lang="en"><meta charset="utf-8">{base}<style>{STYLE}</style>{body}</html>'
        )
        (Path(folder) / "report.html").write_text(html, encoding="utf-8")
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--no-pdf-header-footer",
        ]
        quiet = ["--disable-background-networking", "--no-first-run", f"--user-data-dir={folder}/profile"]
        command = [browser, *flags, *quiet, f"--print-to-pdf={target}", f"{folder}/report.html"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> int:
    """Write the report, or say whether it is what the published results give."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the page is old")
    parser.add_argument("--pdf", action="store_true", help="print report.pdf as well")
    arguments = parser.parse_args()
    text, target = page(numbers()), FOLDER / "report.md"
    if arguments.check:
        return int(not target.is_file() or target.read_text(encoding="utf-8") != text)
    target.write_text(text, encoding="utf-8")
    if arguments.pdf:
        print_pdf(text, FOLDER / "report.pdf")
    return 0


if __name__ == "__main__":
    sys.exit(main())
