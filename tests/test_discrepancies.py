"""What holds for every discrepancy, ours or a user's; and that fast ways give what the formula gives."""

import copy
import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import grid
from pairwise import pairwise
from problems import (
    LEVELS,
    METRICS,
    distances_at,
    evaluated,
    irregular,
    make_transform,
    odd,
    offsets_at,
    offsets_of,
    ragged,
    regular,
)
from torch import nn
from torch.autograd import gradcheck

from genshapelets import (
    ClassicalDiscrepancy,
    Discrepancy,
    DTWDiscrepancy,
    GeneralisedShapeletTransform,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MFCDiscrepancy,
    MixedDiscrepancy,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    evaluation,
    interpolate,
    load,
    search,
)
from genshapelets.discrepancies import safe_sqrt
from genshapelets.evaluation import evaluate
from genshapelets.explain import find_matches
from genshapelets.offsets import Offsets
from genshapelets.windows import PaddedPaths, lay

DOCS = Path(__file__).resolve().parents[1] / "docs"
sys.path.append(str(DOCS))
from own_discrepancy import Sobolev, waves  # noqa: E402

N_SHAPELETS, N_CHANNELS, N_KNOTS = 3, 2, 4


class LargestAtKnots(Discrepancy):
    """A user's discrepancy in its shortest form: largest difference at a knot, a learnt scale."""

    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = scale
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def forward(self, times, path, shapelet):
        return self.log_scale.exp() * (path - shapelet).abs().amax(dim=(-2, -1))


class Mapped(Discrepancy):
    """A user's discrepancy with a module inside: the integral of a learnt map of the channels."""

    def __init__(self, n_channels):
        super().__init__()
        self.n_channels = n_channels
        self.map = nn.Linear(n_channels, 3, bias=False)
        with torch.no_grad():
            self.map.weight.copy_(torch.linspace(0.4, 1.3, 3 * n_channels).reshape(3, n_channels))

    def forward(self, times, path, shapelet):
        r = self.map(path - shapelet)
        p, q, width = r[..., :-1, :], r[..., 1:, :], times.diff(dim=-1)[..., None]
        return safe_sqrt((width * (p * p + p * q + q * q)).sum(dim=(-2, -1)) / 3)


def own(each):
    return N_SHAPELETS if each else None


def with_random_metric(discrepancy):
    if discrepancy.weight is not None:
        torch.manual_seed(0)
        discrepancy.weight.data += 0.4 * torch.randn_like(discrepancy.weight)
    return discrepancy


def l2(metric, each=False, **flags):
    return lambda n_channels: with_random_metric(
        L2Discrepancy(n_channels, metric, n_shapelets=own(each), **flags)
    )


def dtw(metric, each=False, **settings):
    return lambda n_channels: with_random_metric(
        DTWDiscrepancy(n_channels, metric, n_shapelets=own(each), **settings)
    )


def mfc(metric, each=False, step=1.0):
    """An MFC discrepancy of tiny frames; 0.4 is the step of `regular` series."""
    return lambda n_channels: with_random_metric(
        MFCDiscrepancy(
            1.0, metric, n_channels=n_channels, n_shapelets=own(each), step=step,
            window=3, hop=2, n_bins=4, n_mels=2, n_coefficients=2,
        )
    )  # fmt: skip


def log_signature(**settings):
    return lambda n_channels: with_random_metric(LogSignatureDiscrepancy(n_channels, **settings))


