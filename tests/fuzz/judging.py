"""What became of a case: sound, refused in clear words, or a failure."""

import traceback
import warnings
from pathlib import Path

import genshapelets

PACKAGE = str(Path(genshapelets.__file__).parent)
LONGEST = 300  # letters of an error about a file, but for its path
SOUND, REFUSED = "sound", "refused"
FAILURES = ("crash", "hang", "untyped", "unclear", "NaN", "differs")


class Failure(Exception):
    """What must not be, with a word of FAILURES."""

    def __init__(self, word, text):
        super().__init__(text)
        self.word = word


def judge(check, file):
    """(word, text): what became of a case when `check` was called with its file.

    A check returns what a command said when it refused the case, or nothing, or raises.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            said = check(file)
        except Failure as failure:
            return failure.word, str(failure)
        except (ValueError, TypeError, OSError) as error:
            frames = traceback.extract_tb(error.__traceback__)
            if any(frame.filename.startswith(PACKAGE) for frame in frames):
                return _judged(error, frames, file)
            raise  # a mistake of the fuzzer
        except BaseException as error:  # noqa: BLE001  Rust panics, for one
            return "untyped", _located(error)
    return (REFUSED, said) if said else (SOUND, "")


def _judged(error, frames, file):
    """Refused; but unclear if a library speaks, in many lines, or of a file in many words."""
    said = str(error)
    is_ours = frames[-1].filename.startswith(PACKAGE)
    is_about = str(file) in said
    too_long = is_about and len(said) > LONGEST + len(str(file))
    if not is_ours or "\n" in said or too_long:
        return "unclear", _located(error)
    return REFUSED, f"{type(error).__name__}: {said}"


def _located(error):
    frames = reversed(traceback.extract_tb(error.__traceback__)[-5:])
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__}: {str(error)[:300]!r} at {places}"
