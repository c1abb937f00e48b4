"""The report in a real browser: what a reader does, in which colours, at which widths."""

import os
import re
import shutil
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from pages import (
    HOSTILE,
    STRANGE,
    altered,
    beside,
    cepstral,
    dated,
    hostile,
    mixed,
    ragged,
    spoken,
    two_classes,
)

from genshapelets.explain.report.writing import write_report

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
    units = {two_classes: {"time_unit": "h", "channel_units": {"HR": "bpm"}}}
    for make in (hostile, dated, ragged, mixed, cepstral, two_classes, beside):
        model, series, y = make()
        if make is two_classes:
            model.sources_, model.path_ = kept_by(model, series)
        page = model.report(
            folder / f"{make.__name__}.html", series, y, title=TITLE, **units.get(make, {})
        )
        made[make.__name__] = model, series, page
    model, series, y, sound_of = spoken()
    page = write_report(model, folder / "spoken.html", series, y, title=TITLE, sounds_by=sound_of)
    made["spoken"] = model, series, page
    return made


def kept_by(model, series):
    """What a model keeps of its training: windows that shapelets stand for, and sizes that it tried."""
    count = len(model.shapelets_)
    sources = SimpleNamespace(
        series=np.array([f"stay {k}" for k in range(count)]),
        start=np.arange(count) / 2,
        values=model.shapelets_ + 0.3,
    )
    sizes = SimpleNamespace(
        n_shapelets=np.array([40, 12, 4]),
        loss=np.array([0.30, 0.31, 0.6]),
        loss_error=np.array([0.02, 0.02, 0.1]),
        score=np.array([0.9, 0.885, 0.7]),
        score_name="accuracy",
        chosen=12,
    )
    return sources, sizes


@pytest.fixture
def visit(browser, reports):
    """Open a report; afterwards, see to it that nothing was complained of or fetched."""
    complaints, requests, pages = [], [], []

    def visit(name, viewport=DESKTOP, change=None, **options):
        file = reports[name][2] if change is None else altered(reports[name][2], change)
        page = browser.new_page(viewport=viewport, **options)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        pages.append((page, file.as_uri()))
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


ALL = ["hostile", "dated", "ragged", "spoken", "mixed", "cepstral", "two_classes", "beside"]


@pytest.mark.parametrize("name", ALL)
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
    if page.locator("#legend .swatch").count() == 0:  # all reasons of the first series are absences
        assert "is there" not in page.locator("#contributions").inner_text()
        page.locator("#contributions .mark").first.click()
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
        assert [row[0] for row in rows] == explanation.top(n, len(rows)).tolist()
        for row in page.locator("#contributions tr[data-shapelet]").all():
            k, part = (float(row.get_attribute(f"data-{key}")) for key in ("shapelet", "part"))
            there = "is there" if explanation.alike[n, int(k)] else "is absent"
            ways = ("speaks for it", "raises") if part > 0 else ("speaks against it", "lowers")
            said = row.inner_text()
            assert f"{there}, which" in said and any(way in said for way in ways)
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


def texts(page, place):
    return page.locator(place).all_text_contents()


def test_what_shapelets_are_said_to_speak_for(visit):
    def change(contents):
        contents["classes"] = ["10", "9", "b"]
        for card, claim in zip(contents["shapelets"], ([0, 1], [2, -1], None, [1, 1])):
            card["claim"] = claim
        contents["shapelets"][1] |= {"alike": 0, "where": [0] * 20, "mostly": None}

    page = visit("hostile", change=change)
    assert texts(page, ".card .claim")[:4] == [
        "Speaks for 10",
        "Speaks against b",
        "Says next to nothing",
        "Speaks for 9",
    ]
    assert texts(page, ".confusion thead th") == ["9", "10", "b"] == texts(page, "tbody th")[:3]
    assert texts(page, "#order option")[1:] == ["9", "10", "b"]
    where = texts(page, ".card .where")
    assert where[1] == "No series here has it better than usual."
    assert "the middle of its window is mostly" in where[0]
    assert page.locator(".card").nth(1).locator(".histogram").count() == 0