KINDS = {
    "l2_diagonal": l2("diagonal"),
    "l2_each_level_free": l2("diagonal", each=True, level_free=True),
    "l2_full_mixed": l2("full", level_free=[True, False, True]),
    "l2_scale_free": l2("diagonal", scale_free=True),
    "l2_full_scale_mixed": l2(
        "full", True, level_free=[True, False, False], scale_free=[False, False, True]
    ),
    "dtw_diagonal": dtw("diagonal"),
    "dtw_full_each": dtw("full", each=True, band=0.3, n_points=9),
    "log_signature": log_signature(),
    "log_signature_each_without_time": log_signature(
        depth=2, p=3, metric="full", include_time=False, n_shapelets=N_SHAPELETS
    ),
    "sobolev": lambda n_channels: Sobolev(0.5),
    "largest": lambda n_channels: LargestAtKnots(1.3),
    "mapped": Mapped,
    "mixed": lambda n_channels: MixedDiscrepancy(
        [l2("diagonal", level_free=True)(n_channels), Sobolev(0.5)], counts=[1, 2]
    ),
    "mfc": mfc("diagonal", step=0.4),
    "mfc_each_full": mfc("full", each=True, step=0.4),
    "mfc_coarser": mfc("none", step=1.0),
    "classical": lambda n_channels: ClassicalDiscrepancy(),
}
CONTINUOUS = [name for name in KINDS if name != "classical"]
every_kind = pytest.mark.parametrize("kind", KINDS)
continuous_kinds = pytest.mark.parametrize("kind", CONTINUOUS)
NO_TRIANGLE = {"dtw_diagonal", "dtw_full_each"}  # no pseudometrics: see tests/test_dtw.py


def make(kind, n_channels=N_CHANNELS):
    return KINDS[kind](n_channels).double()


def random_windows(seed=0, n_knots=7):
    """Times (5, shapelets, knots) and values with channels behind, of two functions."""
    generator = torch.Generator().manual_seed(seed)
    shape = (5, N_SHAPELETS, n_knots)
    steps = torch.rand(*shape, generator=generator, dtype=torch.float64)
    steps[..., 0] = 0.0
    values = torch.randn(2, *shape, N_CHANNELS, generator=generator, dtype=torch.float64)
    return steps.cumsum(dim=-1), *values


def transform_with(kind, seed=0, lengths=(2.3, 3.7, 5.1), **settings):
    rng = np.random.default_rng(seed)
    return GeneralisedShapeletTransform.from_shapelets(
        rng.normal(size=(N_SHAPELETS, N_CHANNELS, N_KNOTS)), lengths, discrepancy=make(kind),
        **settings,
    )  # fmt: skip


# The formula


@every_kind
def test_it_is_never_negative(kind):
    found = make(kind)(*random_windows())
    assert found.shape == (5, N_SHAPELETS) and (found > 0).all()


@every_kind
def test_it_vanishes_where_both_are_the_same(kind):
    times, path, _ = random_windows()
    assert torch.equal(make(kind)(times, path, path), torch.zeros(5, N_SHAPELETS))


@continuous_kinds
def test_a_knot_on_a_straight_line_changes_nothing(kind):
    """Also one that coincides with its neighbour: a piece of no width counts for nothing."""
    discrepancy, before = make(kind), random_windows()
    for share in (0.0, 0.3, 1.0):
        after = []
        for x in before:
            knot = torch.lerp(x[:, :, 2:3], x[:, :, 3:4], share)
            after.append(torch.cat([x[:, :, :3], knot, x[:, :, 3:]], dim=2))
        got, want = discrepancy(*after), discrepancy(*before)
        torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


@continuous_kinds
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**16), size=st.floats(-3.0, 3.0), n_knots=st.integers(2, 9))
def test_it_is_a_pseudometric(kind, seed, size, n_knots):
    """Identity gives 0, both ways are equal, no way around is shorter (but for time warping)."""
    times, f, g = random_windows(seed, n_knots)
    _, h, _ = random_windows(seed + 1, n_knots)
    f, g = f * 10**size, g * 10**size
    discrepancy = make(kind)
    assert (discrepancy(times, f, f) == 0).all()
    there = discrepancy(times, f, g)
    torch.testing.assert_close(there, discrepancy(times, g, f), rtol=1e-9, atol=1e-12)
    if kind not in NO_TRIANGLE:
        around = discrepancy(times, f, h) + discrepancy(times, h, g)
        assert (there <= around * (1 + 1e-9) + 1e-12).all()


