"""What the README promises: its example runs, and its make targets exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict = {}
    exec(example, names)
    assert names["stream"].transform(names["X"], layer=1).shape == names["X"].shape


def test_the_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    figures = re.search(r"^FIGURES := (.*)$", makefile, re.M)
    known = set(re.findall(r"^([a-z0-9-]+):", makefile, re.M)) | {
        f"reproduce-{f}" for f in figures[1].split()
    }
    named = set(re.findall(r"(?:^|`)make ([a-z][a-z0-9-]+)", README, re.M))
    assert {"test", "reproduce-table2"} <= named <= known


def test_every_folder_and_page_it_links_to_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
