"""Read a prompt's task: its outputs, inputs and examples."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter
from adapters.formats.markdown import asks_for_array
from adapters.formats.xml import uses_nested_xml
from adapters.late_dataclasses import dataclass, field
from adapters.lm.protocol import Object
from adapters.mutations.mutation import GoodReply, good_reply, written
from adapters.prompts.text import Message, prompt_of_dicts
from adapters.replies.forms import FORMS
from adapters.replies.reading import ReplyForm
from adapters.requests.calls import Request
from adapters.signatures.signature import Signature
from adapters.types.recognition import ByIdentity, is_named, schema_by_name, type_adapter
from adapters.values.value_text import serialize_for_json

Schema = Mapping[str, Any]
"""A JSON schema."""
NO_FIELDS = Signature.make([], "")
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

    wanted: tuple[WantedOutput, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    known: Object = field(default_factory=dict)
    example: str | None = None
    examples: tuple[Object, ...] = ()
    verbatim: bool = False
    """True if the outputs are copied out of the single input."""
    seed: str = ""
    """All messages as JSON."""
    adapter: Adapter | None = None
    signature: Signature = NO_FIELDS

    @property
    def reply(self) -> ReplyForm | None:
        """Return the form of the reply; None if no outputs are requested."""
        return None if self.adapter is None else self.adapter.profile.reply

    def write(self, outputs: Object) -> str:
        """Write the reply with `outputs` as the adapter does.

        If dspy's adapter cannot parse what it writes (XML with `&` in a set), the reply is escaped properly.
        """
        if self.reply == "fenced json" and asks_for_array(self.signature):
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


WRITTEN_AROUND = ("reminder", "marker")
"""Kinds of segments without content: all the text there is beside a picture."""


def read(messages: Sequence[Object], adapter: Adapter | None = None, request: Request | None = None) -> Task:
    """Read the task that `messages` (OpenAI's chat objects) set, of the adapter and request that made them.

    Without these, the messages are taken for a text to answer freely.
    """
    prompt = (prompt_of_dicts(messages) if request is None else request.prompt).messages
    seed = json.dumps([[one.role, one.text] for one in prompt])
    last = max((place for place, one in enumerate(prompt) if one.role == "user"), default=-1)
    system = "\n\n".join([one.text for one in prompt if one.role == "system"])
    segments = prompt[last].segments if prompt else ()
    body = "".join([one.text for one in segments if one.kind not in WRITTEN_AROUND]).strip()
    if adapter is None or request is None:
        return Task(inputs={"text": body or system}, seed=seed)
    signature = request.asked
    wanted = tuple(
        [
            WantedOutput(
                one.name, _constrained(_schema_of(one.annotation, adapter), one.constraints or ""), one.desc or ""
            )
            for one in signature.output_fields.values()
        ]
    )
    inputs = (_values_in(prompt[last]) if prompt else {}) or ({"text": body} if body else {})
    asked = None
    answers: list[tuple[Mapping[str, str], Message, dict[str, Any]]] = []
    for one in prompt[: max(last, 0)]:
        if one.role == "user":
            asked = one
        elif one.role == "assistant" and asked is not None:
            answers.append((_values_in(asked), one, _outputs(adapter, signature, one)))
            asked = None
    reply, known = next(((reply, values) for one, reply, values in reversed(answers) if one == inputs), (None, {}))
    return Task(
        wanted,
        inputs,
        known,
        str(reply.text) if reply is not None and set(known) == set(signature.output_fields) else None,
        tuple([{name: serialize_for_json(one) for name, one in values.items()} for _, _, values in answers]),
        verbatim=_VERBATIM in system,
        seed=seed,
        adapter=adapter,
        signature=signature,
    )


def _values_in(message: Message) -> dict[str, str]:
    """Return the values in a message by field, as they are written."""
    found: dict[str, str] = {}
    for segment in message.segments:
        if segment.kind == "value" and segment.field is not None:
            found[segment.field] = found.get(segment.field, "") + segment.text
    return {name: text.strip() for name, text in found.items()}


def _outputs(adapter: Adapter, signature: Signature, reply: Message) -> dict[str, Any]:
    """Return an example's outputs, as far as they parse, without fillers for missing values."""
    if adapter.profile.reply == "prose":
        return dict(_values_in(reply))
    fillers = {one.field for one in reply.segments if one.kind == "filler"}
    fields = adapter.read(signature, reply.text).fields.items()
    return {name: one.value for name, one in fields if one.state == "read" and name not in fillers}


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


_BY_ALIAS: ByIdentity[Schema] = ByIdentity(lambda annotation: type_adapter(annotation).json_schema())


def _schema_of(annotation: object, adapter: Adapter) -> Schema:
    """Return the JSON schema of a type, with the names `adapter` parses; custom types written as text are texts."""
    for name in ("Code", "Reasoning"):
        if is_named(annotation, name):
            return _OWN[name]
    if annotation is bytes or annotation is complex or annotation is Decimal:
        return _OWN[annotation.__name__]
    try:
        is_nested_xml = adapter.profile.reply == "xml" and uses_nested_xml(annotation)  # its tags are field names
        return (schema_by_name if annotation is str or is_nested_xml else _BY_ALIAS)(annotation)
    except Exception:  # a type may have no schema, and a user's own may raise anything
        return _TEXT


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
