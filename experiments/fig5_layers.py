"""Figure 5: error of each metric layer of a 5-layer MLOML-r, with Euclidean, MOML and LMNN as lines.

One trained stack gives the errors of all its layers.

    python experiments/fig5_layers.py
    python experiments/fig5_layers.py protocol.splits=5 datasets='[iris,balance]'
"""

import sys

from mloml.compose import study_from_argv
from mloml.errors import MlomlError
from mloml.reporting.figure_files import CurveFigure
from mloml.study import run_study

FIGURE = CurveFigure(
    name="fig5",
    title="Figure 5: error of each layer",
    about=(
        "Error of each metric layer (linear output) of one 5-layer MLOML-r, with Euclidean, MOML and LMNN "
        "as lines; MOML (split) learns by the layers' own policy at the border of the cone."
    ),
    against={"mloml_r_5": "moml_split"},
)

if __name__ == "__main__":
    study = study_from_argv("fig5")
    try:
        result = run_study(study, refresh=FIGURE.write)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(1 if len(result.failures) else 0)
