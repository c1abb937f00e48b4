"""Saved models: back bit for bit, or refused. Nothing in a file runs."""

import builtins
import json
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import nn

import genshapelets
from genshapelets import (
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    load,
)
from genshapelets.saving import VERSION, _digest, read_file, replace_file, write_file

FIXTURE = Path(__file__).parent / "fixtures" / "model-v1.safetensors"
SMALL = {"n_shapelets": 3, "n_knots": 4, "max_epochs": 2, "random_state": 0, "n_jobs": 1}
X = np.random.default_rng(0).normal(size=(12, 2, 15)).cumsum(axis=2)
CODES = np.arange(12) % 3


@pytest.fixture(scope="module")
def model():
    return ShapeletClassifier(**SMALL).fit(X, np.array(["a", "b", "c"])[CODES])


@pytest.fixture
def file(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def assert_same(one, other, series=X):
    assert type(one) is type(other)
    for name, value in one.model_.state_dict().items():
        assert torch.equal(value, other.model_.state_dict()[name]), name
        assert value.dtype == other.model_.state_dict()[name].dtype
    parameters = one.get_params()
    for name, value in other.get_params().items():
        assert value == parameters[name] and type(value) is type(parameters[name]), name
    fitted = {name for name in vars(one) if name.endswith("_")}
    assert fitted == {name for name in vars(other) if name.endswith("_")}
    for name in fitted - {"model_", "path_", "fitted_", "sources_"}:
        value, restored = getattr(one, name), getattr(other, name)
        assert type(value) is type(restored), name
        if isinstance(value, np.ndarray):
            assert value.dtype == restored.dtype
            np.testing.assert_array_equal(value, restored)
            assert [type(item) for item in value.flat] == [type(item) for item in restored.flat]
        else:
            assert value == restored, name
    np.testing.assert_array_equal(one.transform(series), other.transform(series))
    for use in ("predict", "predict_proba", "decision_function"):
        if hasattr(one, use):
            np.testing.assert_array_equal(getattr(one, use)(series), getattr(other, use)(series))


def round_trip(model, tmp_path, series=X):
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert_same(model, other, series)
    return other


# ------------------------------------------------------------------ there and back


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (ShapeletClassifier, {"metric": "none"}),
        (ShapeletRegressor, {"metric": "diagonal", "shared_metric": True}),
        (ShapeletTransformer, {"metric": "diagonal", "shared_metric": False}),
        (ShapeletTransformer, {"metric": "full", "shared_metric": True}),
        (ShapeletClassifier, {"metric": "full", "shared_metric": False}),
        (ShapeletRegressor, {"discrepancy": "classical"}),
        (ShapeletClassifier, {"procedure": "paper", "search": "exact", "level_free": 0.5}),
        (ShapeletRegressor, {"n_shapelets": 1, "level_free": 1.0, "search": "refined"}),
        (ShapeletClassifier, {"level_free": 0.5, "scale_free": 0.3}),
        (
            ShapeletTransformer,
            {"n_shapelets": np.int64(2), "initial_length": (0.2, np.float32(0.5))},
        ),
    ],
    ids=str,
)
def test_round_trip(estimator, parameters, tmp_path):
    model = estimator(**(SMALL | parameters)).fit(X, CODES)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    if any(isinstance(value, np.generic | tuple) for value in parameters.values()):
        assert other.get_params() == model.get_params()  # as Python's own numbers
        model.set_params(**other.get_params())
    assert_same(model, other)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "b", "ü 東"]),
        np.array([5, -3, 2**53 + 1]),
        np.array([1, 2, 3], dtype=np.int8),
        np.array([1.0, 2.0, 4.0]),
        np.array([False, True, True]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([1, 2, 3], dtype=object),
        np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="M8[D]"),
    ],
    ids=lambda labels: f"{labels.dtype}",
)
def test_round_trip_of_labels(labels, tmp_path):
    model = ShapeletClassifier(**SMALL).fit(X, labels[CODES])
    other = round_trip(model, tmp_path)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    round_trip(other.fit(X, labels[CODES]), tmp_path)


