"""The pages' own checks: dead links are found, every learner has its page, every Python block is Python."""

import ast
import re
from pathlib import Path
from runpy import run_path
from textwrap import dedent

import mloml

DOCS = Path(__file__).parents[1] / "docs"


def test_links_to_missing_pages_and_anchors_are_found(tmp_path):
    links = '<a href="b.html#here">x</a><a href="#top">y</a><a href="https://x.org/">z</a>'
    (tmp_path / "a.html").write_text(links)
    links = '<p id="here"><a href="a.html"></a><img src="none.png"><a href="a.html#no">'
    (tmp_path / "b.html").write_text(links)
    dead = run_path(str(DOCS / "check_links.py"))["dead_links"](tmp_path)
    assert dead == ["a.html: #top", "b.html: none.png", "b.html: a.html#no"]


def test_every_learner_has_a_page_in_the_reference():
    listed = set(re.findall(r"^ +mloml\.(\w+)$", (DOCS / "api/index.md").read_text(encoding="utf-8"), re.M))
    assert listed == set(mloml.__all__)


def test_python_in_the_pages_parses_and_the_first_metric_scores_what_it_says(capsys):
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"```python\n(.*?) *```", page.read_text(encoding="utf-8"), re.S):
            ast.parse(dedent(block))
    start = (DOCS / "start.md").read_text(encoding="utf-8")
    (block, said) = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", start, re.S).groups()
    exec(block, {})
    assert capsys.readouterr().out == said
