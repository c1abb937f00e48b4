"""GeneralisedShapeletTransform: what goes in, what comes out, and what is refused."""

import copy
import gc
import io
import pickle
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from problems import irregular, make_transform, odd, ragged, regular

from genshapelets import (
    ClassicalDiscrepancy,
    GeneralisedShapeletTransform,
    L2Discrepancy,
    Matches,
    RaggedSeries,
    ShapeletClassifier,
    Shapelets,
    evaluation,
    interpolate,
    interpretable_regularisation,
    search,
)
from genshapelets.windows import wide_dtype

NAN = np.nan
VALUES = [[[0.0, 1.0, 0.0], [2.0, 0.0, 2.0]], [[1.0, 1.0, 3.0], [0.0, 0.0, 0.5]]]


def assert_same_matches(got, want):
    assert torch.equal(got.discrepancy, want.discrepancy)
    assert torch.equal(got.start, want.start)
    assert got.backend == want.backend


# Making one


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (VALUES, torch.float64),
        (np.array(VALUES), torch.float64),
        (np.array(VALUES, np.float32), torch.float32),
        (torch.tensor(VALUES), torch.float32),
        (torch.tensor(VALUES, dtype=torch.float64), torch.float64),
        (np.array(VALUES)[:, :, ::-1].copy()[:, :, ::-1], torch.float64),
        (np.array(VALUES, ">f8"), torch.float64),
        (np.array(VALUES, ">f4"), torch.float32),
        (torch.tensor(VALUES, requires_grad=True), torch.float32),
    ],
    ids=[
        "list",
        "numpy64",
        "numpy32",
        "torch32",
        "torch64",
        "strided",
        "big64",
        "big32",
        "requires_grad",
    ],
)
def test_from_shapelets_takes_any_array(given, dtype):
    for lengths in ([1.5, 2.5], np.array([1.5, 2.5]), torch.tensor([1.5, 2.5])):
        transform = GeneralisedShapeletTransform.from_shapelets(given, lengths)
        assert transform.shapelets.values.dtype == dtype
        assert {p.dtype for p in transform.parameters()} == {dtype}
        np.testing.assert_allclose(transform.shapelets.lengths.detach(), [1.5, 2.5], rtol=1e-6)
        np.testing.assert_array_equal(transform.shapelets.values.detach(), VALUES)
    matches = transform(np.ones((3, 2, 9)))
    assert matches.discrepancy.dtype == dtype and matches.start.dtype == torch.float64


def test_integers_become_floats():
    transform = GeneralisedShapeletTransform.from_shapelets([[[0, 1, 0]]], 2)
    assert transform.shapelets.values.is_floating_point()
    assert transform([[[0, 0, 1, 0, 0]]]).discrepancy.item() == pytest.approx(0.0, abs=1e-6)


def test_the_default_length_has_unit_spacing():
    transform = GeneralisedShapeletTransform.from_shapelets(VALUES)
    np.testing.assert_allclose(transform.shapelets.lengths.detach(), [2.0, 2.0], rtol=1e-15)


def test_the_default_discrepancy_scales_each_channel():
    discrepancy = GeneralisedShapeletTransform.from_shapelets(VALUES).discrepancy
    assert isinstance(discrepancy, L2Discrepancy) and discrepancy.metric == "diagonal"
    assert discrepancy.weight.shape == (1, 2) and (discrepancy.weight == 1).all()


def test_max_length_is_passed_on():
    transform = GeneralisedShapeletTransform.from_shapelets(VALUES, [1.0, 2.0], max_length=30.0)
    assert transform.shapelets.max_length.item() == 30.0


def test_the_given_discrepancy_keeps_its_dtype():
    """Two transforms may be made with one discrepancy; the second must not change the first."""
    discrepancy = L2Discrepancy(2).double()
    first = GeneralisedShapeletTransform.from_shapelets(VALUES, discrepancy=discrepancy)
    series = np.random.default_rng(0).normal(size=(2, 2, 9))
    before = first(series)
    GeneralisedShapeletTransform.from_shapelets(
        np.array(VALUES, np.float32), discrepancy=discrepancy
    )
    assert first.discrepancy.weight.dtype == torch.float64
    assert_same_matches(first(series), before)


