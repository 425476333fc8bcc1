"""Walks over types: the classes that an annotation names, and what of them is not run here."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel


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
    if issubclass(cls, BaseModel):
        for info in cls.model_fields.values():
            yield info.annotation
            yield from info.metadata
        return
    if issubclass(cls, enum.Enum):
        return
    if dataclasses.is_dataclass(cls) or hasattr(cls, "__total__") or hasattr(cls, "_fields"):
        yield from getattr(cls, "__annotations__", {}).values()
