"""What discrepancies other than plain L2 cost: ``python -m benchmarks.discrepancies [SECTION …]``.

CPU time on one thread, least of several runs, and ratios to what was run in the same process.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported

import torch

from benchmarks.cepstrum import mfc
from benchmarks.dtw import dtw
from benchmarks.logsignature import logsignature
from benchmarks.scale_free import scale_free
from benchmarks.timing import provenance

# The cepstrum first: it tells how much memory it adds to the most that was held before.
SECTIONS = {"mfc": mfc, "logsignature": logsignature, "scale_free": scale_free, "dtw": dtw}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    sections = parser.parse_args().sections
    unknown = [name for name in sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    torch.set_num_threads(1)
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    for name in sections or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
