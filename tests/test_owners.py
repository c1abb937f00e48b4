"""Shapelets that speak for the class they resemble, and for no other."""

import numpy as np
import pytest
import torch

from genshapelets import ShapeletClassifier, ShapeletRegressor, explain_model
from genshapelets.datasets import planted_pattern
from genshapelets.owners import Owners


def constrained(weight, owner):
    owners = Owners(torch.tensor(weight))
    owners.owner = torch.tensor(owner)
    owners.constrain()
    return owners.weight.tolist()


def test_weights_of_the_wrong_sign_become_zero():
    weight = [[-1.0, -1.0, 1.0], [1.0, -2.0, 2.0], [-3.0, 3.0, 3.0]]
    expected = [[-1.0, 0.0, 1.0], [1.0, -2.0, 2.0], [0.0, 3.0, 0.0]]
    assert constrained(weight, [0, 1, 2]) == expected


def test_one_logit_speaks_for_the_second_class():
    assert constrained([[-1.0, -1.0, 1.0, 1.0]], [0, 1, 0, 1]) == [[0.0, -1.0, 1.0, 0.0]]


def test_before_anything_was_seen_all_weights_are_free():
    weight = [[-1.0, 1.0], [2.0, -2.0], [-3.0, -3.0]]
    assert constrained(weight, [-1, -1]) == weight


def test_batches_together_give_the_class_of_the_nearest_series():
    random = torch.Generator().manual_seed(0)
    discrepancy = torch.rand(60, 7, generator=random)
    target = torch.randint(0, 4, (60,), generator=random)
    owners = Owners(torch.zeros(4, 7))
    for _ in range(2):  # an epoch does not remember the one before
        for batch in torch.randperm(60, generator=random).split(13):
            owners.see(discrepancy[batch], target[batch])
        owners.settle()
        assert torch.equal(owners.owner, target[discrepancy.argmin(dim=0)])
        discrepancy = discrepancy.flip(0)


@pytest.fixture(scope="module", params=[(2, "default"), (4, "default"), (4, "paper")])
def learnt(request):
    """Sines of so many frequencies, at any phase."""
    n_classes, procedure = request.param
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 15)
    phase = random.uniform(0, 2 * np.pi, (len(y), 1, 1))
    X = np.sin(phase + (1 + y)[:, None, None] * np.linspace(0, 6, 50))
    X += random.normal(scale=0.2, size=X.shape)
    model = ShapeletClassifier(
        n_shapelets=40, batch_size=20, max_epochs=40, own_class=True, procedure=procedure,
        random_state=0,
    )  # fmt: skip
    return explain_model(model.fit(X, y), X, y)


def test_a_fitted_shapelet_speaks_for_the_class_of_its_nearest_series_only(learnt):
    own = learnt.nearest_label == learnt.classes[:, None]
    assert (np.where(own, learnt.weight <= 0, learnt.weight >= 0)).all()
    top = learnt.ranking("weight")[:, 0]
    assert (learnt.nearest_label[top] == learnt.classes).all()


@pytest.mark.parametrize(
    "options", [{"own_class": False}, {"head": torch.nn.Sequential(torch.nn.Linear(6, 1))}]
)
def test_it_can_be_left_out(options):
    data = planted_pattern(24, random_state=0)
    model = ShapeletClassifier(n_shapelets=6, max_epochs=2, random_state=0, **options)
    model.fit(data.series, data.labels)
    head = model.model_.head if "head" not in options else model.model_.head[0]
    assert (head.weight != 0).all()


def test_a_regressor_knows_nothing_of_it():
    data = planted_pattern(24, random_state=0)
    model = ShapeletRegressor(n_shapelets=6, max_epochs=2, random_state=0)
    assert "own_class" not in model.get_params()
    model.fit(data.series, np.arange(24.0))
    assert (model.model_.head.weight != 0).all()


def test_what_is_neither_yes_nor_no_is_refused():
    with pytest.raises(
        ValueError, match="'own_class' parameter of ShapeletClassifier must be None"
    ):
        ShapeletClassifier(own_class="yes").fit(np.zeros((4, 1, 9)), [0, 0, 1, 1])
