"""Import an entry of dspy's `lm.history` (as JSON): signature, demos and inputs from its messages, and its reply.

Rendering the imported session verifies it: identical messages leave no questions.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.formats import catalog
from adapters.late_dataclasses import replace
from adapters.prompts import field_descriptions
from adapters.prompts.field_descriptions import INPUTS, OBJECTIVE, OUTPUTS, ListedField, listed_fields
from adapters.signatures.signature import Field, Role, without_none
from adapters.types import Tool, ToolCalls
from sessions.errors import SessionError, counted
from sessions.imports import conversations, prompt_types, proposing
from sessions.imports.dspy_program import parameters_in, without_secrets
from sessions.imports.merging import unused
from sessions.imports.message_values import MessageReader, shown_text
from sessions.imports.reading import GIVE_SIGNATURE, KEPT, Imported, dict_in, listed, objects_in
from sessions.imports.trace_messages import reply_message, text_in, tool_calls_in
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.model.session import Tool as OfferedTool
from sessions.running import rendering
from sessions.running.recording import as_json

ADAPTERS = ("chat", "json", "xml", "baml")
_HEADINGS: Mapping[Role, str] = {"input": INPUTS, "output": OUTPUTS}
_OF_BAML = "Output field `"
_WORDS = {
    "json": re.compile("Outputs will be a JSON object"),
    "baml": re.compile(_OF_BAML),
    "xml": re.compile(r"^<(\w+)>\n\{\1\}", re.MULTILINE),  # above Chat's last marker, before dspy 3.0.4
    "chat": re.compile(r"\[\[ ## completed ## \]\]"),
}
# Instructions are indented, and may quote it; editors remove white space at the ends of lines.
_OBJECTIVE = re.compile(rf"(^)?{OBJECTIVE.rstrip()}[ ]?\n?", re.MULTILINE)
_ABBREVIATED = re.compile(r"^[ \t]*(?:\.{3}|…)[ \t]*$", re.MULTILINE)
KEPT_BESIDE = "the whole entry is kept beside the case"


def is_call(data: object) -> bool:
    """Return whether JSON is an entry of `lm.history`, or a logged call with its response."""
    if not isinstance(data, dict):
        return False
    if "outputs" in data:
        return "messages" in data or "prompt" in data
    return answer_in(data) is not None and conversations.is_messages(data) and names_fields(data)


def names_fields(data: object) -> bool:
    """Return whether messages list the fields of a signature, as dspy's adapters do."""
    return INPUTS.strip() in str(data)


def answer_in(data: Mapping[str, object]) -> dict[str, Any] | None:
    """Return the parts of a logged call's `response` or first output, or None without a text and tool calls."""
    if "outputs" in data:
        outputs = data["outputs"]
        made = answer_parts(outputs[0] if isinstance(outputs, list) and outputs else outputs)
    else:
        message = reply_message(data.get("response"))
        content = message.get("content")
        made = answer_parts({"text": text_in(content) if content else content, "tool_calls": tool_calls_in(message)})
    return made if made["text"] is not None or made["tool_calls"] else None


def from_call(
    data: Mapping[str, Any],
    path: str,
    given: SignatureText | None = None,
    case: str = "case 1",
    *,
    is_printed: bool = False,
) -> Imported:
    """Return a session that renders the call's messages and shows its reply.

    With `is_printed`, white space around messages is ignored, because printing loses it. Raises `SessionError` for
    calls that cannot be read.
    """
    messages = data.get("messages") or [{"role": "user", "content": data.get("prompt") or ""}]
    if not conversations.is_messages(messages):
        raise SessionError(path, "messages", "expected a list of messages with role and content")
    questions: list[str] = []
    said: list[str] = []
    system = next((one for one in messages if one["role"] in ("system", "developer")), {"content": ""})
    described = conversations.content_text(system.get("content"), path, "messages[0]")
    model = data["model"] if isinstance(data.get("model"), str) else Session.model
    kwargs = data.get("kwargs")
    params = parameters_in(dict_in(kwargs))
    params.pop("response_format", None)  # the adapter sets it again
    params.pop("tool_choice", None)
    answer = answer_in(data) or {"text": None}
    has_reply = len(answer) > 1
    if not has_reply and (place := next((one for one in ("outputs", "response") if one in data), "")):
        raise SessionError(path, place, "there is no text of a reply in it")
    kept = {KEPT: without_secrets(data)}
    tools = _tools(kwargs, [*messages, answer], questions)
    asked = shown_text(messages[-1].get("content"))
    text = _signature_in(described, asked, path, questions, bool(tools)) if given is None else given
    if given is not None:
        names = [one.name for heading in _HEADINGS.values() for one in listed_fields(described, heading)]
        text = proposing.fitting(given, names)
        said += [proposing.SAID] if text != given else []
    base = Session(text, tools=tools, cases=(Case(case, extra=kept),), model=model, params=params)
    # The adapter whose words are in the first message, or else in the reply, is tried first.
    texts = (str(messages[0].get("content")), answer["text"] or "")
    first = next((name for one in texts for name, words in _WORDS.items() if words.search(one)), "")
    first = first or ("xml" if texts[1].lstrip().startswith("<") else "chat")
    likely = sorted(ADAPTERS, key=lambda name: name != first)
    session, proved = _arranged(base, messages, likely, is_printed)
    column = session.columns[0].id
    reply = Reply(**{**answer, "text": answer["text"] or ""}, source="pasted", model=model)
    made = replace(session.cases[0], replies={column: reply} if has_reply else {})
    if not proved:
        told = "; ".join(differences(session, messages, is_printed))
        questions.append(
            f"rendered again, the messages differ; an option, a type or the release may be different: {told}"
        )
    objects = [name for name, value in made.inputs.items() if isinstance(value, str) and value.startswith("{\n")]
    fields = session.signature.read().fields
    written = [name for name in objects if field_descriptions.is_model(without_none(fields[name].annotation))]
    if column == "baml" and written:
        questions.append(f"{listed(written)}: BAMLAdapter writes an object of a class as lines, which are kept as text")
    of_model = f" of {model}" if "model" in data else ""
    notes = [f"{counted(len(messages), 'message')}{of_model}, as `{column}` made them", *said, KEPT_BESIDE]
    return Imported(session.replace_case(made), tuple(notes), tuple(questions), has_signature=given is None)


