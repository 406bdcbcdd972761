"""Figure 8: layers of RDML-, LEGO- and OPML-multi against their shallow versions.

One trained stack gives the errors of all its layers.

    python experiments/fig8_other_layers.py
    python experiments/fig8_other_layers.py protocol.splits=5 datasets='[iris,balance]'
"""

import sys

from mloml.compose import study_from_argv
from mloml.errors import MlomlError
from mloml.reporting.figure_files import CurveFigure
from mloml.study import run_study

FIGURE = CurveFigure(
    name="fig8",
    title="Figure 8: other algorithms as layers",
    about=(
        "Error of each metric layer of 5-layer stacks of RDML, LEGO and OPML, with the shallow algorithms as "
        "lines. RDML layers start at the identity and RDML itself at zero, so RDML from the identity is "
        "shown too."
    ),
    # A stack's first layer is the shallow version from the identity, which RDML by itself is not.
    against={"rdml_multi": "rdml_identity", "lego_multi": "lego", "opml_multi": "opml"},
)

if __name__ == "__main__":
    study = study_from_argv("fig8")
    try:
        result = run_study(study, refresh=FIGURE.write)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(1 if len(result.failures) else 0)
