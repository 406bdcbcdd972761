"""Tables II and III, seeds and protocols: published verdicts, marks and counts, from the cells once more."""

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats
from tests.published import oracle
from tests.published.oracle import STACKS, both_marks, claim, csv, errors, needs_reference, numbers, printed

pytestmark = needs_reference
OWN = ("moml", "mloml_t", "mloml_s", "mloml_r")
REBUILT = ("mlcc", "slmoml")
WORDS = {"agrees": "agrees", "lower": "differs: ours lower", "higher": "differs: ours higher"}


def compared(run: str, table: str) -> pd.DataFrame:
    """Return every cell that the paper has too: whether it agrees, its mark and ours by both tests."""
    wide, rows = errors(run), []
    for cell in printed(table).to_dict("records"):
        if cell["dataset"] in wide.index.get_level_values(0):
            mine = wide.loc[cell["dataset"]]
            reference = cell["algorithm"][:7] if table == "table3" else "mloml_r"
            difference = mine[cell["algorithm"]] - mine[reference]
            plain, corrected = both_marks(difference)
            itself = cell["algorithm"] == reference
            rows.append(
                {
                    "dataset": cell["dataset"],
                    "algorithm": cell["algorithm"],
                    "verdict": WORDS[
                        oracle.welch_verdict(mine[cell["algorithm"]], cell["error"], cell["std"])
                    ],
                    "paper_mark": "" if itself else cell.get("corrected_mark", cell["mark"]),
                    "our_mark": "" if itself else plain,
                    "our_mark_corrected": "" if itself else corrected,
                    "p_wilcoxon": oracle.wilcoxon(difference),
                    "difference": difference.mean(),
                }
            )
    return pd.DataFrame(rows).set_index(["dataset", "algorithm"])


@pytest.fixture(scope="module")
def second():
    return compared("table2", "table2")


@pytest.fixture(scope="module")
def third():
    return compared("table3", "table3")


def agreeing(cells: pd.DataFrame) -> int:
    return int((cells["verdict"] == "agrees").sum())


def of(cells: pd.DataFrame, names) -> pd.DataFrame:
    return cells[cells.index.get_level_values("algorithm").isin(names)]


@pytest.mark.parametrize("name", ["table2", "table3"])
def test_every_verdict_and_every_mark(name, request):
    mine = request.getfixturevalue("second" if name == "table2" else "third")
    shown = csv(f"{name}/paper_comparison").set_index(["dataset", "algorithm"])
    assert set(shown.index) == set(mine.index)
    columns = ["verdict", "paper_mark", "our_mark", "our_mark_corrected"]
    assert (shown[columns] == mine.loc[shown.index, columns]).all(axis=None)


def test_counts_of_table_two_and_its_headline(second):
    others = second[second["our_mark"] != ""]
    kinds = csv("table2/paper_comparison_kinds").set_index("kind")["agrees"].astype(int).to_list()
    baselines = set(second.index.get_level_values("algorithm")) - {*OWN, *REBUILT}
    assert kinds == [
        agreeing(part) for part in (of(second, OWN), of(second, baselines), of(second, REBUILT), second)
    ]
    tests = csv("table2/tests").set_index(["dataset", "algorithm"]).loc[others.index]
    assert (tests["mark_holm"] != "tie").sum() == (oracle.holm(others["p_wilcoxon"]) < 0.05).sum()
    counts = csv("table2/win_tie_loss").set_index("algorithm")
    for name, part in others.groupby(level="algorithm"):
        assert "/".join(map(str, counts.loc[name, ["win", "tie", "loss"]])) == oracle.wtl(part["our_mark"])
    lower, higher = ((second["verdict"] == WORDS[word]).sum() for word in ("lower", "higher"))
    said = numbers(oracle.headline("table2"))
    assert {len(second), agreeing(second), lower, higher} <= set(said)


