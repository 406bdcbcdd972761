"""What the README promises: its example runs, its targets and links exist, its numbers are in the results."""

import ast
import os
import re
import subprocess
import sys
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
from mloml.report.claims import CLAIMS  # noqa: E402
from mloml.report.recipe import recipes  # noqa: E402
from tools import readme  # noqa: E402


def test_the_example_runs_and_prints_the_scores_it_says(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(example, {})
    said = re.search(r"prints (\S+) before, (\S+) with", example)
    before, after = capsys.readouterr().out.split()
    assert (before, after) == said.groups() and float(after) > float(before)


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


def test_make_help_says_what_every_artefact_is():
    done = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    scripts = {ast.get_docstring(ast.parse(path.read_text())) for path in ROOT.glob("experiments/*.py")}
    assert done.stderr == "" and {"test", "lite"} <= set(targets)
    for name in recipes():
        assert targets[f"reproduce-{name}"] in {text.splitlines()[0] for text in scripts}


def test_its_blocks_are_what_the_published_results_give():
    for name, blocks in readme.PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert readme.fill(text, blocks=blocks) == text, f"{name}: run python -m tools.readme"
    published = pd.read_csv(REFERENCE / "claims" / "claims.csv", keep_default_na=False)
    assert published.to_dict("records") == claims_frame(read(REFERENCE)).to_dict("records")


def test_numbers_of_runs_stand_in_blocks_only():
    prose = re.sub(r"```.*?```", "", readme.outside(README), flags=re.S)
    assert not re.findall(r"(?<![\d\w])\.\d{3}\b|\d+ of (?:our |the )?\d+|\d+(?:\.\d+)? %|\d+/\d+/\d+", prose)


def test_it_is_short_and_python_comes_early():
    assert len(README.splitlines()) <= 110 and len(README.split()) <= 900
    assert len(README[: README.index("```python")].split()) <= 150
    assert all(len(claim.short.split()) <= 8 for claim in CLAIMS)


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


def test_its_commands_do_what_it_says(tmp_path):
    """A stranger types every command of the README but those whose targets are checked above."""
    blocks = re.findall(r"```sh\n(.*?)```", README, re.S)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("mloml ")]
    written = {"reproduce fig7": "fig7.png", "compare": "*.tex", "-m": "*.tex", "report": "index.html"}
    assert len(commands) == len(written)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, (beginning, file) in zip(commands, written.items(), strict=True):
        assert command.startswith(f"mloml {beginning} ") or beginning == "-m"
        before = set((tmp_path / "results").rglob(file))
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert set((tmp_path / "results").rglob(file)) - before, (command, done.stdout)
