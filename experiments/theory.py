"""The paper's theory put to the test: Theorem 1, Theorem 2, Proposition 1, and the loss weights under FBP.

Theorem 1: how often a step breaks the condition for positive definiteness, and how often it would really
leave the cone. Theorem 2: regret with losses taken before each step, beside the bound as claimed and as
corrected. Proposition 1: whether the next layer is no worse, over the splits (cells shared with Figure 5).

    python experiments/theory.py
    python experiments/theory.py protocol=lite datasets='[iris,balance]'
"""

import sys
import time

from mloml.commands import this_command
from mloml.compose import study_from_argv
from mloml.datasets import load
from mloml.errors import MlomlError
from mloml.provenance import Source, write_manifest
from mloml.reporting.figures import curve_frame
from mloml.reporting.theory import write_theory
from mloml.study import run_study
from mloml.theory.evidence import gather_evidence

if __name__ == "__main__":
    study = study_from_argv("theory")
    began = time.time()
    try:
        result = run_study(study)
        if not result.records:
            sys.exit("error: no cell was computed, so there is nothing to look at")
        evidence = gather_evidence(study, result.records, study.execution.n_jobs)
        errors = curve_frame(result.records, "layer_errors", "layer")
        print(write_theory(evidence, errors, result.folder, this_command()))
        there = [config for config in study.datasets if config.name not in result.missing]
        data = {config.name: load(config, study.data) for config in there}
        sources = {name: Source(d.checksum, d.source, d.regenerated) for name, d in data.items()}
        state = "incomplete" if len(result.failures) else "complete"
        write_manifest(
            result.folder,
            study,
            result.frame,
            sources,
            state=state,
            wall_seconds=time.time() - began,
            records=result.records,
        )
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sys.exit(1 if len(result.failures) else 0)
