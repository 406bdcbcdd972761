"""Where things stand on the report page: claims first, every run, what is in sight, marks, small pictures."""

import base64
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure as Drawing
from PIL import Image, ImageChops

from mloml.config.paths import repository
from mloml.report.document import Artefact, Figure, Table, Text
from mloml.report.page import MOST_ROWS, _view, gather, render, write_report
from mloml.report.publish import DOCUMENT, publish

LARGEST = 4_000_000


def text_of(results):
    return write_report(results).read_text(encoding="utf-8")


def section_of(results, name):
    return next(section for section in gather(results) if section.name == name)


def test_runs_below_another_folder_are_on_the_page_and_the_published_reference_is_not(results, table2):
    for name in ("beyond/clean", "reference/table2", "table2_uci"):
        publish(table2, results / name)
    sections = gather(results)
    names = [section.name for section in sections]
    assert names[names.index("table2") :][:3] == ["table2", "beyond/clean", "table2_uci"]
    assert "reference/table2" not in names
    text = text_of(results)
    assert 'id="beyond-clean"' in text and 'href="#beyond-clean"' in text
    assert "Table II: errors (beyond/clean)" in text
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(re.findall(r'id="([^"]+)"', text))


def test_the_claim_table_comes_first_in_full_and_links_to_what_is_on_the_page(results):
    sentence = "a sentence that is longer than the forty letters at which other tables are folded " * 2
    claims = pd.DataFrame(
        {
            "claim": ["One", "Two"],
            "measured": [sentence, "not run yet: `make reproduce-fig5`"],
            "verdict": ["reproduced", "not tested"],
            "shows": ["table2/paper_comparison.md", "fig5/fig5.png"],
            "numbers": ["table2/too_large_to_show.csv", "elsewhere/numbers.csv"],
        }
    )
    table = Table("claims", "Claims", claims, sentences=True)
    publish(Artefact("Of 2 claims: ...", tables=(table,), name="claims", title="Claims"), results / "claims")
    text = text_of(results)
    part = text[text.index('<section id="claims"') : text.index('<section id="overview"')]
    assert part.count(sentence.strip()) == 1 and "<summary>" not in part
    assert '<a href="#table2-paper_comparison">table2/<wbr>paper_<wbr>comparison.md</a>' in part
    assert "fig5/<wbr>fig5.png" in part and 'href="#fig5-fig5-picture"' not in part  # it is not there yet
    assert '<a href="#table2">table2/<wbr>too_<wbr>large_<wbr>to_<wbr>show.csv</a>' in part
    assert "elsewhere/<wbr>numbers.csv" in part and 'href="#elsewhere' not in part
    assert "<code>make reproduce-fig5</code>" in part and '<span class="good">reproduced</span>' in part


def test_a_heading_on_the_page_of_the_main_table_keeps_the_numbers_that_it_announces(results, table2):
    first, verdicts = table2.tables
    frame = pd.DataFrame({"step": ["announced"]})
    page = (Text(heading="Alone"), frame, Text(("Said.",), "With words"), frame.assign(step="elsewhere"))
    publish(replace(table2, tables=(replace(first, page=page), verdicts)), results / "table2")
    part = text_of(results)
    part = part[part.index('<section id="table2"') :]
    between = part[part.index("<h3>Alone</h3>") : part.index("<h3>With words</h3>")]
    assert between.count("<table") == 1 and "announced" in between
    assert "elsewhere" not in part[: part.index("</section>")]


def test_a_table_in_sight_shows_its_page_before_its_numbers(results, table2):
    first, verdicts = table2.tables
    shown = replace(verdicts, page=(first.numbers, Text(("Behind it.",))), in_sight=True)
    publish(replace(table2, tables=(first, shown)), results / "table2")
    part = text_of(results)
    part = part[part.index('<section id="table2"') :]
    heading, numbers = part.index("<h3>Verdicts</h3>"), part.index('id="table2-paper_comparison"')
    between = part[heading:numbers]
    assert between.count("<table") == 1 and "<details" in between[between.index("</table>") :]
    assert between.index("<details") < between.index("Behind it.")


def test_marks_stand_apart_from_the_number_so_that_they_can_be_seen(results, table2):
    table, *others = table2.tables
    row = table.numbers.rows[0]
    marked = replace(row, entries=(replace(row.entries[0], mark="loss"), *row.entries[1:]))
    grid = replace(table.numbers, rows=(marked, *table.numbers.rows[1:]))
    publish(replace(table2, tables=(replace(table, numbers=grid), *others)), results / "table2")
    assert section_of(results, "table2").main.groups[0][0][1].mark == "◦"
    assert '<span class="mark">◦</span></button>' in text_of(results)


def test_pictures_are_smaller_inside_the_page_and_as_large_on_the_screen(results):
    def draw():
        figure = Drawing(figsize=(6, 4))
        axes = figure.subplots()
        axes.plot(range(50), [x**2 for x in range(50)], "o-", color="#D55E00")
        return figure

    figure = Figure("fig5", "Figure 5: layers", "Error of each layer.", draw)
    publish(Artefact("", figures=(figure,), name="fig5"), results / "fig5")
    original = (results / "fig5" / "fig5.png").read_bytes()
    shown = base64.b64decode(section_of(results, "fig5").pictures[0].uri.partition(",")[2])
    assert len(shown) < 0.7 * len(original)
    before, after = (Image.open(BytesIO(data)) for data in (original, shown))
    assert before.size == after.size
    difference = ImageChops.difference(before.convert("RGB"), after.convert("RGB"))
    assert max(high for _, high in difference.getextrema()) < 64


def test_both_themes_name_every_colour(results):
    page = text_of(results)
    style = page[page.index("<style>") : page.index("</style>")]
    light, dark = re.findall(r":root \{(.*?)\}", style, re.S)[:2]
    names = [set(re.findall(r"--[a-z]+(?=:)", block)) for block in (light, dark)]
    assert names[0] == names[1] >= set(re.findall(r"var\((--[a-z]+)\)", style))


def test_the_page_over_the_published_results_is_small_enough_to_send():
    reference = Path(repository() or ".", "results", "reference")
    if not any(reference.glob(f"*/{DOCUMENT}")):
        pytest.skip("results/reference holds no artefact.json yet")
    assert len(render(gather(reference)).encode()) < LARGEST


def test_a_table_of_very_many_rows_is_named_not_shown():
    problems: list[str] = []
    for count in (MOST_ROWS, MOST_ROWS + 1):
        numbers = {"kind": "Frame", "columns": ["a"], "length": count, "rows": [[1]] * count}
        view = _view({"name": "long", "title": "Long", "numbers": numbers}, "fig7", {}, problems)
        assert (view is not None) == (count == MOST_ROWS)
    assert problems == [f"fig7/long.csv has {MOST_ROWS + 1} rows and is not shown here."]
