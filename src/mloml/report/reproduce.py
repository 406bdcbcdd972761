"""Make an artefact by its name: compute what is missing, build the document, publish it."""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from inspect import cleandoc
from pathlib import Path

import pandas as pd

from mloml.command_line import Command, Words, process_command
from mloml.config.compose import compose_run, compose_study, own_folder
from mloml.config.overrides import having
from mloml.config.schema import Study
from mloml.errors import ConfigError, MlomlError
from mloml.experiments.manifest import Source, write_manifest
from mloml.experiments.store import COLUMNS
from mloml.experiments.study import StudyResult, run_study
from mloml.output import run_program
from mloml.report import compare
from mloml.report.page import write_report
from mloml.report.publish import context_of, publish
from mloml.report.recipe import Recipe, find_recipe, recipes


def main(name: str) -> None:
    """Do what ``mloml reproduce NAME`` does with this process's arguments: a script is this one call."""
    arguments = process_command().arguments
    command = Command("mloml", ("reproduce", name, *arguments))
    run_program(lambda: run([name, *arguments], command))


def run(arguments: Sequence[str], command: Command) -> int:
    """Make the artefact that a command line names first, all of them (``all``), or say which there are.

    Parameters
    ----------
    arguments : sequence of str
        A name; Hydra overrides; ``--config-dir FOLDER``; ``--cfg job`` shows the config and makes nothing.
    command : Command
        That asked for it.
    """
    if list(arguments) in ([], ["compare"]) or {"-h", "--help"} & set(arguments):
        helps = {"report": report.__doc__, "compare": compare.__doc__}.get("".join(arguments[:1]))
        print(cleandoc(helps) if helps else _list_of_artefacts())
        return 0
    name, words = arguments[0], Words.of(arguments[1:])
    if words.cfg:
        print(words.config_as_yaml("study", _experiment(name)), end="")
        return 0
    overrides = words.with_folders()
    return _all(overrides, command) if name == "all" else reproduce(name, overrides, command)


def _experiment(name: str) -> str:
    """Return the name of the config that an artefact is made from."""
    recipe = None if name in ("all", "report") else find_recipe(name)
    if recipe is None or recipe.work == "reading":
        raise ConfigError(f"--cfg: {name} has no config of its own; name an artefact such as table2")
    return recipe.config


def reproduce(name: str, overrides: Sequence[str], command: Command) -> int:
    """Make an artefact, or the page over all of them (``"report"``); return 1 when a cell failed, else 0.

    Parameters
    ----------
    name : str
        Of a recipe in :mod:`mloml.report.artefacts`, or ``package.module`` of one's own.
    overrides : sequence of str
        Hydra overrides of ``conf/experiment/<name>.yaml``.
    command : Command
        That asked for it.
    """
    if name == "report":
        return report(overrides)
    recipe = find_recipe(name)
    if recipe.work == "reading":
        return from_documents(recipe, results_folder(overrides))
    study, folder = study_and_folder(recipe, overrides)
    if recipe.variants:
        return _side_by_side(recipe, overrides, command, folder)
    make = _from_cells if recipe.work == "cells" else _without_cells
    return make(recipe, study, command, folder)


def study_and_folder(recipe: Recipe, overrides: Sequence[str]) -> tuple[Study, Path]:
    """Return what an artefact is made from, and where it goes.

    ``results/NAME`` is for the experiment as it is: other settings have a folder of their own beside it,
    unless they name one (``name=mine``).
    """
    study = compose_study(recipe.config, overrides)
    if study.name == recipe.config:  # perhaps another artefact's cells
        study = replace(study, name=recipe.name)
    plain = Path(study.execution.results, study.name)
    if having(overrides, "name"):
        return study, plain
    usual = having(overrides, "hydra.searchpath")
    return study, own_folder(plain, overrides, study, lambda: compose_study(recipe.config, usual))


def _list_of_artefacts() -> str:
    found = recipes().items()
    lines = [f"  {name:<12} {recipe.title}" for name, recipe in found]
    apart = ", ".join(name for name, recipe in found if not recipe.in_all)
    lines.append(f"  {'all':<12} Everything but {apart} (long studies, by name only), and the page")
    return "\n".join(["mloml reproduce NAME [overrides] [--config-dir FOLDER]", *lines])


def _all(overrides: Sequence[str], command: Command) -> int:
    """Make every artefact that ``all`` stands for, and the page; what cannot be made is named at the end."""
    results_folder(overrides, must_exist=False)  # an invalid override is one line, not one for every artefact
    incomplete = []
    typed = command.arguments[command.arguments.index("all") + 1 :]
    for name in [name for name, recipe in recipes().items() if recipe.in_all]:
        print(f"== {name}")
        try:
            code = reproduce(name, overrides, Command(command.script, ("reproduce", name, *typed)))
        except SystemExit:  # after Ctrl-C
            print(f"to go on with all of them: {command.typed}")
            raise
        except MlomlError as error:
            print(f"error: {error}", file=sys.stderr)
            code = 1
        incomplete += [name] if code else []
    report(overrides)
    if incomplete:
        print(f"not complete: {', '.join(incomplete)}")
    return int(bool(incomplete))


