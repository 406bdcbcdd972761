"""Differences from the paper: one knob is swept for each column, with the agreement at each value.

Post hoc: knobs and values were chosen after looking at the paper's test errors.
Not part of `mloml reproduce all`.

    mloml reproduce differences
    mloml reproduce differences protocol=lite datasets='[iris,balance]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("differences")
