"""A compiled L-BFGS, and what large-margin objectives share."""
