"""The report page as text: what it holds, what it says of what is missing, and that nothing leaks in."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.figure import Figure as Drawing

from mloml.report.artefacts.claims import RECIPE
from mloml.report.document import Artefact, Figure, Table
from mloml.report.page import gather, write_report
from mloml.report.publish import publish
from mloml.report.recipe import recipes
from mloml.report.views import frame_view


class Outline(HTMLParser):
    """Collect headings, images, ids and whatever could be loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.images, self.ids, self.addresses, self.targets = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.images.append(values)
        if "id" in values:
            self.ids.append(values["id"])
        for name in ("src", "href"):
            if name in values:
                self.addresses.append(values[name])


@pytest.fixture
def page(results):
    return write_report(results).read_text(encoding="utf-8")


def text_of(results):
    return write_report(results).read_text(encoding="utf-8")


def section_of(results, name):
    return next(section for section in gather(results) if section.name == name)


def test_an_empty_folder_gives_a_page_that_names_every_command(tmp_path):
    text = text_of(tmp_path)
    for name in recipes():
        assert f"run <code>mloml reproduce {name}</code>" in text
    assert "Nothing has been run yet." in text


def test_headings_never_skip_a_level_and_start_with_one_title(page):
    headings = Outline(page).headings
    assert headings[0] == 1 and headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))


def test_the_page_refers_to_nothing_outside_itself(page):
    outline = Outline(page)
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)
    assert {a[1:] for a in outline.addresses if a.startswith("#")} <= set(outline.ids)
    assert len(outline.ids) == len(set(outline.ids))
    assert "url(" not in page and "@import" not in page


def test_texts_from_results_are_escaped(page):
    assert "<script>alert(1)</script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "The bound is &lt;b&gt;false&lt;/b&gt;." in page


def test_the_page_needs_nothing_but_the_documents_and_the_manifests(results):
    before = text_of(results)
    for path in [*results.glob("*/*.csv"), *results.glob("*/*.md"), *results.glob("*/*.tex")]:
        path.unlink()
    assert text_of(results) == before


def test_a_cell_of_table_two_carries_its_thirty_errors(results, errors):
    entry = section_of(results, "table2").main.groups[0][1][3]
    assert entry.label == "MLOML-r on iris"
    assert tuple(entry.errors) == errors["iris", "mloml_r"]
    assert entry.value == pytest.approx(sum(entry.errors) / 30)


def test_uncounted_sets_stand_apart_and_win_tie_loss_stays_below(results):
    table = section_of(results, "table2").main
    assert [[row[0].text for row in group] for group in table.groups] == [
        ["wine", "iris", "balance"],
        ["spect*"],
    ]
    assert table.notes == {"not counted": ["spect"]}
    assert [row[0].text for row in table.foot] == ["win/tie/loss"]


def test_verdicts_failures_and_revision_are_on_the_page(page):
    assert '<span class="good">agrees</span>' in page
    assert '<span class="bad">differs: ours lower</span>' in page
    assert "Code revision: 0123456789ab." in page
    assert 'id="failures"' in page and "lmnn" in page


def picture(name="fig5", numbers=None, **options):
    draw = lambda: Drawing(figsize=(3, 1))  # noqa: E731
    return Figure(name, "Figure 5: layers", "Error of each layer.", draw, numbers, **options)


def test_figures_are_inside_the_page_with_an_alternative_text(results):
    figure = picture(numbers=pd.DataFrame({"error": [0.1]}))
    publish(Artefact("Down.", figures=(figure,), name="fig5"), results / "fig5")
    text = text_of(results)
    image = Outline(text).images[0]
    assert image["src"].startswith("data:image/png;base64,")
    assert image["alt"] == "Figure 5: layers. Error of each layer."
    assert "The numbers of this figure" in text


