"""``mloml data list | fetch | show``: what there is, where it comes from, and getting it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table as RichTable

from mloml.config.tree import search_path, search_path_override
from mloml.datasets.catalogue import DatasetConfig, DataSettings, catalogue
from mloml.datasets.loading import availability, load
from mloml.errors import ConfigError, MlomlError, suggestion
from mloml.output import OutputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the commands; return 0 when all that was asked for is there."""
    arguments = _parser().parse_args(argv)
    settings = DataSettings(
        dir=arguments.dir, source=arguments.source, offline=arguments.offline, cache=arguments.cache
    )
    try:
        known = catalogue(search_path([search_path_override(arguments.config_dir)]))
        if arguments.command == "fetch":
            return fetch(_chosen(arguments.names, known), settings)
        if arguments.command == "show":
            return show(_chosen([arguments.name], known)[0], settings)
        return list_all(known, settings)
    except OutputError:
        raise
    except MlomlError as error:
        print(f"mloml data: {error}", file=sys.stderr)
        return 1


def list_all(known: Mapping[str, DatasetConfig], settings: DataSettings) -> int:
    """Print all datasets: size, classes and whether each is here; `show` tells its sources."""
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "rows", "features", "classes", "here"):
        number = column in ("rows", "features", "classes")
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for name, config in known.items():
        size = ("" if number is None else str(number) for number in (config.rows, config.features))
        table.add_row(name, *size, str(len(config.class_counts) or ""), _here(config, settings))
    _console().print(table)
    _console().print(f"cache: {settings.cache_folder()}", soft_wrap=True, highlight=False)
    return 0


def fetch(configs: list[DatasetConfig], settings: DataSettings) -> int:
    """Get every dataset there is to get; report each in one line."""
    console, missing = _console(), 0
    width = max(len(config.name) for config in configs)
    for config in configs:
        try:
            dataset = load(config, settings)
        except MlomlError as error:
            missing += 1
            report = str(error)
        else:
            mark = ", regenerated" if dataset.regenerated else ""
            rows, features = dataset.X.shape
            report = f"{rows} x {features}, {len(dataset.labels)} classes, from {dataset.source}{mark}"
        prefix = "" if report.startswith(config.name) else f"{config.name:{width}}  "
        console.print(prefix + report, soft_wrap=True, highlight=False, markup=False)
    console.print(f"{len(configs) - missing} of {len(configs)} datasets are here", highlight=False)
    return 1 if missing else 0


def show(config: DatasetConfig, settings: DataSettings) -> int:
    """Print all that is known of one dataset."""
    lines = {
        "title": config.title,
        "here": _here(config, settings),
        "rows x features": f"{config.rows} x {config.features}" if config.rows else None,
        "classes": ", ".join(f"{k}: {'?' if n is None else n}" for k, n in config.class_counts.items()),
        "file": config.path,
        "label": config.label,
        "UCI": str(config.uci_id or ("" if config.path else "not served")),
        "sources": f"made from {config.base} ({config.variant})"
        if config.base
        else ", ".join(config.sources),
        "files": ", ".join(config.original.files) if config.original else None,
        "licence": config.licence,
        "note": config.note,
    }
    for key, value in lines.items():
        if value:
            _console().print(f"{key:>16}  {value}", soft_wrap=True, highlight=False, markup=False)
    return 0


def _here(config: DatasetConfig, settings: DataSettings) -> str:
    found = availability(config, settings)
    if not found.network:
        return found.here or "missing"
    return f"{found.here}, or fetch it" if found.here else "not yet, fetch it"


def _chosen(names: list[str], known: Mapping[str, DatasetConfig]) -> list[DatasetConfig]:
    wanted = list(known) if names in ([], ["all"]) else names
    for name in wanted:
        if name not in known:
            hint = suggestion(name, known)
            raise ConfigError(f"no dataset '{name}'{hint} (known: {', '.join(known)})")
    return [known[name] for name in wanted]


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--dir", help="folder with files of your own (default: MLOML_DATA)")
    common.add_argument("--source", default="auto", help="auto, uci, or a single source")
    common.add_argument("--offline", action="store_true", help="never touch the network")
    common.add_argument(
        "--cache", help="folder for what is fetched (default: MLOML_CACHE, or the platform's)"
    )
    common.add_argument(
        "-cd", "--config-dir", action="append", default=[], help="folder of configs of your own, like conf/"
    )
    parser = argparse.ArgumentParser(prog="mloml data", description="The datasets: list, fetch, show.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", parents=[common], help="all datasets, and where each would come from")
    fetching = commands.add_parser("fetch", parents=[common], help="get datasets, all by default")
    fetching.add_argument("names", nargs="*", metavar="NAME", help="datasets, or all")
    showing = commands.add_parser("show", parents=[common], help="all that is known of one dataset")
    showing.add_argument("name", metavar="NAME")
    return parser


def _console() -> Console:
    return Console(file=sys.stdout)
