"""Statistics over the errors of splits: paired tests, win/tie/loss, ranks, a test of printed means."""

from mloml.paper.statistics.compare import against_reference, counts_against_reference, surviving
from mloml.paper.statistics.gains import Gain, gain
from mloml.paper.statistics.means import welch
from mloml.paper.statistics.paired import Difference, corrected_t, holm, outcome, paired_t, wilcoxon
from mloml.paper.statistics.ranks import Ranking, critical_difference, rank_algorithms
from mloml.paper.statistics.survival import median_time

__all__ = [
    "Difference",
    "Gain",
    "Ranking",
    "against_reference",
    "corrected_t",
    "counts_against_reference",
    "critical_difference",
    "gain",
    "holm",
    "median_time",
    "outcome",
    "paired_t",
    "rank_algorithms",
    "surviving",
    "welch",
    "wilcoxon",
]
