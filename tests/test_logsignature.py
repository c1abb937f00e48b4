"""Log-signatures agree with another library, and the fast ways of their discrepancy with its formula."""

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise
from problems import SERIES, evaluated, irregular, offsets_at, offsets_of, regular
from pysiglib import torch_api as pysiglib
from torch.autograd import gradcheck
from torch.func import functional_call

from genshapelets import (
    GeneralisedShapeletTransform,
    LogSignatureDiscrepancy,
    RaggedSeries,
    interpolate,
    signatures,
)
from genshapelets.evaluation import evaluate
from genshapelets.evaluation.logsignature import window_coordinates
from genshapelets.search import logsignature
from genshapelets.signatures import lyndon_words, n_lyndon_words
from genshapelets.windows import PaddedPaths

INF = math.inf


def random_paths(n_channels, n_paths=4, n_knots=9, seed=0):
    """Times (paths, knots) and values (paths, knots, channels)."""
    generator = torch.Generator().manual_seed(seed)
    steps = torch.rand(n_paths, n_knots, generator=generator, dtype=torch.float64)
    values = torch.randn(n_paths, n_knots, n_channels, generator=generator, dtype=torch.float64)
    return steps.cumsum(dim=1) - steps[:, :1], values


def make_transform(
    rng,
    n_channels=2,
    n_shapelets=3,
    lengths=(1.3, 2.9, 8.3),
    backend="auto",
    search="auto",
    **given,
):
    discrepancy = LogSignatureDiscrepancy(n_channels, **given)
    if discrepancy.weight is not None:
        noise = torch.from_numpy(rng.normal(size=discrepancy.weight.shape))
        discrepancy.weight.data += 0.3 * noise
    values = rng.normal(size=(n_shapelets, n_channels, 5))
    return GeneralisedShapeletTransform.from_shapelets(
        values, lengths, discrepancy=discrepancy, backend=backend, search=search
    )


# Log-signatures


@pytest.mark.parametrize(
    ("n_channels", "depth"),
    [(2, 1), (2, 2), (3, 3), (2, 4), (2, 5), (4, 5), (13, 3), (1, 4)],
)
@pytest.mark.parametrize("include_time", [False, True])
def test_log_signatures_are_those_of_another_library(n_channels, depth, include_time):
    discrepancy = LogSignatureDiscrepancy(n_channels, depth, include_time=include_time)
    times, values = random_paths(n_channels)
    values.requires_grad_()
    theirs_of = torch.cat([values, times[..., None]], dim=-1) if include_time else values
    pysiglib.prepare_log_sig(theirs_of.shape[-1], depth, 1)
    want = pysiglib.log_sig(theirs_of, depth, method=1)
    got = discrepancy.coordinates(times, values)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12 * want.abs().max().item())
    gradients = [torch.autograd.grad(x.sin().sum(), values)[0] for x in (got, want)]
    torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("n_letters", "depth"), [(2, 5), (3, 4), (14, 3), (1, 3), (5, 2)])
def test_words_are_those_of_another_library(n_letters, depth):
    words = lyndon_words(n_letters, depth)
    assert list(words) == [tuple(word) for word in pysiglib.lyndon_words(n_letters, depth)]
    assert len(words) == n_lyndon_words(n_letters, depth)
    assert len(words) == pysiglib.log_sig_length(n_letters, depth)


@pytest.mark.parametrize("n_channels", range(2, 14))
def test_dimensions_follow_the_formula_of_witt(n_channels):
    # (n^3 - n) / 3 + (n^2 - n) / 2 + n words of up to three letters
    n = n_channels + 1
    discrepancy = LogSignatureDiscrepancy(n_channels)
    assert discrepancy.n_coordinates == len(discrepancy.words) == n * (2 * n**2 + 3 * n + 1) // 6
    assert discrepancy.weight.shape == (1, discrepancy.n_coordinates)


