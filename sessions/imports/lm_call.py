"""An entry of dspy's `lm.history` (as JSON): its messages become signature, demos and inputs again, its output a reply.

What was read is proved by rendering it: where the messages come out as they were, nothing is in doubt.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.signatures.signature import Field, Signature, strip_annotated
from sessions.errors import SessionError
from sessions.imports import conversations, proposing
from sessions.imports.dspy_program import parameters_in, without_secrets
from sessions.imports.merging import unused
from sessions.imports.reading import KEPT, Imported
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import rendering
from sessions.running.recording import as_json

ADAPTERS = ("chat", "json", "xml", "baml")
_FIELD = re.compile(r"^\d+\. `(\w+)` \((.*?)\): ?(.*)$")
KEPT_BESIDE = "the whole entry is kept beside the case"
_OBJECTIVE = "In adhering to this structure, your objective is: "


def is_call(data: object) -> bool:
    """Tell whether JSON is an entry of `lm.history`, or of a log with messages and their response."""
    if not isinstance(data, dict):
        return False
    if "outputs" in data:
        return "messages" in data or "prompt" in data
    return answer_in(data) is not None and conversations.is_messages(data) and "Your input fields are:" in str(data)


def answer_in(data: Mapping[str, object]) -> str | None:
    """The text of the `response` of a logged call, an OpenAI completion as JSON; None where there is none."""
    response = data.get("response")
    choices = response.get("choices") if isinstance(response, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, str) else None


def from_call(data: Mapping[str, Any], path: str, given: SignatureText | None = None, case: str = "case 1") -> Imported:
    """A session that renders the call's messages and shows its reply. Raises `SessionError` for what cannot be read."""
    messages = data.get("messages") or [{"role": "user", "content": data.get("prompt") or ""}]
    if not conversations.is_messages(messages):
        raise SessionError(path, "messages", "expected a list of messages with role and content")
    questions: list[str] = []
    said: list[str] = []
    system = next((one for one in messages if one["role"] in ("system", "developer")), {"content": ""})
    described = conversations.content_text(system.get("content"), path, "messages[0]")
    text = _signature_in(described, path, questions) if given is None else given
    if given is not None:
        text = proposing.fitting(given, _names_in(described))
        said += [proposing.SAID] if text != given else []
    model = data["model"] if isinstance(data.get("model"), str) else Session.model
    kwargs = data.get("kwargs")
    params = parameters_in(kwargs) if isinstance(kwargs, dict) else {}
    params.pop("response_format", None)  # the adapter's own, which it makes again
    reply = _reply(data["outputs"], path) if "outputs" in data else answer_in(data)
    if reply is None:
        raise SessionError(path, "response", "there is no text of a reply in it")
    kept = {KEPT: without_secrets(data)}
    base = Session(text, cases=(Case(case, extra=kept),), model=model, params=params)
    session, proved = _arranged(base, messages, path)
    column = session.columns[0].id
    made = replace(session.cases[0], replies={column: Reply(reply, source="pasted", model=model)})
    if not proved:
        questions.append("rendered again, the messages are not the recorded ones: an option or a type differs")
    notes = [f"{len(messages)} messages of {model}, as `{column}` made them", *said, KEPT_BESIDE]
    return Imported(session.with_case(made), tuple(notes), tuple(questions), has_signature=given is None)


def from_calls(
    calls: Sequence[Mapping[str, object]], path: str, given: SignatureText | None = None, case: str = "case 1"
) -> Imported:
    """A session with a case for every call of the last one's signature and demos; the others are counted.

    Raises `SessionError`, naming the call.
    """
    made = [from_call(one, f"{path}: call {number}", given, case) for number, one in enumerate(calls, 1)]
    last = made[-1].session
    alike = [one for one in made if _program(one.session) == _program(last)]
    cases: list[Case] = []
    for one in alike:
        name = unused(case, {had.name for had in cases})
        cases.append(replace(one.session.cases[0], name=name))
    columns = {one.id: one for each in alike for one in each.session.columns}
    notes = [f"{len(alike)} of {len(calls)} calls become cases", *made[-1].notes]
    if len(alike) < len(calls):
        notes.append(f"{len(calls) - len(alike)} calls have another signature or other demos: import them apart")
    if len({(one.session.model, json.dumps(dict(one.session.params))) for one in alike}) > 1:
        notes.append("model and parameters are those of the last call; each reply says its own model")
    questions = dict.fromkeys(question for one in alike for question in one.questions)
    session = replace(last, cases=tuple(cases), columns=tuple(columns.values()))
    return Imported(session, tuple(notes), tuple(questions), has_signature=given is None)


def _program(session: Session) -> tuple[SignatureText, str]:
    return session.signature, json.dumps([dict(one.values) for one in session.demos])


