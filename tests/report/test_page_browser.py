"""The report in a real browser: sorting, the errors behind a cell, no console errors, nothing fetched."""

import shutil

import pytest

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


@pytest.fixture
def page(browser, results):
    """Return the opened report; afterwards nothing may have been complained about or fetched."""
    tab = browser.new_page()
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


def test_a_phone_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 360, "height": 700})
    page.locator("#table2 button.cell").last.focus()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


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
