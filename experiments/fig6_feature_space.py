"""Figure 6: what each layer of a 3-layer MLOML-r makes of balance, ionosphere, iris and mlprove.

Cross-validation chooses the step size on the first split (a cell of Table II, so it is shared with it); the
model is then learned once more and its layers' outputs on the test half are projected to the plane.

    python experiments/fig6_feature_space.py
    python experiments/fig6_feature_space.py datasets='[iris]'
"""

import sys

from mloml.compose import study_from_argv
from mloml.errors import MlomlError
from mloml.reporting.fig6 import write_fig6
from mloml.study import StudyResult, run_study
from mloml.theory.layers import layer_outputs, refit


def draw(result: StudyResult) -> None:
    """Learn every chosen model again and draw its layers."""
    outputs, codes = {}, {}
    for record in result.records:
        if record["split"] == 0:
            model = refit(result.study, record)
            outputs[record["dataset"]] = layer_outputs(model)
            codes[record["dataset"]] = model.half.y_test.tolist()
    write_fig6(result, outputs, codes)


if __name__ == "__main__":
    study = study_from_argv("fig6")
    try:
        result = run_study(study, refresh=draw)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(1 if len(result.failures) else 0)
