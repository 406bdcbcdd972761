"""In short: what the studies say of the paper's claims, a sentence or two for each."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from mloml.paper.beyond import EUCLIDEAN, ONE_LAYER, RIVALS, STACKS
from mloml.report.parts.beyond import verdicts
from mloml.report.parts.beyond.side import Side
from mloml.report.parts.beyond.words import counted, evidence, grouped, listed


def size_sentence(sides: Sequence[Side]) -> str:
    """Say on how much data, before anything is claimed."""
    sets = " and ".join(str(number) for number in dict.fromkeys(side.n_sets for side in sides))
    splits = " and ".join(str(number) for number in dict.fromkeys(side.labels.splits for side in sides))
    return f"{sets} sets that the paper never saw, {splits} random halves of each."


def claims_sentence(side: Side) -> str:
    """Say how many of the paper's claims against MOML, OPML and LMNN show up."""
    titles = side.labels.algorithms
    pairs = [(stack, rival) for stack in STACKS for rival in (ONE_LAYER, *RIVALS)]
    rows = {pair: row for pair in pairs if (row := verdicts.against(side, *pair))}
    if not rows:
        return f"On {side.scaling} MLOML and its rivals were not compared."
    beaten: dict[str, list[str]] = {}
    for (stack, rival), row in rows.items():
        if row["verdict"] == "smaller":
            beaten.setdefault(titles[stack], []).append(titles[rival])
    rest = len(rows) - sum(map(len, beaten.values()))
    reverse = sum(row["verdict"] == "larger" for row in rows.values())
    tail = f"; in {reverse} of them the rival has the smaller errors" if reverse else ""
    if not beaten:
        return (
            f"On {side.scaling} none of {len(rows)} claims that MLOML beats MOML, OPML or LMNN is confirmed "
            f"on these sets{tail}."
        )
    said = "; ".join(f"{stack} beats {listed(rivals)}" for stack, rivals in beaten.items())
    verb = "is" if rest == 1 else "are"
    missing = f"; {rest} of {len(rows)} such claims {verb} not confirmed on these sets{tail}" if rest else ""
    return f"On {side.scaling} {said}{missing}."


def layers_sentence(side: Side) -> str:
    """Say what three layers do against one, activation by activation."""
    said = {
        activation: verdicts.layers(row)
        for stack, activation in STACKS.items()
        if (row := side.test("layers", stack, ONE_LAYER))
    }
    return f"On {side.scaling}, three layers against one: {grouped(said)}." if said else ""


def learning_sentence(side: Side) -> str:
    """Say whether learning the layers helps or the non-linearity alone, activation by activation."""
    said = {
        activation: text
        for stack, activation in STACKS.items()
        if (text := verdicts.learning(side, stack)) is not None
    }
    return f"On {side.scaling}, trained against untrained: {grouped(said)}." if said else ""


def help_sentence(side: Side) -> str:
    """Say which methods help, which harm, and for how many nothing is shown."""
    rows = {name: row for name in side.learners if (row := side.test("euclidean", name))}
    if not any(row["sets"] for row in rows.values()):
        return f"On {side.scaling} there is nothing to compare with Euclidean."
    groups: dict[str, list[str]] = {"smaller": [], "larger": [], "": []}
    for name, row in rows.items():
        groups[row["verdict"]].append(side.labels.algorithms[name])
    helping, harming, nothing = groups["smaller"], groups["larger"], len(groups[""])
    verb = "helps" if len(helping) <= 1 else "help"
    parts = [f"{len(helping) or 'none'} of {len(rows)} methods {verb} beyond the paper{_names(helping)}"]
    parts += [f"{len(harming)} harm{'s' if len(harming) == 1 else ''}{_names(harming)}"] if harming else []
    parts += [f"for {nothing} no difference from Euclidean is shown on these sets"] if nothing else []
    return f"On {side.scaling} {'; '.join(parts)}."


