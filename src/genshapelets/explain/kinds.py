"""What the discrepancy of a shapelet is called, and what it means to a reader."""

from __future__ import annotations

from ..discrepancies import (
    ClassicalDiscrepancy,
    DTWDiscrepancy,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MFCDiscrepancy,
)

PLAIN = L2Discrepancy.title  # goes without saying
LOG_SIGNATURE = LogSignatureDiscrepancy.title

# Of each kind, what a shapelet does to a piece of a series. A discrepancy of a user's own has no words.
MEANING = {
    PLAIN: "compares values, time by time",
    LOG_SIGNATURE: (
        "compares increments, the signed areas between channels (or between a channel and time) and the "
        "order in which they move; not the level"
    ),
    DTWDiscrepancy.title: "compares values in their order, and lets time run faster or slower",
    MFCDiscrepancy.title: "compares how two waveforms sound: their mel-frequency cepstra",
    ClassicalDiscrepancy.title: "compares values, sample by sample",
}
