"""Training: the two procedures, and long work that can be watched, stopped, killed and resumed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from genshapelets import RaggedSeries, ShapeletClassifier, ShapeletRegressor
from genshapelets.estimators.goals import Goal
from genshapelets.procedures import PROCEDURES
from genshapelets.saving import read_file, write_file
from genshapelets.training import OneCycle, Plateau, Trainer

SMALL = {"n_shapelets": 4, "n_knots": 5, "random_state": 0, "n_jobs": 1}


def problem(n_series=20, n_times=20, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_series) % 2
    X = rng.normal(size=(n_series, 2, n_times)).cumsum(axis=2)
    X[:, 0, 5:12] += 3.0 * y[:, None]
    return X, y


X, Y = problem()


def state(model):
    return {name: value.clone() for name, value in model.model_.state_dict().items()}


def assert_same(one, other):
    assert one.history_ == other.history_
    assert one.n_iter_ == other.n_iter_
    for name, value in state(one).items():
        assert torch.equal(value, state(other)[name]), name


# ------------------------------------------------------------------ rates


def test_the_rate_rises_for_a_quarter_and_falls_to_nothing():
    cycle = OneCycle(0.02)
    rates = [cycle.rate_at(share, 0) for share in np.linspace(0, 1, 101)]
    assert rates[0] == pytest.approx(0.04 * 0.02)
    assert max(rates) == rates[25] == pytest.approx(0.02)
    assert (np.diff(rates[:26]) > 0).all() and (np.diff(rates[25:]) < 0).all()
    assert rates[100] == pytest.approx(0.0, abs=1e-12)
    assert not cycle.lower(1000, 0) and not cycle.stop(1000)


def test_the_papers_rate_is_lowered_to_a_floor():
    plateau = Plateau(0.05)
    assert [plateau.rate_at(0.5, lowered) for lowered in range(4)] == pytest.approx(
        [0.05, 0.005, 0.001, 0.001]
    )
    assert not plateau.lower(19, 0) and plateau.lower(20, 0) and plateau.lower(20, 1)
    assert not plateau.lower(50, 2)  # it is at its floor
    assert not plateau.stop(59) and plateau.stop(60)


def test_the_papers_settings():
    paper = PROCEDURES["paper"]
    assert paper.plan.schedule == Plateau(0.05, factor=0.1, floor=1e-3, patience=20, stop_after=60)
    assert (paper.plan.max_epochs, paper.plan.batch_size, paper.plan.gamma) == (250, 1024, 1e-4)
    assert (paper.validation, paper.n_shapelets, paper.smoothing) == (0.2, 30, 0.0)


# ------------------------------------------------------------------ the paper's procedure


@pytest.fixture
def judged(monkeypatch):
    """Let a fit by the paper's procedure see given validation losses and scores."""

    def fit(losses, scores, **parameters):
        verdicts = zip(losses, scores, strict=True)
        monkeypatch.setattr(Trainer, "_validate", lambda self: next(verdicts))
        states = []
        epoch = Trainer._epoch

        def record(self):
            epoch(self)
            states.append({name: v.clone() for name, v in self.model.state_dict().items()})

        monkeypatch.setattr(Trainer, "_epoch", record)
        return ShapeletClassifier(procedure="paper", **SMALL, **parameters).fit(X, Y), states

    return fit


def test_stale_epochs_lower_the_rate_and_stop_the_training(judged):
    losses = [1.0, 0.9, *[1.0] * 248]
    model, _ = judged(losses, [0.5] * 250)
    assert model.n_iter_ == 62  # 60 epochs after the last progress
    assert model.history_["rate"] == pytest.approx([0.05] * 22 + [0.005] * 20 + [0.001] * 20)


def test_a_higher_accuracy_keeps_the_training_alive_but_not_the_rate(judged):
    scores = np.repeat(np.linspace(0.1, 0.9, 5), 50)
    model, _ = judged([0.5] * 250, scores)
    assert model.n_iter_ == 250
    assert model.history_["rate"][20:22] == pytest.approx([0.05, 0.005])


