"""Each claim of the paper: what it reports, what was measured, and a verdict by a rule beside it."""

from mloml.reporting.claims.claim import VERDICTS, Answer, Claim
from mloml.reporting.claims.every import CLAIMS
from mloml.reporting.claims.published import Published, read_published, read_runs

__all__ = ["CLAIMS", "VERDICTS", "Answer", "Claim", "Published", "read_published", "read_runs"]
