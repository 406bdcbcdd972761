"""Table II: error rates of all algorithms on all datasets.

Every algorithm learns on one half of each dataset, 30 times; 5-NN under the learned metric is tested on the
other half. Marks say whether MLOML-r is significantly better or worse (paired t-test over the 30 splits).

    python experiments/table2.py
    python experiments/table2.py protocol=clean datasets='[iris,wine]' algorithms='[moml,mloml_r]'
"""

import sys

from mloml.compose import study_from_argv
from mloml.errors import MlomlError
from mloml.reporting.table2 import write_table2
from mloml.study import run_study

if __name__ == "__main__":
    study = study_from_argv("table2")
    try:
        result = run_study(study, refresh=write_table2)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(1 if len(result.failures) else 0)
