"""Sound files: what is in them comes out, and a broken one is named with what to do."""

import builtins
import warnings

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from genshapelets.datasets import read, read_audio
from genshapelets.paths import interpolate

RATE = 16000
FORMATS = {  # suffix: how it is written, and how near the samples come back
    ".wav": ({}, 2**-15),
    ".flac": ({}, 2**-15),
    ".ogg": ({"format": "OGG", "subtype": "VORBIS"}, 0.05),
    ".opus": ({"format": "OGG", "subtype": "OPUS"}, None),
}


def tone(n=800, pitch=500.0, rate=RATE):
    return 0.5 * np.sin(2 * np.pi * pitch * np.arange(n) / rate)


@pytest.fixture
def clip(tmp_path):
    """Write a clip below the folder of the test."""

    def clip(name, samples=None, rate=RATE, **how):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(file, tone(rate=rate) if samples is None else samples, rate, **how)
        return file

    return clip


# ------------------------------------------------------------------ what is in a folder


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_gives_the_samples_that_were_written(clip, tmp_path, suffix):
    how, tolerance = FORMATS[suffix]
    clip(f"up/one{suffix}", tone(3200), **how)
    series, labels = read_audio(tmp_path)
    (one,) = series
    assert one.values.shape == (1, 3200) and one.values.dtype == np.float32
    assert labels.tolist() == ["up"] and series.series_ids.tolist() == [f"up/one{suffix}"]
    if tolerance is None:  # Opus keeps what is heard: the pitch, not the samples
        spectrum = np.abs(np.fft.rfft(one.values[0]))
        assert spectrum.argmax() * RATE / 3200 == 500.0
    else:
        np.testing.assert_allclose(one.values[0], tone(3200), atol=tolerance)


def test_clips_are_sorted_and_labelled_by_their_first_folder(clip, tmp_path):
    for name in ("yes/b.wav", "no/speaker/a.WAV", "yes/a.flac", "no/z.opus"):
        clip(name, **FORMATS["." + name.rpartition(".")[2].lower()][0])
    clip(".trash/c.wav")
    (tmp_path / "yes" / "._b.wav").write_bytes(b"what macOS leaves behind")
    (tmp_path / "yes" / "notes.txt").write_text("not a sound")
    series, labels = read_audio(tmp_path)
    assert series.series_ids.tolist() == [
        "no/speaker/a.WAV",
        "no/z.opus",
        "yes/a.flac",
        "yes/b.wav",
    ]
    assert labels.tolist() == ["no", "no", "yes", "yes"]
    assert series.channel_names == ("sound",)
    again, _ = read(str(tmp_path))
    np.testing.assert_array_equal(series.values, again.values)


def test_a_folder_without_sub_folders_has_no_labels(clip, tmp_path):
    clip("a.wav")
    assert read_audio(tmp_path)[1] is None
    clip("yes/b.wav")
    assert read_audio(tmp_path)[1] is None


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.integers(2, 300), min_size=1, max_size=4),
    rate=st.sampled_from([8000, 11025, 16000, 22050, 44100, 48000]),
)
def test_times_are_seconds_on_one_regular_lattice(tmp_path_factory, lengths, rate):
    folder = tmp_path_factory.mktemp("clips")
    for i, n in enumerate(lengths):
        soundfile.write(folder / f"{i}.wav", tone(n), rate)
    series, _ = read_audio(folder, sample_rate=rate)
    for one, n in zip(series, lengths, strict=True):
        np.testing.assert_array_equal(one.times, [i / rate for i in range(n)])
    step = interpolate(series).step
    np.testing.assert_allclose(step, 1 / rate, rtol=1e-11)
    assert len(np.unique(step)) == 1


def test_the_batch_is_what_from_arrays_would_check_and_make(clip, tmp_path):
    from genshapelets import RaggedSeries

    clip("a.wav", tone(300))
    clip("b.wav", tone(500, 800.0))
    series, _ = read_audio(tmp_path)
    same = RaggedSeries.from_arrays(
        [one.values for one in series], [one.times for one in series], channel_names=["sound"]
    )
    for name in ("times", "values", "row_offsets", "time_precision", "channel_names"):
        got, want = getattr(series, name), getattr(same, name)
        np.testing.assert_array_equal(got, want)
        assert getattr(got, "dtype", None) == getattr(want, "dtype", None), name


def test_stereo_becomes_the_mean_of_its_channels(clip, tmp_path):
    left, right = tone(), tone(pitch=900.0)
    clip("two.wav", np.stack([left, right], axis=1), subtype="FLOAT")
    np.testing.assert_allclose(read_audio(tmp_path)[0][0].values[0], (left + right) / 2, atol=1e-7)