def test_the_model_goes_back_to_its_best_validation_accuracy(judged):
    scores = [0.5, 0.7, 0.9, 0.6, 0.9, 0.9, 0.4, 0.3]
    losses = [0.6, 0.5, 0.4, 0.1, 0.3, 0.35, 0.2, 0.1]
    model, states = judged(losses, scores, max_epochs=8)
    for name, value in state(model).items():
        assert torch.equal(value, states[4][name])  # of equal accuracies, that of the smaller loss
    assert not torch.equal(states[4]["head.weight"], states[7]["head.weight"])
    assert model.history_["validation_accuracy"] == scores


def test_without_a_validation_part_the_last_epoch_counts(monkeypatch):
    states = []
    epoch = Trainer._epoch
    monkeypatch.setattr(
        Trainer, "_epoch", lambda self: (epoch(self), states.append(self.model.state_dict()))
    )
    model = ShapeletClassifier(max_epochs=4, head=nn.Linear(4, 1), **SMALL).fit(X, Y)
    assert torch.equal(state(model)["head.weight"], states[-1]["head.weight"])
    assert "validation_loss" not in model.history_


@pytest.mark.parametrize("counts", [[2, 2], [2, 40], [3, 5, 100], [2] * 10, [50, 50]])
def test_classes_survive_the_split(counts):
    codes = np.repeat(np.arange(len(counts)), counts)
    goal = Goal(codes, np.ones(len(codes)), len(counts))
    for seed in range(20):
        training, held_out = goal.split(0.2, np.random.default_rng(seed))
        assert sorted([*training, *held_out]) == list(range(len(codes)))
        assert set(codes[training]) == set(codes)
        assert len(held_out) >= 1
        for code, count in enumerate(counts):
            n_held_out = (codes[held_out] == code).sum()
            assert abs(n_held_out - 0.2 * count) <= 1
    a, b = (goal.split(0.2, np.random.default_rng(5))[1] for _ in range(2))
    assert a.tolist() == b.tolist()


def test_numbers_are_split_too():
    goal = Goal(np.linspace(-1, 1, 50)[:, None], np.ones(50), 0)
    training, held_out = goal.split(0.2, np.random.default_rng(0))
    assert len(training) == 40 and len(held_out) == 10


@pytest.mark.parametrize("n_series", [4, 5, 6, 7])
@pytest.mark.parametrize("estimator", [ShapeletClassifier, ShapeletRegressor])
def test_the_papers_procedure_on_very_few_series(estimator, n_series):
    model = estimator(procedure="paper", max_epochs=2, **SMALL).fit(X[:n_series], Y[:n_series])
    assert np.isfinite(model.transform(X)).all()


# ------------------------------------------------------------------ steps


@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_mini_batches(procedure, monkeypatch):
    sizes = []
    step = Trainer._step
    monkeypatch.setattr(
        Trainer, "_step", lambda self, batch: sizes.append(sorted(batch)) or step(self, batch)
    )
    model = ShapeletClassifier(procedure=procedure, batch_size=6, max_epochs=2, **SMALL).fit(X, Y)
    n_training = 20 if procedure == "default" else 16
    n_batches = -(-n_training // 6)
    assert len(sizes) == 2 * n_batches and max(map(len, sizes)) <= 6
    for epoch in (sizes[:n_batches], sizes[n_batches:]):
        assert sorted(np.concatenate(epoch)) == list(range(n_training))  # each series once
    assert sizes[:n_batches] != sizes[n_batches:]
    assert len(model.history_["loss"]) == 2


def test_the_regulariser_is_in_the_history_and_does_its_work():
    one_channel = X[:, :1]  # so that all shapelets measure by the same
    models = [
        ShapeletClassifier(gamma=gamma, max_epochs=30, learning_rate=0.05, **SMALL).fit(
            one_channel, Y
        )
        for gamma in (0.0, 1e-4, 1.0)
    ]
    history = [model.history_["regularisation"] for model in models]
    assert set(history[0]) == {0.0}
    assert all(value > 0 for value in history[1])
    nearest = [model.transform(one_channel).min(axis=0).sum() for model in models]
    assert nearest[2] < nearest[0]
    assert history[1][0] == pytest.approx(1e-4 * history[2][0])


def test_history_of_a_step_by_hand(monkeypatch):
    model = ShapeletClassifier(procedure="paper", max_epochs=1, gamma=0.5, **SMALL).fit(X, Y)
    assert model.history_["loss"] == [pytest.approx(np.log(2))]  # the head starts at zero


# ------------------------------------------------------------------ Ctrl-C


@pytest.fixture
def press_ctrl_c(monkeypatch):
    def press(after):
        step, count = Trainer._step, iter(range(10_000))

        def interrupted(self, batch):
            if next(count) == after:
                raise KeyboardInterrupt
            return step(self, batch)

        monkeypatch.setattr(Trainer, "_step", interrupted)

    return press


@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_ctrl_c_keeps_the_best_model(procedure, press_ctrl_c):
    whole = ShapeletClassifier(procedure=procedure, max_epochs=30, **SMALL).fit(X, Y)
    press_ctrl_c(after=12)
    model = ShapeletClassifier(procedure=procedure, max_epochs=30, **SMALL)
    with pytest.warns(UserWarning, match="interrupted after 12 of 30 epochs.* best one so far"):
        model.fit(X, Y)
    assert model.n_iter_ == 12
    for name, values in model.history_.items():
        assert values == whole.history_[name][:12]
    assert model.predict(X).shape == (20,)
    if procedure == "paper":
        best = max(model.history_["validation_accuracy"])
        assert best == max(whole.history_["validation_accuracy"][:12])


def test_ctrl_c_at_once(press_ctrl_c):
    press_ctrl_c(after=0)
    with pytest.warns(UserWarning, match="interrupted after 0 of 30"):
        model = ShapeletClassifier(max_epochs=30, **SMALL).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)  # usable, though it knows nothing


