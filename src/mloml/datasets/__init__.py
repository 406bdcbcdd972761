"""Data sets: the catalogue, where data come from, and loading them.

``load(config)`` returns a checked :class:`Dataset`; ``catalogue()`` lists what there is.
"""

from mloml.config.schema import DatasetConfig, DataSettings
from mloml.datasets.dataset import Dataset
from mloml.datasets.loading import availability, catalogue, load, pin

__all__ = ["DataSettings", "Dataset", "DatasetConfig", "availability", "catalogue", "load", "pin"]