def test_of_many_classes_the_strongest_are_shown(visit):
    def change(contents):
        contents["classes"] = [f"c{c}" for c in range(9)]
        contents["scores"], contents["data"]["counts"] = None, None
        effects = [0.5, *[0.0] * 4, -0.1, -0.2, -0.3, -0.4]
        for card in contents["shapelets"]:
            card["pulls"] = [[c, effect, -effect] for c, effect in enumerate(effects)]

    card = visit("hostile", change=change).locator(".card").first
    assert "strongest of 9 classes" in card.locator("caption").inner_text()
    names = card.locator("tbody th").all_inner_texts()
    assert names == ["c0", "c6", "c7", "c8"]


def test_numbers_of_a_regressor_are_as_fine_as_they_differ(visit):
    def change(contents):
        contents["bias"] = [bias + 1e6 for bias in contents["bias"]]
        contents["shapelets"][0] |= {"pulls": [[0, 0, 0]], "claim": None}
        for case in contents["cases"]:
            case["label"] += 1e6
            case["answers"][0]["score"] += 1e6

    page = visit("dated", change=change)
    assert texts(page, ".card .claim")[0] == "Says next to nothing"
    assert set(texts(page, ".card .claim")[1:]) <= {"Raises the number", "Lowers the number"}
    _, total, score = rows_shown(page)
    assert page.locator("#score").inner_text() == f"+{score:,.2f}"
    assert "1,000,100" in page.locator("#verdict").inner_text()
    assert len(set(labels_of(page, "#good .chart"))) > 3
    page.locator('#good .chart path[fill-opacity="0.55"]').last.click()
    assert page.evaluate("document.activeElement.id") == "series-title"
    assert page.locator("#series-title").inner_text() != "Series 0"


def labels_of(page, place):
    """Numbers on the horizontal axis of a chart, the lowest letters in it."""
    return page.locator(f"{place} text").evaluate_all(
        """letters => {
          const low = letters.map(node => [Math.round(node.getBoundingClientRect().top), node]);
          const tops = low.filter(([, node]) => /\\d/.test(node.textContent)).map(([top]) => top);
          const lowest = Math.max(...tops.filter(top => tops.filter(t => t === top).length > 2));
          return low.filter(([top]) => top === lowest).map(([, node]) => node.textContent);
        }"""
    )


@pytest.mark.parametrize(
    ("first", "span", "name"),
    [(1.7e9, 30.0, "ragged"), (100.0, 3e-5, "ragged"), (1709294400000.25, 1e-4, "dated")],
    ids=["unix", "short", "microseconds"],
)
def test_times_are_told_apart(visit, first, span, name):
    def change(contents):
        shrink = span / contents["cases"][0]["span"]
        for case in contents["cases"]:
            case["first"], case["span"] = first, case["span"] * shrink
            for window in case["windows"].values():
                window[2] *= shrink
        for card in contents["shapelets"]:
            card["duration"] *= shrink

    page = visit(name, change=change)
    labels = labels_of(page, "#series-chart")
    assert len(labels) > 3 and len(set(labels)) == len(labels)
    said = texts(page, "#contributions .match .soft")[0].split(", at ")[1]
    begin, end = said.split(" ms since ")[0].split(" to ")
    assert begin != end and "e+" not in said
    if name == "dated":
        since = "ms since 2024-03-01 12:00:00.000"
        assert said.endswith(since) and float(begin) >= 0.25
        assert since in texts(page, "#series-chart text")


