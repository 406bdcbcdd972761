"""Every number of the report and of the README's findings, from the published files once more."""

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
PUBLISHED = [REFERENCE, REFERENCE.parent / "provisional"]


def beside(name: str) -> pd.DataFrame:
    """Return a table of the reference, or a provisional one."""
    return next(pd.read_csv(at / f"{name}.csv") for at in PUBLISHED if (at / f"{name}.csv").is_file())


def differ(mine: pd.Series, mean: float, std: float) -> bool:
    return oracle.welch_verdict(mine, mean, std) != "agrees"


def agreement() -> dict:
    wide, theirs = errors("table2"), printed("table2")
    theirs = theirs[theirs["dataset"].isin(wide.index.get_level_values("dataset"))]
    cells = theirs.set_index(["dataset", "algorithm"])[["error", "std"]].astype(float)
    rows = []
    for (dataset, name), (mean, std) in cells.iterrows():
        z, *_ = oracle.welch(wide.loc[dataset, name], mean, std)
        group = "own" if name in OWN else "rebuilt" if name in REBUILT else "baselines"
        side = np.sign(z) if differ(wide.loc[dataset, name], mean, std) else 0
        rows.append((group, side, z**2))
    frame = pd.DataFrame(rows, columns=["group", "side", "square"])
    groups = [frame[frame["group"] == g] for g in ("own", "baselines", "rebuilt")] + [frame]
    counted = [
        [len(g), (g["side"] == 0).sum(), (g["side"] < 0).sum(), (g["side"] > 0).sum(), g["square"].mean()]
        for g in groups
    ]
    third, wider = printed("table3"), errors("table3")
    third = third[third["propagation"] != "FP"].set_index(["dataset", "algorithm"])[["error", "std"]]
    third = third[third.index.get_level_values(0).isin(wider.index.get_level_values(0))].astype(float)
    agree = [not differ(wider.loc[d, name], *cell) for (d, name), cell in third.iterrows()]
    tried = yaml.safe_load((PAPER / "interpretations.yaml").read_text(encoding="utf-8"))["choices"]
    return {
        "agreement": [number for row in counted for number in row],
        "own_cells": counted[0][0],
        "own_agree": counted[0][1],
        "own_z2": counted[0][4],
        "sets": cells.index.get_level_values(0).nunique(),
        "paper_sets": printed("table2")["dataset"].nunique(),
        "paper_methods": printed("table2")["algorithm"].nunique(),
        "t3_cells": len(agree),
        "t3_agree": sum(agree),
        "tried": sum(choice["tried"] for choice in tried),
        "questions": len(tried),
    }


def worth() -> dict:
    wide = errors("table2")
    cells = printed("table2").set_index(["dataset", "algorithm"])[["error", "std"]].astype(float)
    sets = [d for d in cells.index.get_level_values(0).unique() if d in wide.index.get_level_values(0)]
    wrong = [not differ(wide.loc[d, a], *cells.loc[(d, b)]) for d in sets for a in OWN for b in OWN if a != b]
    plain = [not differ(wide.loc[d, "euclidean"], *cells.loc[(d, b)]) for d in sets for b in OWN]
    found: dict = {"wrong_agree": sum(wrong), "wrong_cells": len(wrong)}
    found |= {"eucl_agree": sum(plain), "eucl_cells": len(plain)}
    for size in (1, 2, 3):
        within = 0
        for d in sets:
            for a in OWN:
                z, error, distribution = oracle.welch(wide.loc[d, a], *cells.loc[(d, a)])
                within += distribution.sf(size / 100 / error - abs(z)) < 0.05
        found[f"tost_0{size}"] = within
    not_equal = []
    for d in sets:
        for a in OWN:
            gains = wide.loc[d, "euclidean"] - wide.loc[d, a]
            theirs = cells.loc[(d, "euclidean"), "error"] - cells.loc[(d, a), "error"]
            error = (gains.var(ddof=1) * (1 / len(gains) + 1 / 30) + 2 * 0.001**2 / 12) ** 0.5
            if 2 * stats.t.sf(abs(gains.mean() - theirs) / error, len(gains) - 1) < 0.05:
                not_equal.append(d.removesuffix("_paper"))
    names = pd.Series(not_equal).value_counts()
    found["gain_agree"] = 4 * len(sets) - len(not_equal)
    return found | {"gain_not": dict(names)}


