"""How good predictions are, against cases worked by hand and scikit-learn's own."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from genshapelets.estimators.scores import score_classes, score_numbers

TWO = np.array(["no", "yes"])
P = np.array([0.1, 0.4, 0.35, 0.8])  # of "yes"


def two(labels, p=P):
    return score_classes(TWO, np.array(labels), np.stack([1 - p, p], axis=1))


def test_two_classes_by_hand():
    scores = two(["no", "no", "yes", "yes"])
    assert (scores.series, scores.accuracy, scores.balanced_accuracy) == (4, 0.75, 0.75)
    assert scores.auroc == 0.75  # three of four pairs are in order
    assert scores.auprc == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert scores.log_loss == pytest.approx(-np.mean(np.log([0.9, 0.6, 0.35, 0.8])))
    # Confidences 0.9 and 0.8 have bins of their own, 0.6 and 0.65 share one, of which one misses.
    assert scores.calibration_error == pytest.approx((0.1 + 0.2 + 0.25) / 4)
    assert scores.classes["yes"] == {"series": 2, "recall": 0.5}
    assert scores.confusion == {"no": {"no": 2, "yes": 0}, "yes": {"no": 1, "yes": 1}}
    assert scores.notes == ()


def test_calibration_is_by_bins():
    certain = two(["yes", "yes", "yes", "no"], np.full(4, 0.75))
    assert certain.calibration_error == pytest.approx(0.0)
    assert two(["yes"] * 4, np.ones(4)).calibration_error == 0.0


def three_classes(seed=0, n=40):
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(3), n), random.integers(0, 3, n)


def test_more_classes_are_each_against_the_rest():
    p, y = three_classes()
    scores = score_classes(np.arange(3), y, p)
    assert scores.auroc == pytest.approx(roc_auc_score(y, p, multi_class="ovr"))
    assert scores.log_loss == pytest.approx(log_loss(y, p))
    assert list(scores.confusion) == [0, 1, 2] and scores.notes == ()


def test_a_class_without_series_is_left_out_and_said():
    p, y = three_classes()
    scores = score_classes(np.arange(3), y % 2, p)
    each = [roc_auc_score(y % 2 == code, p[:, code]) for code in (0, 1)]
    assert scores.auroc == pytest.approx(np.mean(each))
    assert scores.log_loss == pytest.approx(log_loss(y % 2, p, labels=[0, 1, 2]))
    assert list(scores.classes) == list(scores.confusion) == [0, 1]
    assert scores.notes == ("auroc and auprc are means over 2 classes: no series is labelled 2.",)


def test_labels_of_one_class_alone():
    scores = two(["no"] * 4)
    assert scores.accuracy == 0.75 and np.isnan([scores.auroc, scores.auprc]).all()
    assert np.isfinite([scores.log_loss, scores.calibration_error]).all()
    assert "no auroc and auprc" in scores.notes[0]
    said = str(scores)
    assert "auroc:              not defined" in said and "note: no auroc and auprc" in said


def test_labels_that_the_model_does_not_know():
    scores = two(["no", "maybe", "yes", "yes"])
    assert scores.accuracy == 0.5 and np.isnan(scores.log_loss) and 0 <= scores.auroc <= 1
    assert scores.classes["maybe"] == {"series": 1, "recall": 0.0}
    assert scores.confusion["maybe"] == {"no": 1, "yes": 0}
    assert any("does not know the labels maybe" in note for note in scores.notes)
    with pytest.raises(
        ValueError, match="labels .maybe. are not the classes of the model .no, yes"
    ):
        two(["maybe"] * 4)


def test_it_can_be_read():
    said = str(two(["no", "no", "yes", "yes"])).splitlines()
    assert said[:2] == ["series:             4", "accuracy:           0.75"]
    assert "  yes: series 2, recall 0.5" in said
    assert said[-2:] == ["  no        2       0", "  yes       1       1"]


def test_numbers():
    scores = score_numbers(np.array([0.0, 2.0]), np.array([1.0, 2.0]))
    assert (scores.series, scores.r2, scores.mae) == (2, 0.5, 0.5)
    assert scores.rmse == pytest.approx(np.sqrt(0.5))
    same = score_numbers(np.array([1.0]), np.array([2.0]))
    assert np.isnan(same.r2) and same.rmse == 1.0 and "no r2" in str(same)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_numbers_in_a_wild_unit(unit):
    numbers = np.arange(6.0) % 4
    there, here = (score_numbers(numbers * u, numbers[::-1] * u) for u in (unit, 1.0))
    np.testing.assert_allclose(
        (there.r2, there.rmse, there.mae), (here.r2, here.rmse * unit, here.mae * unit)
    )
