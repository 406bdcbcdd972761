"""What the README promises: its example runs, its targets and links exist, its numbers are in the results."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = ROOT / "results/reference"
if not (ROOT / "tools/readme.py").exists():
    pytest.skip("the tools are not part of an installed wheel", allow_module_level=True)
from mloml.report.artefacts.claims import claims_frame, read  # noqa: E402
from tools import readme  # noqa: E402


def test_the_example_runs_and_prints_the_scores_it_says(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict = {}
    exec(example, names)
    said = re.search(r"prints (\S+) before, (\S+) with", example)
    before, after = capsys.readouterr().out.split()
    assert (before, after) == said.groups() and float(after) > float(before)
    assert names["stream"].transform(names["X"], layer=1).shape == names["X"].shape


def test_the_make_targets_files_and_links_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    artefacts = {f"reproduce-{path.stem}" for path in ROOT.glob("src/mloml/report/artefacts/*.py")}
    known = set(re.findall(r"^([a-z0-9-]+):", makefile, re.M)) | artefacts
    targets = set(re.findall(r"(?:^|`)make ([a-z][a-z0-9-]+)", README, re.M))
    assert {"test", "reproduce-table2"} <= targets <= known
    named = set(re.findall(r"`((?:docs|results/reference)/[^`\s]*|[A-Z]+(?:\.md|\.cff))`", README))
    assert {"docs/cluster.md", "CONTRIBUTING.md"} <= named
    # Dead on a package index, whose text is made without them (tests/test_packaging.py).
    linked = {path.replace("\\", "") for path in re.findall(r"\]\((?!https?://|#)([^)]*)\)", README)}
    assert all(path.startswith("results/reference/") for path in linked)
    for target in (named | linked) - {"docs/_build/html/index.html", "NAME.md"}:
        assert (ROOT / target).exists(), target


def test_its_blocks_are_what_the_published_results_give():
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


def test_filling_blocks_twice_changes_nothing_and_leaves_the_rest_alone(tmp_path):
    blocks, text = {"sum": lambda folder: folder.name}, "a\n<!-- sum -->\nold\n<!-- /sum -->\nb\n"
    full = readme.fill(text, blocks, tmp_path)
    assert (
        full == f"a\n<!-- sum -->\n{tmp_path.name}\n<!-- /sum -->\nb\n" == readme.fill(full, blocks, tmp_path)
    )
    assert readme.outside(full) == readme.outside(text)
    with pytest.raises(ValueError, match="one block"):
        readme.fill("no blocks", blocks, tmp_path)


def test_the_citation_names_the_paper_with_all_of_its_authors():
    (paper,) = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    assert paper["title"] == "A Multilayer Framework for Online Metric Learning"
    assert " ".join(author["family-names"] for author in paper["authors"]) == "Li Liu Huo Shi Gao Wang Luo"
    assert paper["identifiers"][0]["value"] == "arXiv:1805.05510" and paper["year"] == 2022
