"""Read a prompt's task: its outputs, inputs and examples."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter
from adapters.mutations.mutation import GoodReply, good_reply, written
from adapters.prompts import field_descriptions
from adapters.replies.forms import FORMS
from adapters.replies.reading import ReplyForm
from adapters.signatures.signature import Field, Signature
from adapters.types.recognition import is_named, schema_by_name
from adapters.values.value_text import serialize_for_json

Schema = Mapping[str, Any]
"""A JSON schema."""
Format = Literal["chat", "json", "xml", "prose", "block", "free"]
"""chat: `[[ ## x ## ]]` markers · json: a JSON object · xml: tags · prose: named outputs laid out in text · block: one
fenced block of JSON · free: no outputs requested."""

_FORMATS: Mapping[ReplyForm, Format] = {
    "markers": "chat",
    "json": "json",
    "xml": "xml",
    "prose": "prose",
    "fenced json": "block",
    "own": "chat",
}
NO_FIELDS = Signature.make([], "")

INCOMPLETE = "This is an example of the task, though some input or output fields are not supplied."

_CHAT = "Respond with the corresponding output fields, starting with the field `[[ ## "
_XML = "Respond with the corresponding output fields wrapped in XML tags `<"
_JSON = "Respond with a JSON object in the following order of fields: "
_BLOCK_OF_AN_ARRAY = "The JSON is an array"
_VERBATIM = "extract the fields from the text verbatim"


@dataclass(frozen=True)
class WantedOutput:
    """A requested output."""

    name: str
    schema: Schema
    description: str = ""


@dataclass(frozen=True)
class Task:
    """Everything a reply is made from.

    `inputs` are the current inputs' texts by name. `known` are the outputs of an example with the same inputs, and
    `example` is its reply. `examples` are the outputs of all examples as plain JSON, newest last. `adapter` writes the
    reply for `signature` and parses it; None if no outputs are requested.
    """

    format: Format
    wanted: tuple[WantedOutput, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    example: str | None = None
    examples: tuple[Mapping[str, Any], ...] = ()
    verbatim: bool = False
    """True if the outputs are copied out of the single input."""
    seed: str = ""
    """All messages as JSON."""
    adapter: Adapter | None = None
    signature: Signature = NO_FIELDS
    as_array: bool = False
    """True if the reply is the single output itself, an array, without an object around it."""

    def write(self, outputs: Mapping[str, Any]) -> str:
        """Write the reply with `outputs` as the adapter does.

        If dspy's adapter cannot parse what it writes (XML with `&` in a set), the reply is escaped properly.
        """
        if self.as_array:
            value = serialize_for_json(next(iter(outputs.values()), None))
            return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"
        text = None if self.adapter is None else written(self.adapter, self.signature, outputs)
        if text is None or self.adapter is None:
            return "\n\n".join(map(str, outputs.values()))
        form = FORMS.get(self.adapter.profile.reply)
        if form is None or self.adapter.read(self.signature, text).ok:
            return text
        return form.write_values({name: serialize_for_json(value) for name, value in outputs.items()})

    def takes(self, name: str, text: str) -> bool:
        """Return whether the output `name` can be parsed from `text` as it is."""
        signature = Signature.make([self.signature.output_fields[name]])
        return ChatAdapter().read(signature, FORMS["markers"].write_values({name: text})).ok

    def good_reply(self, text: str) -> GoodReply:
        """Parse a reply so that mutations can damage it."""
        parser = self.adapter or ChatAdapter()
        return good_reply(parser, self.signature, parser.read(self.signature, text), "")


def read(
    messages: Sequence[Mapping[str, Any]], adapter: Adapter | None = None, signature: Signature | None = None
) -> Task:
    """Read the task that `messages` (OpenAI's chat objects) set for the adapter and signature that made them.

    Without these, the messages are taken for a text to answer freely.
    """
    system = "\n\n".join(text_of(one) for one in messages if one.get("role") == "system")
    last = max((place for place, one in enumerate(messages) if one.get("role") == "user"), default=-1)
    asked = text_of(messages[last]) if last >= 0 else ""
    seed = json.dumps([[one.get("role"), text_of(one)] for one in messages])
    body = _body(asked)
    if adapter is None or signature is None:
        return Task("free", inputs={"text": body or system}, seed=seed)
    format_ = _FORMATS[adapter.profile.reply]
    wanted = tuple([_wanted(one) for one in signature.output_fields.values()])
    inputs = _sections(f"{system}\n\n{asked}") if format_ == "block" else _inputs(format_, system, body)
    pairs = _examples(messages[:last])
    answers = [_outputs(adapter, signature, reply) for _, reply in pairs]
    same = [place for place, (question, _) in enumerate(pairs) if _body(question) == body]
    known = answers[same[-1]] if same else {}
    return Task(
        format_,
        wanted,
        inputs,
        known,
        pairs[same[-1]][1] if same and set(known) == set(signature.output_fields) else None,
        tuple([{name: serialize_for_json(one) for name, one in values.items()} for values in answers]),
        verbatim=_VERBATIM in system,
        seed=seed,
        adapter=adapter,
        signature=signature,
        as_array=format_ == "block" and _BLOCK_OF_AN_ARRAY in f"{system}{asked}",
    )


def _outputs(adapter: Adapter, signature: Signature, reply: str) -> dict[str, Any]:
    """Return an example's outputs, as far as they parse, without placeholders for missing values."""
    if adapter.profile.reply == "prose":
        values: Mapping[str, Any] = labelled(reply, list(signature.output_fields))
    else:
        reading = adapter.read(signature, reply)
        values = {name: one.value for name, one in reading.fields.items() if one.state == "read"}
    return {
        name: value
        for name, value in values.items()
        if not (isinstance(value, str) and value.strip().startswith("Not supplied for this "))
    }


def labelled(text: str, names: Sequence[str]) -> dict[str, str]:
    """Find paragraphs that begin with `name:`."""
    if not names:
        return {}
    label = re.compile(
        rf"^[*_#\s-]{{0,6}}({'|'.join(map(re.escape, names))})[*_]{{0,2}}:[*_]{{0,2}}[ \t]*", re.MULTILINE
    )
    places = list(label.finditer(text))
    ends = [*(place.start() for place in places[1:]), len(text)]
    found: dict[str, str] = {}
    for place, end in zip(places, ends, strict=False):
        found.setdefault(place.group(1), text[place.end() : end].strip())
    return found


_TEXT: Schema = {"type": "string"}
_OWN: Mapping[str, Schema] = {
    "Code": {"type": "string", "format": "code"},
    "Reasoning": _TEXT,
    "bytes": _TEXT,
    "complex": {"const": "1+2j"},
    "Decimal": {"type": "number"},
}
"""Types whose own schema would not do."""


def _schema_of(annotation: object) -> Schema:
    """Return the JSON schema of a type; custom types written as text are texts."""
    for name in ("Code", "Reasoning"):
        if is_named(annotation, name):
            return _OWN[name]
    if annotation is bytes or annotation is complex or annotation is Decimal:
        return _OWN[annotation.__name__]
    try:
        return schema_by_name(annotation)
    except Exception:  # a type may have no schema, and a user's own may raise anything
        return {"unknown": getattr(annotation, "__name__", "")}


_BOUNDS = {
    "greater than": "exclusiveMinimum",
    "greater than or equal to": "minimum",
    "less than": "exclusiveMaximum",
    "less than or equal to": "maximum",
    "minimum length": "minLength",
    "maximum length": "maxLength",
    "a multiple of the given number": "multipleOf",
}


def _constrained(schema: Schema, constraints: str) -> Schema:
    """Add the bounds in a field's constraints, as dspy writes them, to `schema`."""
    names = {"minLength": "minItems", "maxLength": "maxItems"} if schema.get("type") == "array" else {}
    found: dict[str, Any] = {}
    for name, number in re.findall(r"([a-z ]+?): (-?[\d.]+(?:e-?\d+)?)", constraints):
        bound = _BOUNDS.get(name.strip())
        if bound:
            found[names.get(bound, bound)] = float(number) if "." in number or "e" in number else int(number)
    return {**schema, **found}


def _wanted(one: Field) -> WantedOutput:
    """Return the output that a field of the signature declares."""
    schema = _constrained(_schema_of(one.annotation), one.constraints or "")
    return WantedOutput(one.name, schema, one.desc or "")


def _sections(text: str) -> dict[str, str]:
    """Return the numbered sections of a prompt, except the task and the response format."""
    parts = re.split(r"^## \d+\. ([^\n]+)$", text, flags=re.MULTILINE)
    return {
        title.lower().replace(" ", "_"): body.strip()
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
        if title not in ("Task", "Response Format")
    }


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping) and "text" in part)
    return ""


