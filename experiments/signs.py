"""Signs of the principal axes: how far an untrained stack's error moves with an arbitrary choice.

Euclidean distance does not know which way an axis points; a ReLU does. Nothing is learned.

    mloml reproduce signs
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("signs")
