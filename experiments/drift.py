"""What a learned metric gains before and after an abrupt change of a stream, with three windows.

A few minutes on two cores after `streams`, with the extra `river`.

    mloml reproduce drift
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("drift")
