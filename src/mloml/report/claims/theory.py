"""Claims of the paper's theory, and of what an update costs."""

from __future__ import annotations

import pandas as pd

from mloml.report.claims.claim import (
    BY_SHARE,
    FALSE,
    IN_PART,
    NOT,
    REPRODUCED,
    Answer,
    Claim,
    by_share,
    counted,
)

ROUNDING = 1e-10
QUADRATIC, NEARER_TO_CUBIC = 2.2, 2.5
"""Largest exponent of time against features that still counts as quadratic (timings scatter, and matrices
that no longer fit into a cache take longer), and from which on it is nearer to cubic."""


def theorem1(steps: pd.DataFrame) -> Answer:
    """Look for steps that leave the cone while the condition holds, and for the condition breaking."""
    first = steps[steps["layer"] == 1]
    broken = int(first["left_although_condition_held"].sum()) + int(
        (first["sandwich_excess"] > ROUNDING).sum()
    )
    if broken:
        return Answer(f"in layer 1 the one-step statement fails {counted(broken, 'time')}", FALSE)
    largest = first[first["gamma"] == first["gamma"].max()]
    share, left = (100 * largest[name].mean() for name in ("share_condition_broken", "share_leaving_cone"))
    sampled = first.loc[first["steps_looked_at"] < first["steps"], "dataset"].nunique()
    sample = f"; on {sampled} of them the condition was looked at in a sample of the steps" if sampled else ""
    text = (
        f"no step of layer 1 would leave the cone while the condition holds; nothing keeps it true: with γ = "
        f"{largest['gamma'].iloc[0]:g} it is broken in {share:.0f} % of the steps, and {left:.0f} % would "
        f"leave the cone (mean of {counted(largest['dataset'].nunique(), 'set')}{sample})"
    )
    return Answer(text, IN_PART if first["share_condition_broken"].any() else REPRODUCED)


def theorem2(line: pd.DataFrame, regrets: pd.DataFrame) -> Answer:
    """Count regrets above the claimed constant, and above the corrected bound."""
    worst = line.sort_values("regret").iloc[-1]
    both = pd.concat([line, regrets])
    above, beyond = (
        int((both["regret"] > both[bound] * (1 + ROUNDING)).sum())
        for bound in ("claimed_bound", "corrected_bound")
    )
    corrected = "holds in all of them" if not beyond else f"is exceeded in {beyond}"
    if not above:
        return Answer(
            f"never exceeded in {len(both)} cases; the corrected bound of order √T {corrected}", REPRODUCED
        )
    on_data = int((regrets["regret"] > regrets["claimed_bound"] * (1 + ROUNDING)).sum())
    text = (
        f"exceeded in {on_data} of {len(regrets)} cases on data, where every U is a metric, and in "
        f"{above - on_data} of {len(line)} in one dimension, where U = −1/4 is none (regret "
        f"{worst['regret']:.0f} at T = {worst['T']:.0f}, the constant {worst['claimed_bound']:.0f}); the "
        f"corrected bound of order √T {corrected}"
    )
    return Answer(text, FALSE)


def proposition1(layers: pd.DataFrame) -> Answer:
    """Look for layers that are worse than the one before, in single splits and on average."""
    worse = 100 * float((layers["share_worse"] * layers["splits"]).sum() / layers["splits"].sum())
    sure = layers[layers["p_corrected"] < 0.05]
    falls, rises = int((sure["difference"] < 0).sum()), int((sure["difference"] > 0).sum())
    text = (
        f"the next layer is strictly worse in {worse:.0f} % of the splits; of "
        f"{counted(len(layers), 'step')} from "
        f"a layer to the next {falls} lower and {rises} raise the mean error by the corrected test"
    )
    if worse == 0:
        return Answer(text, REPRODUCED)
    return Answer(text, FALSE if rises else NOT)


