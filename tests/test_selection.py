"""Shapelets chosen by search: gains of splits, their bound, candidates, the choice, the estimators."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import irregular, ragged
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from genshapelets import (
    ClassicalDiscrepancy,
    Discrepancy,
    DTWDiscrepancy,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MixedDiscrepancy,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    SoftMinimum,
    interpolate,
    load,
)
from genshapelets.selection import Candidates, choose_shapelets, draw_candidates
from genshapelets.splits import Splits
from genshapelets.training import Trainer

# ------------------------------------------------------------------ gains


def impurity(target):
    """Entropy in bits, or variance, times the number of series."""
    if not len(target):
        return 0.0
    if target.dtype.kind == "f":
        return ((target - target.mean()) ** 2).sum()
    share = np.unique(target, return_counts=True)[1] / len(target)
    return -len(target) * (share * np.log2(share)).sum()


def best_gain(found, target):
    """The gain of the best threshold, tried one by one."""
    gains = [0.0]
    for threshold in np.unique(found)[:-1]:
        left, right = target[found <= threshold], target[found > threshold]
        gains.append((impurity(target) - impurity(left) - impurity(right)) / len(target))
    return max(gains)


targets = st.one_of(
    st.lists(st.integers(0, 1), min_size=2, max_size=14).map(np.array),
    st.lists(st.integers(0, 4), min_size=2, max_size=14).map(np.array),
    st.lists(st.integers(-9, 9).map(float), min_size=2, max_size=14).map(np.array),
)


@settings(deadline=None)
@given(targets, st.integers(0, 2**32 - 1))
def test_the_gain_is_that_of_trying_every_threshold(target, seed):
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 8, (len(target), 3)) / 4  # with ties
    gain, _, threshold = Splits(target).best(found, np.arange(len(target)))
    want = [best_gain(column, target) for column in found.T]
    np.testing.assert_allclose(gain, want, atol=1e-12)
    for k, column in enumerate(found.T):
        left, right = target[column <= threshold[k]], target[column > threshold[k]]
        there = (impurity(target) - impurity(left) - impurity(right)) / len(target)
        assert there == pytest.approx(gain[k], abs=1e-8)


def test_the_gain_worked_by_hand():
    # Three of four a's are below all b's: 1 - (5/8) H(4/5) = 1 - 0.625 * 0.7219...
    target = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    found = np.array([1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0, 7.0])[:, None]
    gain, gap, threshold = Splits(target).best(found, np.arange(8))
    assert gain[0] == pytest.approx(1 + 0.625 * (0.2 * np.log2(0.2) + 0.8 * np.log2(0.8)))
    assert threshold[0] == 3.5
    assert gap[0] == pytest.approx((31 / 5 - 2) / (37 / 8))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_the_best_split_is_that_of_a_stump(n_classes):
    rng = np.random.default_rng(n_classes)
    target = rng.integers(0, n_classes, 60)
    found = rng.normal(size=(60, 5)) + 0.8 * target[:, None]
    gain, _, threshold = Splits(target).best(found, np.arange(60))
    for k in range(5):
        stump = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(found[:, [k]], target)
        tree = stump.tree_
        below = tree.weighted_n_node_samples[1:] @ tree.impurity[1:] / 60
        assert gain[k] == pytest.approx(tree.impurity[0] - below)
        assert threshold[k] == pytest.approx(tree.threshold[0])


def test_the_best_split_of_numbers_is_that_of_a_stump():
    rng = np.random.default_rng(0)
    target = rng.normal(5.0, 2.0, 50)
    found = rng.normal(size=(50, 4)) + target[:, None]
    gain, _, threshold = Splits(target).best(found, np.arange(50))
    for k in range(4):
        tree = DecisionTreeRegressor(max_depth=1).fit(found[:, [k]], target).tree_
        below = tree.weighted_n_node_samples[1:] @ tree.impurity[1:] / 50
        assert gain[k] == pytest.approx(tree.impurity[0] - below)
        assert threshold[k] == pytest.approx(tree.threshold[0])


@settings(deadline=None)
@given(targets, st.integers(0, 2**32 - 1))
def test_no_series_to_come_lift_the_gain_above_the_bound(target, seed):
    rng = np.random.default_rng(seed)
    splits, everyone = Splits(target), rng.permutation(len(target))
    seen = everyone[: rng.integers(1, len(target) + 1)]
    found = rng.normal(size=(len(target), 20))
    found[: len(seen)] = found[: len(seen), :1]
    # At random, and at their best: at the far ends, by the target.
    to_come = target[everyone[len(seen) :]]
    cut = rng.choice(target, 10)
    found[len(seen) :, :10] = np.where(to_come[:, None] <= cut, -9.0, 9.0)
    bound = splits.bound(found[: len(seen)], seen)
    gain, _, _ = splits.best(found, everyone)
    assert (gain <= bound + 1e-9).all()


@pytest.mark.parametrize("target", [np.arange(9) % 3, np.arange(9) / 2], ids=["classes", "numbers"])
def test_the_bound_of_all_series_is_the_gain(target):
    found = np.random.default_rng(0).normal(size=(9, 6))
    splits = Splits(target)
    gain = splits.best(found, np.arange(9))[0]
    np.testing.assert_allclose(splits.bound(found, np.arange(9)), gain, atol=1e-12)


def test_discrepancies_that_are_all_the_same_split_nothing():
    gain, gap, threshold = Splits(np.array([0, 1, 1])).best(np.full((3, 1), 2.0), np.arange(3))
    assert (gain.tolist(), gap.tolist(), threshold.tolist()) == ([0.0], [0.0], [2.0])


# ------------------------------------------------------------------ candidates


def test_all_windows_are_candidates_once():
    series = RaggedSeries.from_arrays(
        [np.zeros((1, 5)), np.zeros((1, 3))], [np.arange(5), np.arange(3) + 7.0]
    )
    paths = interpolate(series)
    found = draw_candidates(paths, [2.0, 3.0], None, np.array([0, 1]), np.random.default_rng(0))
    windows = sorted(zip(found.series, found.lengths, found.start, strict=True))
    assert windows == [
        (0, 2.0, 0.0), (0, 2.0, 1.0), (0, 2.0, 2.0), (0, 3.0, 0.0), (0, 3.0, 1.0),
        (1, 2.0, 7.0), (1, 3.0, 7.0),  # the last is longer than its series
    ]  # fmt: skip


def test_classes_take_turns_and_no_candidate_comes_twice():
    rng = np.random.default_rng(1)
    paths = interpolate(irregular(rng, n_series=12))
    target = np.array([0] * 9 + [1] * 2 + [2])
    found = draw_candidates(paths, [1.0, 2.0, 4.0], 30, target, rng)
    assert len(found) == 30
    assert np.bincount(target[found.series]).tolist() == [10, 10, 10]
    assert len(set(zip(found.series, found.start, found.lengths, strict=True))) == 30
    inside = found.start - paths.origin[found.series] + found.lengths
    assert (inside <= paths.spans[found.series] + 1e-9).all()


@pytest.mark.parametrize(
    ("lengths", "n", "message"),
    [
        ([], 3, "lengths must be positive numbers, at least one"),
        ([0.0], 3, "lengths must be positive numbers"),
        ([1.0, np.inf], 3, "lengths must be positive numbers"),
        ([1.0], 0, "n_candidates must be at least 1, or None for all; got 0"),
    ],
)
def test_candidates_that_cannot_be(lengths, n, message):
    rng = np.random.default_rng(0)
    paths = interpolate(irregular(rng, n_series=2))
    with pytest.raises(ValueError, match=message):
        draw_candidates(paths, lengths, n, np.array([0, 1]), rng)


# ------------------------------------------------------------------ the choice

PATTERN = np.array([0.0, 2.0, -2.0, 2.0, -2.0, 0.0])


def planted(n_series=40, n_classes=2, seed=0, noise=0.2):
    """Series of which those of class c > 0 hold a pattern of their own, each somewhere else."""
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=noise, size=(n_series, 1, 30))
    y = np.arange(n_series) % n_classes
    at = rng.integers(0, 24, n_series)
    for n in range(n_series):
        if y[n]:
            X[n, 0, at[n] : at[n] + 6] += PATTERN * (-1.0) ** y[n]
    return X, y, at


def problem(n_classes=2, n_candidates=300, lengths=(3.0, 5.0, 9.0), seed=0, **kwargs):
    X, y, at = planted(n_classes=n_classes, seed=seed, **kwargs)
    paths = interpolate(RaggedSeries.from_arrays(X))
    candidates = draw_candidates(
        paths, np.array(lengths), n_candidates, y, np.random.default_rng(seed)
    )
    return paths, y, at, candidates


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one[:-1], other[:-1], strict=True))


@pytest.mark.parametrize("discrepancy", [L2Discrepancy(1), ClassicalDiscrepancy()])
def test_a_planted_pattern_is_chosen(discrepancy):
    paths, y, at, candidates = problem(n_candidates=None, lengths=[5.0])
    found = choose_shapelets(paths, y, discrepancy, candidates, 2, 6)
    # One of each class; that of the class with the pattern is the pattern.
    assert sorted(y[found.series]) == [0, 1]
    k = int(np.flatnonzero(y[found.series] == 1)[0])
    assert found.gain[k] == pytest.approx(1.0)
    assert abs(found.start[k] - at[found.series[k]]) <= 2
    one = choose_shapelets(paths, y, discrepancy, candidates, 1, 6)
    assert y[one.series] == [1] and one.gain[0] == pytest.approx(1.0)
    assert one.values.shape == (1, 1, 6) and one.lengths.tolist() == [5.0]
    window = paths[one.series].evaluate(one.start[:, None] + np.arange(6.0))
    np.testing.assert_allclose(one.values, window, rtol=1e-12)


def test_gains_and_thresholds_are_those_of_the_transform():
    from genshapelets import GeneralisedShapeletTransform

    paths, y, _, candidates = problem()
    found = choose_shapelets(paths, y, L2Discrepancy(1), candidates, 5, 7)
    transform = GeneralisedShapeletTransform.from_shapelets(
        found.values, found.lengths, discrepancy=L2Discrepancy(1)
    )
    discrepancy = transform(paths).discrepancy.detach().numpy()
    for k in range(5):
        assert found.gain[k] == pytest.approx(best_gain(discrepancy[:, k], y), abs=1e-9)
        assert (discrepancy[:, k] < found.threshold[k]).any()
    assert (np.diff(found.gain) <= 1e-9).all()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_pruning_changes_nothing_and_saves_work(n_classes, noise):
    paths, y, _, candidates = problem(n_classes, n_candidates=500, noise=noise, n_series=80)
    pruned = choose_shapelets(paths, y, L2Discrepancy(1), candidates, n_classes, 7)
    full = choose_shapelets(paths, y, L2Discrepancy(1), candidates, n_classes, 7, prune=False)
    assert same(pruned, full)
    assert full.n_compared == len(candidates) * len(paths)
    assert pruned.n_compared <= full.n_compared
    if noise < 1:  # else hardly any window separates
        assert pruned.n_compared < 0.8 * full.n_compared


def test_pruning_changes_nothing_for_numbers():
    X, y, _ = planted(n_series=64)
    height = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) * y
    paths = interpolate(RaggedSeries.from_arrays(X * (0.1 + height[:, None, None])))
    candidates = draw_candidates(paths, [5.0], 400, height, np.random.default_rng(0))
    pruned, full = (
        choose_shapelets(paths, height, L2Discrepancy(1), candidates, 3, 6, prune=prune)
        for prune in (True, False)
    )
    assert same(pruned, full) and pruned.n_compared < full.n_compared
    assert pruned.gain[0] > 0.5 * height.var()


@pytest.mark.parametrize("seed", range(6))
def test_pruning_changes_nothing_on_any_series(seed):
    rng = np.random.default_rng(seed)
    paths = interpolate(RaggedSeries.concatenate([ragged(rng), ragged(rng)]))
    y = rng.integers(0, 2 + seed % 3, len(paths))
    candidates = draw_candidates(paths, [0.8, 2.0, 4.0], 200, y, rng)
    measure = L2Discrepancy(2, level_free=(rng.random(len(candidates)) < 0.5).tolist())
    pruned, full = (
        choose_shapelets(paths, y, measure, candidates, 4, 6, prune=prune)
        for prune in (True, False)
    )
    assert same(pruned, full)


def test_near_duplicates_are_dropped():
    paths, y, _, candidates = problem(n_candidates=None)
    found = choose_shapelets(paths, y, L2Discrepancy(1), candidates, 30, 6)
    end = found.start + found.lengths
    for i in range(30):
        for j in range(i):
            if found.series[i] == found.series[j]:
                common = min(end[i], end[j]) - max(found.start[i], found.start[j])
                assert common <= 0.5 * min(found.lengths[i], found.lengths[j])
    assert np.bincount(y[found.series]).tolist() == [15, 15]


def test_too_few_windows_that_differ_are_filled_up():
    paths, y, _, _ = problem(n_series=4)
    # Four windows of each of two series, all over each other.
    candidates = Candidates(np.repeat([0, 1], 4), np.tile(np.arange(4.0), 2), np.full(8, 20.0))
    found = choose_shapelets(paths, y, L2Discrepancy(1), candidates, 6, 6)
    assert np.bincount(found.series).tolist() == [3, 3]
    every = choose_shapelets(paths, y, L2Discrepancy(1), candidates, 50, 6)
    assert sorted(every.index) == list(range(8))


def test_a_class_with_few_candidates_leaves_its_share():
    paths, y, _, candidates = problem(n_candidates=40)
    of_one = np.flatnonzero(y[candidates.series] == 1)
    kept = np.sort(np.concatenate([np.flatnonzero(y[candidates.series] == 0), of_one[:2]]))
    few = Candidates(candidates.series[kept], candidates.start[kept], candidates.lengths[kept])
    found = choose_shapelets(paths, y, L2Discrepancy(1), few, 8, 6)
    assert np.bincount(y[found.series]).tolist() == [6, 2]


def test_each_candidate_keeps_its_own_metric():
    paths, y, _, candidates = problem(n_candidates=50)
    measure = L2Discrepancy(1, n_shapelets=50, level_free=[k % 2 == 0 for k in range(50)])
    with torch.no_grad():
        measure.weight.copy_(torch.rand(50, 1) + 0.5)
    found = choose_shapelets(paths, y, measure, candidates, 6, 6)
    own = measure.chosen(found.index.tolist())
    assert torch.equal(own.weight, measure.weight[found.index])
    assert own.level_free.tolist() == [k % 2 == 0 for k in found.index]
    assert own.n_shapelets == 6 and own.config()["n_shapelets"] == 6


class Largest(Discrepancy):
    def forward(self, times, path, shapelet):
        return (path - shapelet).abs().amax(dim=(-2, -1))


def test_a_discrepancy_of_ones_own():
    paths, y, _, candidates = problem(n_candidates=40, lengths=[5.0], n_series=16)
    found = choose_shapelets(paths, y, Largest(), candidates, 2, 6)
    assert found.gain.max() > 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": np.zeros(40, int)}, "target has one class"),
        ({"target": np.arange(3)}, "one entry for each of the 40 series; got 3"),
        ({"n_shapelets": 0}, "n_shapelets must be at least 1; got 0"),
        ({"discrepancy": L2Discrepancy(2)}, "the shapelets have 1 channels"),
    ],
)
def test_bad_input(change, message):
    paths, y, _, candidates = problem(n_candidates=5)
    arguments = {"target": y, "discrepancy": L2Discrepancy(1), "n_shapelets": 2} | change
    with pytest.raises(ValueError, match=message):
        choose_shapelets(paths, candidates=candidates, n_knots=6, **arguments)


# ------------------------------------------------------------------ estimators


def test_chosen_shapelets_can_be_final(tmp_path):
    X, y, _ = planted(n_classes=3)
    fit = {"n_shapelets": 9, "n_knots": 6, "initial_length": 5 / 29, "random_state": 0}
    model = ShapeletClassifier(initial="search", learn="head", max_epochs=100, **fit).fit(X, y)
    assert model.score(X, y) == 1.0
    windows = np.stack([X[..., s : s + 6] for s in range(25)], axis=1).reshape(-1, 1, 6)
    far = np.abs(model.shapelets_[:, None] - windows).max(axis=(2, 3))
    assert (far.min(axis=1) < 1e-5).all()
    assert (model.lengths_ == model.initial_lengths_).all()
    assert np.unique(model.metric_, axis=0).size == 1  # one channel: as it starts
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    model.save(tmp_path / "model")
    twin = load(tmp_path / "model")
    assert (twin.initial, twin.learn) == ("search", "head")
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    again = ShapeletClassifier(initial="search", learn="head", max_epochs=100, **fit).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_the_head_alone_learns_as_from_matching_anew(procedure, monkeypatch):
    X, y, _ = planted()
    settings = {"n_shapelets": 5, "max_epochs": 8, "batch_size": 16, "random_state": 0}

    def fitted():
        model = ShapeletClassifier(learn="head", procedure=procedure, **settings).fit(X, y)
        return model.model_.state_dict()

    known = fitted()
    run = Trainer.run

    def run_from_series(self, *arguments, **options):
        assert self.known is not None
        self.known = None
        return run(self, *arguments, **options)

    monkeypatch.setattr(Trainer, "run", run_from_series)
    anew = fitted()
    assert known["head.weight"].abs().max() > 0.01
    for name, tensor in known.items():
        torch.testing.assert_close(tensor, anew[name], rtol=1e-5, atol=1e-6)
    monkeypatch.undo()
    if procedure == "default":  # fewer epochs drop other shapelets
        return
    settings["max_epochs"] = 1
    early = fitted()
    for name, tensor in known.items():
        assert torch.equal(tensor, early[name]) is not name.startswith("head.")


@pytest.mark.parametrize("initial", ["windows", "kmeans", "search"])
@pytest.mark.parametrize("procedure", ["default", "paper", "learning_shapelets"])
def test_every_start_in_every_procedure(initial, procedure):
    X, y, _ = planted(n_series=16)
    model = ShapeletClassifier(
        n_shapelets=4, initial=initial, procedure=procedure, max_epochs=3, random_state=0
    ).fit(X, y)
    assert model.shapelets_.shape[0] == 4 and np.isfinite(model.predict_proba(X)).all()


def test_the_search_serves_numbers_and_own_discrepancies():
    X, y, _ = planted()
    height = np.random.default_rng(1).uniform(1.0, 3.0, len(X))
    X = X * height[:, None, None]
    settings = {"initial": "search", "n_shapelets": 3, "max_epochs": 60, "random_state": 0}
    assert ShapeletRegressor(**settings).fit(X, height * y).score(X, height * y) > 0.5
    own = ShapeletClassifier(discrepancy=Largest(), **settings | {"max_epochs": 2}).fit(
        X[:12], y[:12]
    )
    assert own.shapelets_.shape[0] == 3
    shared = L2Discrepancy(1, n_shapelets=3, level_free=[True, False, True])
    given = ShapeletClassifier(discrepancy=shared, **settings | {"max_epochs": 2}).fit(X, y)
    assert given.model_.transform.discrepancy.n_shapelets == 3
    features = ShapeletTransformer(**settings | {"max_epochs": 2}).fit(X, y).transform(X)
    assert features.shape == (40, 3)


def test_a_search_resumes_from_a_checkpoint(tmp_path, monkeypatch):
    X, y, _ = planted()
    settings = {"initial": "search", "learn": "head", "minimum": SoftMinimum(2), "n_shapelets": 4}
    settings |= {"max_epochs": 6, "random_state": 0}
    want = ShapeletClassifier(**settings).fit(X, y).predict_proba(X)
    kept = {"checkpoint": tmp_path / "state", "checkpoint_interval": 0.0}
    epoch, done = Trainer._epoch, iter(range(6))

    def killed(self):
        if next(done) == 3:
            raise RuntimeError("killed")
        epoch(self)

    monkeypatch.setattr(Trainer, "_epoch", killed)
    with pytest.raises(RuntimeError, match="killed"):
        ShapeletClassifier(**settings, **kept).fit(X, y)
    monkeypatch.undo()
    again = ShapeletClassifier(**settings, **kept).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), want)
    with pytest.raises(ValueError, match="its minimum differs"):
        ShapeletClassifier(**settings | {"minimum": SoftMinimum(3)}, **kept).fit(X, y)


def test_fewer_windows_than_shapelets():
    X, y = np.random.default_rng(0).normal(size=(4, 1, 3)), np.array([0, 1, 0, 1])
    model = ShapeletClassifier(n_shapelets=60, initial="search", max_epochs=2, random_state=0).fit(
        X, y
    )
    assert len(model.shapelets_) == 60


@pytest.mark.parametrize("by_name", [True, False])
def test_each_of_several_discrepancies_chooses_its_share(by_name):
    X, y = np.random.default_rng(0).normal(size=(8, 2, 20)), np.arange(8) % 2
    discrepancy = {"l2": 0.5, "logsignature": 0.25, "dtw": 0.25}
    if not by_name:
        parts = [L2Discrepancy(2), LogSignatureDiscrepancy(2), DTWDiscrepancy(2)]
        discrepancy = MixedDiscrepancy(parts, [2, 1, 1])
    settings = {"n_shapelets": 4, "max_epochs": 1, "random_state": 0}
    model = ShapeletClassifier(discrepancy=discrepancy, initial="search", **settings).fit(X, y)
    found = model.model_.transform.discrepancy
    kinds = ["L2Discrepancy", "LogSignatureDiscrepancy", "DTWDiscrepancy"]
    assert [type(part).__name__ for part in found.parts] == kinds
    assert found.counts == [2, 1, 1]


def test_without_targets_nothing_can_be_chosen():
    X = planted(n_series=8)[0]
    with pytest.raises(ValueError, match='Give y, or use initial="windows" or "kmeans"'):
        ShapeletTransformer(initial="search").fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"initial": "best"},
            "'initial' parameter of ShapeletClassifier must be one of None, 'wind",
        ),
        ({"learn": None}, "'learn' parameter of ShapeletClassifier must be one of 'all', 'head'"),
        (
            {"minimum": "least"},
            "'minimum' parameter .* 'min', 'soft', 'softmin', or an instance of",
        ),
        ({"minimum": "softmin", "search": "refined"}, "'auto' or 'grid' if all offsets"),
        ({"procedure": "learning_shapelets", "search": "exact"}, "'auto' or 'grid' if the discrep"),
    ],
)
def test_parameters_that_cannot_be(settings, message):
    X, y, _ = planted(n_series=8)
    with pytest.raises(ValueError, match=message):
        ShapeletClassifier(**settings).fit(X, y)