@continuous_kinds
@pytest.mark.parametrize("irregularly", [False, True], ids=["regular", "irregular"])
def test_a_planted_pattern_is_found(kind, irregularly):
    """Where it is, with a discrepancy of 0, on knots of the path."""
    transform = transform_with(kind, lengths=(2.4, 2.4, 2.4), search="grid")
    rng = np.random.default_rng(8)
    n_times = 31
    times = 0.4 * np.arange(n_times) * np.ones((N_SHAPELETS, 1))
    values = rng.normal(scale=3.0, size=(N_SHAPELETS, N_CHANNELS, n_times))
    own = np.linspace(0.0, 2.4, N_KNOTS)
    for k, shapelet in enumerate(transform.shapelets.values.detach().numpy()):
        values[k, :, 9:16] = [np.interp(times[k, 9:16] - times[k, 9], own, row) for row in shapelet]
    if irregularly:  # two more observations, so that the path does not change and its grid is finer
        times = np.insert(times, [20, 25], [0.4 * 19.5, 0.4 * 24.3], axis=1)
        between = [
            np.interp(times[0], 0.4 * np.arange(n_times), row)
            for row in values.reshape(-1, n_times)
        ]
        values = np.reshape(between, (N_SHAPELETS, N_CHANNELS, -1))
        transform.search = "refined"
    matches = transform(RaggedSeries.from_arrays(values, times))
    # Sampled or not, a knot of a shapelet lies on a line of the path where knots and samples meet.
    own_match = torch.arange(N_SHAPELETS)
    assert (matches.discrepancy[own_match, own_match] < 1e-3).all()
    found = matches.start[own_match, own_match]
    torch.testing.assert_close(found, torch.full_like(found, 3.6), rtol=0, atol=1e-2)


@every_kind
def test_its_config_makes_it_again(kind):
    one = make(kind)
    twin = Discrepancy.from_config(type(one).__name__, one.config()).double()
    twin.load_state_dict(one.state_dict())
    windows = random_windows()
    assert type(twin) is type(one) and repr(twin) == repr(one)
    assert torch.equal(twin(*windows), one(*windows))


@every_kind
def test_what_explanations_ask_for(kind):
    discrepancy = make(kind)
    weights = discrepancy.channel_weights(N_CHANNELS)
    assert weights.shape in ((1, N_CHANNELS), (N_SHAPELETS, N_CHANNELS)) and (weights >= 0).all()
    no_level, no_scale = (
        ask(N_SHAPELETS) for ask in (discrepancy.ignores_level, discrepancy.ignores_scale)
    )
    assert no_level.shape == no_scale.shape == (N_SHAPELETS,) and (no_level | ~no_scale).all()
    times, path, shapelet = random_windows()
    drawn = discrepancy.drawn(times, path, shapelet)
    assert drawn.shape == shapelet.shape
    # As it is drawn, it is as far away.
    torch.testing.assert_close(discrepancy(times, path, drawn), discrepancy(times, path, shapelet))


# Series


def batch_of(irregularly):
    rng = np.random.default_rng(1)
    maker = irregular if irregularly else regular
    return interpolate(maker(rng, n_series=4, n_times=(12, 18)))


regularity = pytest.mark.parametrize("irregularly", [False, True], ids=["regular", "irregular"])


@every_kind
@regularity
def test_series_do_not_depend_on_one_another(kind, irregularly):
    """Permuting series permutes rows; a batch gives what the series give one by one."""
    if irregularly and kind == "classical":
        pytest.skip("counts samples")
    paths, transform = batch_of(irregularly), transform_with(kind)
    want = transform(paths)
    order = [2, 0, 3, 1]
    permuted = transform(paths[order])
    torch.testing.assert_close(permuted.discrepancy, want.discrepancy[order], rtol=1e-9, atol=1e-12)
    alone = torch.cat([transform(paths[[n]]).discrepancy for n in range(4)])
    torch.testing.assert_close(alone, want.discrepancy, rtol=1e-9, atol=1e-12)


def by_hand(discrepancy, paths, values, lengths):
    """The formula at every offset of the grid: least values and where, (series, shapelets)."""
    shape = len(paths), len(values)
    least, start = np.empty(shape), np.empty(shape)
    for n in range(len(paths)):
        padded = PaddedPaths.of(paths[[n]], values.device)
        for k in range(len(values)):
            tried = grid(paths, n, float(lengths[k]))
            offsets = torch.from_numpy(tried)[None, :, None].expand(-1, -1, len(values))
            found = discrepancy(*lay(padded, offsets, values, lengths))[0, :, k]
            best = int(found.argmin())
            least[n, k], start[n, k] = found[best], tried[best]
    return least, start


