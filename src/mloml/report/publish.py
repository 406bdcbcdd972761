"""Write an artefact's files: each whole or not at all, equal for equal content, untouched when equal."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from mloml.experiments.study import StudyResult
from mloml.files import write_atomically
from mloml.paper.comparison import AGREES
from mloml.paper.interpretations import DECIDED
from mloml.report.document import TRIAL_ONLY, Artefact, Figure
from mloml.report.figures.style import METADATA, paper_style
from mloml.report.labels import labels_of
from mloml.report.latex import grid_to_latex
from mloml.report.recipe import Recipe
from mloml.report.render import render

# What the HTML page shows of an artefact, except for its pictures.
DOCUMENT = "artefact.json"
FORMAT = 2
TRIAL = "Not conclusive: a trial run (protocol {name}, {splits} splits)."


def publish(artefact: Artefact, recipe: Recipe, context: Mapping[str, Any], folder: Path) -> str:
    """Write CSV, LaTeX, PNG, PDF, a page in Markdown and ``artefact.json``; return the headline."""
    artefact = without_verdicts(artefact) if context["trial"] else artefact
    words = render(artefact, recipe.template, context)
    for table in artefact.tables:
        write_csv(folder / f"{table.name}.csv", table.frame)
        if table.latex is not None:
            caption, *remarks = words.captions.get(table.name) or [table.title]
            write_file(folder / f"{table.name}.tex", grid_to_latex(table.latex, caption, remarks))
    for figure in artefact.figures:
        write_figure(figure, folder)
    write_file(folder / f"{recipe.name}.md", words.markdown)
    document = {"format": FORMAT, "name": recipe.name, "headline": words.headline, "html": words.html}
    document |= {"card": words.card, "bars": words.bars}
    document |= {key: context[key] for key in ("title", "about", "command", "titles")}
    write_file(folder / DOCUMENT, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return words.headline


def without_verdicts(artefact: Artefact) -> Artefact:
    """Return the artefact of a trial: no verdicts, and nothing that counts agreement with the paper."""

    def judged(frame: object) -> list[str]:
        names = list(map(str, frame)) if isinstance(frame, pd.DataFrame) else []
        return [name for name in names if name.startswith(("verdict", "same_conclusion"))]

    def plain(value: Any) -> Any:
        return value.assign(**dict.fromkeys(judged(value), TRIAL_ONLY)) if judged(value) else value

    tables = [table for table in artefact.tables if not {AGREES, DECIDED} & set(table.frame)]
    return Artefact(
        {name: plain(value) for name, value in artefact.values.items()},
        tuple(replace(t, numbers=plain(t.numbers), latex=None) if judged(t.numbers) else t for t in tables),
        tuple(figure for figure in artefact.figures if not judged(figure.numbers)),
    )


def context_of(recipe: Recipe, results: Sequence[StudyResult], command: str = "") -> dict[str, Any]:
    """Return what every template may mention besides its artefact's own values."""
    context: dict[str, Any] = {"title": recipe.title, "about": recipe.about, "command": command}
    states = [state for result in results for state in result.frame["status"]]
    context |= {"cells": len(states), "done": states.count("ok"), "trial": "", "titles": {}, "missing": {}}
    context["finished"], notes = all(result.finished for result in results), []
    for result in results:
        labels, protocol = labels_of(result), result.study.protocol
        shown = labels.starred([*labels.datasets, *labels.algorithms])
        notes += [(title, labels.notes[name]) for name, title in shown.items() if labels.notes.get(name)]
        context |= {name: getattr(protocol, name) for name in ("splits", "folds", "scans", "seed")}
        context |= {"protocol": protocol.name, "command": result.command}
        if protocol.is_trial and recipe.work == "cells":
            context["trial"] = TRIAL.format(name=protocol.name, splits=protocol.splits)
        context["titles"] |= labels.algorithms
        context["missing"] |= result.missing
    return context | {"notes": list(dict.fromkeys(notes))}


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file, unless it holds this already."""
    data = content.encode() if isinstance(content, str) else content
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a frame; ten digits are more than any error needs, and hide the last bits of a sum."""
    write_file(path, frame.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


def write_figure(figure: Figure, folder: Path) -> None:
    """Write the picture in each format, the same bytes whatever the day, and its numbers."""
    if figure.numbers is not None:
        write_csv(folder / f"{figure.name}.csv", figure.numbers)
    if not figure.ready:
        for ending in METADATA:
            (folder / f"{figure.name}.{ending}").unlink(missing_ok=True)  # of an earlier run
        return
    with paper_style():
        drawing = figure.draw()
        for ending, metadata in METADATA.items():
            stream = BytesIO()
            drawing.savefig(stream, format=ending, metadata=metadata)
            content = _with_few_colours(stream) if ending == "png" else stream.getvalue()
            write_file(folder / f"{figure.name}.{ending}", content)


def _with_few_colours(picture: BytesIO) -> bytes:
    """Return a picture in 256 colours: a third of the bytes, and nobody sees a difference."""
    stream = BytesIO()
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(stream, "PNG", optimize=True, dpi=image.info["dpi"])
    return stream.getvalue()
