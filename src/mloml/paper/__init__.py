"""The paper's numbers as data, and the comparison with them."""

# fmt: off
from mloml.paper.comparison import compare_conclusions, compare_means, verdict_counts
from mloml.paper.published import (
    ALGORITHMS, DATASETS, SPLITS, draws, paper_row, table1, table2, table2_counts, table3, table3_counts,
)
