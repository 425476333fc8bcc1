"""Define dataclasses whose methods are compiled at the first call, unless they have slots.

Compiling takes a millisecond for each class. For all classes it took a third of a command's start, but a command
makes instances of only a third of them.
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
        if slots:
            return dataclasses.dataclass(cls, frozen=frozen, slots=True, eq=eq, kw_only=kw_only)
        if eq and not frozen and "__hash__" not in vars(cls):
            cls.__hash__ = None
        names = ("__repr__", "__eq__", "__hash__", "__init__") if eq else ("__repr__", "__init__")
        late = [name for name in names if name not in vars(cls)]
        cls.__doc__ = cls.__doc__ or cls.__name__  # else Python writes the signature there, which takes long
        dataclasses.dataclass(cls, init=False, repr=False, eq=False, kw_only=kw_only)

        def first(self, called, /, *given, **named):  # a field may have any name
            parts = [(one.name, one.type, one) for one in fields(cls)]
            kept = {name: getattr(cls, name) for name in ("__doc__", "__post_init__") if hasattr(cls, name)}
            twin = dataclasses.make_dataclass(cls.__qualname__, parts, namespace=kept, eq=eq, frozen=frozen)
            for one in late:
                setattr(cls, one, vars(twin)[one])
            return getattr(cls, called)(self, *given, **named)

        for name in late:  # not `__init__` alone: what another process made arrives without it
            setattr(cls, name, partialmethod(first, name))
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse
        return cls


def _refuse(_: object, name: str, *__: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")
