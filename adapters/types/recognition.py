"""Recognises custom types: ours, dspy's (by qualified name, without importing it), and their subclasses.

A model that merely has a method called `format` does not count.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, get_args

OURS = "adapters.types"
DSPYS = "dspy.adapters.types"

DECISIONS = ("Noul", "Score", "Choice")


def is_custom_type(annotation: object) -> bool:
    """Test whether `annotation` is our or dspy's `Type`, or a subclass."""
    return _has_base(annotation, "Type")


def custom_types_in(annotation: object) -> list[Any]:
    """The custom types in an annotation, in order and with repetitions: `dict[str, list[Image]]` → [Image].

    Rule: `dspy.Type.extract_custom_type_from_annotation`, which looks into type arguments and not into models.
    """
    if is_custom_type(annotation):
        return [annotation]
    return [found for arg in get_args(annotation) for found in custom_types_in(arg)]


def is_named(annotation: object, name: str) -> bool:
    """Test whether `annotation` is our or dspy's class `name` itself (`Reasoning`, `ToolCalls`, …).

    A class derived from it is another type, as in dspy, which compares with `==`; only for `Code`, where dspy asks
    `issubclass`, `Code["java"]` and other derived classes count too.
    """
    return (
        _has_base(annotation, name) if name == "Code" else isinstance(annotation, type) and _is_theirs(annotation, name)
    )


def is_kind_of(annotation: object, name: str) -> bool:
    """Test whether `annotation` is our or dspy's class `name`, or a subclass."""
    return _has_base(annotation, name)


def is_builtin(annotation: object) -> bool:
    """Test whether `annotation` is our or dspy's own type, and not a user's subclass."""
    if not isinstance(annotation, type) or not isinstance(annotation.__module__, str):
        return False
    return _within(annotation.__module__, OURS) or annotation.__module__.startswith("dspy.")


def is_decision_type(annotation: object) -> bool:
    """Test whether `annotation` is our or dspy's Noul, Score or Choice, with or without `[…]`."""
    return any(_has_base(annotation, name) for name in DECISIONS)


def _has_base(annotation: object, name: str) -> bool:
    return isinstance(annotation, type) and _class_has_base(annotation, name)


@lru_cache(maxsize=1024)
def _class_has_base(cls: type, name: str) -> bool:
    return any(_is_theirs(base, name) for base in cls.__mro__)


def _is_theirs(cls: type, name: str) -> bool:
    module = cls.__module__
    return cls.__qualname__ == name and isinstance(module, str) and (_within(module, OURS) or _within(module, DSPYS))


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
