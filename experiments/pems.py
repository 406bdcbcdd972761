"""PEMS-SF, the data set that was never looked at: predicted errors beside those that come out.

Not part of `mloml reproduce all`. It needs UCI's file of pems; docs/reproduction/pems.md explains it.

    mloml reproduce pems
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("pems")