def joined(made: Sequence[Imported], case: str) -> Imported:
    """Join the imports that share the last import's signature and demos as cases; a note counts the others."""
    last = made[-1].session
    alike = [one for one in made if program_of(one.session) == program_of(last)]
    cases: list[Case] = []
    for one in alike:
        name = unused(case, {had.name for had in cases})
        cases.append(replace(one.session.cases[0], name=name))
    columns = {one.id: one for each in alike for one in each.session.columns}
    notes = [f"{len(alike)} of {len(made)} calls become cases", *made[-1].notes]
    if len(alike) < len(made):
        notes.append(f"{len(made) - len(alike)} calls have another signature or other demos: import them separately")
    if len({(one.session.model, json.dumps(dict(one.session.params))) for one in alike}) > 1:
        notes.append("model and parameters are those of the last call; each reply names its own model")
    questions = dict.fromkeys(question for one in alike for question in one.questions)
    session = replace(last, cases=tuple(cases), columns=tuple(columns.values()))
    return replace(made[-1], session=session, notes=tuple(notes), questions=tuple(questions))


def program_of(session: Session) -> tuple[SignatureText, str]:
    """Return the signature and demos, which all calls of a predictor share."""
    return session.signature, json.dumps([dict(one.values) for one in session.demos])


def _arranged(
    base: Session, messages: Sequence[Mapping[str, object]], adapters: Sequence[str], is_printed: bool
) -> tuple[Session, bool]:
    """Build a session of one of the adapters from messages; return it and whether it renders the same messages.

    Earlier turns may be demos or history, so every split is tried; if none matches, the first is returned.
    """
    signature = base.signature.read()
    best: Session | None = None
    for adapter in adapters:
        found = MessageReader(signature, adapter).turns(messages)
        case = replace(base.cases[0], inputs=found.asked)
        demos = tuple([Demo(one) for one in found.turns])
        is_native = not base.tools or catalog.make(adapter, {}).use_native_function_calling
        options = {} if is_native else {"use_native_function_calling": True}
        counts = [found.demos, *range(len(demos) + 1)[:200]] if signature.history_field is not None else [len(demos)]
        for count in dict.fromkeys(counts):
            with_history = replace(case, history=tuple(found.turns[count:])) if count < len(demos) else case
            column = Column(adapter, adapter, options)
            session = replace(base, columns=(column,), demos=demos[:count], cases=(with_history,))
            if base.tools and not rendering.capabilities_for(session, column).capabilities.function_calling:
                session = replace(session, params={**base.params, "capabilities": {"function_calling": True}})
            best = best or session
            if not differences(session, messages, is_printed):
                return session, True
    assert best is not None
    return best, False


def _tools(kwargs: object, messages: Sequence[Mapping[str, Any]], questions: list[str]) -> tuple[OfferedTool, ...]:
    """Return the tools that a call offered natively, or whose calls are in its messages."""
    made: dict[str, OfferedTool] = {}
    for one in objects_in(dict_in(kwargs).get("tools")):
        told = one.get("function", one)
        if isinstance(told, dict) and isinstance(told.get("name"), str):
            schema = without_secrets(dict_in(told.get("parameters", told.get("input_schema"))))
            made.setdefault(told["name"], OfferedTool(told["name"], str(told.get("description") or ""), schema))
    for call in (each for one in messages for each in objects_in(one.get("tool_calls"))):
        name = dict_in(call.get("function")).get("name")
        if isinstance(name, str) and name not in made:
            made[name] = OfferedTool(name)
            questions.append(f"the call does not describe the tool `{name}`: its arguments are unknown")
    return tuple(made.values())


MOST_DIFFERENCES = 3


