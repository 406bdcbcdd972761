"""Waveform drawn twenty times: the variance of errors between draws, apart from that between splits.

Not part of `mloml reproduce all`.

    mloml reproduce draws
    mloml reproduce draws protocol.scans=2 algorithms='[euclidean,moml]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("draws")
