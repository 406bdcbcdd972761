"""The report in a real browser: sorting, the errors behind a cell, no console errors, nothing fetched."""

import shutil

import pandas as pd
import pytest
from matplotlib.figure import Figure as Drawing

from mloml.report.document import Artefact, Column, Entry, Figure, Grid, Row, Table
from mloml.report.page import write_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on PATH"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield running
        running.close()


VERDICTS = ["reproduced", "reproduced in part", "not reproduced", "trial only"]
TEMPLATE = """\
{% extends "artefact.md" %}
{% block card %}5 of 20 | claims are reproduced{% endblock %}
{% block page %}{{ bar("Claims", counts) }}
{{ table(claims) }}

{{ table("marks") }}

{{ figure("fig5") }}
{% endblock %}
"""
COMPARED = """\
dataset,algorithm,paper_mean,our_mean,difference,verdict,low,high
iris,moml,0.03,0.04,0.01,agrees,-0.005,0.025
wine,moml,0.2,0.18,-0.02,differs: ours lower,-0.03,-0.01
"""


@pytest.fixture
def results(results, write):
    """Also verdicts, a grid with marks, a picture, and differences from the paper."""
    claims = pd.DataFrame({"claim": [f"c{place}" for place in range(20)], "verdict": VERDICTS * 5})
    values = {"claims": claims, "counts": claims["verdict"].value_counts().to_dict()}
    entries = [Entry(0.123, 0.012, mark) for mark in ("win", "", "loss")]
    rows = tuple(Row(str(place), str(place), (entry,)) for place, entry in enumerate(entries))
    marks = Table("marks", Grid("t", (Column("moml", "MOML"),), rows))
    figure = Figure("fig5", lambda: Drawing(figsize=(7, 5)), "Layers")
    write(Artefact(values, (marks,), (figure,)), results / "fig5", TEMPLATE)
    cells = [f"{place},moml,{error}" for place in range(3) for error in (0.1, 0.2)]
    (results / "fig5" / "cells.csv").write_text("\n".join(["dataset,algorithm,error", *cells]))
    (results / "table2" / "agreement.csv").write_text(COMPARED)
    return results


@pytest.fixture
def page(browser, results):
    """Return the opened report; afterwards nothing may have been complained about or fetched."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    complaints, requests = [], []
    tab.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    address = write_report(results).as_uri()
    tab.goto(address)
    yield tab
    tab.close()
    assert complaints == []
    assert {url for url in requests if not url.startswith("data:")} == {address}


def first_column(page):
    return page.locator("#table2 table").first.locator("tbody").first.locator("th").all_inner_texts()


def test_a_column_head_sorts_up_and_down(page):
    head = page.locator("#table2 thead th").first
    assert first_column(page) == ["wine", "iris", "balance"]
    head.locator("button").click()
    assert first_column(page) == ["balance", "iris", "wine"]
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").click()
    assert first_column(page) == ["wine", "iris", "balance"]
    assert head.get_attribute("aria-sort") == "descending"


def test_numbers_sort_by_value_and_the_foot_stays(page):
    table = page.locator("#table2 table").first
    table.locator("thead th button").nth(1).click()
    values = [
        float(cell.get_attribute("data-value")) for cell in table.locator("tbody tr td:nth-child(2)").all()
    ]
    assert values[:3] == sorted(values[:3])
    assert table.locator("tfoot th").inner_text() == "win/tie/loss"
    assert table.locator("tbody").nth(1).locator("th").inner_text() == "spect"


def test_focus_shows_the_errors_of_a_cell_and_arrows_move(page):
    box = page.locator("#errors")
    assert box.is_hidden()
    page.locator("#table2 button.cell").first.focus()
    assert box.is_visible()
    assert "Euclidean on wine" in box.inner_text()
    assert len(box.locator(".list").inner_text().split()) == 30
    assert box.locator("circle").count() == 30
    page.keyboard.press("ArrowRight")
    assert "MOML on wine" in box.inner_text()
    page.keyboard.press("ArrowDown")
    assert "MOML on iris" in box.inner_text()
    page.keyboard.press("Escape")
    assert box.is_hidden()


def test_pointing_and_clicking_show_the_errors_too(page):
    box, cells = page.locator("#errors"), page.locator("#table2 button.cell")
    cells.nth(4).hover()
    assert "MOML on iris" in box.inner_text()
    page.mouse.move(0, 0)
    assert box.is_hidden()
    cells.nth(2).click()
    page.mouse.move(0, 0)
    assert "MLOML-r on wine" in box.inner_text()
    cells.nth(2).click()
    assert box.is_hidden()


def test_the_first_screen_shows_the_verdicts_the_agreement_a_picture_and_a_card(page):
    for what in (".verdicts", ".plot", ".plot svg", "img", ".card"):
        place = page.locator(what).first.bounding_box()
        assert place["y"] >= 0 and place["y"] + place["height"] <= 900, what
        assert place["width"] > 10 and place["x"] + place["width"] <= 1400, what


def test_the_sidebar_stays_and_says_where_one_is(page):
    page.evaluate("location.hash = '#provenance'")
    page.wait_for_function("scrollY > 200")
    assert abs(page.locator("nav").bounding_box()["y"]) < 1
    page.wait_for_selector("nav a[aria-current]:has-text('Provenance')")
    assert page.locator("nav a[aria-current]").count() == 1


def test_pointing_at_a_difference_shows_both_means_and_the_interval(page):
    box, point = page.locator("#errors"), page.locator(".plot circle").nth(1).bounding_box()
    page.mouse.move(point["x"] + 4, point["y"] + 2)
    text = box.inner_text()
    assert all(word in text for word in ("MOML on wine", ".200", ".180", "−.020", "−.030", "−.010"))
    page.mouse.move(1000, 880)
    assert box.is_hidden()


def shown(page):
    return [row for row in page.locator("#fig5 tbody").first.locator("tr").all() if row.is_visible()]


def test_typing_filters_the_rows_and_a_verdict_shows_its_claims(page):
    field = page.locator("#fig5 .filter input").first
    field.fill("reproduced in")
    assert len(shown(page)) == 5
    field.fill("reproduced")
    assert len(shown(page)) == 15
    page.locator(".verdicts .names a[data-word='reproduced']").click()
    assert len(shown(page)) == 5 and field.input_value() == "=reproduced"
    field.fill("")
    assert len(shown(page)) == 20


def test_marks_do_not_push_digits_out_of_line(page):
    cells = page.locator("#fig5-marks button.cell").all()
    edges = [cell.bounding_box()["x"] + cell.bounding_box()["width"] for cell in cells]
    assert len(edges) == 3 and max(edges) - min(edges) < 0.1


def test_a_button_turns_the_page_dark_and_light_again(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.locator("#theme").click()
    assert page.evaluate(colour) != light
    page.locator("#theme").click()
    assert page.evaluate(colour) == light


@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_does_not_scroll_sideways(page, width):
    page.set_viewport_size({"width": width, "height": 700})
    page.locator("#table2 button.cell").last.focus()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_link_to_a_folded_table_unfolds_it(page):
    from playwright.sync_api import expect

    folded = page.locator("details", has=page.locator("#table2-paper_comparison"))
    page.evaluate("location.hash = '#table2-paper_comparison'")
    expect(folded).to_have_attribute("open", "")


def test_the_content_policy_stops_anything_from_outside(browser, results):
    tab = browser.new_page()
    tab.goto(write_report(results).as_uri())
    blocked = tab.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (e) => resolve(e.effectiveDirective));
            new Image().src = "http://127.0.0.1:9/x.png";
        })"""
    )
    tab.close()
    assert blocked == "img-src"