def conclusions() -> dict:
    wide, cells = errors("table2"), printed("table2")
    cells = cells[cells["dataset"].isin(wide.index.get_level_values("dataset"))]
    cells = cells[cells["algorithm"] != "mloml_r"]
    gaps = [
        wide.loc[d, a] - wide.loc[d, "mloml_r"]
        for d, a in zip(cells["dataset"], cells["algorithm"], strict=True)
    ]
    cells = cells.assign(marks=[both_marks(gap) for gap in gaps])
    cells = cells.assign(plain=cells["marks"].str[0], corrected=cells["marks"].str[1])
    won, sound = (
        cells[cells["mark"] == "win"],
        cells[~cells["dataset"].isin(["spect_paper", "mlprove_paper"])],
    )
    stacks, cases = errors("untrained").drop(index="spect"), []
    for name in OWN[1:]:
        for _, part in stacks.groupby(level="dataset"):
            gain = {
                "whole": part["euclidean"] - part[name],
                "learning": part[f"{name}_untrained"] - part[name],
            }
            cases.append({step: both_marks(values)[1] for step, values in gain.items()})
    found = pd.DataFrame(cases)
    return {
        "won": len(won),
        "kept": (won["corrected"] == "win").sum(),
        "printed": wtl(cells["mark"]),
        "accident_wins": won["dataset"].isin(["lsvt", "spect_paper", "mlprove_paper"]).sum(),
        "plain": wtl(cells["plain"]),
        "corrected": wtl(cells["corrected"]),
        "sound_plain": wtl(sound["plain"]),
        "sound_corrected": wtl(sound["corrected"]),
        "gain_cases": len(found),
        "whole_wins": (found["whole"] == "win").sum(),
        "learning_wins": (found["learning"] == "win").sum(),
        "learning_losses": (found["learning"] == "loss").sum(),
    }


def accidents() -> dict:
    plain, theirs = errors("table2")["euclidean"].groupby("dataset").mean(), printed("table2")
    theirs = theirs.set_index(["dataset", "algorithm"])["error"]
    drawn = [
        pd.read_csv(path).query("algorithm == 'mloml_r_untrained'")["error"].mean()
        for path in REFERENCE.glob("signs/signs_*/cells.csv")
    ]
    tried = pd.read_csv(REFERENCE / "bench/labels.csv")
    spect = sorted(tried[tried["dataset"] == "spect"]["error"], reverse=True)
    return {
        "spect_columns": len(spect),
        "spect_best": spect[0],
        "spect_next": spect[1],
        "mlprove_true": tried[(tried["dataset"] == "mlprove") & (tried["label"] == "true")]["error"].item(),
        "spect_true": plain["spect"],
        "spect_last": plain["spect_paper"],
        "mlprove_paper_way": plain["mlprove_paper"],
        "spect_paper": theirs["spect_paper", "euclidean"],
        "mlprove_printed": theirs["mlprove_paper", "euclidean"],
        "lsvt_printed": theirs["lsvt", "mloml_r"],
        "sign_draws": len(drawn),
        "signs_low": min(drawn),
        "lsvt_untrained": errors("untrained").loc["lsvt", "mloml_r_untrained"].mean(),
        "signs_high": max(drawn),
    }


def curves() -> dict:
    layers = oracle.points("fig5/layer_errors").xs("mloml_r_5", level="algorithm")
    marks = [both_marks(part[1] - part[5])[1] for _, part in layers.groupby(level="dataset")]
    scans, found = oracle.points("fig7/scan_errors"), []
    gaps = scans.xs("moml", level="algorithm") - scans.xs("mloml_r", level="algorithm")
    for _, part in gaps.groupby(level="dataset"):
        found += [(part[scan].mean(), *both_marks(part[scan])) for scan in range(1, 21)]
    means, plain, corrected = zip(*found, strict=True)
    return {
        "layers_sets": len(marks),
        "layers_lower": marks.count("win"),
        "layers_higher": marks.count("loss"),
        "scan_pairs": len(found),
        "scan_lower": sum(m > 1e-9 for m in means),
        "scan_higher": sum(m < -1e-9 for m in means),
        "scan_paired": plain.count("win"),
        "scan_paired_higher": plain.count("loss"),
        "scan_corrected": corrected.count("win"),
        "scan_corrected_higher": corrected.count("loss"),
    }


