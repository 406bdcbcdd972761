"""How many layers: a chosen depth against fixed ones, and stacks of batch learners, by docs/depth.md.

About 20 minutes on two cores; what is stored is not computed again.

    mloml reproduce depth
    mloml reproduce depth protocol=lite 'datasets=[iris,balance]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("depth")
