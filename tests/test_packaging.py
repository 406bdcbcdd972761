"""What is installed: a wheel that works in any folder, a source distribution that is whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import mloml

ROOT = Path(__file__).parents[1]

pytest.importorskip("build")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


def run(*command, cwd, **surroundings):
    outcome = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        timeout=850,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout + outcome.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(dist, tmp_path_factory):
    """An environment with the wheel and, by a path, the packages of this one; not this one's mloml."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    (wheel,) = dist.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def test_twine_and_check_wheel_contents_find_nothing(dist):
    pytest.importorskip("twine")
    pytest.importorskip("check_wheel_contents")
    files = sorted(dist.iterdir())
    assert len(files) == 2
    run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=dist)
    run(sys.executable, "-m", "check_wheel_contents", *dist.glob("*.whl"), cwd=dist)


def test_the_wheel_has_the_configs_the_types_and_the_version(dist):
    (wheel,) = dist.glob("*.whl")
    assert wheel.name.split("-")[1] == mloml.__version__
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"mloml/py.typed", "mloml/conf/config.yaml", "mloml/river.py"} <= names
    assert all(name.startswith(("mloml/", "mloml-")) for name in names)


def test_the_text_on_a_package_index_links_to_no_file_beside_it(dist):
    (wheel,) = dist.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    text = archive.read(name).decode().partition("\n\n")[2]
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []
    # Nothing else is lost: heading for heading and row for row it is the README.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for start in ("#", "| "):
        written = [line for line in readme.splitlines() if line.startswith(start)]
        assert len([line for line in text.splitlines() if line.startswith(start)]) == len(written) > 0


def test_the_source_distribution_has_what_its_makefile_needs(dist):
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    needed = {
        "Makefile",
        "constraints.txt",
        "pyproject.toml",
        "README.md",
        "conf/config.yaml",
        "docs/conf.py",
    }
    assert needed <= names
    assert {f"experiments/{path.name}" for path in (ROOT / "experiments").glob("*.py")} <= names
    assert not any(name.startswith(("docs/_build", ".venv")) for name in names)


def test_the_version_stands_in_one_place():
    assert 'dynamic = ["version", "readme"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (cited,) = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert cited == mloml.__version__


def test_a_table_and_the_page_in_an_empty_folder(installed, tmp_path):
    where = run(installed / "python", "-c", "import mloml; print(mloml.__file__)", cwd=tmp_path)
    assert str(installed.parent) in where
    few = (
        "datasets=[iris]",
        "algorithms=[euclidean,kissme,moml,mloml_r]",
    )  # all of them compile for a minute
    run(installed / "mloml", "reproduce", "table2", "protocol=lite", *few, cwd=tmp_path)
    table = (tmp_path / "results/table2/table2.md").read_text(encoding="utf-8")
    assert "iris" in table and "MLOML-r" in table
    run(installed / "mloml", "report", cwd=tmp_path)
    page = (tmp_path / "results/report/index.html").read_text(encoding="utf-8")
    assert "iris" in page
