"""A discrepancy of one's own in an estimator: learnt, cloned, saved, resumed, explained."""

import copy
import json
import pickle

import joblib
import numpy as np
import pytest
import torch
from pages import contents_of
from problems import irregular
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from torch import nn

from genshapelets import (
    ClassicalDiscrepancy,
    Discrepancy,
    L2Discrepancy,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    explain_model,
    explain_series,
    interpretability,
    load,
)
from genshapelets.cli import main
from genshapelets.explain import find_matches
from genshapelets.saving import read_file
from genshapelets.training import Trainer

SMALL = {"n_shapelets": 3, "n_knots": 4, "max_epochs": 3, "random_state": 0, "n_jobs": 1}
X = np.random.default_rng(0).normal(size=(12, 2, 15)).cumsum(axis=2)
Y = np.arange(12) % 2


class Rounded(Discrepancy):
    """Integral of |difference|, rounded off at 0, with a learnt weight for each channel."""

    def __init__(self, n_channels=2, roundness=0.1):
        super().__init__()
        self.n_channels, self.roundness = n_channels, roundness
        self.weight = nn.Parameter(torch.ones(n_channels))

    def forward(self, times, path, shapelet):
        square = ((path - shapelet) * self.weight).square().sum(dim=-1)
        size = (square + self.roundness**2).sqrt() - self.roundness
        return (times.diff(dim=-1) * (size[..., 1:] + size[..., :-1])).sum(dim=-1) / 2

    def check(self, n_shapelets, n_channels):
        if n_channels != self.n_channels:
            raise ValueError(f"Rounded({self.n_channels}) cannot compare {n_channels} channels.")

    def channel_weights(self, n_channels):
        return self.weight[None].abs()


class FromItsStart(Discrepancy):
    """The largest difference from how a window starts, so levels do not matter."""

    def forward(self, times, path, shapelet):
        return (path - self.drawn(times, path, shapelet)).abs().amax(dim=(-2, -1))

    def drawn(self, times, path, shapelet):
        return shapelet + path[..., :1, :] - shapelet[..., :1, :]

    def ignores_level(self, n_shapelets):
        return torch.ones(n_shapelets, dtype=torch.bool)


def fitted(estimator=ShapeletClassifier, series=X, **parameters):
    parameters = SMALL | {"discrepancy": Rounded()} | parameters
    return estimator(**parameters).fit(series, Y)


def assert_same(one, other):
    for name, value in one.model_.state_dict().items():
        assert torch.equal(value, other.model_.state_dict()[name]), name
    assert one.history_ == other.history_
    np.testing.assert_array_equal(one.transform(X), other.transform(X))


@pytest.fixture(scope="module")
def model():
    return fitted()


# ------------------------------------------------------------------ learning


@pytest.mark.parametrize(
    ("estimator", "procedure", "search"),
    [
        (ShapeletClassifier, "paper", "refined"),
        (ShapeletRegressor, "default", "grid"),
        (ShapeletTransformer, "default", "auto"),
    ],
)
def test_it_is_learnt_and_the_given_one_stays(estimator, procedure, search):
    given = Rounded()
    before = copy.deepcopy(given.state_dict())
    series = irregular(np.random.default_rng(0), 12) if estimator is ShapeletClassifier else X
    model = fitted(estimator, series, discrepancy=given, procedure=procedure, search=search)
    assert model.discrepancy is given and given.weight.requires_grad
    assert torch.equal(given.weight, before["weight"])
    learnt = model.model_.transform.discrepancy
    assert type(learnt) is Rounded and (learnt.weight != 1.0).all()
    found = model.transform(series)
    assert found.shape == (12, 3) and (found >= 0).all() and np.isfinite(found).all()
    assert not hasattr(model, "metric_")


def test_instances_of_known_classes_do_what_their_names_do():
    assert_same(
        fitted(discrepancy=ClassicalDiscrepancy()),
        ShapeletClassifier(discrepancy="classical", **SMALL).fit(X, Y),
    )
    own = ShapeletTransformer(discrepancy=L2Discrepancy(2, "none"), **SMALL).fit(X)
    named = ShapeletTransformer(discrepancy="l2", metric="none", level_free=0.0, **SMALL).fit(X)
    np.testing.assert_array_equal(own.transform(X), named.transform(X))
    assert fitted(discrepancy=L2Discrepancy(2, "full", n_shapelets=3)).metric_.shape == (3, 2, 2)


def test_its_first_tensors_matter():
    given = Rounded()
    with torch.no_grad():
        given.weight.copy_(torch.tensor([2.0, 0.5]))
    assert not np.allclose(fitted(discrepancy=given).transform(X), fitted().transform(X))
    assert_same(fitted(discrepancy=given.double()), fitted(discrepancy=copy.deepcopy(given)))


