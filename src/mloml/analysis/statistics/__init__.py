"""Statistics over the errors of splits: paired tests, win/tie/loss, ranks, a test of printed means."""

from mloml.analysis.statistics.compare import against_reference, counts_against_reference, surviving
from mloml.analysis.statistics.gains import Gain, gain
from mloml.analysis.statistics.means import welch
from mloml.analysis.statistics.paired import Difference, corrected_t, holm, outcome, paired_t, wilcoxon
from mloml.analysis.statistics.ranks import Ranking, critical_difference, rank_algorithms
from mloml.analysis.statistics.survival import median_time

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