def test_float_and_double():
    rng = np.random.default_rng(1)
    series, transform = ragged(rng), make_transform(rng, metric="full", level_free="mixed")
    double = transform(series)
    single = transform.float()(series)
    assert single.discrepancy.dtype == torch.float32
    torch.testing.assert_close(
        single.discrepancy.double(), double.discrepancy, rtol=1e-5, atol=1e-6
    )
    assert transform.double()(series).discrepancy.dtype == torch.float64


# What goes in


def test_series_are_interpolated_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "genshapelets.paths.interpolate", lambda *given: calls.append(1) or interpolate(*given)
    )
    series = RaggedSeries.from_arrays([[[1.0, NAN, 3.0], [NAN, NAN, NAN]]])
    transform = transform_of_two_channels()
    first = transform(series)
    assert_same_matches(transform(series), first)
    assert len(calls) == 1
    filled = transform_of_two_channels(fill=[0.0, 5.0])(series)
    assert len(calls) == 2 and (filled.discrepancy > first.discrepancy).all()
    assert_same_matches(transform(series), first)
    alive = weakref.ref(series)
    del series
    gc.collect()
    assert alive() is None


def test_every_form_of_input_gives_the_same():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(4, 2, 12))
    transform = make_transform(rng)
    want = transform(values)
    series = RaggedSeries.from_arrays(values)
    for same in (
        list(values),
        values.tolist(),
        torch.from_numpy(values),
        series,
        interpolate(series),
    ):
        assert_same_matches(transform(same), want)


def test_float32_series_in_a_float64_transform():
    rng = np.random.default_rng(3)
    values, transform = rng.normal(size=(4, 2, 12)).astype(np.float32), make_transform(rng)
    assert_same_matches(transform(values), transform(values.astype(np.float64)))
    assert transform(values).discrepancy.dtype == torch.float64


def test_the_fill_belongs_to_the_transform():
    values = np.ones((1, 2, 9))
    values[0, 1] = NAN
    transform = GeneralisedShapeletTransform.from_shapelets(VALUES, fill=[0.0, 4.0])
    values_filled = values.copy()
    values_filled[0, 1] = 4.0
    assert_same_matches(transform(values), transform(values_filled))


# What comes out


def test_matches():
    rng = np.random.default_rng(4)
    series, transform = ragged(rng), make_transform(rng, n_shapelets=3)
    matches = transform(series)
    assert isinstance(matches, Matches)
    assert matches.discrepancy.shape == matches.start.shape == (len(series), 3)
    assert matches.discrepancy.requires_grad and matches.backend == "lattice"
    with pytest.raises(AttributeError):
        matches.start = None


def test_starts_are_in_the_time_of_the_series():
    transform = GeneralisedShapeletTransform.from_shapelets([[[0.0, 1.0, 0.0]]], [2.0])
    values = np.zeros((1, 10))
    values[0, 6] = 1.0
    series = RaggedSeries.from_arrays(
        [values, values], [np.arange(10) + 100.0, np.arange(10) - 7.0]
    )
    assert transform(series).start[:, 0].tolist() == [105.0, -2.0]


def test_repr():
    text = repr(make_transform(np.random.default_rng(5), level_free="mixed", search="exact"))
    assert "search='exact', backend='auto'" in text
    assert "4 shapelets, 2 channels, 5 knots" in text
    assert "n_channels=2, metric='diagonal', level_free=2" in text


def test_the_series_are_left_as_they_are():
    rng = np.random.default_rng(6)
    paths, transform = interpolate(ragged(rng)), make_transform(rng)
    before = {name: getattr(paths, name).copy() for name in ("knots", "values", "row_offsets")}
    transform(paths).discrepancy.sum().backward()
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(paths, name), array)


# Copies


def saved_and_loaded(transform):
    buffer = io.BytesIO()
    torch.save(transform, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)


@pytest.mark.parametrize(
    "clone",
    [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), saved_and_loaded],
    ids=["deepcopy", "pickle", "torch.save"],
)
def test_clones_give_the_same_bits(clone):
    rng = np.random.default_rng(7)
    series = ragged(rng)
    transform = make_transform(rng, metric="full", per_shapelet=True, level_free="mixed")
    want = transform(series)
    want.discrepancy.sum().backward()
    twin = clone(transform)
    assert_same_matches(twin(series), want)
    with torch.no_grad():
        twin.shapelets.values += 1.0
    assert_same_matches(transform(series), want)


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
def test_state_dict(metric):
    rng = np.random.default_rng(8)
    series = ragged(rng)
    one = make_transform(rng, metric=metric, level_free="mixed")
    other = make_transform(rng, metric=metric, level_free=[True] * 4, max_length=50.0)
    assert not torch.equal(other(series).discrepancy, one(series).discrepancy)
    other.load_state_dict(one.state_dict())
    assert_same_matches(other(series), one(series))


