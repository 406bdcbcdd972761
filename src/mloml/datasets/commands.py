"""``mloml data list | fetch | show``: what there is, where it comes from, and getting it."""

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from mloml.config.overrides import address
from mloml.config.schema import DatasetConfig, DataSettings
from mloml.datasets.loading import availability, catalogue, load
from mloml.errors import ConfigError, MlomlError, suggestion


def main(argv: Sequence[str] = ()) -> int:
    """Run one of the commands, ``list`` by default; return 0 when all that was asked for is there."""
    given = vars(_parser().parse_args(argv or ["list"]))
    command, names, folders = (given.pop(key) for key in ("command", "names", "config_dir"))
    console = Console(file=sys.stdout, soft_wrap=True, highlight=False, markup=False)
    try:
        settings = DataSettings(**given)
        known = catalogue([address(folder, "--config-dir") for folder in folders])
        run = {"list": list_all, "fetch": fetch, "show": show}[command]
        return run(_chosen(names, known), settings, console)
    except MlomlError as error:
        print(f"mloml data: {error}", file=sys.stderr)
        return 1


def list_all(configs: list[DatasetConfig], settings: DataSettings, console: Console) -> int:
    """Print all data sets: size, classes and whether each is here; `show` tells its sources."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "rows", "features", "classes", "here"):
        table.add_column(column, justify="left" if column in ("name", "here") else "right", no_wrap=True)
    for config in configs:
        sizes = (config.rows, config.features, len(config.class_counts))
        table.add_row(config.name, *(str(size or "") for size in sizes), availability(config, settings))
    console.print(table)
    console.print(f"cache: {settings.cache_folder()}")
    return 0


def fetch(configs: list[DatasetConfig], settings: DataSettings, console: Console) -> int:
    """Get every data set there is to get; report each in one line."""
    missing = 0
    width = max(len(config.name) for config in configs)
    for config in configs:
        try:
            with console.status(f"fetching {config.name}"):
                data = load(config, settings)
            mark = ", regenerated" if data.regenerated else ""
            rows, features = data.X.shape
            report = f"{rows} x {features}, {len(data.labels)} classes, from {data.source}{mark}"
        except MlomlError as error:
            missing += 1
            report = str(error)
        console.print(report if report.startswith(config.name) else f"{config.name:{width}}  {report}")
    console.print(f"{len(configs) - missing} of {len(configs)} datasets are here")
    return 1 if missing else 0


def show(configs: list[DatasetConfig], settings: DataSettings, console: Console) -> int:
    """Print all that is known of a data set."""
    for config in configs:
        for key, value in (dataclasses.asdict(config) | {"here": availability(config, settings)}).items():
            if value:
                console.print(f"{key:>14}  {_text(value)}")
    return 0


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items() if item != "")
    return ", ".join(map(str, value)) if isinstance(value, list) else "?" if value is None else str(value)


def _chosen(names: list[str], known: Mapping[str, DatasetConfig]) -> list[DatasetConfig]:
    wanted = list(known) if names in ([], ["all"]) else names
    for name in wanted:
        if name not in known:
            raise ConfigError(f"no dataset '{name}'{suggestion(name, known)} (known: {', '.join(known)})")
    return [known[name] for name in wanted]


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--dir", help="folder with files of your own (default: MLOML_DATA)")
    common.add_argument("--source", default="auto", help="auto, uci, or a single source")
    common.add_argument("--offline", action="store_true", help="never touch the network")
    common.add_argument("--cache", help="folder for what is fetched (default: MLOML_CACHE)")
    own = "folder of configs of your own, like conf/"
    common.add_argument("-cd", "--config-dir", action="append", default=[], help=own)
    parser = argparse.ArgumentParser(prog="mloml data", description="The data sets: list, fetch, show.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, number, text in (
        ("list", 0, "all data sets, and where each would come from"),
        ("fetch", "*", "get data sets, all by default"),
        ("show", "+", "all that is known of one data set"),
    ):
        command = commands.add_parser(name, parents=[common], help=text)
        if number:
            command.add_argument("names", nargs=number, metavar="NAME", help="data sets, or all")
        command.set_defaults(names=[])
    return parser
