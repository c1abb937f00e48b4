"""Hypothesis: no deadlines, because the first call of a kernel compiles it; the same examples each time.

``pytest --hypothesis-profile=wide`` looks at other examples.
"""

import os

import torch
from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("wide", deadline=None)
settings.load_profile("same")

if "PYTEST_XDIST_WORKER" in os.environ:
    torch.set_num_threads(1)  # several processes share the processors
