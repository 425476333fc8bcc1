"""Define dataclasses whose methods are compiled at the first call.

Compiling takes a millisecond for each class. For all classes it took a third of a command's start, but a command
makes instances of only a third of them, and compares or prints fewer.
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict as asdict
from dataclasses import field as field
from dataclasses import fields as fields
from dataclasses import is_dataclass as is_dataclass
from dataclasses import replace as replace
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, kw_only=False):
        """Make a class a dataclass."""
        if cls is None:
            return partial(dataclass, frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)
        if eq and not frozen and "__hash__" not in vars(cls):
            cls.__hash__ = None
        names = ("__repr__", "__eq__", "__hash__", "__init__") if eq else ("__repr__", "__init__")
        late = [name for name in names if name not in vars(cls)]
        cls.__doc__ = cls.__doc__ or cls.__name__  # else Python writes the signature there, which takes long
        # Python's frozen classes with slots have a state that can be copied.
        cls = dataclasses.dataclass(
            cls, init=False, repr=False, eq=False, frozen=frozen and slots, slots=slots, kw_only=kw_only
        )

        def first(self, called, /, *given, **named):  # a field may have any name
            parts = {one.name: one for one in fields(cls)}
            kept = {name: getattr(cls, name) for name in ("__doc__", "__post_init__") if hasattr(cls, name)}
            types = {name: one.type for name, one in parts.items()}
            twin = type(cls.__qualname__, (), {**parts, **kept, "__annotations__": types})
            is_new = called == "__init__"
            dataclasses.dataclass(twin, init=is_new, repr=not is_new, eq=eq and not is_new, frozen=frozen)
            for one in late:
                if (one == "__init__") is is_new:
                    setattr(cls, one, vars(twin)[one])
            return getattr(cls, called)(self, *given, **named)

        for name in late:  # not `__init__` alone: what another process made arrives without it
            setattr(cls, name, partialmethod(first, name))
        if frozen and not slots:
            cls.__setattr__ = cls.__delattr__ = _refuse
        return cls


def _refuse(_: object, name: str, *__: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")
