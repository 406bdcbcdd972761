"""Write the bundled files: see the package's docstring."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tools.bundle import beyond, paper, streams
from tools.bundle.files import Content, write


def builders() -> dict[str, Callable[[Path], Content]]:
    """Return, for each bundled file, what makes its content from the folder of packages."""
    mine = {build.__name__: build for build in (paper.pima, paper.spect, paper.ionosphere, paper.breast)}
    return mine | {name: beyond.builder(name) for name in beyond.COPIES} | streams.STREAMS


if __name__ == "__main__":
    target = Path(__file__).parents[2] / "src/mloml/datasets/files"
    known = builders()
    for name in sys.argv[2:] or known:
        write(target / f"{name}.csv.gz", known[name](Path(sys.argv[1])))
