"""How far a fit has come, how long it will take, and fits that must end in time."""

import io
import logging
import subprocess
import sys

import numpy as np
import pytest

from genshapelets import ShapeletClassifier, ShapeletRegressor, load, sizes
from genshapelets.durations import about, seconds_of
from genshapelets.pace import CUTTING, FIXED, READING, TWIN, Leg, Pace
from genshapelets.progress import Progress
from genshapelets.shown import few
from genshapelets.sizes import Part
from genshapelets.training import Trainer
from tests.test_sizes import MANY, OF_MANY
from tests.test_training import SMALL, X, Y, assert_same


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the test moves."""
    now = [100.0]
    monkeypatch.setattr("genshapelets.pace.time.monotonic", lambda: now[0])
    return now


class Screen(io.StringIO):
    def __init__(self, live):
        super().__init__()
        self.live = live

    def isatty(self):
        return self.live


def leg(n_shapelets=75, n_epochs=10, run="all", n_series=100, batch_size=100, readable=False):
    return Leg(run, n_shapelets, n_epochs, n_series, batch_size, readable)


def go(pace, clock, leg, n_steps, seconds, first=0.0):
    """Train a leg for some steps, the first of which takes longer."""
    pace.begin(leg)
    for step in range(n_steps):
        clock[0] += seconds + (0.0 if step else first)
        pace.step()


# ------------------------------------------------------------------ the estimate


def test_the_first_step_says_nothing_about_the_others(clock):
    pace = Pace([leg(n_epochs=100)])
    assert pace.seconds_left() is None
    go(pace, clock, pace.legs[0], 11, seconds=0.5, first=60.0)
    of_end = CUTTING * 0.5  # an epoch is a step
    assert pace.seconds_left() == pytest.approx(89 * 0.5 + of_end)


def test_one_step_alone_is_better_than_nothing(clock):
    pace = Pace([leg(n_epochs=4)])
    go(pace, clock, pace.legs[0], 1, seconds=2.0)
    assert pace.seconds_left() == pytest.approx((3 + CUTTING) * 2.0)


def test_compiling_is_not_counted(clock):
    pace = Pace([leg(n_epochs=100)])
    go(pace, clock, pace.legs[0], 5, seconds=1.0)
    pace.compiling.on_start(None)
    pace.compiling.on_start(None)  # of a kernel that the kernel calls
    clock[0] += 20.0
    pace.compiling.on_end(None)
    pace.compiling.on_end(None)
    clock[0] += 1.0
    pace.step()
    assert pace.seconds_left() == pytest.approx(94.0 + CUTTING)
    assert pace.elapsed == pytest.approx(26.0)


def test_numba_tells_when_it_compiles():
    from numba import njit

    pace = Pace([leg()])
    with pace.listening():
        njit(lambda x: x + 1)(1)
    assert pace.compiling.seconds > 0
    before = pace.compiling.seconds
    njit(lambda x: x + 2)(1)
    assert pace.compiling.seconds == before


def test_fewer_shapelets_are_quicker_and_all_stages_count(clock):
    many, few = leg(75), leg(25, n_epochs=20, readable=True)
    pace = Pace([many, few])
    go(pace, clock, many, 5, seconds=1.0)
    relative = (25 + FIXED) / (75 + FIXED)
    of_few = (20 + CUTTING + TWIN + READING) * relative
    assert pace.seconds_left() == pytest.approx(5 + CUTTING + of_few)


def test_a_second_run_costs_its_start_too(clock):
    part, whole = leg(run="part", n_series=75), leg(run="all")
    pace = Pace([part, whole])
    pace.start_run()
    clock[0] += 7.0  # to the first model
    go(pace, clock, part, 5, seconds=0.75)
    assert pace.seconds_left() == pytest.approx((5 + CUTTING) * 0.75 + 7.0 + 10 + CUTTING)


def test_what_comes_after_a_stage_is_measured(clock):
    legs = [leg(n_epochs=2) for _ in range(3)]
    for number, one in enumerate(legs):
        one.n_shapelets -= number * 25
    pace = Pace(legs)
    go(pace, clock, legs[0], 2, seconds=1.0)
    pace.end()
    clock[0] += 15.0
    pace.begin(legs[1])
    units = legs[0].of_epoch
    steps = sum(2 * one.of_epoch for one in legs[1:]) / units
    ends = sum(one.of_end for one in legs[1:]) / legs[0].of_end * 15.0
    assert pace.seconds_left() == pytest.approx(steps + ends)


def test_older_steps_are_forgotten(clock):
    pace = Pace([leg(n_epochs=1000)])
    go(pace, clock, pace.legs[0], 100, seconds=10.0)
    for _ in range(200):
        clock[0] += 1.0
        pace.step()
    assert pace.seconds_left() == pytest.approx(700, rel=0.02)


def test_a_resumed_leg_has_less_to_do(clock):
    one = leg(n_epochs=100)
    one.n_done = 90
    pace = Pace([one])
    go(pace, clock, one, 3, seconds=2.0)
    assert pace.epoch == 93
    assert pace.seconds_left() == pytest.approx((7 + CUTTING) * 2.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("1h30m", 5400),
        ("10 min", 600),
        ("0.5h", 1800),
        ("2 hours 1 second", 7201),
    ],
)
def test_times_in_words(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-3s", "5 min and more", "1d"])
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match="is not a time such as"):
        seconds_of(text)


def test_seconds_in_words():
    assert [about(x) for x in (0.2, 59.9, 89, 91, 3600, 5400)] == [
        "0 s", "60 s", "89 s", "2 min", "60 min", "1 h 30 min",
    ]  # fmt: skip


# ------------------------------------------------------------------ what is shown


def show(clock, n_steps, seconds, n_epochs=200):
    pace = Pace([leg(n_epochs=n_epochs)])
    progress = Progress(pace, shown=True)
    pace.begin(pace.legs[0])
    for step in range(n_steps):
        clock[0] += seconds
        pace.step()
        progress.update({"loss": 1.0 / (step + 1), "accuracy": 0.5})
    if n_steps == n_epochs:
        pace.end()
    progress.close()


def test_a_terminal_has_a_bar(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", screen := Screen(live=True))
    monkeypatch.setenv("COLUMNS", "120")
    show(clock, 200, seconds=30.0)
    *_, last = shown = screen.getvalue().strip().split("\r")
    assert "\n" not in screen.getvalue().strip()
    assert any("epoch 100/200, 75 shapelets  50%|" in line for line in shown)
    assert any("about 51 min left, loss 0.01, accuracy 0.5" in line for line in shown)
    assert "epoch 200/200" in last and "100%" in last and "loss 0.005" in last


def test_a_log_has_a_line_now_and_then(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", log := Screen(live=False))
    show(clock, 100, seconds=1.0, n_epochs=100)
    lines = log.getvalue().splitlines()
    assert "\r" not in log.getvalue() and len(lines) == 10
    assert lines[0] == "epoch 10/100, 75 shapelets, about 2 min left, loss 0.1, accuracy 0.5"
    assert lines[-1].startswith("epoch 100/100, 75 shapelets, about 1 s left")  # its end is to come


@pytest.mark.parametrize("live", [True, False])
def test_a_training_that_ends_early_shows_its_last_step(live, monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", screen := Screen(live))
    show(clock, 2, seconds=0.01)
    assert "epoch 2/200" in screen.getvalue().splitlines()[-1]
    assert screen.getvalue().endswith("\n")


@pytest.mark.parametrize("live", [True, False])
def test_without_tqdm_there_are_lines(live, monkeypatch, clock):
    for name in ("tqdm", "tqdm.auto", "tqdm.std"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(sys, "stderr", screen := Screen(live))
    show(clock, 30, seconds=1.0)
    assert [line.split(",")[0] for line in screen.getvalue().splitlines()] == [
        "epoch 10/200", "epoch 20/200", "epoch 30/200"
    ]  # fmt: skip


def test_a_notebook_without_widgets_gets_a_quiet_bar():
    script = """
