"""The pages Card and Request: the adapter with its last run, and the request that it sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from adapters.formats import catalog
from adapters.lm import ProviderError
from adapters.lm.capabilities import capabilities_of
from adapters.lm.lm_settings import ModelType
from adapters.requests.request import Request
from adapters.requests.token_estimates import Estimates
from sessions.errors import counted
from sessions.model.session import Case, Column, Session
from sessions.running import rendering
from workbench.output import measures
from workbench.sending import model_choices, sending
from workbench.tui.pages.page import (
    LookedAt,
    as_json,
    comma,
    duration,
    heading,
    json_block,
    named,
    outdated,
    paragraph,
    table,
)
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

LONGEST_PROMPT = 300_000
"""The limit of the shown messages, in characters."""

OTHER_MODELS = (
    "offline/exact",
    "openai/gpt-6-luna",
    "openai/gpt-6-sol",
    "anthropic/claude-sonnet-5-5",
    "gemini/gemini-3.8-flash",
    "mistral/mistral-small-latest",
    "ollama_chat/llama3.2",
)
"""Models with different capabilities, to compare what the same column would send to each."""


READ_BY_THE_MODEL = ("model", "messages", "input", "instructions", "prompt")
"""Parts of a body that appear elsewhere on the page: the model and the messages, under the names of each API."""

ASKED_BY: Mapping[ModelType, str] = {
    "chat": "chat completions",
    "responses": "OpenAI's Responses API",
    "text": "completions of a text: the messages arrive as one text",
}


def request_blocks(
    at: LookedAt,
    json_text_of: bool = False,
    others: Sequence[Block] | None = None,
    written: Sequence[Block] | None = None,
) -> list[Block]:
    """Show the column's request as it would be sent now; with `json_text_of` only its JSON.

    `others` replaces the section on other models (`other_models`) when that takes too long to make; `written` replaces
    the parameters, or the JSON, when litellm writes the request (`written_by_litellm`).
    """
    request = at.rendered.request
    if request is None:
        return [EMPTY, *paragraph(f"There is no request: {at.rendered.why_no_prompt}", "error")]
    if json_text_of:
        return [EMPTY, *(written or json_block(rendering.body_of(at.session, at.column, request)))]
    blocks = [*outdated(at), named("model", request.model or "none"), *_about(at, request)]
    blocks.append(named("prompt has", comma(request.signature.fields)))
    if request.removed_fields:
        inputs = at.session.signature.read().input_fields
        removed = [f"{name} ({'input' if name in inputs else 'output'})" for name in request.removed_fields]
        blocks.append(named("taken out", (comma(removed), "warning"), ": the model has a native feature for it"))
    else:
        blocks.append(named("taken out", "nothing"))
    if written is not None:
        blocks += [*heading("The request as it is sent"), *written]
    else:
        blocks += heading("Parameters beside the messages, as they arrive")
        body = rendering.body_of(at.session, at.column, request)
        params = {name: value for name, value in body.items() if name not in READ_BY_THE_MODEL}
        blocks += [named(name, as_json(value)) for name, value in params.items()] or [block("  none", "note")]
    if not at.rendered.error:  # else no model's request can be made
        blocks += heading("The same column, other models")
        blocks += other_models(at) if others is None else others
    blocks += heading(counted(len(request.messages), "message"))
    room = LONGEST_PROMPT
    for number, message in enumerate(request.prompt.messages):
        room -= len(message.text)
        if room < 0:
            left = len(request.messages) - number
            blocks.append(block(f"… {left:,} more messages; copy the request to see them", "note"))
            break
        rest = dict(message.as_dict())
        blocks.append(Block((Piece(str(rest.pop("role", "")), "accent"),), 2))
        content = rest.pop("content", None)
        if content is not None:
            said = content if isinstance(content, str) else as_json(content)
            blocks.append(block(said, "value", indent=4))
        if rest:
            blocks.append(block(as_json(rest), "data", indent=4))
        blocks.append(EMPTY)
    return blocks


def is_by_litellm(at: LookedAt) -> bool:
    """Return whether litellm shows the request."""
    request = at.rendered.request
    return request is not None and rendering.is_shown_by_litellm(at.session, at.column, request)


def written_by_litellm(at: LookedAt, json_text_of: bool = False) -> list[Block]:
    """Show the request as it is sent: method, URL, headers and body. Blocks until litellm answers."""
    assert at.rendered.request is not None
    rendering.other_request(at.session, at.column, at.case, at.rendered.request, waits=True)  # `_about` shows it then
    try:
        made = sending.http_request(at.session, at.column, at.rendered.request)
    except ProviderError as error:
        return paragraph(str(error), "error")
    body = json_block(json.loads(made.body))
    if json_text_of:
        return body
    headers = [named(name, value) for name, value in made.telling.items()]
    return [named(made.method, (made.url, "value")), *headers, EMPTY, *body]


def json_of(at: LookedAt, request: Request) -> str:
    """Return the request's body as JSON; blocks if litellm writes it. Raises `ProviderError`."""
    if is_by_litellm(at):
        return as_json(json.loads(sending.http_request(at.session, at.column, request).body))
    return as_json(rendering.body_of(at.session, at.column, request))


