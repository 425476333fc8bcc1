"""`workbench render`: print the messages of each adapter for a session, without calling a model.

Prints the messages that each column's adapter makes, laid out as
dspy.inspect_history does. Calls no model. What is printed is what `send` would
send: fields that a model takes natively have left the prompt. With --tokens it
prints what the whole request costs, by where its tokens come from.

examples:
  workbench render q.session.json                      every column of the session, first case
  workbench render q.session.json --adapter chat baml  a column, and an adapter without a column
  workbench render q.session.json --request            with response_format, tools and parameters
  workbench render q.session.json --tokens             where the tokens go, and what a thousand calls cost
  workbench render q.session.json --json | jq '.prompts.chat.messages'
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.requests.request import Request
from sessions.model.session import Column, Session
from sessions.running import rendering
from workbench.cli import arguments, selection
from workbench.output import console, exit_codes, json_shapes

if TYPE_CHECKING:
    from workbench.output.spending import Spent


def add_arguments(parser: arguments.Parser) -> None:
    parser.shared("session")
    arguments.add_columns(parser)
    parser.shared("model")
    parser.flag(
        "--request",
        "print the request body as JSON instead of its messages; if litellm writes the body, exactly as sent, with "
        "address and headers on standard error",
    )
    parser.flag(
        "--tokens",
        "where the tokens of each request go, by origin; ~ marks what the model's own tokenizer did not count",
    )
    arguments.add_variants(parser)


def run(options: arguments.Options) -> int:
    if options.tokens and options.request and not options.json:
        raise exit_codes.CommandError("--tokens and --request print two texts: ask for one, or for both with --json")
    chosen = selection.select(options.session, options.adapters, options.case, options.model)
    chosen = selection.add_variant_columns(chosen, options.variants)
    shapes: dict[str, Any] = {}
    spent: dict[str, Spent] = {}
    codes = [exit_codes.OK]
    for column in chosen.columns:
        request = selection.prepare_request(chosen, column)
        if isinstance(request, selection.Unrenderable):
            codes.append(exit_codes.USAGE)
            console.problem(f"{column.id}: {request.message}")
            error = {"type": request.type, "message": request.message}
            shapes[column.id] = {"messages": [], "segments": [], "request": None, "error": error}
            continue
        if options.tokens:
            from adapters.lm.capabilities import split_model
            from adapters.lm.worker import questions
            from adapters.requests.token_ledger import ledger_of, pieces_of
            from workbench.output.spending import spent_by

            # with the model's own tokenizer if it is available
            provider, name = split_model(request.model or "")
            counts = questions.counts_of(name, pieces_of(request)) if provider == "openai" else None
            spent[column.id] = spent_by(request, ledger_of(request, counts))
        if options.json:
            shapes[column.id] = _shape(chosen, column, request, options.request)
        elif options.tokens:
            continue
        elif options.request:
            if said := rendering.other_request(chosen.session, column, chosen.case, request, waits=True):
                console.message(f"{column.id}: {said}")
            made = _http_request(chosen.session, column, request).get("http")
            if made is None:
                console.text(json_shapes.dumps(rendering.body_of(chosen.session, column, request)))
                continue
            console.message(f"{made['method']} {made['url']}")
            for name, value in made["headers"].items():
                console.message(f"{name}: {value}")
            console.text(made["body"])
        else:
            write(f"{column.id} → {request.model}", [m.as_dict() for m in request.messages])
    if options.json:
        console.json({"prompts": shapes, **(json_shapes.ledgers(spent) if options.tokens else {})})
    elif options.tokens and spent:
        from workbench.output import spending

        console.text(spending.text_of(spent))
    return exit_codes.worst(codes)


def _http_request(session: Session, column: Column, request: Request) -> dict[str, Any]:
    """Return `{"http": …}` with the HTTP request that litellm shows, if it does. Raises `CommandError`."""
    if not rendering.is_shown_by_litellm(session, column, request):
        return {}
    from adapters.lm import ProviderError
    from workbench.sending import sending

    try:
        made = sending.http_request(session, column, request)
    except ProviderError as error:
        raise exit_codes.CommandError(str(error)) from error
    return {"http": {"method": made.method, "url": made.url, "headers": dict(made.telling), "body": made.body}}


def _shape(chosen: selection.Selection, column: Column, request: Request, with_http: bool) -> dict[str, Any]:
    from adapters.values.plain_json import plain
    from sessions.running import linting

    case = chosen.case
    said = with_http and rendering.other_request(chosen.session, column, case, request, waits=True)
    return {
        **json_shapes.rendered(request),
        "sent": plain(rendering.body_of(chosen.session, column, request)),
        **(_http_request(chosen.session, column, request) if with_http else {}),
        **({"other_table": said} if said else {}),
        "lints": list(map(json_shapes.lint, linting.lints_of(chosen.session, column, case, request))),
    }


def write(head: str, messages: Sequence[Mapping[str, Any]]) -> None:
    """Print a prompt: `[head]`, then each message under its role."""
    console.text("\n\n\n")
    console.heading(f"[{head}]\n", "blue")
    for message in messages:
        console.heading(f"{str(message['role']).capitalize()} message:\n", "red")
        content = message.get("content")
        if isinstance(content, str):
            console.text(content.strip())
        elif isinstance(content, list):
            for part in content:
                if part.get("type") == "text":
                    console.text(str(part.get("text", "")).strip())
                else:
                    console.heading(describe_part(part) + "\n", "blue")
        calls = message.get("tool_calls") or ()
        if calls:
            console.heading("Tool calls:\n", "red")
        for call in calls:
            function = _inner(call, "function")
            arguments = function.get("arguments", call.get("args", call.get("arguments", {})))
            name = function.get("name") or call.get("name", "<unknown>")
            shown = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, (dict, list)) else str(arguments)
            console.heading(f"{name}: {shown}\n", "green")
        console.text("\n")


def describe_part(part: Mapping[str, Any]) -> str:
    """Describe a content part that is not text; of data only the size is shown."""
    kind = part.get("type")
    if kind == "image_url":
        url = str(_inner(part, "image_url").get("url", ""))
        head, marker, data = url.partition("base64,")
        return f"<{head}{marker}<IMAGE BASE 64 ENCODED({len(data)})>" if marker else f"<image_url: {url}>"
    if kind == "input_audio":
        audio = _inner(part, "input_audio")
        return f"<audio format='{audio.get('format')}' base64-encoded, length={len(str(audio.get('data', '')))}>"
    if kind in ("file", "input_file"):
        file = _inner(part, str(kind))
        return (
            f"<file: name:{file.get('filename', '')}, id:{file.get('file_id', '')}, "
            f"data_length:{len(str(file.get('file_data', '')))}>"
        )
    return f"<{kind}: {len(json.dumps(part, default=str))} characters of JSON>"


def _inner(part: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = part.get(key)
    return inner if isinstance(inner, Mapping) else {}