def test_channels_that_are_not_observed_or_hardly_count(visit):
    def change(contents):
        contents["centre"][1], contents["sameScale"] = 0.01, False
        for n, curves in enumerate(contents["curves"]):
            curves[1][0], curves[1][1] = curves[1][0] / 100, curves[1][1] / 100
            if n == 0:
                curves[1] = [0, 0, "", ""]
        for card in contents["shapelets"]:
            card["strength"] = [0.06, 1.0]
            card["shape"][1][:2] = [-0.01, 0.02]
            for match in card["closest"]:
                match["seen"][1] = None if match["series"] == 0 else [0, 1]
        contents["channelNames"] = ["shapelet 1", "fever"]

    page = visit("hostile", change=change)
    note = "not observed; taken as its mean"
    assert f"fever ({note})" in texts(page, "#series-chart text")
    pale = page.locator('#series-chart path[stroke-opacity="0.295"]')
    assert pale.count() > 0
    across, up = page.locator("#in-plane .drawn").first.evaluate(
        "drawn => [drawn.getBBox().width, drawn.getBBox().height]"
    )
    assert up > across / 4
    assert {"shapelet 1", "fever"} <= set(texts(page, "#in-plane text"))
    page.locator("#series-chart").hover()
    page.locator("#series-chart text", has_text="shapelet 1: ").wait_for()
    page.locator(".card .open", has_text="Shapelet").first.click()
    listed = page.locator("#closest li")
    for n in range(listed.count()):
        told = listed.nth(n).inner_text()
        assert (note in told) == (listed.nth(n).get_attribute("data-series") == "0")


def test_words_are_no_bolder_than_the_numbers(visit):
    def change(contents):
        contents["scores"] |= {"accuracy": 0.999999, "balanced": 0.99, "guess": 1.5657}
        contents["data"] |= {"series": 10**6, "times": [1, 1, 1]}
        contents["cases"] = contents["cases"][:2]
        contents["curves"] = contents["curves"][:2]
        contents["cases"][0]["answers"][0]["probability"] = 1
        for card in contents["shapelets"]:
            card |= {"closest": [card["closest"][0] | {"series": 0}], "own": None}
        for column in contents["swarm"]["above"]:
            column[2] = column[2][:4]

    page = visit("ragged", change=change)
    figures = texts(page, "#good .figure")
    assert figures == ["over 99.99 %", "156.6 %", "99 %"]
    assert "a probability of over 99.9 %" in page.locator("#verdict").inner_text()
    assert "one time each" in texts(page, "#data dd")
    assert "from every class" not in page.locator("#notes").inner_text()  # 2 series of 3 classes
    assert " time units long, " in page.locator(".card").first.inner_text()
    page.locator("#contributions .mark").first.click()
    legend = page.locator("#legend > span").first.inner_text()
    assert re.fullmatch(r"(level-free )?shapelet \d+ \([+−]\d\.\d+\)", legend)


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
    assert steps(page) == ["true", "true"]
    page.locator("#search").fill("")
    assert steps(page) == ["false", "true"]  # at the last of all series
    page.locator("#previous").click()
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator("#series-title").inner_text() == "Series 23"
    assert page.evaluate("document.activeElement.id") == "next"


def steps(page):
    return [page.locator(place).get_attribute("aria-disabled") for place in ("#previous", "#next")]


def test_long_names_leave_room_for_the_class(visit):
    def change(contents):
        for n, case in enumerate(contents["cases"]):
            case["name"] = f"{'patient of the seventh ward ' * 3}{n}"

    options = texts(visit("ragged", change=change), "#series option")
    assert len(set(options)) == len(options) == 24
    assert options[0].startswith("patient of") and " · left" in options[0]


def test_the_matrix_of_ten_classes_is_whole_on_a_phone(visit):
    def change(contents):
        contents["classes"] = [str(c) for c in range(10)]
        contents["data"]["counts"] = [100] * 10
        contents["scores"]["matrix"] = [[100] * 10] * 10
        contents["swarm"] = None

    page = visit("hostile", PHONE, change=change)
    right = page.locator(".confusion td").last.evaluate(
        """cell => cell.getBoundingClientRect().right
          - cell.closest('.scroll').getBoundingClientRect().right"""
    )
    assert right <= 0 and not overflows(page)