def _body(text: str) -> str:
    """Strip the leading remark and the final reminder of a user message."""
    end = max(text.rfind(_CHAT), text.rfind(_XML), text.rfind(_JSON))
    return (text if end < 0 else text[:end]).strip().removeprefix(INCOMPLETE).strip()


def _examples(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the question and the reply of every example and earlier turn."""
    found: list[tuple[str, str]] = []
    question: str | None = None
    for one in messages:
        if one.get("role") == "user":
            question = text_of(one)
        elif one.get("role") == "assistant" and question is not None:
            found.append((question, text_of(one)))
            question = None
    return found


def _inputs(format_: Format, system: str, body: str) -> dict[str, str]:
    heading = "As input, you will be provided with:\n" if format_ == "prose" else field_descriptions.INPUTS
    names = [name for name, _, _ in field_descriptions.listed_fields(system, heading)]
    if format_ == "prose":
        found = labelled(body, names)
    elif format_ == "xml":
        found = {
            name: match.group(1)
            for name in names
            if (match := re.search(rf"<{re.escape(name)}>\n(.*)\n</{re.escape(name)}>", body, re.DOTALL))
        }
    else:
        parts = re.split(r"^\[\[ ## (\w+) ## \]\][ \t]*$", body, flags=re.MULTILINE)
        sections = {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
        found = {name: sections[name] for name in names if name in sections}
    return found or ({"text": body} if body else {})
