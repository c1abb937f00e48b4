"""From many shapelets to few: what is dropped, what is kept, and how a size is chosen."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge

from genshapelets import (
    L2Discrepancy,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    load,
)
from genshapelets.elimination import eliminate
from genshapelets.estimators.goals import Goal
from genshapelets.few_channels import narrow
from genshapelets.procedures import PROCEDURES
from genshapelets.readable import (
    RIDGES,
    HeadProblem,
    chosen_ridge,
    few_weights,
    give_few_reasons,
    readable_twin,
)
from genshapelets.sizes import SizeChoice, sizes_between
from genshapelets.sources import FARTHEST, find_sources, random_discrepancy
from genshapelets.training import Trainer


def bumps(n_series, n_channels=1, seed=0, length=30):
    """Every other series has a bump somewhere in its first channel."""
    random = np.random.default_rng(seed)
    X = random.normal(scale=0.3, size=(n_series, n_channels, length))
    y = np.arange(n_series) % 2
    for n in np.flatnonzero(y):
        start = random.integers(0, length - 8)
        X[n, 0, start : start + 8] += 2 * np.sin(np.linspace(0, np.pi, 8))
    return X, y


SMALL = {"max_epochs": 12, "batch_size": 512, "random_state": 0, "n_jobs": 1}
X, Y = bumps(24)
MANY, OF_MANY = bumps(420)


@pytest.fixture(scope="module")
def chosen():
    return ShapeletClassifier(max_epochs=60, random_state=0).fit(MANY, OF_MANY)


@pytest.fixture(scope="module")
def fixed():
    return ShapeletClassifier(n_shapelets=4, **SMALL).fit(X, Y)


# ------------------------------------------------------------------ what is dropped


def test_sizes_go_from_many_to_few():
    assert sizes_between(60, 3) == [60, 44, 32, 24, 18, 13, 10, 8, 6, 5, 4, 3]
    assert sizes_between(60, 30) == [60, 44, 30]
    assert sizes_between(5, 5) == [5] and sizes_between(4, 1) == [4, 3, 2, 1]


def test_elimination_by_a_plain_loop():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(40, 12)), random.normal(size=(40, 2))
    kept = list(range(12))
    while len(kept) > 9:  # one at a time: 15 % of 12 and of 11 are less than two
        z = (x[:, kept] - x[:, kept].mean(0)) / x[:, kept].std(0)
        rows = np.vstack([z, np.sqrt(0.1 * 40) * np.eye(len(kept))])
        target = np.vstack([y - y.mean(0), np.zeros((len(kept), 2))])
        weight = np.linalg.lstsq(rows, target, rcond=None)[0]
        order = np.argsort(np.linalg.norm(weight, axis=1))
        del kept[order[0]]
        if len(kept) == 11:  # int(12 * 0.85) = 10 are left after the first round
            del kept[order[1] - (order[1] > order[0])]
    assert eliminate(x, y, 9).tolist() == kept


def test_what_must_stay_stays():
    random = np.random.default_rng(0)
    x = random.normal(size=(30, 50))  # more features than series
    assert {3, 17} <= set(eliminate(x, x[:, [5]], 4, always=[3, 17]).tolist())
    assert len(eliminate(x, x[:, [5]], 4)) == 4


def test_a_model_of_some_shapelets(fixed):
    model = fixed.model_
    some = model.chosen([2, 0])
    paths = model.paths(RaggedSeries.from_arrays(X))
    found, all_found = some.discrepancies(paths), model.discrepancies(paths)
    torch.testing.assert_close(found, all_found[:, [2, 0]])
    weight, _ = model.linear()
    own, bias = some.linear()
    torch.testing.assert_close(own, weight[:, [2, 0]])
    features = model.features(all_found.double())[:, [2, 0]]
    torch.testing.assert_close(some.outputs(found), features @ own.T + bias)


@pytest.mark.parametrize("family", ["knots", "bspline", "network"])
def test_families_give_some_of_their_shapelets(family):
    model = ShapeletTransformer(n_shapelets=5, shapelets=family, random_state=0).fit(X).model_
    shapelets = model.transform.shapelets
    some = shapelets.chosen([4, 1])
    torch.testing.assert_close(some.values, shapelets.values[[4, 1]])
    torch.testing.assert_close(some.lengths, shapelets.lengths[[4, 1]])
    assert some.n_shapelets == 2


# ------------------------------------------------------------------ few reasons


def problem(task, x, ridge=0.01, owner=None):
    owners = task.owners(torch.zeros(task.truth.shape[1], x.shape[1]))
    if owner is not None:
        owners.owner = owner
    tensors = torch.from_numpy(x), task.truth.double(), task.weight.double()
    return HeadProblem(*tensors, task, owners, ridge)


def test_the_head_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    x, weight = random.normal(size=(60, 5)), random.uniform(0.1, 2.0, 60)
    y = (x[:, 0] + random.normal(size=60) > 0) + (x[:, 1] > 1).astype(np.int64)
    of_classes = Goal(y, weight, 3).task(np.arange(60), 0.0, None)
    found = problem(of_classes, x).solved(precision=1e-9)
    regression = LogisticRegression(C=1 / (2 * 0.01 * weight.sum()), tol=1e-10, max_iter=1000)
    expected = regression.fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(found[0], expected.coef_, atol=1e-4)
    of_numbers = Goal(x[:, :2] ** 2, weight, 0).task(np.arange(60), 0.0, None)
    found = problem(of_numbers, x).solved(precision=1e-9)
    expected = Ridge(alpha=0.01 * weight.sum()).fit(x, x[:, :2] ** 2, sample_weight=weight)
    np.testing.assert_allclose(found[0], expected.coef_, atol=1e-4)
    of_labels = Goal(np.stack([y > 0, y > 1], axis=1), weight, 0).task(np.arange(60), 0.0, None)
    found = problem(of_labels, x).solved(precision=1e-9)
    expected = regression.fit(x, y > 1, sample_weight=weight)
    np.testing.assert_allclose(found[0][1], expected.coef_[0], atol=1e-4)


def test_weights_are_held_to_the_signs_that_owners_allow():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(60, 8)), np.arange(60) % 3
    task = Goal(y, np.ones(60), 3).task(np.arange(60), 0.0, None)
    given = problem(task, x, owner=torch.arange(8) % 3)
    weight, bias = (part.requires_grad_() for part in given.solved(precision=1e-9))
    cost = given.judged((weight, bias))[0].mean() + 0.01 * weight.square().sum()
    slope = torch.autograd.grad(cost, weight)[0]
    side = torch.where(torch.arange(8) % 3 == torch.arange(3)[:, None], -1.0, 1.0)
    free = side * weight > 0
    assert (side * weight >= 0).all() and 0 < free.sum() < free.numel()
    assert slope[free].abs().max() < 1e-5
    assert (side * slope)[~free].min() > -1e-5  # only the forbidden side is better


@pytest.mark.parametrize("n_classes", [3, 0])
def test_features_that_say_little_get_a_strong_ridge(n_classes):
    random = np.random.default_rng(0)
    x, y = random.normal(size=(200, 30)), random.integers(3, size=200)
    target = y if n_classes else y[:, None] - 1.0
    task = Goal(target, np.ones(200), n_classes).task(np.arange(200), 0.0, None)
    assert chosen_ridge(problem(task, x)) == max(RIDGES)
    x[:, :3] = 0.1 * x[:, :3] + np.eye(3)[y]
    assert chosen_ridge(problem(task, x)) <= 0.01


def test_few_weights_stay_unless_many_are_needed():
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 40))
    for n_telling, expected in ((4, {5}), (40, range(25, 41))):
        y = (x[:, :n_telling].sum(axis=1) / n_telling**0.5 + 0.3 * random.normal(size=300))[:, None]
        task = Goal(y, np.ones(300), 0).task(np.arange(300), 0.0, None)
        weight, _ = few_weights(problem(task, x), 5)
        assert (weight != 0).sum().item() in expected
        assert (weight[0, :n_telling] != 0).sum() >= min(n_telling, 25)


@pytest.mark.parametrize("n_classes", [3, 2, 0])
def test_the_solved_head_is_put_into_the_model(n_classes):
    random = np.random.default_rng(0)
    y = np.arange(60) % (n_classes or 5)
    series = random.normal(size=(60, 1, 20)) + y[:, None, None] * np.sin(np.arange(20) / 3)
    kind = ShapeletClassifier if n_classes else ShapeletRegressor
    model = kind(n_shapelets=8, **SMALL).fit(series, y).model_
    discrepancy = model.discrepancies(model.paths(RaggedSeries.from_arrays(series)))
    target = y if n_classes else ((y - y.mean()) / y.std())[:, None]
    task = Goal(target, np.ones(60), n_classes).task(np.arange(60), 0.0, None)
    features = model.features(discrepancy.double()).detach()
    x = (features - features.mean(dim=0)) / features.std(dim=0, correction=0)
    given = HeadProblem(
        x, task.truth.double(), torch.ones(60).double(), task, task.owners(model.linear()[0])
    )
    expected = few_weights(replace(given, ridge=chosen_ridge(given)), 3)
    plan = replace(PROCEDURES["default"].plan, n_reasons=3)
    give_few_reasons(model, discrepancy, None, task, plan)
    wanted = x @ expected[0].T + expected[1]
    torch.testing.assert_close(model.outputs(discrepancy).detach(), wanted, atol=1e-4, rtol=1e-4)
    assert (model.head.weight == 0).sum() == (expected[0] == 0).sum()


def test_a_readable_twin_answers_much_the_same(fixed):
    model = fixed.model_
    paths = model.paths(RaggedSeries.from_arrays(X))
    task = Goal(Y, np.ones(len(Y)), 2).task(np.arange(len(Y)), 0.0, None)
    plan = PROCEDURES["default"].later
    before = {name: value.clone() for name, value in model.state_dict().items()}
    twin, ridge = readable_twin(model, paths, task, plan, np.random.default_rng(0))
    assert ridge in RIDGES
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])  # itself unchanged
    old, new = (m.outputs(m.discrepancies(paths))[:, 0] for m in (model, twin))
    assert ((old > 0) == (new > 0)).all()
    plan = replace(plan, learn="head")
    unlearnt, same = readable_twin(model, paths, task, plan, np.random.default_rng(0), 0.5)
    assert same == 0.5
    assert torch.equal(unlearnt.transform.shapelets.values, model.transform.shapelets.values)


# ------------------------------------------------------------------ a size is chosen


def test_the_fewest_within_a_standard_error():
    losses = {
        60: [1.0, 1.0, 1.0, 1.0],
        33: [1.1, 0.9, 1.1, 0.9],  # as good
        18: [1.3, 0.9, 1.1, 0.9],  # 0.05 worse, with an error of 0.1
        9: [1.5, 1.4, 1.5, 1.4],  # far worse
    }
    choice = SizeChoice(lambda size: (np.array(losses[size]), 0.5), guess=2.0)
    assert [choice.is_hopeless(size) for size in losses] == [False, False, False, True]
    assert choice.smallest() == 2


def test_small_differences_do_not_count_however_sure():
    better = np.array([0.1, 0.1001, 0.0999])
    # What is small is small against what can be gained; here 0.9, then 0.1 of it.
    for guess, unit in ((1.0, 1.0), (0.2, 0.15)):
        for worse, chosen, hopeless in ((0.009, 1, False), (0.011, 0, False), (0.021, 0, True)):
            choice = SizeChoice(lambda shift: (better + shift, 1.0), guess)
            assert not choice.is_hopeless(0.0) and choice.is_hopeless(unit * worse) == hopeless
            assert choice.smallest() == chosen


def test_a_guess_knows_how_frequent_the_classes_are():
    goal = Goal(np.array([0, 0, 0, 1]), np.ones(4), 2)
    np.testing.assert_allclose(goal.guess(), -(3 * np.log(0.75) + np.log(0.25)) / 4, rtol=1e-5)
    goal = Goal(np.array([0, 1, 1, 2]), np.ones(4), 3)
    np.testing.assert_allclose(goal.guess(), 1.5 * np.log(2), rtol=1e-5)
    goal = Goal(np.array([[True, False], [True, True]]), np.ones(2), 0)
    np.testing.assert_allclose(goal.guess(), np.log(2) / 2, atol=1e-5)
    np.testing.assert_allclose(Goal(np.array([[1.0], [3.0]]), np.ones(2), 0).guess(), 1.0)


def test_many_classes_start_with_more_shapelets():
    default, paper = PROCEDURES["default"], PROCEDURES["paper"]
    assert default.for_classes(3).first == default.first == 100
    assert default.for_classes(15).first == 150 and paper.for_classes(15) is paper


def test_models_on_the_way_stay_as_they_are_trained():
    stages = PROCEDURES["default"].adapted({"n_shapelets": 30}).stages(50, fewest=30)
    for size, plan in stages:
        assert (plan.n_reasons > 0) == plan.near == (size <= 60)
    assert [size for size, _ in stages] == [100, 72, 60, 44, 30]


def test_auto_chooses_by_series_held_out(chosen):
    path = chosen.path_
    assert (np.diff(path.n_shapelets) < 0).all() and path.n_shapelets[0] == 60
    assert path.chosen in path.n_shapelets and "104 series held out" in path.rule
    assert chosen.model_.transform.shapelets.n_shapelets == path.chosen <= 24
    for values in (path.loss, path.loss_error, path.score):
        assert values.shape == path.n_shapelets.shape and np.isfinite(values).all()
    assert path.score_name == "accuracy"
    test, labels = bumps(60, seed=1)
    assert chosen.score(test, labels) > 0.9


def test_too_few_series_to_choose_by():
    model = ShapeletClassifier(**SMALL).fit(X, Y)
    path = model.path_
    assert path.chosen == path.n_shapelets[0] == 60 and np.isnan(path.loss).all()
    assert path.rule == (
        "the most that are kept: of 24 series too few can be held out to choose by their loss (100 are "
        "needed)"
    )


def test_a_given_size(fixed):
    assert fixed.path_.chosen == 4 and fixed.path_.rule == "it was asked for"
    assert len(fixed.shapelets_) == len(fixed.lengths_) == len(fixed.initial_lengths_) == 4
    assert fixed.n_iter_ == 12 == len(fixed.history_["loss"])


def test_regression_has_a_path_too():
    random = np.random.default_rng(0)
    height = random.uniform(1, 3, 420)
    series = random.normal(scale=0.1, size=(420, 1, 30))
    series[:, 0, 10:18] += height[:, None]
    model = ShapeletRegressor(max_epochs=60, random_state=0).fit(series, height)
    assert model.path_.score_name == "r2" and model.path_.chosen < 60
    assert model.score(series, height) > 0.9


@pytest.mark.parametrize(
    "options", [{"head": torch.nn.Linear(5, 1)}, {"procedure": "paper"}], ids=["head", "paper"]
)
def test_no_path_where_nothing_can_be_dropped(options):
    model = ShapeletClassifier(n_shapelets=5, **SMALL, **options).fit(X, Y)
    assert model.path_ is None and list(model.fitted_) == [5]
    assert ShapeletTransformer(n_shapelets=5, random_state=0).fit(X).path_ is None


@pytest.mark.parametrize("size", ["many", 0, 2.5, True])
def test_sizes_that_make_no_sense(size):
    with pytest.raises(
        ValueError, match="'n_shapelets' parameter .* must be 'auto', None or an int"
    ):
        ShapeletClassifier(n_shapelets=size).fit(X, Y)


def test_more_shapelets_than_training_would_start_with():
    model = ShapeletClassifier(n_shapelets=230, max_epochs=2, random_state=0).fit(X, Y)
    assert len(model.lengths_) == 230


# ------------------------------------------------------------------ every size of the path


def test_pruned(chosen):
    for size in chosen.path_.n_shapelets:
        model = chosen.pruned(size)
        assert len(model.shapelets_) == len(model.typical_features_) == size
        assert model.path_.chosen == size and model.score(MANY, OF_MANY) > 0.8
    before = chosen.predict_proba(MANY[:5])
    chosen.pruned(60)
    np.testing.assert_array_equal(chosen.predict_proba(MANY[:5]), before)  # itself unchanged
    explanation = chosen.pruned(10).explain(MANY[:3])
    total = explanation.contributions().sum(axis=-1) + explanation.bias
    np.testing.assert_allclose(total, explanation.answers)


def test_a_size_that_was_not_trained(chosen):
    with pytest.raises(ValueError, match="no model of 1000 shapelets: training went through .*60"):
        chosen.pruned(1000)


def test_every_size_is_in_the_file(chosen, tmp_path):
    chosen.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert other.sources_ is None
    for name, value in vars(chosen.path_).items():
        np.testing.assert_array_equal(getattr(other.path_, name), value)
    for size in chosen.fitted_:
        one, two = chosen.pruned(size), other.pruned(size)
        np.testing.assert_array_equal(one.predict_proba(MANY[:9]), two.predict_proba(MANY[:9]))
        np.testing.assert_array_equal(one.initial_lengths_, two.initial_lengths_)
        np.testing.assert_array_equal(one.typical_features_, two.typical_features_)


def test_training_windows_are_in_the_file_by_choice(fixed, tmp_path):
    fixed.save(tmp_path / "model", sources=True)
    sources = load(tmp_path / "model").sources_
    for one, two in zip(sources, fixed.sources_, strict=True):
        np.testing.assert_array_equal(one, two)


# ------------------------------------------------------------------ possible shapes


def test_sources_are_the_nearest_windows(fixed):
    found = fixed.transform(X)
    np.testing.assert_array_equal(fixed.sources_.series, found.argmin(axis=0))
    np.testing.assert_allclose(fixed.sources_.discrepancy, found.min(axis=0), rtol=1e-5)
    n_knots = fixed.shapelets_.shape[2]
    for k, (series, start, values, _) in enumerate(zip(*fixed.sources_, strict=True)):
        times = start + np.linspace(0, fixed.lengths_[k], n_knots)
        np.testing.assert_allclose(values[0], np.interp(times, np.arange(30), X[series, 0]))


def test_shapelets_stay_near_training_windows_and_in_range():
    series = 3 * X + 10
    model = ShapeletClassifier(
        n_shapelets=8, max_epochs=40, learning_rate=0.3, gamma=0.0, random_state=0
    ).fit(series, Y)
    assert model.shapelets_.min() >= series.min() - 1e-4
    assert model.shapelets_.max() <= series.max() + 1e-4
    paths = model.model_.paths(RaggedSeries.from_arrays(series))
    usual = random_discrepancy(model.model_, paths, 500, np.random.default_rng(0)).mean(axis=0)
    assert (find_sources(model.model_, paths).discrepancy <= 1.3 * FARTHEST * usual).all()


# ------------------------------------------------------------------ few channels


def test_a_shapelet_sees_a_few_channels():
    series, y = bumps(30, n_channels=9)
    for most in (1, 3):
        model = ShapeletClassifier(n_shapelets=6, max_channels=most, **SMALL).fit(series, y)
        weight = model.model_.transform.discrepancy.weight
        n_seen = (weight != 0).sum(dim=1)
        assert (n_seen >= 1).all() and (n_seen <= most).all()


def with_weights(weight):
    """A model of two shapelets whose channels weigh so much, its paths and task.

    In the first two channels, in noise, is what tells the classes apart; in the others is nothing.
    """
    random = np.random.default_rng(0)
    y = np.arange(240) % 2
    series = random.normal(scale=2.0, size=(240, 4, 20))
    shape = 2 * np.sin(np.linspace(0, 2 * np.pi, 20))
    series[y == 0, :2] += shape
    settings = SMALL | {"max_epochs": 1, "level_free": 0.0}
    model = ShapeletClassifier(n_shapelets=2, **settings).fit(series, y).model_
    knots = model.transform.shapelets.values.shape[2]
    with torch.no_grad():
        model.transform.shapelets.values.zero_()
        drawn = torch.from_numpy(np.interp(np.linspace(0, 19, knots), np.arange(20), shape))
        model.transform.shapelets.values[:, :2] = drawn
        model.transform.shapelets.raw_lengths.fill_(0.0)  # as long as the series
        model.transform.discrepancy.weight.copy_(torch.tensor(weight))
        model.head.weight.copy_(torch.tensor([[1.0, 1.0]]))
        model.head.bias.zero_()
    paths = model.paths(RaggedSeries.from_arrays(series))
    model.standardise_features(paths)
    return model, paths, Goal(y, np.ones(240), 2).task(np.arange(240), 0.0, None)


def test_channels_of_little_weight_are_left_out():
    model, paths, task = with_weights([[3.0, -4.0, 1.9, 2.1], [1.0, 1.5, 0.5, 0.5]])
    narrow(model, paths, task, 2)
    assert model.transform.discrepancy.weight.tolist() == [[3.0, -4.0, 0, 0], [1.0, 1.5, 0, 0]]


def test_channels_that_tell_nothing_are_left_out():
    model, paths, task = with_weights([[1.0, 1.0, 1.5, 0.1], [1.5, 0.1, 0.1, 1.5]])
    narrow(model, paths, task, 3)
    assert model.transform.discrepancy.weight.tolist() == [[1.0, 1.0, 0, 0], [1.5, 0, 0, 0]]


def test_what_cannot_leave_out_channels_keeps_them():
    model, paths, task = with_weights([[1.0, 1.0, 1.0, 1.0]] * 2)
    model.transform.discrepancy = L2Discrepancy(4)
    narrow(model, paths, task, 1)
    assert model.transform.discrepancy.weight.tolist() == [[1.0] * 4]


def test_planted_patterns_are_found_in_their_channels():
    """Two patterns in two of twenty channels; the others have bumps that mean nothing."""
    random = np.random.default_rng(0)
    y = np.arange(520) % 3
    series = random.normal(scale=0.5, size=(520, 20, 40))
    bump = np.sin(np.linspace(0, np.pi, 12))
    for n in range(len(y)):
        for channel in set(range(20)) - {3, 11}:
            start = random.integers(0, 28)
            series[n, channel, start : start + 12] += 1.5 * random.choice([-1, 1]) * bump
        start = random.integers(0, 28)
        if y[n] == 0:
            series[n, 3, start : start + 12] += 2 * np.sin(np.linspace(0, 2 * np.pi, 12))
        if y[n] == 1:
            series[n, 11, start : start + 12] += 2 * bump
    train, test = slice(0, 420), slice(420, 520)
    model = ShapeletClassifier(max_epochs=600, batch_size=512, random_state=0).fit(
        series[train], y[train]
    )
    assert model.score(series[test], y[test]) > 0.95
    weight = model.model_.transform.discrepancy.weight.numpy()
    assert len(weight) <= 4
    assert {tuple(np.flatnonzero(own)) for own in weight} <= {(3,), (11,), (3, 11)}
    importance = model.explain_model(series[train], y[train]).channel_importance
    assert set(np.argsort(-importance)[:2]) == {3, 11}


# ------------------------------------------------------------------ kills and Ctrl-C


def test_the_same_seed_gives_the_same_path():
    one, two = (ShapeletClassifier(**SMALL).fit(MANY, OF_MANY) for _ in range(2))
    np.testing.assert_array_equal(one.path_.loss, two.path_.loss)
    for size in one.fitted_:
        assert torch.equal(one.fitted_[size].model.head.weight, two.fitted_[size].model.head.weight)


@pytest.mark.parametrize("last", [3, 11, 13, 20])
def test_a_killed_path_is_resumed(last, tmp_path, monkeypatch):
    settings = {**SMALL, "max_epochs": 10}
    whole = ShapeletClassifier(**settings).fit(MANY, OF_MANY)
    model = ShapeletClassifier(
        checkpoint=tmp_path / "fit.ckpt", checkpoint_interval=0.0, **settings
    )
    epoch, done = Trainer._epoch, iter(range(100))

    def die(self):
        if next(done) == last:
            raise MemoryError
        epoch(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_epoch", die)
        if last < 20 - 1:
            with pytest.raises(MemoryError):
                model.fit(MANY, OF_MANY)
    again = model.fit(MANY, OF_MANY)
    np.testing.assert_array_equal(again.path_.loss, whole.path_.loss)
    np.testing.assert_array_equal(again.predict_proba(MANY), whole.predict_proba(MANY))


@pytest.mark.parametrize("after", [0, 4, 12])
def test_ctrl_c_anywhere_leaves_a_model(after, monkeypatch):
    step, count = Trainer._step, iter(range(10_000))

    def interrupted(self, batch):
        if next(count) == after:
            raise KeyboardInterrupt
        return step(self, batch)

    monkeypatch.setattr(Trainer, "_step", interrupted)
    with pytest.warns(UserWarning, match=f"interrupted after {after} of 20 epochs"):
        model = ShapeletClassifier(**{**SMALL, "max_epochs": 10}).fit(MANY, OF_MANY)
    assert model.path_ is None and model.predict(MANY).shape == (420,)
    assert len(model.explain(MANY[:2]).contributions()) == 2


def test_stages_share_the_epochs_that_a_user_gives():
    procedure = PROCEDURES["default"].adapted({"max_epochs": 3, "n_shapelets": 10})
    stages = procedure.stages(50, fewest=3)
    assert [stage.n_shapelets for stage in stages] == [100, 32, 10]
    assert [stage.plan.max_epochs for stage in stages] == [1, 1, 1]
    assert sum(s.plan.max_epochs for s in procedure.adapted({"max_epochs": 50}).stages(50, 3)) == 50
    alone = PROCEDURES["default"].adapted({"max_epochs": 1, "n_shapelets": 10}).stages(50, 3)
    assert [stage.n_shapelets for stage in alone] == [10]


def test_a_channel_that_never_varies_is_left_out():
    series, y = bumps(30, n_channels=3)
    series[:, 1] = 7.0
    named = RaggedSeries.from_arrays(series, channel_names=["pulse", "flat", "temperature"])
    with pytest.warns(UserWarning, match="channels that never vary: flat"):
        model = ShapeletClassifier(n_shapelets=4, **SMALL).fit(named, y)
    weight = model.model_.transform.discrepancy.weight
    assert (weight[:, 1] == 0).all() and (weight != 0).any(dim=1).all()
