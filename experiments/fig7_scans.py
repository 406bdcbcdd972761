"""Figure 7: error against the number of scans (1 to 20) of MOML and MLOML-r, with Euclidean as a line.

One training run records the error after every scan.

    mloml reproduce fig7
    mloml reproduce fig7 protocol.splits=5 datasets='[iris,balance]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("fig7")