def test_duration_cuts_long_clips_and_leaves_short_ones(clip, tmp_path):
    clip("long.wav", tone(1000), subtype="FLOAT")
    clip("short.wav", tone(100))
    series, _ = read_audio(tmp_path, duration=0.025)
    assert series.lengths.tolist() == [400, 100]
    np.testing.assert_allclose(series[0].values[0], tone(400), atol=1e-7)
    series, _ = read_audio(tmp_path, duration=0.025, sample_rate=8000, resample=True)
    assert series.lengths.tolist() == [200, 50]


# ------------------------------------------------------------------ rates


def test_another_rate_is_refused_with_both_cures(clip, tmp_path):
    clip("a.wav")
    file = clip("b.wav", rate=44100)
    with pytest.raises(ValueError, match="has 44100 samples a second, not 16000") as error:
        read_audio(tmp_path, on_error="skip")  # it is not broken
    for said in (str(file), "resample=True", "--resample", "sample_rate=44100"):
        assert said in str(error.value)


@pytest.mark.parametrize("rate", [8000, 22050, 48000])
def test_resampled_clips_are_the_same_sound(clip, tmp_path, rate):
    clip("a.wav", tone(rate, 440.0, rate), rate, subtype="FLOAT")
    series, _ = read_audio(tmp_path, resample=True)
    assert series.lengths.tolist() == [RATE] and series.dtype == np.float32
    inside = slice(500, -500)  # the ends ring
    np.testing.assert_allclose(series[0].values[0, inside], tone(RATE, 440.0)[inside], atol=2e-3)
    np.testing.assert_array_equal(series.times, np.arange(RATE) / RATE)


# ------------------------------------------------------------------ labels from a table


@pytest.fixture
def clips(clip, tmp_path):
    for name in ("x/a.wav", "x/b.wav", "y/b.wav", "c.wav"):
        clip(f"clips/{name}")
    return tmp_path / "clips"


@pytest.fixture
def table(tmp_path):
    def table(text, name="labels.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return table


def test_a_table_names_and_chooses_clips(clips, table):
    file = table("\ufefffile,word\nx/b.wav,no\nc.wav,yes\n\nx\\a,Zürich\n")
    series, labels = read_audio(clips, labels=file)
    assert series.series_ids.tolist() == ["c.wav", "x/a.wav", "x/b.wav"]  # y/b.wav is not named
    assert labels.tolist() == ["yes", "Zürich", "no"]


def test_columns_of_a_table_by_name(clips, table):
    file = table("fold\tword\tclip\n1\tno\ta\n2\tyes\tc.wav\n", "labels.tsv")
    series, labels = read_audio(clips, labels=file, file_column="clip", label_column="word")
    assert dict(zip(series.series_ids.tolist(), labels.tolist(), strict=True)) == {
        "x/a.wav": "no",
        "c.wav": "yes",
    }


@pytest.mark.parametrize(
    ("entries", "expected", "kind"),
    [("1 2", [1, 2], "i"), ("1.5 -2", [1.5, -2.0], "f"), ("1 two", ["1", "two"], "U")],
)
def test_labels_that_are_numbers(clips, table, entries, expected, kind):
    one, other = entries.split()
    _, labels = read_audio(clips, labels=table(f"file,y\nc,{one}\nx/a,{other}\n"))
    assert labels.tolist() == expected and labels.dtype.kind == kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file,word\nd.wav,yes\n", "row 2: the folder has no clip 'd.wav'; its first is 'c.wav'"),
        ("file,word\nc,no\nb.wav,yes\n", "row 3: 'b.wav' may be x/b.wav or y/b.wav: give its path"),
        ("file,word\nc.wav,\n", "row 2: 'c.wav' has no label"),
        ("file,word\nc.wav\n", "row 2: 'c.wav' has no label"),
        ("file,word\nc.wav,a\nc,b\n", "row 3: 'c' got a label before"),
        ("file,word\n", "has no row below its header"),
        ("file\nc.wav\n", "must have a column of files and one of labels"),
        ("\n", "must have a column of files and one of labels"),
    ],
)
def test_tables_that_are_wrong(clips, table, text, said):
    with pytest.raises(ValueError, match="labels.csv") as error:
        read_audio(clips, labels=table(text))
    assert said in str(error.value)


def test_tables_that_are_none(clips, table, tmp_path):
    with pytest.raises(ValueError, match=r"must be a \.csv or \.tsv file"):
        read_audio(clips, labels=table("a", "labels.txt"))
    (tmp_path / "latin.csv").write_bytes("file,word\nc,Zürich\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin.csv is no text table: .* UTF-8 text"):
        read_audio(clips, labels=tmp_path / "latin.csv")
    with pytest.raises(ValueError, match=r"has no column 'name'; its columns are \['a', 'b'\]"):
        read_audio(clips, labels=table("a,b\n"), file_column="name")
    with pytest.raises(ValueError, match="give it by labels="):
        read_audio(clips, label_column="word")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_audio(clips, labels=tmp_path / "none.csv")


