"""The HTML page: what it holds, what it says of what is missing or damaged, and that nothing leaks in."""

import base64
import json
import re
from html.parser import HTMLParser
from io import BytesIO
from itertools import pairwise

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
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3  # overview, headline, caption


def test_a_cell_of_table_two_carries_its_thirty_errors(results, errors):
    cell = next(c for c in Outline(text_of(results)).cells if c["data-label"] == "MLOML-r on iris")
    assert tuple(map(float, cell["data-errors"].split())) == errors["iris", "mloml_r"]


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
    (image,) = Outline(text_of(results)).images
    assert image["alt"] == "Figure 5: layers" and image["width"] == "840"
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


@pytest.mark.parametrize("name", ["artefact.json", "manifest.json", "failures.csv"])
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


def test_the_page_over_the_published_results_is_whole_and_small_enough_to_send():
    root = repository()
    if root is None:
        pytest.skip("the published results are not part of an installed wheel")
    page = page_html(gather(root / "results" / "reference"))
    check_outline(page)
    assert len(page.encode()) < LARGEST