def test_round_trip_of_datetimes_channel_names_and_columns(tmp_path):
    days = np.datetime64("2024-01-01") + np.arange(15)
    series = RaggedSeries.from_arrays(X, days, channel_names=["hr", "spo2"])
    other = round_trip(ShapeletClassifier(**SMALL).fit(series, CODES), tmp_path, series)
    assert other.channel_names_ == ("hr", "spo2") and other.lengths_.dtype == "m8[ns]"
    with pytest.raises(ValueError, match="datetimes"):
        other.predict(X)
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X[:, 0], columns=[f"t{i}" for i in range(15)])
    other = round_trip(ShapeletRegressor(**SMALL).fit(table, CODES), tmp_path, table)
    assert other.feature_names_in_.tolist() == list(table.columns)


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}},
        {"initial_length": [0.2, 0.4], "n_jobs": 2, "verbose": 0, "short_series": "hold"},
        {"head": nn.Linear(3, 3, bias=False)},
    ],
    ids=str,
)
def test_round_trip_of_parameters_and_fit_again(parameters, tmp_path):
    model = ShapeletClassifier(**(SMALL | parameters)).fit(X, CODES)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert_same(model.set_params(head=None), other)
    if "head" not in parameters:
        assert_same(model, other.fit(X, CODES))


def test_paths_seeds_and_devices_are_not_kept(tmp_path):
    state = np.random.RandomState(0)
    model = ShapeletClassifier(
        n_shapelets=2, max_epochs=1, random_state=state, checkpoint=tmp_path / "c", device="cpu"
    ).fit(X, CODES)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert other.random_state is None and other.checkpoint is None and other.device is None


def test_parameters_changed_after_the_fit_do_not_change_the_model(tmp_path):
    model = ShapeletClassifier(**SMALL).fit(X, CODES)
    model.set_params(metric="full", discrepancy="classical", n_shapelets=9)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    np.testing.assert_array_equal(other.transform(X), model.transform(X))
    assert other.metric == "full" and other.n_shapelets == 9


def test_loading_leaves_the_random_state_alone(file):
    before = torch.get_rng_state()
    load(file)
    assert torch.equal(before, torch.get_rng_state())


def test_an_old_file_gives_the_predictions_it_gave():
    """Files of version 1 stay readable. Made once, with version 1 of the format, by

    python -c "import sys; sys.path.insert(0, 'tests'); import test_saving as t; t.make_fixture()"
    """
    model = load(FIXTURE)
    assert isinstance(model, ShapeletClassifier)
    assert model.classes_.tolist() == ["falls", "rises"]
    assert model.channel_names_ == ("hr", "spo2")
    np.testing.assert_allclose(model.lengths_, [2.5, 4.0, 6.0], rtol=1e-6)
    expected = json.loads(FIXTURE.with_suffix(".json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(model.transform(fixture_series()), expected["transform"], rtol=1e-5)
    np.testing.assert_allclose(
        model.predict_proba(fixture_series()), expected["predict_proba"], rtol=1e-5
    )
    assert model.predict(fixture_series()).tolist() == expected["predict"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "none"},
        {"metric": "diagonal", "shared_metric": True},
        {"metric": "full", "shared_metric": False, "level_free": 0.5},
        {"discrepancy": "classical"},
    ],
    ids=str,
)
def test_files_of_version_1_name_the_metric(parameters, tmp_path):
    model = ShapeletClassifier(**(SMALL | parameters), search="grid").fit(X, CODES)
    model.save(tmp_path / "model")
    name = parameters.get("discrepancy") or parameters["metric"]
    later = {"transform.discrepancy.scale_free": None}
    rewrite(tmp_path / "model", version="1", edit=change("discrepancy", name), tensors=later)
    assert_same(model, load(tmp_path / "model"))


def fixture_series():
    t = np.array([0.0, 1.0, 1.5, 3.0, 4.5, 5.0, 7.0, 8.0])
    values = [[np.sin(t + i), np.where(t == 3.0, np.nan, (-1) ** i * t)] for i in range(6)]
    return RaggedSeries.from_arrays(values, t, channel_names=["hr", "spo2"])


