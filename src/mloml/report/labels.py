"""What tables and figures must know of a study besides its cells: order, titles and footnotes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mloml.paper.published import ACCIDENTS, ALGORITHMS, DATASETS
from mloml.report.document import Text

if TYPE_CHECKING:
    from mloml.config.schema import DatasetConfig
    from mloml.experiments.study import StudyResult

NOT_HERE = "not available here: see mloml data list"
"""Why each is missing, and which files would do, is said by the run and by Table I; a footnote is short."""
REGENERATED = "regenerated: drawn anew from the published generator, not UCI's own rows"


@dataclass(frozen=True)
class Labels:
    """Order, titles and footnotes.

    Parameters
    ----------
    datasets, algorithms : mapping from name to printed title, in the order of rows and columns
    splits : number of splits a complete cell has
    notes : footnotes of datasets and algorithms, by name
    missing : datasets that could not be had, with the footnote that says so
    uncounted : datasets shown below the rule
    groups : heading above an algorithm's column, by name
    regenerated : datasets whose rows are another draw than the paper's
    """

    datasets: Mapping[str, str]
    algorithms: Mapping[str, str]
    splits: int
    notes: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    uncounted: frozenset[str] = frozenset()
    groups: Mapping[str, str] = field(default_factory=dict)
    regenerated: frozenset[str] = frozenset()

    def note_of(self, name: str) -> str:
        """Return the footnote of a dataset or algorithm; why a dataset is missing comes before all else."""
        return self.missing.get(name) or self.notes.get(name, "")

    @property
    def counted(self) -> list[str]:
        """Datasets above the rule."""
        return [name for name in self.datasets if name not in self.uncounted]

    @property
    def gap(self) -> str:
        """What a dash in a grid of means says."""
        return f"A dash: not all {self.splits} splits are there."

    def starred(self, names: Iterable[str]) -> dict[str, str]:
        """Return titles for a picture: an asterisk sends the reader to the notes.

        >>> labels = Labels({}, {"mlcc": "ML-CC", "moml": "MOML"}, 30, notes={"mlcc": "reconstruction"})
        >>> labels.starred(["mlcc", "moml"])
        {'mlcc': 'ML-CC*', 'moml': 'MOML'}
        """
        titles = {**self.datasets, **self.algorithms}
        return {name: f"{titles[name]}*" if self.notes.get(name) else titles[name] for name in names}

    def footnotes(self, titles: Mapping[str, str]) -> str:
        """Return sentences on what the asterisks in a picture mean.

        >>> labels = Labels({}, {}, 30, notes={"mlcc": "reconstruction"})
        >>> labels.footnotes({"mlcc": "ML-CC*", "moml": "MOML"})
        ' ML-CC*: reconstruction.'
        """
        asked: dict[str, list[str]] = {}
        for name, title in titles.items():
            if note := self.note_of(name):
                asked.setdefault(note.rstrip("."), []).append(title)
        return "".join(f" {', '.join(names)}: {note}." for note, names in asked.items())

    def left_out(self, asked: Iterable[str], there: Container[str]) -> str:
        """Return a sentence on the datasets that a picture has no panel of.

        >>> labels = Labels({"iris": "iris", "pems": "pems"}, {}, 30, missing={"pems": NOT_HERE})
        >>> labels.left_out(["iris", "pems"], {"iris"})
        ' Not shown: pems (not available here: see mloml data list).'
        """
        reasons: dict[str, list[str]] = {}
        for name in asked:
            if name not in there:
                reasons.setdefault(self.missing.get(name, "no finished cells"), []).append(
                    self.datasets[name]
                )
        listed = [f"{', '.join(names)} ({reason})" for reason, names in reasons.items()]
        return f" Not shown: {'; '.join(listed)}." if listed else ""

    def notes_text(self, *, starred: bool = False) -> Text:
        """Return the footnotes of all datasets and algorithms, for pages without a grid that has them."""
        titles = {**self.datasets, **self.algorithms}
        titles = self.starred(titles) if starred else titles
        notes = tuple(
            f"{title}: {self.note_of(name)}" for name, title in titles.items() if self.note_of(name)
        )
        return Text(notes, heading="Notes" if notes else "", listed=True)


def labels_of(result: StudyResult, groups: Mapping[str, str] | None = None) -> Labels:
    """Return the labels of a study's tables: the paper's order first, then whatever else was asked for."""
    study = result.study
    uncounted = below_the_rule(study.protocol.name)
    configs = {config.name: config for config in study.datasets}
    titles = {algorithm.name: algorithm.title for algorithm in study.algorithms}
    # Only Table II has an order in the paper that a study may not follow.
    printed = [] if groups else [name for name in ALGORITHMS.values() if name in titles]
    columns = dict.fromkeys([*printed, *titles])
    notes = {a.name: a.note for a in study.algorithms if a.note}
    for name, config in configs.items():
        drawn_anew = REGENERATED if _drawn_anew(result, name) else ""
        if note := "; ".join(filter(None, [config.footnote, drawn_anew])):
            notes[name] = note
    return Labels(
        datasets={name: _title(configs[name], uncounted) for name in sorted(configs, key=_place)},
        algorithms={name: titles[name] for name in columns},
        splits=study.protocol.splits,
        notes=notes,
        missing=dict.fromkeys(result.missing, NOT_HERE),
        uncounted=uncounted & frozenset(configs),
        groups=groups or {},
        regenerated=frozenset(name for name in configs if _drawn_anew(result, name)),
    )


def _drawn_anew(result: StudyResult, dataset: str) -> bool:
    source = result.sources.get(dataset)
    return source is not None and source.regenerated


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
