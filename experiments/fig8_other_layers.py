"""Figure 8: layers of RDML-, LEGO- and OPML-multi against their shallow versions.

One trained stack gives the errors of all its layers.

    mloml reproduce fig8
    mloml reproduce fig8 protocol.splits=5 datasets='[iris,balance]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("fig8")
