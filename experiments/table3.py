"""Table III: backward (BP), forward-backward (FBP) and forward propagation (FP) of MLOML-r, -s and -t.

Beside the table: how much of FP's lead over BP is BP's learning rate, whether FP speeds up BP's convergence,
and what a triplet costs under each strategy.

    python experiments/table3.py
    python experiments/table3.py datasets='[iris,balance]' protocol.splits=10
"""

import sys
from pathlib import Path

from mloml.commands import this_command
from mloml.compose import study_from_argv
from mloml.errors import MlomlError
from mloml.propagation_cost import cost_per_triplet
from mloml.reporting.cost import write_cost
from mloml.reporting.table3 import write_table3
from mloml.study import run_study

if __name__ == "__main__":
    study = study_from_argv("table3")
    try:
        # Timed first, while nothing else runs.
        write_cost(cost_per_triplet(), Path(study.execution.results, study.name), this_command())
        result = run_study(study, refresh=write_table3)
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(1 if len(result.failures) else 0)
