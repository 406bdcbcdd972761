"""Figure 7: error against the number of scans (1 to 20) of MOML and MLOML-r, with Euclidean as a line.

One training run records the error after every scan.

    python experiments/fig7_scans.py
    python experiments/fig7_scans.py protocol.splits=5 datasets='[iris,balance]'
"""

import sys

from mloml.compose import study_from_argv
from mloml.errors import MlomlError
from mloml.reporting.figure_files import CurveFigure
from mloml.study import run_study

FIGURE = CurveFigure(
    name="fig7",
    title="Figure 7: error against the number of scans",
    about=(
        "Error after each scan of MOML and of a 3-layer MLOML-r, with Euclidean as a line; MOML (split) "
        "learns by the layers' own policy at the border of the cone."
    ),
    key="scan_errors",
    along="scan",
    label="scans over the training half",
    against={"mloml_r": "moml_split"},
)

if __name__ == "__main__":
    study = study_from_argv("fig7")
    try:
        result = run_study(study, refresh=FIGURE.write)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(1 if len(result.failures) else 0)
