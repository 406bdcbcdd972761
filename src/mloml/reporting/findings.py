"""What an artefact says in a few sentences: ``findings.md``, which the report shows before anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mloml.reporting.files import write_text
from mloml.reporting.markdown import document, escape

FINDINGS = "findings.md"


def write_findings(folder: Path, command: str, headline: str, sentences: Sequence[str] = ()) -> None:
    """Write a headline and further sentences; all come from the numbers of this run, never from memory."""
    listed = "\n".join(f"- {escape(sentence)}" for sentence in sentences)
    write_text(folder / FINDINGS, document("In short", [escape(headline), listed], command))


def headline_of(folder: Path) -> str:
    """Return the headline of an artefact's findings as plain text; nothing when it has none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_findings(Path(folder), "make it", "mlprove_paper is missing.", ["More."])
    ...     headline_of(Path(folder)), headline_of(Path(folder, "nowhere"))
    ('mlprove_paper is missing.', '')
    """
    from mloml.reporting.page.markdown import read_document

    path = folder / FINDINGS
    return read_document(path).lead if path.is_file() else ""
