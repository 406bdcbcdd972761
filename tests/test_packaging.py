"""What is installed: a wheel that works in any folder, a source distribution that is whole."""

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
README = (ROOT / "README.md").read_text(encoding="utf-8")

pytest.importorskip("build")
pytestmark = pytest.mark.slow


def run(*command, cwd):
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=850)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder with the source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return folder, wheel


def test_twine_and_check_wheel_contents_find_nothing(dist):
    pytest.importorskip("twine")
    pytest.importorskip("check_wheel_contents")
    folder, wheel = dist
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, *folder.glob("*.tar.gz"), cwd=folder)
    run(sys.executable, "-m", "check_wheel_contents", wheel, cwd=folder)


def test_the_wheel_has_the_configs_the_types_and_the_version(dist):
    archive = zipfile.ZipFile(dist[1])
    names = set(archive.namelist())
    (scripts,) = (archive.read(name).decode() for name in names if name.endswith("entry_points.txt"))
    assert "mloml = mloml.cli:main" in scripts
    assert {
        "mloml/py.typed",
        "mloml/conf/config.yaml",
        "mloml/river.py",
        "mloml/learners/answers.json",
    } <= names
    assert all(name.startswith(("mloml/", "mloml-")) for name in names)
    (cited,) = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert dist[1].name.split("-")[1] == mloml.__version__ == cited


def test_the_text_on_a_package_index_links_to_no_file_beside_it(dist):
    archive = zipfile.ZipFile(dist[1])
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    text = archive.read(name).decode().partition("\n\n")[2]
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []
    for start in ("#", "| "):  # nothing else is lost: as many headings and rows as the README has
        lines = [sum(line.startswith(start) for line in page.splitlines()) for page in (text, README)]
        assert lines[0] == lines[1] > 0


def test_the_source_distribution_has_what_its_makefile_needs(dist):
    with tarfile.open(next(dist[0].glob("*.tar.gz"))) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    scripts = {f"experiments/{path.name}" for path in (ROOT / "experiments").glob("*.py")}
    needed = "Makefile constraints.txt pyproject.toml README.md conf/config.yaml docs/conf.py"
    assert {*needed.split(), *scripts} <= names
    assert not any(name.startswith(("docs/_build", ".venv")) for name in names)


def test_a_table_and_the_page_in_an_empty_folder(dist, tmp_path):
    """An environment with the wheel and, by a path, the packages of this one; not this one's mloml."""
    venv.create(tmp_path / "environment")
    (site,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    zipfile.ZipFile(dist[1]).extractall(site)
    (site / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = tmp_path / "environment/bin/python"
    assert str(site) in run(python, "-c", "import mloml; print(mloml.__file__)", cwd=tmp_path)
    few = "protocol=lite protocol.splits=2 execution.n_jobs=1 datasets=[iris] algorithms=[moml,mloml_r]"
    run(python, "-m", "mloml", "reproduce", "table2", "name=few", *few.split(), cwd=tmp_path)
    table = (tmp_path / "results/few/table2.md").read_text(encoding="utf-8")
    assert "iris" in table and "MLOML-r" in table
    run(python, "-m", "mloml", "report", cwd=tmp_path)
    assert "iris" in (tmp_path / "results/report/index.html").read_text(encoding="utf-8")