def test_paths_and_series_can_be_pickled():
    rng = np.random.default_rng(9)
    series, transform = ragged(rng), make_transform(rng)
    for data in (series, interpolate(series)):
        assert_same_matches(transform(pickle.loads(pickle.dumps(data))), transform(series))


# Bad input


def transform_of_two_channels(**kwargs):
    return GeneralisedShapeletTransform.from_shapelets(VALUES, **kwargs)


@pytest.mark.parametrize("channels", [1, 3])
def test_wrong_number_of_channels(channels):
    transform = transform_of_two_channels()
    series = RaggedSeries.from_arrays(np.ones((2, channels, 9)))
    for data in (series, interpolate(series), np.ones((2, channels, 9))):
        with pytest.raises(ValueError, match=f"series have {channels} channels?, the shapelets 2"):
            transform(data)


GOOD = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([], ValueError, "at least one series"),
        (np.ones((0, 2, 5)), ValueError, "at least one series"),
        (np.ones((2, 5)), ValueError, r"got an array of shape \(2, 5\)"),
        (
            [GOOD, [[1.0, np.inf], [1.0, 1.0]]],
            ValueError,
            "series 1 must be finite.*Replace infinite",
        ),
        ([GOOD, np.full((2, 3), NAN)], ValueError, "series 1 has no observation.*Leave it out"),
        ([GOOD, np.ones((2, 0))], ValueError, "series 1 has no times"),
        ([GOOD, np.ones((3, 4))], ValueError, "series 1"),
        (np.array([[["a", "b"]]]), TypeError, "values must be real numbers"),
        (np.array([[["a", 1.0]]], object), TypeError, "values must be real numbers"),
    ],
)
def test_series_that_cannot_be_right(data, error, message):
    with pytest.raises(error, match=message):
        transform_of_two_channels()(data)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.0, 1.0, 1.0], "series 1 must strictly increase; got 1.0 then 1.0 at positions 1 and 2"),
        ([0.0, 2.0, 1.0], "series 1 must strictly increase.*Sort"),
        ([0.0, NAN, 1.0], "series 1 must be finite; got nan at position 1"),
        ([0.0, 1.0], "series 1"),
    ],
)
def test_times_that_cannot_be_right(times, message):
    with pytest.raises(ValueError, match=message):
        transform_of_two_channels()(
            RaggedSeries.from_arrays([GOOD, GOOD], [[0.0, 1.0, 2.0], times])
        )


def test_no_paths_at_all():
    paths = interpolate(RaggedSeries.from_arrays([GOOD]))
    with pytest.raises(ValueError, match="at least one"):
        transform_of_two_channels()(paths[:0])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"search": "fast"}, "search must be one of auto, grid, refined, exact; got 'fast'"),
        ({"backend": "cuda"}, "backend must be one of auto, generic; got 'cuda'"),
        ({"lengths": [1.0, -2.0]}, "length of shapelet 1 must be a positive number"),
        ({"lengths": [1.0, 2.0, 3.0]}, "one length for each of the 2 shapelets"),
        ({"lengths": [1.0, 2.0], "max_length": 1.5}, "above max_length=1.5"),
        ({"discrepancy": L2Discrepancy(3)}, r"have 2 channels.*use L2Discrepancy\(n_channels=2\)"),
        ({"discrepancy": L2Discrepancy(2, n_shapelets=5)}, "use n_shapelets=2, or None"),
        ({"discrepancy": L2Discrepancy(2, level_free=[True] * 3)}, "3 answers for 2 shapelets"),
    ],
)
def test_settings_that_cannot_be_right(kwargs, message):
    with pytest.raises(ValueError, match=message):
        transform_of_two_channels(**kwargs)


