"""The report page as text: what it holds, what it says of what is missing, and that nothing leaks in."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pandas as pd
import pytest

from mloml.reporting.artefact import write_figure
from mloml.reporting.page.artefacts import ARTEFACTS, OPTIONAL
from mloml.reporting.page.build import write_report
from mloml.reporting.page.gather import gather
from mloml.reporting.page.tables import any_table, error_entry
from mloml.reporting.style import paper_style


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


def test_an_empty_folder_gives_a_page_that_names_every_command(tmp_path):
    text = write_report(tmp_path).read_text(encoding="utf-8")
    for artefact in ARTEFACTS:
        assert (f"run <code>{artefact.command}</code>" in text) is (artefact.name not in OPTIONAL)
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


def test_a_cell_of_table_two_carries_its_thirty_errors(results):
    table = next(s for s in gather(results) if s.artefact.name == "table2").tables[0]
    cells = pd.read_csv(results / "table2" / "cells.csv")
    entry = table.groups[0][1][3]
    expected = cells[(cells.dataset == "iris") & (cells.algorithm == "mloml_r")].error
    assert entry.label == "MLOML-r on iris"
    assert list(entry.errors) == expected.tolist()
    assert entry.value == pytest.approx(expected.mean(), abs=5e-4)


def test_uncounted_sets_stand_apart_and_win_tie_loss_stays_below(results):
    table = next(s for s in gather(results) if s.artefact.name == "table2").tables[0]
    assert [[row[0].text for row in group] for group in table.groups] == [
        ["wine", "iris", "balance"],
        ["spect*"],
    ]
    assert table.notes == {"not counted": ["spect"]}
    assert [row[0].text for row in table.foot] == ["win/tie/loss"]


def test_errors_of_another_run_are_not_shown_behind_a_mean():
    assert error_entry(".150±.071", [0.1, 0.3], "x").errors == ()
    assert error_entry("–", [], "x").value is None


def test_verdicts_failures_and_revision_are_on_the_page(page):
    assert '<span class="good">agrees</span>' in page
    assert '<span class="bad">differs: ours lower</span>' in page
    assert "Code revision: 0123456789ab." in page
    assert 'id="failures"' in page and "lmnn" in page


def test_figures_are_inside_the_page_with_an_alternative_text(results):
    from matplotlib.figure import Figure

    with paper_style():
        write_figure(
            Figure(), pd.DataFrame({"error": [0.1]}), results / "fig5", "fig5",
            title="Figure 5: layers", caption="Error of each layer.", command="make reproduce-fig5",
        )  # fmt: skip
    image = Outline(write_report(results).read_text(encoding="utf-8")).images[0]
    assert image["src"].startswith("data:image/png;base64,")
    assert image["alt"] == "Figure 5: layers. Error of each layer."


@pytest.mark.parametrize("name", ["table2.csv", "cells.csv", "manifest.json", "failures.csv", "table2.md"])
@pytest.mark.parametrize("content", ["", "\x00\x01\xff", '{"a":', 'a,b\n1,2,3,4\n"'])
def test_a_damaged_file_does_not_cost_the_page(results, name, content):
    (results / "table2" / name).write_bytes(content.encode("latin-1"))
    text = write_report(results).read_text(encoding="utf-8")
    assert "Theorem 2" in text


def test_a_long_table_is_named_instead_of_shown(results):
    pd.DataFrame({"x": range(1000)}).to_csv(results / "theory" / "long.csv", index=False)
    assert "theory/long.csv has 1000 rows" in write_report(results).read_text(encoding="utf-8")


def test_numbers_are_shortened_and_words_left_alone():
    frame = pd.DataFrame({"a": ["0.00012345", "12"], "b": ["iris", ""], "note": ["", ""]})
    table = any_table(frame, "t", "t.csv")
    assert table.columns == ["a", "b"]
    assert [row[0].text for row in table.groups[0]] == ["0.0001234", "12"]
    assert table.numeric == [True, False]


def test_the_same_results_give_the_same_page(results):
    assert write_report(results).read_bytes() == write_report(results).read_bytes()


def test_words_beside_a_table_are_shown_without_its_copy_and_links(results):
    (results / "table2" / "table2.md").write_text(
        "# Table II\n\nErrors.\n\n| dataset | MOML |\n|---|---|\n| iris | .1 |\n\n<sup>a</sup> a note\n\n"
        "Of 3 marks, 1 survives. See [selections.md](selections.md).\n\n## Ranks\n\n![plot](x.png)\n\n"
        "Made by `make`.\n"
    )
    about = next(s for s in gather(results) if s.artefact.name == "table2").tables[0].about
    assert about == "<p>Errors.</p>\n<p>Of 3 marks, 1 survives. See selections.md.</p>"


def test_tables_come_in_the_order_in_which_they_are_read(results):
    for name in ("tests", "zzz", "win_tie_loss"):
        pd.DataFrame({"x": [1]}).to_csv(results / "table2" / f"{name}.csv", index=False)
    section = next(s for s in gather(results) if s.artefact.name == "table2")
    names = [table.source.split("/")[1] for table in section.tables]
    assert names == ["table2.csv", "paper_comparison.csv", "win_tie_loss.csv", "tests.csv", "zzz.csv"]


def test_a_small_run_shows_its_errors_too(results):
    (results / "table2").rename(results / "lite")
    section = next(s for s in gather(results) if s.artefact.name == "lite")
    assert section.main is section.tables[0]
    assert len(section.main.groups[0][0][1].errors) == 30


def test_findings_come_first_as_a_headline_and_then_in_full(page):
    overview = page[page.index('id="overview"') : page.index('id="table1"')]
    assert "It &lt;i&gt;fails&lt;/i&gt;." in overview and "Theorem 1." not in overview
    assert "<li>Theorem 1.</li>" in page[page.index('<section id="theory"') :]


def test_links_between_files_lead_to_their_place_on_the_page(results):
    (results / "table2" / "table2.md").write_text("# T\n\nSee [x](paper_comparison.md) and [y](gone.md).\n")
    text = write_report(results).read_text(encoding="utf-8")
    assert (
        'See <a href="#table2-paper_comparison">Verdicts: our means against the paper\'s</a> and y.' in text
    )
    assert 'id="table2-paper_comparison"' in text


def test_algorithms_go_by_their_titles_and_unknown_ones_by_their_names(results):
    frame = pd.DataFrame({"algorithm": ["mloml_r", "mine"], "reference": ["moml", ""], "n": ["1", "2"]})
    frame.to_csv(results / "table2" / "tests.csv", index=False)
    table = next(s for s in gather(results) if s.artefact.name == "table2").tables[-1]
    assert [[entry.text for entry in row[:2]] for row in table.groups[0]] == [
        ["MLOML-r", "MOML"],
        ["mine", ""],
    ]


def test_a_picture_that_was_cut_off_is_named_and_not_shown(results):
    from matplotlib.figure import Figure

    from mloml.reporting.style import save_figure

    save_figure(Figure(figsize=(3, 1)), results / "theory", "whole")
    whole = (results / "theory" / "whole.png").read_bytes()
    (results / "theory" / "cut.png").write_bytes(whole[: len(whole) // 2])
    section = next(s for s in gather(results) if s.artefact.name == "theory")
    assert [(picture.source, picture.width) for picture in section.pictures] == [("theory/whole.png", 140)]
    assert any(note.startswith("theory/cut.png is not a whole picture") for note in section.notes)


def test_runs_below_an_artefact_tell_its_state_its_failures_and_where_it_comes_from(results):
    folder = results / "protocols"
    (folder / "clean").mkdir(parents=True)
    (results / "table2").rename(folder / "paper")
    (folder / "clean" / "manifest.json").write_text('{"state": "interrupted", "command": "make it"}')
    (folder / "protocols.md").write_text("# Two protocols\n\nBoth.\n")
    section = next(s for s in gather(results) if s.artefact.name == "protocols")
    assert section.state == "interrupted"
    assert [table.source for table in section.failures] == ["protocols/paper/failures.csv"]
    assert "<code>make it</code>" in write_report(results).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe\x00", b'{"config": {"algorithms": 3}, "state": {}}']
)
def test_a_damaged_manifest_costs_nothing_but_itself(results, content):
    manifests = sorted(results.glob("*/manifest.json"))
    for path in manifests or [results / "table2" / "manifest.json"]:
        path.write_bytes(content)
    assert "Table II" in write_report(results).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2,3\n4\n", b"\xff\xfe\x00\n1", b"split,error,dataset,algorithm\nx,y,z,w\n"]
)
def test_a_damaged_csv_file_costs_nothing_but_itself(results, content):
    for path in results.glob("table2/*.csv"):
        path.write_bytes(content)
    (results / "table2" / "cells.csv").write_bytes(content)
    assert "Table II" in write_report(results).read_text(encoding="utf-8")
