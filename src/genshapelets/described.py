"""Objects that files describe by the name of their class and the arguments that make them."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from .shown import cut, few

PACKAGE = __name__.partition(".")[0]


class Described:
    """Base of a family of classes that are known by name.

    The head of a family sets `family`, which messages use, and an empty ``_classes``. Every class
    derived from it is then known, a user's own too, as soon as the module that defines it is imported.
    """

    family: ClassVar[str]
    _classes: ClassVar[dict[str, type[Any]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_classes" in vars(cls):
            return
        known = getattr(cls._classes.get(cls.__name__), "__module__", "")
        if known.startswith(f"{PACKAGE}.") and known != cls.__module__:
            raise TypeError(
                f"there is a {cls.__name__} in {PACKAGE}: files of the two would be mixed up. Choose "
                "another name."
            )
        cls._classes[cls.__name__] = cls

    def config(self) -> dict[str, Any]:
        """Arguments that make this object again, apart from tensors: for files and `repr`.

        By default the arguments of ``__init__``, each read from the attribute of the same name. They
        must be numbers, text, or lists of them.
        """
        names = [
            name
            for name, parameter in inspect.signature(type(self)).parameters.items()
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        missing = [name for name in names if not hasattr(self, name)]
        if missing:
            raise TypeError(
                f"{type(self).__name__} does not keep its argument {missing[0]!r} as an attribute. "
                f"Set self.{missing[0]} in __init__, or write its own config()."
            )
        return {name: getattr(self, name) for name in names}

    @classmethod
    def named(cls, name: str) -> type[Any]:
        """The class of the family that has this name."""
        if name not in cls._classes:
            ours = [
                known for known, kind in cls._classes.items() if kind.__module__.startswith(PACKAGE)
            ]
            known = few([*sorted(ours), *sorted(cls._classes.keys() - set(ours))])
            raise UnknownClassError(
                f"the {cls.family} {cut(repr(name))} is not known here; known are "
                f"{known}. Define the class {cut(name)}, or import the "
                "module that does, first: that registers it"
            )
        return cls._classes[name]

    @classmethod
    def from_config(cls, name: str, config: dict[str, Any]) -> Any:
        """Make an object of the family from the name of its class and its `config`."""
        return cls.named(name)(**config)


class UnknownClassError(ValueError):
    """A class is asked for that is not defined here; the message says how to define it."""
