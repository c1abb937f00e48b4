"""From the best candidates to one number: the least, or a soft one."""

import copy
import pickle

import numpy as np
import pytest
import torch
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

from genshapelets import GeneralisedShapeletTransform, RaggedSeries, interpolate
from genshapelets.minimum import Minimum, SoftMinimum

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