async def curl_of(session: Session, column: Column, case: Case) -> str:
    """Write the request as a curl command in a thread, with the API key as a variable.

    Raises `CommandError` if curl cannot send the request.
    """
    from workbench.exporting import forms  # imported late: it imports every export

    make = partial(forms.export, "curl", session, [column], [case], names_flags=False)
    return (await asyncio.to_thread(make)).text.rstrip()


def _about(at: LookedAt, request: Request) -> list[Block]:
    """Describe the model's capabilities, what changes them, a retirement that is near, and the call's settings."""
    other = rendering.other_request(at.session, at.column, at.case, request, waits=False)
    warnings = [one for one in (other, model_choices.leaving(at.model)) if one]
    # The session's settings of the call: API, headers by their variables, retries
    settings = rendering.lm_settings_of(at.session, at.column)
    given = rendering.connection_of(at.session, at.column)
    blocks: list[Block] = []
    if given.get("model_type") is not None:
        role = ", a system is a developer" if settings.developer_role and settings.model_type == "responses" else ""
        blocks.append(named("asked by", f"{ASKED_BY[settings.model_type]}{role}"))
    if settings.header_variables:
        headers = [f"{header}: ${variable}" for header, variable in settings.header_variables.items()]
        blocks.append(named("headers", comma(headers), " (the values are read when it is sent, and shown nowhere)"))
    if given.get("num_retries"):
        blocks.append(named("tries", f"{given['num_retries'] + 1} at most, if a failure may be temporary"))
    return [
        named("which", model_choices.can(rendering.capabilities_for(at.session, at.column))),
        *[named("", (one, "warning")) for one in warnings],
        *blocks,
    ]


def other_models(at: LookedAt) -> list[Block]:
    """Show what the same column sends to other models; blocks for a column of another dspy release."""
    rows = [[("model", "note"), ("response_format", "note"), ("tools", "note"), ("taken out", "note")]]
    for model in dict.fromkeys((at.model, *OTHER_MODELS)):
        mark = "● " if model == at.model else "  "
        try:
            made = rendering.request_of(
                at.session,
                at.column,
                at.case,
                reuse=at.rendered.request.prompt if at.rendered.request is not None else None,
                capabilities=None if model == at.model else capabilities_of(model),
                adapter=rendering.adapter_of(at.column, allow_code=True),
            )
        except Exception as error:  # whatever dspy's format raises for these values
            rows.append([(mark + model, "text"), (f"{type(error).__name__}: {error}", "error")])
            continue
        chosen = made.params.get("response_format")
        kind = "–" if chosen is None else type(chosen).__name__
        kind = str(chosen.get("type", "yes")) if isinstance(chosen, Mapping) else kind
        rows.append(
            [
                (mark + model, "title" if model == at.model else "text"),
                (kind, "value"),
                (str(len(made.params.get("tools", ())) or "–"), "value"),
                (comma(made.removed_fields, "–"), "value"),
            ]
        )
    return table(rows)


