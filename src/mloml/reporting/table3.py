"""Table III: BP, FBP and FP for three activations, and what the paper's text claims about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mloml import paper
from mloml.commands import this_command
from mloml.reporting.bp_rate import write_bp_rate
from mloml.reporting.context import labels_of
from mloml.reporting.convergence import write_convergence
from mloml.reporting.cost import cost_sentences
from mloml.reporting.findings import write_findings
from mloml.reporting.model import Table
from mloml.reporting.paper_comparison import write_paper_comparison
from mloml.reporting.strategies import STRATEGIES, activations, references, strategy_of
from mloml.reporting.table2 import survival_sentence, write_table_files
from mloml.reporting.tables import Results, build_table, summarise

if TYPE_CHECKING:
    from mloml.study import StudyResult

WRONG_MARKERS = (
    "Three filled markers of the paper's table (spect FBP of s, waveform FBP of t, mlprove FBP of t) "
    "contradict its own means and its win/tie/loss row; they are read as open ones here."
)


def write_table3(result: StudyResult) -> None:
    """Write every file of Table III from the cells there are; safe to call while cells come in."""
    folder, command, protocol = result.folder, this_command(), result.study.protocol
    names = [algorithm.name for algorithm in result.study.algorithms]
    titles = activations(names)
    labels = labels_of(result, {name: titles[strategy_of(name)[0]] for name in names})
    results = summarise(result.frame, labels, references(names))
    agreement = write_paper_comparison(
        results, paper.table3(), paper.table3_counts(), folder, "Table III", command, [WRONG_MARKERS]
    )
    rate_headline, rate = write_bp_rate(results, protocol.bp_rate, folder, command)
    speed = write_convergence(result, labels, command)
    cost = cost_sentences(folder)
    survival = survival_sentence(results)
    write_findings(folder, command, f"{agreement} {rate_headline}".rstrip(), [survival, *rate, *speed, *cost])
    parts = [
        f"{survival} Every p-value is in tests.csv.",
        agreement + " Details: [paper_comparison.md](paper_comparison.md). " + WRONG_MARKERS,
        _section("How much of FP's lead is BP's learning rate?", rate, "bp_rate.md"),
        _section("Does FP speed up BP's convergence?", speed, "convergence.md"),
        _section("What does a triplet cost?", cost, "cost.md") if cost else "",
    ]
    write_table_files(results, table3(results, protocol.name), folder, "table3", "Table III", parts, command)


def table3(results: Results, protocol: str) -> Table:
    """Return Table III in the paper's layout: BP, FBP and FP of each activation."""
    shown = [name for name in results.labels.algorithms if strategy_of(name)[1] != "bp_cv"]
    titles = {name: STRATEGIES[strategy_of(name)[1]] for name in shown}
    splits = results.labels.splits
    caption = (
        f"Error rates (mean ± standard deviation over {splits} splits) of backward (BP), forward-backward "
        f"(FBP) and forward propagation (FP), protocol {protocol}; win/tie/loss counts of FP."
    )
    remark = (
        f"•/◦: FP of the same activation is significantly better/worse than the column (paired two-sided "
        f"t-test over the {splits} splits, 5 % level). Bold: the lowest mean of the activation, as printed."
    )
    return build_table(results, caption, "tab:table3", shown, titles, [remark])


def _section(title: str, sentences: list[str], link: str) -> str:
    return (
        f"## {title}\n\n" + "\n".join(f"- {text}" for text in sentences) + f"\n\nDetails: [{link}]({link})."
    )
