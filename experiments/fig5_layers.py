"""Figure 5: error of each metric layer of a 5-layer MLOML-r, with Euclidean, MOML and LMNN as lines.

One trained stack gives the errors of all its layers.

    mloml reproduce fig5
    mloml reproduce fig5 protocol.splits=5 datasets='[iris,balance]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("fig5")