def worth(pairs) -> list[float]:
    """Count pairs that agree, with and without rounding, and that are equivalent; return the mean z² too."""
    agree, squares = [], []
    for mine, cell in pairs:
        (t, error, found), (exact, _, bare) = (
            oracle.welch(mine, cell["error"], cell["std"], variance) for variance in (0.001**2 / 12, 0.0)
        )
        both = [2 * found.sf(abs(t)) >= 0.05, 2 * bare.sf(abs(exact)) >= 0.05]
        one_sided = [max(found.sf(t + m / error), found.cdf(t - m / error)) for m in (0.01, 0.02, 0.03)]
        agree.append([1, *both, *(p < 0.05 for p in one_sided)])
        squares.append(t**2)
    return [*np.sum(agree, axis=0), np.mean(squares)]


@pytest.mark.parametrize("table", ["table2", "table3"])
def test_what_agreement_is_worth(table):
    wide, cells = errors(table), printed(table).to_dict("records")
    cells = [cell for cell in cells if cell["dataset"] in wide.index.get_level_values(0)]
    names = dict.fromkeys(cell["algorithm"] for cell in cells)
    own = [name for name in names if name.startswith(OWN)]
    kinds = [
        own,
        [name for name in names if name not in (*own, *REBUILT)],
        [n for n in names if n in REBUILT],
    ]
    kinds = [kind for kind in kinds if kind]
    everything = [(name, name) for name in names]
    wrong = [[(a, b) for a in kind for b in kind if a != b] for kind in kinds]
    right = [[(name, name) for name in kind] for kind in kinds]
    euclidean = [[("euclidean", name) for name in own]] if "euclidean" in names else []
    shown = csv(f"{table}/agreement_worth").iloc[:, 1:].astype(float).to_numpy().tolist()
    groups = [*right, everything, *wrong, *euclidean]
    assert len(shown) == len(groups)
    for row, group in zip(shown, groups, strict=True):
        pairs = [(wide.loc[c["dataset"]][a], c) for a, b in group for c in cells if c["algorithm"] == b]
        assert row == pytest.approx(worth(pairs))
    if table == "table2":
        assert set(shown[len(right) + 1][:2]) <= set(numbers(oracle.headline(table)))


def test_gains_over_euclidean_distance_and_those_that_differ():
    """The printed gain has the paired deviation of ours: the paper does not print it."""
    wide, cells = errors("table2"), printed("table2").set_index(["dataset", "algorithm"])["error"]
    shown = csv("table2/gains_over_euclidean").set_index(["dataset", "algorithm"])
    assert len(shown) == 4 * wide.index.get_level_values(0).drop("spect").nunique()
    differ = 0
    for (dataset, name), row in shown.iterrows():
        gains = wide.loc[dataset]["euclidean"] - wide.loc[dataset][name]
        theirs = cells[dataset, "euclidean"] - cells[dataset, name]
        variance = gains.var(ddof=1) * (1 / len(gains) + 1 / 30) + 2 * 0.001**2 / 12
        t = (gains.mean() - theirs) / np.sqrt(variance)
        p = 2 * stats.t.sf(abs(t), len(gains) - 1)
        assert row[["our_gain", "paper_gain", "p_value"]].astype(float).tolist() == pytest.approx(
            [gains.mean(), theirs, p], abs=1e-9
        )
        assert row["verdict"] == WORDS["agrees" if p >= 0.05 else "lower" if t < 0 else "higher"]
        differ += p < 0.05
    page = (oracle.REFERENCE / "table2/table2.md").read_text(encoding="utf-8")
    (sentence,) = (line for line in page.split("\n\n") if line.startswith("A gain over Euclidean"))
    assert {len(shown), len(shown) - differ} <= set(numbers(sentence))


def test_claims_on_table_two(second):
    for beginning, cells in (
        ("Table II: the error rates of MOML", of(second, OWN)),
        ("Table II: the error rates of the ten", second.drop(of(second, OWN).index)),
    ):
        row = claim(beginning)
        assert row["reproduced"] == oracle.by_share(agreeing(cells), len(cells))
        assert {agreeing(cells), len(cells)} <= set(numbers(row["measured"]))
    others = second[second["our_mark"] != ""]
    online = of(others, ["rdml", "lego", "oasis", "opml", "slmoml", "moml"])
    small = online[online.index.get_level_values("dataset").isin(["lsvt", "iris", "wine", "spect_paper"])]
    for beginning, cells in (("Table II: MLOML-r", others), ("MLOML does better", small)):
        row = claim(beginning)
        same, kept = answers_by_marks(cells, row["reproduced"], row["valid"])
        assert {same, kept, len(cells)} <= set(numbers(row["measured"]))
        for column in ("paper_mark", "our_mark", "our_mark_corrected"):
            assert oracle.wtl(cells[column]) in row["measured"]