def make_fixture():
    model = ShapeletClassifier(n_shapelets=3, n_knots=5, max_epochs=3, random_state=0, n_jobs=1)
    model.fit(fixture_series(), ["rises", "falls"] * 3)
    with torch.no_grad():
        shapelets = model.model_.transform.shapelets
        shapelets.raw_lengths.copy_(torch.log(torch.tensor([2.5, 4.0, 6.0]) / shapelets.max_length))
        model.model_.head.weight.copy_(torch.tensor([[0.5, -1.0, 0.25]]))
    model.save(FIXTURE)
    series = fixture_series()
    expected = {
        "transform": model.transform(series).tolist(),
        "predict_proba": model.predict_proba(series).tolist(),
        "predict": model.predict(series).tolist(),
    }
    FIXTURE.with_suffix(".json").write_text(json.dumps(expected, indent=1), encoding="utf-8")


# ------------------------------------------------------------------ what cannot be saved


def test_a_head_of_ones_own_is_refused(tmp_path):
    class Mine(nn.Linear):
        pass

    for head in (nn.Sequential(nn.Linear(3, 3)), Mine(3, 3)):
        model = ShapeletClassifier(head=head, **SMALL).fit(X, CODES)
        with pytest.raises(TypeError, match=f"{type(head).__name__} cannot be saved"):
            model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_an_estimator_of_ones_own_is_refused(tmp_path):
    class Mine(ShapeletClassifier):
        pass

    with pytest.raises(TypeError, match="Mine cannot be saved"):
        Mine(**SMALL).fit(X, CODES).save(tmp_path / "model")


def test_a_failed_save_leaves_the_old_file(model, file, monkeypatch):
    old = file.read_bytes()
    for name in ("fsync", "replace", "chmod"):
        with monkeypatch.context() as patch:

            def fail(*_):
                raise OSError("no space left on device")

            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="no space"):
                model.save(file)
        assert file.read_bytes() == old
        assert list(file.parent.iterdir()) == [file]  # no half-written file beside it


def test_a_file_is_replaced_and_readable_by_others(model, file):
    umask = os.umask(0o022)
    try:
        model.save(file)
    finally:
        os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o644
    assert list(file.parent.iterdir()) == [file]


def test_places_that_cannot_be_written(model, tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match="it is a directory"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no directory .*nowhere"):
        model.save(tmp_path / "nowhere" / "model")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="no permission to write"):
        model.save(tmp_path / "model")