def test_print_is_light_and_complete(visit):
    def change(contents):  # more classes than fit a page at full size
        contents["classes"] += [f"class number {c}" for c in range(12)]
        contents["data"]["counts"] += [0] * 12
        contents["scores"]["matrix"] = [[100] * 15] * 15

    page = visit("hostile", color_scheme="dark", change=change)
    page.emulate_media(media="print")
    page.wait_for_function("() => document.querySelector('details').open")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".card:visible").count() == page.locator(".card").count() == 12
    assert not page.locator("nav").is_visible() and not page.locator("#next").is_visible()
    assert page.locator("#by-class .thumb:visible").count() == page.locator(".thumb").count() > 0
    assert page.locator(".view:visible").count() == page.locator(".view").count() > 12
    assert not page.locator(".hint:visible").count()
    sizes = [
        float(
            page.locator(place).first.evaluate(
                "node => parseFloat(getComputedStyle(node).fontSize)"
            )
        )
        for place in ("#good .soft", "#good .tile p:not(.figure, .soft)")
    ]
    assert sizes[0] < sizes[1] < 14
    for width in (718, 1047):  # of A4, upright and across
        page.set_viewport_size({"width": width, "height": 900})
        cut = page.locator(".chart, .confusion").evaluate_all(
            """nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1
              || node.getBoundingClientRect().right > innerWidth).length"""
        )
        assert cut == 0
    assert len(page.pdf(format="A4")) > 10_000
    page.emulate_media(media="screen")
    page.wait_for_function("() => !document.querySelector('details').open")


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


def test_only_what_can_be_scrolled_takes_focus(visit):
    page = visit("ragged")
    assert page.locator("[role=region][tabindex]").count() == 0
    captions = texts(page, ".card caption")
    assert all(text.startswith("When it fits clearly better") for text in captions)
    page.set_viewport_size({"width": 250, "height": 900})
    page.wait_for_selector("#contributions .scroll[tabindex='0'][role=region]")
    names = page.locator("[role=region][tabindex]").evaluate_all(
        "regions => regions.map(region => region.getAttribute('aria-label'))"
    )
    assert len(set(names)) == len(names)


def test_a_click_beside_the_dialog_closes_it(visit):
    page = visit("hostile")
    page.locator(".card .open").first.click()
    page.locator("#closest").click(position={"x": 8, "y": 8})
    assert page.locator("#closest").is_visible()
    page.mouse.click(4, 4)
    assert not page.locator("#closest").is_visible()


def test_forced_colours_keep_what_colours_say(visit):
    page = visit("hostile", forced_colors="active")

    def look(place, what):
        return page.locator(place).first.evaluate(f"node => getComputedStyle(node).{what}")

    ground = look("body", "backgroundColor")
    assert look(".tilt.for > span", "backgroundColor") != ground
    assert look(".tilt.against > span", "borderTopWidth") == "2px"
    assert look(".mark[aria-pressed=true]", "backgroundColor") != ground
    assert look(".confusion .hit", "outlineStyle") == "solid"


# ------------------------------------------------------------------ pictures with axes


def axis_texts(place):
    return place.locator(".axes text").all_text_contents()