import sys, types
class Stream:  # as in a kernel of Jupyter
    def __init__(self, to): self.to = to
    def write(self, text): return self.to.write(text)
    def flush(self): self.to.flush()
    def isatty(self): return False
Stream.__module__ = "ipykernel.iostream"
shell = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
sys.modules["ipywidgets"] = None
import warnings
warnings.simplefilter("always")
from genshapelets.pace import Leg, Pace
from genshapelets.progress import Progress
sys.stderr = Stream(sys.stderr)
pace = Pace([Leg("all", 4, 1, 10, 10, True)])
progress = Progress(pace, shown=True)
pace.begin(pace.legs[0])
pace.step()
progress.update({"loss": 0.5})
pace.end()
progress.close()
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    assert "\repoch 1/1, 4 shapelets 100%|" in said and "Warning" not in said


def test_verbose_shows_loss_and_accuracy(capsys):
    ShapeletClassifier(max_epochs=3, **SMALL).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    ShapeletClassifier(max_epochs=3, verbose=1, **SMALL).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "epoch 3/3, 4 shapelets, about" in err and "loss" in err and "accuracy" in err


def test_a_long_fit_says_so_once_to_the_log(clock, caplog):
    caplog.set_level(logging.INFO, "genshapelets")
    for n_epochs in (50, 1000):
        pace = Pace([leg(n_epochs=n_epochs)])
        progress = Progress(pace, shown=False)
        pace.begin(pace.legs[0])
        for _ in range(20):
            clock[0] += 1.0
            pace.step()
            progress.update({})
    (record,) = caplog.records
    assert record.getMessage() == "this fit takes about 17 min more; verbose=1 shows how far it is."