# ------------------------------------------------------------------ scikit-learn's company


def test_parameters_and_clones(model):
    given = Rounded(roundness=0.3)
    estimator = ShapeletClassifier(discrepancy=given)
    assert estimator.get_params()["discrepancy"] is given
    assert "Rounded(n_channels=2, roundness=0.3)" in repr(estimator)
    twin = clone(estimator)
    assert twin.discrepancy is not given and twin.discrepancy.config() == given.config()
    other = Rounded(roundness=0.4)
    assert estimator.set_params(discrepancy=other).discrepancy is other
    assert_same(clone(model).fit(X, Y), model)


def test_a_search_over_instances():
    kinds = ["l2", Rounded(roundness=0.1), Rounded(roundness=5.0), ClassicalDiscrepancy()]
    search = GridSearchCV(
        ShapeletClassifier(**SMALL), {"discrepancy": kinds}, cv=2, error_score="raise"
    ).fit(X, Y)
    assert list(search.cv_results_["param_discrepancy"]) == kinds
    assert search.best_params_["discrepancy"] in kinds
    assert search.predict(X).shape == (12,)


def test_pickle_and_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "model")
    for other in (
        pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(tmp_path / "model"),
    ):  # fmt: skip
        assert_same(model, other)
        assert other.discrepancy.config() == model.discrepancy.config()


# ------------------------------------------------------------------ files


def test_saved_and_loaded(tmp_path):
    given = Rounded(roundness=0.3)
    with torch.no_grad():
        given.weight.copy_(torch.tensor([2.0, 0.5]))
    model = fitted(discrepancy=given)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert_same(model, other)
    assert other.discrepancy.config() == {"n_channels": 2, "roundness": 0.3}
    assert torch.equal(other.discrepancy.weight, given.weight)  # as given, not as learnt
    assert_same(clone(other).fit(X, Y), model)
    # What is said after the fit is kept, and the model too.
    for later in (L2Discrepancy(2, "full"), "l2"):
        model.set_params(discrepancy=later).save(tmp_path / "model")
        other = load(tmp_path / "model")
        assert type(other.discrepancy) is type(later)
        assert_same(model, other)


def test_a_class_that_is_not_known_where_it_is_loaded(model, tmp_path, monkeypatch):
    model.save(tmp_path / "model")
    monkeypatch.delitem(Discrepancy._classes, "Rounded")
    with pytest.raises(ValueError) as refusal:
        load(tmp_path / "model")
    said = str(refusal.value)
    assert said.startswith(
        f"{tmp_path / 'model'} cannot be loaded: the discrepancy 'Rounded' is not"
    )
    assert "known are " in said and "L2Discrepancy" in said
    assert said.endswith(
        "Define the class Rounded, or import the module that does, first: that registers it."
    )


def test_a_class_that_has_changed_since(model, tmp_path, monkeypatch):
    model.save(tmp_path / "model")
    monkeypatch.setitem(Discrepancy._classes, "Rounded", FromItsStart)
    with pytest.raises(ValueError, match=r"cannot be understood \(TypeError: .*n_channels"):
        load(tmp_path / "model")


class Secretive(FromItsStart):
    def __init__(self, power):
        super().__init__()
        self.exponent = power


class Functional(FromItsStart):
    def __init__(self, function):
        super().__init__()
        self.function = function


@pytest.mark.parametrize(
    ("discrepancy", "message"),
    [
        (Secretive(2.0), "Secretive cannot be written.* does not keep its argument 'power'"),
        (Functional(abs), r"Functional cannot be written.*abs.* Use numbers or text"),
    ],
    ids=["argument not kept", "no plain value"],
)
def test_what_cannot_be_written_is_refused(discrepancy, message, tmp_path, monkeypatch):
    model = fitted(discrepancy=discrepancy)  # nobody asks for a file
    with pytest.raises(TypeError, match=message):
        model.save(tmp_path / "model")
    monkeypatch.setattr(Trainer, "run", lambda *_, **__: pytest.fail("trained"))
    with pytest.raises(TypeError, match=message):
        model.set_params(checkpoint=tmp_path / "checkpoint").fit(X, Y)
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------ checkpoints


@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_resumed(procedure, tmp_path, monkeypatch):
    options = {"procedure": procedure, "max_epochs": 6}
    whole = fitted(**options)
    epoch, done = Trainer._epoch, iter(range(6))

    def die(self):
        if next(done) == 3:
            raise MemoryError
        epoch(self)

    options |= {"checkpoint": tmp_path / "c", "checkpoint_interval": 0}
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_epoch", die)
        with pytest.raises(MemoryError):
            fitted(**options)
    assert_same(fitted(**options), whole)  # with an equal discrepancy, not the same object


