"""The code's revision and the machine a run happens on, without names of hosts or people."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from mloml.config.paths import repository


def git_revision() -> dict[str, Any] | None:
    """Return the revision of the checkout this code runs from and whether it has changes; None in a wheel."""
    root = repository()
    if root is None:
        return None
    try:
        revision = _git(root, "rev-parse", "HEAD")
        return {"revision": revision, "dirty": bool(_git(root, "status", "--porcelain", "-uno"))}
    except (OSError, subprocess.SubprocessError):
        return None


def machine() -> dict[str, Any]:
    """Return what of this machine can matter for speed and for the last bits of a result."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
    }


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())