def test_pictures_have_axes_with_units(visit, reports):
    model, series, _ = reports["two_classes"]
    found = model.explain(series).matches
    page = visit("two_classes")
    card = page.locator(".card").first
    k = int(card.get_attribute("id").removeprefix("shapelet-"))
    menu = card.locator("select")
    titles = menu.locator("option").all_text_contents()
    assert titles[0] == "the plane of both channels"
    assert titles[1].startswith("HR (bpm) · ") and titles[2].startswith("BUN · ")
    assert {"HR (bpm)", "BUN"} <= set(axis_texts(card.locator(".view.chosen")))
    menu.select_option("1")
    chosen = card.locator(".view.chosen")
    *letters, title = axis_texts(chosen)
    assert chosen.count() == 1 and chosen.is_visible() and title == "time (h)"
    # Round numbers that lie in the picture: values on the left, times below.
    ticks = [float(text.replace("−", "-")) for text in letters]
    window, n = found.window(k), found.nearest[k]
    low, high = window.path[0].min(), window.path[0].max()
    assert any(low - 10 <= tick <= high + 10 for tick in ticks) and len(ticks) >= 4
    first, last = series[n].times[[0, -1]]
    reach = max(last, found.end[n, k])
    assert all(first - 1e-9 <= time <= reach + 1e-9 for time in ticks[-2:])
    key = card.locator("figcaption").inner_text()
    assert "shapelet" in key and f"training window (series stay {k}, from {k / 2:g} h)" in key
    assert card.locator(".view .overlay .source").count() == 2
    assert texts(page, "#contributions .match .soft")[0].endswith(" h")


def test_a_held_part_is_dashed(visit):
    def change(contents):
        for card in contents["shapelets"]:
            card["closest"][0]["seen"] = [[0.2, 0.6], None]

    page = visit("two_classes", change=change)
    card = page.locator(".card").first
    views = card.locator(".view .overlay")
    assert views.nth(0).locator(".path.held").count() == 2
    assert views.nth(0).locator(".path:not(.held)").count() == 1
    assert views.nth(1).locator(".path:not(.held)").count() == 0
    dashes = views.nth(0).locator(".held").first
    assert dashes.evaluate("node => getComputedStyle(node).strokeDasharray") != "none"
    assert "held: not observed there" in card.locator("figcaption").inner_text()


def test_the_dialog_is_on_one_scale_and_has_a_chooser(visit):
    page = visit("ragged")
    free = page.locator(".tag", has_text="level-free")
    card = page.locator(".card").filter(has_not=free).first
    card.locator(".open").click()
    sides = [axis_texts(one)[:3] for one in page.locator("#closest .overlay").all()]
    assert len(sides) == 8 and all(side == sides[0] for side in sides)
    shapes = page.locator("#closest .overlay .shape").evaluate_all(
        "lines => lines.map(line => line.getAttribute('points'))"
    )
    page.locator("#closest select").select_option("0")
    other = page.locator("#closest .overlay .shape").evaluate_all(
        "lines => lines.map(line => line.getAttribute('points'))"
    )
    page.locator("#closest select").select_option("5")
    last = page.locator("#closest .overlay .shape").evaluate_all(
        "lines => lines.map(line => line.getAttribute('points'))"
    )
    assert len(shapes) == len(other) == len(last) == 8 and other != last


def test_a_channel_that_does_not_count_is_drawn_as_the_series_is(visit):
    def change(contents):
        for card in contents["shapelets"]:
            for match in card["closest"]:
                for packed in (match["paths"], match["seen"]):
                    del packed[1]
                match["places"] = []
            for name in ("channels", "looked", "strength", "shape"):
                del card[name][1]
            card["own"] = None
        for case in contents["cases"]:
            for window in case["windows"].values():
                del window[3:]

    page = visit("hostile", change=change)
    card = page.locator(".card").first
    assert "does not count for it" in card.inner_text()
    assert card.locator("option").count() == 2 and card.locator(".view .overlay").count() == 1
    assert card.locator(".plane .shape").count() == 1


def test_what_makes_each_class(visit, reports):
    model, series, _ = reports["ragged"]
    learnt = model.explain_model(series, model.predict(series))
    page = visit("ragged")
    rows = page.locator("#by-class dl > div")
    assert texts(page, "#by-class dt") == ["left", "middle", "right"]
    for c in range(3):
        thumbs = rows.nth(c).locator(".thumb")
        for said in thumbs.all_inner_texts():
            k = int(re.search(r"Shapelet (\d+)", said)[1])
            assert learnt.effect[:, k].argmin() == c
            against = bool(learnt.claims().against[k])
            assert ("even more against" in said) == against
    page.locator("#by-class .thumb").first.click()
    assert page.locator("#closest").is_visible()


