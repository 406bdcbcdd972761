"""What tables must know of a study besides its cells: order, titles and footnotes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mloml.paper.published import ACCIDENTS, ALGORITHMS, DATASETS
from mloml.reporting.markdown import escape
from mloml.reporting.tables import Labels

if TYPE_CHECKING:
    from mloml.config import DatasetConfig
    from mloml.study import StudyResult

NOT_HERE = "not available here: see mloml data list"
"""Why each is missing, and which files would do, is said by the run and by Table I; a footnote is short."""
REGENERATED = "regenerated: drawn anew from the published generator, not UCI's own rows"


def labels_of(result: StudyResult, groups: Mapping[str, str] | None = None) -> Labels:
    """Return the labels of a study's tables: the paper's order first, then whatever else was asked for."""
    study = result.study
    uncounted = below_the_rule(study.protocol.name)
    configs = {config.name: config for config in study.datasets}
    titles = {algorithm.name: algorithm.title for algorithm in study.algorithms}
    paper_columns = [name for name in ALGORITHMS.values() if name in titles]
    # Only Table II has an order in the paper that a study may not follow.
    columns = (
        [*paper_columns, *(name for name in titles if name not in paper_columns)]
        if not groups
        else list(titles)
    )
    notes = {a.name: a.note for a in study.algorithms if a.note}
    notes |= {name: note for name, config in configs.items() if (note := _note(config, result.folder))}
    return Labels(
        datasets={name: _title(configs[name], uncounted) for name in sorted(configs, key=_place)},
        algorithms={name: titles[name] for name in columns},
        splits=study.protocol.splits,
        notes=notes,
        missing=dict.fromkeys(result.missing, NOT_HERE),
        uncounted=uncounted & frozenset(configs),
        groups=groups or {},
    )


def settled(result: StudyResult) -> bool:
    """Tell whether every cell was computed or has failed: pictures wait for that, tables do not."""
    return not (result.frame["status"] == "missing").any()


def notes_paragraph(labels: Labels) -> str:
    """Spell out the footnotes of all datasets and algorithms, for pages without a table that carries them."""
    titles = {**labels.datasets, **labels.algorithms}
    notes = {name: labels.note_of(name) for name in titles}
    lines = [f"- {escape(titles[name])}: {escape(note)}" for name, note in notes.items() if note]
    return "\n".join(["## Notes", "", *lines]) if lines else ""


def starred(labels: Labels, names: Mapping[str, str]) -> dict[str, str]:
    """Return titles for a picture: an asterisk sends the reader to the notes.

    >>> starred(Labels({}, {}, 30, notes={"mlcc": "reconstruction"}), {"mlcc": "ML-CC", "moml": "MOML"})
    {'mlcc': 'ML-CC*', 'moml': 'MOML'}
    """
    return {name: f"{title}*" if labels.notes.get(name) else title for name, title in names.items()}


def below_the_rule(protocol: str) -> frozenset[str]:
    """Return the datasets that a protocol shows without counting them.

    ``clean`` counts spect and mlprove with their true labels; every other protocol, as the paper, its own
    accidental variants of the two.

    >>> sorted(below_the_rule("paper")), sorted(below_the_rule("clean"))
    (['mlprove', 'spect'], ['mlprove_paper', 'spect_paper'])
    """
    return frozenset(ACCIDENTS.values()) if protocol == "clean" else frozenset(ACCIDENTS)


def row_name(dataset: str) -> str:
    """Return the paper's name of the row a dataset stands in, whichever variant of it.

    >>> row_name("spect_paper"), row_name("spect"), row_name("mine")
    ('spect', 'spect', 'mine')
    """
    return next((row for row, variant in ACCIDENTS.items() if variant == dataset), dataset)


def _place(dataset: str) -> int:
    row = row_name(dataset)
    return DATASETS.index(row) if row in DATASETS else len(DATASETS)


def _title(config: DatasetConfig, uncounted: frozenset[str]) -> str:
    row = row_name(config.name)
    if row not in DATASETS:
        return config.title or config.name
    if config.name not in uncounted:
        return row
    return f"{row} (true)" if config.name == row else f"{row} (paper's)"


def _note(config: DatasetConfig, folder: Path) -> str:
    notes = [config.footnote or "", REGENERATED if config.name in _regenerated(folder) else ""]
    return "; ".join(note for note in notes if note)


def _regenerated(folder: Path) -> set[str]:
    """Return the datasets that the study's manifest marks as regenerated."""
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        return set()
    datasets = json.loads(manifest.read_text(encoding="utf-8")).get("datasets", {})
    return {name for name, source in datasets.items() if source.get("regenerated")}
