"""What is said of the tests: the sentences that ``docs/beyond.md`` fixed, whichever way they fall."""

from __future__ import annotations

from collections.abc import Sequence

from mloml.analysis.beyond import EUCLIDEAN, ONE_LAYER, RIVALS, STACKS, UNTRAINED
from mloml.reporting.parts.beyond.side import Side
from mloml.reporting.parts.beyond.words import compared, evidence, listed

HELPS = {
    "smaller": "it helps beyond the paper",
    "larger": "it harms",
    "": "no difference from Euclidean is shown on these sets",
}
LAYERS = {
    "smaller": "layers help",
    "larger": "layers harm",
    "": "no difference between three layers and one is shown",
}


def help_sentences(sides: Sequence[Side]) -> tuple[str, ...]:
    """Say of every learner whether it helps, in both studies; and if they differ, that they do."""
    names = dict.fromkeys(name for side in sides for name in side.learners)
    titles = {name: title for side in sides for name, title in side.labels.algorithms.items()}
    sentences = []
    for name in names:
        rows = [(side, row) for side in sides if (row := side.test("euclidean", name))]
        parts = [
            f"on {side.scaling} {HELPS[row['verdict']]} ({evidence(row)})"
            if row["sets"]
            else f"on {side.scaling} there is nothing to compare ({evidence(row)})"
            for side, row in rows
        ]
        if not parts:
            continue
        differ = len({row["verdict"] for _, row in rows if row["sets"]}) > 1
        end = " The two studies differ." if differ else ""
        sentences.append(f"{titles[name]}: {'; '.join(parts)}.{end}")
    return tuple(sentences)


def help_in_short(side: Side) -> str:
    """Say which methods help, which harm, and for which nothing is shown."""
    rows = {name: row for name in side.learners if (row := side.test("euclidean", name))}
    if not any(row["sets"] for row in rows.values()):
        return f"On {side.scaling} there is nothing to compare with Euclidean."
    groups: dict[str, list[str]] = {"smaller": [], "larger": [], "": []}
    for name, row in rows.items():
        groups[row["verdict"]].append(side.labels.algorithms[name])
    total = len(rows)
    parts = [
        _named(groups["smaller"], total, "helps beyond the paper", "help beyond the paper"),
        _named(groups["larger"], total, "harms", "harm"),
    ]
    nothing = len(groups[""])
    rest = f"for {nothing} no difference from Euclidean is shown on these sets" if nothing else ""
    return f"On {side.scaling} {'; '.join(part for part in [*parts, rest] if part)}."


def _named(names: Sequence[str], total: int, one: str, more: str) -> str:
    verb = one if len(names) == 1 else more
    if not names:
        return f"none of {total} methods {one}"
    return f"{len(names)} of {total} methods {verb} ({', '.join(names)})"


def learning_verdict(side: Side, stack: str) -> str:
    """Return what the rule says of learning the layers of a stack; empty if the study cannot tell."""
    trained = side.test("untrained", stack, UNTRAINED[stack])
    alone = side.test("euclidean", UNTRAINED[stack])
    if trained is None or alone is None or not trained["sets"]:
        return ""
    if trained["verdict"] == "smaller":
        return "learning the layers helps"
    said = "the non-linearity alone does it" if alone["verdict"] == "smaller" else "nothing is shown"
    worse = ", and the trained stack errs more than the untrained one"
    return said + (worse if trained["verdict"] == "larger" else "")


def learning_sentences(side: Side) -> tuple[str, ...]:
    """Say for each activation whether learning the layers helps, or the non-linearity alone."""
    sentences = []
    for stack, activation in STACKS.items():
        trained = side.test("untrained", stack, UNTRAINED[stack])
        alone, both = side.test("euclidean", UNTRAINED[stack]), side.test("euclidean", stack)
        if trained is None or alone is None or both is None:
            continue
        said = learning_verdict(side, stack) or "there is nothing to compare"
        sentences.append(
            f"{activation} on {side.scaling}: {said}. Trained against untrained: {compared(trained)}"
            f"{_where(side, 'untrained', stack, UNTRAINED[stack])}. Untrained against Euclidean: "
            f"{compared(alone)}. Trained against Euclidean: {compared(both)}."
        )
    return tuple(sentences)


def layer_sentences(side: Side) -> tuple[str, ...]:
    """Say for each activation whether three layers are better than one."""
    sentences = []
    for stack, activation in STACKS.items():
        row = side.test("layers", stack, ONE_LAYER)
        if row is not None:
            said = LAYERS[row["verdict"]] if row["sets"] else "there is nothing to compare"
            where = _where(side, "layers", stack, ONE_LAYER)
            sentences.append(f"{activation} on {side.scaling}: {said} ({evidence(row)}{where}).")
    return tuple(sentences)