def test_a_loop_has_its_area():
    # A right triangle of legs 3 and 4, run through against the clock: no increment, area 6.
    discrepancy = LogSignatureDiscrepancy(2, depth=2, p=1, metric="none", include_time=False)
    triangle = torch.tensor([[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 0.0]]])
    times = torch.arange(4.0)[None]
    assert discrepancy.coordinates(times, triangle).tolist() == [[0.0, 0.0, 6.0]]
    assert discrepancy.coordinates(times, triangle.flip(1)).tolist() == [[0.0, 0.0, -6.0]]
    assert discrepancy(times, triangle, triangle.flip(1)).tolist() == [12.0]
    assert discrepancy(times, triangle, torch.zeros_like(triangle)).tolist() == [6.0]


def test_the_area_under_a_curve_is_seen_with_time():
    # x rises to 1 and falls again in 2 units of time: the area between x and its chord is 1.
    discrepancy = LogSignatureDiscrepancy(1, depth=2, metric="none")
    bump = torch.tensor([[[0.0], [1.0], [0.0]]])
    assert discrepancy.words == ((0,), (1,), (0, 1))
    found = discrepancy.coordinates(torch.arange(3.0)[None], bump)
    assert found.tolist() == [[0.0, 2.0, -1.0]] or found.tolist() == [[0.0, 2.0, 1.0]]
    assert discrepancy(torch.arange(3.0)[None], bump, 3 * bump).tolist() == [2.0]


def test_norms_by_hand():
    difference = torch.tensor([[3.0, -4.0]])
    for p, want in ((1, 7.0), (2, 5.0), (3, 91.0 ** (1 / 3)), (INF, 4.0), (50, 4.0)):
        discrepancy = LogSignatureDiscrepancy(2, 1, p, "none", include_time=False)
        assert discrepancy.norm(difference).item() == pytest.approx(want, rel=1e-6)
    discrepancy = LogSignatureDiscrepancy(2, 1, include_time=False)
    discrepancy.weight.data = torch.tensor([[2.0, 0.0]])
    assert discrepancy.norm(difference).item() == 6.0
    discrepancy = LogSignatureDiscrepancy(2, 1, metric="full", include_time=False, n_shapelets=2)
    discrepancy.weight.data[1] = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    assert discrepancy.norm(difference.expand(2, 2)).tolist() == [5.0, 4.0]


def test_large_powers_neither_overflow_nor_vanish():
    discrepancy = LogSignatureDiscrepancy(2, 1, 40.0, "none", include_time=False)
    for size in (1e-200, 1e200):
        difference = torch.tensor([[size, size]], dtype=torch.float64, requires_grad=True)
        found = discrepancy.norm(difference)
        assert found.item() == pytest.approx(size * 2 ** (1 / 40))
        found.backward()
        assert difference.grad.tolist()[0] == pytest.approx([0.5 * 2 ** (1 / 40)] * 2)


# A pseudometric


@st.composite
def three_paths(draw):
    n_channels = draw(st.integers(1, 3))
    n_knots = draw(st.integers(2, 6))
    numbers = st.floats(-3, 3)
    count = 3 * n_knots * n_channels
    values = draw(st.lists(numbers, min_size=count, max_size=count))
    steps = draw(st.lists(st.floats(0, 2), min_size=n_knots - 1, max_size=n_knots - 1))
    times = torch.tensor([0.0, *steps], dtype=torch.float64).cumsum(dim=0)[None]
    shape = 3, 1, n_knots, n_channels
    return times, torch.tensor(values, dtype=torch.float64).reshape(shape)


