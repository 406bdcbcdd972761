"""Fill the numbers of the reproducibility report from the published results, and print it as a PDF.

``python -m tools.report`` writes ``docs/report/report.md`` from ``template.md`` beside it; ``--pdf`` also
prints ``report.pdf`` with Chromium, which ``MLOML_CHROMIUM`` may name. ``--check`` only says whether the page
is what the published results give. The sentences are in the template; ``tests/published/test_report.py``
recomputes every number.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from markdown_it import MarkdownIt
from scipy import stats

from mloml.paper import published
from mloml.paper import table2 as printed_table
from mloml.paper.interpretations import choices
from mloml.paper.published import ALGORITHMS
from mloml.paper.statistics import OUTCOMES, win_tie_loss
from mloml.report.artefacts.claims import CLAIMED
from mloml.report.claims import CLAIMS, COLUMNS

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
FOLDER = ROOT / "docs" / "report"
OWN = ["moml", "mloml_t", "mloml_s", "mloml_r"]
REBUILT = ["mlcc", "slmoml"]
ONLINE = ["rdml", "lego", "oasis", "opml", "slmoml", *OWN]
ACCIDENTS = ["spect_paper", "mlprove_paper"]
GROUP = ("group", "cells", "agree", "lower", "higher", "z2")
STUDIES = ("clean", "standardised")
TITLES = {name: title for title, name in ALGORITHMS.items()}
LEVEL, ROUNDING = 0.05, 1e-9
STYLE = """
@page { size: A4; margin: 18mm 17mm } body { font: 9.5pt/1.38 "DejaVu Serif", Georgia, serif; color: #111 }
h1 { font-size: 17pt; line-height: 1.2 } h2 { font-size: 13pt; margin-top: 1.4em } h3 { font-size: 11pt }
h1, h2, h3 { font-family: "DejaVu Sans", Helvetica, sans-serif; break-after: avoid }
img { max-width: 100%; max-height: 100mm; display: block; margin: 0 auto }
p { margin: .5em 0; text-align: justify }
table { border-collapse: collapse; margin: .8em auto; font-size: 8pt; break-inside: avoid }
th, td { padding: .15em .7em; border-bottom: .4pt solid #999; text-align: left }
blockquote { margin: .5em 2em; font-style: italic } code { font-size: 8pt } li { margin: .25em 0 }
"""


class Tables:
    """The published CSV files, by name."""

    def __init__(self, reference: Path) -> None:
        self.reference = reference

    def __call__(self, name: str) -> pd.DataFrame:
        """Return a table such as ``table2/tests``."""
        return pd.read_csv(self.reference / f"{name}.csv")


def numbers(reference: Path = REFERENCE) -> dict[str, Any]:
    """Return every number of the report by its name in the template."""
    csv = Tables(reference)
    parts = (
        _agreement, _worth, _conclusions, _learning, _accidents, _curves, _propagation, _theory, _cost,
        _freedom, _beyond, _streams, _claims,
    )  # fmt: skip
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
    own, ways = rows[0], more["algorithm"].str.rpartition("_")[2]
    missed = cells[groups[own[0]] & (cells["verdict"] != "agrees")]
    table = printed_table()
    return {
        "agreement": [dict(zip(GROUP, row, strict=True)) for row in rows],
        "own_cells": own[1],
        "own_agree": own[2],
        "own_z2": own[-1],
        "own_missed": ", ".join(
            f"{TITLES[a]} on {_row(d)}" for d, a in missed[["dataset", "algorithm"]].values
        ),
        "worst": _worst(cells[groups["published baselines"]]),
        "own_exact": int(worth["agrees, no rounding"][own[0]]),
        "all_exact": int(worth["agrees, no rounding"]["all"]),
        "sets": cells["dataset"].nunique(),
        "paper_sets": table["dataset"].nunique(),
        "paper_methods": table["algorithm"].nunique(),
        "bp_cells": (ways == "bp").sum(),
        "bp_agree": ((ways == "bp") & (more["verdict"] == "agrees")).sum(),
        "fbp_agree": ((ways == "fbp") & (more["verdict"] == "agrees")).sum(),
        "tried": sum(choice.tried for choice in choices()),
        "questions": len(choices()),
    }


def _worth(csv: Tables) -> dict[str, Any]:
    worth: Any = csv("table2/agreement_worth").set_index("our means beside")
    own, gains = "the paper's own methods", csv("table2/gains_over_euclidean")
    wrong = worth.loc[f"{own}, another of their columns"]
    plain = worth.loc[f"Euclidean distance, columns of {own}"]
    differ = gains[gains["verdict"] != "agrees"]
    return {
        "wrong_agree": int(wrong["agrees"]),
        "wrong_cells": int(wrong["cells"]),
        "wrong_z2": wrong["mean z²"],
        "eucl_agree": int(plain["agrees"]),
        "eucl_cells": int(plain["cells"]),
        **{f"tost_{size}": int(worth[f"within .{size}"][own]) for size in ("01", "02", "03")},
        "gain_agree": len(gains) - len(differ),
        "gain_narrower": (gains["standard_error"] < _standard_errors(csv, gains)).sum(),
        "gain_z2": (gains["difference"] / gains["standard_error"]).pow(2).mean(),
        "gain_not": "; ".join(
            f"{_row(str(name))}: {', '.join(TITLES[a] for a in part['algorithm'])}"
            for name, part in differ.groupby("dataset", sort=False)
        ),
    }


def _conclusions(csv: Tables) -> dict[str, Any]:
    cells, table = csv("table2/paper_comparison"), printed_table()
    known = cells[cells["paper_mark"].isin(OUTCOMES)]
    known = known.merge(csv("table2/tests"), on=["dataset", "algorithm"], suffixes=("", "_ours"))
    won, sound = known[known["paper_mark"] == "win"], known[~known["dataset"].isin(ACCIDENTS)]
    strict = won["our_mark_corrected"] == "win"
    paper, ours = known["paper_mark"], known["our_mark_corrected"]
    # The smallest difference that the corrected test finds: what was found, as a multiple of its t statistic.
    t = stats.t.isf(won["p_corrected"] / 2, won["splits"] - 1)
    least = won["difference_ours"].abs() / t * stats.t.isf(LEVEL / 2, won["splits"] - 1)
    best = table[table["algorithm"] == "mloml_r"].set_index("dataset")["error"]
    rows = won["dataset"].str.removesuffix("_paper")
    gaps = won["paper_mean"] - rows.map(best)
    lost = won[won["our_mark"] != "win"]
    return {
        "cases": len(known),
        "printed_all": win_tie_loss(table["mark"][table["algorithm"] != "mloml_r"]),
        "won": len(won),
        "won_paired": (won["our_mark"] == "win").sum(),
        "kept": strict.sum(),
        "kept_oasis": (strict & (won["algorithm"] == "oasis")).sum(),
        "too_small": (gaps < least).sum(),
        "same": (paper == known["our_mark"]).sum(),
        "stay": (paper == ours).sum(),
        "to_tie": ((paper != ours) & (ours == "tie")).sum(),
        "won_lost": len(lost),
        "won_lost_unlike": (lost["verdict"] != "agrees").sum(),
        "reversed": ((paper != ours) & (ours != "tie") & (paper != "tie")).sum(),
        "accident_wins": won["dataset"].isin([*ACCIDENTS, "lsvt"]).sum(),
        "accident_cases": known["dataset"].isin([*ACCIDENTS, "lsvt"]).sum(),
        "printed": win_tie_loss(paper),
        "plain": win_tie_loss(known["our_mark"]),
        "corrected": win_tie_loss(ours),
        "sound_plain": win_tie_loss(sound["our_mark"]),
        "sound_corrected": win_tie_loss(sound["our_mark_corrected"]),
    }


def _learning(csv: Tables) -> dict[str, Any]:
    gains = csv("untrained/gains")
    counted = gains[gains["counted"].astype(bool)]
    whole, learning = (counted[f"{step}_mark_corrected"] for step in ("whole", "learning"))
    return {
        "gain_cases": len(counted),
        "whole_wins": (whole == "win").sum(),
        "whole_mlprove": ((whole == "win") & (counted["dataset"] == "mlprove_paper")).sum(),
        "whole_learned": ((whole == "win") & (learning == "win")).sum(),
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
    true = csv("mlprove/cells").groupby("algorithm")["error"].mean()
    plain = ours["lsvt", "euclidean"]
    printed_gain = printed["lsvt", "euclidean"] - printed["lsvt", "mloml_r"]
    return {
        "spect_columns": len(columns),
        "spect_best": columns.iloc[-1],
        "spect_next": columns.iloc[-2],
        "mlprove_true": tried["mlprove", "true"],
        "mlprove_true_plain": true["euclidean"],
        "mlprove_true_moml": true["moml"],
        "mlprove_true_mloml": true["mloml_r"],
        "spect_true": ours["spect", "euclidean"],
        "spect_true_mloml": ours["spect", "mloml_r"],
        "spect_last": ours["spect_paper", "euclidean"],
        "spect_paper": printed["spect", "euclidean"],
        "mlprove_printed": printed["mlprove", "euclidean"],
        "mlprove_paper_way": ours["mlprove_paper", "euclidean"],
        "lsvt_printed": printed["lsvt", "mloml_r"],
        "lsvt_plain": plain,
        "lsvt_bp": published.table3().set_index(["dataset", "algorithm"])["error"]["lsvt", "mloml_r_bp"],
        "lsvt_untrained": gains.set_index(["dataset", "activation"])["untrained"]["lsvt", "mloml_r"],
        "sign_draws": len(drawn),
        "signs_low": drawn.min(),
        "signs_high": drawn.max(),
        "signs_gain": (drawn < plain - printed_gain + ROUNDING).sum(),
    }


def _curves(csv: Tables) -> dict[str, Any]:
    layers, scans, deep = csv("fig5/comparisons"), csv("fig7/equal_scans"), "mloml_r_5"
    last = layers[(layers["algorithm"] == deep) & (layers["point"] == layers["point"].max())]
    parts = {
        "first": last[(last["reference"] == deep) & (last["reference_point"] == 1)],
        "moml": last[last["reference"] == "moml"],
        "split": last[last["reference"] == "moml_split"],
        "untrained": last[last["reference"] == f"{deep}_untrained"],
    }
    free, split = (scans[scans["reference"] == name] for name in ("moml", "moml_split"))
    higher = free[(free["difference"] > ROUNDING) & (free["p_corrected"] < LEVEL)]
    lower = split[(split["difference"] < -ROUNDING) & (split["p_corrected"] < LEVEL)]
    stacks = csv("fig8/comparisons")
    ends = stacks[stacks["point"] == stacks["point"].max()]
    ends = dict(list(ends.groupby(ends["algorithm"] + " " + ends["reference"])))
    return {
        "layers_sets": len(parts["first"]),
        **{f"layers_{name}": _changes(part, "p_corrected") for name, part in parts.items()},
        "scan_pairs": len(free),
        "scan_sets": free["dataset"].nunique(),
        "scan_means": _changes(free),
        "scan_paired": _changes(free, "p_paired"),
        "scan_corrected": _changes(free, "p_corrected"),
        "scan_split": _changes(split, "p_corrected"),
        "scan_split_mlprove": (lower["dataset"] == "mlprove_paper").sum(),
        "scan_higher_on": ", ".join(map(_row, higher["dataset"].unique())),
        "rdml_zero": _changes(ends["rdml_multi rdml"], "p_corrected"),
        "rdml_identity": _changes(ends["rdml_multi rdml_identity"], "p_corrected"),
        "lego_layers": _changes(ends["lego_multi lego"], "p_corrected"),
        "opml_layers": _changes(ends["opml_multi opml"], "p_corrected"),
    }


def _propagation(csv: Tables) -> dict[str, Any]:
    tests, cells = csv("table3/tests"), csv("table3/paper_comparison")
    counted = tests[tests["dataset"].isin(cells["dataset"])]
    ends = counted["algorithm"].str
    fixed, chosen, both = (counted[ends.endswith(end)] for end in ("_bp", "_bp_cv", "_fbp"))
    won = fixed[fixed["mark_corrected"] == "win"].merge(cells, on=["dataset", "algorithm"])
    return {
        "bp_fixed": win_tie_loss(fixed["mark_corrected"]),
        "bp_unlike": (won["verdict"] != "agrees").sum(),
        "bp_chosen_paired": win_tie_loss(chosen["mark_paired"]),
        "bp_chosen": win_tie_loss(chosen["mark_corrected"]),
        "fbp_most": both["difference"].abs().max(),
        "fbp_paired": win_tie_loss(both["mark_paired"]),
        "fbp_corrected": win_tie_loss(both["mark_corrected"]),
        "fbp_printed": win_tie_loss(cells["paper_mark"][cells["algorithm"].str.endswith("_fbp")]),
    }


def _theory(csv: Tables) -> dict[str, Any]:
    first = csv("theory/theorem1").query("layer == 1")
    largest, regrets = first[first["gamma"] == first["gamma"].max()], csv("theory/theorem2")
    held = first["steps_looked_at"] * (1 - first["share_condition_broken"])
    broken = first[first["share_condition_broken"] > 0]["gamma"].min()
    leaving = largest.set_index("dataset")["share_leaving_cone"].nlargest(2)
    following = first[first["gamma"] == broken].set_index("dataset")["share_condition_broken"]
    chosen = csv("table2/cells").query("algorithm == 'moml' and dataset != 'spect'")["chosen"]
    steps, example = csv("theory/proposition1"), csv("theory/counterexample").iloc[-1]
    above = regrets["regret"] > regrets["claimed_bound"] * (1 + 1e-9)
    counts = {name: (steps[f"share_{name}"] * steps["splits"]).sum() for name in ("better", "worse")}
    splits = steps["splits"].sum()
    return {
        "t1_held": int(held.round().sum()),
        "t1_safe": first[first["gamma"] < broken]["gamma"].max(),
        "t1_broken": largest["share_condition_broken"].mean(),
        "t1_leaving": largest["share_leaving_cone"].mean(),
        "t1_most": _shares(leaving),
        "t1_next": _shares(following[following > 0]),
        "moml_largest": (chosen.map(json.loads).map(lambda found: found["gamma"]) == 0.1).mean(),
        "t2_cases": len(regrets),
        "t2_above": above.sum(),
        "t2_best": (above & (regrets["comparator"] == "best")).sum(),
        "p1_steps": splits,
        "p1_better": counts["better"] / splits,
        "p1_worse": counts["worse"] / splits,
        **dict(zip(("p1_falls", "p1_rises"), _counts(steps), strict=True)),
        **dict(zip(("p1_lower", "p1_higher"), _counts(steps, "p_corrected"), strict=True)),
        "p1_equal": 1 - sum(counts.values()) / splits,
        "ce_phi": example["phi"],
        "ce_T": example["T"],
        "ce_regret": example["regret"],
        "ce_bound": example["claimed_bound"],
    }


def _cost(csv: Tables) -> dict[str, Any]:
    times = csv("fig4/fig4").pivot_table(index="dataset", columns="method", values="median")
    counts = csv("fig4/operations")
    every = counts["every"].max()
    wide = counts.pivot_table(index="features", columns="method", values="multiplications")
    wide["renewed"] = wide["moml_frame"] + wide["renewal"] / every
    power = np.log(wide.iloc[-1] / wide.iloc[0]) / np.log(wide.index[-1] / wide.index[0])
    ratio = {name: times[name] / times["opml"] for name in ("moml", "moml_frame")}
    wider = csv("bench/per_triplet").pivot_table(index="features", columns="method", values="ours us")
    times_opml = wider["MOML, M only"] / wider["OPML"]
    stack = wider["MLOML-r, 3 layers, FP"]
    measured = csv("bench/growth").set_index("propagation")["exponent in features"]["fp"]
    return {
        **{f"time_{name}": _span(part) for name, part in ratio.items()},
        **{f"power_{name}": power[name] for name in ("moml", "moml_frame", "renewed")},
        "time_narrow": _span(times_opml.loc[:57]),
        "time_wide": _span(times_opml.loc[100:]),
        "power_measured": measured,
        "power_again": np.log(stack[400] / stack[100]) / np.log(4),
    }


def _freedom(csv: Tables) -> dict[str, Any]:
    cases, summary = csv("ablation/ablation"), csv("ablation/summary")
    at = (cases["knob"] == "ties") & (cases["dataset"] == "balance") & (cases["algorithm"] == "mloml_r")
    ties = cases[at].set_index("value")["mean"]
    eigen = cases[cases["value"] == "eigenfactor"]["difference"]
    moved = cases[~cases["verdict"].isin(["default", "unchanged"])]
    # The corrected test divides the paired test's t statistic by the root of 1 + splits.
    t = stats.t.isf(moved["p_corrected"] / 2, moved["splits"] - 1) * np.sqrt(1 + moved["splits"])
    counts = csv("untuned/counts")
    return {
        "ablation_equal": (cases["verdict"] == "unchanged").sum(),
        "ablation_paired": np.sum(2 * stats.t.sf(t, moved["splits"] - 1) < LEVEL),
        "eigen_cases": len(eigen),
        "eigen_higher": (eigen > ROUNDING).sum(),
        "eigen_most": eigen.max(),
        "ablation": summary.to_dict("records"),
        "ablation_cases": summary["sets"].sum(),
        "ablation_moved": summary[["higher", "lower"]].sum().sum(),
        "ties": [ties[value] for value in ("first label", "alphabet", "nearest")],
        "untuned": counts.rename(columns={"data sets": "on", "mean z²": "z2"}).to_dict("records"),
    }


def _beyond(csv: Tables) -> dict[str, Any]:
    pairs, depth = csv("beyond/over_sets"), csv("depth/over_sets")
    rivals = pairs[pairs["test"].isin(["layers", "rivals"])]
    larger = rivals[rivals["verdict"] == "larger"]
    counts: Any = larger["reference"].value_counts()
    plain = pairs[(pairs["test"] == "euclidean") & pairs["algorithm"].isin(ONLINE)]
    learned = pairs[pairs["test"] == "untrained"]
    chosen = depth[depth["test"] == "depth"]
    new, unseen = (chosen[chosen["group"] == name] for name in ("new", "untouched"))
    helps = new[new["verdict"] == "smaller"]
    batch = depth[(depth["test"] == "batch") & (depth["group"] == "new")]["verdict"]
    return {
        "new_sets": pairs["sets"].max(),
        "rivals_pairs": len(rivals),
        "rivals_smaller": (rivals["verdict"] == "smaller").sum(),
        "rivals_larger": len(larger),
        "rivals_larger_to": ", ".join(f"{n} against {TITLES[name]}" for name, n in counts.items()),
        "rivals_larger_r": (larger["algorithm"] == "mloml_r").sum(),
        "online": len(ONLINE),
        **{f"online_{study}": _said(plain, study, "smaller") for study in STUDIES},
        **{f"worse_{study}": _said(plain, study, "larger") for study in STUDIES},
        **{f"learned_{study}": _said(learned, study, "smaller") for study in STUDIES},
        "depth_cases": len(new),
        "depth_helps": len(helps),
        "depth_harms": (new["verdict"] == "larger").sum(),
        "depth_euclidean": (helps["reference"] == "euclidean").sum(),
        "depth_one": int(helps["reference"].str.endswith("_1").sum()),
        "batch_cases": len(batch),
        "batch_helps": (batch == "smaller").sum(),
        "batch_harms": (batch == "larger").sum(),
        "unseen_sets": unseen["sets"].max(),
        "unseen_helps": (unseen["verdict"] == "smaller").sum(),
    }


def _streams(csv: Tables) -> dict[str, Any]:
    tests = csv("streams/tests")
    learners, others = (tests[tests["test"] == test] for test in ("plain", "others"))
    first: Any = learners.iloc[learners["p"].argmin()]
    ahead = others[others["verdict"] == "ahead"]
    learned = tests[tests["test"] == "untrained"]
    return {
        "streams": learners["streams"].max(),
        "stream_learners": len(learners),
        "stream_helps": (learners["verdict"] == "helps").sum(),
        "stream_harms": (learners["verdict"] == "harms").sum(),
        "stream_first": TITLES[first["algorithm"]],
        "stream_first_higher": first["higher"],
        "stream_first_lower": first["lower"],
        "stream_first_p": first["p_holm"],
        "stream_learned": (learned["verdict"] == "learning helps").sum(),
        "stream_stacks": len(learned),
        "stream_pairs": len(others),
        "stream_ahead": len(ahead),
        "stream_ahead_tree": (ahead["reference"] == "hoeffding_tree").sum(),
        "stream_behind": (others["verdict"] == "behind").sum(),
    }


def _claims(csv: Tables) -> dict[str, Any]:
    found = csv("claims/claims")
    short = {claim.claim: claim.short for claim in CLAIMS}
    found = found[found["kind"] == CLAIMED]
    return {"claims": [(short[row["claim"]], *row[list(COLUMNS)]) for _, row in found.iterrows()]}


def _row(name: str) -> str:
    return f"*{name.removesuffix('_paper')}*"


def _span(ratios: pd.Series) -> str:
    return f"{ratios.min():.2f} to {ratios.max():.2f}"


def _shares(of: pd.Series) -> str:
    return " and ".join(f"{_row(str(name))} ({share:.0%})" for name, share in of.items())


def _worst(cells: pd.DataFrame) -> str:
    """Name the entry that is farthest from the paper's."""
    row: Any = cells.iloc[cells["statistic"].abs().argmax()]
    means = f"{row['our_mean']:.3f}, printed {row['paper_mean']:.3f}"
    return f"{TITLES[row['algorithm']]} on {_row(row['dataset'])} ({means})"


def _standard_errors(csv: Tables, rows: pd.DataFrame) -> pd.Series:
    """Return the standard errors of our mean less the paper's, for some entries of Table II."""
    cells = csv("table2/paper_comparison").set_index(["dataset", "algorithm"])
    errors: Any = (cells["difference"] / cells["statistic"]).abs()
    return pd.Series(errors.loc[pd.MultiIndex.from_frame(rows[["dataset", "algorithm"]])].array, rows.index)


def _counts(part: pd.DataFrame, p: str = "") -> tuple[int, int]:
    """Count how often an error is lower and higher: by its mean, or by a test too."""
    sure = part[p] < LEVEL if p else part["difference"].abs() > ROUNDING
    lower = part["difference"] < 0
    return int((sure & lower).sum()), int((sure & ~lower).sum())


def _changes(part: pd.DataFrame, p: str = "") -> str:
    """Count how often an error is lower/not different/higher."""
    lower, higher = _counts(part, p)
    return f"{lower}/{len(part) - lower - higher}/{higher}"


def _said(pairs: pd.DataFrame, study: str, verdict: str) -> int:
    return int(((pairs["study"] == study) & (pairs["verdict"] == verdict)).sum())


def page(found: dict[str, Any], template: str = "template.md") -> str:
    """Return the report, or another page, in Markdown."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.filters |= {f"f{digits}": f"{{:.{digits}f}}".format for digits in (1, 2, 3)}
    environment.filters |= {"pct": "{:.0%}".format, "title_of": lambda name: TITLES[name]}
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
