"""What was found about the theory, in words made from the numbers: other numbers, other words."""

from __future__ import annotations

import pandas as pd

ROUNDING = 1 + 1e-9

Evidence = dict[str, pd.DataFrame]
"""Frames by claim: theorem1, theorem2, line, slopes, layers, geometry, weights."""


def sections(evidence: Evidence) -> dict[str, str]:
    """Return a paragraph on each claim, by its heading."""
    return {
        "Theorem 1 (positive definiteness)": theorem1(evidence["theorem1"]),
        "Theorem 2 (regret)": theorem2(evidence["theorem2"], evidence["slopes"], evidence["line"]),
        "Proposition 1 (each layer at least as good)": proposition1(evidence["layers"], evidence["geometry"]),
        "Weights of the local losses under FBP": loss_weights(evidence["weights"]),
    }


def verdicts(evidence: Evidence) -> tuple[str, tuple[str, ...]]:
    """Return what holds in one sentence, and a sentence each on Theorem 1, Theorem 2 and Proposition 1."""
    definiteness, regret, line, layers = (
        evidence[claim] for claim in ("theorem1", "theorem2", "line", "layers")
    )
    first = definiteness[definiteness["layer"] == 1]
    broken = first["share_condition_broken"]
    last = line.iloc[-1]
    corrected = within(regret, "corrected_bound") and within(line, "corrected_bound")
    claimed, every_stack = within(line, "claimed_bound"), not layers["share_worse"].any()
    exceeded = int((regret["regret"] > regret["claimed_bound"] * ROUNDING).sum())
    headline = (
        f"Theorem 1's one-step statement {holds(one_step_holds(definiteness))}; Theorem 2's constant bound "
        f"{holds(claimed)}, the corrected one of order √T {holds(corrected)}; Proposition 1 "
        f"{holds(every_stack)} for every stack."
    )
    return headline, (
        f"Theorem 1: its one-step statement {holds(one_step_holds(definiteness))}, but nothing keeps its "
        f"condition true over a run: in layer 1 it breaks in up to {percent(broken.max())} of the steps "
        f"looked at, and up to {percent(first['share_leaving_cone'].max())} would have left the cone.",
        f"Theorem 2: the claimed constant bound {holds(claimed)} (on the line, against U = −1/4, the "
        f"regret is {last['regret']:.1f} at T = {last['T']:.0f}, the bound {last['claimed_bound']:.1f}; on "
        f"data, where every U is a metric, it is exceeded in {exceeded} of {len(regret)} cases); the "
        f"corrected bound, of order √T, {holds(corrected)} in every case.",
        f"Proposition 1: as a statement about every stack it {holds(every_stack)}: the "
        f"next layer is strictly worse in {percent(weighted(layers, 'share_worse'))} of the splits. "
        f"{steps_sentence(layers)}",
    )


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


def significant_steps(layers: pd.DataFrame, test: str = "p_corrected") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the steps to the next layer that lower and that raise the mean error at the 5 % level."""
    found = layers[layers[test] < 0.05]
    return found[found["difference"] < 0], found[found["difference"] > 0]


def steps_sentence(layers: pd.DataFrame) -> str:
    """Count the steps that lower and that raise the error, by the corrected test and by the plain one."""
    (lower, higher), (plain_lower, plain_higher) = (
        map(len, significant_steps(layers, test)) for test in ("p_corrected", "p_paired")
    )
    return (
        f"Of {len(layers)} steps from a layer to the next, {lower} lower the mean error significantly and "
        f"{higher} raise it by the corrected t-test ({plain_lower} and {plain_higher} by the plain paired "
        "one)."
    )


def weighted(frame: pd.DataFrame, column: str) -> float:
    """Return the mean of a column over splits, where each row stands for several."""
    return float((frame[column] * frame["splits"]).sum() / frame["splits"].sum())


def holds(true: object) -> str:
    """Return a verdict in words.

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


def _looked_at(first: pd.DataFrame) -> str:
    """Say of how many steps the eigenvalues were computed, beside those that would leave the cone."""
    steps, seen = int(first["steps"].sum()), int(first["steps_looked_at"].sum())
    sampled = first.loc[first["steps_looked_at"] < first["steps"], "dataset"].drop_duplicates()
    where = f" (a sample on {', '.join(sampled)})" if len(sampled) else ""
    return (
        f"Eigenvalues were computed in {seen} of {steps} active steps of layer 1{where}, and in every step "
        "that would leave the cone."
    )


def theorem1(frame: pd.DataFrame) -> str:
    """Say how often the condition breaks and how often a step would really leave the cone."""
    first, upper = frame[frame["layer"] == 1], frame[frame["layer"] > 1]
    lines = [
        f"{_looked_at(first)} In layer 1 every eigenvalue that was computed stayed within its interval "
        f"(largest excess {max(0.0, first['sandwich_excess'].max()):.1g}), and "
        f"{int(first['left_although_condition_held'].sum())} steps left the cone while γ ≤ λ_min/4 held: "
        f"the one-step statement {holds(one_step_holds(frame))}.",
        "Nothing keeps the condition true over a run, however. "
        + " ".join(_gamma_sentence(gamma, part) for gamma, part in first.groupby("gamma")),
        f"The smallest eigenvalue seen in layer 1 was {first['smallest_eigenvalue'].min():.2g} "
        f"({_place(first, 'smallest_eigenvalue', smallest=True)}).",
        _upper_sentence(upper),
    ]
    return " ".join(lines)