def card_blocks(at: LookedAt) -> list[Block]:
    """Show the card of the column's adapter."""
    name = at.column.adapter
    adapter = rendering.adapter_of(at.column, allow_code=True)
    words = adapter.profile.card
    fallback = adapter.fallback_adapter()
    if fallback is None:
        falls_back = "to nothing: a parse error ends the run"
    elif at.session.fallback:
        falls_back = f"to {catalog.title(fallback.name)}: after a parse error it asks again, in a second call"
    else:
        off = "off in this session, so that the first parse error shows"
        falls_back = f"to {catalog.title(fallback.name)} in dspy; {off}"
    known = rendering.capabilities_for(at.session, at.column)
    can = {
        "tool calls": known.capabilities.function_calling,
        "reasoning": known.capabilities.reasoning,
        "response schema": known.capabilities.response_schema,
    }
    offered = f"{at.model} has {comma(name for name, has in can.items() if has)} ({known.said_by})"
    tools = "uses native tool calls" if adapter.use_native_function_calling else "native tool calls turned off"
    blocks = [EMPTY, block(f"{catalog.title(name)}Adapter", "title"), *paragraph(words.essence)]
    blocks += paragraph(at.keys("{app.help|F1} here lists the keys of its prompt and reply"), "note")
    blocks += [
        named("formats", words.formats),
        named("parses", words.parses),
        named("falls back", falls_back),
        named("native features", f"{tools}; {offered}"),
        named("options", comma(f"{key}={value!r}" for key, value in at.column.options.items())),
    ]
    blocks += heading("Use it")
    blocks += [Block((Piece(one),), 2, "", Piece("✓ ", "ok")) for one in words.use]
    blocks += [Block((Piece(one),), 2, "", Piece("✗ ", "error")) for one in words.avoid]
    blocks += heading("Its last run, step by step" if at.run is not None else "What it does, step by step")
    return [*blocks, *_steps(at)]


def _steps(at: LookedAt) -> Iterable[Block]:
    request = at.rendered.request
    if request is None:
        yield block(f"There is no prompt: {at.rendered.why_no_prompt}", "error", indent=2)
        return
    removed = comma(request.removed_fields, "")
    added = comma(name for name in ("response_format", "tools", "tool_choice") if name in request.params)
    taken = f"removed {removed} from the signature: the provider returns it apart" if removed else "left all fields in"
    yield named("1 preprocess", f"{taken}; parameters added: {added}")
    prompt = request.prompt
    count = Estimates().total(prompt.messages, request.params)
    used = sum(use.use != "dropped" for use in prompt.demos)
    demos = f"{used} of {len(prompt.demos)} demos used" if prompt.demos else "no demos"
    messages = counted(len(prompt.messages), "message")
    yield named("2 format", f"made {messages}, ~{count:,} tokens; {demos}")
    yield named("3 call", *_call(at))
    yield from _reading_steps(at)
    if at.run is not None and at.run.run is not None:
        for attempt in at.run.run.attempts[1:]:
            counts = f"{duration(attempt.duration_ms)} · {measures.billed(attempt)}"
            yield named("again", f"by {catalog.title(attempt.adapter)} · {counts}")


def _call(at: LookedAt) -> tuple[str | tuple[str, str], ...]:
    run = at.run
    if run is None or run.run is None or not run.run.attempts:
        reply = at.rendered.reply
        if reply is None:
            return ((at.keys("nothing sent yet: {app.send_all|F5} sends"), "note"),)
        return (f"the reply was {reply.source}", (" (its calls are not available)", "note"))
    first = run.run.attempts[0]
    failed = ((f" · {first.error}", "error"),) if first.error else ()
    return (f"{first.model} · {duration(first.duration_ms)} · {measures.billed(first)}", *failed)


def _reading_steps(at: LookedAt) -> Iterable[Block]:
    reading = at.rendered.reading
    if reading is None:
        yield named("4 postprocess", "adds what the provider returned apart, and defaults")
        yield named("5 parse", ("no reply yet", "note"))
        return
    native = [name for name, one in reading.fields.items() if one.state == "native"]
    filled = [name for name, one in reading.fields.items() if one.state == "default"]
    said = [f"{comma(native)} taken from the response"] if native else []
    said += [f"{comma(filled)} filled with a default"] if filled else []
    yield named("4 postprocess", "; ".join(said) or "changed nothing")
    if reading.error is None:
        steps = sum(len(one.steps) for one in reading.fields.values())
        flags = f", {counted(len(reading.flags), 'thing')} to notice" if reading.flags else ""
        values = counted(len(reading.values), "value")
        yield named("5 parse", ("✓ ", "ok"), f"{values} in {counted(steps, 'step')}{flags}")
    else:
        message = reading.error.message.strip().partition("\n")[0]
        yield named("5 parse", ("✗ ", "error"), f"{reading.error.type}: {message}")
