"""What tables and figures must know of a study besides its cells: order, titles and footnotes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mloml.config.schema import DatasetConfig
from mloml.experiments.study import StudyResult
from mloml.paper.published import ACCIDENTS, ALGORITHMS, DATASETS

# Why each is missing, and which files would do, is said by the run and by Table I; a footnote is short.
NOT_HERE = "not available here: see mloml data list"
REGENERATED = "regenerated: drawn anew from the published generator, not UCI's own rows"


@dataclass(frozen=True)
class Labels:
    """Order, titles and footnotes.

    Parameters
    ----------
    datasets, algorithms : mapping from name to printed title, in the order of rows and columns
    splits : number of splits a complete cell has
    notes : footnotes of datasets and algorithms, by name
    missing : datasets that could not be loaded, with the footnote that says so
    uncounted : datasets shown below the rule
    groups : heading above an algorithm's column, by name
    regenerated : datasets whose rows are another draw than the paper's
    trial : whether the run is too small for verdicts
    """

    datasets: Mapping[str, str]
    algorithms: Mapping[str, str]
    splits: int
    notes: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    uncounted: frozenset[str] = frozenset()
    groups: Mapping[str, str] = field(default_factory=dict)
    regenerated: frozenset[str] = frozenset()
    trial: bool = False

    def note_of(self, name: str) -> str:
        """Return the footnote of a dataset or algorithm; why a dataset is missing comes before all else."""
        return self.missing.get(name) or self.notes.get(name, "")

    @property
    def counted(self) -> list[str]:
        """Datasets above the rule."""
        return [name for name in self.datasets if name not in self.uncounted]

    def starred(self, names: Iterable[str]) -> dict[str, str]:
        """Return titles for a figure: an asterisk sends the reader to the notes.

        >>> labels = Labels({}, {"mlcc": "ML-CC", "moml": "MOML"}, 30, notes={"mlcc": "reconstruction"})
        >>> labels.starred(["mlcc", "moml"])
        {'mlcc': 'ML-CC*', 'moml': 'MOML'}
        """
        titles = {**self.datasets, **self.algorithms}
        return {name: f"{titles[name]}*" if self.notes.get(name) else titles[name] for name in names}


def labels_of(result: StudyResult, groups: Mapping[str, str] | None = None) -> Labels:
    """Return the labels of a study's tables: the paper's order first, then whatever else is in the study.

    A table of one's own (with a reference) has its own order and titles, and counts every dataset.
    """
    study = result.study
    own = study.reference is not None
    configs = {config.name: config for config in study.datasets}
    titles = {algorithm.name: algorithm.title for algorithm in study.algorithms}
    # Only Table II has an order in the paper that a study may not follow.
    printed = [] if groups or own else [name for name in ALGORITHMS.values() if name in titles]
    regenerated = {name for name, source in result.sources.items() if source.regenerated}
    notes = {algorithm.name: algorithm.note for algorithm in study.algorithms if algorithm.note}
    for name, config in configs.items():
        parts = [config.footnote, REGENERATED if name in regenerated else ""]
        if note := "; ".join(filter(None, parts)):
            notes[name] = note
    uncounted = frozenset() if own else not_counted(study.protocol.name) & frozenset(configs)
    rows = {name: _title(configs[name], uncounted) for name in sorted(configs, key=_place)}
    return Labels(
        datasets={name: config.title for name, config in configs.items()} if own else rows,
        algorithms={name: titles[name] for name in dict.fromkeys([*printed, *titles])},
        splits=study.protocol.splits,
        notes=notes,
        missing=dict.fromkeys(result.missing, NOT_HERE),
        uncounted=uncounted,
        groups=groups or {},
        regenerated=frozenset(regenerated & set(configs)),
        trial=study.protocol.is_trial,
    )


def not_counted(protocol: str) -> frozenset[str]:
    """Return the datasets that a protocol shows without counting them.

    ``clean`` counts spect and mlprove with their true labels; every other protocol, as the paper, its own
    accidental variants of the two.

    >>> sorted(not_counted("paper")), sorted(not_counted("clean"))
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
    variant = " (true)" if config.name == row else " (paper's)"
    return f"{row}{variant if config.name in uncounted else ''}" if row in DATASETS else config.title