@pytest.mark.parametrize("interval", [0.0, 3600.0])
def test_ctrl_c_and_a_checkpoint(press_ctrl_c, tmp_path, monkeypatch, interval):
    settings = {"max_epochs": 20, "checkpoint_interval": interval, **SMALL}
    whole = ShapeletClassifier(**settings).fit(X, Y)
    model = ShapeletClassifier(checkpoint=tmp_path / "c", **settings)
    with monkeypatch.context():
        press_ctrl_c(after=9)
        with pytest.warns(UserWarning, match="interrupted after 9"):
            model.fit(X, Y)
    monkeypatch.undo()
    assert read_file(tmp_path / "c", "checkpoint")[0]["stage"]
    assert_same(model.fit(X, Y), whole)


# ------------------------------------------------------------------ checkpoints

SCRIPT = """
import sys
import numpy as np
sys.path.insert(0, {tests!r})
from test_training import KILLED, X, Y, make
make({procedure!r}, {path!r}, **KILLED).fit(X, Y)
"""
KILLED = {"slow": True}


class SlowHead(nn.Linear):
    """Takes its time, so that there is some to be killed in."""

    def forward(self, x):
        time.sleep(0.02)
        return super().forward(x)


def slow_head():
    head = SlowHead(4, 1)
    with torch.no_grad():
        head.weight.fill_(0.1)
        head.bias.zero_()
    return nn.Sequential(nn.Dropout(0.25), head)


def make(procedure, path, random_state=None, slow=True):
    return ShapeletClassifier(
        n_shapelets=4, n_knots=5, n_jobs=1, max_epochs=60, batch_size=7, head=slow_head(),
        procedure=procedure, checkpoint=path, checkpoint_interval=0.0, random_state=random_state,
    )  # fmt: skip


@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_a_killed_process_is_resumed_bit_for_bit(procedure, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    script = SCRIPT.format(tests=str(Path(__file__).parent), procedure=procedure, path=str(path))
    source = Path(sys.modules["genshapelets"].__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(source)}
    )
    try:
        deadline = time.monotonic() + 120
        while True:  # until some epochs are done
            assert process.poll() is None and time.monotonic() < deadline
            if path.exists() and read_file(path, "checkpoint")[0]["state"]["epoch"] >= 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    contents, _ = read_file(path, "checkpoint")
    assert 3 <= contents["state"]["epoch"] < 60

    monkeypatch.setattr(time, "sleep", lambda _: None)
    epochs = []
    epoch = Trainer._epoch
    monkeypatch.setattr(Trainer, "_epoch", lambda self: epochs.append(epoch(self)))
    resumed = make(procedure, path).fit(X, Y)
    assert len(epochs) == resumed.n_iter_ - contents["state"]["epoch"]

    # The uninterrupted fit, of the seed that the killed one drew.
    monkeypatch.setattr(
        "genshapelets.estimators.base.check_random_state",
        lambda _: type("", (), {"randint": lambda *_: contents["seed"]})(),
    )
    assert_same(resumed, make(procedure, None).fit(X, Y))


