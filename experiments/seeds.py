"""Table II from two seeds: how many verdicts depend on which random halves were drawn.

Everything is computed once more with other halves, other folds and other orders of the rows; the cells of the
first seed are Table II's.

    mloml reproduce seeds
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("seeds")
