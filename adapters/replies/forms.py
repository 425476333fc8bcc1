"""Write replies of each form from the texts or values of their fields.

Mutations rewrite replies with these: fields reordered or missing, numbers as a model might write them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from adapters.late_dataclasses import dataclass
from adapters.replies.reading import ReplyForm
from adapters.signatures.signature import without_none
from adapters.values.value_text import to_json, value_to_xml

Leaf = Callable[[Any, bool], str | None]
"""A function of a value that is neither list nor object, and whether it is inside JSON; returns the exact text to
write, or None to leave the value unchanged."""

DEEPEST = 40
"""Maximum depth of a value that is rewritten."""


@dataclass(frozen=True)
class FieldText:
    """An output of a good reply: parsed `value`, `plain` JSON, and `text` in the reply."""

    name: str
    annotation: object
    value: Any
    plain: Any
    text: str

    @property
    def is_text(self) -> bool:
        """Return whether this is free text, to which words can be added."""
        return type(self.value) is str and without_none(self.annotation) is str

    @property
    def is_container(self) -> bool:
        return isinstance(self.plain, list | dict)


class Form:
    """A form of replies; `kind` is its name in `Reading.form`."""

    kind: ClassVar[ReplyForm] = "own"
    is_json: ClassVar[bool] = False

    def named(self, name: str, text: str, nested: bool = False) -> str:
        """Write a field under its name; `nested`: its text is nested markup."""
        raise NotImplementedError

    def whole(self, parts: Sequence[str]) -> str:
        """Join written fields into a reply."""
        raise NotImplementedError

    def of_text(self, text: str) -> str:
        """Escape a text value for this form."""
        return text

    def of_value(self, value: object, leaf: Leaf, nested: bool = False) -> str:
        """Write a plain JSON value, with its leaves written by `leaf`."""
        if isinstance(value, list | dict):
            return json_with(value, leaf)
        written = leaf(value, False)
        return str(value) if written is None else written  # as Chat and XML do: numbers in Python's notation

    def write(self, fields: Sequence[FieldText]) -> str:
        return self.whole([self.named(one.name, one.text, self.is_nested(one)) for one in fields])

    def write_values(self, values: Mapping[str, object]) -> str:
        """Write a reply of plain JSON values."""
        return self.whole(
            [
                self.named(name, self.of_text(one if isinstance(one, str) else to_json(one)))
                for name, one in values.items()
            ]
        )

    def is_nested(self, field: FieldText) -> bool:
        """Return whether the field's text is nested markup, written on the line of its tags."""
        return False


class Markers(Form):
    """Chat's form: `[[ ## name ## ]]` lines."""

    kind: ClassVar[ReplyForm] = "markers"

    def named(self, name: str, text: str, nested: bool = False) -> str:
        return f"[[ ## {name} ## ]]\n{text}"

    def whole(self, parts: Sequence[str]) -> str:
        return "\n\n".join([*parts, "[[ ## completed ## ]]"]) + "\n"


class Tags(Form):
    """XML's form: a tag for each field."""

    kind: ClassVar[ReplyForm] = "xml"

    def named(self, name: str, text: str, nested: bool = False) -> str:
        return f"<{name}>{text}</{name}>" if nested else f"<{name}>\n{text}\n</{name}>"

    def whole(self, parts: Sequence[str]) -> str:
        return "\n\n".join(parts)

    def of_text(self, text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")

    def of_value(self, value: object, leaf: Leaf, nested: bool = False) -> str:
        if not nested or not isinstance(value, list | dict):
            return super().of_value(value, leaf)
        # Tags contain no JSON: a leaf is text, escaped like any other.
        whole = value_to_xml(_replace_leaves(value, lambda one: leaf(one, False)), "value")
        return "" if whole == "<value />" else whole.removeprefix("<value>").removesuffix("</value>")

    def is_nested(self, field: FieldText) -> bool:
        return field.is_container and (not field.text or field.text.startswith("<"))


@dataclass(frozen=True)
class Object(Form):
    """The JSON object of JSON and BAML, or with `fenced` in Markdown's fence."""

    fenced: bool = False
    kind: ClassVar[ReplyForm] = "json"
    is_json: ClassVar[bool] = True

    def named(self, name: str, text: str, nested: bool = False) -> str:
        return f"{to_json(name)}: {text}"

    def whole(self, parts: Sequence[str]) -> str:
        return self.around("{\n  " + ",\n  ".join(parts) + "\n}" if parts else "{}")

    def around(self, document: str) -> str:
        """Wrap the JSON document in a fence if the form is fenced."""
        return f"```json\n{document}\n```" if self.fenced else document

    def of_text(self, text: str) -> str:
        return to_json(text)

    def of_value(self, value: object, leaf: Leaf, nested: bool = False) -> str:
        return json_with(value, leaf)

    def write_values(self, values: Mapping[str, object]) -> str:
        return self.around(json.dumps(dict(values), ensure_ascii=False, indent=2))


FORMS: Mapping[ReplyForm, Form] = {
    "markers": Markers(),
    "xml": Tags(),
    "json": Object(),
    "fenced json": Object(fenced=True),
}
"""Known forms; replies of other forms are only changed as text."""


def json_with(value: object, leaf: Leaf) -> str:
    """Write JSON with `leaf` for each leaf, or plain JSON if that returns None."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{to_json(str(key))}: {json_with(one, leaf)}" for key, one in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([json_with(one, leaf) for one in value]) + "]"
    written = leaf(value, True)
    return json.dumps(value, ensure_ascii=False) if written is None else written


def leaves(value: object) -> Iterator[object]:
    """Yield the values in plain JSON that are neither list nor object."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)
    else:
        yield value


def is_deep(value: object, level: int = 0) -> bool:
    """Return whether a plain JSON value is nested too deep to be rewritten."""
    if level > DEEPEST:
        return True
    if not isinstance(value, dict | list):
        return False
    return any(is_deep(one, level + 1) for one in (value.values() if isinstance(value, dict) else value))


def _replace_leaves(value: object, leaf: Callable[[object], str | None]) -> object:
    if isinstance(value, dict):
        return {key: _replace_leaves(one, leaf) for key, one in value.items()}
    if isinstance(value, list):
        return [_replace_leaves(one, leaf) for one in value]
    written = leaf(value)
    return value if written is None else written
