"""Figure 8: layers of RDML-, LEGO- and OPML-multi against their shallow versions.

One trained stack gives the errors of all its layers.

    python experiments/fig8_other_layers.py
    python experiments/fig8_other_layers.py protocol.splits=5 datasets='[iris,balance]'
"""

from mloml.reporting.reproduce import main

if __name__ == "__main__":
    main("fig8")