class Recorded:
    """What progress was shown after each step."""

    def __init__(self, monkeypatch):
        self.seen = []
        monkeypatch.setattr(
            Progress,
            "update",
            lambda progress, _: self.seen.append(
                (progress.pace.epoch, progress.pace.n_epochs, progress.pace.share)
            ),
        )


def test_the_bar_knows_both_runs_where_a_size_is_chosen(monkeypatch):
    recorded = Recorded(monkeypatch)
    ShapeletClassifier(max_epochs=8, random_state=0, n_jobs=1).fit(MANY, OF_MANY)
    epochs, totals, shares = zip(*recorded.seen, strict=True)
    assert list(epochs) == sorted(epochs) and epochs[-1] == totals[-1]
    assert list(shares) == sorted(shares) and shares[-1] > 0.8
    assert totals[0] >= totals[-1]  # small models may turn out to be hopeless


def test_a_resumed_fit_shows_its_place(tmp_path, monkeypatch):
    settings = {"max_epochs": 8, "checkpoint": tmp_path / "c", "checkpoint_interval": 0, **SMALL}
    epoch, done = Trainer._epoch, iter(range(20))

    def die(self):
        if next(done) == 5:
            raise MemoryError
        epoch(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_epoch", die)
        with pytest.raises(MemoryError):
            ShapeletClassifier(**settings).fit(X, Y)
    recorded = Recorded(monkeypatch)
    ShapeletClassifier(**settings).fit(X, Y)
    assert [seen[:2] for seen in recorded.seen] == [(6, 8), (7, 8), (8, 8)]


# ------------------------------------------------------------------ max_time


@pytest.fixture
def costly(monkeypatch, clock):
    """Let each step take a second for 100 series and 75 shapelets, and all else what it usually does."""

    def slow(owner, name, n_epochs=1.0):
        function = getattr(owner, name)

        def slowly(first, second, *others):
            model = first.model if isinstance(first, Trainer) else first
            n_series = len(second.paths if isinstance(second, Part) else second)
            n_shapelets = model.transform.shapelets.n_shapelets
            if name != "readable_twin" or others[1].near:  # as the plan has it
                clock[0] += n_epochs * (n_shapelets + FIXED) / 100 * n_series / 100
            return function(first, second, *others)

        monkeypatch.setattr(owner, name, slowly)

    slow(Trainer, "_step")
    slow(sizes, "strongest", CUTTING)
    slow(sizes, "readable_twin", TWIN)
    return clock


def test_steps_are_fitted_to_the_limit(clock):
    first, second = leg(n_epochs=50), leg(25, n_epochs=100)
    pace = Pace([first, second], limit=80.0)
    pace.begin(first)
    n_left = None
    while n_left != 0:
        clock[0] += 1.0
        n_left = pace.step()
    pace.end()
    assert first.cut and 36 <= first.n_done <= 40  # half of the work, so half of the time
    pace.begin(second)
    while n_left != 0 or second.n_done == 0:
        clock[0] += 0.5
        n_left = pace.step()
    assert 75 < pace.elapsed <= 80
    assert pace.shortened() == f"{first.n_done + second.n_done} of 150 steps were trained"
    assert pace.too_short() is None


def test_enough_time_changes_nothing(clock):
    pace = Pace([leg(n_epochs=50)], limit=100.0)
    pace.begin(pace.legs[0])
    for _ in range(50):
        clock[0] += 1.0
        assert pace.step() is None
    pace.end()
    assert pace.shortened() is None


def test_sizes_are_left_out_where_each_costs_too_much(clock):
    sizes = [100, 72, 60, 44, 32, 24, 18, 13, 10, 8, 6]
    legs = [leg(size, 2, readable=size <= 60) for size in sizes]
    pace = Pace(legs, limit=30.0, always=[100, 60])
    go(pace, clock, legs[0], 4, seconds=1.25)
    kept = [one.n_shapelets for one in pace.legs]
    assert kept[0] == 100 and 60 in kept and 2 < len(kept) < len(sizes)
    assert kept + pace.left_out == sorted(kept, reverse=True) + sorted(pace.left_out, reverse=True)
    assert sorted(kept + pace.left_out, reverse=True) == sizes
    said = f"there was no time for models of {few(pace.left_out)} shapelets"
    assert pace.shortened() == said  # and all steps of the others are to be trained
    legs[0].n_epochs, legs[0].cut = 20, True
    assert pace.shortened() == f"4 of 20 steps were trained; {said}"
    hopeless = Pace([leg(size, 2, readable=True) for size in sizes], limit=6.0, always=[100, 6])
    go(hopeless, clock, hopeless.legs[0], 4, seconds=1.25)
    assert [one.n_shapelets for one in hopeless.legs] == [100, 6]


def test_a_limited_pace_goes_on_elsewhere(clock):
    legs = [leg(100, 5), leg(72, 5), leg(50, 5)]
    pace = Pace(legs, limit=9.0, always=[100, 50])
    go(pace, clock, legs[0], 4, seconds=1.0)
    pace.end()
    state = pace.state()
    other = Pace([leg(100, 5), leg(72, 5), leg(50, 5)], limit=9.0, always=[100, 50])
    other.restore(state)
    assert other.elapsed == 4.0 and other.left_out == pace.left_out
    assert [one.n_done for one in other.legs] == [one.n_done for one in pace.legs]
    assert other.shortened() == pace.shortened()


@pytest.mark.parametrize("estimator", [ShapeletClassifier, ShapeletRegressor])
def test_a_fit_ends_in_time(estimator, costly):
    settings = {"n_shapelets": 5, "n_knots": 5, "batch_size": 5, "random_state": 0, "n_jobs": 1}
    begun = costly[0]
    whole = estimator(max_epochs=60, **settings).fit(X, Y)
    needed = costly[0] - begun
    begun = costly[0]
    model = estimator(max_epochs=60, max_time=needed / 2, **settings).fit(X, Y)
    assert 0.3 * needed < costly[0] - begun <= 0.55 * needed
    assert whole.shortened_ is None and "steps were trained" in model.shortened_
    assert model.shapelets_.shape == whole.shapelets_.shape
    assert model.n_iter_ < whole.n_iter_
    rates = np.array(model.history_["rate"])
    assert rates[-1] < 0.2 * rates.max()  # annealed to its end
    assert all(np.isfinite(values).all() for values in model.history_.values())
    assert model.score(X, Y) > 0.5


def test_a_limit_that_suffices_gives_the_same_model(costly):
    plain = ShapeletClassifier(max_epochs=10, **SMALL).fit(X, Y)
    for max_time in (1e6, "5h"):
        limited = ShapeletClassifier(max_epochs=10, max_time=max_time, **SMALL).fit(X, Y)
        assert_same(limited, plain)
        assert limited.shortened_ is None


def test_a_limit_is_kept_where_a_size_is_chosen(costly):
    begun = costly[0]
    settings = {"batch_size": 64, "random_state": 0, "n_jobs": 1}
    model = ShapeletClassifier(max_epochs=20, max_time="1min", **settings).fit(MANY, OF_MANY)
    assert 30 < costly[0] - begun < 66
    assert set(model.path_.n_shapelets) == set(model.fitted_) and max(model.fitted_) == 60
    assert np.isfinite(model.path_.loss).all()
    assert model.model_.transform.shapelets.n_shapelets == model.path_.chosen
    assert "steps were trained" in model.shortened_


def test_too_little_time_does_the_least_and_says_what_is_needed(costly, tmp_path):
    model = ShapeletClassifier(max_epochs=30, max_time=1e-3, batch_size=5, **SMALL)
    with pytest.warns(UserWarning, match="max_time is too short.* would take about .* s"):
        model.fit(X, Y)
    assert len(model.lengths_) == 4 and model.predict(X).shape == (20,)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").shortened_ == model.shortened_


def test_the_papers_procedure_ends_in_time(costly):
    begun = costly[0]
    model = ShapeletClassifier(procedure="paper", max_time=1.0, **SMALL).fit(X, Y)
    assert 0.5 < costly[0] - begun < 1.1
    assert model.n_iter_ < 250 and "steps were trained" in model.shortened_
    best = max(model.history_["validation_accuracy"])
    assert best >= model.history_["validation_accuracy"][-1]


def test_a_killed_fit_has_spent_its_time(costly, tmp_path, monkeypatch):
    settings = {"max_epochs": 40, "max_time": 3.0, "checkpoint": tmp_path / "c"}
    settings |= {"checkpoint_interval": 0, "batch_size": 5, **SMALL}
    begun = costly[0]
    step = Trainer._step

    def die(self, batch):
        if costly[0] - begun > 1.5:
            raise MemoryError
        return step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", die)
        with pytest.raises(MemoryError):
            ShapeletClassifier(**settings).fit(X, Y)
    costly[0] += 1000.0  # nobody trains meanwhile
    model = ShapeletClassifier(**settings).fit(X, Y)
    assert 2.0 < costly[0] - begun - 1000.0 < 3.9  # shapelets are dropped once more
    again = ShapeletClassifier(**settings).fit(X, Y)
    assert again.shortened_ == model.shortened_ is not None
    assert_same(again, model)
    with pytest.raises(ValueError, match="its max_time differs"):
        ShapeletClassifier(**settings | {"max_time": 4.0}).fit(X, Y)
