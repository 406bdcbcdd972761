"""The paper's numbers as data, and the comparison with them."""

# fmt: off
from mloml.paper.comparison import (
    agreement_worth, compare_conclusions, compare_gains, compare_means, other_columns, verdict_counts,
)
from mloml.paper.published import (
    ALGORITHMS, DATASETS, SPLITS, draws, paper_row, table1, table2, table2_counts, table3, table3_counts,
)