@pytest.mark.parametrize("p", [1, 2, 3, INF])
@settings(max_examples=25, deadline=None)
@given(paths=three_paths(), depth=st.integers(1, 4), include_time=st.booleans())
def test_it_is_a_pseudometric(p, paths, depth, include_time):
    times, (f, g, h) = paths
    discrepancy = LogSignatureDiscrepancy(
        f.shape[-1], depth, p, "full", include_time, n_shapelets=1
    ).double()
    torch.manual_seed(0)
    discrepancy.weight.data = torch.randn_like(discrepancy.weight)
    assert discrepancy(times, f, f).item() == 0
    fg, gh, fh = (discrepancy(times, *pair).item() for pair in ((f, g), (g, h), (f, h)))
    assert fg >= 0 and fg == pytest.approx(discrepancy(times, g, f).item(), rel=1e-12)
    assert fh <= (fg + gh) * (1 + 1e-12) + 1e-12
    lifted = discrepancy(times, f + 1.5, g).item()  # the level is not seen
    assert lifted == pytest.approx(fg, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_without_time_the_speed_does_not_matter(depth):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 12)).cumsum(axis=1)
    even = np.arange(12.0)
    warped = 11 * (even / 11) ** 2.5
    found = {}
    for include_time in (False, True):
        transform = make_transform(
            np.random.default_rng(1), lengths=11.0, depth=depth, include_time=include_time
        )
        for backend in ("auto", "generic"):
            transform.backend = backend
            both = RaggedSeries.from_arrays([values, values], [even, warped])
            one, other = transform(both).discrepancy.detach()
            found[include_time, backend] = (one - other).abs().max().item()
            if not include_time:
                torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
    assert found[True, "auto"] == pytest.approx(found[True, "generic"], abs=1e-9)
    if depth > 1:
        assert found[True, "auto"] > 1e-3  # with time it does


# Fast ways give what the formula gives

SETTINGS = [
    {"depth": 3},
    {"depth": 1, "metric": "none", "p": 1},
    {"depth": 2, "metric": "full", "p": 3, "include_time": False},
    {"depth": 4, "p": INF, "n_shapelets": 3},
    {"depth": 5, "metric": "full", "n_shapelets": 3},
    {"depth": 3, "metric": "none", "include_time": False},
]


def value_and_gradients(transform, paths, offsets, backend):
    transform.zero_grad()
    found = evaluated(transform, paths, offsets, backend)
    upstream = torch.sin(torch.arange(found.numel(), dtype=found.dtype)).reshape(found.shape)
    (found * upstream).sum().backward()
    return found.detach(), {name: p.grad for name, p in transform.named_parameters()}


def assert_same_function(transform, paths, offsets, rtol=1e-9):
    got = value_and_gradients(transform, paths, offsets, "auto")
    want = value_and_gradients(transform, paths, offsets, "generic")
    torch.testing.assert_close(got[0], want[0], rtol=rtol, atol=rtol)
    for name, gradient in want[1].items():
        atol = rtol * gradient.abs().max().item()
        torch.testing.assert_close(got[1][name], gradient, rtol=rtol, atol=atol)
    return got


def offsets_everywhere(rng, transform, paths):
    """Offsets between samples, the first and the last possible ones, and at samples."""
    room = np.maximum(paths.spans[:, None] - transform.shapelets.lengths.detach().numpy(), 0.0)
    share = np.stack([rng.uniform(size=room.shape), np.zeros(room.shape), np.ones(room.shape)], -1)
    start = share * room[..., None]
    at_knot = np.where(room >= paths.step[:, None], paths.step[:, None], 0.0)
    start = np.concatenate([start, at_knot[..., None]], axis=2)
    slope = np.concatenate([-share * (room > 0)[..., None], np.zeros((*room.shape, 1))], axis=2)
    return offsets_at(start, slope)


@pytest.mark.parametrize(
    ("given", "kind"), pairwise(SETTINGS, ["regular", "irregular", "ragged"]), ids=str
)
def test_fast_evaluation_is_the_formula(given, kind):
    rng = np.random.default_rng(2)
    paths = interpolate(SERIES[kind](rng))
    transform = make_transform(rng, **given)
    assert_same_function(transform, paths, offsets_everywhere(rng, transform, paths))


SEARCHED = [given for given in SETTINGS if given["depth"] < 5]  # the generic search is slow


