"""Statistics over the errors of splits: paired tests, win/tie/loss, ranks, a test of printed means."""

# fmt: off
from mloml.paper.statistics.compare import (
    COLUMNS, OUTCOMES, Halves, Pair, against_reference, compare_family, complete_errors,
    counts_against_reference, on_each_set, signed_rank_direction, surviving, win_tie_loss,
)
from mloml.paper.statistics.means import (
    PRINTED_ROUNDING, Ranking, Spread, critical_difference, median_time, rank_algorithms, spread_of_draws,
    welch, welch_half_width,
)
from mloml.paper.statistics.paired import (
    Difference, Gain, corrected_t, gain, holm, outcome, paired_t, wilcoxon,
)
