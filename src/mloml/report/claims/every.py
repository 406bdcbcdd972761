"""All claims, in the order of the paper; what it does not ask comes last."""

from mloml.report.claims import convergence, figures, ours, tables, theory

CLAIMS = (*tables.CLAIMS, *convergence.CLAIMS, *figures.CLAIMS, *theory.CLAIMS, *ours.CLAIMS)
