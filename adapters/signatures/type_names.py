"""Write the names of types, measure their size, and walk over the parts of an annotation."""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Union, get_args, get_origin

from adapters.late_dataclasses import dataclass, is_dataclass


def name_of(annotation: object) -> str:
    """Write a type as in prompts, such as `Union[int, NoneType]` (dspy's `get_annotation_name`)."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is types.UnionType:
        origin = Union
    if origin is None:
        if (
            isinstance(annotation, type)
            and annotation.__name__ == "Reasoning"
            and annotation.__module__ in ("adapters.types.native", "dspy.adapters.types.reasoning")
        ):
            return "str"
        return str(getattr(annotation, "__name__", annotation))
    if origin is Literal:
        names = [quoted_literal(one) if isinstance(one, str) else name_of(one) for one in args]
    else:
        names = [name_of(one) for one in args]
    return f"{name_of(origin)}[{', '.join(names)}]"


def written(annotation: object) -> str:
    """Write a type for display like `name_of`, but with `date | None` for `Union[date, NoneType]`."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " | ".join("None" if one is types.NoneType else written(one) for one in args)
    if annotation is Ellipsis:
        return "..."
    if origin is None or origin is Literal:
        return name_of(annotation)
    return f"{name_of(origin)}[{', '.join(written(one) for one in args)}]"


def quoted_literal(text: str) -> str:
    """Quote a text as `dspy.adapters.utils` does, with `"` if it contains `'` and no `"`, otherwise with `'`."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "\\'") + "'"


def is_type_alias(annotation: object) -> bool:
    """Test for an alias declared with `type X = …`."""
    return type(annotation).__name__ == "TypeAliasType"


LARGEST_TYPE = 10_000
"""Limit on the parts of a type: each name is a part, and so are each 20 characters of a literal.

Printing, hashing and validating a type visit every part; a type of that size is 100 kB of prompt.
"""


TEXT_OF_A_PART = 20
"""Characters of a literal that count as one part."""


def is_too_large(parts: Iterable[Any]) -> bool:
    """Test whether a type composed of `parts` would have more than `LARGEST_TYPE` parts.

    A class is one part. Repeated parts count each time, because they are printed each time. Stops at the limit.
    """
    left = LARGEST_TYPE
    waiting = list(parts)
    while waiting:
        one = waiting.pop()
        left -= 1
        if isinstance(one, list | tuple):
            waiting.extend(one[: left + 1])
        elif is_type_alias(one):
            waiting.append(one.__value__)
        elif get_origin(one) is not None:
            waiting.extend(get_args(one)[: left + 1])
        elif not isinstance(one, type):
            left -= len(repr(one)) // TEXT_OF_A_PART
        if left < 0:
            return True
    return False


@dataclass(frozen=True)
class NotRun:
    """A placeholder in `Annotated` for a validator or serializer of the source; pydantic ignores it."""

    what: str

    def __repr__(self) -> str:
        # dspy prints an Annotated inside another type into the prompt.
        return f"{self.what}(func=<function>)"


def notes_of(annotation: object, metadata: Iterable[object] = ()) -> tuple[str, ...]:
    """Note the validators, serializers and other code of an annotation that are not run here."""
    notes: dict[str, None] = {f"{one.what} is not run": None for one in metadata if isinstance(one, NotRun)}
    for part in walk(annotation):
        if isinstance(part, NotRun):
            notes[f"{part.what} is not run"] = None
        elif isinstance(part, type):
            for what in part.__dict__.get("__not_run__", ()):
                notes[f"{part.__name__}: {what} is not run"] = None
    return tuple(notes)


def unchecked_in(annotation: object) -> tuple[str, ...]:
    """List the validators and constructors that dspy runs on values of this type, and that are not run here.

    Those in a field's own `Annotated` are not listed, as dspy does not run them either.
    """
    notes = [note for note in notes_of(annotation) if _CHECKING.search(note) is not None]
    return tuple([note.removesuffix(" is not run") for note in notes])


_CHECKING = re.compile(r"[vV]alidator\b|: method `")
"""Matches notes of `notes_of` on code that runs when values are read, unlike serializers and computed fields."""


def walk(annotation: object) -> Iterator[object]:
    """Yield an annotation and its parts, each once: arguments, metadata, base classes and members."""
    seen: set[int] = set()
    waiting = [annotation]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting.extend(reversed(list(_parts(one))))


def _parts(annotation: Any) -> Iterator[object]:
    yield from get_args(annotation)
    yield from getattr(annotation, "__metadata__", ())
    if isinstance(annotation, list | tuple):
        yield from annotation
    if type(annotation).__name__ == "TypeAliasType":
        yield annotation.__value__
    supertype = getattr(annotation, "__supertype__", None)
    if supertype is not None:
        yield supertype
    if not isinstance(annotation, type):
        return
    from pydantic import BaseModel  # loaded late: not needed to start

    yield from annotation.__bases__
    if issubclass(annotation, BaseModel):
        for info in annotation.model_fields.values():
            yield info.annotation
            yield from info.metadata
    elif is_dataclass(annotation) or hasattr(annotation, "__total__") or hasattr(annotation, "_fields"):
        if not issubclass(annotation, enum.Enum):
            yield from getattr(annotation, "__annotations__", {}).values()