def propagation() -> dict:
    wide, found = errors("table3").drop(index="spect"), {}
    for rate in ("bp", "bp_cv"):
        found[rate] = [
            both_marks(part[f"{name}_{rate}"] - part[name])[1]
            for name in OWN[1:]
            for _, part in wide.groupby(level="dataset")
        ]
    return {
        "bp_cases": len(found["bp"]),
        "bp_fixed": found["bp"].count("win"),
        "bp_chosen": found["bp_cv"].count("win"),
        "bp_chosen_worse": found["bp_cv"].count("loss"),
    }


def theory() -> dict:
    steps, regrets = (pd.read_csv(REFERENCE / f"theory/theorem{n}.csv") for n in (1, 2))
    first = steps[steps["layer"] == 1]
    largest = first[first["gamma"] == 0.1]
    wide = oracle.points("theory/layer_errors")
    gaps = np.round(np.diff(wide[[1, 2, 3, 4, 5]].to_numpy(), axis=1), 9)
    phi, T = 8.0, 10**6
    gamma, m, regret = 1 / (phi * T**0.5), 0.0, 0.0
    for _ in range(T):  # M = [[1, m], [m, 1]] under x = (1, 0), x_p = (0, 1), x_q = (0, -1)
        loss = 1 - 4 * m
        if loss <= 0:
            break
        regret, m = regret + loss, m + 2 * gamma  # U's own loss is 0
    return {
        "t1_steps": first["steps_looked_at"].sum(),
        "t1_broken": largest["share_condition_broken"].mean(),
        "t1_leaving": largest["share_leaving_cone"].mean(),
        "t2_cases": len(regrets),
        "t2_above": (regrets["regret"] > regrets["claimed_bound"]).sum(),
        "p1_steps": gaps.size,
        "p1_no_worse": (gaps <= 0).mean(),
        "p1_better": (gaps < 0).mean(),
        "ce_phi": phi,
        "ce_T": T,
        "ce_regret": regret,
        "ce_bound": 0.5 * 2 * 0.25**2 + 32 / phi**2,
    }


def elsewhere() -> dict:
    """Count verdicts; the tests behind them are recomputed in test_others and test_streams."""
    pairs, depth, streams = beside("beyond/over_sets"), beside("depth/over_sets"), beside("streams/tests")
    rivals = list(pairs[pairs["test"].isin(["layers", "rivals"])]["verdict"].fillna(""))
    online = ["rdml", "lego", "oasis", "opml", "slmoml", *OWN]
    better = pairs[(pairs["test"] == "euclidean") & (pairs["verdict"] == "smaller")]
    better = list(better[better["algorithm"].isin(online)]["study"])
    chosen = list(depth[(depth["group"] == "new") & (depth["test"] == "depth")]["verdict"].fillna(""))
    plain = list(streams[streams["test"] == "plain"]["verdict"])
    others = list(streams[streams["test"] == "others"]["verdict"])
    folder = next(at for at in PUBLISHED if (at / "streams").is_dir()) / "streams"
    return {
        "new_sets": pairs["sets"].max(),
        "rivals_pairs": len(rivals),
        "rivals_smaller": rivals.count("smaller"),
        "rivals_larger": rivals.count("larger"),
        "online": len(online),
        "online_clean": better.count("clean"),
        "online_standardised": better.count("standardised"),
        "depth_cases": len(chosen),
        "depth_helps": chosen.count("smaller"),
        "depth_harms": chosen.count("larger"),
        "streams": 11,
        "stream_learners": len(plain),
        "stream_helps": plain.count("helps"),
        "stream_harms": plain.count("harms"),
        "stream_pairs": len(others),
        "stream_ahead": others.count("ahead"),
        "stream_behind": others.count("behind"),
        "streams_at": folder.relative_to(oracle.ROOT).as_posix(),
    }


PARTS = (agreement, worth, conclusions, accidents, curves, propagation, theory, elsewhere)


@pytest.fixture(scope="module")
def found() -> dict:
    numbers = report.numbers()
    rows = [row[key] for row in numbers["agreement"] for key in ("cells", "agree", "lower", "higher", "z2")]
    names = [text.strip("*)").split("* (") for text in numbers["gain_not"].split(", ")]
    return {**numbers, "agreement": rows, "gain_not": {name: int(count) for name, count in names}}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_numbers(part, found):
    for name, value in part().items():
        exact = isinstance(value, str | dict)
        assert found[name] == (value if exact else pytest.approx(value, rel=1e-6, abs=1e-9)), name


def test_no_number_is_left_out(found):
    assert set(found) == {name for part in PARTS for name in part()}


def test_the_page_is_what_the_results_give():
    assert (report.FOLDER / "report.md").read_text(encoding="utf-8") == report.page(report.numbers())