def test_what_would_change_an_answer_or_cannot(visit):
    turns = [
        {"closer": [0.25, 1], "further": None, "never": []},
        {"closer": None, "further": [2, 0], "never": []},
        {"closer": None, "further": None, "never": [[-0.1, 1], [900, 0]]},
        {"closer": None, "further": None, "never": []},
    ]

    def change(contents):
        contents["classes"] = ["a", "b", "c"]
        for case, asked in zip(contents["cases"], turns):
            case["whatIf"] = {"shapelet": 7} | asked
            case["answers"][0]["answer"] = 2

    page = visit("hostile", change=change)
    said = []
    for _ in turns:
        said.append(page.locator("#what-if").inner_text())
        page.locator("#next").click()
    never = "No fit of shapelet 7 alone can change that the model says c."
    far = "For a it would have to be 900 × the usual distance away, further than any series is."
    assert said == [
        "If shapelet 7 alone fitted better (0.25 × the usual distance or less), the model would say b.",
        "If shapelet 7 alone fitted worse (2 × the usual distance or more), the model would say a.",
        f"{never} For b it would have to fit better than perfectly. {far}",
        never,
    ]
    assert visit("dated").locator("#what-if").inner_text() == ""


def test_channels_by_what_is_lost_without_them(visit):
    def change(contents):
        contents["channels"][0]["importance"], contents["channels"][-1]["importance"] = 0.5, -0.02

    rows = visit("ragged", change=change).locator("#channels tbody tr")
    assert "+0.500" in rows.first.inner_text() and "−0.020" in rows.last.inner_text()
    widths = [rows.nth(n).locator(".bar > span").get_attribute("style") for n in (0, 11)]
    assert widths == ["width:100.0%", "width:0.0%"]


# ------------------------------------------------------------------ two classes


def figures_of(page):
    return page.locator("#two-classes .panel").nth(1).locator(".figure").all_inner_texts()


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_threshold_moves_all_that_depends_on_it(visit, viewport):
    page = visit("two_classes", viewport)
    cells = page.locator("#two-classes .confusion td:not(:empty)")
    slider = page.locator("#threshold")
    assert page.locator("output").inner_text() == "50 %"
    (hits, missed), (alarms, left) = np.array(cells.all_inner_texts(), int).reshape(2, 2)
    sensitivity, specificity, precision = (float(text[:-2]) for text in figures_of(page))
    assert sensitivity == pytest.approx(100 * hits / (hits + missed), abs=0.1)
    assert specificity == pytest.approx(100 * left / (left + alarms), abs=0.1)
    assert precision == pytest.approx(100 * hits / (hits + alarms), abs=0.1)
    told = page.locator("#two-classes .chart").first.get_attribute("aria-label")
    slider.focus()
    page.keyboard.press("Home")  # everybody is named
    assert figures_of(page)[:2] == ["100 %", "0 %"]
    assert cells.all_inner_texts()[1::2] == ["0", "0"]
    assert page.locator("#two-classes .chart").first.get_attribute("aria-label") != told
    assert slider.get_attribute("aria-valuetext") == page.locator("output").inner_text() != "50 %"
    assert not overflows(page)


def test_either_class_can_be_looked_for(visit):
    page = visit("two_classes")
    pressed = page.locator("#two-classes button[aria-pressed=true]")
    first, matrix = pressed.inner_text(), page.locator("#two-classes .confusion").inner_text()
    page.locator("#two-classes button[aria-pressed=false]").click()
    assert pressed.inner_text() != first
    assert page.evaluate("document.activeElement.textContent") == pressed.inner_text()
    assert page.locator("#two-classes .chart").count() == 3
    assert page.locator("#two-classes .confusion").inner_text() != matrix
    page.locator("#theme").click()  # draws all charts anew
    note = "so a probability said here is not how often"
    assert note in page.locator("#notes").inner_text()
    assert note in page.locator("#two-classes").inner_text()
    assert note not in visit("ragged").locator("body").inner_text()


