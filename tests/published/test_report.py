"""Every number of the report and of the README's findings, from the published files once more."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats
from tests.published import oracle
from tests.published.oracle import PAPER, REFERENCE, both_marks, errors, needs_reference, printed, wtl

report = pytest.importorskip("tools.report", reason="the tools are not part of an installed wheel")
pytestmark = needs_reference

OWN = ["moml", "mloml_t", "mloml_s", "mloml_r"]
REBUILT = ["mlcc", "slmoml"]
TITLES = dict(
    printed("table2")
    .assign(title=pd.read_csv(PAPER / "table2.csv")["algorithm"])[["algorithm", "title"]]
    .values
)
NAMES = {title: name for name, title in TITLES.items()}


def differ(mine: pd.Series, mean: float, std: float) -> bool:
    return oracle.welch_verdict(mine, mean, std) != "agrees"


def triple(sides) -> str:
    """Count how often something is lower, not different and higher."""
    found = list(sides)
    return "/".join(str(found.count(way)) for way in (-1, 0, 1))


def sides(differences) -> dict[str, int]:
    """Say which way a difference goes: by its mean, by the paired and by the corrected test."""
    way = 0 if abs(differences.mean()) < 1e-9 else int(np.sign(differences.mean()))
    plain, strict = oracle.p_plain(differences), oracle.p_corrected(differences)
    return {"mean": way, "paired": way * (plain < 0.05), "corrected": way * (strict < 0.05)}


def agreement() -> dict:
    wide, theirs = errors("table2"), printed("table2")
    theirs = theirs[theirs["dataset"].isin(wide.index.get_level_values("dataset"))]
    cells = theirs.set_index(["dataset", "algorithm"])[["error", "std"]].astype(float)
    rows, missed = [], []
    for (dataset, name), (mean, std) in cells.iterrows():
        z, *_ = oracle.welch(wide.loc[dataset, name], mean, std)
        exact, _, found = oracle.welch(wide.loc[dataset, name], mean, std, 0.0)
        group = "own" if name in OWN else "rebuilt" if name in REBUILT else "baselines"
        side = np.sign(z) if differ(wide.loc[dataset, name], mean, std) else 0
        rows.append((group, side, z**2, 2 * found.sf(abs(exact)) >= 0.05))
        if side and name in OWN:
            missed.append((name, dataset))
    frame = pd.DataFrame(rows, columns=["group", "side", "square", "exact"])
    groups = [frame[frame["group"] == g] for g in ("own", "baselines", "rebuilt")] + [frame]
    counted = [
        [len(g), (g["side"] == 0).sum(), (g["side"] < 0).sum(), (g["side"] > 0).sum(), g["square"].mean()]
        for g in groups
    ]
    third, wider = printed("table3"), errors("table3")
    third = third[third["dataset"].isin(wider.index.get_level_values(0))]
    agree: dict = {"BP": [], "FBP": [], "FP": []}
    for cell in third.to_dict("records"):
        mine = wider.loc[cell["dataset"], cell["algorithm"]]
        agree[cell["propagation"]].append(not differ(mine, float(cell["error"]), float(cell["std"])))
    baselines = frame[frame["group"] == "baselines"]
    place = cells.index[baselines["square"].idxmax()]
    worst = f"{TITLES[place[1]]} on *{place[0].removesuffix('_paper')}* "
    worst += f"({wide.loc[place[0], place[1]].mean():.3f}, printed {cells.loc[place, 'error']:.3f})"
    tried = yaml.safe_load((PAPER / "interpretations.yaml").read_text(encoding="utf-8"))["choices"]
    return {
        "agreement": [number for row in counted for number in row],
        "own_cells": counted[0][0],
        "own_agree": counted[0][1],
        "own_z2": counted[0][4],
        "own_missed": set(missed),
        "worst": worst,
        "own_exact": groups[0]["exact"].sum(),
        "all_exact": frame["exact"].sum(),
        "sets": cells.index.get_level_values(0).nunique(),
        "paper_sets": printed("table2")["dataset"].nunique(),
        "paper_methods": printed("table2")["algorithm"].nunique(),
        "bp_cells": len(agree["BP"]),
        "bp_agree": sum(agree["BP"]),
        "fbp_agree": sum(agree["FBP"]),
        "tried": sum(choice["tried"] for choice in tried),
        "questions": len(tried),
    }


def worth() -> dict:
    wide = errors("table2")
    cells = printed("table2").set_index(["dataset", "algorithm"])[["error", "std"]].astype(float)
    sets = [d for d in cells.index.get_level_values(0).unique() if d in wide.index.get_level_values(0)]
    pairs = [(wide.loc[d, a], *cells.loc[(d, b)]) for d in sets for a in OWN for b in OWN if a != b]
    wrong = [not differ(*pair) for pair in pairs]
    plain = [not differ(wide.loc[d, "euclidean"], *cells.loc[(d, b)]) for d in sets for b in OWN]
    found: dict = {"wrong_agree": sum(wrong), "wrong_cells": len(wrong)}
    found |= {"wrong_z2": np.mean([oracle.welch(*pair)[0] ** 2 for pair in pairs])}
    found |= {"eucl_agree": sum(plain), "eucl_cells": len(plain)}
    for size in (1, 2, 3):
        within = 0
        for d in sets:
            for a in OWN:
                z, error, distribution = oracle.welch(wide.loc[d, a], *cells.loc[(d, a)])
                within += distribution.sf(size / 100 / error - abs(z)) < 0.05
        found[f"tost_0{size}"] = within
    not_equal, squares, narrower = [], [], 0
    for d in sets:
        for a in OWN:
            gains = wide.loc[d, "euclidean"] - wide.loc[d, a]
            theirs = cells.loc[(d, "euclidean"), "error"] - cells.loc[(d, a), "error"]
            error = (gains.var(ddof=1) * (1 / len(gains) + 1 / 30) + 2 * 0.001**2 / 12) ** 0.5
            z = (gains.mean() - theirs) / error
            squares.append(z**2)
            narrower += error < oracle.welch(wide.loc[d, a], *cells.loc[(d, a)])[1]
            if 2 * stats.t.sf(abs(z), len(gains) - 1) < 0.05:
                not_equal.append((a, d))
    found |= {"gain_agree": 4 * len(sets) - len(not_equal), "gain_z2": np.mean(squares)}
    return found | {"gain_not": set(not_equal), "gain_narrower": narrower}


def conclusions() -> dict:
    wide, table = errors("table2"), printed("table2")
    table = table[table["algorithm"] != "mloml_r"]
    cells = table[table["dataset"].isin(wide.index.get_level_values("dataset"))]
    best = printed("table2").query("algorithm == 'mloml_r'").set_index("dataset")["error"].astype(float)
    rows = []
    for cell in cells.to_dict("records"):
        gap = wide.loc[cell["dataset"], cell["algorithm"]] - wide.loc[cell["dataset"], "mloml_r"]
        least = stats.t.ppf(0.975, 29) * np.sqrt((1 / 30 + 1) * gap.var(ddof=1))
        small = float(cell["error"]) - best[cell["dataset"]] < least
        mine = wide.loc[cell["dataset"], cell["algorithm"]]
        unlike = differ(mine, float(cell["error"]), float(cell["std"]))
        rows.append((cell["dataset"], cell["algorithm"], cell["mark"], *both_marks(gap), small, unlike))
    columns = ["dataset", "algorithm", "mark", "plain", "corrected", "small", "unlike"]
    cells = pd.DataFrame(rows, columns=columns)
    won = cells[cells["mark"] == "win"]
    sound = cells[~cells["dataset"].isin(["spect_paper", "mlprove_paper"])]
    three = ["lsvt", "spect_paper", "mlprove_paper"]
    kept = won[won["corrected"] == "win"]
    moved = cells[cells["mark"] != cells["corrected"]]
    around = list(zip(moved["algorithm"], moved["mark"], moved["corrected"], strict=True))
    around = [name for name, a, b in around if {a, b} == {"win", "loss"}]
    assert set(around) <= {"lmnn", "mlcc"}  # as the report says
    lost = won[won["plain"] != "win"]
    return {
        "cases": len(cells),
        "printed_all": wtl(table["mark"]),
        "won": len(won),
        "won_paired": (won["plain"] == "win").sum(),
        "kept": len(kept),
        "kept_oasis": (kept["algorithm"] == "oasis").sum(),
        "too_small": won["small"].sum(),
        "same": (cells["mark"] == cells["plain"]).sum(),
        "stay": len(cells) - len(moved),
        "to_tie": (moved["corrected"] == "tie").sum(),
        "reversed": len(around),
        "won_lost": len(lost),
        "won_lost_unlike": lost["unlike"].sum(),
        "printed": wtl(cells["mark"]),
        "accident_wins": won["dataset"].isin(three).sum(),
        "accident_cases": cells["dataset"].isin(three).sum(),
        "plain": wtl(cells["plain"]),
        "corrected": wtl(cells["corrected"]),
        "sound_plain": wtl(sound["plain"]),
        "sound_corrected": wtl(sound["corrected"]),
    }


def learning() -> dict:
    stacks, cases, sets = errors("untrained").drop(index="spect"), [], []
    for name in OWN[1:]:
        for dataset, part in stacks.groupby(level="dataset"):
            sets.append(dataset)
            gain = {
                "whole": part["euclidean"] - part[name],
                "learning": part[f"{name}_untrained"] - part[name],
            }
            cases.append({step: both_marks(values)[1] for step, values in gain.items()})
    found = pd.DataFrame(cases)
    return {
        "gain_cases": len(found),
        "whole_wins": (found["whole"] == "win").sum(),
        "whole_mlprove": (found["whole"][np.array(sets) == "mlprove_paper"] == "win").sum(),
        "whole_learned": (found == "win").all(axis=1).sum(),
        "learning_wins": (found["learning"] == "win").sum(),
        "learning_losses": (found["learning"] == "loss").sum(),
    }


def accidents() -> dict:
    ours, theirs = errors("table2").groupby("dataset").mean(), printed("table2")
    theirs, plain = theirs.set_index(["dataset", "algorithm"])["error"], ours["euclidean"]
    drawn = [
        pd.read_csv(path).query("algorithm == 'mloml_r_untrained'")["error"].mean()
        for path in REFERENCE.glob("signs/signs_*/cells.csv")
    ]
    tried = pd.read_csv(REFERENCE / "bench/labels.csv")
    true = errors("mlprove").mean()
    spect = sorted(tried[tried["dataset"] == "spect"]["error"], reverse=True)
    return {
        "spect_columns": len(spect),
        "spect_best": spect[0],
        "spect_next": spect[1],
        "mlprove_true": tried[(tried["dataset"] == "mlprove") & (tried["label"] == "true")]["error"].item(),
        "mlprove_true_plain": true["euclidean"],
        "mlprove_true_moml": true["moml"],
        "mlprove_true_mloml": true["mloml_r"],
        "spect_true": plain["spect"],
        "spect_true_mloml": ours.loc["spect", "mloml_r"],
        "spect_last": plain["spect_paper"],
        "mlprove_paper_way": plain["mlprove_paper"],
        "spect_paper": theirs["spect_paper", "euclidean"],
        "mlprove_printed": theirs["mlprove_paper", "euclidean"],
        "lsvt_printed": theirs["lsvt", "mloml_r"],
        "lsvt_plain": plain["lsvt"],
        "lsvt_bp": float(
            printed("table3").set_index(["dataset", "algorithm"])["error"]["lsvt", "mloml_r_bp"]
        ),
        "sign_draws": len(drawn),
        "signs_low": min(drawn),
        "signs_gain": sum(
            plain["lsvt"] - error >= theirs["lsvt", "euclidean"] - theirs["lsvt", "mloml_r"] - 1e-9
            for error in drawn
        ),
        "lsvt_untrained": errors("untrained").loc["lsvt", "mloml_r_untrained"].mean(),
        "signs_high": max(drawn),
    }


def curves() -> dict:
    layers = oracle.points("fig5/layer_errors")
    deep = layers.xs("mloml_r_5", level="algorithm")
    references = {
        "first": deep[1],
        "moml": layers.xs("moml", level="algorithm")[0],
        "split": layers.xs("moml_split", level="algorithm")[0],
        "untrained": layers.xs("mloml_r_5_untrained", level="algorithm")[5],
    }
    found: dict = {"layers_sets": deep.index.get_level_values("dataset").nunique()}
    for name, other in references.items():
        parts = (deep[5] - other).groupby(level="dataset")
        found[f"layers_{name}"] = triple(sides(part)["corrected"] for _, part in parts)
    scans, on = oracle.points("fig7/scan_errors"), []
    for other in ("moml", "moml_split"):
        gaps = scans.xs("mloml_r", level="algorithm") - scans.xs(other, level="algorithm")
        on.append([(d, sides(part[s])) for d, part in gaps.groupby(level="dataset") for s in range(1, 21)])
    found |= {"scan_pairs": len(on[0]), "scan_sets": len({d for d, _ in on[0]})}
    for key, word in (("means", "mean"), ("paired", "paired"), ("corrected", "corrected")):
        found[f"scan_{key}"] = triple(way[word] for _, way in on[0])
    found["scan_split"] = triple(way["corrected"] for _, way in on[1])
    found["scan_split_mlprove"] = sum(d == "mlprove_paper" and way["corrected"] < 0 for d, way in on[1])
    found["scan_higher_on"] = {d for d, way in on[0] if way["corrected"] > 0}
    stacks = oracle.points("fig8/layer_errors")
    for name, start in (
        ("rdml_zero", "rdml"),
        ("rdml_identity", "rdml_identity"),
        ("lego_layers", "lego"),
        ("opml_layers", "opml"),
    ):
        last = stacks.xs(f"{start.removesuffix('_identity')}_multi", level="algorithm")[5]
        gaps = (last - stacks.xs(start, level="algorithm")[0]).groupby(level="dataset")
        found[name] = triple(sides(part)["corrected"] for _, part in gaps)
    return found


def propagation() -> dict:
    wide, table = errors("table3").drop(index="spect"), printed("table3")
    cells = table.set_index(["dataset", "algorithm"])
    found, unlike, most = {}, 0, 0.0
    for way in ("bp", "bp_cv", "fbp"):
        found[way] = []
        for name in OWN[1:]:
            for dataset, part in wide.groupby(level="dataset"):
                marks = both_marks(part[f"{name}_{way}"] - part[name])
                found[way].append(marks)
                if way == "fbp":
                    most = max(most, abs((part[f"{name}_fbp"] - part[name]).mean()))
                if way == "bp" and marks[1] == "win":
                    cell = cells.loc[(dataset, f"{name}_bp")]
                    unlike += differ(part[f"{name}_bp"], float(cell["error"]), float(cell["std"]))
    fbp = table[table["dataset"].isin(wide.index.get_level_values(0)) & (table["propagation"] == "FBP")]
    return {
        "bp_fixed": wtl(mark for _, mark in found["bp"]),
        "bp_unlike": unlike,
        "bp_chosen_paired": wtl(mark for mark, _ in found["bp_cv"]),
        "bp_chosen": wtl(mark for _, mark in found["bp_cv"]),
        "fbp_most": most,
        "fbp_paired": wtl(mark for mark, _ in found["fbp"]),
        "fbp_corrected": wtl(mark for _, mark in found["fbp"]),
        "fbp_printed": wtl(fbp["corrected_mark"]),
    }


def theory() -> dict:
    steps, regrets = (pd.read_csv(REFERENCE / f"theory/theorem{n}.csv") for n in (1, 2))
    first = steps[steps["layer"] == 1]
    largest = first[first["gamma"] == 0.1].set_index("dataset")
    wide = oracle.points("theory/layer_errors")
    gaps = np.round(np.diff(wide[[1, 2, 3, 4, 5]].to_numpy(), axis=1), 9)
    ways = [sides(part[k + 1] - part[k]) for _, part in wide.groupby(level="dataset") for k in range(1, 5)]
    broken = first.groupby("gamma")["share_condition_broken"].max()
    leaving = largest["share_leaving_cone"].sort_values()[-2:]
    following = first[first["gamma"] == 0.01].set_index("dataset")["share_condition_broken"]
    cells = pd.read_csv(REFERENCE / "table2/cells.csv").query("algorithm == 'moml' and dataset != 'spect'")
    phi, T = 8.0, 10**6
    gamma, m, regret = 1 / (phi * T**0.5), 0.0, 0.0
    for _ in range(T):  # M = [[1, m], [m, 1]] under x = (1, 0), x_p = (0, 1), x_q = (0, -1)
        loss = 1 - 4 * m
        if loss <= 0:
            break
        regret, m = regret + loss, m + 2 * gamma  # U's own loss is 0
    above = regrets[regrets["regret"] > regrets["claimed_bound"]]
    return {
        "t1_held": sum(
            round(n * (1 - s)) for n, s in first[["steps_looked_at", "share_condition_broken"]].values
        ),
        "t1_safe": max(g for g in broken.index if broken.loc[:g].max() == 0),
        "t1_broken": largest["share_condition_broken"].mean(),
        "t1_leaving": largest["share_leaving_cone"].mean(),
        "t1_most": {(name, round(100 * share)) for name, share in leaving.items()},
        "t1_next": {(name, round(100 * share)) for name, share in following.items() if share},
        "moml_largest": cells["chosen"].str.contains(r'"gamma": 0\.1}', regex=True).mean(),
        "t2_cases": len(regrets),
        "t2_above": len(above),
        "t2_best": (above["comparator"] == "best").sum(),
        "p1_steps": gaps.size,
        "p1_falls": sum(way["mean"] < 0 for way in ways),
        "p1_rises": sum(way["mean"] > 0 for way in ways),
        "p1_lower": sum(way["corrected"] < 0 for way in ways),
        "p1_higher": sum(way["corrected"] > 0 for way in ways),
        "p1_better": (gaps < 0).mean(),
        "p1_worse": (gaps > 0).mean(),
        "p1_equal": (gaps == 0).mean(),
        "ce_phi": phi,
        "ce_T": T,
        "ce_regret": regret,
        "ce_bound": 0.5 * 2 * 0.25**2 + 32 / phi**2,
    }


def cost() -> dict:
    runs = pd.read_csv(REFERENCE / "fig4/runs.csv")
    median = runs.groupby(["dataset", "method"])["seconds"].median()
    counts = pd.read_csv(REFERENCE / "fig4/operations.csv").set_index(["method", "features"])[
        "multiplications"
    ]
    renewed = counts["moml_frame"] + counts["renewal"] / 256
    tables = {"moml": counts["moml"], "moml_frame": counts["moml_frame"], "renewed": renewed}
    growth = pd.read_csv(REFERENCE / "bench/growth.csv").set_index("propagation")
    times = pd.read_csv(REFERENCE / "bench/per_triplet.csv").set_index(["features", "method"])["ours us"]
    widths = times.index.get_level_values(0).unique()
    ratios = {d: times[d, "MOML, M only"] / times[d, "OPML"] for d in widths}
    stack = "MLOML-r, 3 layers, FP"
    found: dict = {"power_measured": growth.loc["fp", "exponent in features"]}
    found["power_again"] = np.log(times[400, stack] / times[100, stack]) / np.log(4)
    for name, part in (("narrow", (4, 21, 57)), ("wide", (100, 200, 400))):
        some = [ratios[d] for d in part]
        found[f"time_{name}"] = f"{min(some):.2f} to {max(some):.2f}"
    found |= {f"power_{name}": np.log(n[400] / n[100]) / np.log(4) for name, n in tables.items()}
    for name in ("moml", "moml_frame"):
        ratios = sorted(median[:, name] / median[:, "opml"])
        found[f"time_{name}"] = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    return found


def freedom() -> dict:
    """Test every value of a knob against the default once more, from the cells."""
    knobs = yaml.safe_load(
        (oracle.ROOT / "src/mloml/report/artefacts/ablation.yaml").read_text(encoding="utf-8")
    )
    wide = {ties: errors(f"ablation/ties_{ties}") for ties in ("smallest", "alphabetical", "nearest")}

    def column(name: str) -> pd.Series:
        ties = next((end for end in ("alphabetical", "nearest") if name.endswith(f"_{end}")), "smallest")
        return wide[ties][name.removesuffix(f"_{ties}")]

    rows, totals, eigen = [], [0, 0, 0, 0], []
    for knob in knobs:
        for value, methods in knob["values"].items():
            for method, name in methods.items():
                if value == knob["default"]:
                    continue
                gaps = column(name) - column(knob["values"][knob["default"]][method])
                parts = dict(list(gaps.groupby(level="dataset")))
                same = [(part.abs() < 1e-12).all() for part in parts.values()]
                plain, marks = zip(*(both_marks(-part) for part in parts.values()), strict=True)
                largest = max((part.mean() for part in parts.values()), key=abs)
                eigen += [part.mean() for part in parts.values()] if value == "eigenfactor" else []
                rows.append([sum(same), marks.count("win"), marks.count("loss"), round(largest, 3)])
                totals[0] += len(parts)
                totals[1] += marks.count("win") + marks.count("loss")
                totals[2] += sum(same)
                totals[3] += plain.count("win") + plain.count("loss")
    balance = [
        wide[ties]["mloml_r"].loc["balance"].mean() for ties in ("smallest", "alphabetical", "nearest")
    ]
    return {
        "ablation": rows,
        "ablation_cases": totals[0],
        "ablation_moved": totals[1],
        "ties": balance,
        "ablation_equal": totals[2],
        "ablation_paired": totals[3],
        "eigen_cases": len(eigen),
        "eigen_higher": sum(change > 1e-9 for change in eigen),
        "eigen_most": max(eigen),
    } | untuned()


def untuned() -> dict:
    arms = {"untuned": errors("untuned/untuned"), "tuned": errors("untuned/tuned")}
    arms["untuned"] = arms["untuned"].rename(index=oracle.VARIANTS, level="dataset")
    rows = []
    for cell in printed("table2").to_dict("records"):
        place = cell["dataset"], cell["algorithm"]
        pair = []
        for wide in arms.values():
            known = place[0] in wide.index.get_level_values(0) and place[1] in wide
            mine = wide.loc[place[0]][place[1]].dropna() if known else []
            if len(mine) == 30:
                z, _, found = oracle.welch(mine, float(cell["error"]), float(cell["std"]))
                pair.append((2 * found.sf(abs(z)) >= 0.05, z**2))
        if len(pair) == 2:
            rows.append((*place, *pair[0], *pair[1]))
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "agrees", "z2", "agrees_2", "z2_2"])
    found = []
    for wrong in ([], ["spect_paper", "mlprove_paper"]):
        for names in (list(table["algorithm"].unique()), OWN):
            part = table[~table["dataset"].isin(wrong) & table["algorithm"].isin(names)]
            found += [[len(part), part[f"agrees{e}"].sum(), part[f"z2{e}"].mean()] for e in ("", "_2")]
    return {"untuned": found}


def elsewhere() -> dict:
    """Count verdicts; the tests behind them are recomputed in test_others and test_streams."""
    found = ("beyond/over_sets", "depth/over_sets", "streams/tests")
    pairs, depth, streams = (pd.read_csv(REFERENCE / f"{name}.csv") for name in found)
    rivals = pairs[pairs["test"].isin(["layers", "rivals"])].fillna({"verdict": ""})
    larger = rivals[rivals["verdict"] == "larger"]
    online = ["rdml", "lego", "oasis", "opml", "slmoml", *OWN]
    plain = pairs[(pairs["test"] == "euclidean") & pairs["algorithm"].isin(online)]
    learned = pairs[pairs["test"] == "untrained"]
    found: dict = {}
    for study in ("clean", "standardised"):
        words = list(plain[plain["study"] == study]["verdict"])
        found |= {f"online_{study}": words.count("smaller"), f"worse_{study}": words.count("larger")}
        found[f"learned_{study}"] = list(learned[learned["study"] == study]["verdict"]).count("smaller")
    chosen = depth[depth["test"] == "depth"].fillna({"verdict": ""})
    new, rest = chosen[chosen["group"] == "new"], chosen[chosen["group"] == "untouched"]
    against = [row["reference"] for _, row in new.iterrows() if row["verdict"] == "smaller"]
    known = ("euclidean", "mloml_r_3", "mloml_r_5")
    assert set(against) <= {*known, "mloml_r_1", "mloml_s_1", "mloml_t_1"}  # the others: deep ReLU stacks
    batch = depth[(depth["test"] == "batch") & (depth["group"] == "new")].fillna({"verdict": ""})
    metric = streams[streams["test"] == "plain"]
    others = streams[streams["test"] == "others"]
    first = metric.sort_values("p").iloc[0]
    return found | {
        "new_sets": pairs["sets"].max(),
        "rivals_pairs": len(rivals),
        "rivals_smaller": list(rivals["verdict"]).count("smaller"),
        "rivals_larger": len(larger),
        "rivals_larger_to": {(row, n) for row, n in larger.groupby("reference").size().items()},
        "rivals_larger_r": (larger["algorithm"] == "mloml_r").sum(),
        "online": len(online),
        "depth_cases": len(new),
        "depth_helps": len(against),
        "depth_harms": list(new["verdict"]).count("larger"),
        "depth_euclidean": against.count("euclidean"),
        "depth_one": sum(name in ("mloml_r_1", "mloml_s_1", "mloml_t_1") for name in against),
        "batch_cases": len(batch),
        "batch_helps": list(batch["verdict"]).count("smaller"),
        "batch_harms": list(batch["verdict"]).count("larger"),
        "unseen_sets": rest["sets"].max(),
        "unseen_helps": list(rest["verdict"]).count("smaller"),
        "streams": 11,
        "stream_learners": len(metric),
        "stream_helps": list(metric["verdict"]).count("helps"),
        "stream_harms": list(metric["verdict"]).count("harms"),
        "stream_first": TITLES[first["algorithm"]],
        "stream_first_higher": first["higher"],
        "stream_first_lower": first["lower"],
        "stream_first_p": first["p_holm"],
        "stream_learned": len(streams.query("test == 'untrained' and verdict == 'learning helps'")),
        "stream_stacks": len(streams.query("test == 'untrained'")),
        "stream_pairs": len(others),
        "stream_ahead": list(others["verdict"]).count("ahead"),
        "stream_ahead_tree": len(others.query("verdict == 'ahead' and reference == 'hoeffding_tree'")),
        "stream_behind": list(others["verdict"]).count("behind"),
    }


def claims() -> dict:
    table = oracle.csv("claims/claims")
    table = table[table["kind"] == "claimed"]
    return {"claims": [tuple(row) for row in table[["reproduced", "valid", "general"]].to_numpy()]}


PARTS = (
    agreement, worth, conclusions, learning, accidents, curves, propagation, theory, cost, freedom,
    elsewhere, claims,
)  # fmt: skip


def entries(text: str) -> set[tuple[str, str]]:
    """Return method and data set of every entry in a text such as "MOML on *spect*, MLOML-t on *iris*"."""
    pairs = re.findall(r"([\w-]+) on \*(\w+)\*", text)
    return {(NAMES[title], oracle.VARIANTS.get(row, row)) for title, row in pairs}


@pytest.fixture(scope="module")
def found() -> dict:
    """The report's numbers, with its lists of names in the form that they are counted in here."""
    numbers = dict(report.numbers())
    keys = ("cells", "agree", "lower", "higher", "z2")
    numbers["agreement"] = [row[key] for row in numbers["agreement"] for key in keys]
    numbers["own_missed"] = entries(numbers["own_missed"])
    gains = [text.split(": ") for text in numbers["gain_not"].split("; ")]
    listed = ", ".join(f"{title} on {row}" for row, titles in gains for title in titles.split(", "))
    numbers["gain_not"] = entries(listed)
    rows = re.findall(r"\*(\w+)\*", numbers["scan_higher_on"])
    numbers["scan_higher_on"] = {oracle.VARIANTS.get(row, row) for row in rows}
    for name in ("t1_most", "t1_next"):
        most = re.findall(r"\*(\w+)\* \((\d+)%\)", numbers[name])
        numbers[name] = {(oracle.VARIANTS.get(row, row), int(share)) for row, share in most}
    to = re.findall(r"(\d+) against ([\w-]+)", numbers["rivals_larger_to"])
    numbers["rivals_larger_to"] = {(NAMES[title], int(count)) for count, title in to}
    numbers["claims"] = [row[1:] for row in numbers["claims"]]
    said = [[row[key] for key in ("unchanged", "lower", "higher", "largest")] for row in numbers["ablation"]]
    numbers["ablation"] = [[*row[:3], float(row[3].replace("−", "-"))] for row in said]
    numbers["untuned"] = [[row[key] for key in ("entries", "agrees", "z2")] for row in numbers["untuned"]]
    return numbers


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_numbers(part, found):
    for name, value in part().items():
        if isinstance(value, list) and value and isinstance(value[0], list):
            assert len(value) == len(found[name]), name
            for mine, theirs in zip(value, found[name], strict=True):
                assert theirs == pytest.approx(mine, rel=1e-6, abs=1e-9), name
        elif isinstance(value, str | set | tuple) or name == "claims":
            assert found[name] == value, name
        else:
            assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-9), name


