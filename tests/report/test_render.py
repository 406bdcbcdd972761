"""Templates: captions, tables by name, what the text does not mention, and that values are never markup."""

import re

import pandas as pd
import pytest
from jinja2 import UndefinedError

from mloml.report.document import Artefact, Column, Entry, Figure, Grid, Row, Table
from mloml.report.render import MOST_ROWS, frame_to_markdown, paragraphs, printed, render

FRAME = pd.DataFrame({"algorithm": ["moml", "mine"], "p_value": [0.00012345, 1.0], "note": ["a|b", None]})


@pytest.fixture
def rendered(tmp_path):
    """Return a function that renders a page block over an artefact."""

    def words(page, artefact, headline="", **context):
        file = tmp_path / "x.md"
        file.write_text(
            '{% extends "artefact.md" %}'
            f"{{% block headline %}}{headline}{{% endblock %}}{{% block page %}}{page}{{% endblock %}}"
        )
        standard = {"title": "X", "command": "mloml reproduce x", "titles": {"moml": "MOML"}, "notes": []}
        standard |= {"missing": {}, "done": 1, "cells": 1, "finished": True}
        return render(artefact, file, standard | context)

    return words


def test_numbers_are_shortened_and_names_become_titles():
    assert printed(FRAME, {"moml": "MOML"}) == [["MOML", "0.0001234", "a|b"], ["mine", "1", ""]]
    assert printed(pd.DataFrame({"x": [float("inf"), float("nan"), 2.0, 1234567.5]})) == [
        ["inf"], [""], ["2"], ["1.235e+06"],
    ]  # fmt: skip
    assert frame_to_markdown(FRAME).splitlines()[0] == "| algorithm | p value | note |"


def test_a_table_stands_where_the_text_says_and_the_rest_is_named(rendered):
    artefact = Artefact({"n": 7}, (Table("a", FRAME, "First"), Table("b", FRAME, "Second")))
    words = rendered('Before {{ n }}.\n{{ table("a") }}\nAfter.', artefact, "All {{ n }}.")
    assert words.headline == "All 7."
    lines = words.markdown.splitlines()
    assert lines.index("Before 7.") < lines.index("| MOML | 0.0001234 | a\\|b |") < lines.index("After.")
    assert words.markdown.count("| MOML |") == 1 and "[b.csv](b.csv): Second" in words.markdown
    assert words.html.count("<table") == 1 and '<div data-csv="b">Second</div>' in words.html


def test_a_caption_is_for_latex_too_and_its_remarks_follow_the_table(rendered):
    grid = Grid("t", (Column("moml", "MOML"),), (Row("iris", "iris", (Entry(0.1, 0.02),)),))
    page = '{% call table("a") %}\nErrors of\n{{ who }}.\n\nA remark.\n{% endcall %}'
    words = rendered(page, Artefact({"who": "a_b*"}, (Table("a", grid, "", grid),)))
    assert words.captions == {"a": ["Errors of a_b*.", "A remark."]}
    places = [words.markdown.index(text) for text in ("Errors of a\\_b\\*.", "| iris |", "A remark.")]
    assert places == sorted(places)
    assert paragraphs(" one\n two\n\n \n three ") == ["one two", "three"]


def test_values_are_never_markup(rendered):
    bad = "<script>alert(1)</script> *x* | [y](javascript:z)"
    frame = pd.DataFrame({"dataset": [bad], "n": [1]})
    grid = Grid("t", (Column("a", bad, note=bad),), (Row(bad, bad, (Entry(text=bad),), note=bad),))
    artefact = Artefact({"bad": bad}, (Table("f", frame), Table("g", grid)))
    words = rendered("{{ bad }}", artefact, "{{ bad }}", notes=[(bad, bad)])
    assert words.headline == bad
    assert "<script>" not in words.html and not re.findall('href="javascript', words.html)
    assert "<script>" not in words.markdown.replace("\\<script>", "")


def test_a_name_that_is_not_there_is_an_error(rendered):
    with pytest.raises(UndefinedError):
        rendered("{{ absent }}", Artefact({}))
    with pytest.raises(KeyError):
        rendered('{{ table("absent") }}', Artefact({}))


@pytest.mark.parametrize(("rows", "shown"), [(MOST_ROWS, True), (MOST_ROWS + 1, False)])
def test_a_long_table_is_named_instead_of_shown(rendered, rows, shown):
    words = rendered('{{ table("a") }}', Artefact({}, (Table("a", pd.DataFrame({"x": range(rows)})),)))
    assert (words.html.count("<tr>") == rows + 1) == shown
    assert ("| 0 |" in words.markdown) == shown and (f"{rows} rows" in words.html) != shown


def test_without_a_template_everything_is_shown_in_turn():
    artefact = Artefact({}, (Table("a", FRAME, "First"),), (Figure("f", lambda: None, "Second"),))
    context = {
        "title": "X",
        "command": "c",
        "titles": {},
        "notes": [("iris", "why")],
        "missing": {"pems": ""},
    }
    words = render(artefact, None, context | {"done": 1, "cells": 2, "finished": False})
    assert words.markdown.index("| moml |") < words.markdown.index("![Second](f.png)")
    assert "1 of 2 cells" in words.markdown and "- iris: why" in words.markdown and "pems" in words.markdown