def _arranged(base: Session, messages: Sequence[Mapping[str, object]], path: str) -> tuple[Session, bool]:
    """A session made of these messages, and whether its prompt is the same messages again.

    Earlier turns may be demos or history, so each way to divide them is tried; the first is taken where none fits.
    """
    signature = base.signature.read()
    best: Session | None = None
    problem: SessionError | None = None
    for adapter in _likely(messages):
        try:
            found = conversations.read(messages, signature, path, adapter)
        except SessionError as error:
            problem = problem or error
            continue
        case = replace(base.cases[0], inputs=found.asked)
        demos = tuple([Demo(one) for one in found.turns])
        arrangements = [(demos, case)]
        if signature.history_field is not None:
            arrangements = [
                (demos[:count], replace(case, history=tuple(found.turns[count:])))
                for count in range(len(demos) + 1)[:200]
            ]
        for some, with_history in arrangements:
            session = replace(base, columns=(Column(adapter, adapter),), demos=some, cases=(with_history,))
            best = best or session
            if _renders(session, messages):
                return session, True
    if best is None:
        raise problem or SessionError(path, "messages", "no adapter of dspy made these messages")
    return best, False


def _likely(messages: Sequence[Mapping[str, object]]) -> Sequence[str]:
    """The adapters, that whose words are in the messages first."""
    text = str(messages[0].get("content"))
    first = "json" if "Outputs will be a JSON object" in text else "chat" if "[[ ## completed ## ]]" in text else "xml"
    return sorted(ADAPTERS, key=lambda name: name != first)


def _renders(session: Session, messages: Sequence[Mapping[str, object]]) -> bool:
    try:
        request = rendering.request_of(session, session.columns[0], session.cases[0])
    except Exception:  # formatting raises whatever dspy's does for such values; then this is not how it was
        return False
    return [_words(one) for one in as_json(request.prompt.as_dicts())] == [_words(one) for one in messages]


def _words(message: Mapping[str, object]) -> tuple[Any, Any]:
    return message.get("role"), message.get("content")


def _reply(outputs: object, path: str) -> str:
    first = outputs[0] if isinstance(outputs, list) and outputs else outputs
    if isinstance(first, dict):
        first = first.get("text")
    if not isinstance(first, str):
        raise SessionError(path, "outputs", "there is no text of a reply in it")
    return first


def _signature_in(system: str, path: str, questions: list[str]) -> SignatureText:
    """The signature that the system message of one of dspy's adapters describes."""
    head, found, after = system.partition("Your output fields are:\n")
    inputs = head.partition("Your input fields are:\n")[2]
    if not found or not inputs:
        message = "its system message is none of dspy's Chat, JSON, XML or BAML adapter"
        raise SessionError(path, "messages", message, "give the signature with --signature")
    outputs = after.partition("\nAll interactions will be structured")[0]
    fields = [*_fields(inputs, "input", questions), *_fields(outputs, "output", questions)]
    objective = after.rpartition(_OBJECTIVE)[2] if _OBJECTIVE in after else ""
    try:
        return proposing.signature_text(fields, inspect.cleandoc(objective))
    except ValueError as error:
        raise SessionError(path, "messages[0]", str(error), "give the signature with --signature") from None


def _names_in(system: str) -> list[str]:
    """The fields that a system message of one of dspy's adapters lists, in its order; none for any other message."""
    described = system.partition("\nAll interactions will be structured")[0]
    return [match[1] for match in map(_FIELD.match, described.split("\n")) if match is not None]


def _fields(text: str, role: Any, questions: list[str]) -> list[Field]:
    fields: list[Field] = []
    for line in text.strip().split("\n"):
        match = _FIELD.match(line)
        if match is not None:
            annotation = _annotation(match[1], match[2], questions)
            fields.append(Field(match[1], role, annotation, desc=match[3] or None))
        elif fields and line.startswith("Constraints: "):
            fields[-1] = replace(fields[-1], constraints=line.removeprefix("Constraints: "))
        elif fields:
            fields[-1] = replace(fields[-1], desc=f"{fields[-1].desc or ''}\n{line}")
    return fields


def _annotation(name: str, written: str, questions: list[str]) -> Any:
    """The type by the name that the prompt gives it; str where it is a class of the user's, which is asked."""
    text = re.sub(r"\bNoneType\b", "None", re.sub(r"\bUnion\b", "Union", written))
    try:
        signature: Signature = SignatureText(f"value: {text} -> answer").read()
    except ValueError:
        questions.append(f"the type of `{name}` is {written}, which only its own source can say: str is proposed")
        return str
    return strip_annotated(signature.fields["value"].annotation)