def differing_sentence(sides: Sequence[Side]) -> str:
    """Name the methods of which the two studies say different things."""
    first = sides[0]
    pairs = {name: [side.test("euclidean", name) for side in sides] for name in first.learners}
    both = {name: pair for name, pair in pairs.items() if all(row and row["sets"] for row in pair)}
    if not both:
        return ""
    groups: dict[str, list[str]] = {}
    for name, pair in both.items():
        if len({row["verdict"] for row in pair if row}) > 1:
            texts = [
                f"on {side.scaling} {verdicts.helps(row)}"
                for side, row in zip(sides, pair, strict=True)
                if row
            ]
            groups.setdefault(", ".join(texts), []).append(first.labels.algorithms[name])
    if not groups:
        return f"Of none of {len(both)} methods do the two studies say different things."
    said = "; ".join(f"{listed(titles)}: {text}" for text, titles in groups.items())
    count = sum(map(len, groups.values()))
    return f"The two studies say different things of {count} of {len(both)} methods. {said}."


def where_sentences(side: Side) -> tuple[str, ...]:
    """Say on which sets the stacks win over Euclidean and over one layer, and where nothing wins."""
    sentences, titles = [], side.labels.algorithms
    for stack in STACKS:
        for test, rival in (("euclidean", EUCLIDEAN), ("layers", ONE_LAYER)):
            row = side.test(test, stack, rival)
            if row is not None and row["sets"]:
                wins, losses = (side.sets_with(test, stack, rival, word) for word in ("win", "loss"))
                sentences.append(
                    f"On {side.scaling} {titles[stack]} wins over {titles[rival]} on {counted(wins)} and "
                    f"loses on {counted(losses)}."
                )
    table = side.on_sets[side.on_sets["test"] == "euclidean"]
    won = {str(name): int((part["outcome"] == "win").sum()) for name, part in table.groupby("dataset")}
    none = [title for name, title in side.labels.datasets.items() if won.get(name) == 0]
    if none:
        sentences.append(f"On {side.scaling} no method at all wins over Euclidean on {counted(none)}.")
    elif won:
        sentences.append(f"On {side.scaling} there is no set on which no method wins over Euclidean.")
    return tuple(sentences)


def scaling_sentences(sides: Sequence[Side], over: pd.DataFrame) -> tuple[str, ...]:
    """Say what scaling does to Euclidean, and how many methods Euclidean beats under the other scaling."""
    first, second = sides
    sentences = [_plain(sides, over)]
    for side, other in ((first, second), (second, first)):
        rows = over[(over["study"] == side.name) & (over["algorithm"] != EUCLIDEAN)]
        titles = side.labels.algorithms
        lost, won = (
            [titles[name] for name in rows.loc[rows["verdict"] == word, "algorithm"]]
            for word in ("larger", "smaller")
        )
        sentences.append(
            f"Euclidean on {other.scaling} beats {len(lost) or 'none'} of {len(rows)} methods on "
            f"{side.scaling}{_names(lost)} and is beaten by {len(won) or 'none'}{_names(won)}."
        )
    return tuple(sentences)


def _plain(sides: Sequence[Side], over: pd.DataFrame) -> str:
    first, second = sides
    rows = over[(over["study"] == first.name) & (over["algorithm"] == EUCLIDEAN)]
    if rows.empty or not rows.iloc[0]["sets"]:
        return "Euclidean was not run under both scalings."
    row = rows.iloc[0].to_dict()
    better = {"smaller": (first, second), "larger": (second, first)}.get(row["verdict"])
    numbers = f"{first.scaling} less {second.scaling}: {evidence(row, first.n_sets)}"
    if better is None:
        return (
            f"Euclidean by itself: no difference between the two scalings is shown on these sets ({numbers})."
        )
    return f"Euclidean by itself errs less on {better[0].scaling} than on {better[1].scaling} ({numbers})."


def _names(titles: Sequence[str]) -> str:
    return f" ({', '.join(titles)})" if titles else ""
