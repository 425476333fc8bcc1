"""Read a prompt's task (outputs, inputs, examples), with its signature or without."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_origin

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter
from adapters.lm.offline import wanted_types
from adapters.lm.offline.wanted_types import Schema
from adapters.mutations.mutation import GoodReply, good_reply, written
from adapters.prompts import field_descriptions
from adapters.replies.forms import FORMS
from adapters.replies.reading import ReplyForm
from adapters.signatures.signature import Field, Signature
from adapters.values.value_text import serialize_for_json

Format = Literal["chat", "json", "xml", "prose", "block", "free"]
"""chat: `[[ ## x ## ]]` markers · json: a JSON object · xml: tags · prose: named outputs laid out in text · block: one
fenced block of JSON · free: no outputs requested."""

_ADAPTERS: Mapping[Format, str] = {
    "chat": "chat",
    "json": "json",
    "xml": "xml",
    "prose": "twostep",
    "block": "markdown",
}
"""The adapters that write and parse replies if only the messages are known."""
_FORMATS: Sequence[tuple[ReplyForm, Format]] = (
    *(("markers", "chat"), ("json", "json"), ("xml", "xml")),
    *(("prose", "prose"), ("fenced json", "block")),
)
NO_FIELDS = Signature.make([], "")

INCOMPLETE = "This is an example of the task, though some input or output fields are not supplied."

_CHAT = "Respond with the corresponding output fields, starting with the field `[[ ## "
_XML = "Respond with the corresponding output fields wrapped in XML tags `<"
_JSON = "Respond with a JSON object in the following order of fields: "
_PROSE = "Your outputs must contain:\n"
_BLOCK = "Reply with one fenced block of JSON, opened by ```json"
_BLOCK_OF_AN_ARRAY = "The JSON is an array"
_VERBATIM = "extract the fields from the text verbatim"


@dataclass(frozen=True)
class WantedOutput:
    """A requested output."""

    name: str
    schema: Schema
    type_text: str = "str"
    description: str = ""
    is_plain: bool = False
    """True if lists and objects are written as JSON although the form allows tags."""

    @property
    def annotation(self) -> Any:
        """Return the type for writing and parsing the output if only the messages are known."""
        found = wanted_types.type_of(self.schema)
        return Any if self.is_plain and get_origin(found) in (list, dict) else found

    @property
    def is_numbered(self) -> bool:
        """Return whether the choices are whole numbers that the prompt lists as text."""
        choices = self.schema.get("enum", ())
        return bool(choices) and all(isinstance(one, str) and re.fullmatch(r"-?\d{1,9}", one) for one in choices)


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
    """Read the task that `messages` (OpenAI's chat objects) set.

    The adapter and signature that made them define the answer. Without these the messages do, and user-defined types
    are known by the schema in the prompt.
    """
    system = "\n\n".join(text_of(one) for one in messages if one.get("role") == "system")
    last = max((place for place, one in enumerate(messages) if one.get("role") == "user"), default=-1)
    asked = text_of(messages[last]) if last >= 0 else ""
    seed = json.dumps([[one.get("role"), text_of(one)] for one in messages])
    format_ = _format_of(system, asked)
    body = _body(asked)
    if adapter is None or signature is None:
        if format_ == "free":
            return Task(format_, inputs={"text": body or system}, seed=seed)
        adapter = catalog.make(_ADAPTERS[format_])
        wanted = _block_keys(f"{system}\n\n{asked}") if format_ == "block" else _wanted_outputs(format_, system, asked)
        signature = Signature.make([Field(one.name, "output", one.annotation) for one in wanted])
    else:
        if format_ == "free":
            format_ = next((name for form, name in _FORMATS if form == adapter.profile.reply), "chat")
        wanted = tuple([_wanted_by(one) for one in signature.output_fields.values()])
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


def _wanted_by(one: Field) -> WantedOutput:
    """Return the output that a field of the signature declares."""
    schema = wanted_types.from_type(one.annotation)
    constraints = f"Constraints: {one.constraints}" if one.constraints else ""
    return WantedOutput(one.name, wanted_types.constrained(schema, constraints), description=one.desc or "")


def _wanted_outputs(format_: Format, system: str, asked: str) -> tuple[WantedOutput, ...]:
    heading = _PROSE if format_ == "prose" else field_descriptions.OUTPUTS
    listed = {
        name: (text, about.strip()) for name, text, about in reversed(field_descriptions.listed_fields(system, heading))
    }
    names = _names(format_, system, asked)
    return tuple([_wanted(name, *listed.get(name, ("str", "")), format_, system, asked) for name in names])


def _sections(text: str) -> dict[str, str]:
    """Return the numbered sections of a prompt, except the task and the response format."""
    parts = re.split(r"^## \d+\. ([^\n]+)$", text, flags=re.MULTILINE)
    return {
        title.lower().replace(" ", "_"): body.strip()
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
        if title not in ("Task", "Response Format")
    }


def _block_keys(text: str) -> tuple[WantedOutput, ...]:
    """Return the keys of the last response format with keys; tool turns repeat it without."""
    for part in reversed(text.split(_BLOCK)):
        listed = re.split(r"\n(?=- `\w+` \()", part)[1:]
        if listed:
            return tuple([one for item in listed if (one := _key(item.split("\n\nAdd no other keys.")[0])) is not None])
    return ()


def _key(item: str) -> WantedOutput | None:
    """Parse a key as the response format lists it: "- `name` (type): description; must …"."""
    match = re.match(r"- `(\w+)` \((.*?)\)(?=: |; |\n|$)(.*)", item, re.DOTALL)
    if match is None:
        return None
    name, type_text, rest = match.groups()
    schema = wanted_types.from_annotation(type_text)
    note = re.search(r"; (must (?:adhere to|be|exactly match) .*)", rest, re.DOTALL)
    if note:
        rest = rest[: note.start()]
        schema = wanted_types.from_note(note.group(1).removesuffix("; may be left out"), schema)
    description = rest.removeprefix(": ").strip("; ")
    return WantedOutput(name, wanted_types.constrained(schema, f"Constraints: {description}"), type_text, description)


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping) and "text" in part)
    return ""


def _format_of(system: str, asked: str) -> Format:
    """Return the format of the last instruction: an input may quote another instruction."""
    places: dict[Format, int] = {"chat": asked.rfind(_CHAT), "xml": asked.rfind(_XML), "json": asked.rfind(_JSON)}
    best = max(places, key=lambda one: places[one])
    if places[best] >= 0:
        return best
    if _BLOCK in asked or _BLOCK in system:
        return "block"
    return "prose" if _PROSE in system else "free"


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


def _names(format_: Format, system: str, asked: str) -> tuple[str, ...]:
    if format_ == "prose":
        return tuple(name for name, _, _ in field_descriptions.listed_fields(system, _PROSE))
    if format_ == "chat":
        reminder = asked[asked.rfind(_CHAT) :]
        names = re.findall(r"`\[\[ ## (\w+) ## \]\]`", reminder)
        return tuple(names[:-1] if names[-1] == "completed" else names)
    if format_ == "xml":
        reminder = asked[asked.rfind(_XML) :].partition(" Use this nested XML structure: ")[0]
        return tuple(re.findall(r"`<(\w+)>`", reminder))
    reminder = asked[asked.rfind(_JSON) + len(_JSON) :]
    return tuple(re.findall(r"(?:^|, then )`(\w+)`", reminder))


def _wanted(name: str, type_text: str, description: str, format_: Format, system: str, asked: str) -> WantedOutput:
    schema = wanted_types.from_annotation(type_text)
    note = field_descriptions.type_note(name, system)
    if note is not None:
        schema = wanted_types.from_note(note, schema)
    template = _template(name, asked) if format_ == "xml" else None
    if wanted_types.is_vague(schema):
        simplified = field_descriptions.simplified_type(name, system)
        if simplified is not None:
            schema = wanted_types.from_baml(simplified)
        elif template is not None:
            schema = wanted_types.from_template(template)
    schema = wanted_types.constrained(schema, description)
    return WantedOutput(name, schema, type_text, description, is_plain=format_ == "xml" and template is None)


def _template(name: str, asked: str) -> str | None:
    """Return the nested structure that an XML reminder shows for this output."""
    _, separator, structures = asked.rpartition(" Use this nested XML structure: ")
    if not separator:
        return None
    found = re.search(rf"<{re.escape(name)}>.*?</{re.escape(name)}>(?= <|\Z)", structures, re.DOTALL)
    return found.group(0) if found else None


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
