"""What holds for every family of shapelets, ours or a user's."""

from functools import partial

import numpy as np
import pytest
import torch
from problems import irregular, regular
from torch import nn
from torch.autograd import gradcheck

from genshapelets import (
    BasisShapelets,
    GeneralisedShapeletTransform,
    L2Discrepancy,
    NetworkShapelets,
    ShapeletClassifier,
    ShapeletFamily,
    Shapelets,
    ShapeletTransformer,
    interpolate,
    load,
)
from genshapelets.shapelets import FAMILIES, as_tensor


class Steps(ShapeletFamily):
    """A user's family: constant, and a jump of a learnt height in the middle."""

    def __init__(self, values, lengths, max_length=None, *, sharpness=8.0):
        values = as_tensor(values, "values").detach()
        super().__init__(values, lengths, max_length)
        self.sharpness = sharpness
        self.before = nn.Parameter(values[..., :1].clone())
        self.after = nn.Parameter(values[..., -1:].clone())

    @property
    def values(self):
        u = torch.linspace(-1, 1, self.n_knots).to(self.before)
        return torch.lerp(self.before, self.after, torch.sigmoid(self.sharpness * u))


KINDS = FAMILIES | {"own": Steps}
every_family = pytest.mark.parametrize("family", KINDS)


def smooth(n_shapelets=3, n_channels=2, n_knots=20):
    """Values of smooth functions, which every family can draw."""
    u = torch.linspace(0, 1, n_knots, dtype=torch.float64)
    phase = torch.arange(n_shapelets * n_channels, dtype=u.dtype).reshape(
        n_shapelets, n_channels, 1
    )
    return torch.sin(2.0 * u + phase) + 0.3 * phase


def made(family, **settings):
    return KINDS[family](smooth(), [1.0, 2.0, 3.5], max_length=6.0, **settings)


@every_family
def test_it_starts_near_the_given_values(family):
    shapelets = made(family)
    assert shapelets.values.shape == (3, 2, 20)
    far = (shapelets.values - smooth()).abs().max()
    assert far <= {"knots": 0.0, "own": 1.0, "network": 0.05, "fourier": 0.05}.get(family, 1e-2)
    torch.testing.assert_close(shapelets.lengths, torch.tensor([1.0, 2.0, 3.5]).double())
    assert (shapelets.n_shapelets, shapelets.n_channels, shapelets.n_knots) == (3, 2, 20)


@every_family
def test_its_config_and_tensors_make_it_again(family):
    one = made(family)
    with torch.no_grad():
        for parameter in one.of_values():
            parameter += 0.1 * torch.randn_like(parameter)
    twin = type(one)(torch.zeros(3, 2, 20).double(), 6.0, 6.0, **one.config())
    twin.load_state_dict(one.state_dict())
    assert torch.equal(twin.values, one.values) and torch.equal(twin.lengths, one.lengths)
    assert repr(twin) == repr(one) and type(one).__name__ in repr(one)


@every_family
@pytest.mark.parametrize("maker", [regular, irregular])
def test_all_its_parameters_are_learnt(family, maker):
    """Gradients of the transform in each parameter, at the offsets that the search found."""
    transform = GeneralisedShapeletTransform(made(family), L2Discrepancy(2).double(), search="grid")
    paths = interpolate(maker(np.random.default_rng(0), n_series=3, n_times=(12, 16)))
    names, parameters = zip(*transform.shapelets.named_parameters())

    def found(*values):
        own = {f"shapelets.{name}": value for name, value in zip(names, values)}
        return torch.func.functional_call(transform, own, (paths,)).discrepancy

    inputs = [parameter.detach().clone().requires_grad_() for parameter in parameters]
    assert gradcheck(found, inputs, eps=1e-7, atol=1e-5, rtol=1e-4)


