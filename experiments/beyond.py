"""Data that the paper never saw, on unit rows and on standardised features, by the rule of docs/beyond.md.

About an hour on two cores; what is stored is not computed again.

    mloml reproduce beyond
    mloml reproduce beyond 'datasets=[glass,sonar]' protocol.splits=2 protocol.scans=2 protocol.folds=2
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("beyond")