def answers_by_marks(cells: pd.DataFrame, reproduced: str, *valid: str) -> tuple[int, int]:
    """Check answers, and return how many conclusions are the paper's and how many of its wins are kept."""
    same = (cells["paper_mark"] == cells["our_mark"]).sum()
    wins = cells[cells["paper_mark"] == "win"]
    kept = (wins["our_mark_corrected"] == "win").sum()
    assert reproduced == oracle.by_share(same, len(cells))
    assert not valid or valid[0] == oracle.by_share(kept, len(wins))
    return same, kept


def test_claims_on_table_three(third):
    only = third[third["our_mark"] != ""]
    ends = only.index.get_level_values("algorithm").str
    bp, fbp = only[ends.endswith("_bp")], only[ends.endswith("_fbp")]
    row = claim("Table III: the error rates")
    assert {agreeing(only), len(only)} <= set(numbers(row["measured"]))
    assert row["reproduced"] == oracle.by_share(agreeing(only), len(only))
    wide = errors("table3")
    chosen = [
        both_marks(wide.loc[dataset][f"{name}_cv"] - wide.loc[dataset][name[:7]])
        for dataset, name in bp.index
    ]
    row = claim("Table III: forward")
    marks = [bp["our_mark"], bp["our_mark_corrected"], *zip(*chosen, strict=True)]
    assert all(oracle.wtl(found) in row["measured"] for found in marks)
    same, kept = answers_by_marks(bp, row["reproduced"])
    theirs = zip(bp["paper_mark"], chosen, strict=True)
    later = sum(paper == corrected == "win" for paper, (_, corrected) in theirs)
    assert {same, kept, later} <= set(numbers(row["measured"]))
    assert row["valid"] == oracle.by_share(min(kept, later), (bp["paper_mark"] == "win").sum())
    row = claim("Table III: FP does as well")
    same, _ = answers_by_marks(fbp, row["reproduced"])
    assert {same, len(fbp)} <= set(numbers(row["measured"]))
    assert row["valid"] == ("no" if (fbp["our_mark_corrected"] == "loss").any() else "in part")
    printed_marks = pd.read_csv(oracle.PAPER / "table3.csv").query("mark != corrected_mark")
    assert all(dataset in row["measured"] for dataset in printed_marks["dataset"]) and len(printed_marks) == 3


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(("rate", "end"), [("bp", ""), ("bp_cv", "_cv")])
def test_the_lead_of_fp_over_bp_at_both_rates(stack, rate, end):
    wide = errors("table3")
    shown = csv("table3/bp_rate").set_index(["activation", "dataset"]).loc[stack]
    for dataset, lead in (wide[f"{stack}_{rate}"] - wide[stack]).groupby(level="dataset"):
        row = shown.loc[dataset]
        assert float(row[f"lead{end}"]) == pytest.approx(lead.mean(), abs=1e-9)
        assert (row[f"mark{end}"], row[f"mark_corrected{end}"]) == both_marks(lead)