@pytest.mark.parametrize(
    ("given", "kind", "search"),
    pairwise(SEARCHED, list(SERIES), ["grid", "auto", "refined"]),
    ids=str,
)
def test_the_fast_search_is_the_generic_one(given, kind, search):
    """The same discrepancies, at the same places unless places tie."""
    rng = np.random.default_rng(3)
    paths = interpolate(SERIES[kind](rng))
    transform = make_transform(rng, search=search, **given)
    for n_best in (1, 3):
        got = offsets_of(transform, paths, n_best)
        want = offsets_of(transform, paths, n_best, backend="generic")
        assert got.backend == "signatures" and want.backend == "generic"
        with torch.no_grad():
            found, wanted = (evaluated(transform, paths, x, "generic") for x in (got, want))
        # A refined offset is known to 4e-9 of its bracket, and a minimum may be a kink.
        rtol = 1e-9 if search == "grid" else 1e-7
        np.testing.assert_allclose(found[..., 0], wanted[..., 0], rtol=rtol, atol=1e-12)
        if kind in ("regular", "irregular"):
            np.testing.assert_array_equal(got.count, want.count)
            np.testing.assert_allclose(found, wanted, rtol=rtol)
        if search == "grid" and kind in ("regular", "irregular"):
            np.testing.assert_allclose(got.start, want.start, atol=1e-12)
            np.testing.assert_array_equal(got.slope, want.slope)


@pytest.mark.parametrize(("n_channels", "depth"), [(13, 3), (6, 3), (2, 5), (3, 5)])
def test_many_channels_and_depths(n_channels, depth):
    rng = np.random.default_rng(4)
    series = regular(rng, 2, n_channels, n_times=(12, 16))
    transform = make_transform(rng, n_channels, depth=depth)
    got = transform(series)
    got.discrepancy.log().sum().backward()
    twin = copy.deepcopy(transform)
    twin.zero_grad()
    twin.backend = "generic"
    want = twin(series)
    want.discrepancy.log().sum().backward()
    torch.testing.assert_close(got.discrepancy, want.discrepancy, rtol=1e-9, atol=1e-9)
    for one, other in zip(transform.parameters(), twin.parameters(), strict=True):
        atol = 1e-9 * other.grad.abs().max().item()
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-9, atol=atol)


def test_one_series_in_chunks_and_blocks_is_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    paths = interpolate(SERIES["ragged"](rng))
    transform = make_transform(rng, search="refined")
    offsets = offsets_of(transform, paths, 2)
    whole = value_and_gradients(transform, paths, offsets, "auto")
    by_formula = value_and_gradients(transform, paths, offsets, "generic")
    for name in (
        "evaluation.logsignature.MAX_ELEMENTS",
        "evaluation.logsignature.CACHE",
        "search.logsignature.MAX_ELEMENTS",
        "search.logsignature.MAX_WINDOWS",
        "discrepancies.logsignature.MAX_ELEMENTS",
    ):
        monkeypatch.setattr(f"genshapelets.{name}", 1)
    again = offsets_of(transform, paths, 2)
    np.testing.assert_allclose(again.start, offsets.start, atol=1e-6)
    for backend, want in (("auto", whole), ("generic", by_formula)):
        got = value_and_gradients(transform, paths, offsets, backend)
        torch.testing.assert_close(got[0], want[0], rtol=1e-12, atol=1e-12)
        for name, gradient in want[1].items():
            torch.testing.assert_close(got[1][name], gradient, rtol=1e-9, atol=1e-9)


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(6)
    paths = interpolate(SERIES["ragged"](rng))
    transform = make_transform(rng)
    before = torch.get_num_threads()
    found = []
    try:
        for n_threads in (1, 3):
            torch.set_num_threads(n_threads)
            found.append(transform(paths))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0].discrepancy, found[1].discrepancy)
    assert torch.equal(found[0].start, found[1].start)