@pytest.mark.parametrize("estimator", [ShapeletClassifier, ShapeletRegressor])
@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_resumed_after_any_epoch(estimator, procedure, tmp_path, monkeypatch):
    settings = {"procedure": procedure, "max_epochs": 8, "batch_size": 6, **SMALL}
    whole = estimator(**settings).fit(X, Y)
    epoch = Trainer._epoch
    for last in (1, 4, 8):
        path = tmp_path / str(last)
        model = estimator(checkpoint=path, checkpoint_interval=0, **settings)

        done = iter(range(8))

        def die(self, last=last, done=done):
            if next(done) == last:
                raise MemoryError
            epoch(self)

        if last < 8:
            with monkeypatch.context() as patch:
                patch.setattr(Trainer, "_epoch", die)
                with pytest.raises(MemoryError):
                    model.fit(X, Y)
            assert not hasattr(model, "model_")
        assert_same(model.fit(X, Y), whole)


def test_a_finished_checkpoint_returns_at_once(tmp_path, monkeypatch):
    for procedure in ("default", "paper"):
        path = tmp_path / procedure
        model = ShapeletClassifier(
            procedure=procedure, max_epochs=5, checkpoint=path, n_shapelets=4, n_jobs=1
        ).fit(X, Y)  # no random_state: the seed is in the file
        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "_epoch", lambda _: pytest.fail("trained again"))
            again = ShapeletClassifier(**model.get_params()).fit(X, Y)
        assert_same(model, again)


def test_the_interval_is_kept(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "genshapelets.checkpoints.write_file", lambda path, *_: written.append(Path(path))
    )
    settings = {"max_epochs": 10, "checkpoint": tmp_path / "c", **SMALL}
    ShapeletClassifier(checkpoint_interval=3600, **settings).fit(X, Y)
    assert len(written) == 1  # at the end
    model = ShapeletClassifier(checkpoint_interval=0, **settings).fit(X, Y)
    # After each epoch, each size and at the end.
    assert len(written) == 1 + 10 + len(model.path_.n_shapelets) + 1


