"""The untuned arm: Table II with first guesses for everything that the paper leaves open.

docs/reproduction/untuned.md lists them; it was committed before the first run.

    mloml reproduce untuned
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("untuned")
