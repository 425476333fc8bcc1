"""Export a Python script that sends a request through litellm and prints the reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adapters.lm import model_list
from adapters.lm.addresses import OLLAMAS_HOME
from adapters.lm.lm_settings import ModelType
from adapters.lm.wires.dspys_client import VERBATIM
from adapters.lm.wires.dspys_wire import Sent
from adapters.requests.strict_schema import ClassFormat
from adapters.signatures.value_writer import text_literal
from sessions.exports import endpoints
from sessions.exports.exported import Exported, Source, beside, comment, literal
from sessions.running import rendering
from sessions.running.recording import as_json

NO_KEY = "no-key"
"""The key for hosts that must not receive an API key; without it litellm uses a key from the environment."""

OF_LITELLM = ("api_base", "api_version", "num_retries", "timeout")
"""Connection settings of a session that litellm's functions accept."""

NEW_GEMINI = re.compile(
    r"gemini/gemini-(?!(?:[12](?:\.\d+)?|exp|(?:pro|flash)(?!-(?:lite-)?latest$))(?:-|$))", re.IGNORECASE
)
"""Gemini 3 and later, by the rule of `VertexGeminiConfig._is_gemini_3_or_newer`."""

CHAT = """response = litellm.completion({arguments})
for choice in response.choices:
    for call in choice.message.tool_calls or ():
        print(call.function.name, call.function.arguments)
    print(choice.message.content or "")
"""
RESPONSES = """response = litellm.responses({arguments})
for item in response.output:
    if item.type == "function_call":
        print(item.name, item.arguments)
    elif item.type == "message":
        print("".join(part.text for part in item.content if part.type == "output_text"))
"""
TEXT = """response = litellm.text_completion({arguments})
for choice in response.choices:
    print(choice.text or "")
"""
CALLS: Mapping[ModelType, tuple[str, str, str]] = {
    "chat": ("messages", "MESSAGES", CHAT),
    "responses": ("input", "INPUT", RESPONSES),
    "text": ("prompt", "PROMPT", TEXT),
}
"""For each API: litellm's argument for the model's input, its name in the script, and the call."""


def litellm_script(source: Source) -> Exported:
    """Export the script; litellm reads the API key from the environment.

    An address that the session names gets no key unless allowed. Parameters that litellm would reject or rename, but
    dspy sends unchanged, go to `extra_body`.
    """
    view = source.first
    if view.model.startswith(endpoints.OFFLINE):
        made = Sent({**view.request.params, "model": view.model})
    else:
        made = rendering.handed_over(view.session, view.column, view.request)
    argument, name, call = CALLS[rendering.lm_settings_of(view.session, view.column).model_type]
    connection = rendering.connection_of(view.session, view.column)
    told = _add_body(view.model, made)
    arguments: dict[str, Any] = {one: value for one, value in told.items() if one not in ("model", argument)}
    arguments |= {one: value for one, value in connection.items() if one in OF_LITELLM}
    if made.path:
        arguments["api_base"] = made.under(arguments.get("api_base") or OLLAMAS_HOME)
    left: list[str] = [*beside(view)]
    if view.model.startswith("anthropic/"):
        listed = model_list.listed(re.sub(r"[-@]\d{8}$", "", view.model))
        refused = () if listed is None or listed.takes_sampling else ("temperature", "top_p", "top_k")
        gone = [one for one in refused if one in arguments and (one, arguments[one]) != ("temperature", 1)]
        arguments = {one: value for one, value in arguments.items() if one not in gone}
        left += [f"{', '.join(gone)}, which litellm refuses for {view.model}"] if gone else []
    if NEW_GEMINI.match(view.model) and "temperature" not in view.request.params:
        left.append(f"that no temperature is given: litellm by itself gives {view.model} one of 1.0")
    form, described = "", arguments.get("response_format")
    if isinstance(described, ClassFormat):
        # Rule: the end of `dspy.adapters.json_adapter._get_structured_outputs_response_format`.
        form = (
            f"SCHEMA = {literal(as_json(described.of_class['schema']))}\n"
            f"FORMAT = pydantic.create_model({text_literal(str(described.of_class['name']))})\n"
            "FORMAT.model_json_schema = lambda *_, **__: SCHEMA\n\n"
        )
    if made.stops:
        left.append(f"the stops {', '.join(map(text_literal, made.stops))}, which that API does not know")
    if made.times > 1:
        left.append(f"{made.times - 1} of the {made.times} completions: that API returns one per call")
    allowed, said = endpoints.key_goes_there(view, source)
    if not allowed:
        arguments["api_key"] = NO_KEY
        left += said
    elif made.path:
        arguments["api_key"] = NO_KEY  # litellm treats it as an OpenAI model and would send OpenAI's key
    headers, said = endpoints.headers_of(view, source)
    left += said
    key = endpoints.key_variable(view.model) if allowed and endpoints.named_address(view) is None else ""
    needs, model, check = {"os"} if headers else set(), text_literal(str(made.arguments["model"])), ""
    if view.model.startswith(endpoints.OFFLINE):
        needs.add("os")
        model = 'os.environ["MODEL"]  # for example openai/gpt-6-luna'
        left.append(f"the model {view.model}, which only the workbench has: set the variable MODEL to another")
    elif key:
        needs |= {"os", "sys"}
        check = f"if not os.environ.get({text_literal(key)}):\n    sys.exit({text_literal(f'set {key}')})\n\n"
    written = {"model": "MODEL", argument: name, **{one: _value(one, value) for one, value in arguments.items()}}
    if form:
        written["response_format"] = "FORMAT"
    if headers:
        written["extra_headers"] = endpoints.headers_literal(headers)
    body = "".join(f"    {one}={value},\n" for one, value in written.items())
    imports = "".join(f"import {one}\n" for one in sorted(needs)) + ("\n" if needs else "") + "import litellm"
    imports += "\nimport pydantic" if form else ""
    text = (
        f"# {comment(f'{source.name}: {view.place}')}.\n\n{imports}\n\nMODEL = {model}\n"
        f"{name} = {literal(as_json(told[argument] if argument in told else view.request.prompt.as_dicts()))}\n\n"
        f"{form}{check}" + call.replace("{arguments}", f"\n{body}")
    )
    return Exported(text, tuple(left))


def _add_body(model: str, made: Sent) -> dict[str, Any]:
    """Return arguments with which litellm alone sends the body of dspy's client, as far as it can."""
    if made.body is None:
        return dict(made.arguments)
    if model.startswith("anthropic/"):
        allowed = [one for one in (*VERBATIM, "service_tier") if one in made.body]
        rest = {one: value for one, value in made.body.items() if one not in (*made.arguments, "system")}
        return {**made.arguments, **rest, **({"allowed_openai_params": allowed} if allowed else {})}
    given = {one: made.body.get(one, value) for one, value in made.arguments.items()}
    if model.startswith("gemini/"):  # the system message is in the body
        given["messages"] = [one for one in given["messages"] if one["role"] not in ("system", "developer")]
    return {**given, "extra_body": {one: value for one, value in made.body.items() if one != "input"}}


def _value(name: str, value: Any) -> str:
    """Write an argument as source; messages in `extra_body` refer to the script's `MESSAGES`."""
    if name == "extra_body" and "messages" in value:
        rest = {one: part for one, part in value.items() if one != "messages"}
        return f'{{"messages": MESSAGES, **{literal(as_json(rest), "    ")}}}'
    return literal(as_json(value), "    ")
