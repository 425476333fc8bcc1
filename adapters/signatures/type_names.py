"""Types by the names that prompts give them, their size, and a walk over all that an annotation names."""

from __future__ import annotations

import dataclasses
import enum
import re
import types
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Union, get_args, get_origin


def name_of(annotation: object) -> str:
    """Write a type as the prompt names it, `Union[int, NoneType]` or `list[str]` (dspy's `get_annotation_name`)."""
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
    """Write a type as people write it, for a screen: as `name_of`, but a `Union[date, NoneType]` is `date | None`."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " | ".join("None" if one is types.NoneType else written(one) for one in args)
    if annotation is Ellipsis:
        return "..."
    if origin is None or origin is Literal:
        return name_of(annotation)
    return f"{name_of(origin)}[{', '.join(written(one) for one in args)}]"


def quoted_literal(text: str) -> str:
    """Quote a text as `dspy.adapters.utils` does: with `'`, or with `"` where only `'` occurs in it."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "\\'") + "'"


def is_type_alias(annotation: object) -> bool:
    """Test for an alias made by `type X = …`."""
    return type(annotation).__name__ == "TypeAliasType"


LARGEST_TYPE = 10_000
"""Parts of a type: each name in it, and each twenty characters of what is no name (a literal's text).

What prints, hashes or validates a type takes all of them one by one; a type of that size is 100 kB of prompt.
"""


TEXT_OF_A_PART = 20
"""Characters."""


def is_too_large(parts: Iterable[Any]) -> bool:
    """Test whether a type made of these has more than `LARGEST_TYPE` parts. A class counts as a single part.

    A repeated part counts each time, as it is printed each time; the walk stops at the limit.
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


@dataclasses.dataclass(frozen=True)
class NotRun:
    """Stands in an `Annotated` where a validator or serializer stood in the source: pydantic ignores it."""

    what: str

    def __repr__(self) -> str:
        # dspy prints the whole Annotated into the prompt where it is inside another type.
        return f"{self.what}(func=<function>)"


def notes_of(annotation: object, metadata: Iterable[object] = ()) -> tuple[str, ...]:
    """Note everything in the annotation that has no effect here: validators, serializers."""
    notes: dict[str, None] = {f"{one.what} is not run": None for one in metadata if isinstance(one, NotRun)}
    for part in walk(annotation):
        if isinstance(part, NotRun):
            notes[f"{part.what} is not run"] = None
        elif isinstance(part, type):
            for what in part.__dict__.get("__not_run__", ()):
                notes[f"{part.__name__}: {what} is not run"] = None
    return tuple(notes)


def unchecked_in(annotation: object) -> tuple[str, ...]:
    """List code that dspy would run on values of this type, and nothing here runs: validators and constructors.

    dspy does not run what is in a field's own `Annotated` either.
    """
    notes = [note for note in notes_of(annotation) if _CHECKING.search(note) is not None]
    return tuple([note.removesuffix(" is not run") for note in notes])


_CHECKING = re.compile(r"[vV]alidator\b|: method `")
"""In `notes_of`, as against serializers and computed fields, which act on what is written."""


def walk(annotation: object) -> Iterator[object]:
    """Walk an annotation and all inside it, each once: arguments, metadata, base classes, members."""
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
    if isinstance(annotation, type):
        yield from annotation.__bases__
        yield from member_annotations(annotation)


def member_annotations(cls: type) -> Iterator[object]:
    """Yield the annotations of a class's own members, with their metadata."""
    from pydantic import BaseModel  # the first picture does without it

    if issubclass(cls, BaseModel):
        for info in cls.model_fields.values():
            yield info.annotation
            yield from info.metadata
        return
    if issubclass(cls, enum.Enum):
        return
    if dataclasses.is_dataclass(cls) or hasattr(cls, "__total__") or hasattr(cls, "_fields"):
        yield from getattr(cls, "__annotations__", {}).values()