def test_the_constructor_checks_too():
    shapelets = Shapelets(torch.tensor(VALUES), torch.tensor([1.0, 1.0]))
    with pytest.raises(ValueError, match="use L2Discrepancy"):
        GeneralisedShapeletTransform(shapelets, L2Discrepancy(1))
    with pytest.raises(ValueError, match="search must be"):
        GeneralisedShapeletTransform(shapelets, L2Discrepancy(2), search="both")


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"n_channels": 0}, "n_channels must be at least 1"),
        ({"n_channels": 2, "n_shapelets": 0}, "n_shapelets must be at least 1, or None"),
        ({"n_channels": 2, "metric": "round"}, 'metric must be "none", "diagonal" or "full"'),
        ({"n_channels": 2, "level_free": [[True]]}, r"level_free must be .*got shape \(1, 1\)"),
    ],
)
def test_discrepancies_that_cannot_be(kwargs, message):
    with pytest.raises(ValueError, match=message):
        L2Discrepancy(**kwargs)


@pytest.mark.parametrize(
    "level_free",
    [[0, 1, 2], [0, 1], 1, np.array([1.0, 0.0]), torch.tensor([1, 0]), "yes", []],
    ids=str,
)
def test_level_free_takes_booleans_only(level_free):
    with pytest.raises(TypeError, match="level_free must be True, False, or one of them for each"):
        L2Discrepancy(2, level_free=level_free)


@pytest.mark.parametrize(
    "level_free",
    [[True, False], (True, False), np.array([True, False]), torch.tensor([True, False])],
)
def test_level_free_takes_any_booleans(level_free):
    assert L2Discrepancy(2, level_free=level_free).level_free.tolist() == [True, False]
    assert L2Discrepancy(2, level_free=np.bool_(True)).level_free.item() is True


@pytest.mark.parametrize("discrepancy", ["l2", L2Discrepancy, 2], ids=["name", "class", "number"])
def test_no_discrepancy(discrepancy):
    message = r"discrepancy must be a Discrepancy; got .* Use L2Discrepancy\(n_channels=2\)"
    with pytest.raises(TypeError, match=message):
        transform_of_two_channels(discrepancy=discrepancy)
    with pytest.raises(TypeError, match=message):
        GeneralisedShapeletTransform(Shapelets(VALUES, 1.0), discrepancy)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.full((1, 2, 3), "a", object), "values must be real numbers; got dtype object"),
        (np.array(VALUES).astype(str), "values must be real numbers; got dtype <U"),
        (np.array(VALUES, complex), "values must be real numbers; got dtype complex128"),
        (torch.tensor(VALUES).to(torch.complex64), "real numbers; got dtype torch.complex64"),
    ],
    ids=["object", "text", "complex", "complex_tensor"],
)
def test_shapelets_that_are_no_numbers(values, message):
    with pytest.raises(TypeError, match=message):
        GeneralisedShapeletTransform.from_shapelets(values)


@pytest.mark.parametrize("fill", [[1.0, 2.0, 3.0], NAN, "mean", None])
def test_bad_fill(fill):
    with pytest.raises(ValueError, match="fill must be one finite number or one for each of the 2"):
        transform_of_two_channels(fill=fill)


DIVERGED = """
import sys

import numpy as np
import torch

from genshapelets import GeneralisedShapeletTransform, RaggedSeries

rng = np.random.default_rng(0)
for wobble in (0.0, 0.3):
    times = np.arange(100.0) + wobble * np.sin(np.arange(100.0))
    series = RaggedSeries.from_arrays(rng.normal(size=(5, 3, 100)), times)
    for parameter in ("shapelets.raw_lengths", "shapelets.values"):
        for search in ("auto", "refined", "exact"):
            transform = GeneralisedShapeletTransform.from_shapelets(
                rng.normal(size=(4, 3, 9)), [80.0, 40.0, 31.3, 5.0], search=search
            )
            transform.get_parameter(parameter).data[0] = torch.nan
            try:
                matches = transform(series)
                matches.discrepancy.sum().backward()
            except ValueError as error:
                assert "finite" in str(error) or "diverged" in str(error), error
            else:
                assert matches.discrepancy[:, 0].isnan().all(), matches.discrepancy
                assert not matches.discrepancy[:, 1:].isnan().any(), matches.discrepancy
print("alive")
"""


def test_parameters_that_diverged_give_nan_or_an_error_not_a_crash():
    try:
        done = subprocess.run(
            [sys.executable, "-c", DIVERGED],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        pytest.fail("the search did not end within a minute")
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


# Threads


def test_several_python_threads_at_once():
    rng = np.random.default_rng(10)
    transform = make_transform(rng, metric="full", level_free="mixed")
    batches = [interpolate(maker(rng)) for maker in (irregular, regular, ragged, odd)] * 4
    want = [transform(paths) for paths in batches]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(transform, batches))
    for one, other in zip(got, want, strict=True):
        assert_same_matches(one, other)


