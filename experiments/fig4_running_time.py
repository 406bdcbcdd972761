"""Figure 4: running time of OPML and MOML on spect and waveform.

The paper's claim is "MOML is faster than OPML". Here the update loops alone are timed, on the same triplets
and one thread; MOML once without a factor of its metric (the claim's setting) and once with it.

    mloml reproduce fig4
    mloml reproduce fig4 protocol.scans=5
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("fig4")
