"""One knob at a time: how far an error moves with each thing that the paper leaves open.

The factor of M, a step that would leave the cone, the rule of triplets, the order of the scans, tied votes.
docs/reproduction/ablation.md was written beforehand.

    mloml reproduce ablation
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("ablation")
