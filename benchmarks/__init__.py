"""Benchmarks: apart from the tests, with machine and commit beside each figure."""
