"""The HTML page: what it holds, what it says of what is missing or damaged, and that nothing leaks in."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.figure import Figure as Drawing
from PIL import Image, ImageChops

from mloml.config import repository
from mloml.report.document import Artefact, Figure
from mloml.report.page import gather, page_html, write_report
from mloml.report.recipe import recipes

LARGEST = 4_000_000


class Outline(HTMLParser):
    """Collect headings, images, ids, addresses and the cells that carry errors."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.images, self.ids, self.addresses, self.cells = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.images += [values] if tag == "img" else []
        self.cells += [values] if "data-errors" in values else []
        self.ids += [values["id"]] if "id" in values else []
        self.addresses += [values[name] for name in ("src", "href") if name in values]


def text_of(results):
    return write_report(results).read_text(encoding="utf-8")


def section_of(results, name):
    return next(section for section in gather(results) if section.name == name)


def test_an_empty_folder_gives_a_page_that_names_every_command(tmp_path):
    text = text_of(tmp_path)
    assert all(f"<code>mloml reproduce {name}</code>" in text for name in recipes())


def check_outline(page):
    outline = Outline(page)
    assert outline.headings[0] == 1 and outline.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(outline.headings))
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)
    assert {address[1:] for address in outline.addresses if address.startswith("#")} <= set(outline.ids)
    assert len(outline.ids) == len(set(outline.ids))
    assert "url(" not in page and "@import" not in page


def test_the_outline_is_whole_and_refers_to_nothing_outside(results):
    check_outline(text_of(results))
    assert text_of(results) == text_of(results)


def test_texts_from_results_are_escaped(results):
    page = text_of(results)
    assert "<script>alert(1)</script>" not in page and "<b>no</b>" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2  # headline, caption


def test_a_cell_of_table_two_carries_its_thirty_errors(results, errors):
    cell = next(c for c in Outline(text_of(results)).cells if c["data-label"] == "MLOML-r on iris")
    assert tuple(map(float, cell["data-errors"].split())) == errors["iris", "mloml_r"]


def test_errors_are_those_of_the_run_that_a_table_is_of_and_no_file_has_them_twice(results, table2, write):
    (grid, _), cells = table2.tables, (results / "table2" / "cells.csv").read_text()
    clean = replace(grid, name="errors_clean")
    write(Artefact({}, (grid, clean)), results / "beyond")
    assert "data-errors" not in (results / "beyond" / "artefact.json").read_text()
    (results / "beyond" / "clean").mkdir()
    (results / "beyond" / "clean" / "cells.csv").write_text(cells)
    own, other = section_of(results, "beyond").html.split('id="beyond-errors_clean"')
    assert "data-errors" not in own and other.count("data-errors") == cells.count("\n") // 30


def test_a_table_that_no_text_mentions_is_read_from_its_file(results):
    file = results / "table2" / "paper_comparison.csv"
    file.write_text(file.read_text().replace("-0.2", "-0.25") + "pems,,\n")
    _, folded = section_of(results, "table2").html.split("<details")
    assert "Verdicts" in folded and "-0.25" in folded and '<th scope="row">pems</th>' in folded


def test_runs_below_an_artefact_tell_its_state_and_where_it_comes_from(results, table2, write):
    folder = results / "protocols"
    write(table2, folder)
    for name, state in (("paper", "complete"), ("clean", "interrupted")):
        (folder / name).mkdir()
        (folder / name / "manifest.json").write_text(json.dumps({"state": state, "command": f"make {name}"}))
        (folder / name / "failures.csv").write_text("dataset,error\niris,no\n")
    section = section_of(results, "protocols")
    assert section.state == "interrupted" and len(section.failures) == 2
    assert text_of(results).count("<code>make clean</code>") == 1
    assert section_of(results, "table2").state == "complete"
    assert section_of(results, "fig5").state == "not made yet"


def picture(name="fig5", **options):
    def draw():
        figure = Drawing(figsize=(6, 4))
        figure.subplots().plot(range(50), [x**2 for x in range(50)], "o-", color="#D55E00")
        return figure

    return Figure(name, draw, "Figure 5: layers", **options)


def test_pictures_are_inside_the_page_smaller_and_as_large_on_the_screen(results, write):
    write(Artefact({}, figures=(picture(),)), results / "fig5")
    original = (results / "fig5" / "fig5.png").read_bytes()
    small, image = Outline(text_of(results)).images
    assert image["alt"] == "Figure 5: layers" and (image["width"], image["height"]) == ("840", "560")
    assert small["alt"] == "" and len(small["src"]) < len(image["src"])
    shown = base64.b64decode(image["src"].partition(",")[2])
    assert len(shown) < 0.7 * len(original)
    before, after = (Image.open(BytesIO(data)).convert("RGB") for data in (original, shown))
    assert max(high for _, high in ImageChops.difference(before, after).getextrema()) < 64


