"""Table I: the datasets, the paper's figures beside what is found here.

python experiments/table1.py
python experiments/table1.py data.dir=FOLDER
python experiments/table1.py data.source=uci
"""

from mloml.reporting.reproduce import main

if __name__ == "__main__":
    main("table1")
