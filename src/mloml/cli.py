"""mloml: online metric learning, and a reproduction of the MLOML paper.

Run one algorithm on one dataset, over all splits:
  mloml dataset=wine algorithm=mloml_r
  mloml dataset=iris algorithm=kissme protocol.splits=5
  mloml dataset=csv dataset.path=mine.csv dataset.label=class
Sweep over any keys; it ends in one table:
  mloml -m dataset=iris,wine algorithm=mloml_r,mloml_t algorithm.n_layers=1,3,5
  mloml -m 'dataset=glob(i*)' 'algorithm.n_layers=range(1,4)'
Compare several algorithms on several datasets in a table of your own:
  mloml compare 'datasets=[iris,wine]' 'algorithms=[euclidean,kissme,moml]' reference=moml
See what data and results there are:
  mloml data list | fetch [NAME ...] | show NAME
  mloml status [FOLDER ...] [--recompute N]
Make the paper's tables and figures, and a page over all that was made:
  mloml reproduce NAME [overrides]     (without a NAME: what there is; `all`: those of the paper)
  mloml reproduce table2 protocol=lite 'datasets=[iris,wine]'
  mloml report

Config groups (choose with GROUP=NAME, change a value with GROUP.KEY=VALUE):
{groups}
Flags: -m sweep; --config-dir FOLDER adds configs of your own (laid out like conf/);
--cfg job shows the composed config without running it; --version; -h this text.
Completion in the shell: eval "$(mloml -sc install=bash)"
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from mloml import __version__
from mloml.command_line import Command, Words, process_command
from mloml.config import conf_dir
from mloml.errors import ConfigError, MlomlError, suggestion
from mloml.output import run_program

# Heavy imports stay inside functions: `mloml --help` answers at once.

# What Hydra's own program answers.
HYDRA_FLAGS = {"-sc", "--shell-completion", "-i", "--info", "--hydra-help"}

COMMANDS = ("data", "status", "reproduce", "compare", "report")

GROUPS = {
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
    for group, words in GROUPS.items():
        names = ", ".join(sorted(path.stem for path in Path(conf_dir(), group).glob("[!_]*.yaml")))
        lines.append(f"  {group}: {words}\n      {names}\n")
    return str(__doc__).format(groups="".join(lines))


def _dispatch(command: Command) -> int:
    arguments = list(command.arguments)
    if arguments and arguments[0] in COMMANDS:
        return _run_command(arguments[0], arguments[1:], command)
    flags = {word.partition("=")[0] for word in arguments if word.startswith("-")}
    if flags & {"-h", "--help"}:
        print(help_text(), end="")
    elif "--version" in flags:
        print(f"mloml {__version__}")
    elif flags & HYDRA_FLAGS:
        _ask_hydra(arguments)
    else:
        words = Words.of(arguments, sweeps=True)
        for word in words.overrides:
            if re.fullmatch(r"[a-z_]+", word):
                hint = suggestion(word, [*COMMANDS, *(f"{group}=NAME" for group in GROUPS)])
                raise ConfigError(f"{word}: neither key=value nor a command, which comes first{hint}")
        if not words.cfg:
            return _run(words, command)
        print(words.config_as_yaml("config"), end="")
    return 0


def _run_command(name: str, arguments: list[str], command: Command) -> int:
    if name == "data":
        from mloml.datasets.commands import main as data

        return data(arguments)
    if name == "status":
        from mloml.experiments.status import main as status

        return status(arguments)
    from mloml.report.reproduce import run

    return run(arguments if name == "reproduce" else [name, *arguments], command)


def _run(words: Words, command: Command) -> int:
    """Run one job, or those of a sweep one after another; the exit code is 1 when any cell is missing.

    All are composed first: a mistake costs no computation, and nothing is written before.
    """
    from mloml.config.compose import compose_run, single_jobs
    from mloml.config.overrides import having, own_name
    from mloml.experiments.store import Store

    overrides = words.with_folders()
    if words.multirun and not having(overrides, "hydra.sweep.dir"):
        name = own_name(words.overrides, overrides)
        overrides.append(f"hydra.sweep.dir=${{execution.results}}/sweeps/{name}")
    jobs = single_jobs(overrides) if words.multirun else [overrides]
    runs = [compose_run(job, number if words.multirun else None) for number, job in enumerate(jobs)]
    for results in {run.study.execution.results for run in runs}:
        Store(Path(results, "store")).require_writable()

    if words.multirun:
        from mloml.report.sweep import run_sweep

        return run_sweep(jobs, runs, command)

    from mloml.experiments.study import run_study

    try:
        return int(len(run_study(runs[0].study, runs[0].folder, command=command).failures) > 0)
    except MlomlError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _ask_hydra(arguments: list[str]) -> None:
    """Let Hydra's own program answer: completion in the shell, and where a config comes from."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra

    GlobalHydra.instance().clear()
    folder = re.search(r"(-cd|--config-dir)[= ](\S+)", os.environ.get("COMP_LINE", ""))
    sys.argv = ["mloml", *arguments, *(["--config-dir", folder[2]] if folder else [])]  # where Hydra looks
    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(lambda _: None)()
    except (TypeError, ValueError) as error:  # argparse of Python 3.14 refuses the parser of Hydra 1.3
        raise ConfigError(f"{arguments[0]}: Hydra's own program does not run here ({error})") from None


if __name__ == "__main__":
    main()