# ------------------------------------------------------------------ what may be broken


def broken(file, content):
    """Break a good file; content takes its bytes and gives others."""
    file.write_bytes(content(file.read_bytes()))


BREAKS = {
    "is empty": (".wav", lambda _: b""),
    "cannot be read: Format not recognised": (".wav", lambda _: b"Not found" * 99),
    "is cut short: it has 800 of 1644 bytes": (".wav", lambda whole: whole[:800]),
    "has no samples": (
        ".wav",
        lambda whole: whole[:4] + (36).to_bytes(4, "little") + whole[8:40] + bytes(4),
    ),
    "cannot be read": (".flac", lambda whole: whole[: len(whole) // 2]),
    "cannot be read: Supported file format": (".opus", lambda whole: whole[: len(whole) // 2]),
}


@pytest.mark.parametrize("said", BREAKS)
def test_a_broken_clip_is_named_or_skipped(clip, tmp_path, said):
    suffix, content = BREAKS[said]
    good, bad = clip("good.wav"), clip(f"bad{suffix}", **FORMATS[suffix][0])
    broken(bad, content)
    with pytest.raises(ValueError, match='on_error="skip"') as error:
        read_audio(tmp_path)
    assert str(error.value).startswith(f"{bad} {said}")
    with pytest.warns(UserWarning, match=f"1 of the 2 clips of .*: {bad.name} \\({said}") as caught:
        series, _ = read_audio(tmp_path, on_error="skip")
    assert len(caught) == 1
    assert series.series_ids.tolist() == [good.name]
    good.unlink()
    with pytest.raises(ValueError, match="none of the 1 clips"):
        read_audio(tmp_path, on_error="skip")


def test_skipped_clips_are_in_one_warning_and_take_their_labels_along(clip, tmp_path):
    for name in ("a/1.wav", "b/2.wav", "c/3.wav", "d/4.wav"):
        clip(name)
    for name in ("b/2.wav", "c/3.wav"):
        (tmp_path / name).write_bytes(b"")
    with pytest.warns(UserWarning, match=r"2 of the 4 .*b/2.wav \(is empty\), c/3.wav") as caught:
        series, labels = read_audio(tmp_path, on_error="skip")
    assert len(caught) == 1
    assert labels.tolist() == ["a", "d"] and len(series) == 2


def test_a_wav_of_unknown_size_is_read(clip, tmp_path):
    file = clip("streamed.wav")
    broken(file, lambda w: w[:4] + b"\xff" * 4 + w[8:40] + b"\xff" * 4 + w[44:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        series, _ = read_audio(tmp_path)
    np.testing.assert_allclose(series[0].values[0], tone(), atol=2**-15)


def test_samples_that_are_not_finite(clip, tmp_path):
    clip("odd.wav", np.array([0.0, np.nan, 1.0]), subtype="FLOAT")
    with pytest.raises(ValueError, match="odd.wav has samples that are not finite"):
        read_audio(tmp_path)


def test_a_clip_that_the_system_refuses(tmp_path):
    (tmp_path / "lost.wav").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="lost.wav cannot be read: No such file"):
        read_audio(tmp_path)


def test_folders_that_are_none(clip, tmp_path):
    with pytest.raises(ValueError, match=r"has no \.wav, .* file\. Give a folder"):
        read_audio(tmp_path)
    (tmp_path / "song.mp3").write_bytes(b"ID3")
    with pytest.raises(ValueError, match="1 other files, such as song.mp3"):
        read_audio(tmp_path)
    with pytest.raises(NotADirectoryError, match="is not there"):
        read_audio(tmp_path / "nowhere")
    file = clip("a.wav")
    with pytest.raises(NotADirectoryError, match="is a file; give the folder"):
        read_audio(file)
    with pytest.raises(ValueError, match="is one sound file; give the folder"):
        read(file)


@pytest.mark.parametrize(
    "option",
    [{"sample_rate": 0}, {"sample_rate": 8000.5}, {"duration": 0}, {"duration": np.nan},
     {"duration": np.inf}, {"on_error": "ignore"}],
)  # fmt: skip
def test_options_that_are_wrong(clip, tmp_path, option):
    clip("a.wav")
    (name,) = option
    with pytest.raises(ValueError, match=f"^{name} must be"):
        read_audio(tmp_path, **option)


def test_without_soundfile_the_error_says_what_to_install(clip, tmp_path, monkeypatch):
    clip("a.wav")
    real = builtins.__import__

    def refuse(name, *rest, **options):
        if name == "soundfile":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install 'genshapelets\[audio\]'"):
        read_audio(tmp_path)
