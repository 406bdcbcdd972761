"""The paper's theory put to the test: Theorem 1, Theorem 2, Proposition 1, and the loss weights under FBP.

Theorem 1: how often a step breaks the condition for positive definiteness, and how often it would really
leave the cone. Theorem 2: regret with losses taken before each step, beside the bound as claimed and as
corrected. Proposition 1: whether the next layer is no worse, over the splits (cells shared with Figure 5).

    mloml reproduce theory
    mloml reproduce theory protocol=lite datasets='[iris,balance]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("theory")
