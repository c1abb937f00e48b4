"""Plots look as they did: each is compared with its picture in tests/pictures.

``python -m tests.test_pictures --renew`` draws those anew that have changed. They show explanations
made up by formulas, without training or search, so only a change to the plots changes them.
"""

import shutil
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest
from torch import nn

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MixedDiscrepancy,
    RaggedSeries,
)
from genshapelets.explain import (
    Explanation,
    ModelExplanation,
    ShapeletMatches,
    plot_area,
    plot_channels,
    plot_classes,
    plot_contributions,
    plot_curve,
    plot_heat_maps,
    plot_lengths,
    plot_metric,
    plot_series,
    plot_shapelet,
    plot_sizes,
    plot_spectrum,
)
from genshapelets.model import ShapeletModel

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.testing.compare import compare_images  # noqa: E402
from matplotlib.testing.exceptions import ImageComparisonFailure  # noqa: E402
from PIL import Image  # noqa: E402

PICTURES = Path(__file__).parent / "pictures"
VERSION = f"matplotlib {matplotlib.__version__}"  # others place text elsewhere
DPI = 60
TOLERANCE = 0.3  # root mean square over all pixels, of 255: rounding stays far below

# ------------------------------------------------------------------ made-up explanations

CLASSES = np.array(["bump", "dip", "swing"])
LABEL = np.array([0, 1, 2, 0, 1, 2])  # of the series
CENTRE = np.array([12.0, 20.0, 27.0, 24.0, 11.0, 16.0])  # of the shape in each of them
LENGTHS = np.array([10.0, 9.0, 12.0, 5.0, 16.0])  # of the shapelets
INITIAL = np.array([8.0, 9.5, 8.0, 8.0, 12.0])
WEIGHT = np.array(
    [[-2.1, 0.9, 0.4, 0.2, -0.3], [0.8, -1.7, 0.5, -0.6, 0.1], [0.6, 0.3, -2.4, 0.1, 0.4]]
)
NAMES = ("pulse", "breath", "skin conductance", "temperature", "posture", "light", "noise")


def shape(k, u, channel):
    """Shapelet k, or the shape of class k, on [-1, 1]; each channel has it at a phase of its own."""
    hump, wave = np.cos(np.pi * u / 2) ** 2, np.sin(np.pi * u)
    one, other = ((hump, wave), (-hump, wave), (wave, hump), (0.2 * u, 0.1 * u), (0.3 * u, hump))[k]
    return (one * np.cos(0.9 * channel) + other * np.sin(0.9 * channel)) * (2.0 - 0.05 * channel)


def series_and_shapelets(n_channels, *, dates):
    """Uneven times, gaps in every channel, and the shape of its class in each series."""
    values, times = [], []
    for n, (label, centre) in enumerate(zip(LABEL, CENTRE, strict=True)):
        i = np.arange(36 + n)
        t = i + 0.3 * np.sin(5.0 * i + n)
        u = np.clip((t - centre) / (0.5 * LENGTHS[label]), -1, 1)
        x = np.array([shape(label, u, d) for d in range(n_channels)])
        x += [0.25 * np.sin(1.7 * t + d) + 0.15 * np.sin(9.1 * i + d) for d in range(n_channels)]
        x[[(i + 2 * d + n) % 5 == 0 for d in range(n_channels)]] = np.nan
        values.append(70.0 + 10.0 * x)
        times.append(t)
    if dates:
        start = np.datetime64("2024-02-28T20:00", "ns")
        times = [start + np.round(600 * t).astype("m8[s]") for t in times]
    names = NAMES[:n_channels] if n_channels <= len(NAMES) else None
    u = np.linspace(-1, 1, 11)
    shapelets = [[shape(k, u, d) for d in range(n_channels)] for k in range(len(LENGTHS))]
    series = RaggedSeries.from_arrays(values, times, channel_names=names)
    return series, 70.0 + 10.0 * np.array(shapelets)