def test_who_leads_after_one_scan_and_when_the_other_gets_there():
    scans = oracle.points("table3/scan_errors").drop(index="spect")
    wide = scans.unstack("algorithm").swaplevel(axis=1)  # noqa: PD010
    row = claim("FP vastly")
    said = set(numbers(row["measured"]))
    for rate in ("bp", "bp_cv"):
        leads = [
            (*both_marks(lead), lead.mean() > 1e-9)
            for stack in STACKS
            for _, lead in (wide[f"{stack}_{rate}", 1] - wide[f"{stack}_fbp", 1]).groupby(level="dataset")
        ]
        corrected, lower = [mark for _, mark, _ in leads], sum(mean for *_, mean in leads)
        assert oracle.wtl(corrected) in row["measured"] and {lower, len(leads)} <= said
        column, part = ("reproduced", lower) if rate == "bp" else ("valid", corrected.count("win"))
        assert row[column] == oracle.by_share(part, len(leads))
        until: dict[str, list[float]] = {"fbp": [], "bp": []}
        for stack in STACKS:
            fbp, bp = wide[f"{stack}_fbp"].to_numpy(), wide[f"{stack}_{rate}"].to_numpy()
            for leader, ahead, behind in (("fbp", fbp, bp), ("bp", bp, fbp)):
                for mine, theirs in zip(ahead, behind, strict=True):
                    if mine[0] < theirs[0]:
                        reached = np.flatnonzero(theirs <= mine[0])
                        until[leader].append(reached[0] + 1 if len(reached) else np.inf)
        never = {np.isinf(found).sum() for found in until.values()}
        medians = {np.median(found) for found in until.values()} - {np.inf}
        assert {3 * len(wide), *map(len, until.values()), *never, *medians} <= said


def test_conclusions_from_two_seeds():
    first, again = (compared(f"seeds/seed{seed}", "table2") for seed in (0, 1))
    both = csv("seeds/both").set_index(["dataset", "algorithm"])
    for column in ("verdict", "our_mark", "our_mark_corrected"):
        assert (both[column] == first.loc[both.index, column]).all()
        assert (both[f"{column}_2"] == again.loc[both.index, column]).all()
    others = first[first["our_mark"] != ""].index
    row = claim("Do the conclusions of Table II")
    stay = {
        c: (first.loc[others, c] == again.loc[others, c]).sum() for c in ("our_mark", "our_mark_corrected")
    }
    assert row["valid"] == oracle.by_share(stay["our_mark"], len(others))
    assert {*stay.values(), len(others)} <= set(numbers(row["measured"]))


def test_only_comparisons_whose_errors_differ_count_between_the_protocols():
    paper, clean = errors("protocols/paper"), errors("protocols/clean")
    shown = csv("protocols/conclusions").set_index(["dataset", "algorithm"])
    total = 0
    for row in paper.index.get_level_values(0).unique().drop("spect"):
        mine, other = paper.loc[row], clean.loc["spect" if row == "spect_paper" else row]
        for name in mine.columns.drop("mloml_r"):
            total += 1
            cell = shown.loc["spect" if row == "spect_paper" else row, name]
            marks = both_marks(mine[name] - mine.mloml_r), both_marks(other[name] - other.mloml_r)
            assert (cell["paper_mark"], cell["paper_mark_corrected"]) == marks[0]
            assert (cell["clean_mark"], cell["clean_mark_corrected"]) == marks[1]
            same = (mine[[name, "mloml_r"]].to_numpy() == other[[name, "mloml_r"]].to_numpy()).all()
            assert (cell["differs_by"] == "") == same
    assert total == len(shown)


def looks() -> dict[tuple[str, str], str]:
    """Return what each cell of both tables was in the choice that used it most, from the list itself."""
    content = yaml.safe_load((oracle.PAPER / "interpretations.yaml").read_text(encoding="utf-8"))
    lists, found = content["lists"], {}
    for look, rows in (("seen", "also_seen"), ("decided", "decided_on")):  # the stronger one last
        for choice in content["choices"]:
            names, sets = (choice.get(key, []) for key in ("judged_by", rows))
            for name in lists[names] if isinstance(names, str) else names:
                for row in lists[sets] if isinstance(sets, str) else sets:
                    found[oracle.VARIANTS.get(row, row), name] = look
    return found


def test_agreement_by_what_was_looked_at_in_choosing_interpretations(second, third):
    known = looks()
    for cells, artefact in ((second, "table2"), (third, "table3")):
        places = [known.get(cell, "new") for cell in cells.index]
        groups = [cells[[place == word for place in places]] for word in ("decided", "seen", "new")]
        last = csv(f"{artefact}/readings").iloc[-1]
        assert list(last[2:]) == [f"{agreeing(part)} of {len(part)}" for part in groups]
    assert known["diabetic", "moml"] == known["mlprove_paper", "moml"] == "decided"
    assert all(
        known["waveform", f"{stack}_{rate}"] == "decided" for stack in STACKS for rate in ("bp", "fbp")
    )
