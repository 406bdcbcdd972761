"""The paper's protocol and a clean one, side by side, to see which conclusions of Table II survive.

Both runs share the store with Table II, so what is there is not computed again.

    python experiments/protocols.py
    python experiments/protocols.py protocol=lite
    python experiments/protocols.py datasets='[iris,spect_paper,spect]' algorithms='[moml,mloml_r]'
"""

import sys
from pathlib import Path

from mloml.commands import this_command
from mloml.compose import study_from_argv
from mloml.errors import MlomlError
from mloml.reporting.context import labels_of
from mloml.reporting.protocols import write_protocols
from mloml.reporting.table2 import REFERENCE
from mloml.reporting.tables import summarise
from mloml.study import run_study

if __name__ == "__main__":
    asked = study_from_argv("table2").protocol  # protocol=lite asks for two small runs
    size = [f"protocol.{key}={getattr(asked, key)}" for key in ("splits", "scans", "folds")]
    overrides = [word for word in sys.argv[1:] if not word.startswith("protocol=")] + size
    sides = {}
    failures = 0
    for protocol in ("paper", "clean"):
        study = study_from_argv("table2", [f"protocol={protocol}", *overrides])
        folder = Path(study.execution.results, "protocols")
        try:
            result = run_study(study, folder / protocol)
        except MlomlError as error:
            sys.exit(f"error: {error}")
        sides[protocol] = summarise(result.frame, labels_of(result), REFERENCE)
        failures += len(result.failures)
    print(write_protocols(sides["paper"], sides["clean"], REFERENCE, folder, this_command()))
    sys.exit(1 if failures else 0)
