"""What is known of each dataset before a byte of it is read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class DatasetConfig:
    """One dataset of the catalogue: where it comes from and what it must look like."""

    name: str
    title: str = ""
    uci_id: int | None = None
    openml_id: int | None = None
    sources: list[str] = field(default_factory=list)
    rows: int | None = None
    features: int | None = None
    class_counts: dict[str, int] = field(default_factory=dict)
    licence: str = ""
    note: str | None = None
    path: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class DataSettings:
    """Where data may come from: a folder of the user's, the cache, the network."""

    dir: str | None = None
    source: str = "auto"
    offline: bool = False
    cache: str | None = None
