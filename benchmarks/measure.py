"""Timing and reporting shared by the benchmarks: medians with spread, one CSV per part, one table to read."""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

RESULTS = Path("results/bench")

Row = dict[str, Any]


def seconds(action: Callable[[], Any], repeats: int = 7, least: float = 0.02) -> tuple[float, float]:
    """Return the median seconds of one call and the spread between the quartiles, relative to the median.

    The action is called once to warm up, then often enough per repeat to fill ``least`` seconds.
    """
    start = time.perf_counter()
    action()
    calls = max(1, round(least / max(time.perf_counter() - start, 1e-9)))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            action()
        times.append((time.perf_counter() - start) / calls)
    return median_and_spread(times)


def median_and_spread(values: list[float]) -> tuple[float, float]:
    """Return the median and the distance between the quartiles, relative to the median.

    >>> median_and_spread([1.0, 2.0, 3.0])
    (2.0, 1.0)
    """
    low, median, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return median, (high - low) / median


def write(name: str, rows: Iterable[Row]) -> list[Row]:
    """Write ``results/bench/<name>.csv`` and print the rows as a table; return them."""
    rows = list(rows)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    show(name, columns, rows)
    return rows


def show(name: str, columns: list[str], rows: list[Row]) -> None:
    """Print rows as a table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=name)
    for column in columns:
        table.add_column(column, justify="left" if isinstance(rows[0].get(column), str) else "right")
    for row in rows:
        table.add_row(*(text(row.get(column)) for column in columns))
    Console(width=160).print(table)


def text(value: Any) -> str:
    """Format a value for reading.

    >>> text(0.000123456), text(12.3456), text(None), text("moml")
    ('0.000123', '12.3', '', 'moml')
    """
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
