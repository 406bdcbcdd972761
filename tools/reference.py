"""Make ``results/reference`` anew with the code as it is: every run, then copies of what they wrote.

``MLOML_DATA=folder python tools/reference.py`` takes some hours on two cores; names
(``table2 fig5``) make only these. Runs share ``results/store``, so that a call that was broken off goes on
where it was. A folder is replaced only when its run has ended without a failure, and nothing starts while the
checkout has changes: the manifests name one revision. At the end ``python -m tools.readme`` fills the pages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from mloml.report.recipe import find_recipe
from mloml.report.reproduce import study_and_folder

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"

TEN = "lsvt,iris,wine,spect_paper,ionosphere,balance,breast,pima,diabetic,waveform"
ELEVEN = f"{TEN},mlprove_paper"
DATASETS = {
    "table1": "",
    "table2": f"{ELEVEN},spect",
    "table3": f"{ELEVEN},spect",
    "fig4": "",
    "fig5": "lsvt,iris,spect_paper,ionosphere,balance,wine,breast,mlprove_paper",
    "fig6": "balance,ionosphere,iris,mlprove_paper",
    "fig7": "pima,iris,diabetic,spect_paper,lsvt,ionosphere,balance,mlprove_paper",
    "fig8": "lsvt,iris,spect_paper,ionosphere,balance,wine,diabetic,mlprove_paper",
    "theory": ELEVEN,
    "untrained": f"{ELEVEN},spect",
    "protocols": f"{TEN},spect",
    "ablation": "",
    "untuned": f"{ELEVEN},spect,mlprove",
    "beyond": "",
    "streams": "",
    "drift": "",
    "depth": "",
    "differences": TEN,
    "seeds": f"{TEN},spect",
    "signs": "",
    "draws": "",
    "mlprove": "mlprove",
}
"""The data sets of each published folder, in the order of the runs; none named: those of the experiment."""
ARTEFACTS = {"mlprove": "table2"}
"""The artefact of a folder that is not named after it: Table II with the documented labels comes last."""
OWN_DATA = ("beyond", "streams", "drift")
"""Their data come with the package: they are run without ``MLOML_DATA``."""


def command(name: str) -> list[str]:
    """Return the command that makes a folder, as its manifest will name it.

    >>> command("fig6")[1:]
    ['reproduce', 'fig6', 'datasets=[balance,ionosphere,iris,mlprove_paper]']
    """
    program = str(Path(sys.executable).parent / "mloml")
    sets = DATASETS[name]
    return [program, "reproduce", ARTEFACTS.get(name, name), *([f"datasets=[{sets}]"] if sets else [])]


def source_of(name: str) -> Path:
    """Return the folder that the command writes: data sets that are named have a folder of their own."""
    return ROOT / study_and_folder(find_recipe(ARTEFACTS.get(name, name)), command(name)[3:])[1]


def copy(name: str, source: Path, reference: Path = REFERENCE) -> None:
    """Replace a folder of the reference by what a run wrote, without PDFs, which are large."""
    new, old = reference / f".{name}", reference / name
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(source, new, ignore=shutil.ignore_patterns("*.pdf", ".*"))
    shutil.rmtree(old, ignore_errors=True)
    new.rename(old)


def main() -> int:
    """Run what is asked for, copy what has ended well, and name what has not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(DATASETS)}")
    names = parser.parse_args().names or list(DATASETS)
    unknown = [name for name in names if name not in DATASETS]
    if unknown:
        parser.error(f"{unknown[0]}: not one of {', '.join(DATASETS)}")
    if not os.environ.get("MLOML_DATA"):
        parser.error("MLOML_DATA: must name the folder with UCI's files of the sets that are not bundled")
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True)
    if changed.stdout:
        parser.error("the checkout has changes: commit them first, so that the manifests name one revision")
    failed = [name for name in names if not _make(name)]
    for name in names:  # at the end: a changed checkout has no revision
        if name not in failed:
            copy(name, source_of(name))
    subprocess.run([sys.executable, "-m", "tools.readme"], cwd=ROOT, check=True)
    if failed:
        print(f"not replaced, because a run failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def _make(name: str) -> bool:
    own = {key: value for key, value in os.environ.items() if key != "MLOML_DATA" or name not in OWN_DATA}
    return subprocess.run(command(name), cwd=ROOT, env=own, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
