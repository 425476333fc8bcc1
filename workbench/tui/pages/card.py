"""Show an adapter's card: its purpose, its use, and its last run as dspy's five steps."""

from __future__ import annotations

from collections.abc import Iterable

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.requests.request import Request
from adapters.requests.token_estimates import Estimates
from adapters.running.runs import Attempt
from sessions.running import rendering
from workbench.output.measures import counted
from workbench.tui.pages.page import LookedAt, comma, heading, measured, named, paragraph
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block


def blocks_of(at: LookedAt) -> list[Block]:
    """Show the card of the column's adapter."""
    name = at.column.adapter
    adapter = rendering.adapter_of(at.column, allow_code=True)
    words = adapter.profile.card
    blocks = [EMPTY, block(f"{catalog.title(name)}Adapter", "title"), *paragraph(words.essence)]
    blocks += paragraph(at.keys("{app.help|F1} here lists the keys of its prompt and reply"), "note")
    blocks += [
        named("formats", words.formats),
        named("parses", words.parses),
        named("falls back", _fallback(at, adapter)),
        named("native features", _native(at, adapter)),
        named("options", comma(f"{key}={value!r}" for key, value in at.column.options.items())),
    ]
    blocks += heading("Use it")
    blocks += [Block((Piece(one),), 2, "", Piece("✓ ", "ok")) for one in words.use]
    blocks += [Block((Piece(one),), 2, "", Piece("✗ ", "error")) for one in words.avoid]
    blocks += heading("Its last run, step by step" if at.run is not None else "What it does, step by step")
    return [*blocks, *_steps(at, adapter)]


def _fallback(at: LookedAt, adapter: Adapter) -> str:
    fallback = adapter.fallback_adapter()
    if fallback is None:
        return "to nothing: a parse error ends the run"
    name = catalog.title(fallback.name)
    if at.session.fallback:
        return f"to {name}: after a parse error it asks again, in a second call"
    return f"to {name} in dspy; off in this session, so that the first parse error shows"


def _native(at: LookedAt, adapter: Adapter) -> str:
    known = rendering.capabilities_for(at.session, at.column)
    capabilities = known.capabilities
    can = {
        "tool calls": capabilities.function_calling,
        "reasoning": capabilities.reasoning,
        "response schema": capabilities.response_schema,
    }
    offered = f"{at.model} has {comma(name for name, has in can.items() if has)} ({known.said_by})"
    tools = "uses native tool calls" if adapter.use_native_function_calling else "native tool calls turned off"
    return f"{tools}; {offered}"


def _steps(at: LookedAt, adapter: Adapter) -> Iterable[Block]:
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
    yield named("4 postprocess", _postprocess(at, request))
    yield named("5 parse", *_parse(at))
    if at.run is not None and at.run.run is not None:
        for attempt in at.run.run.attempts[1:]:
            yield named("again", f"by {catalog.title(attempt.adapter)} · {_measured(attempt)}")


def _call(at: LookedAt) -> tuple[str | tuple[str, str], ...]:
    run = at.run
    if run is None or run.run is None or not run.run.attempts:
        reply = at.rendered.reply
        if reply is None:
            return ((at.keys("nothing sent yet: {app.send_all|F5} sends"), "note"),)
        return (f"the reply was {reply.source}", (" (its calls are not at hand)", "note"))
    first = run.run.attempts[0]
    failed = ((f" · {first.error}", "error"),) if first.error else ()
    return (f"{first.model} · {_measured(first)}", *failed)


def _measured(attempt: Attempt) -> str:
    return measured(attempt.duration_ms, attempt.usage, attempt.cost)


def _postprocess(at: LookedAt, request: Request) -> str:
    reading = at.rendered.reading
    if reading is None:
        return "adds what the provider returned apart, and defaults"
    native = [name for name, one in reading.fields.items() if one.state == "native"]
    filled = [name for name, one in reading.fields.items() if one.state == "default"]
    said = [f"{comma(native)} taken from the response"] if native else []
    said += [f"{comma(filled)} filled with a default"] if filled else []
    return "; ".join(said) or "changed nothing"


def _parse(at: LookedAt) -> tuple[str | tuple[str, str], ...]:
    reading = at.rendered.reading
    if reading is None:
        return (("no reply yet", "note"),)
    if reading.error is None:
        steps = sum(len(one.steps) for one in reading.fields.values())
        flags = f", {counted(len(reading.flags), 'thing')} to notice" if reading.flags else ""
        return (("✓ ", "ok"), f"{counted(len(reading.values), 'value')} in {counted(steps, 'step')}{flags}")
    message = reading.error.message.strip().partition("\n")[0]
    return (("✗ ", "error"), f"{reading.error.type}: {message}")
