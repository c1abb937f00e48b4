"""The report in a real browser: what a reader does, in which colours, at which widths."""

import os
import shutil
from itertools import pairwise

import numpy as np
import pytest
from pages import HOSTILE, STRANGE, dated, hostile, ragged

REQUIRED = os.environ.get("GENSHAPELETS_BROWSER") == "required"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
TITLE = "<i>Waves</i> & 'bumps'"


def missing(reason):
    (pytest.fail if REQUIRED else pytest.skip)(
        f"{reason} (GENSHAPELETS_BROWSER=required makes this a failure)"
    )


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the package playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        missing("there is no chromium on the path")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Models with their data and reports, by name."""
    folder = tmp_path_factory.mktemp("reports")
    made = {}
    for make in (hostile, dated, ragged):
        model, series, y = make()
        page = model.report(folder / f"{make.__name__}.html", series, y, title=TITLE)
        made[make.__name__] = model, series, page
    return made


@pytest.fixture
def visit(browser, reports):
    """Open a report; afterwards, see to it that nothing was complained of or fetched."""
    complaints, requests, pages = [], [], []

    def visit(name, viewport=DESKTOP, **options):
        page = browser.new_page(viewport=viewport, **options)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(reports[name][2].as_uri())
        pages.append((page, reports[name][2].as_uri()))
        return page

    yield visit
    for page, _ in pages:
        assert page.evaluate("window.broken") is None
        page.close()
    assert not complaints
    assert set(requests) == {address for _, address in pages}


def overflows(page, place="html"):
    return page.locator(place).evaluate("node => node.scrollWidth > node.clientWidth")


def rows_shown(page):
    """(Shapelet, begin, end, contribution) of each row, and what they should sum to."""
    rows = page.locator("#contributions tr[data-shapelet]").evaluate_all(
        "rows => rows.map(row => ['shapelet', 'begin', 'end', 'part'].map(key => +row.dataset[key]))"
    )
    others = page.locator("#contributions td[data-part]").evaluate_all(
        "cells => cells.map(cell => +cell.dataset.part)"
    )
    score = float(page.locator("#score").get_attribute("data-score"))
    return rows, sum(part for *_, part in rows) + sum(others), score


@pytest.mark.parametrize("name", ["hostile", "dated", "ragged"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_every_width_and_colour_scheme(visit, name, scheme, viewport):
    page = visit(name, viewport, color_scheme=scheme)
    assert page.locator("h1").inner_text() == TITLE
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 384) == (scheme == "dark")
    assert not overflows(page)
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    page.locator("summary").first.click()
    assert not overflows(page) and not overflows(page, "#contributions .scroll")
    # Thick lines of shapelets and bands are drawn, in letters and curves of the chart.
    marked = page.locator("#contributions .mark[aria-pressed=true]").count()
    assert marked == page.locator("#legend .swatch").count() > 0
    assert page.locator("#series-chart svg path").count() > marked


@pytest.mark.parametrize("name", ["hostile", "dated", "ragged"])
def test_a_series_picked_by_keyboard_shows_its_windows(visit, reports, name):
    model, series, _ = reports[name]
    page = visit(name)
    explanation = model.explain(series)
    found = explanation.matches
    page.locator("#series").focus()
    for n in range(1, 4):
        page.keyboard.press("ArrowDown")
        assert page.locator("#series-title").inner_text() == f"Series {n}"
        rows, total, score = rows_shown(page)
        assert total == pytest.approx(score, rel=1e-3, abs=1e-3)
        assert score == pytest.approx(explanation.answers[n].max(), rel=1e-4)
        assert [row[0] for row in rows] == explanation.top(n, 10).tolist()
        for k, begin, end, _ in rows:
            expected = np.array([found.start[n, k], found.end[n, k]])
            if expected.dtype.kind == "M":
                expected = (expected - np.datetime64(0, "ms")) / np.timedelta64(1, "ms")
            digits = 50 if name == "dated" else 1e-4  # of milliseconds, of units
            np.testing.assert_allclose([begin, end], expected.astype(float), rtol=0, atol=digits)
        best = [k for k, *_ in rows if explanation.alike[n, int(k)]][:3]
        told = page.locator("#series-chart").get_attribute("aria-label")
        assert all(f"Shapelet {k:g} from" in told for k in best)
    page.locator("#next").click()
    assert page.locator("#series-title").inner_text() == "Series 4"
    page.locator("#previous").focus()
    page.keyboard.press("Enter")
    assert page.locator("#series-title").inner_text() == "Series 3"


def test_windows_are_marked_and_unmarked_by_button(visit):
    page = visit("ragged")
    before = page.locator("#legend .swatch").count()
    page.locator("#contributions .mark[aria-pressed=false]").first.focus()
    page.keyboard.press("Space")
    assert page.locator("#legend .swatch").count() == before + 1
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    )  # focus stays
    page.keyboard.press("Space")
    assert page.locator("#legend .swatch").count() == before


def test_another_class_is_explained_on_demand(visit, reports):
    model, series, _ = reports["hostile"]
    page = visit("hostile")
    page.locator("#contributions [data-key=answer-1]").click()
    _, total, score = rows_shown(page)
    asked = model.explain(series).answers[0]
    assert total == pytest.approx(score, rel=1e-3, abs=1e-3)
    assert np.abs(asked - score).min() < 1e-4 and score != pytest.approx(asked.max())


@pytest.mark.parametrize("name", ["hostile", "ragged"])
def test_a_shapelet_shows_its_closest_series(visit, reports, name):
    model, series, _ = reports[name]
    found = model.explain(series).matches
    page = visit(name)
    card = page.locator(".card").nth(1)
    k = int(card.get_attribute("id").removeprefix("shapelet-"))
    card.locator("button").focus()
    page.keyboard.press("Enter")
    listed = page.locator("#closest li").evaluate_all(
        "items => items.map(item => +item.dataset.series)"
    )
    assert listed == found.closest(k, 8).tolist()
    assert page.locator("#closest li svg").count() == 8
    page.keyboard.press("Escape")
    assert not page.locator("#closest").is_visible()
    assert page.evaluate("document.activeElement.className") == "open"  # back where it was
    card.locator("button").click()
    page.locator("#closest li button").nth(2).click()
    assert page.locator("#series-title").inner_text() == f"Series {listed[2]}"
    assert page.evaluate("document.activeElement.id") == "series-title"


def test_hostile_names_show_as_text(visit, reports):
    page = visit("hostile")
    shown = page.locator("#good .confusion tbody th").all_inner_texts()
    whole = page.locator("#good .confusion tbody th bdi").evaluate_all(
        "labels => labels.map(label => label.title || label.textContent)"
    )
    assert sorted(whole) == sorted(HOSTILE) and all(len(text) <= 36 for text in shown)
    assert any(text.startswith("</script><script>") for text in shown)
    page.locator("#good details.panel > summary").click()
    page.locator("#good details.long summary").last.click()
    assert HOSTILE[2] in page.locator("#good .full").all_text_contents()
    assert STRANGE[:9] in page.locator("#looks").inner_text()
    named = page.locator("#series-chart text", has_text="right to left")
    before = named.count()
    page.locator("#series-chart").hover()
    named.nth(before).wait_for()  # in the tooltip too
    assert page.title() == TITLE and page.locator("img").count() == 0


def test_searching_and_only_mistakes(visit):
    page = visit("hostile")
    assert page.locator("#series option").count() == 24
    page.locator("#wrong").check()
    mistaken = page.locator("#series option").all_inner_texts()
    assert 0 < len(mistaken) < 24 and "In truth it is" in page.locator("#verdict").inner_text()
    page.locator("#wrong").uncheck()
    page.locator("#search").fill("23 ·")
    assert page.locator("#series option").count() == 1
    assert page.locator("#series-title").inner_text() == "Series 23"
    page.locator("#search").fill("no such thing")
    assert "0 series found" in page.locator("#found").inner_text()


def test_print_is_light_and_complete(visit):
    page = visit("hostile", color_scheme="dark")
    page.emulate_media(media="print")
    page.wait_for_function("document.querySelector('details').open")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".card:visible").count() == page.locator(".card").count() == 12
    assert not page.locator("nav").is_visible() and not page.locator("#next").is_visible()
    assert len(page.pdf(format="A4")) > 10_000
    page.emulate_media(media="screen")
    page.wait_for_function("!document.querySelector('details').open")


def test_the_page_can_be_used_without_seeing_it(visit):
    page = visit("ragged")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, select, input, svg[role=img], .chart, table")]
        .filter(node => !(node.getAttribute("aria-label") || node.textContent.trim()
          || node.labels?.length)).length"""
    )
    assert unnamed == 0
    levels = page.locator("h1, h2, h3").evaluate_all("heads => heads.map(head => +head.tagName[1])")
    assert levels[0] == 1 and all(b <= a + 1 for a, b in pairwise(levels))
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("#verdict").get_attribute("aria-live") == "polite"
