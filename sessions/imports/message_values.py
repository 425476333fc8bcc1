"""Recover the values from a dspy adapter's messages; rendering them gives the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.formats.conversation import INCOMPLETE_DEMO
from adapters.late_dataclasses import dataclass, replace
from adapters.prompts.text import Text, content_parts
from adapters.signatures.signature import MISSING, Field, Role, Signature, allows_none
from adapters.tools.tools import tool_output_field
from adapters.types import Image
from adapters.values.plain_json import plain
from sessions.imports.reading import decoded, dict_in, objects_in
from sessions.model.held_values import strict_json, value_of

_FILLERS = ("Not supplied for this particular example.", "Not supplied for this conversation history message.")
_REMINDERS = (
    "Respond with the corresponding output fields, starting with the field `",
    "Respond with the corresponding output fields wrapped in XML tags",
    "Respond with a JSON object in the following order of fields: ",
)
_RESULTS = "[[ ## tool_call_results ## ]]\n"
_COMPLETED = "[[ ## completed ## ]]"
_IMAGE = re.compile(r"\s*<image_url: (\S+)>\s*")


@dataclass(frozen=True)
class Turns:
    """The turns that have a reply; `asked` has the inputs of the last message."""

    turns: tuple[Mapping[str, Any], ...]
    asked: Mapping[str, Any]
    demos: int
    """The number of leading turns that are demos.

    Questions of a history end with the reminder, or lack the history that demos show or are said to lack.
    """


class MessageReader:
    """Reads messages that the named adapter wrote for a signature."""

    def __init__(self, signature: Signature, adapter: str) -> None:
        self._adapter: Adapter = catalog.make(adapter, {})
        self._is_xml = self._adapter.profile.reply == "xml"
        self._is_json = self._adapter.profile.reply == "json"
        self._inputs = signature.input_fields
        self._outputs = signature.output_fields
        self._history = signature.history_field
        self._calls = tool_output_field(signature) or "tool_calls"

    def turns(self, messages: Sequence[Mapping[str, object]]) -> Turns:
        """Read all messages; skip roles other than user and assistant."""
        turns: list[Mapping[str, Any]] = []
        reminded: list[bool] = []
        asked: dict[str, Any] = {}
        for message in messages:
            text = shown_text(message.get("content"))
            results = _results_in(message, text)
            if results and turns and isinstance(turns[-1].get(self._calls), dict):
                called = turns[-1][self._calls]
                known = called.get("tool_call_results", {"tool_call_results": []})["tool_call_results"]
                both = {**called, "tool_call_results": {"tool_call_results": [*known, *results]}}
                turns[-1] = {**turns[-1], self._calls: both}
            elif message.get("role") == "user":
                asked = self.inputs(text)
                is_turn = self._history not in (None, *asked) and not text.lstrip().startswith(INCOMPLETE_DEMO)
                reminded.append(is_turn or any(one in text for one in _REMINDERS))
            elif message.get("role") == "assistant":
                calls = [_call(one) for one in objects_in(message.get("tool_calls"))]
                called = {self._calls: {"tool_calls": calls}} if calls else {}
                turns.append({**asked, **self._answer(text), **called})
                asked = {}
        demos = next((place for place, one in enumerate(reminded) if one), len(turns))
        return Turns(tuple(turns), asked, min(demos, len(turns)))

    def inputs(self, text: str) -> dict[str, Any]:
        """Read the inputs in a user message, without the remark at its start and the reminder at its end."""
        end = max(text.rfind(one) for one in _REMINDERS)
        question = (text if end < 0 else text[:end]).strip().removeprefix(INCOMPLETE_DEMO).strip()
        return self._values(self._sections(question, self._inputs), self._inputs)

    def _answer(self, text: str) -> dict[str, Any]:
        if not self._is_json:
            return self._values(self._sections(text.rstrip().removesuffix(_COMPLETED), self._outputs), self._outputs)
        values = dict_in(decoded(text))
        return {name: one for name, one in values.items() if name in self._outputs and str(one).strip() not in _FILLERS}

    def _sections(self, text: str, fields: Mapping[str, Field]) -> dict[str, str]:
        """Return the text of each field.

        Markers count only in the order of the fields, because a value may quote the marker of another field.
        """
        names = list(fields)
        if self._is_xml:
            marks = {name: rf"<{name}>\n?(?P<text>.*?)\n?</{name}>|<{name} />" for name in names}
            found = {}
            start = 0
            for name in names:
                following = "|".join(rf"\n*<{re.escape(one)}(?:>| />)" for one in names[names.index(name) + 1 :])
                end = rf"(?=\s*\Z{'|' + following if following else ''})"
                match = re.compile(f"(?:{marks[name]}){end}", re.DOTALL).search(text, start)
                if match is not None:
                    found[name], start = match["text"] or "", match.end()
            if found:
                return found  # else dspy 3.0 wrote it: its XML adapter asks with Chat's markers
        places = list(re.finditer(r"^\[\[ ## (\w+) ## \]\](?:\n|\Z)", text, re.MULTILINE))
        taken: list[re.Match[str]] = []
        for place in places:
            if place[1] in names and (not taken or names.index(place[1]) > names.index(taken[-1][1])):
                taken.append(place)
        ends = [*(one.start() for one in taken[1:]), len(text)][: len(taken)]
        found = {one[1]: text[one.end() : end] for one, end in zip(taken, ends, strict=True)}
        return {name: one.removesuffix("\n").removesuffix("\n") for name, one in found.items()}

    def _values(self, texts: Mapping[str, str], fields: Mapping[str, Field]) -> dict[str, Any]:
        return {name: self._value(one, fields[name]) for name, one in texts.items() if one.strip() not in _FILLERS}

    def _value(self, text: str, field: Field) -> Any:
        """Return the first candidate value that renders as this text; without one, the text itself."""
        if field.annotation is Image and (image := _IMAGE.fullmatch(text)) is not None:
            return {"url": image[1]}
        candidates = list(self._readings(text, field))
        for value in candidates:
            if self._written(value, field) == text.strip() and not (value is text and self._is_xml):
                return value
        if self._is_xml and isinstance(candidates[0], dict | list):
            return candidates[0]  # dspy before 3.4 writes JSON into XML elements
        return text

    def _readings(self, text: str, field: Field) -> Iterator[Any]:
        """Yield the values that a text may represent, most likely first."""
        if text.strip() == "None" and allows_none(field.annotation):
            yield None
        if field.annotation is str:
            yield text
        else:
            value: Any = MISSING
            with suppress(ValueError):
                value = value_of(text, field)
            if value is not MISSING:
                yield value
            if not isinstance(value, str):
                with suppress(ValueError, RecursionError):
                    yield strict_json(text)
        if self._is_xml:
            one = Signature.make([replace(field, role="output", default=MISSING, default_factory=None)])
            reading = self._adapter.read(one, f"<{field.name}>{text}</{field.name}>")
            if reading.ok:
                yield plain(reading.values[field.name])
        yield from (None, text) if text.strip() == "None" and field.annotation is not str else (text,)

    def _written(self, value: object, field: Field) -> str | None:
        other: Role = "output" if field.role == "input" else "input"
        signature = Signature.make([field, Field(f"other_{field.name}", other, str)])
        values = {field.name: value}
        try:
            if field.role == "input":
                text = str(self._adapter.format_user_message_content(signature, values))
            else:
                text = str(self._adapter.format_assistant_message_content(signature, values))
        except Exception:  # whatever dspy's format raises for this value
            return None
        written = self._sections(text.rstrip().removesuffix(_COMPLETED), {field.name: field}).get(field.name)
        return None if written is None else written.strip()


def shown_text(content: object, *, is_printed: bool = False) -> str:
    """Return a message's text with the addresses of its images; `is_printed` as `inspect_history()` prints it."""
    texts = []
    for part in content_parts(content)[0]:
        if isinstance(part, Text):
            texts.append(str(part).strip() if is_printed else str(part))
        elif isinstance(image := part.payload.get("image_url"), dict):
            texts.append(f"<image_url: {image.get('url')}>" + "\n" * is_printed)
    return "\n".join(texts)


def _results_in(message: Mapping[str, object], text: str) -> list[dict[str, Any]]:
    """Return the results of tools in a message: of the role tool, or dspy's text of them."""
    if message.get("role") == "tool":
        return [{"call_id": message.get("tool_call_id"), "name": str(message.get("name") or "tool"), "value": text}]
    if message.get("role") != "user" or not text.startswith(_RESULTS):
        return []
    found = dict_in(decoded(text.removeprefix(_RESULTS), strict_json))
    return objects_in(found.get("tool_call_results"))


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a call in OpenAI's form to dspy's."""
    function = dict_in(call.get("function")) or call
    arguments = dict_in(decoded(function.get("arguments"), strict_json))
    named = {"name": str(function.get("name") or "tool"), "args": arguments}
    return {**named, "id": call["id"]} if isinstance(call.get("id"), str) else named
