"""Odd and hostile input, by the thousand: ``python -m tests.fuzz``; kills and a soak beside it.

A case is the content of a small file, made from a seed. Its ending says how it is checked.
"""
