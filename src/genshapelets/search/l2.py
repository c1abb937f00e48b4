r"""Search for the L2 discrepancy: scan a lattice of offsets in float32, settle what is close in float64.

On a lattice of step h, with f a path in straight lines between its values on the lattice,

    int |A(f(s+t) - w(t))|^2 dt = int |A f|^2 - 2 sum_r f(s + r h) . v_r + constant,

taps v_r = int A^T A w hat_r, the same for every offset s on the lattice. Both terms are correlations, of
the path's values and of its energies over the lattice's cells, and made together by FFT, of paths and
shapelets less what they have in common. A level-free discrepancy then subtracts |int A f|^2 / S.

For a scale-free shapelet, of mean 0 and norm 1, the scan makes C = -2 int A f . A w alone. By sums along
the path E = int |A f|^2 - |int A f|^2 / S, and the squared discrepancy is 2 S + C sqrt(S / E). Windows
of so little energy that rounding leaves it in doubt are evaluated exactly.

On a regularly sampled path the lattice is its samples, and what the scan leaves within its rounding is
decided by the exact evaluation. An irregular path is scanned by its L2 projection on a finer lattice;
the best few local minima are then followed on the true path to the minimum over continuous offsets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.linalg import solveh_banded
from torch import Tensor

from ..discrepancies import Discrepancy, L2Discrepancy
from ..evaluation.l2_lattice import Lattice, lay_on_lattice, mirrored, mirrored_rows
from ..evaluation.l2_problem import Problem, Rows, Shapes, narrowed, pose, spread
from ..kernels import one_torch_thread, run, scratch
from ..offsets import Offsets
from ..paths import Array, Index, Paths
from .l2_exact import certify_paths
from .l2_scan import (
    TOLERANCE,
    Costs,
    Exact,
    Found,
    Samples,
    Scanned,
    correlate_few,
    resample,
    search_minima,
    search_samples,
)

CHUNK_ELEMENTS = 2**20  # float32 numbers of the costs of one chunk of paths: 4 MB
POINTS_PER_GAP = 2.5  # at least, on the lattice of an irregular path
SHORT = 64  # points: paths of no more are laid together
RESAMPLE_CHUNK = 64
BEYOND = 3  # points of a lattice beyond the longest path
N_MEDIAN = 9  # observations whose median is a path's centre
FEW = 0.2  # of the channels: if no more count on average, a product of matrices would waste time


class LatticePaths(NamedTuple):
    """Paths of one step on their lattice, in float32.

    Attributes
    ----------
    step : float
    regular : bool
        Whether the lattice is the paths' own sampling.
    members : (paths,) array
        Their positions in the batch.
    n_rows : (paths,) array
        Lattice points of each.
    values : (paths, channels, points) tensor
        Less the centre of the path; the last one repeated beyond its end.
    unresolved : (paths, channels, points - 1) tensor
        int f^2 over the cell after each point that the values do not see; empty if regular.
    """

    step: float
    regular: bool
    members: Index
    n_rows: Index
    values: Tensor
    unresolved: Tensor


class Lattices(NamedTuple):
    """All paths of a batch on lattices, and the centres (series, channels) taken off their values."""

    groups: list[LatticePaths]
    centre: Array

    def __getitem__(self, chosen: Index) -> Lattices:  # type: ignore[override]
        """Choose paths."""
        groups = []
        for group in self.groups:
            place = np.full(len(self.centre), -1)
            place[group.members] = np.arange(len(group.members))
            members = np.flatnonzero(place[chosen] >= 0)
            if len(members):
                own = place[chosen][members]
                n_rows = group.n_rows[own]
                points = _n_points(n_rows)
                groups.append(
                    group._replace(
                        members=members,
                        n_rows=n_rows,
                        values=group.values[own, :, :points],
                        unresolved=group.unresolved[own, :, : points - 1],
                    )
                )
        return Lattices(groups, self.centre[chosen])


# What float32, or a square, cannot hold becomes infinite or NaN, and is settled in float64.
_LET_OVERFLOW = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@_LET_OVERFLOW
def lay_paths(paths: Paths) -> Lattices:
    """Lay regularly sampled paths on their samples, others on finer lattices."""
    return _lay(paths, paths.step > 0)


@_LET_OVERFLOW
def lay_finely(paths: Paths) -> Lattices:
    """Lay all paths on finer lattices, to look for minima between samples."""
    return _lay(paths, np.zeros(len(paths), np.bool_))


def prepare_l2(paths: Paths, search: str) -> Lattices:
    """The lattices that a search scans, laid once for these paths."""
    return paths.prepared(lay_finely if search in ("refined", "exact") else lay_paths)


def _lay(paths: Paths, regular: NDArray[np.bool_]) -> Lattices:
    """Lay paths on lattices, those of one step and of about the same length together.

    The step of a finer lattice is a power of two, so that it does not depend on the batch. The shorter
    paths of a group are prolonged to the longest, which is at most eight times as long.
    """
    place = (paths.lengths[:, None] - 1) * np.arange(N_MEDIAN) // (N_MEDIAN - 1)
    # A median of a few: a mean would be moved by one wild observation.
    centre = np.median(paths.values[paths.row_offsets[:-1, None] + place], axis=1)
    gap = paths.spans / np.maximum(paths.lengths - 1, 1)
    step = np.where(paths.spans > 0, np.exp2(np.floor(np.log2(gap / POINTS_PER_GAP))), 1.0)
    step = np.where(regular, paths.step, step)
    n_rows = np.where(regular, paths.lengths, np.ceil(paths.spans / step - 1e-9) + 1)
    size = np.ceil(np.log2(np.maximum(n_rows / SHORT, 1.0)) / 3.0)
    kinds, kind = np.unique([regular, step, size], axis=1, return_inverse=True)
    groups = []
    for k, (on_samples, h, _) in enumerate(kinds.T):
        members = np.flatnonzero(kind == k)
        own = n_rows[members].astype(np.int64)
        groups.append(_lay_group(paths, centre, float(h), bool(on_samples), members, own))
    return Lattices(groups, centre)


def _n_points(n_rows: Index) -> int:
    """Number of points for paths of these numbers of rows: one more than a length that FFT likes."""
    return next_fast_len(int(n_rows.max()) + BEYOND - 1, real=True) + 1


def _lay_group(
    paths: Paths, centre: Array, step: float, regular: bool, members: Index, n_rows: Index
) -> LatticePaths:
    points = _n_points(n_rows)
    values = np.empty((len(members), paths.n_channels, points), np.float32)
    unresolved = np.empty(
        (len(members), paths.n_channels, 0 if regular else points - 1), np.float32
    )
    for first in range(0, len(members), RESAMPLE_CHUNK):
        chunk = slice(first, first + RESAMPLE_CHUNK)
        own = members[chunk]
        if regular:
            row = np.minimum(np.arange(points), n_rows[chunk, None] - 1)
            rows = paths.values[paths.row_offsets[own, None] + row] - centre[own, None]
            values[chunk] = rows.transpose(0, 2, 1)
        else:
            values[chunk], unresolved[chunk] = _project(paths[own], centre[own], step, points)
    return LatticePaths(
        step, regular, members, n_rows, torch.from_numpy(values), torch.from_numpy(unresolved)
    )


def _project(paths: Paths, centre: Array, step: float, points: int) -> tuple[Array, Array]:
    """L2 projection of paths on the hat functions of a lattice, and the energy that it misses."""
    n_series, n_channels = len(paths), paths.n_channels
    hats = np.zeros((n_series, points, n_channels))
    energy = np.zeros((n_series, points - 1, n_channels))
    rows = paths.values - np.repeat(centre, paths.lengths, axis=0)
    run(
        lambda first, last: resample(
            first, last, paths.knots, rows, paths.row_offsets, step, hats, energy
        ),
        n_series,
        16,
    )
    mass = np.array([np.full(points, step / 6), np.full(points, 2 * step / 3)])
    mass[1, 0] = mass[1, -1] = step / 3
    values = solveh_banded(mass, hats.transpose(1, 0, 2).reshape(points, -1), check_finite=False)
    values = values.reshape(points, n_series, n_channels).transpose(1, 2, 0)
    p, q = values[:, :, :-1], values[:, :, 1:]
    return values, energy.transpose(0, 2, 1) - step / 3 * (p * p + p * q + q * q)


@_LET_OVERFLOW
def search_l2(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    search: str,
    n_best: int,
) -> Offsets | None:
    """Best offsets: see `genshapelets.search.best_offsets`.

    The grid on irregular paths, which is there to be compared with, is left to the generic search.
    """
    assert isinstance(discrepancy, L2Discrepancy)
    if search == "exact" and discrepancy.scale_free.any():
        raise ValueError('search="exact" is not known for scale-free shapelets. Use "refined".')
    if search == "grid" and not (paths.step[paths.lengths > 1] > 0).all():
        return None
    with one_torch_thread:
        return _search(
            discrepancy, paths, discrepancy.normalised(values).detach(), lengths, search, n_best
        )


def _search(
    discrepancy: L2Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    search: str,
    n_best: int,
) -> Offsets:
    lattices = prepare_l2(paths, search)
    shape = (len(paths), len(values), n_best)
    found = Found(np.zeros(shape), np.zeros(shape), np.ones(shape[:2], np.int64))
    for problem in pose(discrepancy, paths, values, lengths):
        shapes = narrowed(problem.shapes)
        own = Found(*(np.ascontiguousarray(x[:, problem.chosen]) for x in found))  # type: ignore[arg-type]
        room = paths.spans[:, None] - shapes.lengths
        one_metric = discrepancy.n_shapelets is None or len(shapes.lengths) == 1
        samples = None
        if any(group.regular for group in lattices.groups):
            samples = Samples(problem.rows, mirrored_rows(problem.rows), _flat_until(problem.rows))
        for group in lattices.groups:
            if group.n_rows.max() > 1:
                _search_group(
                    problem, shapes, group, lattices.centre, room, one_metric, samples, own
                )
        if search == "exact":
            run(
                lambda first, last: certify_paths(first, last, problem.rows, shapes, room, own),  # noqa: B023
                len(paths),
            )
        for whole, part in zip(found, own, strict=True):
            whole[:, problem.chosen] = part
    return Offsets(*found, "exact" if search == "exact" else "lattice")


class _Scan(NamedTuple):
    """Shapelets on a lattice.

    Apart from the level, a cost is linear in the features of a path (`_features`), and so their
    correlation with taps. Of a scale-free one this is C alone.

    Attributes
    ----------
    weights : (shapelets or 1, channels) tensor
        Weights of the channels; one row if all share a metric.
    spectra : (frequencies, features, shapelets) tensor
        Of the taps of windows that begin at a point. If ``few`` channels count (shapelets, taps,
        frequencies), of these alone: see `correlate_few`.
    end_taps : (features * points, shapelets) tensor
        Of the last possible window, backwards; empty if paths are irregular. If ``few`` channels count
        (shapelets, taps, points).
    any_scale_free : bool
    few : tuple, optional
        Channels, their numbers and weights.
    """

    weights: Tensor
    spectra: Tensor
    end_taps: Tensor
    any_scale_free: bool
    few: tuple[Index, Index, NDArray[np.float32]] | None


def _prepare(
    shapes: Shapes,
    weights: Tensor,
    level: Array,
    lattice: Lattice,
    backwards: Lattice | None,
    period: int,
) -> _Scan:
    """Prepare a scan of shapelets with these weights of all channels, one row if they share a metric.

    ``level`` (shapelets, channels) is taken off them.
    """
    n_channels, any_scale_free = weights.shape[1], bool(shapes.scale_free.any())
    taps = [_taps(x, shapes, level) for x in (lattice, backwards) if x is not None]
    if len(weights) > 1 and shapes.n_active.mean() <= FEW * n_channels:
        few = shapes.channels, shapes.n_active, shapes.weights.astype(np.float32)
        of_points, of_ends = (torch.cat(x, dim=1) for x in (taps[0], taps[-1]))
        spectra = torch.fft.rfft(of_points, period).conj().resolve_conj()
        return _Scan(weights, spectra, of_ends, any_scale_free, few)
    own = torch.ones(1, 1) if len(weights) == 1 else weights  # of the energies
    for x in taps:
        x[0] = torch.from_numpy(spread(x[0].mT.numpy(), shapes, n_channels)).mT
    spectra = [torch.fft.rfft(x, period).conj().permute(2, 1, 0) for x in taps[0]]
    spectra[1:] = [x * own.T for x in spectra[1:]]
    end_taps = weights[:0]
    if backwards is not None:
        values, *energies = taps[1]
        end_taps = torch.cat([values, *(own[..., None] * x for x in energies)], dim=1)
    return _Scan(
        weights,
        torch.cat(spectra, dim=1),
        end_taps.flatten(1).T.contiguous(),
        any_scale_free,
        None,
    )


def _taps(lattice: Lattice, shapes: Shapes, level: Array) -> list[Tensor]:
    """Taps (shapelets, channels or 1, points) for values, energies of cells and squares.

    A window's last node lies between two points, a share z of the way. Over that share of a cell the
    energy is that of the cubic with the cell's energy and, as slopes, the squares at its ends.
    """
    k, last, step, z = np.arange(len(level)), lattice.pieces, lattice.step, lattice.share
    point = np.arange(lattice.hats.shape[1])
    cells, squares = np.zeros((2, len(k), len(point)))
    cells[point < last[:, None] - 1] = step / 3
    cells[k, last - 1] = step / 3 * z * z * (3.0 - 2.0 * z)
    squares[k, last - 1] = step * z * (1.0 - z) ** 2
    squares[k, last] = step * z * z * (z - 1.0)
    cells[shapes.scale_free], squares[shapes.scale_free] = 0.0, 0.0
    # The integrals of the hats themselves, for the level.
    width = np.where(point < last[:, None], step, 0.0)
    width[:, 0] = step / 2
    width[k, last] = step * z / 2
    width[k, last - 1] -= step * (1.0 - z) / 2
    values = lattice.hats - width[:, :, None] * level[:, None]
    at_last = values[k, last]
    values[k, last - 1] += (1.0 - z)[:, None] * at_last
    values[k, last] = z[:, None] * at_last
    weights = torch.from_numpy(shapes.weights).float()
    of_values = torch.from_numpy(values).float().transpose(1, 2) * (-2.0 * weights[..., None])
    return [of_values, *(torch.from_numpy(x).float()[:, None] for x in (cells, squares))]


def _features(x: Tensor, weights: Tensor) -> Tensor:
    """Values x at points, 3/h times the energy of the cell after each, and the square at each.

    From (paths, channels, points + 1) values; (paths, features, points). If all shapelets share a metric
    the energies are summed over channels.
    """
    x, following = x[:, :, :-1], x[:, :, 1:]
    square = x * x
    cell = (x * following).add_(square).addcmul_(following, following)
    if len(weights) == 1:
        cell, square = weights @ cell, weights @ square
    return torch.cat([x, cell, square], dim=1)


def _costs(
    scan: _Scan, group: LatticePaths, lift: Tensor, shapelet_energy: Array, part: slice
) -> Costs:
    """Costs of windows of some of the paths; level and scale are not seen to yet.

    ``lift`` (paths, channels) is what the centres of the paths are above the level of the shapelets.
    """
    x, h, n_rows = group.values[part] + lift[part, :, None], group.step, group.n_rows[part]
    period = x.shape[2] - 1
    features = _features(x, scan.weights)
    n_channels, one_metric = x.shape[1], len(scan.weights) == 1
    cells = features[:, n_channels : n_channels + (1 if one_metric else n_channels)]
    if not group.regular:
        unresolved = group.unresolved[part]
        cells += 3 / h * (scan.weights @ unresolved if one_metric else unresolved)
    energy = h / 3 * cells.sum(dim=2)
    if not one_metric:
        energy = energy @ scan.weights.T
    # Circular: a window that would wrap around ends beyond its path and is no candidate.
    shape = len(x), len(shapelet_energy)
    spectrum = torch.fft.rfft(features, period)
    by_pair = scratch("by pair", (*shape, spectrum.shape[2]), torch.complex64)
    if scan.few:
        correlate_few(spectrum.numpy(), scan.spectra.numpy(), *scan.few, by_pair.numpy())
    else:
        spectrum = spectrum.permute(2, 0, 1).contiguous()
        product = scratch("product", (len(spectrum), *shape), torch.complex64)
        torch.bmm(spectrum, scan.spectra, out=product)
        by_pair.copy_(product.permute(1, 2, 0))
    cost = scratch("cost", (*shape, period), torch.float32)
    torch.fft.irfft(by_pair, period, out=cost)
    ends = x.new_empty(len(x), 0)
    if group.regular:
        n_points = scan.end_taps.shape[2] if scan.few else len(scan.end_taps) // features.shape[1]
        row = torch.from_numpy(np.maximum(n_rows[:, None] - 1 - np.arange(n_points + 1), 0))
        backwards = x.gather(2, row[:, None].expand(-1, n_channels, -1))
        features = _features(backwards, scan.weights)
        if scan.few:
            products = scratch("ends", (*shape, n_points), torch.float32)
            correlate_few(features.numpy(), scan.end_taps.numpy(), *scan.few, products.numpy())
            ends = products.sum(dim=2)
        else:
            ends = features.flatten(1) @ scan.end_taps
    f, g = x[:, :, :-1], x[:, :, 1:]
    integral, squares = _summed(h / 2 * (f + g)), torch.empty(0, 0, 0, dtype=torch.float64)
    if scan.any_scale_free:
        squares = _summed(h / 3 * (f * f + f * g + g * g) + (0 if group.regular else unresolved))
    tolerance = TOLERANCE * (energy.double().numpy() + shapelet_energy)
    moments = integral.numpy(), squares.numpy()
    return Costs(
        cost.numpy(), ends.numpy(), x.numpy(), integral.float().numpy(), moments, tolerance, n_rows
    )


def _summed(cells: Tensor) -> Tensor:
    """Sums (…, points) of what is in the cells before each point."""
    return torch.nn.functional.pad(cells.cumsum(dim=2, dtype=torch.float64), (1, 0))


def _flat_until(rows: Rows) -> Index:
    """Last row, counted in its own path, up to which the values stay those of a row."""
    ends = np.append((rows.values[1:] != rows.values[:-1]).any(axis=1), True)
    ends[rows.row_offsets[1:] - 1] = True
    position = np.flatnonzero(ends)
    last = position[np.searchsorted(position, np.arange(len(ends)))]
    return last - np.repeat(rows.row_offsets[:-1], np.diff(rows.row_offsets))


def _search_group(
    problem: Problem,
    shapes: Shapes,
    group: LatticePaths,
    centre: Array,
    room: Array,
    one_metric: bool,
    samples: Samples | None,
    found: Found,
) -> None:
    """Search the paths of one lattice, chunk by chunk, for the `narrowed` shapelets of a problem."""
    rows, step = problem.rows, group.step
    longest = float((group.n_rows.max() - 1) * step)
    lattice = lay_on_lattice(shapes, step, longest)
    backwards = lay_on_lattice(mirrored(shapes), step, longest) if group.regular else None
    if problem.matrix is not None:
        matrix = torch.from_numpy(problem.matrix).float()
        # As if what the lattice does not see were uncorrelated.
        group = group._replace(
            values=matrix @ group.values, unresolved=matrix.square() @ group.unresolved
        )
        centre = centre @ problem.matrix.T
    # What is common is taken off all, lest large numbers cost digits.
    values, all_weights = problem.shapes.values, problem.shapes.weights
    mean = (values[:, 1:] + values[:, :-1]).mean(axis=1) / 2
    counts = ~shapes.scale_free
    common = np.median(mean[counts], axis=0) if counts.any() else mean[0]
    mean = np.take_along_axis(mean, shapes.channels, axis=1)
    level = np.where(shapes.level_free[:, None], mean, common[shapes.channels])
    lift = torch.from_numpy((centre[group.members] - common) * counts.any()).float()
    period = group.values.shape[2] - 1
    weights = torch.from_numpy(all_weights[:1] if one_metric else all_weights).float()
    scan = _prepare(shapes, weights, level, lattice, backwards, period)
    lengths = np.minimum(shapes.lengths, longest)
    energy = (shapes.weights * ((shapes.values - mean[:, None]) ** 2).mean(axis=1)).sum(axis=1)
    raised = energy + (shapes.weights * (mean - level) ** 2).sum(axis=1)
    raised *= counts  # the scale of a path has nothing to do with theirs
    scanned = Scanned(step, lattice.pieces, lattice.share, room, energy * lengths, all_weights)
    if samples is not None and backwards is not None:
        exact = Exact(samples, shapes, lattice, backwards)
    size = max(1, CHUNK_ELEMENTS // (len(shapes.lengths) * period))

    def search_chunk(first: int, last: int) -> None:
        members = group.members[first:last]
        costs = _costs(scan, group, lift, raised * lengths, slice(first, last))
        if group.regular:
            search_samples(members, exact, shapes, scanned, costs, found)
        else:
            search_minima(members, rows, shapes, scanned, costs, found)

    run(search_chunk, len(group.members), size)