# ------------------------------------------------------------------ all series at once, sizes


def test_the_swarm_has_a_dot_for_each_series(visit, reports):
    model, series, _ = reports["ragged"]
    page = visit("ragged", PHONE)
    place = page.locator("#swarm .chart")
    place.locator("canvas").wait_for()
    sizes = np.abs(model.explain(series).contributions()).mean(axis=0)
    for c, name in [(0, "left"), (2, "right")]:
        page.locator("#swarm-class").select_option(label=name)
        told = place.get_attribute("aria-label")
        order = [int(k) for k in re.findall(r"shapelet (\d+) from", told)]
        assert order == np.argsort(-sizes[c]).tolist()[:12]
    colours = place.locator("canvas").first.evaluate(
        "one => { const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);"
        " return new Set([...data].filter((_, i) => i % 4 === 0)).size }"
    )
    assert colours > 8


def test_covariates_are_told_apart_from_shapelets(visit, reports):
    model, series, _ = reports["beside"]
    known = model.explain(series).covariates
    page = visit("beside")
    lead = page.locator("#lead").inner_text()
    assert "by 3 shapelets" in lead and "it weighs 7 covariates, facts about a series" in lead
    assert (
        known.ranked()[1][0] in lead
        and "and each covariate adds" in page.locator("#why").inner_text()
    )
    rows, total, score = rows_shown(page)
    assert total == pytest.approx(score, rel=1e-3, abs=1e-3)
    facts = page.locator("#contributions tr.beside")
    said = page.locator("#contributions .soft").first.inner_text()
    assert f"{len(rows)} of 3 shapelets and {facts.count()} of 7 covariates carry" in said
    assert "of 3 shapelets and 7 covariates carry 90 %" in page.locator("#model").inner_text()
    told = facts.all_inner_texts()
    for _ in range(9):
        page.locator("#next").click()
        told += facts.all_inner_texts()
    assert any("ward = missing" in text for text in told) and any("age = " in text for text in told)

    def change(contents):
        asked = contents["cases"][0]["answers"][0]
        asked["others"] += 2
        asked["rest"] = asked["rest"] or 0.0
        asked["beside"] = asked["beside"][2:]

    rest = visit("beside", change=change).locator("#contributions tr.rest").inner_text()
    left = 3 - len(rows)
    assert rest.startswith(f"{left} other shapelet and 2 other cov" if left else "All 2 other cov")


def test_sizes_are_told_in_plain_words(visit):
    page = visit("two_classes")
    said = page.locator("#sizes").inner_text()
    assert "models of 4 to 40 shapelets" in said and "lowest with 40 (0.3 ± 0.02)" in said
    assert "This model has 12: its loss was 0.31, its accuracy 88.5 %" in said
    assert "the smallest that is as good as the best, within one standard error" in said
    page.locator("#sizes .chart svg text", has_text="this model").first.wait_for()
    assert page.locator("#sizes .chart").count() == 2
    assert visit("ragged").locator("#sizes").count() == 0


# ------------------------------------------------------------------ sounds


def test_sounds_are_played_by_keyboard_one_at_a_time(visit, reports):
    page = visit("spoken")
    card = page.locator(".card").first
    k = card.get_attribute("id").removeprefix("shapelet-")
    own, match = (card.locator("audio").nth(i) for i in (0, 1))
    assert own.get_attribute("aria-label") == f"Sound of shapelet {k}"
    assert f"Where shapelet {k} is found in series word/" in match.get_attribute("aria-label")
    own.evaluate("node => { node.loop = true }")
    own.focus()
    page.keyboard.press("Space")
    page.wait_for_function("node => node.currentTime > 0", arg=own.element_handle())
    match.focus()
    page.keyboard.press("Space")
    page.wait_for_function("node => node.ended", arg=match.element_handle())
    assert own.evaluate("node => node.paused")
    spans = [match.evaluate("node => node.duration"), reports["spoken"][0].lengths_[int(k)]]
    assert spans[0] == pytest.approx(spans[1], abs=2 / 8000)


