"""Write values as Python literals and calls that `adapters.signatures.read.values` reads back."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import pathlib
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import annotated_types
import pydantic
from pydantic import BaseModel

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass

_CONSTRAINTS: tuple[tuple[type, str], ...] = (
    (annotated_types.Gt, "gt"),
    (annotated_types.Ge, "ge"),
    (annotated_types.Lt, "lt"),
    (annotated_types.Le, "le"),
    (annotated_types.MultipleOf, "multiple_of"),
    (annotated_types.MinLen, "min_length"),
    (annotated_types.MaxLen, "max_length"),
    (pydantic.Strict, "strict"),
    (pydantic.FailFast, "fail_fast"),
)


def constraint_values(metadata: Iterable[object]) -> dict[str, object]:
    """Return the constraints in a field's metadata, by their argument names in `pydantic.Field`."""
    found: dict[str, object] = {}
    for one in metadata:
        for kind, name in _CONSTRAINTS:
            if isinstance(one, kind):
                found[name] = getattr(one, name)
        # pydantic's container of `pattern`, `max_digits` and similar constraints
        if type(one).__name__ in ("PydanticGeneralMetadata", "_PydanticGeneralMetadata"):
            found.update(one.__dict__)
    return found


def text_literal(text: str, block: bool = False) -> str:
    """Write a string literal of `text` on a line; with `block`, in triple quotes if it needs no escapes."""
    if block and "\\" not in text and '"""' not in text and not text.endswith('"'):
        if all(character.isprintable() or character == "\n" for character in text):
            return f'"""{text}"""'
    made = repr(text)
    return f'"{made[1:-1]}"' if made.startswith("'") and '"' not in made else made


@dataclass(eq=False)
class ValueWriter:
    """Write values as source; `declare` returns the name of a class, `imported` the name of an import."""

    declare: Callable[[type], str]
    imported: Callable[[str, str], str]

    def write(self, value: object) -> str:
        """Write an expression for `value`. Raises SignatureError if it could not be read back."""
        if value is None or value is ... or type(value) in (bool, int, bytes, complex):
            return "..." if value is ... else repr(value)
        if type(value) is str:
            return text_literal(value)
        if type(value) is float:
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, enum.Enum):
            name = self.declare(type(value))
            if isinstance(value, enum.Flag) and value.name not in type(value).__members__:
                return " | ".join(f"{name}.{one.name}" for one in value) or f"{name}(0)"
            return f"{name}.{value.name}"
        if type(value) is dict:
            return "{" + ", ".join(f"{self.write(key)}: {self.write(one)}" for key, one in value.items()) + "}"
        if type(value) is list:
            return f"[{', '.join(self.write(one) for one in value)}]"
        if type(value) is tuple:
            return f"({', '.join(self.write(one) for one in value)}{',' if len(value) == 1 else ''})"
        if type(value) is set or type(value) is frozenset:
            # The iteration order of a set changes between runs, so its text is sorted.
            braces = "{" + ", ".join(sorted(self.write(one) for one in value)) + "}" if value else ""
            return f"frozenset({braces})" if type(value) is frozenset else braces or "set()"
        return self._object(value)

    def _object(self, value: Any) -> str:
        if type(value) in (decimal.Decimal, fractions.Fraction, uuid.UUID):
            name = self.imported(type(value).__module__, type(value).__name__)
            return f'{name}("{value}")'
        if type(value) in (datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone):
            self.imported("datetime", "")
            return repr(value)
        if isinstance(value, pathlib.PurePath):
            return f"{self.imported('pathlib', 'Path')}({text_literal(str(value))})"
        if isinstance(value, pydantic.AliasChoices | pydantic.AliasPath):
            parts = value.choices if isinstance(value, pydantic.AliasChoices) else value.path
            return f"{self.imported('pydantic', type(value).__name__)}({', '.join(map(self.write, parts))})"
        names: list[str] | None = None
        if isinstance(value, BaseModel) and all(one.alias is None for one in type(value).model_fields.values()):
            names = [name for name in type(value).model_fields if name in value.model_fields_set]
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [one.name for one in dataclasses.fields(value)]
        if names is not None:
            arguments = ", ".join(f"{name}={self.write(getattr(value, name))}" for name in names)
            return f"{self.declare(type(value))}({arguments})"
        if getattr(value, "__module__", "") == "pydantic.alias_generators":
            return self.imported("pydantic.alias_generators", value.__name__)
        raise SignatureError(f"the value {str(value)[:60]!r} cannot be written as source", hint="a literal can")

    def factory(self, factory: Callable[[], object]) -> str:
        """Write a default factory by its name if it has one in source, else as `lambda: VALUE`."""
        if hasattr(factory, "literal"):
            return f"lambda: {self.write(factory.literal)}"
        if isinstance(factory, type):
            return factory.__name__ if factory.__module__ == "builtins" else self.declare(factory)
        owner, name = getattr(factory, "__self__", None), getattr(factory, "__name__", "")
        if isinstance(owner, type) and owner.__module__ == "datetime":
            self.imported("datetime", "")
            return f"datetime.{owner.__name__}.{name}"
        if getattr(factory, "__module__", "") == "uuid":
            return self.imported("uuid", name)
        return f"lambda: {self.write(factory())}"
