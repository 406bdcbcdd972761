"""The catalogue: the configs in ``conf/dataset``, what is known of a data set before it is read."""

from __future__ import annotations

from collections.abc import Sequence

from mloml.config.schema import DatasetConfig

_PAPER = (
    *("lsvt", "iris", "wine", "spect", "ionosphere", "pems"),
    *("balance", "breast", "pima", "diabetic", "waveform", "mlprove"),
)


def catalogue(folders: Sequence[str] = ()) -> dict[str, DatasetConfig]:
    """Return the configs of all data sets by name, those of the paper's Table I first.

    Parameters
    ----------
    folders : folders of configs of one's own, see :mod:`mloml.config.compose`.

    >>> catalogue()["balance"].class_counts
    {'L': 288, 'B': 49, 'R': 288}
    >>> list(catalogue())[:3]
    ['lsvt', 'iris', 'wine']
    """
    from mloml.config.compose import choices, compose_datasets

    names = [name for name in choices("dataset", folders) if name != "csv"]  # a form, not a data set
    return compose_datasets(sorted(names, key=_paper_order), folders)


def _paper_order(name: str) -> tuple[int, str]:
    base = name.removesuffix("_paper")
    return (_PAPER.index(base) if base in _PAPER else len(_PAPER), name)