def fp_is_fastest(cost: pd.DataFrame) -> Answer:
    """Count the settings in which FP is the fastest of the three strategies beyond the spread of the runs."""
    rows, others = ["features", "activation"], ["bp", "fbp"]
    wide, fastest_run, slowest_run = (
        cost.pivot(index=rows, columns="strategy", values=name)  # noqa: PD010
        for name in ("microseconds", "lowest", "highest")
    )
    lowest = int((wide["fp"] <= wide[others].min(axis=1)).sum())
    clearly = int((slowest_run["fp"] < fastest_run[others].min(axis=1)).sum())
    ratio = wide["bp"] / wide["fp"]
    text = (
        f"FP's median time is the lowest in {lowest} of {len(wide)} settings (d and activation; by this "
        f"count: {by_share(lowest, len(wide))}), and in "
        f"{clearly} its slowest run is faster than the others' fastest; BP takes "
        f"{ratio.min():.1f} to "
        f"{ratio.max():.1f} times as long, FBP {(wide['fbp'] / wide['fp']).min():.1f} to "
        f"{(wide['fbp'] / wide['fp']).max():.1f}"
    )
    return Answer(text, by_share(clearly, len(wide)))


def cost_is_quadratic(growth: pd.DataFrame) -> Answer:
    """Read off how the time per triplet grows with the number of features."""
    exponents = growth.set_index("propagation")["exponent in features"]
    parts = ", ".join(f"{str(name).upper()} {value:.2f}" for name, value in exponents.items())
    nearer = IN_PART if exponents["fp"] < NEARER_TO_CUBIC else NOT
    verdict = REPRODUCED if exponents["fp"] <= QUADRATIC else nearer
    fit = "fitted to medians from 100 to 400 features, whose scatter was not measured"
    return Answer(
        f"time per triplet grows like d to the power: {parts} ({fit}; a factor of M is kept up to date)",
        verdict,
    )


COMMAND = "make reproduce-theory"

CLAIMS = (
    Claim(
        "theorem1",
        "Theorem 1: M stays positive definite if γ ≤ λ_min/4",
        "proved for one step; small γ said to be enough",
        ("theory/theorem1",),
        theorem1,
        "false: a step leaves the cone although the condition held; in part: the condition itself breaks "
        "in a run; reproduced: neither",
        "theory/theorem1.png",
        COMMAND,
    ),
    Claim(
        "theorem2",
        "Theorem 2: the regret is below a constant, whatever T",
        "½‖I − U‖² + 32/Φ² with γ = 1/(Φ√T)",
        ("theory/counterexample", "theory/theorem2"),
        theorem2,
        "reproduced: no regret above the constant; false: one, under the theorem's assumptions",
        "theory/theorem2.png",
        COMMAND,
    ),
    Claim(
        "proposition1",
        "Proposition 1: each layer is at least as good as the one before",
        "stated without a proof",
        ("theory/proposition1",),
        proposition1,
        "reproduced: no next layer is worse in any split; false: a step raises the mean error by the "
        "corrected test; not reproduced: worse in single splits only",
        "theory/proposition1.png",
        COMMAND,
    ),
    Claim(
        "cost",
        "A step costs O(d²), so that FP costs O(n d²)",
        "stated; the factor of M not counted",
        ("bench/growth",),
        cost_is_quadratic,
        f"reproduced: the exponent of d in FP's measured time is at most {QUADRATIC:g}; in part: nearer to 2 "
        "than to 3 (a level that was added after 2.28 had been measured; without it: not reproduced)",
        "bench/README.md",
        "make bench",
    ),
    Claim(
        "fp_fastest",
        "FP is the fastest of the three strategies",
        "said in the text",
        ("table3/cost",),
        fp_is_fastest,
        "settings in which FP's slowest run is faster than the others' fastest (a rule of later date: by "
        f"medians the verdict changed from one measurement to the next); {BY_SHARE}",
        "table3/cost.md",
        "make reproduce-table3",
    ),
)
