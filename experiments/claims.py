"""The claim table: each claim of the paper, what was measured, and three answers.

mloml reproduce claims
mloml reproduce claims execution.results=results/reference
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("claims")