def report(overrides: Sequence[str]) -> int:
    """Write one HTML page over all that was made: FOLDER/report/index.html.

        mloml report [execution.results=FOLDER]

    What is made of other artefacts' tables is made anew first: the page never shows a claim table that is
    older than the tables it is about. Overrides that are for runs are checked, and have no effect.
    """
    results = results_folder(overrides)
    for recipe in recipes().values():
        if recipe.work == "reading":
            from_documents(recipe, results)
    print(f"written: {write_report(results)}")
    return 0


def results_folder(overrides: Sequence[str], *, must_exist: bool = True) -> Path:
    """Return the results folder that a command line names, ``results`` by default.

    The other words are for runs; they are checked as a run would check them, so that a typing mistake is
    noticed.
    """
    results = Path(compose_study("table2", overrides).execution.results)
    if must_exist and not results.is_dir():
        hint = "unknown folder; `mloml reproduce table2` makes one"
        raise MlomlError(f"execution.results={results}: {hint}")
    return results


def from_documents(recipe: Recipe, results: Path) -> int:
    """Make an artefact of other artefacts' tables, such as the claim table."""
    if recipe.before is None:
        raise ConfigError(f"{recipe.name}: a recipe that reads other artefacts must say how (before)")
    artefact = recipe.build(recipe.before(results))
    context = context_of(recipe, [], f"mloml reproduce {recipe.name}")
    _tell(publish(artefact, recipe, context, results / recipe.name), results / recipe.name)
    return 0


def _from_cells(recipe: Recipe, study: Study, command: Command, folder: Path) -> int:
    measured = [recipe.before(study)] if recipe.before else []

    def write(result: StudyResult) -> str:
        found = [*measured, recipe.after(result)] if recipe.after else measured
        return _publish(recipe, [result], found, result.folder)

    result = run_study(study, folder, write, command=command)
    return int(len(result.failures) > 0)


def _without_cells(recipe: Recipe, study: Study, command: Command, folder: Path) -> int:
    began = time.time()
    if recipe.before is None:
        raise MlomlError(f"{recipe.name}: a recipe without cells must measure something before")
    numbers, data, missing = recipe.before(study)
    sources = {name: Source(d.checksum, d.source, d.regenerated) for name, d in data.items()}
    for reason in dict.fromkeys(missing.values()):
        print(f"missing: {reason}")
    if recipe.work == "data":
        study = replace(study, algorithms=[])
    no_cells = pd.DataFrame(columns=list(COLUMNS))
    result = StudyResult(
        study, folder, no_cells, [], pd.DataFrame(), dict(missing), sources=sources, command=command.asked
    )
    _tell(_publish(recipe, [result], [numbers], folder), folder)
    write_manifest(result, wall_seconds=time.time() - began)
    return 0


def _side_by_side(recipe: Recipe, overrides: Sequence[str], command: Command, folder: Path) -> int:
    """Run each variant of a study; all of the size that is asked for, by a protocol or key by key."""
    own = {word.partition("=")[0] for variant in recipe.variants.values() for word in variant}
    for word in having(overrides, *(own - {"protocol"})):
        raise ConfigError(f"{word}: {recipe.name} compares values of its key, so it sets them itself")
    kept, keys = (
        [word for word in overrides if word not in having(overrides, *own)],
        ("splits", "scans", "folds"),
    )
    asked = having(overrides, "protocol", "hydra.searchpath", *(f"protocol.{key}" for key in keys))
    # An experiment has a size of its own, which a protocol that is typed replaces.
    typed = having(overrides, "protocol")
    protocol = (compose_run(asked).study if typed else compose_study(recipe.config, overrides)).protocol
    size = [f"protocol.{key}={getattr(protocol, key)}" for key in keys]
    results = []
    for name, variant in recipe.variants.items():
        # A protocol that is typed comes first: the variant then replaces its seed.
        study = compose_study(recipe.config, [*kept, *variant, *size])
        results.append(run_study(study, folder / name, command=command))
    _tell(_publish(recipe, results, [], folder), folder)
    return int(any(len(result.failures) for result in results))


def _tell(headline: str, folder: Path) -> None:
    print(f"in short: {headline}\nresults: {folder}")


def _publish(recipe: Recipe, results: Sequence[StudyResult], found: Sequence[object], folder: Path) -> str:
    """Write the artefact's files; return its headline."""
    return publish(recipe.build(*results, *found), recipe, context_of(recipe, results), folder)
