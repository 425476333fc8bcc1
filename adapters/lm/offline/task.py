"""What the messages ask for: read from their text alone, as a real model reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from adapters.lm.offline import replies, wanted_types
from adapters.lm.offline.wanted_types import Schema

Format = Literal["chat", "json", "xml", "prose", "block", "free"]
"""chat: `[[ ## x ## ]]` markers · json: a JSON object · xml: tags · prose: named outputs laid out in text · block: one
fenced block of JSON · free: nothing was asked for."""

INCOMPLETE = "This is an example of the task, though some input or output fields are not supplied."

_CHAT = "Respond with the corresponding output fields, starting with the field `[[ ## "
_XML = "Respond with the corresponding output fields wrapped in XML tags `<"
_JSON = "Respond with a JSON object in the following order of fields: "
_PROSE = "Your outputs must contain:\n"
_OUTPUTS = "Your output fields are:\n"
_BLOCK = "Reply with one fenced block of JSON, opened by ```json"
_BLOCK_OF_AN_ARRAY = "The JSON is an array"
_VERBATIM = "extract the fields from the text verbatim"


@dataclass(frozen=True)
class WantedOutput:
    """One output that is asked for; `template` is the nested XML that shows its shape."""

    name: str
    schema: Schema
    type_text: str = "str"
    description: str = ""
    template: str | None = None

    @property
    def is_numbered(self) -> bool:
        """Whether it is to be chosen from whole numbers that the prompt lists as text."""
        choices = self.schema.get("enum", ())
        return bool(choices) and all(isinstance(one, str) and re.fullmatch(r"-?\d{1,9}", one) for one in choices)


@dataclass(frozen=True)
class Task:
    """Everything a reply is made from.

    `inputs` are the texts of the current inputs by name; `known` are the outputs of an example whose inputs are the
    current ones (raw: text, or JSON where the format is JSON), with that example's own reply in `example`; `examples`
    are the outputs of all examples, newest last.
    """

    format: Format
    wanted: tuple[WantedOutput, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    example: str | None = None
    examples: tuple[Mapping[str, Any], ...] = ()
    verbatim: bool = False
    """Whether the outputs are to be copied out of the one input."""
    seed: str = ""
    """Stands for the whole of the messages."""
    as_array: bool = False
    """Whether the block is the one output itself, an array, and not an object that holds it."""


def read(messages: Sequence[Mapping[str, Any]]) -> Task:
    """The task that `messages` (OpenAI's chat objects) set."""
    system = "\n\n".join(text_of(one) for one in messages if one.get("role") == "system")
    last = max((place for place, one in enumerate(messages) if one.get("role") == "user"), default=-1)
    asked = text_of(messages[last]) if last >= 0 else ""
    seed = json.dumps([[one.get("role"), text_of(one)] for one in messages])
    format_ = _format_of(system, asked)
    body = _body(asked)
    if format_ == "free":
        return Task(format_, inputs={"text": body or system}, seed=seed)
    if format_ == "block":
        return _block_task(f"{system}\n\n{asked}".strip(), seed)
    names = _names(format_, system, asked)
    listed = {
        name: (type_text, description)
        for name, type_text, description in reversed(_listed(system, _PROSE if format_ == "prose" else _OUTPUTS))
    }
    wanted = tuple(_wanted(name, *listed.get(name, ("str", "")), format_, system, asked) for name in names)
    pairs = _examples(messages[:last])
    read_reply = replies.READERS[format_]
    examples = tuple(_supplied(read_reply(reply, names)) for _, reply in pairs)
    same = [place for place, (question, _) in enumerate(pairs) if _body(question) == body]
    known = examples[same[-1]] if same else {}
    return Task(
        format_,
        wanted,
        _inputs(format_, system, body),
        known,
        pairs[same[-1]][1] if same and set(known) == set(names) else None,
        examples,
        verbatim=_VERBATIM in system,
        seed=seed,
    )


def _block_task(text: str, seed: str) -> Task:
    """The task of a prompt made of numbered sections: it has neither examples nor earlier turns."""
    parts = re.split(r"^## \d+\. ([^\n]+)$", text, flags=re.MULTILINE)
    inputs = {
        title.lower().replace(" ", "_"): body.strip()
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
        if title not in ("Task", "Response Format")
    }
    listed = re.split(r"\n(?=- `\w+` \()", text[text.rfind(_BLOCK) :])[1:]
    wanted = tuple(key for item in listed if (key := _key(item.split("\n\nAdd no other keys.")[0])) is not None)
    return Task("block", wanted, inputs, seed=seed, as_array=_BLOCK_OF_AN_ARRAY in text)


def _key(item: str) -> WantedOutput | None:
    """One key of the JSON as its response format lists it: "- `name` (type): description; must …"."""
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
    """The text of a message whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping) and "text" in part)
    return ""


def _format_of(system: str, asked: str) -> Format:
    """The instruction that comes last counts: an input may quote another one."""
    places: dict[Format, int] = {"chat": asked.rfind(_CHAT), "xml": asked.rfind(_XML), "json": asked.rfind(_JSON)}
    best = max(places, key=lambda one: places[one])
    if places[best] >= 0:
        return best
    if _BLOCK in asked or _BLOCK in system:
        return "block"
    return "prose" if _PROSE in system else "free"


def _body(text: str) -> str:
    """A user message without the reminder at its end and the remark at its start."""
    end = max(text.rfind(_CHAT), text.rfind(_XML), text.rfind(_JSON))
    return (text if end < 0 else text[:end]).strip().removeprefix(INCOMPLETE).strip()


def _examples(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The question and the reply of every example and earlier turn."""
    found: list[tuple[str, str]] = []
    question: str | None = None
    for one in messages:
        if one.get("role") == "user":
            question = text_of(one)
        elif one.get("role") == "assistant" and question is not None:
            found.append((question, text_of(one)))
            question = None
    return found


def _supplied(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if not (isinstance(value, str) and value.strip().startswith("Not supplied for this "))
    }


def _names(format_: Format, system: str, asked: str) -> tuple[str, ...]:
    if format_ == "prose":
        return tuple(name for name, _, _ in _listed(system, _PROSE))
    if format_ == "chat":
        reminder = asked[asked.rfind(_CHAT) :]
        names = re.findall(r"`\[\[ ## (\w+) ## \]\]`", reminder)
        return tuple(names[:-1] if names[-1] == "completed" else names)
    if format_ == "xml":
        reminder = asked[asked.rfind(_XML) :].partition(" Use this nested XML structure: ")[0]
        return tuple(re.findall(r"`<(\w+)>`", reminder))
    reminder = asked[asked.rfind(_JSON) + len(_JSON) :]
    return tuple(re.findall(r"(?:^|, then )`(\w+)`", reminder))


def _listed(system: str, heading: str) -> list[tuple[str, str, str]]:
    """Name, type and description of each field in the numbered list under `heading`."""
    start = system.find(heading)
    if start < 0:
        return []
    found: list[tuple[str, str, str]] = []
    lines = system[start + len(heading) :].split("\n")
    for line in lines:
        item = re.match(rf"{len(found) + 1}\. `(\w+)` \(", line)
        if item:
            type_text, rest = _closed(line[item.end() :])
            found.append((item.group(1), type_text, rest.removeprefix(":").strip()))
        elif line.startswith(("Your output fields are:", "Your outputs must contain:", "All interactions will be")):
            break
        elif found and not line.startswith("You should lay out your outputs"):
            name, type_text, description = found[-1]
            found[-1] = (name, type_text, f"{description}\n{line}".strip())
        elif found:
            break
    return found


def _closed(text: str) -> tuple[str, str]:
    """What stands before the bracket that closes an already open one, and what follows it; quotes are respected."""
    depth, quote = 1, ""
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[place - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            if depth == 0:
                return text[:place], text[place + 1 :]
    return text.partition(")")[0], text.partition(")")[2]


def _wanted(name: str, type_text: str, description: str, format_: Format, system: str, asked: str) -> WantedOutput:
    schema = wanted_types.from_annotation(type_text)
    note = _note(name, system)
    if note is not None:
        schema = wanted_types.from_note(note, schema)
    template = _template(name, asked) if format_ == "xml" else None
    if wanted_types.is_vague(schema):
        simplified = _simplified(name, system)
        if simplified is not None:
            schema = wanted_types.from_baml(simplified)
        elif template is not None:
            schema = wanted_types.from_template(template)
    return WantedOutput(name, wanted_types.constrained(schema, description), type_text, description, template)


def _note(name: str, system: str) -> str | None:
    """What the structure section says of the value, in plain text or inside the JSON object that shows it."""
    mark = f"{{{name}}}        # note: the value you produce "
    start = system.rfind(mark)
    if start < 0:
        return None
    line = system[start:].split("\n", 1)[0]
    if system[start - 1 : start] == '"':
        try:
            line = json.JSONDecoder().raw_decode(system[start - 1 :])[0]
        except ValueError:
            return None
    return line[len(mark) :]


def _simplified(name: str, system: str) -> str | None:
    """The type as the BAML adapter writes it."""
    end = r"(?=\n\n\[\[ ## \w+ ## \]\]|\nIn adhering to this|\Z)"
    found = re.search(rf"Output field `{re.escape(name)}` should be of type: (.*?){end}", system, re.DOTALL)
    return found.group(1) if found else None


def _template(name: str, asked: str) -> str | None:
    """The nested structure that an XML reminder gives for this output."""
    _, separator, structures = asked.rpartition(" Use this nested XML structure: ")
    if not separator:
        return None
    found = re.search(rf"<{re.escape(name)}>.*?</{re.escape(name)}>(?= <|\Z)", structures, re.DOTALL)
    return found.group(0) if found else None


def _inputs(format_: Format, system: str, body: str) -> dict[str, str]:
    heading = "As input, you will be provided with:\n" if format_ == "prose" else "Your input fields are:\n"
    names = [name for name, _, _ in _listed(system, heading)]
    if format_ == "prose":
        found = replies.from_prose(body, names)
    elif format_ == "xml":
        found = {
            name: match.group(1)
            for name in names
            if (match := re.search(rf"<{re.escape(name)}>\n(.*)\n</{re.escape(name)}>", body, re.DOTALL))
        }
    else:
        found = replies.from_chat(body, names)
    return found or ({"text": body} if body else {})