def made_up(
    n_channels=2,
    *,
    dates=False,
    level_free=False,
    scale_free=False,
    areas=0,
    regression=False,
    few=False,
):
    """What a model might have learnt; matches and weights are given rather than found.

    The first `areas` shapelets are compared by log-signature; with `few` they look at every third
    channel.
    """
    series, shapelets = series_and_shapelets(n_channels, dates=dates)
    n, k = np.arange(len(LABEL))[:, None], np.arange(len(LENGTHS))
    unit = 600.0 if dates else 1.0
    origin = series.to_user_time(0.0)
    length, offset = unit * LENGTHS, unit * (CENTRE[:, None] - 0.5 * LENGTHS)
    offset = np.clip(offset + unit * np.where(LABEL[:, None] == k, 0, 3 * (n - 2)), 0, unit * 25)
    fit = 0.3 + 0.8 * (LABEL[:, None] != k) + 0.07 * ((2 * n + 3 * k) % 5)
    share = 0.8 ** np.arange(n_channels) * np.array([0.3, 1.0])[np.arange(n_channels) % 2]
    metric = np.array([np.roll(share, j) for j in k]) / share.sum()
    if few:
        metric[np.arange(n_channels) % 3 != k[:, None] % 3] = 0.0
        metric /= metric.sum(axis=1, keepdims=True)
    measure = L2Discrepancy(n_channels, "none", level_free=level_free, scale_free=scale_free)
    if areas:
        measure = MixedDiscrepancy(
            [LogSignatureDiscrepancy(n_channels), measure], [areas, len(k) - areas]
        )
    matches = ShapeletMatches(
        series=series,
        start=series.to_user_time(offset),
        end=series.to_user_time(offset + length),
        discrepancy=fit,
        features=np.log(fit),
        shapelets=40.0 + 0.2 * (shapelets - 70.0)
        if scale_free
        else shapelets - (15.0 if level_free else 0.0),
        lengths=series.to_user_time(length) - origin,
        kinds=tuple(measure.titles(len(LENGTHS))),
        level_free=np.full(len(LENGTHS), level_free or scale_free) | (k < areas),
        scale_free=np.full(len(LENGTHS), scale_free),
        metric=metric,
        channel_names=series.channel_names or tuple(f"channel {d}" for d in range(n_channels)),
        centre=np.full(n_channels, 70.0),
        scale=np.full(n_channels, 10.0),
        _offset=offset,
        _length=length,
        _model=ShapeletModel(
            GeneralisedShapeletTransform.from_shapelets(
                (shapelets - 70.0) / 10.0,
                length,
                discrepancy=measure,
            ),
            nn.Identity(),
            np.full(n_channels, 70.0),
            np.full(n_channels, 10.0),
        ),
    )
    weight = 6.0 * WEIGHT[:1] if regression else WEIGHT
    bias = np.array([98.6]) if regression else np.array([0.2, -0.3, 0.1])
    typical = matches.features.mean(axis=0)
    answers = bias + (matches.features - typical) @ weight.T
    odds = np.exp(answers)
    labels = 90.0 + 5.0 * LABEL if regression else CLASSES[LABEL]
    explanation = Explanation(
        estimator=None,
        matches=matches,
        classes=None if regression else CLASSES,
        typical=typical,
        baseline=typical,
        bias=bias,
        answers=answers,
        probabilities=None if regression else odds / odds.sum(axis=1, keepdims=True),
        predicted=answers[:, 0] if regression else CLASSES[answers.argmax(axis=1)],
        weight=weight,
    )
    nearest = matches.nearest
    learnt = ModelExplanation(
        explanation=explanation,
        labels=labels,
        weight=weight,
        effect=weight * matches.features.std(axis=0),
        nearest=nearest,
        nearest_label=labels[nearest],
        nearest_start=matches.start[nearest, k],
        nearest_end=matches.end[nearest, k],
        nearest_discrepancy=fit[nearest, k],
        lengths=matches.lengths,
        initial_lengths=series.to_user_time(unit * INITIAL) - origin,
    )
    lost = 0.3 * metric.mean(axis=0) / metric.mean() - 0.25  # rather than measured
    vars(learnt)["channel_importance"] = lost
    return learnt


def named_series(n_channels, *, dates=False):
    """A batch with ids, some of them odd; one channel is seldom observed, and one never in series 0."""
    series, _ = series_and_shapelets(n_channels, dates=dates)
    values = series.values.copy()
    values[np.arange(len(values)) % 4 != 1, 1] = np.nan
    values[:36, 2] = np.nan
    ids = np.array(
        ["anna", "ben", "<b>$c$", "a name that is much too long for any legend", "e", "f"]
    )
    return replace(series, values=values, series_ids=ids)


def made_up_path(*, errors=True):
    """A path of sizes as a model might have been cut down along."""
    size = np.array([200, 150, 110, 80, 60, 45, 33, 25, 18, 13, 10, 7, 5, 3])
    loss = 0.31 + 0.9 / size + 0.0004 * size
    error = 0.02 + 0.2 / size if errors else np.full(len(size), np.nan)
    return SimpleNamespace(
        n_shapelets=size, loss=loss, loss_error=error, score=0.93 - 0.5 / size,
        score_name="accuracy", chosen=18,
    )  # fmt: skip


# ------------------------------------------------------------------ pictures

