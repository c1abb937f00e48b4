"""Interpretable shapelets for irregular time series."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .public import *  # noqa: F403
else:
    # Torch, numba and scikit-learn take seconds to load: not before a name needs them.

    def __getattr__(name):
        from importlib import import_module

        private = name.startswith("_") and name != "__all__"
        if not private:
            public = import_module(".public", __name__)
            if hasattr(public, name):
                return getattr(public, name)
            if name in globals():  # a module that was loaded on the way
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__getattr__("__all__")})