def _upper_sentence(upper: pd.DataFrame) -> str:
    widest = upper["largest_squared_distance"].max()
    seen = "beyond the theorem's constant 4" if widest > 4 else "within the theorem's 4 as it happened"
    left = int(upper["left_although_condition_held"].sum())
    return (
        f"In upper layers inputs need not have unit norm; squared distances went up to {widest:.3g}, {seen}, "
        f"and {left} steps would have left the cone although γ ≤ λ_min/4 held."
    )


def _gamma_sentence(gamma: object, part: pd.DataFrame) -> str:
    broken, left = part["share_condition_broken"], part["share_leaving_cone"]
    if not broken.any():
        return f"With γ = {gamma:g} it was never broken."
    worst = _place(part, "share_leaving_cone") if left.any() else "nowhere"
    return (
        f"With γ = {gamma:g} it broke in {percent(broken.mean())} of the steps on average over "
        f"{len(part)} datasets, and {percent(left.mean())} would have left the cone (most: "
        f"{worst}, {percent(left.max())})."
    )


def theorem2(frame: pd.DataFrame, growth: pd.DataFrame, line: pd.DataFrame) -> str:
    """Say whether the claimed and the corrected bound hold, on the line and on data."""
    last = line.iloc[-1]
    claimed = within(line, "claimed_bound")
    over = frame[frame["regret"] > frame["claimed_bound"]]
    corrected = within(frame, "corrected_bound") and within(line, "corrected_bound")
    best = frame[frame["comparator"] == "best"]
    slopes = growth.loc[growth["comparator"] == "best", "slope"].dropna()
    against_identity = frame[frame["comparator"] == "I"]
    text = (
        f"On the line the regret reaches {last['regret']:.1f} at T = {last['T']:.0f}, the claimed constant "
        f"is {last['claimed_bound']:.1f}: the claimed bound {holds(claimed)} there. On data it is exceeded "
        f"in {len(over)} of {len(frame)} combinations of dataset, horizon, Φ and comparator"
    )
    if len(over):
        text += f" (by a factor of up to {(over['regret'] / over['claimed_bound']).max():.3g})"
    text += (
        f". The corrected bound, which grows like √T, {holds(corrected)} in all of them. Against the "
        f"identity the regret is negative in {percent((against_identity['regret'] < 0).mean())} of the "
        f"cases, so a bound may hold there without saying anything; against the best fixed matrix it is "
        f"positive in {percent((best['regret'] > 0).mean())}."
    )
    if len(slopes):
        text += (
            f" Where it is positive, log R grows with slope {slopes.min():.2f} to {slopes.max():.2f} in "
            f"log T (median {slopes.median():.2f}; a constant would have slope 0)."
        )
    return text


def proposition1(layers: pd.DataFrame, geometry: pd.DataFrame) -> str:
    """Say how often the next layer is no worse, and where it is significantly worse or better."""
    text = (
        f"Over {layers['dataset'].nunique()} datasets the next layer is no worse in "
        f"{percent(weighted(layers, 'share_no_worse'))} of the splits and strictly worse in "
        f"{percent(weighted(layers, 'share_worse'))}: as a statement about every stack the proposition "
        f"{holds(not layers['share_worse'].any())}. {steps_sentence(layers)}"
    )
    sides = zip(("Lowered", "Raised"), significant_steps(layers, "p_paired"), strict=True)
    for word, rows in sides:
        if len(rows):
            where = (f"{r.dataset} {r.layer}→{r.next_layer} ({r.difference:+.3f})" for r in rows.itertuples())
            text += f" {word}, by the plain test: {', '.join(where)}."
    if len(geometry):
        ratio = geometry.pivot_table(index="dataset", columns="layer", values="within_over_between")
        falls = int((ratio.iloc[:, -1] < ratio.iloc[:, 0]).sum())
        text += (
            " From the first to the last layer the ratio of distances within classes to those between "
            f"classes falls on {falls} of {len(ratio)} datasets."
        )
    return text


def loss_weights(frame: pd.DataFrame) -> str:
    """Say where the weights end and whether any ever rose."""
    run = ["dataset", "activation", "local_loss", "rate", "layer"]
    rising = int((frame.sort_values("scan").groupby(run)["weight"].diff() > 1e-12).sum())
    last = frame.loc[frame.groupby(run)["scan"].idxmax()]
    parts = []
    for (loss, rate), part in last.groupby(["local_loss", "rate"], sort=True):
        name = "γ · hinge" if loss == "scaled" else "the plain hinge"
        parts.append(
            f"with {name} at rate {rate:g} they end between {part['weight'].min():.2f} and "
            f"{part['weight'].max():.2f}, {percent((part['weight'] <= 0).mean())} of them at 0"
        )
    return (
        f"The derivative of the loss by w_i is the local loss, which is never negative, so w_i can only "
        f"fall; it rose {rising} times in {len(frame)} observations. Starting from 1, {'; '.join(parts)}. A "
        f"weight at 0 has switched its local loss off; without the stop at 0 it would go on and push "
        f"classes together."
    )


def _place(frame: pd.DataFrame, column: str, smallest: bool = False) -> str:
    row = frame.sort_values(column, ascending=smallest, kind="stable").iloc[0]
    return f"{row['dataset']}" + (f", γ = {row['gamma']:g}" if smallest else "")