def test_the_fingerprint_holds_class_config_and_tensors(tmp_path):
    path = tmp_path / "c"
    fitted(checkpoint=path)
    said = read_file(path, "checkpoint")[0]["fingerprint"]["discrepancy"]
    assert said["class"] == "Rounded" and "0x" not in json.dumps(said)
    heavier, calm = Rounded(), Rounded(roundness=1.0)
    with torch.no_grad():
        heavier.weight += 1.0
    for other in (heavier, calm, FromItsStart(), "l2"):
        with pytest.raises(ValueError, match="belongs to another fit: its discrepancy differs"):
            fitted(discrepancy=other, checkpoint=path)


# ------------------------------------------------------------------ refusals


class Shapeless(FromItsStart):
    def forward(self, times, path, shapelet):
        return (path - shapelet).square().sum()


class Negative(FromItsStart):
    def forward(self, times, path, shapelet):
        return -super().forward(times, path, shapelet)


class Undefined(FromItsStart):
    def forward(self, times, path, shapelet):
        return ((path - shapelet).diff(dim=-2) / times.diff(dim=-1)[..., None]).sum(dim=(-2, -1))


class Detached(FromItsStart):
    def forward(self, times, path, shapelet):
        return super().forward(times, path, shapelet).detach()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"discrepancy": Rounded(3)}, r"Rounded\(3\) cannot compare 2 channels"),
        ({"discrepancy": L2Discrepancy(3)}, r"made for 3: use L2Discrepancy\(n_channels=2\)"),
        ({"discrepancy": L2Discrepancy(2, n_shapelets=4)}, "holds 4 metrics: use n_shapelets=3"),
        ({"discrepancy": L2Discrepancy(2, level_free=[True, False])}, "2 answers for 3 shapelets"),
        (
            {"metric": "full"},
            "'metric' parameter .* 'diagonal' if a discrepancy is given, which has",
        ),
        ({"shared_metric": True}, "'shared_metric' parameter .* None if a discrepancy is given"),
        ({"level_free": 0.5}, "'level_free' parameter .* None if a discrepancy is given"),
        ({"scale_free": 0.5}, "'scale_free' parameter .* None if a discrepancy is given"),
        ({"search": "exact"}, '"exact" is not known for Rounded'),
        ({"discrepancy": Rounded}, "'discrepancy' parameter .* an instance of genshapelets.Discr"),
        ({"discrepancy": Shapeless()}, "Shapeless.forward must return one number for each window"),
        ({"discrepancy": Negative()}, "Negative.forward must return numbers that are not negative"),
        ({"discrepancy": Undefined()}, "Undefined.forward must return numbers .*got nan"),
        ({"discrepancy": Detached()}, "Detached.forward must be differentiable in the shapelet"),
    ],
)
def test_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


# ------------------------------------------------------------------ explanations


@pytest.mark.parametrize("discrepancy", [Rounded(), FromItsStart()], ids=["rounded", "start"])
def test_explained(discrepancy, tmp_path):
    model = fitted(discrepancy=discrepancy)
    explanation = explain_series(model, X)
    total = explanation.contributions().sum(axis=2)[:, 1] + explanation.bias[1]
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-6)
    assert explain_model(model, X, Y).weight.shape == (2, 3)
    assert 0 <= interpretability(model, X, Y).closeness < 1.5
    page = contents_of(model.report(tmp_path / "page.html", X, Y))
    said = dict(page["model"]["parameters"])["discrepancy"]
    assert said.startswith(type(discrepancy).__name__)


def test_windows_are_drawn_as_they_are_compared():
    model = fitted(discrepancy=FromItsStart())
    found = find_matches(model, X)
    assert found.level_free.all() and found.metric.tolist() == [[0.5, 0.5]]
    for n, k in ((0, 0), (5, 2)):
        window = found.window(k, n)
        np.testing.assert_allclose(window.shapelet[:, 0], window.path[:, 0])
        largest = (np.abs(window.path - window.shapelet) / found.scale[:, None]).max()
        assert largest == pytest.approx(found.discrepancy[n, k], rel=1e-5)
    model = fitted()
    weight = model.model_.transform.discrepancy.weight.numpy()
    found = find_matches(model, X)
    np.testing.assert_allclose(found.metric, weight[None] / weight.sum(), rtol=1e-6)
    assert not found.level_free.any()


def test_the_command_line_tells_of_it(tmp_path, capsys):
    fitted(discrepancy=L2Discrepancy(2, "full")).save(tmp_path / "model.gs")
    assert main(["info", str(tmp_path / "model.gs"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["parameters"]["discrepancy"]
    assert said.startswith("L2Discrepancy(n_channels=2, metric='full'")
    assert main(["info", str(tmp_path / "model.gs")]) == 0
    assert "discrepancy L2Discrepancy(" in capsys.readouterr().out
