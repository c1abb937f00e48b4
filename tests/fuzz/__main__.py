"""The fuzzer as a command: see ``python -m tests.fuzz --help``."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from .children import outcomes
from .judging import FAILURES
from .kinds import KINDS, judge_file, prepare

CORPUS = Path(__file__).parents[1] / "corpus"
AT_ONCE = 250  # cases of one child


def case_of(kind, seed, number):
    """(ending, content) of a case: the same for the same seed and number."""
    return KINDS[kind].make(Random(f"{kind} {seed} {number}"))


def run_case(kind, seed, number, folder):
    """What becomes of one case, as (word, text)."""
    ending, content = case_of(kind, seed, number)
    file = Path(folder, f"case{ending}")
    file.write_bytes(content)
    return judge_file(file)


def run_kind(kind, seed, numbers, folder):
    """Run cases of a kind, tell each failure as it is found; count what became of them."""
    counts = Counter()
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        for number, word, text in outcomes(lambda n: run_case(kind, seed, n, folder), some):
            counts[word] += 1
            if word in FAILURES:
                again = f"--only {kind} --seed {seed} --case {number}"
                print(f"{word}: {again}\n    {text[:600]}", flush=True)
    return counts


def shares(n_cases, kinds):
    """How many cases each kind has of a number of them."""
    whole = sum(KINDS[kind].share for kind in kinds)
    return {kind: max(1, round(n_cases * KINDS[kind].share / whole)) for kind in kinds}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="of all kinds; default: 20000")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--only", choices=KINDS, help="one kind of input")
    parser.add_argument("--case", type=int, help="of that kind, this case alone")
    parser.add_argument(
        "--keep", metavar="NAME", help="write that case to tests/corpus by this name"
    )
    args = parser.parse_args(argv)
    if (args.case is not None and not args.only) or (args.keep and args.case is None):
        parser.error("--case goes with --only, --keep with --case")
    prepare()
    total = Counter()
    with tempfile.TemporaryDirectory() as folder:
        kinds = [args.only] if args.only else list(KINDS)
        for kind, count in shares(args.cases, kinds).items():
            numbers = range(count) if args.case is None else [args.case]
            start = time.monotonic()
            counts = run_kind(kind, args.seed, numbers, folder)
            said = ", ".join(f"{counts[word]} {word}" for word in ("sound", "refused", *FAILURES))
            print(f"{kind}: {said} ({time.monotonic() - start:.0f} s)", flush=True)
            total += counts
    n_failures = sum(total[word] for word in FAILURES)
    print(f"seed {args.seed}: {total.total()} cases, {n_failures} failures")
    if args.keep:
        ending, content = case_of(args.only, args.seed, args.case)
        file = CORPUS / f"{args.keep}{ending}"
        file.write_bytes(content)
        print(f"wrote {file}")
    return int(n_failures > 0)


if __name__ == "__main__":
    sys.exit(main())