def test_a_picture_that_was_cut_off_or_is_gone_is_named_and_not_shown(results):
    figures = [picture(name) for name in ("whole", "cut", "gone")] + [picture("later", ready=False)]
    publish(Artefact("Down.", figures=tuple(figures), name="theory"), results / "theory")
    whole = (results / "theory" / "whole.png").read_bytes()
    (results / "theory" / "cut.png").write_bytes(whole[: len(whole) // 2])
    (results / "theory" / "gone.png").unlink()
    section = section_of(results, "theory")
    assert [(picture.source, picture.width) for picture in section.pictures] == [("theory/whole.png", 420)]
    assert [problem.split(" is not")[0] for problem in section.problems] == [
        "theory/cut.png",
        "theory/gone.png",
    ]


@pytest.mark.parametrize("name", ["artefact.json", "manifest.json"])
@pytest.mark.parametrize(
    "content",
    [
        "",
        "\x00\x01\xff",
        '{"a":',
        "[1]",
        '{"a": 1}',
        '{"format": 1}',
        '{"format": 1, "titles": 3, "name": ""}',
    ],
)
def test_a_damaged_file_is_named_and_does_not_cost_the_page(results, name, content):
    (results / "table2" / name).write_bytes(content.encode("latin-1"))
    text = text_of(results)
    assert "Theorem <code>2</code>" in text
    if name == "artefact.json":
        assert "table2/artefact.json" in text and "not made yet" in text


def test_a_long_table_is_named_instead_of_shown(results):
    long = Table("long", "Long", pd.DataFrame({"x": range(1000)}))
    publish(Artefact("Long.", tables=(long,), name="theory"), results / "theory")
    assert "theory/long.csv has 1000 rows" in text_of(results)
    assert len(pd.read_csv(results / "theory" / "long.csv")) == 1000


def test_numbers_are_shortened_and_words_left_alone():
    rows = [[0.00012345, "iris", ""], [12, None, None]]
    view = frame_view({"columns": ["a", "b", "note"], "rows": rows})
    assert view.columns == ["a", "b"]
    assert [row[0].text for row in view.groups[0]] == ["0.0001234", "12"]
    assert view.numeric == [True, False]


def test_the_same_results_give_the_same_page(results):
    assert text_of(results) == text_of(results)


def test_words_about_a_table_follow_its_caption_and_remarks(page):
    part = page[page.index('id="table2-table2"') :]
    words = ("Errors.", "Bold: best.", "Of 3 marks, 1 survives.", "<h3>Ranks</h3>", "Others are elsewhere.")
    places = [part.index(word) for word in words]
    assert places == sorted(places)


def test_details_lead_to_their_place_on_the_page_or_are_left_out(page):
    assert '1 survives. Details: <a href="#table2-paper_comparison">Verdicts</a>.' in page
    assert 'id="table2-paper_comparison"' in page and "gone" not in page


def test_findings_come_first_as_a_headline_and_then_in_full(page):
    overview = page[page.index('id="overview"') : page.index('id="table1"')]
    assert "It &lt;i&gt;fails&lt;/i&gt;." in overview and "Theorem 1." not in overview
    assert "<li>Theorem 1.</li>" in page[page.index('<section id="theory"') :]


def test_algorithms_go_by_their_titles_and_unknown_ones_by_their_names(results, table2):
    frame = pd.DataFrame({"algorithm": ["mloml_r", "mine"], "reference": ["moml", ""], "n": [1, 2]})
    publish(replace(table2, tables=(*table2.tables, Table("tests", "Tests", frame))), results / "table2")
    table = section_of(results, "table2").tables[-1]
    assert [[entry.text for entry in row[:2]] for row in table.groups[0]] == [
        ["MLOML-r", "MOML"],
        ["mine", ""],
    ]


def test_a_run_beside_the_main_one_has_a_section_of_its_own(results, table2):
    publish(table2, results / "lite")
    section = section_of(results, "lite")
    assert section.title == "Table II: errors (lite)"
    assert len(section.main.groups[0][0][1].errors) == 30
    assert 'id="lite-table2"' in text_of(results)


def test_runs_below_an_artefact_tell_its_state_its_failures_and_where_it_comes_from(results, table2):
    folder = results / "protocols"
    publish(replace(table2, name="protocols", tables=()), folder)
    for name, state in (("paper", "complete"), ("clean", "interrupted")):
        (folder / name).mkdir()
        content = {"state": state, "command": f"make {name}"}
        (folder / name / "manifest.json").write_text(json.dumps(content))
    section = section_of(results, "protocols")
    assert section.state == "interrupted"
    assert section.failures.source == "protocols/failures.csv"
    assert "<code>make clean</code>" in text_of(results)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe\x00", b'{"config": {"algorithms": 3}, "state": {}}']
)
@pytest.mark.parametrize("name", ["manifest.json", "artefact.json"])
def test_a_damaged_file_costs_nothing_but_itself(results, content, name):
    (results / "table2" / name).write_bytes(content)
    assert "Table II" in text_of(results)


def test_runs_of_one_artefact_are_told_apart_by_their_folders(results):
    for folder in ("signs_1", "signs_2"):
        (results / "signs" / folder).mkdir(parents=True)
        (results / "signs" / folder / "manifest.json").write_text('{"command": "mloml reproduce signs"}')
    page = text_of(results)
    provenance = page[page.index('<section id="provenance"') :]
    for folder in ("signs_1", "signs_2"):
        assert provenance.count(f"Signs of the principal axes ({folder})") == 2


def test_a_trial_is_named_above_the_verdicts_that_rest_on_it(tmp_path):
    (tmp_path / "table2").mkdir()
    (tmp_path / "table2" / "manifest.json").write_text('{"config": {"protocol": {"name": "lite"}}}')
    publish(RECIPE.read(tmp_path), tmp_path / "claims")
    page = text_of(tmp_path)
    part = page[page.index('<section id="claims"') :]
    assert "from which nothing follows: table2." in part[: part.index("<table")]
    assert "then <code>mloml report</code>" in page  # a wheel brings no Makefile