def rival_sentences(side: Side) -> tuple[str, ...]:
    """Say of each rival and activation whether the stack beats it."""
    titles, sentences = side.labels.algorithms, []
    for stack in STACKS:
        for rival in (ONE_LAYER, *RIVALS):
            row = side.test("layers" if rival == ONE_LAYER else "rivals", stack, rival)
            if row is None:
                continue
            pair = f"{titles[stack]} beats {titles[rival]} on {side.scaling}"
            better = f": {titles[rival]} has the smaller errors" if row["verdict"] == "larger" else ""
            said = (
                pair if row["verdict"] == "smaller" else f"That {pair} is not confirmed on these sets{better}"
            )
            sentences.append(f"{said} ({evidence(row)}).")
    return tuple(sentences)


def claims_in_short(side: Side) -> str:
    """Say how many of the paper's claims against MOML, OPML and LMNN show up."""
    titles = side.labels.algorithms
    beaten: dict[str, list[str]] = {}
    asked = reverse = 0
    for stack in STACKS:
        for rival in (ONE_LAYER, *RIVALS):
            row = side.test("layers" if rival == ONE_LAYER else "rivals", stack, rival)
            if row is None:
                continue
            asked += 1
            reverse += row["verdict"] == "larger"
            if row["verdict"] == "smaller":
                beaten.setdefault(titles[stack], []).append(titles[rival])
    if not asked:
        return f"On {side.scaling} MLOML and its rivals were not compared."
    confirmed = sum(map(len, beaten.values()))
    said = "; ".join(f"{stack} beats {listed(rivals)}" for stack, rivals in beaten.items())
    rest = asked - confirmed
    tail = f" (in {reverse} of them the rival has the smaller errors)" if reverse else ""
    if not confirmed:
        return (
            f"On {side.scaling} none of {asked} claims that MLOML beats MOML, OPML or LMNN is confirmed on "
            f"these sets{tail}."
        )
    missing = f"; {rest} of {asked} such claims are not confirmed on these sets{tail}" if rest else ""
    return f"On {side.scaling} {said}{missing}."


def layers_in_short(side: Side) -> str:
    """Say in one sentence what layers and learning them do, activation by activation."""
    parts = []
    for stack, activation in STACKS.items():
        row = side.test("layers", stack, ONE_LAYER)
        said = [LAYERS[row["verdict"]]] if row is not None and row["sets"] else []
        said += [text for text in (learning_verdict(side, stack),) if text]
        if said:
            parts.append(f"{activation}: {'; '.join(said)}")
    if not parts:
        return ""
    return (
        f"On {side.scaling}, three layers against one, then trained against untrained and untrained against "
        f"Euclidean: {'. '.join(parts)}."
    )


def where_sentences(side: Side) -> tuple[str, ...]:
    """Say on which sets methods win over Euclidean: the stacks by name, then all together."""
    sentences = []
    for stack in STACKS:
        row = side.test("euclidean", stack)
        if row is not None and row["sets"]:
            wins, losses = (side.sets_with("euclidean", stack, EUCLIDEAN, word) for word in ("win", "loss"))
            sentences.append(
                f"On {side.scaling} {side.labels.algorithms[stack]} wins over Euclidean on "
                f"{_sets(wins)} and loses on {_sets(losses)}."
            )
    table = side.on_sets[side.on_sets["test"] == "euclidean"]
    won = {str(name): int((part["outcome"] == "win").sum()) for name, part in table.groupby("dataset")}
    none = [title for name, title in side.labels.datasets.items() if won.get(name) == 0]
    if none:
        sentences.append(f"On {side.scaling} no method at all wins over Euclidean on {_sets(none)}.")
    elif won:
        sentences.append(f"On {side.scaling} there is no set on which no method wins over Euclidean.")
    return tuple(sentences)


def _sets(titles: Sequence[str]) -> str:
    if not titles:
        return "no set"
    return f"{len(titles)} set{'' if len(titles) == 1 else 's'} ({', '.join(titles)})"


def _where(side: Side, test: str, algorithm: str, reference: str) -> str:
    wins, losses = (side.sets_with(test, algorithm, reference, word) for word in ("win", "loss"))
    parts = [f"{word} on {', '.join(names)}" for word, names in (("wins", wins), ("losses", losses)) if names]
    return f"; {'; '.join(parts)}" if parts else ""
