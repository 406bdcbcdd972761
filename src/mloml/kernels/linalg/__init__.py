"""Linear algebra on square matrices, compiled."""