def test_a_class_derived_from_it_is_searched_by_its_formula():
    class Halved(LogSignatureDiscrepancy):
        def forward(self, times, path, shapelet):
            return super().forward(times, path, shapelet) / 2

    rng = np.random.default_rng(7)
    series = regular(rng, 2)
    transform = make_transform(rng)
    want = transform(series).discrepancy / 2
    halved = Halved(2).double()
    halved.load_state_dict(transform.discrepancy.state_dict())
    transform.discrepancy = halved
    got = transform(series)
    assert got.backend == "generic"
    torch.testing.assert_close(got.discrepancy, want, rtol=1e-9, atol=1e-9)


# Gradients


@pytest.mark.parametrize(
    ("given", "kind"), pairwise(SETTINGS[:4], ["regular", "irregular"]), ids=str
)
def test_gradients_of_search_and_evaluation(given, kind):
    """Every difference searches anew, on the grid."""
    rng = np.random.default_rng(8)
    paths = interpolate(SERIES[kind](rng, n_series=3, n_times=(8, 12)))
    transform = make_transform(rng, lengths=(1.3, 2.9, 9.9), search="grid", **given)
    names, parameters = zip(*transform.named_parameters(), strict=True)
    parameters = tuple(p.detach().clone().requires_grad_() for p in parameters)
    assert (offsets_of(transform, paths).slope > -1).any(), "some window must lie inside"

    def found(*given):
        return functional_call(
            transform, dict(zip(names, given, strict=True)), (paths,)
        ).discrepancy

    assert gradcheck(found, parameters, atol=1e-5, rtol=1e-4)


def test_gradients_at_the_last_offset():
    """The window's end stays where the series ends, its begin moves with the length."""
    rng = np.random.default_rng(9)
    paths = interpolate(regular(rng, 2, n_times=(8, 12)))
    transform = make_transform(rng, lengths=(1.3, 1.9, 2.1))  # which begin between samples
    shapelets, discrepancy = transform.shapelets, transform.discrepancy
    values = shapelets.values.detach().clone().requires_grad_()
    lengths = shapelets.lengths.detach().clone().requires_grad_()
    room = paths.spans[:, None] - lengths.detach().numpy()
    assert (room > 0).all()

    def found(values, lengths, weight):
        start = (paths.spans[:, None] - lengths.detach().numpy())[..., None]
        return evaluate(discrepancy, paths, values, lengths, offsets_at(start, -1.0))

    assert gradcheck(found, (values, lengths, discrepancy.weight), atol=1e-6)


# Found where it is


@pytest.mark.parametrize("given", [{}, {"include_time": False}, {"depth": 2, "p": 1}], ids=str)
@pytest.mark.parametrize("irregularly", [False, True])
def test_a_planted_pattern_is_found(given, irregularly):
    """At another level than it was learnt at, which signatures do not see."""
    rng = np.random.default_rng(10)
    pattern = rng.normal(size=(2, 6))
    times = np.arange(0.0, 40.0, 0.25)
    inside = (times >= 17) & (times <= 22)
    rise = rng.normal(size=(2, len(times))) / 6
    for channel, own in zip(rise, pattern, strict=True):
        channel[inside] = np.diff(np.interp(times, np.arange(17.0, 23.0), own), prepend=0.0)[inside]
    values = rise.cumsum(axis=1)
    if irregularly:
        times[~inside] += rng.uniform(-0.1, 0.1, (~inside).sum())
    transform = GeneralisedShapeletTransform.from_shapelets(
        pattern[None], 5.0, discrepancy=LogSignatureDiscrepancy(2, **given)
    )
    matches = transform(RaggedSeries.from_arrays([values], [times]))
    assert matches.backend == "signatures"
    assert matches.start.item() == pytest.approx(17.0, abs=1e-5)
    assert matches.discrepancy.item() == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("irregularly", [False, True])
