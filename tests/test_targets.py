"""Targets beyond one class of many series: rare classes, several numbers, labels, ensembles."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from test_estimators import SMALL, bumps, fitted
from test_readme import CHOOSING, run_examples
from torch import nn

from genshapelets import (
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    explain_model,
    interpretability,
    load,
)
from genshapelets.checkpoints import Checkpoint
from genshapelets.cli import main
from genshapelets.estimators.goals import Goal
from genshapelets.objective import classification_loss, label_loss
from genshapelets.owners import Owners

X, CODES = bumps()
ONE_RARE = np.where(np.arange(24) == 4, "rare", np.array(["a", "b"])[CODES])

# ------------------------------------------------------------------ a class of one series


@pytest.mark.parametrize("procedure", ["default", "paper", "learning_shapelets"])
def test_a_class_of_one_series_is_learnt_with_a_warning(procedure):
    with pytest.warns(UserWarning, match="class 'rare' has one series only"):
        model = fitted(X, ONE_RARE, procedure=procedure, class_weight="balanced")
    assert model.classes_.tolist() == ["a", "b", "rare"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    learnt = explain_model(model, X, ONE_RARE)
    assert learnt.ranking().shape == (3, 6)
    assert interpretability(model, X, ONE_RARE).n_classes == 3


def test_a_class_of_one_series_takes_part_in_every_start():
    for initial in ("search", "kmeans"):
        with pytest.warns(UserWarning, match="one series only"):
            model = fitted(X, ONE_RARE, initial=initial, max_epochs=2)
        assert model.n_iter_ == 2


def test_every_class_may_have_one_series():
    with pytest.warns(UserWarning, match="classes 0, 1, 2 have one series only"):
        model = fitted(X[:3], [0, 1, 2], procedure="paper", max_epochs=3)
    assert "validation_loss" not in model.history_
    with pytest.warns(UserWarning, match="classes 0, 1, .* and 19 more have"):
        fitted(X, np.arange(24), max_epochs=1)


def test_a_class_of_one_series_is_never_held_out():
    codes = np.repeat([0, 1, 2], [30, 1, 9])
    goal = Goal(codes, np.ones(40), 3)
    for seed in range(20):
        training, held_out = goal.split(0.25, np.random.default_rng(seed))
        assert set(codes[training]) == {0, 1, 2} and 30 not in held_out
    alone = Goal(np.arange(3), np.ones(3), 3)
    assert [len(part) for part in alone.split(0.25, np.random.default_rng(0))] == [3, 0]


def test_a_size_is_chosen_although_a_class_has_one_series():
    many, codes = bumps(401, n_times=12)
    y = np.where(np.arange(401) == 7, 2, codes)
    with pytest.warns(UserWarning, match="class 2 has one series only"):
        model = ShapeletClassifier(max_epochs=6, random_state=0, n_jobs=1).fit(many, y)
    assert np.isfinite(model.path_.loss).all() and len(model.classes_) == 3


def test_two_series_of_a_class_are_enough_to_say_nothing():
    y = np.where(np.isin(np.arange(24), [4, 5]), 2, CODES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(X, y, max_epochs=1)
    with pytest.raises(ValueError, match="y has one class"):
        fitted(X, np.zeros(24))


# ------------------------------------------------------------------ ensembles of scikit-learn

ROWS, SERIES = X[:, 0], RaggedSeries.from_arrays(X)
POSITIONS = np.arange(24)[:, None]
TINY = SMALL | {"n_shapelets": 4, "max_epochs": 10}


def picked(positions):
    return SERIES[positions[:, 0]]


def test_bagging_takes_rows():
    """Bags weigh series by how often they are drawn: 0 leaves them out."""
    bags = BaggingClassifier(ShapeletClassifier(**TINY), n_estimators=3, random_state=0)
    bags.fit(ROWS, np.array(["a", "b"])[CODES])
    assert bags.score(ROWS, np.array(["a", "b"])[CODES]) > 0.8
    weight = np.bincount(bags.estimators_samples_[0], minlength=24)
    alone = clone(bags.estimators_[0]).fit(ROWS, CODES, weight)
    np.testing.assert_array_equal(
        alone.predict_proba(ROWS), bags.estimators_[0].predict_proba(ROWS)
    )
    numbers = BaggingRegressor(ShapeletRegressor(**TINY), n_estimators=2, random_state=0)
    assert numbers.fit(ROWS, 1.0 * CODES).score(ROWS, CODES) > 0


@pytest.mark.filterwarnings("ignore:class")
def test_a_bag_may_lack_a_class():
    y = np.where(np.arange(24) == 4, 2, CODES)
    bags = BaggingClassifier(ShapeletClassifier(**TINY), n_estimators=4, random_state=0)
    bags.fit(ROWS, y)
    assert {len(one.classes_) for one in bags.estimators_} == {2, 3}
    assert bags.predict_proba(ROWS).shape == (24, 3)


def test_bagging_takes_other_series_by_their_positions():
    """It makes X an array of two dimensions, which other series are not."""
    for other in (X, SERIES):
        with pytest.raises(ValueError):
            BaggingClassifier(ShapeletClassifier(**TINY)).fit(other, CODES)
    of_series = make_pipeline(FunctionTransformer(picked), ShapeletClassifier(**TINY))
    bags = BaggingClassifier(of_series, n_estimators=3, random_state=0).fit(POSITIONS, CODES)
    assert bags.score(POSITIONS, CODES) > 0.8


@pytest.mark.parametrize("series", [SERIES, ROWS], ids=["ragged", "rows"])
def test_other_ensembles_take_any_series(series):
    classifier, regressor = ShapeletClassifier(**TINY), ShapeletRegressor(**TINY)
    pair = [("one", classifier), ("other", clone(classifier).set_params(random_state=1))]
    for ensemble in (
        VotingClassifier(pair, voting="soft"),
        StackingClassifier(pair, cv=2),
        CalibratedClassifierCV(classifier, cv=2),
        OneVsRestClassifier(classifier),
    ):
        assert ensemble.fit(series, CODES).score(series, CODES) > 0.8
    two = np.stack([CODES, 1.0 - CODES], axis=1)
    assert MultiOutputRegressor(regressor).fit(series, two).predict(series).shape == (24, 2)
    labels = MultiOutputClassifier(classifier).fit(series, two.astype(int))
    assert labels.score(series, two) > 0.8


# ------------------------------------------------------------------ several numbers

RANDOM = np.random.default_rng(1)
HEIGHTS = RANDOM.uniform(0.0, 2.0, (60, 2))
BOTH = RANDOM.normal(scale=0.1, size=(60, 2, 30))
BOTH[:, 0, 5:12] += HEIGHTS[:, :1] * np.sin(np.linspace(0, np.pi, 7))
BOTH[:, 1, 15:22] += HEIGHTS[:, 1:] * np.sin(np.linspace(0, np.pi, 7))
NUMBERS = pd.DataFrame({"temp": 30.0 + 10.0 * HEIGHTS[:, 0], "rate": HEIGHTS[:, 1]})
UP = HEIGHTS > 1.0
LABELS = pd.DataFrame({"left": UP[:, 0], "right": UP[:, 1], "both": UP.all(axis=1)}).astype(int)
LEARNING = {"n_shapelets": 10, "max_epochs": 60, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def numbers():
    return ShapeletRegressor(**LEARNING).fit(BOTH, NUMBERS)


@pytest.fixture(scope="module")
def labels():
    return ShapeletClassifier(**LEARNING).fit(BOTH, LABELS)


def test_several_numbers_are_learnt_at_once(numbers):
    assert numbers.target_names_ == ("temp", "rate")
    predicted = numbers.predict(BOTH)
    assert predicted.shape == (60, 2) and predicted.dtype == np.float64
    assert numbers.score(BOTH, NUMBERS) > 0.95
    assert numbers.score(BOTH, NUMBERS) == r2_score(NUMBERS, predicted)
    np.testing.assert_allclose(numbers.target_centre_, NUMBERS.mean())
    np.testing.assert_allclose(numbers.target_scale_, NUMBERS.std(ddof=0))


def test_every_number_has_its_own_unit():
    few = {"estimator": ShapeletRegressor, "max_epochs": 5}
    other = fitted(BOTH, (NUMBERS * [1e6, 1e-6] - [5e7, 0.0]).to_numpy(), **few)
    assert other.target_names_ == ("y0", "y1")
    expected = fitted(BOTH, NUMBERS, **few).predict(BOTH) * [1e6, 1e-6] - [5e7, 0.0]
    np.testing.assert_allclose(other.predict(BOTH) / expected, 1.0, rtol=1e-3)


def test_several_numbers_start_by_search_and_weigh():
    weight = np.where(np.arange(60) < 40, 1.0, 0.0)
    part = fitted(BOTH[:40], NUMBERS[:40], ShapeletRegressor, initial="search")
    whole = ShapeletRegressor(**SMALL, initial="search").fit(BOTH, NUMBERS, weight)
    np.testing.assert_array_equal(part.predict(BOTH), whole.predict(BOTH))
    with pytest.raises(ValueError, match=r"outputs \(series, 2\)"):
        fitted(BOTH, NUMBERS, ShapeletRegressor, head=nn.Linear(6, 1))
    free = fitted(BOTH, NUMBERS, ShapeletRegressor, head=nn.Sequential(nn.Linear(6, 2)))
    explained = free.explain(BOTH[:3])
    total = explained.contributions().sum(axis=2) + explained.bias
    np.testing.assert_allclose(total, free.predict(BOTH[:3]))


def test_a_constant_number_is_predicted():
    y = np.stack([HEIGHTS[:, 0], np.full(60, 7.0)], axis=1)
    model = fitted(BOTH, y, ShapeletRegressor)
    np.testing.assert_allclose(model.predict(BOTH)[:, 1], 7.0, atol=0.1)


def test_one_column_is_one_number():
    with pytest.warns(DataConversionWarning):
        model = fitted(BOTH, NUMBERS[["rate"]], ShapeletRegressor, max_epochs=2)
    assert model.target_names_ is None and model.predict(BOTH).shape == (60,)
    with pytest.raises(ValueError, match="single target already"):
        model.for_target(0)


def test_bad_columns_of_numbers():
    for wrong, message in (
        (NUMBERS.mask(NUMBERS.index.to_numpy()[:, None] == [4, 4]), "that of series 4 is missing"),
        (NUMBERS.replace(NUMBERS.rate[4], np.inf), "finite; got inf for series 4"),
        (NUMBERS[:9], "X has 60 series, y 9"),
        (NUMBERS.astype(str) + "?", "must be numbers"),
        (csr_matrix(NUMBERS), r"Give y.toarray\(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted(BOTH, wrong, ShapeletRegressor)


# ------------------------------------------------------------------ labels


def test_labels_are_learnt_at_once(labels):
    predicted, probability = labels.predict(BOTH), labels.predict_proba(BOTH)
    assert labels.target_names_ == ("left", "right", "both")
    assert labels.classes_.tolist() == [0, 1, 2]  # as of scikit-learn's MLPClassifier
    assert predicted.shape == probability.shape == labels.decision_function(BOTH).shape == (60, 3)
    assert predicted.dtype.kind == "i"
    np.testing.assert_array_equal(predicted, probability > 0.5)
    assert labels.score(BOTH, LABELS) == accuracy_score(LABELS, predicted) > 0.9
    assert labels.history_["accuracy"][-1] > 0.8


def test_labels_may_be_of_any_type():
    expected = fitted(BOTH, LABELS, max_epochs=2).predict_proba(BOTH)
    plain = LABELS.to_numpy()
    for y in (plain.astype(bool), plain.astype(float), plain.astype(object), plain.tolist()):
        model = fitted(BOTH, y, max_epochs=2)
        assert model.target_names_ == ("0", "1", "2")
        np.testing.assert_array_equal(model.predict_proba(BOTH), expected)


def test_labels_are_owned_by_the_series_that_a_shapelet_resembles():
    """Its likeness speaks for none that the nearest series has not."""
    model = fitted(BOTH, LABELS, own_class=True)
    learnt = explain_model(model, BOTH, LABELS)
    side = np.where(learnt.nearest_label.T == 1, -1, 1)
    assert (side * learnt.weight >= 0).all() and (learnt.weight != 0).any()


def test_weights_of_labels_that_the_nearest_series_has_not_become_zero():
    owners = Owners(torch.tensor([[-1.0, 1.0, -1.0], [-2.0, -2.0, 2.0]]), of_labels=True)
    before = owners.weight.tolist()
    owners.constrain()
    assert owners.weight.tolist() == before  # nothing was seen yet
    discrepancy = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    owners.see(discrepancy, torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    owners.settle()
    owners.constrain()
    assert owners.weight.tolist() == [[-1.0, 0.0, 0.0], [0.0, -2.0, 2.0]]


def test_the_loss_of_labels_is_the_mean_of_that_of_two_classes():
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(9, 3, generator=generator)
    target = torch.randint(0, 2, (9, 3), generator=generator)
    weight = torch.rand(9, generator=generator)
    for smoothing in (0.0, 0.1):
        each = [
            classification_loss(output[:, [c]], target[:, c], weight, smoothing) for c in range(3)
        ]
        loss = label_loss(output, target.float(), weight, smoothing)
        torch.testing.assert_close(loss, torch.stack(each).mean())


def test_rare_labels_are_kept_for_training():
    target = np.zeros((40, 3), bool)
    target[:30, 0], target[[3, 35], 1], target[7, 2] = True, True, True
    goal = Goal(target, np.ones(40), 0)
    assert goal.told_apart[[0, 3, 7, 35, 39]].tolist() == [0, 1, 2, 1, 3]
    for seed in range(20):
        training, held_out = goal.split(0.25, np.random.default_rng(seed))
        assert target[training].any(axis=0).all() and 8 <= len(held_out) <= 12


def test_the_number_of_shapelets_is_chosen_for_labels():
    many, codes = bumps(401, n_times=12)
    y = np.stack([codes, np.arange(401) % 3 == 0], axis=1)
    model = ShapeletClassifier(max_epochs=6, random_state=0, n_jobs=1).fit(many, y)
    assert np.isfinite(model.path_.loss).all() and model.path_.score_name == "accuracy"
    smallest = int(min(model.path_.n_shapelets))
    assert model.pruned(smallest).predict(many).shape == (401, 2)


@pytest.mark.parametrize("procedure", ["paper", "learning_shapelets"])
def test_labels_by_other_procedures(procedure):
    model = fitted(BOTH, LABELS, procedure=procedure, max_epochs=3)
    assert model.predict_proba(BOTH).shape == (60, 3)


def test_labels_that_say_nothing():
    none = np.zeros(60, int)
    with pytest.warns(UserWarning, match="all series have, or none: 'never', 'ever'"):
        model = fitted(BOTH, LABELS.assign(never=none, ever=1), initial="search")
    assert model.predict(BOTH)[:, 3:].tolist() == [[0, 1]] * 60
    with pytest.warns(UserWarning, match="label 'once' has one series only"):
        fitted(BOTH, LABELS.assign(once=(np.arange(60) == 4).astype(int)), max_epochs=2)
    with pytest.raises(ValueError, match=r"all series have the same labels \('1'\)"):
        fitted(BOTH, np.stack([none, none + 1], axis=1))


def test_bad_labels():
    refusals = [
        (LABELS.replace(1, 2), "got 2 for series .* MultiOutputClassifier"),
        (LABELS.astype(str), "got '"),
        (NUMBERS, "for numbers ShapeletRegressor"),
        (
            LABELS.where(LABELS.index.to_numpy()[:, None] != [4, 4, 4]),
            "that of series 4 is missing",
        ),
        (csr_matrix(LABELS), r"Give y.toarray\(\)"),
        ([["left"], ["left", "right"]] * 30, "MultiLabelBinarizer"),
        (LABELS[:9], "X has 60 series, y 9"),
        (np.zeros((60, 2, 2)), "dim 3"),
    ]
    for wrong, message in refusals:
        with pytest.raises(ValueError, match=message):
            fitted(BOTH, wrong)
    with pytest.raises(ValueError, match="class_weight is for classes"):
        fitted(BOTH, LABELS, class_weight="balanced")


def test_transformers_learn_from_several_targets():
    for y in (NUMBERS, LABELS):
        model = fitted(BOTH, y, ShapeletTransformer, max_epochs=2)
        assert model.transform(BOTH).shape == (60, 6)
    assert model.fit(BOTH, UP[:, 0]).target_names_ is None


def test_a_checkpoint_keeps_the_owners_of_labels(tmp_path):
    """A fit that ends where another left off is the same."""
    path = tmp_path / "fit.ckpt"
    kept = ShapeletClassifier(**SMALL, checkpoint=path, checkpoint_interval=0.0)

    def stop(trainer, *_):
        if trainer.state.epoch == 3:
            raise MemoryError

    keep = Checkpoint.keep
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "keep", lambda *args: (keep(*args), stop(*args[1:])))
        with pytest.raises(MemoryError):
            kept.fit(BOTH, LABELS)
    assert path.exists()
    again = kept.fit(BOTH, LABELS)
    expected = fitted(BOTH, LABELS).predict_proba(BOTH)
    np.testing.assert_array_equal(again.predict_proba(BOTH), expected)


# ------------------------------------------------------------------ both explained and kept


@pytest.mark.parametrize("which", ["numbers", "labels"])
def test_several_targets_are_saved(which, tmp_path, request):
    model = request.getfixturevalue(which)
    path = tmp_path / "model.safetensors"
    model.save(path)
    loaded = load(path)
    assert loaded.target_names_ == model.target_names_
    np.testing.assert_array_equal(loaded.predict(BOTH), model.predict(BOTH))
    one = loaded.for_target("right" if which == "labels" else "rate")
    one.save(path)
    np.testing.assert_allclose(load(path).predict(BOTH), model.predict(BOTH)[:, 1])


@pytest.mark.parametrize("which", ["numbers", "labels"])
def test_contributions_sum_to_every_answer(which, request):
    model = request.getfixturevalue(which)
    explained = model.explain(BOTH)
    np.testing.assert_allclose(
        explained.contributions().sum(axis=2) + explained.bias, explained.answers
    )
    np.testing.assert_array_equal(explained.predicted, model.predict(BOTH))
    reasons = explained.reasons(5, answer=1, share=1.0)
    assert reasons.answer == model.target_names_[1]
    total = sum(one.contribution for one in reasons.reasons) + reasons.rest + reasons.bias
    assert total == pytest.approx(explained.answers[5, 1])
    frame = explained.to_frame(top=2)
    assert len(frame) == 120 and "predicted" not in frame
    assert f"to {model.target_names_[1]}" in frame
    assert frame["answer"].isin(model.target_names_).all()


def test_reasons_say_what_they_are_of(numbers, labels):
    of_labels, of_numbers = labels.explain(BOTH), numbers.explain(BOTH)
    has, lacks = (int(np.flatnonzero(labels.predict(BOTH)[:, 1] == x)[0]) for x in (1, 0))
    assert f"series {has} is predicted to have label right" in str(of_labels.reasons(has, 1))
    assert f"series {lacks} is predicted not to have label right" in str(
        of_labels.reasons(lacks, 1)
    )
    assert f"to have rate {numbers.predict(BOTH)[3, 1]:.4g}, because" in str(
        of_numbers.reasons(3, 1)
    )
    most = of_labels.chosen(has)
    assert labels.predict_proba(BOTH)[has].argmax() == most
    away = np.abs(of_numbers.answers - of_numbers.bias) / numbers.target_scale_
    assert of_numbers.chosen(3) == away[3].argmax()


def test_what_was_learnt_of_several_targets(numbers, labels):
    for model, y, claims in (
        (numbers, NUMBERS, ["raises temp", "raises rate"]),
        (labels, LABELS, ["speaks for left", "speaks for right"]),
    ):
        learnt = explain_model(model, BOTH, y)
        assert learnt.ranking().shape == (y.shape[1], 10)
        assert set(claims) <= {learnt.claim(k) for k in range(10)}
        top = learnt.ranking()[0, 0]  # channel 0 says how the first is
        assert 0 in learnt.matches.own_channels(top)
        assert (learnt.channel_importance > 0.1).all()
        frame = learnt.to_frame()
        assert frame["target"].unique().tolist() == list(y.columns)
        name = y.columns[1]
        assert frame[f"nearest_{name}"][0] == y[name][learnt.nearest[frame["shapelet"][0]]]
        assert interpretability(model, BOTH, y).n_classes == 0
        with pytest.raises(ValueError, match="must have the targets"):
            explain_model(model, BOTH, y[name])


def test_true_labels_are_said_in_words(numbers, labels):
    of_labels = explain_model(labels, BOTH, LABELS)
    none, both = (int(np.flatnonzero(UP.sum(axis=1) == n)[0]) for n in (0, 2))
    assert of_labels.label_of(none) == "no label"
    assert of_labels.label_of(both) == "left, right, both"
    said = explain_model(numbers, BOTH, NUMBERS).label_of(0)
    assert said == f"temp {NUMBERS.temp[0]:.4g}, rate {NUMBERS.rate[0]:.4g}"


def test_one_of_several_targets(numbers, labels, tmp_path):
    """It is a model of its own, of the same answers, which a page can be about."""
    for model, y, name in ((numbers, NUMBERS, "rate"), (labels, LABELS, "right")):
        first = re.escape(f"model.for_target({y.columns[0]!r})")
        with pytest.raises(ValueError, match=rf"one target, .*{first}\.report\(path, X, y\)"):
            model.report(tmp_path / "page.html", BOTH, y)
        with pytest.raises(ValueError, match=rf"{first}\.explain\(X\)\.what_if\("):
            model.explain(BOTH).what_if(0, 1)
        with pytest.raises(ValueError, match=rf"{first}\.evaluate\(X, y\) with that column"):
            model.evaluate(BOTH, y)
        with pytest.raises(ValueError, match="there is no target 'other'"):
            model.for_target("other")
        one = model.for_target(name)
        np.testing.assert_allclose(one.predict(BOTH), model.predict(BOTH)[:, 1])
        np.testing.assert_array_equal(one.predict(BOTH), model.for_target(1).predict(BOTH))
        assert one.report(tmp_path / "page.html", BOTH, y[name]).exists()
        assert model.predict(BOTH).shape[1] > 1  # itself as it was
    np.testing.assert_allclose(one.predict_proba(BOTH)[:, 1], labels.predict_proba(BOTH)[:, 1])
    mlp = ShapeletClassifier(**SMALL, head=nn.Sequential(nn.Linear(6, 3))).fit(BOTH, LABELS)
    with pytest.raises(TypeError, match="only a linear head"):
        mlp.for_target(0)


def test_each_of_several_targets_is_evaluated(numbers, labels):
    r2 = [numbers.for_target(name).evaluate(BOTH, NUMBERS[name]).r2 for name in NUMBERS]
    assert np.mean(r2) == pytest.approx(numbers.score(BOTH, NUMBERS))
    right = labels.predict(BOTH) == LABELS.to_numpy()
    for name, column in zip(LABELS, right.T, strict=True):
        scores = labels.for_target(name).evaluate(BOTH, LABELS[name])
        assert scores.accuracy == pytest.approx(column.mean())
        assert {label: of["series"] for label, of in scores.classes.items()} == dict(
            LABELS[name].value_counts()
        )


def test_several_targets_are_drawn(numbers, labels):
    plots = pytest.importorskip("genshapelets.explain")
    pytest.importorskip("matplotlib").use("Agg")
    axes = plots.plot_classes(explain_model(labels, BOTH, LABELS))
    assert [ax.get_title("left").split(":")[0] for ax in axes] == ["left", "right", "both"]
    explained = numbers.explain(BOTH)
    ax = plots.plot_contributions(explained, 0, answer=1)
    assert "the unit of rate" in ax.get_xlabel() and "series 0: rate" in ax.get_title("left")
    name = numbers.target_names_[explained.chosen(0)]
    assert f"predicted to have {name}" in plots.plot_series(explained, 0).get_title("left")
    plots.plot_metric(explain_model(numbers, BOTH, NUMBERS))


def test_the_shell_takes_one_target(labels, tmp_path, capsys):
    path = tmp_path / "model.safetensors"
    labels.save(path)
    assert main(["predict", str(path), str(tmp_path / "data.csv")]) != 0
    assert "for_target('left').save" in capsys.readouterr().err


# ------------------------------------------------------------------ the page


def test_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names = run_examples(CHOOSING.with_name("targets.md"))
    assert "('early', 'late') (60, 2) 0.9" in capsys.readouterr().out
    assert names["bags"].score(names["positions"], names["labels"][:, 0]) > 0.8
    assert {path.name for path in tmp_path.iterdir()} == {"late.html", "late.safetensors"}


def test_targets_are_named_where_a_model_shows_itself():
    model = fitted(BOTH, LABELS, ShapeletClassifier)
    assert "targets" in model._fitted_html() and LABELS.columns[0] in model._fitted_html()
    assert "targets" in repr(model.explain(BOTH)) and "classes" not in repr(model.explain(BOTH))


@pytest.mark.parametrize("y", [1e200 * np.arange(8), np.full(8, 1e299), 1e299 + np.arange(8)])
def test_large_numbers(y):
    x = np.random.default_rng(0).normal(size=(8, 1, 9))
    model = ShapeletRegressor(n_shapelets=2, max_epochs=2, random_state=0).fit(x, y)
    assert np.isfinite(model.predict(x)).all() and np.isfinite(model.score(x, y))
    assert np.isfinite(model.explain(x).contributions()).all()
    with pytest.raises(
        ValueError, match="y must be within 1e\\+300 of 0; got 1e\\+305 for series 0"
    ):
        model.fit(x, np.r_[1e305, y[1:]])
    for ask in (model.fit, model.score, model.evaluate):
        with pytest.raises(ValueError, match="y must be within 1e\\+300 of 0"):
            ask(x, [10**400, *y[1:].tolist()])
