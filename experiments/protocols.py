"""The paper's protocol and a clean one, side by side, to see which conclusions of Table II survive.

Both runs share the store with Table II, so what is there is not computed again.

    mloml reproduce protocols
    mloml reproduce protocols protocol=lite
    mloml reproduce protocols datasets='[iris,spect_paper,spect]' algorithms='[moml,mloml_r]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("protocols")