def test_long_series_keep_their_digits(irregularly):
    """12,000 times, a drift and a high level: all windows nearly as if each were alone."""
    rng = np.random.default_rng(11)
    n_times = 12_000
    values = rng.normal(size=(2, n_times)).cumsum(axis=1) + 1e4 + 0.5 * np.arange(n_times)
    times = np.arange(float(n_times))
    if irregularly:
        times[1:-1] += rng.uniform(-0.4, 0.4, n_times - 2)
    paths = interpolate(RaggedSeries.from_arrays([values], [times]))
    transform = make_transform(rng, lengths=(3.7, 40.3, 130.1), search="grid")
    offsets = offsets_of(transform, paths, n_best=200)
    assert offsets.backend == "signatures"
    spread = offsets.start[0]
    assert (np.ptp(spread, axis=1) > 8_000).all()
    with torch.no_grad():
        found = evaluated(transform, paths, offsets)[0]
        n_chosen = 25  # by the formula, window by window
        chosen = offsets_at(offsets.start[..., :n_chosen], offsets.slope[..., :n_chosen])
        want = evaluated(transform, paths, chosen, "generic")[0]
    # In order of discrepancy, as the search has seen them.
    assert (found.diff(dim=1) >= -1e-8 * found[:, 1:]).all()
    torch.testing.assert_close(found[:, :n_chosen], want, rtol=1e-9, atol=0)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_any_window_from_the_signatures_of_beginnings(depth):
    """In blocks, off the knots, beyond the end: beside each window piece by piece."""
    rng = np.random.default_rng(12)
    paths = interpolate(irregular(rng, 3, n_times=(60, 80), span=90.0))
    discrepancy = LogSignatureDiscrepancy(2, depth)
    padded = PaddedPaths.of(paths, torch.device("cpu"))
    for length in (0.4, 7.0, 41.0, 80.0):
        windows = logsignature.Windows(discrepancy, paths, 1.5 * length)
        assert (windows.n_blocks > 1) == (length < 20)
        series = torch.arange(3).repeat_interleave(40)
        start = torch.from_numpy(rng.uniform(0.0, paths.spans[series]))
        lengths = torch.full((40,), length, dtype=torch.float64)
        start[:3] = 0.0
        start[3] = float(paths.knots[5])  # at a knot
        got = windows.coordinates(series, start, start + length).T.reshape(3, 40, -1)
        slope = torch.zeros(3, 1, 40, dtype=torch.float64)
        want = window_coordinates(discrepancy, padded, start.reshape(3, 1, 40), slope, lengths)[0]
        torch.testing.assert_close(got, want[:, 0], rtol=1e-9, atol=1e-9 * want.abs().max().item())


# What explanations ask for


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 8, 9, 31])
def test_rows_are_found_by_bisection(n_rows):
    rng = np.random.default_rng(n_rows)
    knots = torch.from_numpy(np.sort(rng.integers(0, 12, (4, n_rows)) / 4.0, axis=1))
    knots -= knots[:, :1].clone()
    series, t = (
        torch.arange(4).repeat_interleave(25),
        torch.linspace(-0.5, 3.5, 25).double().repeat(4),
    )
    want = torch.searchsorted(knots[series], t[:, None], right=True)[:, 0] - 1
    assert (logsignature._last_row(knots, series, t) == want.clamp(0)).all()


def test_channels_count_as_their_letters_do():
    discrepancy = LogSignatureDiscrepancy(2, depth=2)  # words 0, 1, t, 01, 0t, 1t
    assert discrepancy.channel_weights(2).tolist() == [[2.0, 2.0]]
    discrepancy.weight.data = torch.tensor([[0.0, 1.0, 5.0, 0.0, 0.0, -4.0]])
    assert discrepancy.channel_weights(2).tolist() == [[0.0, 3.0]]
    full = LogSignatureDiscrepancy(2, depth=2, metric="full", n_shapelets=3)
    assert full.channel_weights(2).tolist() == [[2.0, 2.0]] * 3
    assert LogSignatureDiscrepancy(2, 2, metric="none").channel_weights(2).tolist() == [[2.0, 2.0]]


