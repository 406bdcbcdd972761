"""Figure 4: running time of OPML and MOML on spect and waveform.

The paper's claim is "MOML is faster than OPML". Here the update loops alone are timed, on the same triplets
and one thread; MOML once without a factor of its metric (the claim's setting) and once with it.

    python experiments/fig4_running_time.py
    python experiments/fig4_running_time.py protocol.scans=5
"""

import sys
import time
from pathlib import Path

import pandas as pd

from mloml.compose import study_from_argv
from mloml.datasets import load
from mloml.errors import DatasetUnavailableError, MlomlError
from mloml.provenance import Source, write_manifest
from mloml.reporting.context import row_name
from mloml.reporting.fig4 import write_fig4
from mloml.store import COLUMNS
from mloml.theory.streams import halves
from mloml.update_time import time_updates

if __name__ == "__main__":
    study = study_from_argv("fig4")
    folder = Path(study.execution.results, study.name)
    began = time.time()
    runs, missing, sources = [], {}, {}
    notes = ""
    try:
        for config in study.datasets:
            try:
                data = load(config, study.data)
            except DatasetUnavailableError as error:
                missing[config.name] = str(error)
                continue
            sources[config.name] = Source(data.checksum, data.source, data.regenerated)
            if data.regenerated:
                notes += f" {row_name(config.name)} is drawn anew from its published generator."
            times = time_updates(halves(data, study.protocol, 0), study.protocol.scans)
            runs.append(times.assign(dataset=config.name))
        if not runs:
            sys.exit(f"error: none of the datasets is available: {'; '.join(missing.values())}")
        titles = {config.name: row_name(config.name) for config in study.datasets}
        write_fig4(pd.concat(runs, ignore_index=True), titles, missing, folder, notes)
        write_manifest(
            folder, study, pd.DataFrame(columns=list(COLUMNS)), sources, wall_seconds=time.time() - began
        )
    except MlomlError as error:
        sys.exit(f"error: {error}")
    print(f"written: {folder}/fig4.pdf")
