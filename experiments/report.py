"""One self-contained HTML page over everything in results/: tables, figures, verdicts, findings, failures.

The page shows what runs left behind; overrides that are for the runs (protocol=lite, ...) are ignored.

    python experiments/report.py
    python experiments/report.py execution.results=elsewhere
"""

import sys
from pathlib import Path

from mloml.reporting.page.build import write_report

if __name__ == "__main__":
    words = dict(word.partition("=")[::2] for word in sys.argv[1:])
    results = Path(words.get("execution.results", "results"))
    if not results.is_dir():
        sys.exit(
            f"error: execution.results={results}: there is no such folder; run make reproduce-table2 first"
        )
    print(f"written: {write_report(results)}")
