"""``mloml data list | fetch | show``: what there is, where it comes from, and getting it."""

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence

import yaml
from rich.console import Console

from mloml.config.overrides import address
from mloml.config.schema import DatasetConfig, DataSettings
from mloml.datasets.loading import availability, catalogue, load
from mloml.errors import ConfigError, MlomlError, suggestion


def main(argv: Sequence[str] = ()) -> int:
    """Run one of the commands, ``list`` by default; return 0 when all that was asked for is there."""
    given = vars(_parser().parse_intermixed_args(argv))
    command, names, folders = (given.pop(key) for key in ("command", "names", "config_dir"))
    try:
        settings = DataSettings(**given)
        known = catalogue([address(folder, "--config-dir") for folder in folders])
        return {"list": list_all, "fetch": fetch, "show": show}[command](_chosen(names, known), settings)
    except MlomlError as error:
        print(f"mloml data: {error}", file=sys.stderr)
        return 1


def list_all(configs: list[DatasetConfig], settings: DataSettings) -> int:
    """Print all data sets: size, classes and whether each is here; `show` tells its sources."""
    line = "{:<16} {:>7} {:>8} {:>7}  {}".format
    print(line("name", "rows", "features", "classes", "here"))
    for config in configs:
        sizes = (config.rows, config.features, len(config.class_counts))
        print(line(config.name, *(size or "" for size in sizes), availability(config, settings)))
    print(f"cache: {settings.cache_folder()}")
    return 0


def fetch(configs: list[DatasetConfig], settings: DataSettings) -> int:
    """Get every data set there is to get; report each in one line."""
    console = Console(file=sys.stdout, soft_wrap=True, highlight=False, markup=False)
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


def show(configs: list[DatasetConfig], settings: DataSettings) -> int:
    """Print all that is known of data sets."""
    for config in configs:
        known = dataclasses.asdict(config) | {"here": availability(config, settings)}
        known = {key: value for key, value in known.items() if value}
        print(yaml.safe_dump(known, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100))
    return 0


def _chosen(names: list[str], known: Mapping[str, DatasetConfig]) -> list[DatasetConfig]:
    wanted = list(known) if names in ([], ["all"]) else names
    for name in wanted:
        if name not in known:
            raise ConfigError(f"no dataset '{name}'{suggestion(name, known)} (known: {', '.join(known)})")
    return [known[name] for name in wanted]


def _parser() -> argparse.ArgumentParser:
    about = "List data sets and where each would come from, fetch them, or show all that is known of them."
    parser = argparse.ArgumentParser(prog="mloml data", description=about)
    parser.add_argument("command", nargs="?", default="list", choices=("list", "fetch", "show"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets; all by default")
    parser.add_argument("--dir", help="folder with files of your own (default: MLOML_DATA)")
    parser.add_argument("--source", default="auto", help="auto, uci, or a single source")
    parser.add_argument("--offline", action="store_true", help="never touch the network")
    parser.add_argument("--cache", help="folder for what is fetched (default: MLOML_CACHE)")
    own = "folder of configs of your own, like conf/"
    parser.add_argument("-cd", "--config-dir", action="append", default=[], help=own)
    return parser
