"""How results show themselves: reprs that fit in a line or two, and tables for notebooks."""

import html.parser
import re

import numpy as np
import pytest
import sklearn

from genshapelets import RaggedSeries, ShapeletClassifier, ShapeletRegressor, load
from genshapelets.shown import few, table

NASTY = ["<script>alert(1)</script>", "a & 'b' \"c\""]
SETTINGS = {"n_shapelets": 3, "n_knots": 5, "max_epochs": 6, "random_state": 0, "n_jobs": 1}


def made(n_series=12):
    X = np.random.default_rng(0).normal(scale=0.1, size=(n_series, 2, 20))
    X[1::2, 0, 5:12] += 1.0
    series = RaggedSeries.from_arrays(X, channel_names=["heart <rate>", "temperature"])
    return series, np.array(NASTY)[np.arange(n_series) % 2]


SERIES, LABELS = made()


@pytest.fixture(scope="module")
def classifier():
    return ShapeletClassifier(**SETTINGS).fit(SERIES, LABELS)


@pytest.fixture(scope="module")
def regressor():
    return ShapeletRegressor(**SETTINGS).fit(SERIES, np.arange(12.0))


class Balance(html.parser.HTMLParser):
    """The text of a page whose tags are balanced, and the tags it has."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], set(), []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_few_names():
    assert few(["a"]) == "a" and few([]) == ""
    assert few(range(6)) == "0, 1, 2, 3, 4 and 1 more"
    assert few(["x" * 100]) == "x" * 23 + "…" and few(["two\nlines"]) == "two lines"


def test_a_table_is_escaped():
    page = Balance(table([("<i>", "one\n<two>")], ("a&b", "c"), "<caption>"))
    assert page.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "br"}
    assert page.text == ["<caption>", "a&b", "c", "<i>", "one", "<two>"]


def test_reprs_are_short_and_say_how_many(classifier, regressor):
    explanation = classifier.explain(SERIES)
    learnt = classifier.explain_model(SERIES, LABELS)
    matches = explanation.matches
    others = regressor.explain(SERIES)
    counts = [
        (explanation, ("Explanation(12 series, 3 shapelets; classes ", "a & 'b'")),
        (learnt, ("ModelExplanation(3 shapelets for classes ", "12 series")),
        (matches, ("ShapeletMatches(12 series, 3 shapelets, heart <rate>, temperature, by L2)",)),
        (matches.window(0, 0), ("Window(", "2 channels)")),
        (explanation.reasons(0), ("Reasons(series 0, ", " reason")),
        (explanation.what_if(0, 1), ("WhatIf(series 0, shapelet 1 at ", "predicted ")),
        (classifier.interpretability(SERIES, LABELS), ("Interpretability(n_classes=2, unique=",)),
        (classifier.path_, ("SizePath(", " to 3 shapelets in ", "chosen: 3)")),
        (classifier.fitted_[3], ("Fitted(3 shapelets, 2 channels, 5 knots)",)),
        (classifier.model_.transform(SERIES), ("Matches(12 series, 3 shapelets, lattice)",)),
        (others, ("Explanation(12 series, 3 shapelets; numbers)",)),
        (others.reasons(0), ("Reasons(series 0, ",)),
        (others.what_if(0, 0, to=1e9), ("WhatIf(series 0, shapelet 0 at ", "out of reach")),
        (classifier.sources_, ("Sources(3 windows of series ",)),
    ]
    for one, wanted in counts:
        assert len(repr(one)) < 300 and "\n" not in repr(one)
        assert all(part in repr(one) for part in wanted), repr(one)


def test_many_classes_and_channels_stay_short():
    X = np.random.default_rng(0).normal(size=(40, 30, 12))
    names = [f"a channel of a very long name, number {n}" for n in range(30)]
    y = np.array([f"a class of a very long name, number {n % 20}" for n in range(40)])
    series = RaggedSeries.from_arrays(X, channel_names=names)
    model = ShapeletClassifier(**SETTINGS | {"max_epochs": 2}).fit(series, y)
    explanation = model.explain(series)
    for one in (explanation, explanation.matches, model.explain_model(series, y), model.path_):
        assert len(repr(one)) < 300
    assert "15 more" in model._repr_html_()


def test_a_fitted_model_adds_a_table_to_scikit_learns_html(classifier, tmp_path):
    before = ShapeletClassifier(**SETTINGS)._repr_mimebundle_()["text/html"]
    assert "classes" not in before.rpartition("</style>")[2].rpartition("</script>")[2]
    whole = classifier._repr_html_()
    own = whole[whole.rindex("<table") :]
    assert classifier._repr_mimebundle_()["text/html"].endswith(own)
    page = Balance(own)
    text = dict(zip(page.text[::2], page.text[1::2], strict=True))
    assert text["classes"] == f"2: <script>alert(1)</scrip…, {NASTY[1]}"
    assert text["shapelets"] == "3" and text["channels"] == "2: heart <rate>, temperature"
    assert text["epochs"] == "6" and re.fullmatch(r"[\d.]+ to [\d.]+", text["their lengths"])
    assert "sk-container" in whole  # scikit-learn's
    classifier.save(tmp_path / "m")
    again = load(tmp_path / "m")._repr_html_()
    assert again[again.rindex("<table") :] == own
    with sklearn.config_context(display="text"):
        assert list(classifier._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(classifier, "_repr_html_")


def test_what_was_cut_and_durations_are_in_the_table():
    when = np.datetime64("2024-03-01") + np.arange(20) * np.timedelta64(30, "m")
    X = np.random.default_rng(0).normal(size=(8, 1, 20))
    model = ShapeletRegressor(**SETTINGS).fit(RaggedSeries.from_arrays(X, [when] * 8), np.arange(8))
    model.shortened_ = "3 of 9 steps were trained"
    page = Balance(model._fitted_html())
    assert "3 of 9 steps were trained" in page.text and "classes" not in page.text
    assert any(re.match(r"\d+:\d\d:\d\d", text) for text in page.text)


def test_an_explanation_is_a_table_of_predictions_and_reasons(classifier, regressor):
    explanation = classifier.explain(SERIES)
    page = Balance(explanation._repr_html_())
    assert "script" not in page.tags and page.text[0].endswith(": the first 5")
    assert page.text[1:4] == ["series", "predicted", "because it"]
    said = explanation.reasons(0).reasons[0]
    has = "has" if said.said == "presence" else "lacks"
    assert f"{has} shapelet {said.shapelet}: {said.contribution:+.2f}" in page.text
    assert any(re.search(r"\(\d+ %\)", text) for text in page.text)
    numbers = Balance(regressor.explain(SERIES[[3]])._repr_html_())
    assert numbers.text[4] == "0" and not any("%" in text for text in numbers.text)
    assert f"{regressor.predict(SERIES[[3]])[0]:.4g}" in numbers.text
