"""`mloml`: run one (dataset, algorithm) or a sweep; see what data and results there are; reproduce."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mloml import __version__
from mloml.command_line import Command, Words, process_command
from mloml.completion import complete, is_completion
from mloml.config.paths import conf_dir
from mloml.errors import ConfigError, MlomlError, StoreError, suggestion
from mloml.output import run_program

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from mloml.experiments.study import StudyResult

# Heavy imports stay inside functions: `mloml --help` answers at once.

LONGEST_NAME = 60
"""Characters of a sweep's folder name, besides its hash."""

FLAGS = (
    "-m", "--multirun", "-c", "--cfg", "--resolve", "-p", "--package", "-i", "--info", "-r", "--run",
    "-cp", "--config-path", "-cn", "--config-name", "-sc", "--shell-completion", "--hydra-help",
)  # fmt: skip
"""Those of Hydra that make sense here; no others are known."""

COMMANDS = ("data", "status", "reproduce", "report")

HELP = """\
mloml: online metric learning, and a reproduction of the MLOML paper.

Run one algorithm on one dataset, over all splits:
  mloml dataset=wine algorithm=mloml_r
  mloml dataset=iris algorithm=kissme protocol.splits=5
  mloml dataset=csv dataset.path=mine.csv dataset.label=class
Sweep over any keys; it ends in one table:
  mloml -m dataset=iris,wine algorithm=mloml_r,mloml_t algorithm.n_layers=1,3,5
See what data and results there are:
  mloml data list | fetch [NAME ...] | show NAME
  mloml status [FOLDER ...] [--recompute N]
Make the paper's tables and figures, and a page over all that was made:
  mloml reproduce NAME [overrides]     (without a NAME: what there is; `all`: everything)
  mloml reproduce table2 protocol=lite 'datasets=[iris,wine]'
  mloml report

Config groups (choose with GROUP=NAME, change a value with GROUP.KEY=VALUE):
{groups}
Flags: -m sweep; --config-dir FOLDER adds configs of your own (laid out like conf/);
--cfg job shows the composed config without running it; --version; -h this text.
"""

