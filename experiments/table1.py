"""Table I: the datasets, the paper's figures beside what is found here.

mloml reproduce table1
mloml reproduce table1 data.dir=FOLDER
mloml reproduce table1 data.source=uci
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("table1")