def test_a_picture_that_was_cut_off_or_is_gone_is_named_and_not_shown(results, write):
    names = ("whole", "cut", "gone")
    write(Artefact({}, figures=tuple(map(picture, names))), results / "theory")
    whole = (results / "theory" / "whole.png").read_bytes()
    (results / "theory" / "cut.png").write_bytes(whole[: len(whole) // 2])
    (results / "theory" / "gone.png").unlink()
    problems = section_of(results, "theory").problems
    assert [problem.split(" is not")[0] for problem in problems] == ["theory/cut.png", "theory/gone.png"]


@pytest.mark.parametrize(
    "name", ["artefact.json", "manifest.json", "failures.csv", "cells.csv", "paper_comparison.csv"]
)
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\xff", b'{"a":', b"[1]", b'{"format": 1}', b'{"format": 2, "html": 3, "name": ""}'],
)
def test_a_damaged_file_is_named_and_costs_nothing_but_itself(results, write, table2, name, content):
    write(table2, results / "fig5")
    (results / "table2" / name).write_bytes(content)
    assert "table2-title" in text_of(results) and 'id="fig5-table2"' in text_of(results)
    if name == "artefact.json":
        assert section_of(results, "table2").problems and not section_of(results, "table2").html


WORDS = """\
{% extends "artefact.md" %}
{% block headline %}3 of 4 hold.{% endblock %}
{% block card %}3 of 4 | claims hold{% endblock %}
{% block page %}
{{ bar("Claims", {"reproduced": 3, "trial only": 1, "false": 0}) }}
The same test on every data set, at the same level, as everywhere else on this page.

## What came out

{{ table(claims) }}

{% call figure("fig5") %}Errors of every layer.{% endcall %}

## Rules

{{ table(rules) }}
{% endblock %}
"""


@pytest.fixture
def wordy(results, write):
    claims = pd.DataFrame({"claim": list("abcd"), "verdict": ["reproduced"] * 3 + ["trial only"]})
    rules = pd.DataFrame({"claim": [str(place) for place in range(20)], "rule": "more than half"})
    write(Artefact({"claims": claims, "rules": rules}, figures=(picture(),)), results / "fig5", WORDS)
    return results


def test_a_section_shows_its_picture_first_then_its_table_then_its_text(wordy):
    html = section_of(wordy, "fig5").html
    places = [html.index(word) for word in ("<figure", "<table", "3 of 4 hold", "The same test", "<h3>Rules")]
    assert places == sorted(places)
    assert "What came out" not in html  # a heading of nothing


def test_a_long_table_is_folded_unless_it_is_the_first(wordy):
    html = section_of(wordy, "fig5").html
    folded = html[html.index("<details") : html.index("</details>")]
    assert html.count("<table") == 2 and folded.count("<table") == 1 and "more than half" in folded


def test_the_first_screen_has_verdicts_in_their_own_words_and_a_card_for_every_artefact(wordy):
    page = text_of(wordy)
    assert page.count('<a class="card') == len(gather(wordy))
    first, rest = page.split('id="failures"')[0].split('<section id="fig5"')
    assert re.findall(r'style="flex:(\d)" title="(.*?)"', first) == [
        ("3", "3 reproduced"),
        ("1", "1 trial only"),
    ]
    assert re.search(r"<strong>3 <small>of 4</small></strong>.*claims hold", first)
    assert rest.count('class="badge" data-word="reproduced"') == 3
    assert rest.count('class="badge" data-word="trial only"') == 1


def test_a_paragraph_stands_once_on_the_page_and_elsewhere_a_link_leads_to_it(wordy, write):
    claims = pd.DataFrame({"claim": ["a"], "verdict": ["false"]})
    write(Artefact({"claims": claims, "rules": claims}, figures=(picture(),)), wordy / "fig7", WORDS)
    page = text_of(wordy)
    assert page.count("The same test on every data set") == 1
    assert 'href="#fig5"' in page.split('<section id="fig7"')[1]


COMPARED = """\
dataset,algorithm,paper_mean,our_mean,difference,verdict,low,high
iris,moml,0.03,0.04,0.01,agrees,-0.005,0.025
wine,moml,0.2,0.1,-0.1,differs: ours lower,-0.12,-0.08
"""


def test_every_difference_from_the_paper_is_a_point_inside_the_plot(results):
    (results / "table2" / "agreement.csv").write_text(COMPARED)
    plot = re.search(r'<figure class="plot">.*?</figure>', text_of(results), re.DOTALL)[0]
    assert re.findall(r'cx="(.*?)"', plot) == ["60.00%", "0.00%"]
    assert re.findall(r'x1="(.*?)" x2="(.*?)"', plot) == [("45.00%", "75.00%"), ("0.00%", "0.00%")]
    assert "the paper .030, ours .040" in plot and "−.120 to −.080" in plot


@pytest.mark.parametrize("content", ["dataset,algorithm\niris,moml\n", COMPARED.replace("0.04", "x"), "\0"])
def test_a_damaged_comparison_costs_nothing_but_its_points(results, content):
    (results / "table2" / "agreement.csv").write_text(content)
    assert "table2-title" in text_of(results)
    assert len(section_of(results, "table2").points) <= 1


def test_the_page_over_the_published_results_is_whole_and_small_enough_to_send():
    root = repository()
    if root is None:
        pytest.skip("the published results are not part of an installed wheel")
    page = page_html(gather(root / "results" / "reference"))
    check_outline(page)
    assert len(page.encode()) < LARGEST
    paragraphs = [text for text in re.findall(r"<p>(.*?)</p>", page, re.DOTALL) if len(text) > 100]
    assert len(paragraphs) == len(set(paragraphs))