def test_the_player_of_a_series_follows_the_series(visit):
    page = visit("spoken")
    for n in range(3):
        sound = page.locator("#sound audio")
        assert sound.count() == 1
        assert sound.get_attribute("aria-label") == f"Sound of series word/{n}.wav"
        assert sound.evaluate(
            "node => new Promise(done => { node.onloadedmetadata = () => done(node.duration);"
            " node.load(); node.preload = 'metadata' })"
        ) == pytest.approx(600 / 8000)
        page.locator("#next").click()
    assert page.locator("#few-players").count() == 0


def test_a_page_without_room_for_all_sounds_says_so(visit, reports):
    def change(contents):
        sounds = contents["sounds"]
        for kept, few in (("shapelets", 2), ("series", 1)):
            sounds[kept] = dict(list(sounds[kept].items())[:few])
        next(iter(sounds["shapelets"].values()))[0] = None

    page = visit("spoken", change=change)
    told = "2 of 12 shapelets and 1 of 12 series have players: a page holds no more than 6 MB of sound."
    assert page.locator("#few-players").inner_text() == told
    assert page.locator(".card audio").count() == 3
    assert page.get_by_text("It is too short to be heard.").count() == 1
    assert page.locator("#sound audio").count() == 1
    page.locator("#next").click()
    assert page.locator("#sound audio").count() == 0
    assert "has no player" in page.locator("#sound").inner_text()


def test_pages_without_sounds_have_no_players_and_print_has_none(visit):
    page = visit("ragged")
    assert page.locator("audio").count() == 0 and page.locator("#sound").inner_text() == ""
    page = visit("spoken")
    assert page.locator(".player").first.is_visible()
    page.emulate_media(media="print")
    assert not any(one.is_visible() for one in page.locator(".player").all())


# ------------------------------------------------------------------ kinds of shapelets


def test_kinds_are_told_apart(visit, reports):
    model, series, _ = reports["mixed"]
    found = model.explain(series).matches
    page = visit("mixed")
    listed = texts(page, "#kinds li")
    assert [text.partition(":")[0] for text in listed] == list(dict.fromkeys(found.kinds))
    assert all("4 shapelets. Each compares" in text for text in listed)
    for k, kind in enumerate(found.kinds):
        card = page.locator(f"#shapelet-{k}")
        has_area = kind == "log-signature"
        assert card.locator(".area svg.plane").count() == int(has_area)
        assert card.locator(".view svg.plane").count() == int(not has_area)
        if kind != "L2":
            assert card.locator("a.tag").inner_text() == kind
    area = page.locator(".area").first
    said = area.inner_text()
    assert "pulse across, breath up" in said and "of its segment (dashed)" in said
    fills = area.locator("polygon").evaluate_all(
        "loops => loops.map(loop => [loop.getAttribute('class'), getComputedStyle(loop).fill])"
    )
    assert len({fill for _, fill in fills}) == len({sign for sign, _ in fills}) > 0
    page.locator("a.tag").first.click()
    assert page.evaluate("location.hash") == "#kinds"


def test_what_goes_without_saying_is_not_said(visit):
    page = visit("hostile")
    assert page.locator("#kinds").count() == 0
    assert set(texts(page, ".tag")) <= {"level-free", "scale-free"}


def test_cepstra_are_heat_maps_beside_their_players(visit):
    page = visit("cepstral")
    cards = page.locator(".card")
    for card in cards.all():
        assert card.locator("canvas").count() == 2
        assert card.locator(".overlay").count() == 0
        assert card.locator("audio").count() >= 1
    # A light and a dark colour at least: it is not one plain ground.
    shades = page.locator("canvas").first.evaluate(
        "one => { const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);"
        " return [...data].filter((_, i) => i % 4 === 0) }"
    )
    assert max(shades) - min(shades) > 40
