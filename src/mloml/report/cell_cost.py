"""What cells cost, measured, and how long the full study takes on more cores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mloml.errors import MlomlError
from mloml.experiments.progress import clock
from mloml.files import write_atomically
from mloml.report.markdown import table_lines
from mloml.experiments.store import Record, Store

CORES = (2, 16, 128)
FULL_SPLITS = 30
BEGIN, END = "<!-- costs: written by `mloml status --cost --into` -->", "<!-- end of costs -->"


@dataclass(frozen=True)
class Cost:
    """Median seconds per cell for each (algorithm, dataset), and what a study over all of them amounts to.

    The median, because the first cell of a worker may have to compile.
    """

    seconds: pd.DataFrame
    longest: float

    def work(self, splits: int = FULL_SPLITS) -> float:
        """Return the core-seconds of all measured pairs over this many splits."""
        return float(self.seconds.sum().sum()) * splits

    def wall(self, cores: int, splits: int = FULL_SPLITS) -> float:
        """Return the seconds on so many cores: the work shared out, but never less than the longest cell."""
        return max(self.work(splits) / cores, self.longest)


def measure(records: Iterable[Record], protocol: str) -> Cost:
    """Collect the cost of all cells of one protocol.

    >>> cells = [{"dataset": "iris", "algorithm": "moml", "protocol": "paper", "seconds": {"total": s}}
    ...          for s in (1.0, 3.0)]
    >>> measure(cells, "paper").work(), measure(cells, "paper").wall(128)
    (60.0, 3.0)
    """
    rows = [
        (record["algorithm"], record["dataset"], record["seconds"]["total"])
        for record in records
        if record["protocol"] == protocol
    ]
    cells = pd.DataFrame(rows, columns=["algorithm", "dataset", "seconds"])
    table = cells.pivot_table(index="algorithm", columns="dataset", values="seconds", aggfunc="median")
    return Cost(table, float(cells["seconds"].max()) if rows else 0.0)


def cost_report(store: Store) -> str:
    """Return the measured costs as Markdown: seconds per cell, and the projected time on more cores."""
    records = list(store.records())
    protocols = sorted({record["protocol"] for record in records})
    if not protocols:
        return f"{store.folder}: no cells yet, so nothing is measured"
    return "\n\n".join(_section(protocol, measure(records, protocol)) for protocol in protocols)


def fill_in(page: Path, report: str) -> None:
    """Replace what stands between the two markers of a page by a report."""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise MlomlError(f"--into {page}: cannot be read ({reason})") from None
    if BEGIN not in text or END not in text:
        raise MlomlError(f"{page}: has no place for costs, the lines {BEGIN} and {END}")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    write_atomically(page, f"{before}{BEGIN}\n\n{report}\n\n{END}{after}")


def _section(protocol: str, cost: Cost) -> str:
    table = cost.seconds
    pairs = int(table.count().sum())
    lines = [
        [str(name), *("" if pd.isna(value) else f"{value:.2f}" for value in [*row, row.sum()])]
        for name, row in table.iterrows()
    ]
    header = ["seconds per cell", *map(str, table.columns), "all, one split"]
    walls = [[str(cores), clock(cost.wall(cores))] for cores in CORES]
    return (
        f"### Protocol `{protocol}`\n\n{table_lines(header, lines, 'l'.ljust(len(header), 'r'))}\n\n"
        f"{'1 pair' if pairs == 1 else f'{pairs} pairs'} measured; "
        f"{pairs * FULL_SPLITS} cells over {FULL_SPLITS} splits are "
        f"{clock(cost.work())} of one core, the longest cell {cost.longest:.1f} s.\n\n"
        + table_lines(["cores", f"time for {FULL_SPLITS} splits"], walls, "rr")
    )
