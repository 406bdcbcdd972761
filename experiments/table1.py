"""Table I: the datasets, the paper's figures beside what is found here.

python experiments/table1.py
python experiments/table1.py data.dir=FOLDER
python experiments/table1.py data.source=uci
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from mloml.commands import this_command
from mloml.compose import study_from_argv
from mloml.datasets.overview import overview
from mloml.errors import MlomlError
from mloml.paper import published
from mloml.provenance import Source, write_manifest
from mloml.reporting.table1 import difference_sentence, missing_lines, write_table1

if __name__ == "__main__":
    start = time.monotonic()
    study = replace(study_from_argv("table1"), algorithms=[])
    folder = Path(study.execution.results, study.name)
    try:
        configs = {config.name: config for config in study.datasets}
        frame, loaded = overview(configs, study.data, published.table1())
        folder.mkdir(parents=True, exist_ok=True)
        write_table1(frame, folder, this_command())
    except MlomlError as error:
        sys.exit(f"error: {error}")
    sources = {name: Source(d.checksum, d.source, d.regenerated) for name, d in loaded.items()}
    no_cells = pd.DataFrame({"seconds": [], "status": [], "key": []})
    write_manifest(folder, study, no_cells, sources, wall_seconds=time.monotonic() - start)
    for reason in missing_lines(frame):
        print(f"missing: {reason}")
    print(difference_sentence(frame))
    print(f"written to {folder}/table1.csv, .md, .tex")