@continuous_kinds
@regularity
@torch.no_grad()
def test_the_search_is_brute_force(kind, irregularly):
    paths = batch_of(irregularly)
    for backend in ("auto", "generic"):
        transform = transform_with(kind, search="grid", backend=backend, lengths=(1.1, 3.7, 9.9))
        shapelets = transform.shapelets
        want = by_hand(transform.discrepancy, paths, shapelets.values, shapelets.lengths)
        matches = transform(paths)
        np.testing.assert_allclose(matches.discrepancy, want[0], rtol=1e-9)
        np.testing.assert_allclose(matches.start, want[1] + paths.origin[:, None], atol=1e-9)


@continuous_kinds
def test_refinement_goes_on_from_the_grid(kind):
    paths, transform = batch_of(irregularly=True), transform_with(kind, search="grid")
    on_grid = transform(paths).discrepancy
    transform.search = "refined"
    transform.backend = "generic"
    refined = transform(paths).discrepancy
    assert (refined <= on_grid * (1 + 1e-12)).all() and (refined < on_grid * (1 - 1e-6)).any()


@pytest.mark.parametrize("backend", ["auto", "generic"])
@every_kind
def test_it_works_in_float32(kind, backend):
    paths = batch_of(irregularly=backend == "generic" and kind != "classical")
    double = transform_with(kind, lengths=(2.25, 3.75, 5.125), backend=backend, search="grid")
    single = copy.deepcopy(double).float()
    double.load_state_dict(single.state_dict())
    got, want = single(paths).discrepancy, double(paths).discrepancy
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-6)
    got.sum().backward()
    assert all(p.grad.dtype == torch.float32 for p in single.parameters() if p.grad is not None)


# Gradients at fixed offsets


def gradient_problem(kind, irregularly):
    """Paths, values, lengths, starts and slopes; the starts are samples where paths are regular."""
    rng = np.random.default_rng(2)
    maker = irregular if irregularly else regular
    paths = interpolate(maker(rng, n_series=2, n_times=(9, 13)))
    values = torch.from_numpy(rng.normal(size=(N_SHAPELETS, N_CHANNELS, N_KNOTS)))
    lengths = torch.tensor([0.9, 1.7, 2.5], dtype=torch.float64)
    room = paths.spans[:, None, None] - lengths.numpy()[:, None]
    if irregularly:
        share = rng.uniform(0.1, 0.9, (2, N_SHAPELETS, 2))
        return paths, values, lengths, share * room, -share
    sample = rng.integers(0, 3, (2, N_SHAPELETS, 2))
    start, slope = sample * paths.step[:, None, None], np.zeros(sample.shape)
    if kind != "classical":  # the second candidate is the last possible start
        start[..., 1:], slope[..., 1:] = room, -1.0
    return paths, values, lengths, start, slope


@pytest.mark.parametrize(
    ("kind", "irregularly", "backend"),
    [row for row in pairwise(list(KINDS), [False, True], ["auto", "generic"])
     if row[:2] != ("classical", True)],
)  # fmt: skip
def test_gradients_at_fixed_offsets(kind, irregularly, backend):
    paths, values, lengths, start, slope = gradient_problem(kind, irregularly)
    discrepancy, before = make(kind), lengths.numpy().copy()

    def found(values, lengths, *parameters):  # which are the discrepancy's own
        moved = start + slope * (lengths.detach().numpy() - before)[:, None]
        return evaluate(discrepancy, paths, values, lengths, offsets_at(moved, slope), backend)

    inputs = [values.requires_grad_(), lengths.requires_grad_(), *discrepancy.parameters()]
    if kind == "classical":
        inputs[1] = lengths.detach()
    assert gradcheck(found, inputs, atol=1e-6)


@every_kind
def test_a_perfect_match_has_a_finite_gradient(kind):
    discrepancy = make(kind)
    paths = interpolate(RaggedSeries.from_arrays(np.zeros((1, N_CHANNELS, 12))))
    values = torch.zeros(N_SHAPELETS, N_CHANNELS, N_KNOTS, dtype=torch.float64)
    lengths = torch.full((N_SHAPELETS,), 3.0, dtype=torch.float64)
    inputs = [values.requires_grad_(), lengths.requires_grad_(), *discrepancy.parameters()]
    start = np.full((1, N_SHAPELETS, 1), 2.0)
    for backend in ("auto", "generic"):
        found = evaluate(discrepancy, paths, values, lengths, offsets_at(start), backend)
        assert (found == 0).all()
        found.sum().backward()
        assert all(x.grad is None or torch.isfinite(x.grad).all() for x in inputs)