@every_family
def test_it_is_trained_saved_and_explained(family, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(scale=0.1, size=(20, 1, 30))
    X[10:, 0, 12:18] += 1.0
    y = np.repeat(["flat", "bump"], 10)
    given = family if family in FAMILIES else KINDS[family]
    model = ShapeletClassifier(n_shapelets=4, max_epochs=30, shapelets=given, random_state=0)
    model.fit(X, y)
    assert model.score(X, y) >= 0.9
    start = ShapeletTransformer(n_shapelets=4, shapelets=given, random_state=0).fit(X).shapelets_
    assert (np.abs(model.shapelets_ - start) > 1e-4).any()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.shapelets_, model.shapelets_)
    assert type(again.model_.transform.shapelets) is type(model.model_.transform.shapelets)
    assert model.explain(X[:2]).contributions().shape[-1] == 4


def test_by_object(tmp_path):
    X = np.random.default_rng(0).normal(size=(8, 2, 25))
    few = partial(BasisShapelets, basis="legendre", n_functions=3)
    model = ShapeletTransformer(n_shapelets=2, shapelets=few, random_state=0).fit(X)
    assert model.model_.transform.shapelets.coefficients.shape == (2, 2, 3)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.shapelets.func is BasisShapelets and again.shapelets.keywords == few.keywords


def test_straight_lines_and_constants_are_in_every_basis():
    for basis in ("bspline", "legendre"):
        line = BasisShapelets([[[0.0, 1.0, 2.0, 3.0, 4.0]]], 1.0, basis=basis, n_functions=2)
        np.testing.assert_allclose(line.values.detach(), [[[0, 1, 2, 3, 4]]], atol=1e-6)
    for basis in ("bspline", "legendre", "fourier"):
        flat = BasisShapelets([[[2.0] * 5]], 1.0, basis=basis, n_functions=1)
        np.testing.assert_allclose(flat.values.detach(), [[[2.0] * 5]], atol=1e-6)


def test_as_many_functions_as_knots_draw_anything():
    values = torch.randn(2, 3, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for basis in ("bspline", "legendre", "fourier"):
        shapelets = BasisShapelets(values, 1.0, basis=basis, n_functions=7)
        torch.testing.assert_close(shapelets.values, values, rtol=0, atol=1e-9)


def test_bsplines_are_those_of_scipy():
    from scipy.interpolate import make_lsq_spline

    values = smooth(1, 1, 30)
    u, knots = np.linspace(0, 1, 30), np.concatenate([[0] * 4, np.linspace(0, 1, 6)[1:-1], [1] * 4])
    want = make_lsq_spline(u, values[0, 0].numpy(), knots)(u)
    got = BasisShapelets(values, 1.0, basis="bspline", n_functions=8).values
    np.testing.assert_allclose(got[0, 0].detach(), want, atol=1e-10)


def test_a_network_answers_between_the_knots():
    network = NetworkShapelets(smooth(), 1.0)
    between = network(torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64))
    torch.testing.assert_close(between[..., [0, -1]], network.values[..., [0, -1]])


BAD = [
    (partial(BasisShapelets, basis="wavelet"), "basis must be one of bspline, fourier, legendre"),
    (partial(BasisShapelets, n_functions=0), "n_functions must be from 1 to .* 20; got 0"),
    (partial(BasisShapelets, n_functions=21), "n_functions must be from 1 to .* 20; got 21"),
    (partial(NetworkShapelets, width=0), "width must be at least 1; got 0"),
]


@pytest.mark.parametrize(("family", "message"), BAD)
def test_settings_that_cannot_be(family, message):
    with pytest.raises(ValueError, match=message):
        family(smooth(), 1.0)


@pytest.mark.parametrize("given", ["wavelets", 3, None])
def test_a_family_that_is_none(given):
    with pytest.raises(ValueError, match=r"'shapelets' parameter .* one of 'knots', 'bspline'"):
        ShapeletTransformer(shapelets=given).fit(np.zeros((2, 1, 9)))


def test_what_makes_no_shapelets():
    with pytest.raises(TypeError, match="must make shapelets"):
        ShapeletTransformer(shapelets=lambda *given: 3, n_shapelets=2).fit(np.eye(9)[:3, None])


def test_a_name_of_the_package_is_taken():
    with pytest.raises(TypeError, match="there is a Shapelets in genshapelets"):
        type("Shapelets", (Steps,), {"__module__": "elsewhere"})
    assert ShapeletFamily.named("Shapelets") is Shapelets
