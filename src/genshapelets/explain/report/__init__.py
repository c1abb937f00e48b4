"""A page about a model and its predictions, to open in a browser."""

from .writing import write_report

__all__ = ["write_report"]
