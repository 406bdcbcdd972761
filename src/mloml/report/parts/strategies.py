"""Names and line styles of the propagation strategies that Table III compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mloml.paper.published import ALGORITHMS
from mloml.report.figures.style import BLUE, GREEN, SKY, VERMILION, Style

STRATEGIES = {"bp": "BP", "bp_cv": "BP, rate by CV", "fbp": "FBP", "fp": "FP"}
"""Strategies by the ending of a variant's name; FP is the algorithm itself, without an ending."""

STYLES = {
    "fp": Style(VERMILION, "o", "-"),
    "fbp": Style(GREEN, "^", "-"),
    "bp": Style(SKY, "s", "--"),
    "bp_cv": Style(BLUE, "D", "-."),
}


def strategy_of(algorithm: str) -> tuple[str, str]:
    """Split a variant's name into the algorithm and its propagation strategy.

    >>> strategy_of("mloml_r_bp_cv"), strategy_of("mloml_s_fbp"), strategy_of("mloml_t")
    (('mloml_r', 'bp_cv'), ('mloml_s', 'fbp'), ('mloml_t', 'fp'))
    """
    for ending in sorted(STRATEGIES, key=len, reverse=True):
        if algorithm.endswith(f"_{ending}"):
            return algorithm.removesuffix(f"_{ending}"), ending
    return algorithm, "fp"


def references(algorithms: Iterable[str]) -> dict[str, str]:
    """Return FP of the same activation as the reference of every variant.

    >>> references(["mloml_r", "mloml_r_bp"])
    {'mloml_r_bp': 'mloml_r'}
    """
    return {name: base for name in algorithms if (base := strategy_of(name)[0]) != name}


def activations(algorithms: Iterable[str]) -> dict[str, str]:
    """Return the algorithms without their endings, with printed titles, in order of appearance.

    >>> activations(["mloml_r_bp", "mloml_r", "mloml_s_bp"])
    {'mloml_r': 'MLOML-r', 'mloml_s': 'MLOML-s'}
    """
    titles: Mapping[str, str] = {name: title for title, name in ALGORITHMS.items()}
    bases = dict.fromkeys(strategy_of(name)[0] for name in algorithms)
    return {base: titles.get(base, base) for base in bases}