GROUP_WORDS = {
    "dataset": "what to learn from",
    "algorithm": "which metric learner; null parameters are chosen by cross-validation over algorithm.grid",
    "protocol": "how it is judged: splits, scans, folds, preprocessing",
    "execution": "where cells run, how many at once, what happens on failure; never changes a result",
    "data": "where data may come from: your folder (data.dir), the cache, the network",
}


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script; ends the program with an exit code."""
    command = process_command() if argv is None else Command("mloml", tuple(argv))
    run_program(lambda: _dispatch(command))


def help_text() -> str:
    """Return the help page: the groups in words, with the names they know."""
    lines = []
    for group, words in GROUP_WORDS.items():
        names = ", ".join(sorted(path.stem for path in Path(conf_dir(), group).glob("*.yaml")))
        lines.append(f"  {group}: {words}\n      {names}\n")
    return HELP.format(groups="".join(lines))


def sweep_name(overrides: Sequence[str]) -> str:
    """Name a sweep after its overrides, so that the same sweep meets its folder again.

    >>> sweep_name(["dataset=iris,wine", "algorithm=moml"])
    'dataset-iris_wine-algorithm-moml-...'
    """
    slug = ""
    for override in overrides:
        word = re.sub(r"[^A-Za-z0-9.-]+", "_", override.replace("=", "-")).strip("_-.")
        if slug and len(slug) + len(word) > LONGEST_NAME:
            break
        slug = f"{slug}-{word}" if slug else word[:LONGEST_NAME]
    return f"{slug or 'defaults'}-{sha256('-'.join(overrides).encode()).hexdigest()[:8]}"


def _dispatch(command: Command) -> int:
    arguments = list(command.arguments)
    if arguments and arguments[0] in COMMANDS:
        return _run_command(arguments[0], arguments[1:], command)
    if {"-h", "--help"} & set(arguments):
        print(help_text(), end="")
        return 0
    if "--version" in arguments:
        print(f"mloml {__version__}")
        return 0
    if is_completion(arguments):
        return complete()
    words = Words.of(arguments)
    _require_known(words)
    overrides = words.with_folders()
    if set(words.flags) <= {"-m", "--multirun"}:
        _check(overrides, words.is_sweep)
    return _hydra(overrides, words, command)


def _require_known(words: Words) -> None:
    """Refuse flags and bare words that mean nothing, which Hydra would answer with a page."""
    for word in words.flags:
        flag, _, value = word.partition("=")
        if word.startswith("-") and flag not in FLAGS:
            group = flag.strip("-")
            hint = f"; did you mean {group}={value or 'NAME'}?" if group in GROUP_WORDS else ""
            raise ConfigError(f"{flag}: no such flag, only -m, --config-dir, --cfg, --version and -h{hint}")
    if "--resolve" in words.flags and not {"-c", "--cfg"} & set(words.flags):
        raise ConfigError("--resolve: goes with --cfg job only")
    for word in words.overrides:
        if word in GROUP_WORDS and word not in COMMANDS:
            raise ConfigError(f"{word}: a value must follow, {word}=NAME")
        if re.fullmatch(r"[a-z]+", word):
            known = ", ".join(COMMANDS)
            raise ConfigError(
                f"{word}: neither key=value nor a command ({known}){suggestion(word, COMMANDS)}"
            )


def _run_command(name: str, arguments: list[str], command: Command) -> int:
    if name == "data":
        from mloml.datasets.commands import main as data

        return data(arguments)
    if name == "status":
        from mloml.report.status import main as status

        return status(arguments)
    from mloml.report.reproduce import run

    return run(arguments if name == "reproduce" else ["report", *arguments], command)


def _check(overrides: list[str], is_sweep: bool) -> None:
    """Build every study of the run once, so that a slip costs no computation; nothing is written before."""
    from mloml.config.compose import compose_config, study_from_config
    from mloml.config.overrides import single_jobs
    from mloml.experiments.store import Store

    jobs = single_jobs(overrides) if is_sweep else [overrides]
    studies = [study_from_config(compose_config("config", job), "run") for job in jobs]
    for results in {study.execution.results for study in studies}:
        Store(Path(results, "store")).require_writable()


def _hydra(overrides: list[str], words: Words, command: Command) -> int:
    """Hand over to Hydra; the exit code is 1 when any cell failed or a dataset was missing."""
    import hydra
    import yaml
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from mloml.config.overrides import number_of_jobs
    from mloml.config.plain_yaml import yaml_problem

    jobs = Jobs(command, number_of_jobs(overrides) if words.is_sweep else 0)
    added = []
    if words.is_sweep and not any(word.startswith("hydra.sweep.dir=") for word in overrides):
        added.append(f"hydra.sweep.dir=${{execution.results}}/sweeps/{sweep_name(words.overrides)}")
    GlobalHydra.instance().clear()
    sys.argv = [command.script, *words.flags, *added, *overrides]  # where Hydra finds them
    os.environ["HYDRA_FULL_ERROR"] = "1"  # let errors through to us
    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(jobs.run)()
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(" ".join(str(error).split())) from None
    except yaml.YAMLError as error:
        file = getattr(getattr(error, "problem_mark", None), "name", "a config file")
        raise ConfigError(f"{file}: {yaml_problem(error)}") from None
    return jobs.end()


class Jobs:
    """The jobs that Hydra starts, one or a sweep's: what they came to, and the table at the end.

    Hydra's own callbacks would do, but turn an error into a warning: a table that could not be written
    would be a success.
    """

    def __init__(self, command: Command, count: int) -> None:
        self._command, self._count = command, count
        self._results: list[StudyResult | None] = []
        self._rows: list[dict[str, Any]] = []
        self._folder = Path()
        self._stopped = False

    def run(self, config: DictConfig) -> None:
        """Run one; when the results cannot be written, those that follow are not tried."""
        from hydra.core.hydra_config import HydraConfig

        result = None if self._stopped else self._attempt(config)
        self._results.append(result)
        if self._count:
            from mloml.report.sweep import job_row

            hydra = HydraConfig.get()
            self._folder = Path(hydra.sweep.dir)
            self._rows.append(job_row(list(hydra.overrides.task), result))

    def end(self) -> int:
        """Write a sweep's table; return 1 when any cell failed or a dataset was missing."""
        if self._count and not self._stopped:
            from mloml.report.sweep import write_sweep

            write_sweep(self._folder, self._rows)
        return int(any(result is None or len(result.failures) > 0 for result in self._results))

    def _attempt(self, config: DictConfig) -> StudyResult | None:
        try:
            return run_job(config, self._command, self._count)
        except StoreError as error:
            print(f"error: {error}", file=sys.stderr)
            self._stopped = True
            return None


def run_job(config: DictConfig, command: Command, jobs: int = 0) -> StudyResult | None:
    """Run one Hydra job, one (dataset, algorithm) over all its splits; None when it could not.

    One of the ``jobs`` of a sweep prints a single line; the sweep's table follows at its end. Results that
    cannot be written concern every job, so that is raised.
    """
    from hydra.core.hydra_config import HydraConfig

    from mloml.config.compose import study_from_config
    from mloml.experiments.study import run_study

    hydra = HydraConfig.get()
    folder, overrides = Path(hydra.runtime.output_dir), list(hydra.overrides.task)
    if folder.is_relative_to(Path.cwd()):  # as short as `mloml reproduce` says it
        folder = folder.relative_to(Path.cwd())
    words = [f"job {hydra.job.num + 1} of {jobs}", " ".join(overrides)] if jobs else []
    label = ": ".join(word for word in words if word)
    try:
        study = study_from_config(config, "runs", tuple(hydra.searchpath))
        return run_study(study, folder=folder, command=command, one_line=label)
    except MlomlError as error:
        message = f"{label}: {error}" if label else str(error)
        if isinstance(error, StoreError):
            raise StoreError(message) from None
        print(f"error: {message}", file=sys.stderr)
        return None


if __name__ == "__main__":
    main()
