"""All claims, in the order of the paper; what it does not ask comes last."""

from mloml.reporting.claims import convergence, figures, ours, tables, theory

CLAIMS = (*tables.CLAIMS, *convergence.CLAIMS, *figures.CLAIMS, *theory.CLAIMS, *ours.CLAIMS)
