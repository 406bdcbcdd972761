"""Figure 6: what each layer of a 3-layer MLOML-r makes of balance, ionosphere, iris and mlprove.

Cross-validation chooses the step size on the first split (a cell of Table II, so it is shared with it); the
model is then learned once more and its layers' outputs on the test half are projected to the plane.

    mloml reproduce fig6
    mloml reproduce fig6 datasets='[iris]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("fig6")