def test_it_is_drawn_from_where_the_window_starts():
    discrepancy = LogSignatureDiscrepancy(1)
    assert discrepancy.title == "log-signature"
    assert discrepancy.ignores_level(3).tolist() == [True] * 3
    path, shapelet = torch.tensor([[[5.0], [6.0]]]), torch.tensor([[[1.0], [4.0]]])
    assert discrepancy.drawn(torch.tensor([[0.0, 1.0]]), path, shapelet).tolist() == [
        [[5.0], [8.0]]
    ]


# Bad input


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"depth": 0}, ValueError, "depth must be at least 1; got 0"),
        ({"depth": 2.5}, TypeError, "depth must be a whole number; got 2.5"),
        ({"depth": True}, TypeError, "depth must be a whole number; got True"),
        ({"n_channels": 0}, ValueError, "n_channels must be at least 1; got 0"),
        ({"n_shapelets": 0}, ValueError, "n_shapelets must be at least 1; got 0"),
        ({"p": 0.5}, ValueError, "p must be a number of at least 1, or infinity; got 0.5"),
        ({"p": math.nan}, ValueError, "p must be a number of at least 1, or infinity; got nan"),
        ({"p": "2"}, ValueError, "p must be a number of at least 1, or infinity; got '2'"),
        ({"metric": "cosine"}, ValueError, 'metric must be "none", "diagonal" or "full"'),
        ({"include_time": 1}, TypeError, "include_time must be True or False; got 1"),
        (
            {"n_channels": 40, "depth": 12},
            ValueError,
            r"41 letters, depth 12, with \d+ coordinates, would take [\d.e+]+ GB .*smaller depth",
        ),
        (
            {"n_channels": 13, "depth": 5, "metric": "full", "n_shapelets": 1000},
            ValueError,
            r"1000 x 118132 x 118132 metrics would take [\d.e+]+ GB of memory.*diagonal",
        ),
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        LogSignatureDiscrepancy(**{"n_channels": 2} | given)


def test_shapelets_it_was_not_made_for_are_refused():
    with pytest.raises(
        ValueError, match=r"3 channels.*use LogSignatureDiscrepancy\(n_channels=3\)"
    ):
        LogSignatureDiscrepancy(2).check(4, 3)
    with pytest.raises(ValueError, match=r"there are 4 shapelets.*holds 3 metrics.*n_shapelets=4"):
        LogSignatureDiscrepancy(2, n_shapelets=3).check(4, 2)


@pytest.mark.parametrize("backend", ["auto", "generic"])
def test_windows_too_large_for_memory_are_refused(backend, monkeypatch):
    rng = np.random.default_rng(13)
    transform = make_transform(rng, backend=backend)
    series = regular(rng, 2)
    monkeypatch.setattr(signatures, "_memory", lambda: 10)
    with pytest.raises(
        ValueError, match=r"would take [\d.e-]+ GB of memory; this machine has 1e-08"
    ):
        transform(series)


def test_what_training_leaves_behind_when_it_diverges():
    rng = np.random.default_rng(14)
    series = regular(rng, 2)
    transform = make_transform(rng)
    with torch.no_grad():
        transform.shapelets.values[1, 0, 0] = torch.nan
    with pytest.raises(ValueError, match="shapelet 1 is NaN or infinite: training has diverged"):
        transform(series)
    transform = make_transform(rng)
    transform.discrepancy.weight.data[0, 0] = torch.inf
    with pytest.raises(ValueError, match="the metric is NaN or infinite: training has diverged"):
        transform(series)


def test_values_too_large_for_the_depth_are_named():
    transform = make_transform(np.random.default_rng(15))
    series = np.zeros((3, 2, 30))
    series[1] = 1e150 * np.random.default_rng(0).normal(size=(2, 30))
    with pytest.raises(ValueError, match="of its window of series 1 is too large for float64"):
        transform(series)


def test_an_exact_search_is_not_known():
    transform = make_transform(np.random.default_rng(16), search="exact")
    with pytest.raises(ValueError, match='search="exact" is not known for LogSignature'):
        transform(np.zeros((1, 2, 9)))
