"""From the best candidates to one number: the least, or a soft one."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from naive import grid as naive_grid
from problems import (
    SERIES,
    evaluated,
    irregular,
    make_transform,
    offsets_of,
    reconfigured,
    regular,
)
from torch.autograd import gradcheck
from torch.func import functional_call

import genshapelets.evaluation.generic
import genshapelets.transform
from genshapelets import (
    ClassicalDiscrepancy,
    GeneralisedShapeletTransform,
    RaggedSeries,
    ShapeletClassifier,
    interpolate,
    load,
)
from genshapelets.minimum import MINIMA, Minimum, Softmin, SoftMinimum
from genshapelets.procedures import PROCEDURES
from genshapelets.search.generic import grid as generic_grid

CANDIDATES = torch.tensor([[[1.0, 3.0, 2.0], [5.0, 5.0, 5.0]]], dtype=torch.float64)
ALL = torch.tensor([[3, 3]])


def test_the_minimum_is_the_least():
    assert Minimum()(CANDIDATES, ALL).tolist() == [[1.0, 5.0]] and Minimum.n_best == 1


def test_the_soft_minimum_worked_by_hand():
    # Weights 1, 1/9, 1/4 for sharpness 2: (1 + 3/9 + 2/4) / (1 + 1/9 + 1/4) = (11/6) / (49/36).
    found = SoftMinimum(3, sharpness=2.0)(CANDIDATES, ALL)
    assert found[0].tolist() == pytest.approx([66 / 49, 5.0], rel=1e-12)


def test_only_candidates_that_are_given_count():
    soft = SoftMinimum(3, sharpness=1.0)
    found = soft(CANDIDATES, torch.tensor([[1, 2]]))
    assert found[0].tolist() == pytest.approx([1.0, 5.0], rel=1e-12)
    # Weights 1, 1/3: (1 + 1) / (4/3).
    assert soft(CANDIDATES, torch.tensor([[2, 3]]))[0, 0].item() == pytest.approx(1.5, rel=1e-12)


def test_the_gradient_reaches_all_candidates_that_are_given():
    candidates = CANDIDATES.clone().requires_grad_()
    SoftMinimum(3, sharpness=2.0)(candidates, torch.tensor([[3, 2]])).sum().backward()
    assert (candidates.grad != 0).tolist() == [[[True] * 3, [True, True, False]]]
    # Where all are the same each has its share.
    assert candidates.grad[0, 1].tolist() == pytest.approx([0.5, 0.5, 0.0])
    candidates.grad = None
    Minimum()(candidates, ALL)[0, 0].backward()
    assert candidates.grad[0, 0].tolist() == [1.0, 0.0, 0.0]


def test_its_gradient_is_right():
    candidates = CANDIDATES.clone().requires_grad_()
    count = torch.tensor([[3, 2]])
    assert gradcheck(lambda x: SoftMinimum(3, sharpness=1.7)(x, count), (candidates,))


def test_it_does_not_depend_on_the_unit():
    soft = SoftMinimum(3)
    want = soft(CANDIDATES, ALL)
    for unit in (1e-200, 1e-8, 1e8, 1e200):
        torch.testing.assert_close(soft(unit * CANDIDATES, ALL), unit * want, rtol=1e-9, atol=0)


def test_it_is_the_sharper_the_closer_to_the_minimum():
    found = [SoftMinimum(3, a)(CANDIDATES, ALL)[0, 0].item() for a in (0.01, 1.0, 4.0, 40.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(2.0, rel=0.01) and found[-1] == pytest.approx(1.0, rel=1e-9)


def test_one_candidate_is_the_minimum():
    candidates, count = CANDIDATES[..., :1], torch.tensor([[1, 1]])
    assert torch.equal(SoftMinimum(1)(candidates, count), Minimum()(candidates, count))


def test_a_perfect_match_wins_and_has_a_finite_gradient():
    candidates = torch.tensor([[[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]]], requires_grad=True)
    found = SoftMinimum(3)(candidates, ALL)
    assert found.tolist() == [[0.0, 0.0]]
    found.sum().backward()
    assert torch.isfinite(candidates.grad).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_best": 0}, "n_best must be at least 1; got 0"),
        ({"sharpness": 0.0}, "sharpness must be a positive number; got 0.0"),
        ({"sharpness": float("inf")}, "sharpness must be a positive number; got inf"),
        ({"sharpness": float("nan")}, "sharpness must be a positive number; got nan"),
    ],
)
def test_settings_that_cannot_be_right(settings, message):
    with pytest.raises(ValueError, match=message):
        SoftMinimum(**settings)


def test_repr():
    assert repr(SoftMinimum(3, sharpness=2.5)) == "SoftMinimum(n_best=3, sharpness=2.5)"


# In the transform

WAYS = [("regular", "auto"), ("irregular", "auto"), ("ragged", "auto"), ("regular", "generic")]
ways = pytest.mark.parametrize(("kind", "backend"), [*WAYS, ("irregular", "generic")])


@ways
def test_the_transform_combines_what_the_search_finds(kind, backend):
    rng = np.random.default_rng(0)
    paths = interpolate(SERIES[kind](rng)[:4])
    soft = SoftMinimum(3, sharpness=2.0)
    transform = make_transform(
        rng, n_shapelets=3, level_free="mixed", backend=backend, minimum=soft
    )
    matches = transform(paths)
    found = offsets_of(transform, paths, 3)
    candidates = evaluated(transform, paths, found, backend)
    want = soft(candidates, torch.from_numpy(found.count))
    torch.testing.assert_close(matches.discrepancy, want, rtol=1e-12, atol=0)
    # The start is that of the least.
    best = candidates.argmin(dim=-1).numpy()
    start = np.take_along_axis(found.start, best[..., None], axis=-1)[..., 0]
    np.testing.assert_allclose(matches.start, start + paths.origin[:, None], rtol=1e-15)


@ways
def test_it_is_not_below_the_minimum(kind, backend):
    rng = np.random.default_rng(1)
    paths = interpolate(SERIES[kind](rng)[:4])
    transform = make_transform(rng, n_shapelets=3, backend=backend)
    least = transform(paths).discrepancy
    one = reconfigured(transform, minimum=SoftMinimum(1))(paths).discrepancy
    soft = reconfigured(transform, minimum=SoftMinimum(4))(paths).discrepancy
    sharp = reconfigured(transform, minimum=SoftMinimum(4, sharpness=1e4))(paths).discrepancy
    assert torch.equal(one, least)
    # More candidates may find a better one.
    assert (sharp <= least * (1 + 1e-3)).all() and (soft > least * (1 + 1e-6)).any()


@pytest.mark.parametrize("backend", ["auto", "generic"])
def test_gradients_through_all_candidates(backend):
    rng = np.random.default_rng(2)
    paths = interpolate(regular(rng, n_series=2, n_times=(12, 15)))
    transform = make_transform(
        rng, n_shapelets=2, lengths=[0.9, 1.7], backend=backend, minimum=SoftMinimum(2)
    )
    names, parameters = zip(*transform.named_parameters(), strict=True)
    inputs = [p.detach().clone().requires_grad_() for p in parameters]

    def discrepancy(*values):
        given = dict(zip(names, values, strict=True))
        return functional_call(transform, given, (paths,)).discrepancy

    assert gradcheck(discrepancy, inputs, atol=1e-6)


def test_two_matches_worked_by_hand():
    # Bumps of heights 2 and 3 beside a shapelet of height 1: distances h sqrt(2/3) for h = 1, 2.
    series = np.zeros((1, 1, 20))
    series[0, 0, [5, 14]] = [2.0, 3.0]
    series[0, 0, [0, 1, 9, 10, 18, 19]] = 9.0  # nothing else fits
    transform = GeneralisedShapeletTransform.from_shapelets(
        [[[0.0, 1.0, 0.0]]], [2.0], minimum=SoftMinimum(2, sharpness=1.0)
    )
    paths = interpolate(RaggedSeries.from_arrays(series))
    found = evaluated(transform, paths, offsets_of(transform, paths, 2)).detach()[0, 0]
    p, q = found.tolist()
    assert p == pytest.approx(np.sqrt(2 / 3), rel=1e-6)
    assert transform(paths).discrepancy.item() == pytest.approx(2 / (1 / p + 1 / q), rel=1e-6)


def test_copies_keep_the_minimum():
    rng = np.random.default_rng(3)
    series, transform = irregular(rng), make_transform(rng, minimum=SoftMinimum(3, 2.0))
    want = transform(series).discrepancy
    for twin in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        assert torch.equal(twin(series).discrepancy, want)


def test_training_with_a_soft_minimum():
    rng = np.random.default_rng(4)
    paths = interpolate(regular(rng, n_series=6))
    transform = make_transform(rng, n_shapelets=2, minimum=SoftMinimum(3))
    optimiser = torch.optim.Adam(transform.parameters(), lr=0.05)
    losses = []
    for _ in range(15):
        optimiser.zero_grad()
        loss = transform(paths).discrepancy.sum()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]


# Over all offsets


def learning_shapelets(series, shapelets, alpha, upstream):
    """Grabocka et al. (2014), equations 6, 10 and 11 loop by loop: soft minima and their gradients."""
    soft = np.zeros((len(series), len(shapelets)))
    gradient = np.zeros_like(shapelets)
    for i, x in enumerate(series):
        for k, w in enumerate(shapelets):
            size = len(w)
            pieces = [x[j : j + size] for j in range(len(x) - size + 1)]
            distances = np.array([((piece - w) ** 2).mean() for piece in pieces])
            weights = np.exp(alpha * distances)
            soft[i, k] = (distances * weights).sum() / weights.sum()
            for piece, distance, weight in zip(pieces, distances, weights, strict=True):
                share = weight * (1 + alpha * (distance - soft[i, k])) / weights.sum()
                gradient[k] += upstream[i, k] * share * 2 / size * (w - piece)
    return soft, gradient


@pytest.mark.parametrize("alpha", [-100.0, -2.0])
def test_softmin_is_that_of_learning_shapelets(alpha):
    rng = np.random.default_rng(5)
    series = [rng.normal(size=size).cumsum() / 4 for size in (20, 12, 31, 6)]
    values, upstream = rng.normal(size=(3, 1, 6)), rng.normal(size=(4, 3))
    transform = GeneralisedShapeletTransform.from_shapelets(
        values, discrepancy=ClassicalDiscrepancy(mean=True), minimum=Softmin(alpha)
    )
    found = transform([x[None] for x in series]).discrepancy
    soft, gradient = learning_shapelets(series, values[:, 0], alpha, upstream)
    np.testing.assert_allclose(found.detach(), soft, rtol=1e-10)
    (found * torch.from_numpy(upstream)).sum().backward()
    np.testing.assert_allclose(transform.shapelets.values.grad[:, 0], gradient, rtol=1e-8)


@pytest.mark.parametrize("kind", ["regular", "irregular", "ragged", "odd"])
def test_all_offsets_are_those_of_the_grid(kind):
    rng = np.random.default_rng(6)
    paths = interpolate(SERIES[kind](rng))
    transform = make_transform(rng, n_shapelets=3)
    lengths = transform.shapelets.lengths.detach().double()
    found = offsets_of(transform, paths, None)
    assert found.start.shape[2] == found.count.max() and found.backend == "grid"
    for i in range(len(paths)):
        tried, moves = generic_grid(
            int(paths.lengths[i]), float(paths.step[i]), (paths.spans[i] - lengths).clamp(min=0)
        )
        for k in range(3):
            start, slope, n = found.start[i, k], found.slope[i, k], found.count[i, k]
            np.testing.assert_allclose(
                start[:n], naive_grid(paths, i, lengths[k].item()), atol=1e-14
            )
            assert (start[n:] == start[0]).all() and (slope[n:] == slope[0]).all()
            np.testing.assert_array_equal(start[:n], tried[:n, k])
            np.testing.assert_array_equal(slope[:n], moves[:n, k])


def test_all_offsets_of_a_discrepancy_that_counts_samples():
    series = RaggedSeries.from_arrays(
        [np.zeros((1, 6)), np.zeros((1, 3))], [np.arange(6) / 2, np.arange(3) / 2]
    )
    transform = GeneralisedShapeletTransform.from_shapelets(
        np.zeros((2, 1, 4)), discrepancy=ClassicalDiscrepancy()
    )
    found = offsets_of(transform, interpolate(series), None)
    assert found.start.tolist() == [[[0.0, 0.5, 1.0]] * 2, [[0.0, 0.0, 0.0]] * 2]
    assert found.count.tolist() == [[3, 3], [1, 1]]


@pytest.mark.parametrize("backend", ["auto", "generic"])
@pytest.mark.parametrize("kind", ["regular", "irregular"])
def test_gradients_of_softmin(kind, backend):
    rng = np.random.default_rng(7)
    paths = interpolate(SERIES[kind](rng, n_series=2, n_times=(6, 9)))
    transform = make_transform(
        rng, n_shapelets=2, lengths=[0.9, 1.7], backend=backend, minimum=Softmin(-3.0)
    )
    names, parameters = zip(*transform.named_parameters(), strict=True)
    inputs = [p.detach().clone().requires_grad_() for p in parameters]

    def discrepancy(*values):
        given = dict(zip(names, values, strict=True))
        return functional_call(transform, given, (paths,)).discrepancy

    assert gradcheck(discrepancy, inputs, atol=1e-6)


@pytest.mark.parametrize("backend", ["auto", "generic"])
@pytest.mark.parametrize("classical", [False, True])
def test_softmin_in_small_parts_is_that_at_once(classical, backend, monkeypatch):
    rng = np.random.default_rng(8)
    paths = interpolate(regular(rng))
    transform = make_transform(rng, n_shapelets=3, backend=backend, minimum=Softmin(-3.0))
    if classical:
        transform.discrepancy = ClassicalDiscrepancy()

    def results():
        matches = transform(paths)
        wanted = [p for n, p in transform.named_parameters() if not (classical and "len" in n)]
        return matches, torch.autograd.grad(matches.discrepancy.square().sum(), wanted)

    want, gradients = results()
    # Two series at a time, a few of their offsets at a time.
    monkeypatch.setattr(genshapelets.transform, "MAX_CANDIDATES", 2 * 3 * int(paths.lengths.max()))
    monkeypatch.setattr(genshapelets.evaluation.generic, "MAX_ELEMENTS", 1000)
    got, again = results()
    torch.testing.assert_close(got.discrepancy, want.discrepancy, rtol=1e-13, atol=0)
    assert torch.equal(got.start, want.start) and got.backend == want.backend == "grid"
    for one, other in zip(again, gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_softmin_between_the_least_and_the_mean():
    assert Softmin(-1e6)(CANDIDATES, ALL)[0].tolist() == [1.0, 5.0]
    assert Softmin(-1e-9)(CANDIDATES, ALL)[0, 0].item() == pytest.approx(2.0)
    # No exponential over- or underflows: only differences count.
    far = Softmin(-100.0)(CANDIDATES + 1e6, ALL)
    assert far[0, 0].item() == pytest.approx(1e6 + 1.0, rel=1e-15)


def test_softmin_has_no_finer_search():
    rng = np.random.default_rng(9)
    transform = make_transform(rng, minimum=Softmin(), search="refined")
    with pytest.raises(
        ValueError, match="those of the grid: use search='auto' or 'grid'; got 'refi"
    ):
        transform(regular(rng))


@pytest.mark.parametrize("alpha", [0.0, 1.0, -float("inf"), float("nan")])
def test_alpha_is_negative(alpha):
    with pytest.raises(ValueError, match="alpha must be a negative number; got"):
        Softmin(alpha)


@pytest.mark.parametrize("minimum", [Minimum(), SoftMinimum(3, sharpness=2.5), Softmin(-7.0)])
def test_a_minimum_can_be_made_again(minimum):
    twin = Minimum.from_config(type(minimum).__name__, minimum.config())
    assert type(twin) is type(minimum) and vars(twin).keys() == vars(minimum).keys()
    assert torch.equal(twin(CANDIDATES, ALL), minimum(CANDIDATES, ALL))
    assert repr(twin) == repr(minimum)


def test_a_minimum_that_is_not_known():
    with pytest.raises(
        ValueError, match="the minimum 'least' is not known here; known are Minimum, SoftMin"
    ):
        Minimum.from_config("least", {})


# The procedure of 2014


@pytest.fixture(scope="module")
def learnt():
    rng = np.random.default_rng(0)
    X, y = rng.normal(scale=0.3, size=(30, 1, 40)), np.arange(30) % 3
    for n, at in enumerate(rng.integers(0, 32, 30)):
        X[n, 0, at : at + 8] += np.array([0.0, 1.5, -1.5])[y[n]]
    settings = {"n_shapelets": 6, "max_epochs": 40, "random_state": 0}
    return ShapeletClassifier(procedure="learning_shapelets", **settings).fit(X, y), X, y


def test_learning_shapelets_is_one_setting(learnt):
    model, X, y = learnt
    transform = model.model_.transform
    assert isinstance(transform.minimum, Softmin) and transform.minimum.alpha == -100.0
    assert model.score(X, y) == 1.0
    # 0.2 of 39 steps is 8: 9 samples.
    assert transform.shapelets.values.shape == (6, 1, 9)
    series = ((X - X.mean()) / X.std())[:, 0]
    shapelets = transform.shapelets.values[:, 0].double().numpy()
    soft, _ = learning_shapelets(series, shapelets, -100.0, np.zeros((30, 6)))
    np.testing.assert_allclose(model.transform(X), soft, rtol=1e-4, atol=1e-6)
    weight, bias = model.model_.linear()
    np.testing.assert_allclose(
        model.decision_function(X), soft @ weight.numpy().T + bias.numpy(), rtol=1e-3, atol=1e-3
    )


def test_it_starts_from_segments(learnt):
    _, X, y = learnt
    model = ShapeletClassifier(
        procedure="learning_shapelets", n_shapelets=4, learn="head", max_epochs=1, random_state=0
    ).fit(X, y)
    assert model.shapelets_.min() < -1.0 and model.shapelets_.max() > 1.0


def test_the_ridge_keeps_weights_small(learnt, monkeypatch):
    _, X, y = learnt
    usual = PROCEDURES["learning_shapelets"]
    size = {}
    for ridge in (0.0, 1.0, 100.0):
        changed = replace(usual, plan=replace(usual.plan, ridge=ridge))
        monkeypatch.setitem(PROCEDURES, "learning_shapelets", changed)
        model = ShapeletClassifier(
            procedure="learning_shapelets", n_shapelets=4, max_epochs=30, random_state=0
        ).fit(X, y)
        size[ridge] = float(model.model_.head.weight.norm())
        assert (model.history_["regularisation"][-1] > 0) == (ridge > 0)
    assert size[0.0] > size[1.0] > size[100.0]


def test_it_is_saved_and_explained_without_logarithms(learnt, tmp_path):
    model, X, y = learnt
    model.save(tmp_path / "model")
    twin = load(tmp_path / "model")
    assert not twin.model_.log and isinstance(twin.model_.transform.minimum, Softmin)
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    explanation = twin.explain(X)
    np.testing.assert_allclose(explanation.matches.features, explanation.matches.discrepancy)
    # What would have to be true, put into the head, is.
    turns = 0
    for series in range(6):
        for k in range(6):
            found = explanation.what_if(series, k)
            for turn in filter(None, (found.closer, found.further)):
                discrepancy = torch.from_numpy(explanation.matches.discrepancy[[series]])
                beyond = 1 + 1e-6 * np.sign(turn.discrepancy - found.discrepancy)
                discrepancy[0, k] = turn.discrepancy * beyond
                answer = twin.model_.outputs(discrepancy).argmax().item()
                assert twin.classes_[answer] == turn.predicted
                turns += 1
    assert turns > 0
    assert model.report(tmp_path / "page.html", X, y).exists()


@pytest.mark.parametrize("minimum", ["soft", "softmin", SoftMinimum(2, 3.0), Softmin(-5.0)])
def test_estimators_take_a_minimum_by_name_or_object(minimum, tmp_path, learnt):
    _, X, y = learnt
    model = ShapeletClassifier(n_shapelets=3, max_epochs=2, minimum=minimum, random_state=0)
    model.fit(X, y).save(tmp_path / "model")
    twin = load(tmp_path / "model")
    want = MINIMA[minimum]() if isinstance(minimum, str) else minimum
    for one in (model, twin):
        assert repr(one.model_.transform.minimum) == repr(want)
        assert repr(one.minimum) == repr(minimum)
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


def test_products_with_all_windows_are_sums_of_squares():
    rng = np.random.default_rng(10)
    paths = interpolate(
        RaggedSeries.from_arrays([rng.normal(7.0, 2.0, (2, n)) for n in (20, 4, 13)])
    )
    for mean in (False, True):
        transform = GeneralisedShapeletTransform.from_shapelets(
            rng.normal(7.0, 2.0, (3, 2, 5)), discrepancy=ClassicalDiscrepancy(mean)
        )
        every = offsets_of(transform, paths, None)
        # One offset at a time, differences are taken.
        single = [
            every._replace(start=every.start[..., [j]], slope=every.slope[..., [j]])
            for j in range(every.start.shape[2])
        ]
        want = torch.cat([evaluated(transform, paths, one) for one in single], dim=2)
        torch.testing.assert_close(evaluated(transform, paths, every), want, rtol=1e-12, atol=1e-13)