def test_without_safetensors(model, file, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(ImportError, match=r"pip install 'genshapelets\[save\]'"):
        load(file)
    with pytest.raises(ImportError, match="safetensors"):
        model.save(tmp_path / "other")
    checkpointed = ShapeletClassifier(checkpoint=tmp_path / "c", **SMALL)
    with pytest.raises(ImportError, match="safetensors"):
        checkpointed.fit(X, CODES)


# ------------------------------------------------------------------ damaged and strange files


def test_a_file_cut_off_anywhere(file):
    whole = file.read_bytes()
    for cut in [1, 7, 8, 9, *range(0, len(whole), len(whole) // 10), len(whole) - 1]:
        file.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"model is not a genshapelets file, or only a part"):
            load(file)
    file.write_bytes(whole + b"\0")
    with pytest.raises(ValueError):
        load(file)


def test_any_changed_byte_is_noticed(file, model):
    whole = file.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")  # of the tensors
    rng = np.random.default_rng(0)
    places = [*range(8), *rng.integers(8, start, 150), *rng.integers(start, len(whole), 60)]
    n_refused = 0
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        file.write_bytes(changed)
        try:
            other = load(file)
        except ValueError as error:
            n_refused += str(file) in str(error)
        else:  # white space of the header
            assert place < start
            assert_same(model, other)
    assert n_refused > len(places) - 10


def test_a_newer_version(file, model, monkeypatch):
    monkeypatch.setattr("genshapelets.saving.VERSION", VERSION + 1)
    model.save(file)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=f"version {VERSION + 1} .* Install a newer genshapelets"):
        load(file)


def test_a_version_that_never_was(file):
    for version in ("0", "-1", "x", "", "1 "):
        rewrite(file, version=version, keep_digest=True)
        with pytest.raises(ValueError, match="version|digest"):
            load(file)


def rewrite(file, *, keep_digest=False, tensors=None, edit=None, **header_changes):
    """Tamper as one who knows the format: with a digest that matches, unless told to keep it."""
    with safetensors.safe_open(file, framework="pt") as old:
        header = old.metadata()
        found = {name: old.get_tensor(name) for name in old.keys()}  # noqa: SIM118
    found |= tensors or {}
    found = {name: tensor for name, tensor in found.items() if tensor is not None}
    if edit is not None:
        contents = json.loads(header["contents"])
        header["contents"] = json.dumps(contents if (edited := edit(contents)) is None else edited)
    header |= header_changes
    if not keep_digest:
        header["digest"] = _digest(header["version"], header["kind"], header["contents"], found)
    safetensors.torch.save_file(found, file, header)


def test_tensors_of_others(tmp_path):
    file = tmp_path / "other"
    safetensors.torch.save_file({"x": torch.zeros(3)}, file)
    with pytest.raises(ValueError, match="holds tensors, but was not written by genshapelets"):
        load(file)
    safetensors.torch.save_file({"x": torch.zeros(3)}, file, {"format": "genshapelets"})
    with pytest.raises(ValueError, match="does not say which version"):
        load(file)
    header = {"format": "genshapelets", "version": "1"}
    safetensors.torch.save_file({"x": torch.zeros(3, dtype=torch.bfloat16)}, file, header)
    with pytest.raises(ValueError, match="digest"):
        load(file)


def test_a_checkpoint_is_no_model(tmp_path):
    write_file(tmp_path / "c", "checkpoint", {}, {"x": torch.zeros(1)})
    with pytest.raises(ValueError, match="holds a checkpoint, not a model"):
        load(tmp_path / "c")
    assert read_file(tmp_path / "c", "checkpoint")[0] == {}


class Boom:
    def __reduce__(self):
        return (builtins.exec, ("raise SystemExit('code ran')",))


def test_other_files(tmp_path):
    pickled, zipped = pickle.dumps(Boom()), b"PK\x03\x04" * 9
    for content in (b"", b"{}", pickled, b"\x80\x04", b"\0" * 100, b"\xff" * 100, zipped):
        (tmp_path / "model").write_bytes(content)
        with pytest.raises(ValueError, match="is not a genshapelets file"):
            load(tmp_path / "model")


def test_a_torch_pickle(tmp_path):
    torch.save({"x": Boom()}, tmp_path / "model")
    with pytest.raises(ValueError, match="is not a genshapelets file"):
        load(tmp_path / "model")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file .*model"):
        load(tmp_path / "model")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        load(tmp_path)


def change(path, value):
    def edit(contents):
        *folders, last = (int(part) if part.isdigit() else part for part in path.split("/"))
        place = contents
        for folder in folders:
            place = place[folder]
        place[last] = value

    return edit


def leave_out(name):
    def edit(contents):
        del contents["fitted"][name]

    return edit


EDITS = {
    "whole": [lambda _: [], lambda _: "text", lambda _: {"estimator": "ShapeletClassifier"}],
    "estimator": [
        change("estimator", "os.system"),
        change("estimator", ["ShapeletClassifier"]),
    ],
    "parameters": [
        change("parameters", {"n_shapelets": -3}),
        change("parameters", {"nonsense": 1}),
        change("parameters", []),
        change("parameters/n_jobs", "all"),
        change("parameters/n_jobs", {"class": "ClassicalDiscrepancy", "config": {"dict": []}}),
        change("parameters/discrepancy", {"class": "ClassicalDiscrepancy"}),
        change("parameters/discrepancy", "L2"),
        change("parameters/minimum", {"tuple": 3}),
    ],
    "fitted": [
        change("fitted", None),
        change("fitted/classes_", {"array": ["a", "b", "c"], "dtype": "no such type"}),
        change("fitted/classes_", {"array": ["a", "b", "c"], "dtype": "f8"}),
        change("fitted/classes_", {"array": ["a"], "dtype": "U1"}),
        change("fitted/classes_", {"list": 3}),
        change("fitted/n_channels_in_", 7),
        change("fitted/n_channels_in_", "many"),
        change("fitted/shortest_span_", None),
        change("fitted/shortest_span_", float("nan")),
        change("fitted/n_iter_", "many"),
        change("fitted/has_datetimes_", "U1"),
        change("fitted/channel_names_", {"tuple": ["hr"]}),
        change("fitted/target_names_", {"tuple": ["hr"]}),
        change("fitted/shortened_", 3),
        change("fitted/history_", 3),
        change("fitted/history_", {"dict": [["loss", [1.0, float("nan")]]]}),
        change("fitted/history_", {"dict": [["loss", [10**400]]]}),
    ],
    "classes": [
        change("fitted/classes_", {"array": entries, "dtype": dtype})
        for entries, dtype in [
            (["a", "b", "c"], "U1000000000"),
            ([10**400, 1, 2], "<i8"),
            ([], "<U1"),
            (["a", "b", "b"], "<U1"),
            ([1.0, 2.0, float("nan")], "<f8"),
            ([["a"], ["b"], ["c"]], "<U1"),
        ]
    ],
    "path": [
        change("path", {"dict": []}),
        change("path/dict/0/1/array", [3]),
        change("path/dict/1/1/array", [1.0]),
        change("path/dict/4/1", 3),
        change("path/dict/5/1", 6),
    ],
    "of shapelets": [
        change("typical_features/array", [0.0, float("nan"), 1.0]),
        change("initial_lengths", {"array": ["a", "b", "c"], "dtype": "<U1"}),
        change("sources", {"dict": [["series", 1]]}),
    ],
    "left out": [
        leave_out(name) for name in ("classes_", "n_channels_in_", "shortest_span_", "history_")
    ],
    "discrepancy": [
        change("discrepancy", "manhattan"),
        change("discrepancy", "full"),
        change("discrepancy/class", ["L2Discrepancy"]),
        change("discrepancy/class", "ClassicalDiscrepancy"),
        change("discrepancy/config", {"dict": []}),
        change("discrepancy/config", {"dict": [["n_channels", 3]]}),
        change("discrepancy/config", {"dict": [["n_channels", 0]]}),
        change("discrepancy/config", {"dict": [["n_channels", 10**6], ["metric", "full"]]}),
        change(
            "parameters/discrepancy",
            {
                "class": "LogSignatureDiscrepancy",
                "config": {"dict": [["n_channels", 2], ["depth", 10**6]]},
            },
        ),
        change("discrepancy/config", []),
    ],
    "model": [
        change("search", "random"),
        change("epsilon", "tiny"),
        change("epsilon", float("nan")),
    ],
    "minimum": [
        change("minimum", "softmin"),
        change("minimum/family", "least"),
        change("minimum", {"class": "Linear", "config": {"dict": []}, "family": "interpolation"}),
        change("minimum/config", {"dict": [["alpha", 1.0]]}),
    ],
    "interpolation": [
        change("interpolation", "linear"),
        change("interpolation", {"class": "Softmin", "config": {"dict": []}, "family": "minimum"}),
        change("interpolation/state", {"dict": [["fit", 1.0]]}),
    ],
    "shapelets": [
        change("shapelets", "knots"),
        change("shapelets/shape", [3, 1, 10**12]),
        change("shapelets/shape", [3, 1, 0]),
        change("shapelets/class", "NetworkShapelets"),
        change("shapelets/config", {"dict": [["basis", "bspline"]]}),
    ],
}


def assert_not_understood(file, **changes):
    whole = file.read_bytes()
    rewrite(file, **changes)
    with pytest.raises(ValueError, match="cannot be understood") as refusal:
        load(file)
    said = str(refusal.value)
    assert said.startswith(str(file)) and "\n" not in said and len(said) < 300 + len(str(file))
    file.write_bytes(whole)


@pytest.mark.parametrize("part", EDITS)
def test_edited_contents_with_a_digest_that_matches(part, file):
    for edit in EDITS[part]:
        assert_not_understood(file, edit=edit)


TENSORS = {
    "transform.shapelets.values": [
        None,
        torch.zeros(3, 2),
        torch.full((3, 2, 4), float("nan")),
        torch.zeros(3, 2, 4, dtype=torch.int32),
    ],
    "transform.shapelets.max_length": [
        torch.zeros(2),
        *(torch.tensor(number) for number in (-1.0, 0.0, 1e-44, float("inf"))),
        torch.tensor(9.0, dtype=torch.bfloat16),
    ],
    "transform.discrepancy.level_free": [torch.zeros(9, dtype=torch.bool)],
    "transform.discrepancy.weight": [torch.zeros(2, 2), None],
    "head.weight": [torch.zeros(3), torch.zeros(3, 7), torch.zeros(2, 3)],
    "head.bias": [torch.full((3,), float("inf")), torch.zeros(3, dtype=torch.complex64)],
    "centre": [torch.zeros(5, dtype=torch.float64), torch.full((2,), float("nan"))],
    "scale": [torch.full((2,), number) for number in (0.0, -1.0, float("nan"), float("inf"))],
    "feature_mean": [torch.full((3,), number) for number in (float("inf"), float("nan"))],
    "feature_scale": [torch.full((3,), number) for number in (0.0, -1.0, float("nan"))],
    "other.6.scale": [torch.zeros(2)],
    "other.6.transform.shapelets.raw_lengths": [torch.zeros(7), torch.full((6,), float("nan"))],
    "surplus": [torch.zeros(1)],
    "given.discrepancy.weight": [torch.zeros(1)],  # where none is given
}


@pytest.mark.parametrize("name", TENSORS)
def test_edited_tensors_with_a_digest_that_matches(name, file):
    for tensor in TENSORS[name]:
        biases = {"head.bias": torch.zeros(2)} if name == "head.weight" else {}
        assert_not_understood(file, tensors={name: tensor} | biases)


def test_contents_that_are_no_json(file):
    for text in ("{", "", "nul", "[" * 100_000):
        rewrite(file, contents=text)
        with pytest.raises(ValueError):
            load(file)


def test_the_public_name():
    assert genshapelets.load is load


def test_a_read_only_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"mine")
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: place != path and allowed(place, mode))
    with pytest.raises(
        PermissionError, match="cannot write .*model: the file is there and read-only"
    ):
        replace_file(path, b"other")
    assert path.read_bytes() == b"mine"


