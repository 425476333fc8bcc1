"""Dataclasses of Python whose methods, if they are frozen, are compiled with their first instance.

Compiling takes a millisecond a class, which was a third of a command's start; a command makes instances of a third of
the classes that it loads.
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict as asdict
from dataclasses import field as field
from dataclasses import fields as fields
from dataclasses import is_dataclass as is_dataclass
from dataclasses import replace as replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, kw_only=False):
        """Make a class a dataclass."""
        if cls is None:
            return partial(dataclass, frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)
        if slots or not frozen:
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)
        own = frozenset(vars(cls))
        cls.__doc__ = cls.__doc__ or cls.__name__  # else Python writes the signature there, which takes long
        dataclasses.dataclass(cls, init=False, repr=False, eq=False, kw_only=kw_only)

        def first(self, *given, **named):
            parts = [(one.name, one.type, one) for one in fields(cls)]
            after = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
            twin = dataclasses.make_dataclass(cls.__qualname__, parts, namespace=after, eq=eq, frozen=True)
            for name in ("__repr__", "__eq__", "__hash__", "__init__"):  # the last takes the place of this function
                if name in vars(twin) and name not in own:
                    setattr(cls, name, vars(twin)[name])
            cls.__init__(self, *given, **named)

        cls.__init__, cls.__setattr__, cls.__delattr__ = first, _refuse, _refuse
        return cls


def _refuse(_: object, name: str, *__: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")
