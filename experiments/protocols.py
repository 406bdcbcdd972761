"""The paper's protocol and a clean one, side by side, to see which conclusions of Table II survive.

Both runs share the store with Table II, so what is there is not computed again.

    python experiments/protocols.py
    python experiments/protocols.py protocol=lite
    python experiments/protocols.py datasets='[iris,spect_paper,spect]' algorithms='[moml,mloml_r]'
"""

from mloml.reporting.reproduce import main

if __name__ == "__main__":
    main("protocols")
