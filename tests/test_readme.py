"""What the README promises: its example runs, its targets and links exist, its numbers are in the results."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mloml.report.artefacts.claims import claims_frame, read
from mloml.report.publish import DOCUMENT

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = ROOT / "results/reference"
readme = pytest.importorskip("tools.readme", reason="the tools are not part of an installed wheel")


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


def test_every_file_it_names_or_links_to_exists():
    named = set(re.findall(r"`((?:docs|results/reference)/[^`\s]*|[A-Z]+(?:\.md|\.cff))`", README))
    assert {"docs/cluster.md", "CONTRIBUTING.md"} <= named
    # Dead on a package index, whose text is made without them (tests/test_packaging.py).
    linked = {path.replace("\\", "") for path in re.findall(r"\]\((?!https?://|#)([^)]*)\)", README)}
    assert all(path.startswith("results/reference/") for path in linked)
    for target in (named | linked) - {"docs/_build/html/index.html"}:
        assert (ROOT / target).exists(), target


def test_its_blocks_are_what_the_published_results_give():
    if not any(REFERENCE.glob(f"*/{DOCUMENT}")):
        pytest.skip("results/reference holds no artefact.json yet: it is older than the claim table")
    for name, blocks in readme.PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert readme.fill(text, blocks=blocks) == text, f"{name}: run python tools/readme.py"
    published = pd.read_csv(REFERENCE / "claims" / "claims.csv", keep_default_na=False)
    assert published.to_dict("records") == claims_frame(read(REFERENCE)).to_dict("records")


def test_numbers_of_runs_stand_in_blocks_only():
    prose = re.sub(r"```.*?```", "", readme.outside(README), flags=re.S)
    assert not re.findall(r"(?<![\d\w])\.\d{3}\b|\d+ of (?:our |the )?\d+|\d+(?:\.\d+)? %|\d+/\d+/\d+", prose)


def test_the_first_result_is_within_two_screens():
    before = README[: README.index("<!-- claims -->")]
    assert len(readme.outside(before).splitlines()) < 40
    assert README.index("<!-- picture -->") < README.index("```sh")


def test_blocks_are_filled_from_a_folder_and_filling_twice_changes_nothing(tmp_path):
    text = "a\n<!-- picture -->\nold\n<!-- /picture -->\nb\n<!-- claims --><!-- /claims -->\n"
    text += "<!-- speed -->\n<!-- /speed -->\n"
    bench = tmp_path / "bench"
    bench.mkdir()
    for name in ("per_triplet", "batch"):
        (bench / f"{name}.csv").write_bytes((REFERENCE / "bench" / f"{name}.csv").read_bytes())
    empty = readme.fill(text, tmp_path)
    assert "old" not in empty and "<!-- claims -->\n<!-- /claims -->" in empty
    folder = tmp_path / "table2"
    folder.mkdir()
    (folder / DOCUMENT).write_text(json.dumps({"headline": "7 of 9 agree.", "tables": [], "figures": []}))
    (folder / "agreement.png").write_bytes(b"")
    full = readme.fill(empty, tmp_path)
    assert "(results/reference/table2/agreement.png)\n\n7 of 9 agree." in full
    assert "| Theorem 2: " in full and "not run yet: `make reproduce-theory`" in full
    assert readme.fill(full, tmp_path) == full
    assert readme.outside(full) == readme.outside(text)
    with pytest.raises(ValueError, match="one block"):
        readme.fill("no blocks", tmp_path)


def test_the_citation_names_the_paper_with_all_of_its_authors():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    (paper,) = citation["references"]
    assert paper["title"] == "A Multilayer Framework for Online Metric Learning"
    assert [author["family-names"] for author in paper["authors"]] == [
        "Li", "Liu", "Huo", "Shi", "Gao", "Wang", "Luo"
    ]  # fmt: skip
    assert paper["identifiers"][0]["value"] == "arXiv:1805.05510" and paper["year"] == 2022