def test_no_number_is_left_out(found):
    assert set(found) == {name for part in PARTS for name in part()}


def test_the_page_is_what_the_results_give():
    assert (report.FOLDER / "report.md").read_text(encoding="utf-8") == report.page(report.numbers())


def test_what_the_report_says_in_words(found):
    """Its sentences name these things without a number."""
    cells = oracle.csv("table2/paper_comparison").astype({"statistic": float})
    missed = cells[(cells["verdict"] != "agrees") & ~cells["algorithm"].isin(OWN)]
    named = missed["algorithm"].isin(["mlcc", "lmnn", "slmoml", "kissme", "rdml"])
    assert named.sum() > len(missed) / 2
    squares = cells[~cells["algorithm"].isin([*OWN, *REBUILT])]["statistic"] ** 2
    assert squares.max() > squares.sum() / 2
    assert found["stay"] + found["to_tie"] + found["reversed"] == found["cases"]
    wins, _, losses = map(int, found["bp_chosen"].split("/"))
    assert wins <= losses
    assert found["rivals_smaller"] == 0
    tried = pd.read_csv(REFERENCE / "bench/labels.csv").query("dataset == 'spect'")
    assert tried["error"].idxmax() == tried.index[-1] and found["spect_next"] < found["spect_best"] - 0.05
    steps = oracle.csv("differences/verdicts").query("knob == 'lmnn_steps'")
    agree = (steps["verdict"] == "agrees").groupby(steps["value"].astype(int)).sum()
    assert len(agree) == 5 and agree.max() == agree[agree.index.max()]
