"""Streams, real and generated, test-then-train, by the rule of docs/stream_study.md.

About half an hour on two cores, with the extra `river`; what is stored is not computed again.

    mloml reproduce streams
    mloml reproduce streams protocol=lite
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("streams")
