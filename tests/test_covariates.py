"""Static covariates and summaries of channels: read, encoded, learnt, explained, kept."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from pages import contents_of

from genshapelets import RaggedSeries, ShapeletClassifier, ShapeletRegressor, load
from genshapelets.covariates import FARTHEST, SUMMARIES, find_covariates
from genshapelets.elimination import eliminate
from genshapelets.explain import find_matches
from genshapelets.explain.channels import other_of
from genshapelets.explain.reasons import all_parts

N = 80


def stays(seed=0):
    """Who is old or has a bump in the first channel is ill; the unit says nothing."""
    random = np.random.default_rng(seed)
    X = random.normal(scale=0.2, size=(N, 2, 30))
    bump, age = random.random(N) < 0.5, random.uniform(20, 80, N)
    X[bump, 0, 10:16] += 1.0
    X[random.random(X.shape) < 0.2] = np.nan
    y = np.where((age - 50) / 15 + 2.0 * bump - 1.0 > 0, "ill", "well")
    age[:5] = np.nan
    static = pd.DataFrame({"age": age, "unit": random.choice(["a", "b", "c"], N)})
    return RaggedSeries.from_arrays(X), static, y


@pytest.fixture(scope="module")
def fitted():
    series, static, y = stays()
    model = ShapeletClassifier(n_shapelets=4, summaries="count", random_state=2)
    return model.fit(series, y, static=static), series.with_static(static), y


# Reading


@pytest.mark.parametrize(
    "static",
    [
        {"age": [61, 47, None], "sex": ["F", None, "M"]},
        pd.DataFrame({"age": [61, 47, np.nan], "sex": ["F", None, "M"]}),
        pd.DataFrame({"age": [61, 47, None], "sex": pd.Categorical(["F", None, "M"])}),
        pl.DataFrame({"age": [61, 47, None], "sex": ["F", None, "M"]}),
        pl.DataFrame(
            {"age": [61, 47, None], "sex": pl.Series(["F", None, "M"], dtype=pl.Enum("FM"))}
        ),
    ],
)
def test_tables_of_any_kind_are_read_alike(static):
    found = RaggedSeries.from_arrays(np.zeros((3, 1, 4))).with_static(static).static
    assert list(found) == ["age", "sex"]
    np.testing.assert_array_equal(found["age"], [61.0, 47.0, np.nan])
    assert found["sex"].tolist() == ["F", None, "M"]


@pytest.mark.parametrize("column", [pd.Series([1, 2], name="age"), pl.Series("age", [1, 2])])
def test_a_column_is_a_table_of_one(column):
    found = RaggedSeries.from_arrays(np.zeros((2, 1, 4))).with_static(column).static
    assert found["age"].tolist() == [1.0, 2.0]


def test_numbers_of_a_categorical_type_are_categories():
    static = pd.DataFrame({"unit": pd.Categorical([1, 2, 1])})
    found = RaggedSeries.from_arrays(np.zeros((3, 1, 4))).with_static(static).static
    assert found["unit"].tolist() == ["1", "2", "1"]


def by_id():
    table = {"who": ["a", "a", "b", "b"], "t": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 4.0]}
    return RaggedSeries.from_long(table, series="who", time="t", channels=["x"])


@pytest.mark.parametrize(
    ("static", "by"),
    [
        (pd.DataFrame({"age": [2.0, 3.0, 1.0]}, index=["b", "c", "a"]), None),
        (pl.DataFrame({"who": ["b", "c", "a"], "age": [2.0, 3.0, 1.0]}), "who"),
        ({"who": ["b", "c", "a"], "age": [2.0, 3.0, 1.0]}, "who"),
    ],
)
def test_rows_are_found_by_the_ids_of_the_series(static, by):
    found = by_id().with_static(static, by=by).static
    assert {name: column.tolist() for name, column in found.items()} == {"age": [1.0, 2.0]}


def test_an_index_that_counts_is_in_order_unless_it_names_series():
    table = {"who": [7, 7, 5, 5], "t": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 4.0]}
    series = RaggedSeries.from_long(table, series="who", time="t", channels=["x"])
    frame = pd.DataFrame({"age": np.arange(10.0)})
    assert series.with_static(frame[:2]).static["age"].tolist() == [0.0, 1.0]
    assert series.with_static(frame[2:4]).static["age"].tolist() == [2.0, 3.0]
    assert series.with_static(frame).static["age"].tolist() == [7.0, 5.0]


@pytest.mark.parametrize(
    ("static", "said"),
    [
        (pd.DataFrame({"age": [1.0]}, index=["a"]), "no row for 1 of 2 series: 'b'"),
        (
            pd.DataFrame({"age": [1.0] * 3}, index=["a", "b", "a"]),
            "more than one row for series 'a'",
        ),
        ({"age": [1.0]}, "one row for each series; got 1 row for 2"),
        ({"age": [1.0, np.inf]}, "'age' must be finite; row 1"),
        (
            {"born": np.array(["2001-01-01", "2002-01-01"], "M8[D]")},
            "'born' must hold numbers or text",
        ),
        ({"odd": [{}, {}]}, "'odd' must hold numbers or text"),
        (np.zeros(2), "an array of shape"),
        (pd.DataFrame(index=["a", "b"]), "at least one column"),
    ],
)
def test_what_cannot_be_read_is_refused(static, said):
    with pytest.raises((TypeError, ValueError), match=said):
        by_id().with_static(static)


NAMED = [f"p{n}" for n in range(6)]


def six(ids=None):
    return RaggedSeries.from_arrays(np.zeros((6, 1, 4)), series_ids=ids)


@pytest.mark.parametrize("name", ["id", "RecordID", "stay_id", "Patient", "subject id", "caseid"])
def test_a_column_named_like_an_id_is_no_covariate(name):
    for column in (NAMED, range(6)):
        frame = pd.DataFrame({name: list(column), "age": np.arange(6) + 0.5})
        with pytest.raises(ValueError, match=rf"set_index\('{name}'\).*with_static.*rename"):
            six().with_static(frame)
        with pytest.raises(ValueError, match=rf"by='{name}'"):
            six().with_static(pl.DataFrame(frame))
        found = six(column).with_static(frame[::-1].set_index(name)).static
        assert found["age"].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


def test_a_column_of_the_ids_themselves_is_no_covariate():
    for ids in (NAMED, 10 + np.arange(6)):
        with pytest.raises(ValueError, match="'who' looks like the name of a series"):
            six(ids).with_static({"who": ids, "age": np.arange(6.0)})
        assert list(six(ids).with_static({"who": ids, "age": np.arange(6.0)}, by="who").static)
    assert six(range(6))[:1].with_static({"sex": [0]}).static["sex"].tolist() == [0.0]


def test_text_that_is_another_for_each_series_is_no_category():
    known = six().with_static({"who": NAMED})
    with pytest.raises(ValueError, match="'who' looks like .*: each has one of its own"):
        find_covariates(known, [], 1)
    assert find_covariates(six().with_static({"weight": np.arange(6.0)}), [], 1) is not None


def test_arrays_of_numbers_and_text():
    rows = [[61, "F"], [None, "M"], [47.5, None], [50, "F"], [1, "M"], [2, "M"]]
    for given in (rows, np.array(rows, dtype=object)):
        found = six().with_static(given).static
        np.testing.assert_array_equal(found["static 0"], [61, np.nan, 47.5, 50, 1, 2])
        assert found["static 1"].tolist() == ["F", "M", None, "F", "M", "M"]
    with pytest.raises(TypeError, match="array of text numbers are text, too. Give a table"):
        six().with_static(np.array([[1, "F"]] * 6))
    with pytest.raises(TypeError, match="'static 0' must hold numbers or text; got float, str"):
        six().with_static(np.array([[1.0], ["F"]] * 3, dtype=object))


def test_static_follows_the_series():
    series, static, _ = stays()
    series = series.with_static(static)
    np.testing.assert_array_equal(series[[7, 3]].static["age"], static["age"][[7, 3]])
    joined = RaggedSeries.concatenate([series[:3], series[5:7]])
    assert joined.static["unit"].tolist() == static["unit"][[0, 1, 2, 5, 6]].tolist()
    assert pickle.loads(pickle.dumps(series)).static["unit"].tolist() == static["unit"].tolist()
    with pytest.raises(ValueError, match="same static covariates"):
        RaggedSeries.concatenate([series, replace(series, static=None)])


@pytest.mark.parametrize("ids", [None, [7, 5, 3], ["c", "a", "b"]])
def test_a_frame_gives_them_back(ids):
    static = {"age": [61.0, np.nan, 47.0], "sex": ["F", None, "M"], "none": [None] * 3}
    batch = RaggedSeries.from_arrays(np.zeros((3, 1, 4)), series_ids=ids).with_static(static)
    frame = batch.static_to_pandas()
    assert frame.index.name == "series"
    assert frame.index.tolist() == (ids or [0, 1, 2])
    again = RaggedSeries.from_long(batch.to_pandas()).with_static(frame[::-1])
    for name, column in batch.static.items():
        np.testing.assert_array_equal(again.static[name], column)
    with pytest.raises(ValueError, match=r"Give it by series\.with_static"):
        replace(batch, static=None).static_to_pandas()


# Encoding


def test_values_by_hand():
    series = RaggedSeries.from_arrays(
        [[[1.0, np.nan, 2.0]], [[1.0, 2.0]], [[1.0, 2.0]], [[1.0, 2.0]]]
    )
    series = series.with_static({"age": [1.0, 3.0, np.nan, 2.0], "sex": ["F", "M", "M", "M"]})
    found = find_covariates(series, [], n_outputs=1)
    assert [(one.kind, one.category) for one in found.each] == [
        ("number", None), ("missing", None), ("category", "F"), ("category", "M")
    ]  # fmt: skip
    deviation = np.sqrt(2 / 3)
    np.testing.assert_allclose(found.values(series)[:, 0], [-1 / deviation, 1 / deviation, 0, 0])
    np.testing.assert_allclose(found.values(series)[:, 2], np.array([3, -1, -1, -1]) / np.sqrt(3))
    assert found.shown(series).tolist() == [[1.0, "F"], [3.0, "M"], [None, "M"], [2.0, "M"]]
    np.testing.assert_array_equal(found.by_name(np.arange(4.0)), [1.0, 5.0])


def test_counts_are_those_of_observed_values():
    values = [[[1.0, np.nan, 2.0]], [[1.0, 2.0, 3.0, 4.0]]]
    series = RaggedSeries.from_arrays(values, channel_names=["HR"])
    found = find_covariates(series, ["count"], n_outputs=1)
    assert found.names == ("measurements of HR",)
    np.testing.assert_allclose(found.each[0].of(series), np.log([3.0, 5.0]))
    assert found.shown(series).tolist() == [[2], [4]]


def test_summaries_are_those_of_pandas():
    random = np.random.default_rng(0)
    values = [random.normal(size=(2, n)) for n in (1, 3, 8, 5)]
    for x in values:
        x[random.random(x.shape) < 0.4] = np.nan
    values[2][1] = np.nan  # of one channel, a series has nothing
    series = RaggedSeries.from_arrays(values, channel_names=["HR", "pH"])
    found = find_covariates(series, SUMMARIES, n_outputs=1)
    assert found.names[1:4] == ("first HR", "last HR", "mean HR")
    long = series.to_pandas().reset_index()
    for one in found.each:
        of_series = long.groupby("series", sort=False)[["HR", "pH"][one.source]]
        wanted = of_series.std(ddof=0) if one.kind == "std" else of_series.agg(one.kind)
        wanted = np.log1p(wanted) if one.kind == "count" else wanted
        np.testing.assert_allclose(one.of(series), wanted.to_numpy(), atol=1e-12)
    shown = found.shown(series)
    assert shown[2, found.names.index("mean pH")] is None
    assert shown[2, found.names.index("measurements of pH")] == 0
    assert (
        found.values(series)[2][[one.source == 1 and one.kind == "last" for one in found.each]] == 0
    ).all()


@pytest.mark.parametrize("wrong", ["median", ["count", "x"], 3, [["count"]], True])
def test_unknown_summaries_are_refused(wrong):
    series, _, y = stays()
    with pytest.raises(ValueError, match="'summaries' parameter .* 'all', one of 'count', 'first'"):
        ShapeletClassifier(summaries=wrong).fit(series, y)


def test_summaries_of_wild_values_are_finite():
    series = RaggedSeries.from_arrays([[[1e300, -1e300, 1e300]], [[1.0, 2.0, 3.0]]])
    for one in find_covariates(series, SUMMARIES, 1).each:
        assert np.isfinite(one.of(series)).all() and np.isfinite([one.centre, one.scale]).all()


def test_what_never_varies_is_left_out_and_wild_values_are_bounded():
    series = RaggedSeries.from_arrays(np.ones((100, 1, 5)))
    assert find_covariates(series.with_static({"same": np.ones(100)}), SUMMARIES, 1) is None
    wild = series.with_static({"height": np.r_[np.linspace(1, 2, 99), 1e9]})
    found = find_covariates(wild, [], 1)
    assert found.values(wild).max() == FARTHEST


def test_names_of_series_are_no_categories():
    series = RaggedSeries.from_arrays(np.ones((61, 1, 5)))
    with pytest.raises(ValueError, match="60 categories"):
        find_covariates(series.with_static({"who": [f"p{min(i, 59)}" for i in range(61)]}), [], 1)


# Learning


def test_covariates_help_where_shapes_cannot_know(fitted):
    model, series, y = fitted
    new, static, labels = stays(seed=1)
    alone = ShapeletClassifier(n_shapelets=4, random_state=2).fit(replace(series, static=None), y)
    assert model.score(new.with_static(static), labels) > alone.score(new, labels) + 0.1
    np.testing.assert_array_equal(
        model.predict_proba(new, static=static), model.predict_proba(new.with_static(static))
    )


def test_a_model_names_what_it_weighs(fitted):
    table = fitted[0]._fitted_html()
    assert "static, which predict needs" in table and "2: age, unit" in table
    assert "2: measurements of channel…, measurements of channel…" in table
    assert "covariates age, unit, measurements of" in repr(fitted[0].fitted_[4])


def test_covariates_that_say_nothing_get_no_weight(fitted):
    model, series, _ = fitted
    parts = model.explain(series).covariates
    size = dict(zip(parts.names, np.abs(parts.contributions).mean(axis=(0, 1)), strict=True))
    assert size["age"] > 5 * size["unit"]


def test_a_regressor_and_any_head_take_them():
    series, static, _ = stays()
    age = static["age"].fillna(50.0).to_numpy()
    # The last layer of a head of one's own is left as it starts: only the covariates can learn.
    head = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    for model in (ShapeletRegressor(n_shapelets=4), ShapeletRegressor(n_shapelets=4, head=head)):
        model.set_params(random_state=0, max_epochs=60).fit(series, age, static=static)
        assert np.corrcoef(model.predict(series, static=static), age)[0, 1] > 0.95


def test_without_them_nothing_changes():
    series, _, y = stays()
    one, two = (
        ShapeletClassifier(n_shapelets=3, max_epochs=5, random_state=0, summaries=summaries).fit(
            some, y
        )
        for some, summaries in (
            (series, None),
            (RaggedSeries.from_arrays(np.nan_to_num([x.values for x in series])), "count"),
        )
    )
    assert one.model_.covariates is None
    assert two.model_.covariates is None  # all series are observed equally often
    assert not [name for name in one.model_.state_dict() if "covariate" in name]


def test_shapelets_that_only_say_what_is_known_are_dropped():
    random = np.random.default_rng(0)
    known, new = random.normal(size=(2, 100, 1))
    features = np.hstack([known + 0.1 * random.normal(size=known.shape), new])
    target = 1.5 * known + new
    assert eliminate(features, target, 1).tolist() == [0]
    assert eliminate(features, target, 1, beside=known).tolist() == [1]


def test_a_fit_goes_on_only_with_the_same_covariates(tmp_path):
    series, static, y = stays()
    model = ShapeletClassifier(
        n_shapelets=3, max_epochs=3, random_state=0, checkpoint=tmp_path / "fit.ckpt"
    )
    model.fit(series, y, static=static)
    with pytest.raises(ValueError, match="training data differs"):
        model.fit(series, y, static=static.assign(age=1.0))


# Prediction


def test_what_predictions_lack_is_named(fitted):
    model, series, _ = fitted
    with pytest.raises(ValueError, match=r"lack age, unit\. Give them as static="):
        model.predict(replace(series, static=None))
    text = {"age": ["old"] * N, "unit": ["a"] * N}
    with pytest.raises(ValueError, match="age was numbers when the model was fitted, and is text"):
        model.predict(series, static=text)
    with pytest.warns(UserWarning, match="unit has categories that no training series had.*: z"):
        model.predict(series, static={"age": np.full(N, 50.0), "unit": ["z"] * N})


def test_whatever_predicts_takes_them_as_fit_does(fitted, tmp_path):
    model, series, y = fitted
    bare, static = replace(series, static=None), stays()[1]
    assert model.score(bare, y, static=static) == model.score(series, y)
    assert model.evaluate(bare, y, static=static) == model.evaluate(series, y)
    np.testing.assert_array_equal(
        model.decision_function(bare, static=static), model.decision_function(series)
    )
    explained = model.explain(bare, static=static)
    np.testing.assert_array_equal(explained.answers, model.explain(series).answers)
    learnt = model.explain_model(bare, y, static=static)
    np.testing.assert_array_equal(learnt.explanation.answers, explained.answers)
    measured = model.interpretability(bare, y, static=static)
    assert measured == model.interpretability(series, y)
    pages = [
        model.report(tmp_path / "page.html", some, y, static=known).read_text()
        for some, known in ((bare, static), (series, None))
    ]
    assert pages[0] == pages[1]


def test_a_regressor_scores_with_them_by_id():
    series, static, _ = stays()
    ids = [f"s{n}" for n in range(N)]
    series = replace(series, series_ids=np.array(ids))
    static = static.set_axis(ids)
    age = static["age"].fillna(50.0)
    model = ShapeletRegressor(n_shapelets=3, max_epochs=5, random_state=0)
    model.fit(series, age, static=static)
    shuffled = static.sample(frac=1.0, random_state=0)
    assert model.score(series, age[::-1], static=shuffled) == model.score(
        series.with_static(static), age
    )
    assert model.evaluate(series, age, static=shuffled).r2 == pytest.approx(
        model.score(series, age, static=static)
    )


def test_rows_of_a_grid_search_keep_theirs(fitted):
    from sklearn.model_selection import cross_val_score

    _, series, y = fitted
    model = ShapeletClassifier(n_shapelets=4, max_epochs=60, random_state=0)
    assert cross_val_score(model, series, y, cv=3).mean() > 0.7


# Explanation


def test_contributions_sum_to_the_logit(fitted):
    model, series, _ = fitted
    explanation = model.explain(series)
    shapes, beside = explanation.contributions(), explanation.covariates.contributions
    total = explanation.bias + shapes.sum(axis=2) + beside.sum(axis=2)
    np.testing.assert_allclose(total, explanation.answers, atol=1e-12)
    np.testing.assert_allclose(explanation.answers[:, 1], model.decision_function(series))


def test_reasons_name_covariates(fitted):
    model, series, _ = fitted
    explanation = model.explain(series)
    reasons = explanation.reasons(10, share=1.0)
    named = {one.covariate: one for one in reasons.reasons if one.covariate}
    assert f"has age = {series.static['age'][10]:.4g}: " in str(reasons)
    assert named["age"].value == series.static["age"][10]
    assert named["age"].shapelet is None
    total = reasons.bias + reasons.rest + sum(one.contribution for one in reasons.reasons)
    np.testing.assert_allclose(total, reasons.total)
    assert {"covariate", "value"} <= set(reasons.to_frame().columns)
    assert explanation.covariates.said(0, 0) == "age = missing"
    assert all_parts(explanation, 0).shape == (2, 4 + len(explanation.covariates.names))


def test_measures_count_covariates_as_reasons(fitted):
    model, series, y = fitted
    measured = model.interpretability(series, y)
    assert measured.sparsity > 1.0 and measured.n_covariates == 4
    assert f"{measured.sparsity:.1f} of 4 shapelets and 4 covariates carry" in str(measured)
    assert model.explain_model(series, y).channel_importance[0] > 0.0


def test_importance_is_what_predictions_lose_with_a_covariate_of_another_series(fitted):
    model, series, y = fitted
    learnt = model.explain_model(series, y)
    frame = learnt.importance_to_frame().set_index("name")
    names = learnt.explanation.covariates.names
    assert frame.index.tolist() == ["channel 0", "channel 1", *names]
    assert (frame["kind"] == ["channel"] * 2 + ["covariate"] * len(names)).all()
    other = other_of(N)
    for name in ("age", "unit"):
        exchanged = {**series.static, name: series.static[name][other]}
        loss = model.evaluate(replace(series, static=exchanged), y).log_loss
        lost = loss - model.evaluate(series, y).log_loss
        assert frame["importance"][name] == pytest.approx(lost, rel=1e-4, abs=1e-5)
    assert frame["importance"]["age"] > 0.1
    assert frame["importance"]["age"] > 5 * abs(frame["importance"]["unit"])


def test_the_report_shows_them(fitted, tmp_path):
    model, series, y = fitted
    contents = contents_of(model.report(tmp_path / "page.html", series, y))
    shown = {name: lost for name, _, lost in contents["beside"]}
    learnt = model.explain_model(series, y)
    names = learnt.explanation.covariates.names
    lost = dict(zip(names, learnt.covariate_importance, strict=True))
    assert "age" in shown
    assert shown == pytest.approx({name: lost[name] for name in shown}, rel=1e-3, abs=1e-5)


# Files


def test_files_keep_them(fitted, tmp_path):
    model, series, _ = fitted
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(series), model.predict_proba(series))
    assert again.model_.covariates.each == model.model_.covariates.each
    sizes = [int(size) for size in again.path_.n_shapelets]
    np.testing.assert_array_equal(
        again.pruned(sizes[0]).predict_proba(series), model.pruned(sizes[0]).predict_proba(series)
    )


def test_discrepancies_need_none(fitted):
    model, series, _ = fitted
    bare = replace(series, static=None)
    np.testing.assert_array_equal(model.transform(bare), model.transform(series))
    assert find_matches(model, bare).window(0, 0).path.shape[0] == 2


def test_each_of_several_targets_has_weights_of_its_own(tmp_path):
    series, static, y = stays()
    labels = pd.DataFrame({"ill": y == "ill", "old": static["age"].fillna(50) > 55}).astype(int)
    model = ShapeletClassifier(n_shapelets=4, max_epochs=40, random_state=0)
    model.fit(series, labels, static=static)
    known = series.with_static(static)
    alone = model.for_target("old")
    np.testing.assert_allclose(
        alone.predict_proba(known)[:, 1], model.predict_proba(known)[:, 1], rtol=1e-12
    )
    explanation = model.explain(known)
    total = explanation.contributions().sum(axis=2) + explanation.bias
    total += explanation.covariates.contributions.sum(axis=2)
    np.testing.assert_allclose(total, explanation.answers, atol=1e-10)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").predict_proba(known), model.predict_proba(known)
    )


# Odd tables


def test_by_needs_ids():
    series = RaggedSeries.from_arrays(np.zeros((2, 1, 4)))
    with pytest.raises(ValueError, match="the series have no ids"):
        series.with_static({"who": [1, 0], "age": [3.0, 4.0]}, by="who")


def test_a_text_column_without_entries_is_missing_everywhere(fitted):
    model, series, _ = fitted
    one = replace(series[:1], static={"age": np.array([50.0]), "unit": np.array([np.nan])})
    assert model.predict_proba(one).shape == (1, 2)
    assert model.explain(one).covariates.values[0, 1] is None
    joined = RaggedSeries.concatenate([series[:2], one])
    assert joined.static["unit"].tolist() == [*series.static["unit"][:2], None]


def test_a_flag_that_is_only_there_or_missing_is_shown_as_it_is():
    series = RaggedSeries.from_arrays(np.zeros((3, 1, 4))).with_static({"done": [1, None, 1]})
    found = find_covariates(series, [], 1)
    assert [one.kind for one in found.each] == ["missing"]
    assert found.shown(series).tolist() == [[1.0], [None], [1.0]]


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        ([np.float64(1), None], [1.0, np.nan]),
        ([np.int64(1), 2], [1.0, 2.0]),
        ([np.str_("a"), "b"], ["a", "b"]),
        (pd.Series([np.int64(1), None], dtype=object), [1.0, np.nan]),
        (pd.Categorical([1, 2]), ["1", "2"]),
    ],
)
def test_entries_of_any_library(column, wanted):
    table = {"x": pd.Series(column) if isinstance(column, pd.Categorical) else column}
    found = RaggedSeries.from_arrays(np.zeros((2, 1, 4))).with_static(table).static["x"]
    np.testing.assert_array_equal(found, np.array(wanted, dtype=found.dtype))


def test_columns_that_share_a_name_are_refused():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match="2 columns 'a'"):
        RaggedSeries.from_arrays(np.zeros((1, 1, 4))).with_static(frame)
