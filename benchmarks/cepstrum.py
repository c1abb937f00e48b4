"""The mel-frequency cepstrum beside librosa's: see `benchmarks.discrepancies`."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch


def mfc(rounds: int = 5) -> None:
    """Cepstra of 1000 clips of one second, beside librosa's, and sounds of shapelets."""
    import librosa

    from genshapelets import MelFrequencyCepstrum, RaggedSeries, to_sound

    rng = np.random.default_rng(0)
    clips = rng.standard_normal((1000, 16000), np.float32)
    clips *= 0.1 * np.exp(-12 * (np.arange(16000, dtype=np.float32) / 16000 - 0.5) ** 2)
    cepstrum = MelFrequencyCepstrum()

    def by_librosa() -> None:
        for clip in clips:
            mels = librosa.feature.melspectrogram(
                y=clip, sr=16000, n_fft=400, hop_length=200, win_length=400, window="hann",
                center=True, pad_mode="reflect", power=2.0, n_mels=128, htk=True, norm=None,
            )  # fmt: skip
            librosa.feature.mfcc(S=librosa.power_to_db(mels, top_db=80.0), n_mfcc=40)

    def memory() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    waveforms = RaggedSeries(  # without checks, whose memory would hide that of the transform
        times=np.tile(np.arange(16000) / 16000, 1000),
        values=clips.reshape(-1, 1),
        row_offsets=np.arange(1001) * 16000,
        time_precision=np.full(1000, 2.0**-52),
    )
    cepstrum.transform(waveforms[:10])
    before = memory()
    found = cepstrum.transform(waveforms)
    held = (waveforms.times.nbytes + waveforms.values.nbytes) / 2**20
    print(
        f"MFC of 1000 clips of 1 s: peak memory {memory() - before:.0f} MB beyond the "
        f"{held:.0f} of the series; the result has {found.values.nbytes / 2**20:.0f}"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of filters without a frequency
        ours, theirs = fastest([lambda: cepstrum.transform(waveforms), by_librosa], rounds)
    print(f"  ours {ours:.2f} s, librosa {theirs:.2f} s, ours / librosa {ours / theirs:.2f}")
    shapelet = cepstrum(torch.from_numpy(clips[0, 6000:10800])).numpy()
    one, alone = fastest(
        [
            lambda: to_sound(shapelet, 0.3, cepstrum),
            lambda: to_sound(shapelet, 0.3, cepstrum, n_steps=0),
        ],
        rounds,
    )
    print(f"  a shapelet of 0.3 s as a sound: {one:.2f} s, Griffin-Lim alone {alone:.2f} s")


def fastest(functions: list[Callable[[], object]], rounds: int) -> list[float]:
    """CPU seconds of each function, the least of some rounds in turn."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for n, function in enumerate(functions):
            begin = time.process_time()
            function()
            best[n] = min(best[n], time.process_time() - begin)
    return best
