"""What follows from finished cells: statistics, the paper's figures, theory, timing."""
