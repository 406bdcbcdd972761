"""The report: one self-contained HTML page over everything that ``results`` holds."""