def test_what_an_interpolation_learnt_is_checked(tmp_path):
    ShapeletTransformer(interpolation="gaussian_process", **SMALL).fit(X).save(tmp_path / "model")
    state = {"length_scale_": [1.0, 1.0], "noise_": [1.0, 1.0], "mean_": [0.0, 0.0]}
    state |= {"scale_": [1.0, 1.0], "pieces_": 2}
    for wrong in ({}, {"mean_": [0.0]}, {"noise_": [1.0, float("nan")]}, {"pieces_": 0}):
        said = {"dict": list((state | wrong).items())} if wrong else {"dict": []}
        assert_not_understood(tmp_path / "model", edit=change("interpolation/state", said))
    rewrite(tmp_path / "model", edit=change("interpolation/state", {"dict": list(state.items())}))
    assert np.isfinite(load(tmp_path / "model").transform(X)).all()


def test_numbers_of_a_regressor_are_checked(tmp_path):
    ShapeletRegressor(**SMALL).fit(X, CODES).save(tmp_path / "model")
    for name, value in [("centre", float("nan")), ("scale", 0.0), ("scale", float("inf"))]:
        assert_not_understood(tmp_path / "model", edit=change(f"fitted/target_{name}_", value))


@pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="there is no folder that refuses all files"
)
def test_a_folder_that_refuses_files_is_named_with_the_file_asked_for():
    with pytest.raises(OSError, match="cannot write /proc/model: "):
        replace_file("/proc/model", b"")


@pytest.mark.parametrize("width", [10**12, float("inf")])
def test_a_family_too_large_to_be_made_is_refused(tmp_path, width):
    X, y = np.random.default_rng(0).normal(size=(4, 1, 9)), [0, 1, 0, 1]
    model = ShapeletClassifier(shapelets="network", n_shapelets=2, max_epochs=1).fit(X, y)
    model.save(tmp_path / "model")
    contents, tensors = read_file(tmp_path / "model", "model")
    contents["shapelets"]["config"]["dict"] = [["width", width]]
    write_file(tmp_path / "model", "model", contents, tensors)
    with pytest.raises(ValueError, match="cannot be understood"):
        load(tmp_path / "model")