# In estimators, files and explanations


@pytest.fixture(scope="module")
def fitted():
    """Estimators by kind of discrepancy, each fitted once."""
    X, y = waves(14, random_state=0)
    known = {}

    def get(kind, estimator=ShapeletClassifier):
        if (kind, estimator) not in known:
            model = estimator(
                discrepancy=KINDS[kind](1), n_shapelets=N_SHAPELETS, n_knots=6, max_epochs=2,
                initial_length=(0.2, 0.5), random_state=0,
            )  # fmt: skip
            known[kind, estimator] = model.fit(
                X, y if estimator is ShapeletClassifier else X[:, 0, 3]
            )
        return known[kind, estimator], X, y

    return get


@every_kind
def test_it_is_learnt_in_a_classifier(kind, fitted):
    model, X, y = fitted(kind)
    assert model.predict_proba(X).shape == (14, 2) and model.transform(X).shape == (14, 3)
    learnt, given = model.model_.transform.discrepancy, KINDS[kind](1)
    assert type(learnt) is type(given)
    # Of one channel the metric is its scale: nothing to be learnt if that counts for no shapelet.
    no_metric = learnt.ignores_scale(N_SHAPELETS).all()
    for one, other in zip(learnt.parameters(), given.parameters(), strict=True):
        assert torch.isfinite(one).all()
        assert torch.allclose(one, other) if no_metric else not torch.equal(one, other)


@every_kind
def test_a_saved_model_predicts_the_same(kind, fitted, tmp_path):
    pytest.importorskip("safetensors")
    for estimator in (ShapeletClassifier, ShapeletRegressor):
        model, X, _ = fitted(kind, estimator)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        assert np.isfinite(model.predict(X)).all()
        assert type(again.discrepancy) is type(model.discrepancy)


@every_kind
def test_its_predictions_are_explained(kind, fitted):
    model, X, y = fitted(kind)
    explanation = model.explain(X[:3])
    parts = explanation.contributions().sum(axis=-1) + explanation.bias
    np.testing.assert_allclose(parts, explanation.answers, rtol=1e-9, atol=1e-9)
    assert 0.0 <= model.interpretability(X, y, n_windows=8).closeness < np.inf
    matches = find_matches(model, X[:3])
    window = matches.window(1, 2)
    assert window.path.shape == window.shapelet.shape == (1, len(window.times))
    assert window.times[0] == pytest.approx(matches.start[2, 1])
    assert window.times[-1] == pytest.approx(matches.end[2, 1])


