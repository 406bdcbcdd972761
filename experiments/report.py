"""One self-contained HTML page over everything in results/: tables, figures, verdicts, findings, failures.

The page shows what runs left behind; overrides that are for the runs (protocol=lite, ...) are ignored.

    mloml report
    mloml report execution.results=elsewhere
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("report")
