"""Does it hold?  One sentence per claim of the paper's theory, and what the longer findings share."""

from __future__ import annotations

import pandas as pd

ROUNDING = 1 + 1e-9


def verdicts(
    definiteness: pd.DataFrame, regret: pd.DataFrame, line: pd.DataFrame, layers: pd.DataFrame
) -> tuple[str, list[str]]:
    """Return what holds in one sentence, and a sentence each on Theorem 1, Theorem 2 and Proposition 1."""
    first = definiteness[definiteness["layer"] == 1]
    broken = first["share_condition_broken"]
    last = line.iloc[-1]
    corrected = within(regret, "corrected_bound") and within(line, "corrected_bound")
    claimed, every_stack = within(line, "claimed_bound"), not layers["share_worse"].any()
    better, worse = significant_steps(layers)
    headline = (
        f"Theorem 1's one-step statement {holds(one_step_holds(definiteness))}; Theorem 2's constant bound "
        f"{holds(claimed)}, the corrected one of order √T {holds(corrected)}; Proposition 1 "
        f"{holds(every_stack)} for every stack."
    )
    return headline, [
        f"Theorem 1: its one-step statement {holds(one_step_holds(definiteness))}, but nothing keeps its "
        f"condition true over a run: in layer 1 it breaks in up to {percent(broken.max())} of the steps, and "
        f"up to {percent(first['share_leaving_cone'].max())} would have left the cone.",
        f"Theorem 2: the claimed constant bound {holds(claimed)} (on the line the "
        f"regret is {last['regret']:.1f} at T = {last['T']:.0f}, the bound {last['claimed_bound']:.1f}); the "
        f"corrected bound, of order √T, {holds(corrected)} in every case looked at.",
        f"Proposition 1: as a statement about every stack it {holds(every_stack)}: the "
        f"next layer is strictly worse in {percent(weighted(layers, 'share_worse'))} of the splits. Of "
        f"{len(layers)} steps from a layer to the next, {better} lower the mean error significantly and "
        f"{worse} raise it (corrected t-test).",
    ]


def one_step_holds(definiteness: pd.DataFrame) -> bool:
    """Tell whether no step of layer 1 left the cone while Theorem 1's condition held."""
    first = definiteness[definiteness["layer"] == 1]
    return not first["left_although_condition_held"].any()


def within(regret: pd.DataFrame, bound: str) -> bool:
    """Tell whether every regret respects a bound, up to rounding.

    >>> within(pd.DataFrame({"regret": [1.0, 2.0], "claimed_bound": [2.0, 2.0]}), "claimed_bound")
    True
    """
    return bool((regret["regret"] <= regret[bound] * ROUNDING).all())


def significant_steps(layers: pd.DataFrame, alpha: float = 0.05) -> tuple[int, int]:
    """Count the steps to the next layer that lower and that raise the error by the corrected test."""
    differences = layers.loc[layers["p_corrected"] < alpha, "difference"]
    return int((differences < 0).sum()), int((differences > 0).sum())


def weighted(frame: pd.DataFrame, column: str) -> float:
    """Return the mean of a column over splits, where each row stands for several."""
    return float((frame[column] * frame["splits"]).sum() / frame["splits"].sum())


def holds(true: object) -> str:
    """Say it.

    >>> holds(True), holds(False)
    ('holds', 'does not hold')
    """
    return "holds" if true else "does not hold"


def percent(share: float) -> str:
    """Print a share.

    >>> percent(0.12345)
    '12.3 %'
    """
    return f"{100 * share:.3g} %"