# The generic path: any device, tried on the CPU


def copies(rng, **settings):
    """The same transform twice: by kernels, and by the formula and autograd alone."""
    fast = make_transform(rng, n_shapelets=3, level_free="mixed", search="grid", **settings)
    generic = copy.deepcopy(fast)
    generic.backend = "generic"
    return fast, generic


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
@pytest.mark.parametrize("kind", [regular, irregular], ids=["regular", "irregular"])
def test_the_generic_path_gives_the_same(kind, metric):
    rng = np.random.default_rng(20)
    paths, transforms = interpolate(kind(rng, 3)), copies(rng, metric=metric)
    matches = [transform(paths) for transform in transforms]
    for one in matches:
        one.discrepancy.log().sum().backward()
    torch.testing.assert_close(
        matches[1].discrepancy, matches[0].discrepancy, rtol=1e-9, atol=1e-12
    )
    torch.testing.assert_close(matches[1].start, matches[0].start, rtol=0, atol=1e-9)
    for one, other in zip(*(transform.parameters() for transform in transforms), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-9, atol=1e-9)


def test_training_by_the_generic_path_is_the_same():
    """What another device runs, end to end: search, evaluation, gradients, steps."""
    rng = np.random.default_rng(21)
    paths, trained = interpolate(ragged(rng)), []
    target = torch.arange(len(paths)) % 2 * 1.0
    for transform in copies(rng, per_shapelet=True):
        head = torch.nn.Linear(3, 1).double()
        torch.nn.init.constant_(head.weight, -0.1)
        torch.nn.init.zeros_(head.bias)
        model = [*transform.parameters(), *head.parameters()]
        optimiser = torch.optim.Adam(model, lr=0.05)
        for _ in range(4):
            optimiser.zero_grad()
            discrepancy = transform(paths).discrepancy
            score = head(torch.log(discrepancy + 1e-5))[:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(score, target.double())
            (loss + interpretable_regularisation(discrepancy, 1e-2)).backward()
            optimiser.step()
        trained.append([parameter.detach().clone() for parameter in model])
    for one, other in zip(*trained, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [regular, irregular], ids=["regular", "irregular"])
def test_the_generic_path_takes_all_shapelets_at_once(kind):
    rng = np.random.default_rng(22)
    paths, counts = interpolate(kind(rng, 2)), []
    for n_shapelets in (1, 8):
        transform = make_transform(
            rng, n_shapelets=n_shapelets, lengths=[2.0] * n_shapelets, backend="generic"
        )
        calls = []
        transform.discrepancy.register_forward_hook(lambda *call, calls=calls: calls.append(call))
        transform(paths)
        counts.append(len(calls))
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_an_estimator_by_the_generic_path(metric, monkeypatch):
    """As on another device: fit with ``device=``, in float32, and predict."""
    X, y = np.random.default_rng(3).normal(size=(12, 2, 14)).cumsum(axis=2), np.arange(12) % 2
    settings = {"n_shapelets": 4, "n_knots": 5, "max_epochs": 3, "metric": metric, "device": "cpu"}
    fast = ShapeletClassifier(random_state=0, **settings).fit(X, y)
    monkeypatch.setattr(search, "_FAST", {})
    monkeypatch.setattr(evaluation, "_FAST", {})
    generic = ShapeletClassifier(random_state=0, **settings).fit(X, y)
    assert generic.model_.transform(X).backend == "generic"
    np.testing.assert_allclose(generic.transform(X), fast.transform(X), rtol=1e-4)
    np.testing.assert_allclose(generic.predict_proba(X), fast.predict_proba(X), atol=1e-4)


def test_results_are_where_the_shapelets_are():
    rng = np.random.default_rng(23)
    matches = make_transform(rng, backend="generic")(regular(rng, 2))
    assert matches.discrepancy.device == matches.start.device == torch.device("cpu")
    assert wide_dtype(torch.device("cpu")) == wide_dtype(torch.device("cuda")) == torch.float64
    assert wide_dtype(torch.device("mps")) == torch.float32  # it knows no float64


# Learning


@pytest.mark.parametrize("kind", ["irregular", "regular"])
def test_training_reduces_a_loss(kind):
    """Two classes that differ by a planted bump; shapelets, lengths, metric and a head learn."""
    rng = np.random.default_rng(11)
    n_series, n_times = 24, 40
    labels = np.arange(n_series) % 2
    values = 0.2 * rng.normal(size=(n_series, 1, n_times))
    for i in np.flatnonzero(labels):
        place = rng.integers(3, n_times - 10)
        values[i, 0, place : place + 7] += [0.5, 1.5, 2.0, 2.0, 2.0, 1.5, 0.5]
    times = np.arange(n_times) + (0.3 * np.sin(np.arange(n_times)) if kind == "irregular" else 0.0)
    paths = interpolate(RaggedSeries.from_arrays(values, times))
    transform = GeneralisedShapeletTransform.from_shapelets(
        rng.normal(size=(2, 1, 6)), [5.0, 8.0], max_length=20.0
    )
    torch.manual_seed(0)
    head = torch.nn.Linear(2, 1).double()
    optimiser = torch.optim.Adam([*transform.parameters(), *head.parameters()], lr=0.1)
    before = {name: p.detach().clone() for name, p in transform.named_parameters()}
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        matches = transform(paths)
        score = head(torch.log(matches.discrepancy + 1e-5))[:, 0]
        target = torch.from_numpy(labels).double()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(score, target)
        loss = loss + interpretable_regularisation(matches.discrepancy, 1e-2)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    for name, parameter in transform.named_parameters():
        assert not torch.equal(parameter, before[name]), f"{name} did not move"


def test_a_shapelet_learns_its_length():
    """Pulled towards a planted ramp, a shapelet of the wrong length finds the right one."""
    values = np.concatenate([np.full(10, 5.0), np.linspace(0.0, 8.0, 9), np.full(10, -5.0)])
    paths = interpolate(RaggedSeries.from_arrays(values[None, None]))
    transform = GeneralisedShapeletTransform.from_shapelets(
        [[[0.0, 8.0]]], [5.0], max_length=20.0, search="exact",
        discrepancy=L2Discrepancy(1, "none"),
    )  # fmt: skip
    transform.shapelets.values.requires_grad_(False)
    optimiser = torch.optim.Adam(transform.parameters(), lr=0.03)
    for _ in range(60):
        optimiser.zero_grad()
        transform(paths).discrepancy.sum().backward()
        optimiser.step()
    assert transform.shapelets.lengths.item() == pytest.approx(8.0, abs=0.3)


# Objective


def test_regularisation_is_a_sum_over_shapelets_of_minima_over_series():
    discrepancy = torch.tensor([[1.0, 5.0, 2.0], [3.0, 2.0, 9.0]], requires_grad=True)
    term = interpretable_regularisation(discrepancy, gamma=0.5)
    assert term.item() == 2.5
    term.backward()
    assert discrepancy.grad.tolist() == [[0.5, 0.0, 0.5], [0.0, 0.5, 0.0]]


def test_the_default_strength_is_the_papers():
    assert interpretable_regularisation(torch.ones(2, 3)).item() == pytest.approx(3e-4)


def test_regularisation_moves_the_shapelet_to_the_nearest_series_only():
    rng = np.random.default_rng(12)
    paths, transform = (
        interpolate(irregular(rng)),
        make_transform(rng, n_shapelets=1, lengths=[3.0]),
    )
    discrepancy = transform(paths).discrepancy
    nearest = int(discrepancy[:, 0].argmin())
    interpretable_regularisation(discrepancy, 1.0).backward()
    got = transform.shapelets.values.grad.clone()
    transform.zero_grad()
    transform(paths[[nearest]]).discrepancy.sum().backward()
    torch.testing.assert_close(got, transform.shapelets.values.grad, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("shape", [(), (3,), (0, 3), (2, 3, 1)])
def test_regularisation_refuses_other_shapes(shape):
    with pytest.raises(ValueError, match=r"discrepancy must be \(series, shapelets\)"):
        interpretable_regularisation(torch.ones(shape))


def test_the_classical_discrepancy_fits_in():
    rng = np.random.default_rng(13)
    transform = GeneralisedShapeletTransform.from_shapelets(
        rng.normal(size=(2, 2, 5)), discrepancy=ClassicalDiscrepancy()
    )
    twin = pickle.loads(pickle.dumps(transform))
    series = regular(rng)
    assert_same_matches(twin(series), transform(series))
