"""How fast the transform is, beside a bare convolution: ``python -m benchmarks.transform``.

The workloads are those of the default procedure (`benchmarks.workloads`): 200 shapelets, a metric each,
half of them level-free, lengths from 5 to 80 % of the span; and a classic one, 40 shapelets of one
length and one metric. In those called "…, 3" each shapelet sees 3 of the 37 channels; the last lines set
their training steps beside those on all channels. Each workload is timed in a process of its own,
several times in turn; the least counts, because what other programs do can only add.
``--beside REV`` times an older commit in the same turns.

Ratios to a convolution depend on the processor: on another one of the same kind of machine conv1d was a
quarter faster.
"""

from __future__ import annotations

import argparse

from benchmarks.timing import provenance, run_in, sources
from benchmarks.workloads import WORKLOADS

FIGURES = ("forward", "step", "conv1d", "conv1d step")
FEW = {"hours, 3": "hours", "stays, 3": "stays"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", metavar="REV", help="an older commit to time in the same turns")
    options = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print("CPU ms on one thread, least of", options.rounds, "processes")
    header = f"{'':12}" + "".join(f"{name:>12}" for name in FIGURES)
    print(
        header
        + f"{'fwd/conv1d':>12}{'step/step':>12}"
        + "  older: fwd, step; ratios" * bool(options.beside)
    )
    steps: dict[str, float] = {}
    with sources(options.beside) as folders:
        for workload in options.workloads:
            best: dict[str, dict[str, float]] = {}
            for _ in range(options.rounds):
                for name, source in folders.items():
                    figures = run_in(source, "workloads.py", workload)
                    known = best.setdefault(name, figures)
                    best[name] = {key: min(known[key], figures[key]) for key in figures}
            ours = best["here"]
            steps[workload] = ours["step"]
            line = f"{workload:12}" + "".join(f"{ours[name]:12.1f}" for name in FIGURES)
            line += f"{ours['forward'] / ours['conv1d']:12.2f}{ours['step'] / ours['conv1d step']:12.2f}"
            if options.beside:
                older = best["older"]
                line += f"{older['forward']:10.1f}{older['step']:9.1f}"
                line += "".join(f"{ours[key] / older[key]:7.2f}" for key in ("forward", "step"))
            print(line, flush=True)
    for few, whole in FEW.items():
        if few in steps and whole in steps:
            ratio = steps[whole] / steps[few]
            print(f"{whole}: a step on 3 of 37 channels is {ratio:.1f} times as fast as on all")


if __name__ == "__main__":
    main()
