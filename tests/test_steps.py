"""Training steps without autograd agree with those of torch."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from genshapelets import GeneralisedShapeletTransform, L2Discrepancy, RaggedSeries, interpolate
from genshapelets.model import ShapeletModel
from genshapelets.objective import (
    classification_loss,
    interpretable_regularisation,
    regression_loss,
)
from genshapelets.steps import Adam, is_linear_step, linear_step

N_SERIES, N_SHAPELETS, N_CHANNELS = 9, 5, 2


def make_model(n_outputs, metric="diagonal", per_length=False, each=False, head=None, seed=0):
    torch.manual_seed(seed)
    level_free = [k % 2 == 1 for k in range(N_SHAPELETS)]
    own = N_SHAPELETS if each else None
    discrepancy = L2Discrepancy(N_CHANNELS, metric, n_shapelets=own, level_free=level_free)
    transform = GeneralisedShapeletTransform.from_shapelets(
        torch.randn(N_SHAPELETS, N_CHANNELS, 6, dtype=torch.float64),
        torch.tensor([1.5, 2.0, 3.3, 5.0, 8.0]),
        discrepancy=discrepancy,
        max_length=8.0,
    )
    head = head or nn.Linear(N_SHAPELETS, n_outputs)
    model = ShapeletModel(
        transform, head, np.zeros(N_CHANNELS), np.ones(N_CHANNELS), per_length=per_length
    ).double()
    with torch.no_grad():
        model.feature_mean.normal_()
        model.feature_scale.uniform_(0.5, 2.0)
        transform.shapelets.raw_lengths[2] *= -1  # lengths of both signs, and one at its bound
    return model


def make_paths(irregular=False):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N_SERIES, N_CHANNELS, 20)).cumsum(axis=2)
    times = np.sort(rng.uniform(0, 19, (N_SERIES, 20)), axis=1) if irregular else None
    return interpolate(RaggedSeries.from_arrays(x, times))


def by_autograd(model, paths, target, weight, loss, gamma, keep):
    output, matches = model(paths, keep)
    value = loss(output, target, weight)
    regularisation = interpretable_regularisation(matches.discrepancy, gamma)
    model.zero_grad()
    (value + regularisation).backward()
    found = value.item(), regularisation.item(), output.detach(), matches.discrepancy.detach()
    return found, gradients(model)


def gradients(model):
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


LOSSES = {
    "two classes": (1, partial(classification_loss, smoothing=0.1)),
    "classes": (4, partial(classification_loss, smoothing=0.05)),
    "classes, unsmoothed": (3, partial(classification_loss, smoothing=0.0)),
    "numbers": (1, regression_loss),
}


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("per_length", [False, True])
@pytest.mark.parametrize("dropout", [False, True])
def test_a_linear_step_is_what_autograd_makes_of_the_model(kind, per_length, dropout):
    n_outputs, loss = LOSSES[kind]
    model, paths = make_model(n_outputs, per_length=per_length), make_paths()
    assert is_linear_step(model, loss)
    compare(model, paths, loss, n_outputs, dropout)


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("irregular", [False, True])
def test_a_linear_step_with_every_metric(metric, each, irregular):
    n_outputs, loss = LOSSES["classes"]
    compare(
        make_model(n_outputs, metric, each=each),
        make_paths(irregular),
        loss,
        n_outputs,
        dropout=True,
    )


def compare(model, paths, loss, n_outputs, dropout):
    generator = torch.Generator().manual_seed(2)
    target = torch.arange(N_SERIES) % max(n_outputs, 2)
    if loss is regression_loss:
        target = torch.randn(N_SERIES, generator=generator, dtype=torch.float64)
    weight = torch.rand(N_SERIES, generator=generator, dtype=torch.float64)
    keep = None
    if dropout:
        keep = 2.0 * (torch.rand(N_SERIES, N_SHAPELETS, generator=generator) > 0.5).double()
    arguments = (model, paths, target, weight, loss, 0.3, keep)
    want, want_gradients = by_autograd(*arguments)
    model.zero_grad()
    got = linear_step(*arguments)
    assert got[:2] == pytest.approx(want[:2], rel=1e-12)
    torch.testing.assert_close(got[2], want[2], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(got[3], want[3], rtol=1e-12, atol=0)
    assert gradients(model).keys() == want_gradients.keys()
    for name, gradient in want_gradients.items():
        assert gradient.abs().max() > 0, name
        torch.testing.assert_close(gradients(model)[name], gradient, rtol=1e-9, atol=1e-12)


def test_a_perfect_match_has_a_finite_gradient():
    n_outputs, loss = LOSSES["classes"]
    rng = np.random.default_rng(4)
    x = rng.normal(size=(N_SERIES, N_CHANNELS, 20))
    x[0] = 0.0
    model, paths = make_model(n_outputs), interpolate(RaggedSeries.from_arrays(x))
    with torch.no_grad():
        model.transform.shapelets.values[2] = 0.0
    target, weight = torch.arange(N_SERIES) % 4, torch.ones(N_SERIES)
    *_, discrepancy = linear_step(model, paths, target, weight, loss, 1e-4, None)
    assert discrepancy[0, 2].item() == 0.0
    assert all(torch.isfinite(gradient).all() for gradient in gradients(model).values())


def test_what_is_not_linear_is_left_to_autograd():
    loss = LOSSES["classes"][1]

    class Odd(nn.Linear):
        def forward(self, x):
            return super().forward(x).square()

    assert not is_linear_step(make_model(4, head=Odd(N_SHAPELETS, 4)), loss)
    assert not is_linear_step(make_model(4, head=nn.Linear(N_SHAPELETS, 4, bias=False)), loss)
    assert not is_linear_step(make_model(4), lambda output, target, weight: output.sum())
    assert is_linear_step(make_model(4), loss)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_updates_are_the_steps_of_torch(dtype):
    torch.manual_seed(3)
    ours = [nn.Parameter(torch.randn(3, 4, dtype=dtype)), nn.Parameter(torch.randn(5, dtype=dtype))]
    theirs = [nn.Parameter(parameter.detach().clone()) for parameter in ours]

    def groups(parameters):
        return [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.3}]

    adam, twin = Adam(groups(ours), lr=0.1), torch.optim.Adam(groups(theirs), lr=0.1)
    for step in range(20):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad = torch.randn_like(mine)
            other.grad = mine.grad.clone()
        if step == 5:  # a parameter that the loss does not reach
            ours[1].grad = theirs[1].grad = None
        adam.update()
        twin.step()
        if step == 10:  # as after a checkpoint
            adam.load_state_dict(adam.state_dict())
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=tolerance, atol=tolerance)
        for slot, value in twin.state[other].items():
            torch.testing.assert_close(
                adam.state[mine][slot], value, rtol=tolerance, atol=tolerance
            )