DRAWN = {
    "batch": lambda: named_series(3).plot(),
    "batch-dates": lambda: named_series(7, dates=True).plot(series=[4, 0], channels=["light", 0]),
    "batch-one": lambda: RaggedSeries.from_arrays([[np.sin(np.arange(60.0))]]).plot(),
    "shapelet": lambda: plot_shapelet(made_up(), 0),
    "shapelet-dates": lambda: plot_shapelet(made_up(dates=True), 2, series=2),
    "shapelet-level-free": lambda: plot_shapelet(made_up(level_free=True), 1),
    "shapelet-scale-free": lambda: plot_shapelet(made_up(scale_free=True), 1),
    "channels": lambda: plot_channels(made_up(7), 2),
    "channels-dates": lambda: plot_channels(made_up(dates=True), 0),
    "curve": lambda: plot_curve(made_up(), 2),
    "area": lambda: plot_area(made_up(areas=4), 2),
    "area-time-dates": lambda: plot_area(made_up(1, areas=4, dates=True), 2),
    "heat-maps": lambda: plot_heat_maps(made_up(24), 2),
    "heat-maps-dates": lambda: plot_heat_maps(made_up(7, dates=True), 0),
    "classes": lambda: plot_classes(made_up()),
    "classes-plane": lambda: plot_classes(made_up(), plane=True),
    "classes-kinds": lambda: plot_classes(made_up(areas=2)),
    "metric": lambda: plot_metric(made_up(7)),
    "metric-many": lambda: plot_metric(made_up(44), shapelet=1),
    "metric-named": lambda: plot_metric(made_up(37)),
    "spectrum": lambda: plot_spectrum(made_up(7)),
    "spectrum-many": lambda: plot_spectrum(made_up(44), shapelet=1),
    "spectrum-named": lambda: plot_spectrum(made_up(37)),
    "lengths": lambda: plot_lengths(made_up()),
    "lengths-dates": lambda: plot_lengths(made_up(dates=True)),
    "contributions": lambda: plot_contributions(made_up().explanation, 0, answer=1, top=3),
    "contributions-regression": lambda: plot_contributions(made_up(regression=True).explanation, 4),
    "series": lambda: plot_series(made_up().explanation, 1),
    "channels-few": lambda: plot_channels(made_up(7, few=True), 2),
    "heat-maps-few": lambda: plot_heat_maps(made_up(24, few=True), 1),
    "metric-few": lambda: plot_metric(made_up(24, few=True), shapelet=1),
    "series-few": lambda: plot_series(made_up(7, few=True).explanation, 1),
    "sizes": lambda: plot_sizes(made_up_path()),
    "sizes-no-errors": lambda: plot_sizes(made_up_path(errors=False)),
    "series-dates": lambda: plot_series(made_up(dates=True, regression=True).explanation, 3),
}


@contextmanager
def drawn(name):
    """The figure of one plot, as matplotlib draws it without anybody's settings."""
    with plt.style.context("default", after_reset=True):
        figure = np.ravel(DRAWN[name]())[0].figure
        yield figure
        plt.close(figure)


def save(figure, file):
    figure.savefig(file, dpi=DPI, metadata={"Software": VERSION}, pil_kwargs={"optimize": True})


def difference(picture, file):
    """None, or how a file differs: the paths of both, and of their difference in its folder."""
    try:
        return compare_images(str(picture), str(file), TOLERANCE)
    except ImageComparisonFailure as sizes_differ:
        return f"{sizes_differ}\n  Expected:\n    {picture}\n  Actual:\n    {file}"


def version_of(picture):
    with Image.open(picture) as image:
        return image.info["Software"]


def baseline(name):
    """The picture to compare with; skips if text is placed otherwise than when it was drawn."""
    picture = PICTURES / f"{name}.png"
    if version_of(picture) != VERSION:
        pytest.skip(f"{picture.name} was drawn with {version_of(picture)}; this is {VERSION}")
    return picture


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_looks_as_it_did(name, tmp_path):
    picture = baseline(name)
    with drawn(name) as figure:
        save(figure, tmp_path / picture.name)
    found = difference(picture, tmp_path / picture.name)
    assert found is None, (
        f"{found}\nLook at the files. If the plot is as it should be, replace the picture: "
        "python -m tests.test_pictures --renew"
    )


def recolour(ax):
    ax.get_lines()[-1].set_color("#009E73")  # green for blue


def remove(ax):
    ax.get_lines()[1].remove()


def move(ax):
    ax.xaxis.label.set_x(0.52)  # by two pixels


@pytest.mark.parametrize(
    ("name", "alter"), [("shapelet", recolour), ("channels", remove), ("channels", move)]
)
def test_an_altered_plot_is_refused(name, alter, tmp_path):
    picture = baseline(name)
    with drawn(name) as figure:
        alter(figure.axes[0])
        save(figure, tmp_path / picture.name)
    found = difference(picture, tmp_path / picture.name)
    assert found is not None and str(picture) in found and str(tmp_path) in found


def test_every_picture_is_of_a_plot():
    assert {file.stem for file in PICTURES.glob("*.png")} == set(DRAWN)


def renew():
    """Replace the pictures that have changed, or that another matplotlib has drawn."""
    with TemporaryDirectory() as folder:
        for name in DRAWN:
            picture, file = PICTURES / f"{name}.png", Path(folder) / f"{name}.png"
            with drawn(name) as figure:
                save(figure, file)
            known = picture.exists() and version_of(picture) == VERSION
            if not known or difference(picture, file) is not None:
                shutil.copy(file, picture)
                print(f"{picture}: drawn anew, look at it")


if __name__ == "__main__":
    if sys.argv[1:] != ["--renew"]:
        sys.exit("usage: python -m tests.test_pictures --renew")
    renew()