@pytest.fixture
def checkpointed(tmp_path):
    settings = {"max_epochs": 3, "checkpoint": tmp_path / "c", **SMALL}
    return ShapeletClassifier(**settings).fit(X, Y), tmp_path / "c"


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"n_shapelets": 5}, "its n_shapelets differs .there 4, here 5"),
        ({"max_epochs": 4}, "its max_epochs differs"),
        ({"procedure": "paper"}, "its procedure differs .there 'default', here 'paper'"),
        ({"random_state": 1}, "its random_state differs"),
        ({"class_weight": {np.int64(0): 1.0, np.int64(1): 2.0}}, "its class_weight differs"),
        ({"head": nn.Linear(4, 1)}, "its head differs"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(parameters, reason, checkpointed):
    model, path = checkpointed
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another fit: {reason}.*Delete it, or"):
        model.set_params(**parameters).fit(X, Y)
    assert path.read_bytes() == before
    assert model.predict(X).shape == (20,)


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """A checkpoint in the middle of the second stage, and what to fit on from it."""
    path = tmp_path_factory.mktemp("unfinished") / "c"
    settings = {**SMALL, "max_epochs": 20, "max_time": "1h", "checkpoint_interval": 0}
    model = ShapeletClassifier(checkpoint=path, **settings)
    done, epoch = iter(range(20)), Trainer._epoch

    def die(self):
        if next(done) == 15:
            raise MemoryError
        epoch(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "_epoch", die)
        with pytest.raises(MemoryError):
            model.fit(X, Y)
    return model, read_file(path, "checkpoint")


def without(tensors, name):
    return {key: tensor for key, tensor in tensors.items() if key != name}


WRONG = [torch.zeros(9, 9), torch.zeros(0), torch.tensor(float("nan"))]
EDITED_STATES = [
    {"epoch": 10**400}, {"epoch": -1}, {"epoch": 0.5}, {"stale": True}, {"best_rank": [1.0]},
    {"best_rank": [float("nan"), 0.0]}, {"share": 2.0}, {"stopped": "no"}, {"history": 3},
    {"history": {"loss": None}}, {"history": {}}, {"unknown": 1},
]  # fmt: skip
EDITED_CONTENTS = [
    {"fingerprint": None}, {"over": 3}, {"over": {"all-0": 3}}, {"over": {"all-0": {"loss": 3}}},
    {"over": {"all-0": {"loss": [float("nan")]}}}, {"state": None}, {"seed": -1}, {"seed": "x"},
    {"seed": 10**400}, {"pace": 3},
    {"pace": {"spent": float("nan"), "settled": True, "left_out": [], "steps": {}}},
    {"pace": {"spent": 1.0, "settled": True, "left_out": [4], "steps": {}}},
    {"pace": {"spent": 1.0, "settled": True, "left_out": [], "steps": {"all-4": [-1, False]}}},
]  # fmt: skip


def refused(unfinished, path, contents, tensors):
    model, _ = unfinished
    write_file(path, "checkpoint", contents, tensors)
    with pytest.raises(ValueError) as refusal:
        ShapeletClassifier(**(model.get_params() | {"checkpoint": path})).fit(X, Y)
    said = str(refusal.value)
    assert said.startswith(f"{path} cannot be understood") and "\n" not in said
    assert len(said) < 300 + len(str(path))


def test_an_edited_state_in_a_checkpoint_is_refused(unfinished, tmp_path):
    contents, tensors = unfinished[1]
    assert contents["state"]["epoch"] > 0 and contents["stage"] and contents["over"]
    for edit in EDITED_STATES:
        edited = contents | {"state": contents["state"] | edit}
        refused(unfinished, tmp_path / "c", edited, tensors)


@pytest.mark.parametrize("edit", EDITED_CONTENTS, ids=lambda edit: str(*edit))
def test_edited_contents_of_a_checkpoint_are_refused(edit, unfinished, tmp_path):
    contents, tensors = unfinished[1]
    refused(unfinished, tmp_path / "c", contents | edit, tensors)


def test_edited_tensors_of_a_checkpoint_are_refused(unfinished, tmp_path):
    """Those of the optimiser in wrong sizes once wrote where they must not."""
    contents, tensors = unfinished[1]
    names = [
        "model/centre", "model/head.weight", "best/transform.shapelets.values", "owners/owner",
        "over/all-0/head.bias", "optimiser/0/exp_avg", "optimiser/0/exp_avg_sq", "optimiser/0/step",
        "random/state",
    ]  # fmt: skip
    for name in names:
        for tensor in WRONG:
            refused(unfinished, tmp_path / "c", contents, tensors | {name: tensor})
        refused(unfinished, tmp_path / "c", contents, without(tensors, name))
    below = {
        name: torch.full_like(tensors[name], -1)
        for name in ("model/scale", "over/all-0/feature_scale", "optimiser/0/exp_avg_sq")
    }
    strange = {"optimiser/99/step": torch.zeros(()), "model/x": torch.zeros(1)}
    for name, tensor in (below | strange).items():
        refused(unfinished, tmp_path / "c", contents, tensors | {name: tensor})


def test_a_checkpoint_of_renamed_classes_or_channels_is_refused(tmp_path):
    def fit(classes, channels):
        series = RaggedSeries.from_arrays(X, channel_names=channels)
        settings = {**SMALL, "procedure": "paper", "max_epochs": 1, "checkpoint": tmp_path / "c"}
        return ShapeletClassifier(**settings).fit(series, np.array(classes)[Y])

    fit(["a", "b"], ["hr", "spo2"])
    with pytest.raises(ValueError, match=r"its classes differs .there .*'b'.*, here .*'c'"):
        fit(["a", "c"], ["hr", "spo2"])
    with pytest.raises(ValueError, match="its channels differs .there .*'spo2'.*, here .*'rr'"):
        fit(["a", "b"], ["hr", "rr"])


def test_the_history_keeps_its_order_after_a_resume(unfinished, tmp_path):
    model, (contents, tensors) = unfinished
    write_file(tmp_path / "c", "checkpoint", contents, tensors)
    settings = model.get_params()
    whole = ShapeletClassifier(**settings | {"checkpoint": None}).fit(X, Y)
    resumed = ShapeletClassifier(**settings | {"checkpoint": tmp_path / "c"}).fit(X, Y)
    assert list(resumed.history_.items()) == list(whole.history_.items())
    finished = ShapeletClassifier(**settings | {"checkpoint": tmp_path / "c"}).fit(X, Y)
    assert list(finished.history_.items()) == list(whole.history_.items())


def test_a_checkpoint_of_other_data_is_refused(checkpointed):
    model, path = checkpointed
    before = path.read_bytes()
    for series, labels, weight in ((X + 1e-9, Y, None), (X, 1 - Y, None), (X, Y, 1.0 + Y)):
        with pytest.raises(ValueError, match="its training data differs"):
            model.fit(series, labels, weight)
    with pytest.raises(ValueError, match="its estimator differs"):
        ShapeletRegressor(checkpoint=path, max_epochs=3, **SMALL).fit(X, Y)
    assert path.read_bytes() == before


def test_what_changes_nothing_may_change(checkpointed):
    model, _ = checkpointed
    other = ShapeletClassifier(**model.get_params())
    other.set_params(n_jobs=2, verbose=0, checkpoint_interval=5.0, short_series="hold")
    assert_same(other.fit(X, Y), model)


def test_a_changed_procedure_is_another_fit(checkpointed, monkeypatch):
    from dataclasses import replace

    model, _ = checkpointed
    changed = replace(PROCEDURES["default"], epsilon=0.5)
    monkeypatch.setitem(PROCEDURES, "default", changed)
    with pytest.raises(ValueError, match="belongs to another fit"):
        model.fit(X, Y)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_broken_checkpoint_is_refused_and_left_alone(share, checkpointed):
    model, path = checkpointed
    broken = path.read_bytes()[: int(share * path.stat().st_size)]
    path.write_bytes(broken)
    with pytest.raises(ValueError, match="c is not a genshapelets file, or only a part of one"):
        model.fit(X, Y)
    assert path.read_bytes() == broken


def test_a_model_is_no_checkpoint(checkpointed):
    model, path = checkpointed
    model.save(path)
    with pytest.raises(ValueError, match="holds a model, not a checkpoint"):
        model.fit(X, Y)


def test_a_checkpoint_that_cannot_be_written_is_told_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "run", lambda *_, **__: pytest.fail("trained"))
    model = ShapeletClassifier(max_epochs=3, **SMALL)
    with pytest.raises(FileNotFoundError, match="there is no directory .*missing"):
        model.set_params(checkpoint=tmp_path / "missing" / "c").fit(X, Y)
    with pytest.raises(IsADirectoryError, match="it is a directory"):
        model.set_params(checkpoint=tmp_path).fit(X, Y)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="no permission to write"):
        model.set_params(checkpoint=tmp_path / "c").fit(X, Y)


def test_a_head_whose_weights_are_tied(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(4, 4)
            self.two = self.one
            self.last = nn.Linear(4, 1)

        def forward(self, x):
            return self.last(self.two(self.one(x).relu()))

    settings = {"max_epochs": 3, "head": Tied(), **SMALL}
    model = ShapeletClassifier(checkpoint=tmp_path / "c", **settings).fit(X, Y)
    assert_same(model, ShapeletClassifier(**settings).fit(X, Y))
    assert_same(model, ShapeletClassifier(checkpoint=tmp_path / "c", **settings).fit(X, Y))


def test_a_full_disk_ends_no_training(tmp_path, monkeypatch):
    path = tmp_path / "fit.ckpt"
    options = {**SMALL, "max_epochs": 4}
    plain = ShapeletClassifier(**options).fit(X, Y)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("genshapelets.checkpoints.write_file", full)
    model = ShapeletClassifier(**options, checkpoint=path, checkpoint_interval=0)
    with pytest.warns(UserWarning, match="could not be written .*No space left"):
        model.fit(X, Y)
    assert_same(model, plain)
    assert not path.exists()
