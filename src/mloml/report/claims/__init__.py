"""Each claim of the paper: what it reports, what was measured, and a verdict by a rule beside it."""

from mloml.report.claims.claim import VERDICTS, Answer, Claim
from mloml.report.claims.every import CLAIMS
from mloml.report.claims.published import Published, read_published, read_runs

__all__ = ["CLAIMS", "VERDICTS", "Answer", "Claim", "Published", "read_published", "read_runs"]
