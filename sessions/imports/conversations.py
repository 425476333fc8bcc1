"""Import OpenAI messages as conversation turns: objects by field name, as in `dspy.History`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.formats import catalog
from adapters.late_dataclasses import replace
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.values.plain_json import plain
from sessions.errors import SessionError, counted
from sessions.imports.message_values import MessageReader
from sessions.imports.reading import KEPT, Imported, listed
from sessions.model.held_values import value_of
from sessions.model.parameters import kind_of
from sessions.model.replies import Reply
from sessions.model.session import DEFAULT_COLUMNS, Case, Session, SignatureText

PROPOSED = "history: dspy.History, question -> answer"


def is_messages(data: object) -> bool:
    """Return whether JSON is a list of OpenAI messages, or has one in `messages`."""
    data = data.get("messages") if isinstance(data, dict) else data
    return isinstance(data, list) and bool(data) and all(isinstance(one, dict) and "role" in one for one in data)


def from_messages(
    data: Any, path: str, given: SignatureText | None = None, case: str = "case 1", *, reply: str | None = None
) -> Imported:
    """Return a session with the conversation as the history of a case.

    `reply` is the last reply if it is not among the messages. Raises `SessionError` naming the message.
    """
    messages = data
    if isinstance(data, dict):
        messages = list(data["messages"])
        if (system := data.get("system")) is not None:  # as in Anthropic's requests
            messages.insert(0, {"role": "system", "content": content_text(system, path, "system")})
    text = given or SignatureText(PROPOSED)
    signature = text.read()
    questions: list[str] = []
    if given is None:
        questions.append(f"no signature was given: {PROPOSED!r} is proposed")
    said: list[str] = []
    turns, asked, systems = _turns_in(messages, signature, path, said)
    if signature.history_field is None:
        questions.append("the signature has no dspy.History field, so the history will not be in any prompt")
    made = Case(case, inputs=asked, history=tuple(turns), extra={KEPT: {"system": systems}} if systems else {})
    notes = [counted(len(turns), "turn") + " of history", *said]
    if reply is not None:
        model = data.get("model")
        shown = Reply(reply, source="pasted", model=model if isinstance(model, str) else None)
        made = replace(made, replies={DEFAULT_COLUMNS[0].id: shown})
        notes.append(f"its response is the reply under `{DEFAULT_COLUMNS[0].id}`")
    session = Session(text, (), DEFAULT_COLUMNS, cases=(made,))
    if asked:
        notes.append(f"the last message has no reply: it is the inputs of `{case}`")
    if systems:
        notes.append("the system message is not part of a history: it is kept beside the case")
    return Imported(session, tuple(notes), tuple(questions), has_signature=given is None)


def _turns_in(
    messages: Sequence[Mapping[str, object]], signature: Signature, path: str, notes: list[str]
) -> tuple[list[Mapping[str, Any]], Mapping[str, Any], list[str]]:
    """Return the turns with a reply, the inputs of a last message without one, and the system messages.

    Fields are read by dspy's markers, else as a single field. Adds `notes` on what is not imported.
    """
    turns: list[Mapping[str, Any]] = []
    systems: list[str] = []
    asked: dict[str, Any] | None = None
    for index, message in enumerate(messages):
        place, role = f"messages[{index}]", message.get("role")
        text = content_text(message.get("content"), path, f"{place}.content")
        if role in ("system", "developer"):
            systems.append(text)
        elif role == "user":
            if asked is not None:
                raise SessionError(path, place, "two user messages in a row", "a turn is one message and its reply")
            fields = {name: one for name, one in signature.input_fields.items() if name != signature.history_field}
            values = MessageReader(signature, "chat").inputs(text) or MessageReader(signature, "xml").inputs(text)
            asked = values or _as_only_field(text, fields, "input", path, place)
        elif role == "assistant":
            if asked is None:
                raise SessionError(path, place, "a reply without a user message before it")
            reading = catalog.make("chat", {}).read(signature, text)
            outputs = {name: plain(value) for name, value in reading.values.items()}
            if not reading.ok:
                outputs = _as_only_field(text, signature.output_fields, "output", path, place)
            turns.append({**asked, **outputs})
            asked = None
            if message.get("tool_calls"):
                notes.append(f"{place}: its tool calls are not imported")
        else:
            raise SessionError(
                path, f"{place}.role", f"a message of the role {role!r} cannot be a turn", "leave it out"
            )
    return turns, asked or {}, systems


def content_text(content: object, path: str, place: str) -> str:
    """Return the text of a message's content, joining its parts. Raises `SessionError` for a part without text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise SessionError(path, place, f"expected a text or a list of parts, got {kind_of(content)}")
    for index, part in enumerate(content):
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            raise SessionError(path, f"{place}[{index}]", "a field has no place for a part that is not text")
    return "".join(part["text"] for part in content)


def _as_only_field(text: str, fields: Mapping[str, Field], role: str, path: str, place: str) -> dict[str, Any]:
    """Read a whole text as the value of the only field."""
    if len(fields) != 1:
        message = f"its text belongs to one of several {role}s: {listed(fields) or 'there is none'}"
        raise SessionError(path, place, message, "give a signature with one of them, or messages with dspy's markers")
    (field,) = fields.values()
    try:
        value = value_of(text, field)
    except ValueError as error:
        raise SessionError(path, place, f"`{field.name}`: {error}") from None
    return {field.name: None if value is MISSING else value}
