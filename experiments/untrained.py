"""The untrained control: which part of each gain over Euclidean distance is learning.

A stack whose step size is 0 keeps the identity in every layer, so only the non-linearity acts. It stands
between Euclidean distance and the trained stack, with tests of both steps.

    mloml reproduce untrained
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("untrained")