def differences(session: Session, messages: Sequence[Mapping[str, object]], is_printed: bool = False) -> list[str]:
    """Describe up to three places where the first case's prompt differs from these messages.

    With `is_printed`, white space around messages is ignored.
    """
    try:
        request = rendering.request_of(session, session.columns[0], session.cases[0])
    except Exception as error:  # whatever dspy's format raises for these values, which are then not the recorded ones
        return [f"the values cannot be rendered: {error}"]
    rendered = as_json(request.prompt.as_dicts())
    told = [f"{len(rendered)} messages instead of {len(messages)}"] if len(rendered) != len(messages) else []
    for number, (ours, theirs) in enumerate(zip(rendered, messages, strict=False), 1):
        texts = [one.get("content") or "" for one in (ours, theirs)]
        calls: list[list[object]] = []  # what identifies a message's tool calls, or the call that it answers
        for each in (ours, theirs):
            made = [(one.get("id"), one.get("function")) for one in objects_in(each.get("tool_calls"))]
            calls.append([*made, each.get("tool_call_id")])
        if is_printed:
            texts = [shown_text(one, is_printed=True).strip() for one in texts]
        if ours.get("role") != theirs.get("role"):
            told.append(f"message {number} has the role {ours.get('role')} instead of {theirs.get('role')}")
        elif texts[0] != texts[1]:
            lines = itertools.zip_longest(*(str(one).split("\n") for one in texts), fillvalue="")
            line, (one, other) = next((line, pair) for line, pair in enumerate(lines, 1) if pair[0] != pair[1])
            told.append(f"message {number}, line {line} is {one[:80]!r} instead of {other[:80]!r}")
        elif calls[0] != calls[1]:
            told.append(f"message {number} has the tool calls {str(calls[0])[:80]} instead of {str(calls[1])[:80]}")
    return told[:MOST_DIFFERENCES]


def first_output(data: Mapping[str, object]) -> str:
    """Return the text of a call's first output, or ""."""
    return str((answer_in(data) or {}).get("text") or "")


def answer_parts(output: object) -> dict[str, Any]:
    """Return text, reasoning, tool calls, logprobs and citations of an output of dspy's models: a text or an object."""
    given = output if isinstance(output, Mapping) else {"text": output}
    text, calls = given.get("text"), given.get("tool_calls")
    return {
        "text": text if isinstance(text, str) else None,
        "reasoning": given.get("reasoning_content") or None,
        "tool_calls": tuple(as_json(calls)) if calls else None,
        "logprobs": as_json(given["logprobs"]) if given.get("logprobs") else None,
        "citations": tuple(as_json(given["citations"])) if isinstance(given.get("citations"), list) else None,
    }


def _signature_in(system: str, asked: str, path: str, questions: list[str], has_tools: bool) -> SignatureText:
    """Reconstruct the signature from the system message of a dspy adapter and its last request."""
    items = {role: listed_fields(system, heading) for role, heading in _HEADINGS.items()}
    if not all(items.values()):
        message = "its system message is not from dspy's Chat, JSON, XML or BAML adapter"
        if _ABBREVIATED.search(system):
            message = "its system message is abbreviated (`...`): fields are missing in it"
        raise SessionError(path, "messages", message, GIVE_SIGNATURE)
    if _OF_BAML in system:  # in dspy 3.0, it lists a type without its items, which the request names
        stated = {one: field_descriptions.requested_type(one.name, asked) for one in items["output"]}
        items["output"] = [
            one._replace(type_text=full) if full and "[" not in one.type_text else one for one, full in stated.items()
        ]
    types = prompt_types.of_fields(items["input"], items["output"], system, questions)
    if _OF_BAML in system:
        listed = [*items["input"], *items["output"]]
        if not any(one.description for one in listed):
            questions.append("no field has a description: BAMLAdapter of dspy 3.0 shows none")
        bare = [one.name for one in listed if one.type_text in ("list", "dict", "tuple", "set")]
        questions += [f"the prompt does not show the items of `{name}`" for name in bare]
    fields = [_field(one, role, types[one.name]) for role in _HEADINGS for one in items[role]]
    if has_tools and not any(one.annotation is ToolCalls for one in fields):
        added = Field("tools", "input", list[Tool]), Field("tool_calls", "output", ToolCalls)
        fields += [one for one in added if one.name not in types]
        questions.append("the prompt has no names for tools and their calls: `tools` and `tool_calls` are proposed")
    opening = max(_OBJECTIVE.finditer(system), key=lambda one: (one[1] is not None, one.start()), default=None)
    objective = system[opening.end() :] if opening else ""
    instructions = "\n".join(line.removeprefix(" " * 8) for line in objective.split("\n"))
    return proposing.proposed(fields, proposing.before_cleaning(instructions), path, "messages[0]")


def _field(item: ListedField, role: Role, annotation: object) -> Field:
    described, found, constraints = item.description.rpartition("\nConstraints: ")
    text = described if found else item.description
    if annotation is not str:
        text = text.partition("\n    Type description of ")[0]  # a custom type's own words
    return Field(
        item.name, role, annotation, desc=text if text.strip("\n") else None, constraints=constraints if found else None
    )
