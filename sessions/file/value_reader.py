"""Values of decoded JSON data as what they should be, naming the place of the first thing that is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sessions.errors import SessionError, step_into
from sessions.model.parameters import kind_of

Made = TypeVar("Made")


class ValueReader:
    """Each method gives the value that it was given, or raises `SessionError` with its place in the file at `path`."""

    def __init__(self, path: str | None) -> None:
        self._path = path

    def _wrong(self, place: str, expected: str, value: Any) -> SessionError:
        return SessionError(self._path, place, f"expected {expected}, got {kind_of(value)}")

    def object(self, value: Any, place: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise self._wrong(place, "an object", value)
        return value

    def text_or_object(self, value: Any, place: str) -> str | dict[str, Any]:
        if type(value) is not str and type(value) is not dict:
            raise self._wrong(place, "a text or an object", value)
        return value

    def text(self, value: Any, place: str) -> str:
        if type(value) is not str:
            raise self._wrong(place, "a text", value)
        return value

    def lines(self, value: Any, place: str) -> str:
        if type(value) is list and all(type(line) is str for line in value):
            return "\n".join(value)
        if type(value) is not str:
            raise self._wrong(place, "a text or a list of its lines", value)
        return value

    def boolean(self, value: Any, place: str) -> bool:
        if type(value) is not bool:
            raise self._wrong(place, "true or false", value)
        return value

    def number(self, value: Any, place: str) -> float:
        if type(value) is not int and type(value) is not float:
            raise self._wrong(place, "a number", value)
        return value

    def each(self, value: Any, place: str, read: Callable[[Any, str], Made]) -> tuple[Made, ...]:
        if type(value) is not list:
            raise self._wrong(place, "a list", value)
        return tuple([read(item, f"{place}[{index}]") for index, item in enumerate(value)])

    def objects(self, value: Any, place: str) -> tuple[dict[str, Any], ...]:
        if type(value) is list and all(type(item) is dict for item in value):
            return tuple(value)
        return self.each(value, place, self.object)

    def by_name(self, value: Any, place: str, read: Callable[[Any, str], Made]) -> dict[str, Made]:
        return {key: read(item, step_into(place, key)) for key, item in self.object(value, place).items()}

    def one_of(self, value: Any, place: str, words: tuple[str, ...]) -> str:
        if value not in words:
            expected = " or ".join(f'"{word}"' for word in words)
            near = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
            got = repr(value) if isinstance(value, str) else kind_of(value)
            hint = f"did you mean {near[0]}?" if near else ""
            raise SessionError(self._path, place, f"expected {expected}, got {got}", hint)
        return str(value)

    def needed(self, data: Mapping[str, Any], key: str, place: str) -> Any:
        if key not in data:
            raise SessionError(self._path, place, f'has no "{key}"')
        return data[key]