def test_the_example_of_the_documentation_runs(monkeypatch, capsys):
    monkeypatch.setattr(Discrepancy, "_classes", dict(Discrepancy._classes))
    runpy.run_path(str(DOCS / "own_discrepancy.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert said.startswith("accuracy ") and float(said.split()[1].rstrip(",")) > 0.8


def test_the_weight_of_slopes_matters():
    # f = t and w = 0 on [0, 3]: int t^2 = 9, and slopes differ by 1 over 3.
    transform = GeneralisedShapeletTransform.from_shapelets(
        [[[0.0, 0.0, 0.0]]], [3.0], discrepancy=Sobolev(2.0)
    )
    found = transform(np.arange(4.0)[None, None]).discrepancy.item()
    assert found == pytest.approx(math.sqrt(9.0 + 2.0 * 3.0), rel=1e-6)


# Files of unknown or unwritable discrepancies


def test_a_file_with_an_unknown_discrepancy_names_it(fitted, tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    model, X, _ = fitted("largest")
    model.save(tmp_path / "model")
    monkeypatch.delitem(Discrepancy._classes, "LargestAtKnots")
    message = (
        "the discrepancy 'LargestAtKnots' is not known here; known are .*L2Discrepancy.* "
        "Define the class LargestAtKnots, or import the module that does, first"
    )
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "model")


def test_an_argument_that_is_not_kept_is_named():
    class Forgetful(Discrepancy):
        def __init__(self, power=2):
            super().__init__()

        def forward(self, times, path, shapelet):
            return (path - shapelet).square().sum(dim=(-2, -1))

    with pytest.raises(
        TypeError, match=r"Forgetful does not keep its argument 'power'.*self.power"
    ):
        Forgetful().config()
    assert repr(Forgetful()) == "Forgetful()"  # what cannot be saved can still be printed


def test_a_name_of_the_package_is_taken():
    with pytest.raises(TypeError, match="there is a L2Discrepancy in genshapelets.*another name"):
        type("L2Discrepancy", (LargestAtKnots,), {"__module__": "elsewhere"})
    assert Discrepancy._classes["L2Discrepancy"] is L2Discrepancy


def test_what_counts_samples_needs_a_search_of_its_own():
    class Mine(ClassicalDiscrepancy):
        pass

    transform = GeneralisedShapeletTransform.from_shapelets(np.ones((1, 1, 3)), discrepancy=Mine())
    with pytest.raises(TypeError, match="Mine counts samples, but no search is registered"):
        transform(np.zeros((1, 1, 9)))


def test_a_diverged_shapelet_is_not_blamed_on_the_formula():
    transform = transform_with("largest")
    with torch.no_grad():
        transform.shapelets.values[1, 0, 0] = torch.nan
    with pytest.raises(ValueError, match="shapelet 1 or a parameter of .* training has diverged"):
        transform(batch_of(irregularly=False))


def test_an_argument_that_no_file_can_hold_is_named(tmp_path):
    pytest.importorskip("safetensors")

    class Callback(LargestAtKnots):
        def __init__(self, function=None):
            super().__init__()
            self.function = function

    X, y = waves(8, random_state=0)
    model = ShapeletClassifier(discrepancy=Callback(print), n_shapelets=2, n_knots=4, max_epochs=1)
    with pytest.raises(TypeError, match=r"print.* cannot be written to a file"):
        model.fit(X, y).save(tmp_path / "model")


# Discrepancies that cannot be one


class Bad(Discrepancy):
    """Returns whatever is set."""

    answer = None

    def forward(self, times, path, shapelet):
        return type(self).answer((path - shapelet).square().sum(dim=(-2, -1)))


BAD = {
    "another shape": (
        lambda found: found[..., 0],
        r"Bad.forward must return one number for each window, shape \(1, 12, 3\).*got shape \(1, 12\)",
    ),
    "a number": (lambda found: 0.5, r"Bad.forward must return one number for each window.*got 0.5"),
    "an array": (
        lambda found: found.detach().numpy(),
        r"Bad.forward must return one number for each window.*got array",
    ),
    "NaN": (
        lambda found: found * torch.nan,
        r"Bad.forward must return numbers that are not negative; got nan for shapelet 0 at offset 0",
    ),
    "a negative number": (
        lambda found: found - 1e6,
        r"Bad.forward must return numbers that are not negative; got -\d+.* for shapelet 0",
    ),
    "no gradient": (
        lambda found: found.detach(),
        r"Bad.forward must be differentiable in the shapelet; its result has no gradient",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_a_discrepancy_is_refused(kind, monkeypatch):
    answer, message = BAD[kind]
    monkeypatch.setattr(Bad, "answer", staticmethod(answer))
    rng = np.random.default_rng(3)
    transform = GeneralisedShapeletTransform.from_shapelets(
        rng.normal(size=(N_SHAPELETS, N_CHANNELS, N_KNOTS)), 3.0, discrepancy=Bad()
    )
    with pytest.raises(ValueError, match=message):
        transform(rng.normal(size=(2, N_CHANNELS, 12)))


def test_a_discrepancy_needs_a_formula():
    class Nothing(Discrepancy):
        pass

    with pytest.raises(TypeError, match=r"Nothing.*forward"):
        Nothing()


def test_the_root_is_differentiable_at_0_and_keeps_nan():
    x = torch.tensor([4.0, 0.0, -1e-20], requires_grad=True)
    safe_sqrt(x).sum().backward()
    assert safe_sqrt(x).tolist() == [2.0, 0.0, 0.0] and x.grad.tolist() == [0.25, 0.0, 0.0]
    assert safe_sqrt(torch.tensor([torch.nan])).isnan().all()
    assert safe_sqrt(torch.tensor([torch.inf])).item() == torch.inf


# Windows


def test_windows_hold_the_path_and_the_shapelet():
    rng = np.random.default_rng(4)
    paths = interpolate(ragged(rng))
    values = torch.from_numpy(rng.normal(size=(2, 2, 5)))
    lengths = torch.tensor([1.7, 9.0], dtype=torch.float64)
    start = torch.from_numpy(rng.uniform(0.0, 5.0, (len(paths), 3, 2)))  # some beyond the end
    window = lay(PaddedPaths.of(paths, values.device), start, values, lengths)
    assert window.path.shape == window.shapelet.shape == (*window.times.shape, 2)
    assert (window.times.diff(dim=-1) >= 0).all()
    assert (window.times[..., 0] == 0).all()
    torch.testing.assert_close(window.times[..., -1], lengths.expand(len(paths), 3, -1))
    t = (start[..., None] + window.times).flatten(1).numpy() + paths.origin[:, None]
    want = paths.evaluate(t).transpose(0, 2, 1).reshape(window.path.shape)
    np.testing.assert_allclose(window.path, want, atol=1e-9)
    for k in range(2):
        own = np.linspace(0.0, float(lengths[k]), 5)
        for d in range(2):
            want = np.interp(window.times[:, :, k], own, values[k, d])
            np.testing.assert_allclose(window.shapelet[:, :, k, :, d], want, atol=1e-9)


def test_windows_miss_no_knot():
    paths = interpolate(RaggedSeries.from_arrays([[[0.0, 1.0, 0.0, 3.0]]], [[0.0, 0.3, 1.0, 2.0]]))
    values, lengths = torch.zeros(1, 1, 3, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    start = torch.tensor([[[0.2], [1.5]]], dtype=torch.float64)
    times = lay(PaddedPaths.of(paths, values.device), start, values, lengths).times
    for offset, inside in ((0, [0.1, 0.8]), (1, [0.5])):
        found = times[0, offset, 0].numpy()
        assert all(np.isclose(found, t).any() for t in [0.0, 0.5, 1.0, *inside])


# Fast evaluation gives what the formula gives


def fast_problem(windows, metric, per_shapelet, level_free, scale_free=False):
    """A transform, paths and offsets of one kind of window."""
    rng = np.random.default_rng(5)
    transform = make_transform(
        rng, n_shapelets=3, lengths=[0.9, 2.0, 3.3], metric=metric, per_shapelet=per_shapelet,
        level_free=level_free, scale_free=scale_free,
    )  # fmt: skip
    paths = interpolate(regular(rng, 4))
    if windows in ("free", "two_steps"):
        paths = interpolate(ragged(rng))
    elif windows == "beyond":
        paths = interpolate(RaggedSeries.concatenate([regular(rng, 2, n_times=(2, 7)), odd(rng)]))
    room = np.maximum(paths.spans[:, None] - transform.shapelets.lengths.detach().numpy(), 0.0)
    if windows == "samples":
        sample = rng.integers(0, 5, room.shape)
        return transform, paths, offsets_at((sample * paths.step[:, None])[..., None])
    if windows == "last":
        return transform, paths, offsets_at(room[..., None], -1.0 * (room > 0)[..., None])
    if windows == "free":
        share = rng.uniform(0, 1, (*room.shape, 2))
        return transform, paths, offsets_at(share * room[..., None], -share * (room > 0)[..., None])
    return transform, paths, offsets_of(transform, paths, 3 if windows == "candidates" else 1)


def value_and_gradients(transform, paths, offsets, backend):
    transform.zero_grad()
    got = evaluated(transform, paths, offsets, backend)
    upstream = torch.sin(torch.arange(got.numel(), dtype=got.dtype)).reshape(got.shape)
    (got * upstream).sum().backward()
    return got.detach(), {name: p.grad.clone() for name, p in transform.named_parameters()}


def assert_same_function(got, want, rtol=1e-9):
    torch.testing.assert_close(got[0], want[0], rtol=rtol, atol=1e-12)
    assert got[1].keys() == want[1].keys()
    for name, gradient in want[1].items():
        scale = gradient.abs().max().item()
        assert scale > 0, name
        torch.testing.assert_close(got[1][name], gradient, rtol=rtol, atol=rtol * scale)


WINDOWS = ["samples", "last", "free", "beyond", "candidates", "two_steps"]


SCALES = [False, True, [True, False, True]]


@pytest.mark.parametrize(
    ("metric", "level_free", "scale_free", "windows"), pairwise(METRICS, LEVELS, SCALES, WINDOWS)
)
def test_fast_evaluation_is_the_formula(metric, level_free, scale_free, windows):
    problem = fast_problem(windows, *metric, level_free, scale_free)
    got = value_and_gradients(*problem, "auto")
    assert_same_function(got, value_and_gradients(*problem, "generic"))
    transform, paths, offsets = problem
    start = offsets.start[..., 0] + paths.origin[:, None]
    np.testing.assert_allclose(got[0][..., 0], distances_at(transform, paths, start), rtol=1e-9)


@pytest.mark.parametrize(("n_knots", "length"), [(60, 0.9), (2, 6.0), (60, 0.1), (5, 2.0 + 1e-13)])
def test_fast_evaluation_with_more_knots_than_samples_and_fewer(n_knots, length):
    rng = np.random.default_rng(6)
    transform = make_transform(rng, n_knots=n_knots, n_shapelets=2, lengths=[length] * 2)
    paths = interpolate(regular(rng, 4))
    offsets = offsets_of(transform, paths)
    got = value_and_gradients(transform, paths, offsets, "auto")
    assert_same_function(got, value_and_gradients(transform, paths, offsets, "generic"), 1e-8)


def test_evaluation_in_chunks_is_the_same(monkeypatch):
    problem = fast_problem("two_steps", "diagonal", False, "mixed")
    whole = value_and_gradients(*problem, "generic")
    monkeypatch.setattr("genshapelets.evaluation.generic.MAX_ELEMENTS", 1)
    assert_same_function(value_and_gradients(*problem, "generic"), whole, rtol=1e-12)


def test_second_derivatives_are_refused():
    transform, paths, offsets = fast_problem("samples", "diagonal", False, False)
    found = evaluated(transform, paths, offsets).sum()
    with pytest.raises(RuntimeError, match=r"no second derivatives. Leave out create_graph=True"):
        torch.autograd.grad(found, transform.shapelets.values, create_graph=True)


# Registered ways


class Plain(Discrepancy):
    """Fast ways are registered for it, and not for what is derived from it."""

    def forward(self, times, path, shapelet):
        return (path - shapelet).abs().amax(dim=(-2, -1))


class Derived(Plain):
    pass


@pytest.mark.parametrize("gives_up", [False, True], ids=["answers", "gives_up"])
def test_registered_ways_are_taken_for_exactly_their_class(gives_up, monkeypatch):
    monkeypatch.setattr(search, "_FAST", dict(search._FAST))
    monkeypatch.setattr(evaluation, "_FAST", dict(evaluation._FAST))

    def found_at_once(discrepancy, paths, values, lengths, search, n_best):
        start = np.zeros((len(paths), len(values), n_best))
        count = np.ones(start.shape[:2], np.int64)
        return None if gives_up else Offsets(start, start, count, "at once")

    def sevens(discrepancy, paths, values, lengths, offsets):
        return 7.0 + 0.0 * values.sum() * torch.from_numpy(offsets.start)

    search.register(Plain, found_at_once)
    evaluation.register(Plain, sevens)
    rng = np.random.default_rng(7)
    for kind, backend in ((Plain, "auto"), (Plain, "generic"), (Derived, "auto")):
        transform = GeneralisedShapeletTransform.from_shapelets(
            rng.normal(size=(2, 2, 4)), discrepancy=kind(), backend=backend
        )
        matches = transform(rng.normal(size=(3, 2, 9)))
        fast = kind is Plain and backend == "auto"
        assert matches.backend == ("at once" if fast and not gives_up else "generic")
        assert (matches.discrepancy == 7.0).all() == fast
