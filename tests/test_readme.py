"""What the README promises: its example runs, its make targets exist, its numbers are in the results."""

import re
from pathlib import Path

import pandas as pd

from mloml.analysis import paper
from mloml.analysis.paper.published import ACCIDENTS, ALGORITHMS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_prints_the_scores_it_says(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict = {}
    exec(example, names)
    said = re.search(r"prints (\S+) before, (\S+) with", example)
    before, after = capsys.readouterr().out.split()
    assert (before, after) == said.groups() and float(after) > float(before)
    assert names["stream"].transform(names["X"], layer=1).shape == names["X"].shape


def test_the_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    artefacts = re.search(r"^ARTEFACTS := (.*)$", makefile, re.M)[1].split()
    known = set(re.findall(r"^([a-z0-9-]+):", makefile, re.M)) | {f"reproduce-{name}" for name in artefacts}
    named = set(re.findall(r"(?:^|`)make ([a-z][a-z0-9-]+)", README, re.M))
    assert {"test", "reproduce-table2"} <= named <= known


def test_every_folder_and_page_it_names_exists_and_no_link_is_relative():
    assert not re.findall(r"\]\((?!https?://|#)", README), "a relative link is dead on a package index"
    named = set(re.findall(r"`((?:docs|results/reference)/[^`\s]*|[A-Z]+(?:\.md|\.cff))`", README))
    assert {"docs/cluster.md", "CONTRIBUTING.md", "results/reference/table2/table2.md"} <= named
    for target in named - {"docs/_build/html/index.html"}:
        assert (ROOT / target).exists(), target


def test_its_error_rates_are_those_of_the_reference_results_and_of_the_paper():
    runs = (ROOT / "results/reference" / name / "table2.csv" for name in ("table2", "table2_uci"))
    bundled, fetched = (pd.read_csv(path, dtype=str).set_index("dataset") for path in runs)
    published = paper.table2().set_index(["dataset", "algorithm"])["error"]
    (table,) = re.findall(r"^\| \| Euclidean \|.*?\n\n", README, re.M | re.S)
    header, _, *rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line
    ]
    for label, *cells in rows:
        row = label.split()[0]
        dataset = ACCIDENTS.get(row, row)
        for algorithm, cell in zip(header[1:], cells, strict=True):
            mean = (fetched if dataset in fetched.index else bundled).loc[dataset, algorithm].split("±")[0]
            theirs = f"{published[row, ALGORITHMS[algorithm]]:.3f}".removeprefix("0")
            assert cell == f"{mean} ({theirs})", (dataset, algorithm)


def test_its_counts_are_those_of_the_reference_results():
    table2, table3, protocols = (
        (ROOT / "results/reference" / name / "findings.md").read_text(encoding="utf-8")
        for name in ("table2", "table3", "protocols")
    )
    cells, agree, lower, higher, same, conclusions = _numbers(
        r"Of (\d+) cells.*?, (\d+) agree.*?; in (\d+).*?lower, in (\d+) higher.*?in (\d+) of (\d+) cells",
        table2,
    )
    assert f"{agree} of the {cells} cells" in README
    assert f"in {lower} our error is lower, in {higher} higher" in README
    assert f"in {same} of {conclusions} comparisons" in README
    marks, survive = _numbers(r"Of (\d+) marks.*?, (\d+) survive", table2)
    assert f"of our {marks} significant ones only {survive} survive" in " ".join(README.split())
    cells, agree, same, conclusions = _numbers(
        r"Of (\d+) cells.*?, (\d+) agree.*?in (\d+) of (\d+) cells", table3
    )
    assert f"{agree} of {cells} cells agree with the paper, {same} of {conclusions} conclusions" in README
    shares = re.findall(r"MLOML-[rst] (all|none|\d+ %)", table3)[:3]
    assert f"{shares[0]}, {shares[1]} and {shares[2]} of FP's lead" in " ".join(README.split())
    uci = (ROOT / "results/reference/table2_uci/findings.md").read_text(encoding="utf-8")
    cells, agree = _numbers(r"Of (\d+) cells.*?, (\d+) agree", uci)
    assert f"On lsvt and mlprove {agree} of {cells} do" in README
    kept, compared = _numbers(r"(\d+) of (\d+) conclusions", protocols)
    assert f"{kept} of {compared} conclusions" in README


def _numbers(pattern, text):
    return re.search(pattern, text, re.S).groups()
