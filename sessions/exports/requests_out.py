"""Export requests in the forms of OpenAI: messages, the whole, a shell command, fine-tuning data, and batches."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.formats import catalog
from adapters.lm import ProviderError
from adapters.lm.capabilities import split_model
from adapters.lm.litellm_client import NO_KEY
from adapters.signatures.signature import Signature
from adapters.values.custom_types import build_inputs
from sessions.checking import expectations
from sessions.exports import endpoints, exported
from sessions.exports.exported import Exported, ExportError, Source, View, beside, switched_off
from sessions.model.replies import Answer
from sessions.running import recording, rendering

_SIGNED = re.compile("^AWS4-HMAC-SHA256 Credential=[^/]*/[^/]*/([a-z0-9-]+)/([a-z0-9-]+)/")
"""The region and service of a request signed for AWS."""

LONGEST_ARGUMENT = 100_000
"""Bytes. Linux rejects arguments of more than 131,072; longer bodies are passed by standard input."""


def messages(source: Source) -> Exported:
    """Export `[{"role", "content"}, …]`, as returned by the adapter's `format`."""
    view = source.first
    request = view.request
    others = [name for name in request.params if name not in view.session.params_of(view.column)]
    said = f"the parameters beside the messages: {', '.join(others)} (the export `request` has them)"
    return Exported(exported.pretty(request.prompt.as_dicts()) + "\n", (*([said] if others else ()), *beside(view)))


def request(source: Source) -> Exported:
    """Export `{"model", "messages", …parameters}`."""
    return Exported(exported.pretty(source.first.request.as_dict()) + "\n", beside(source.first))


def curl(source: Source) -> Exported:
    """Export a curl command with a variable for the API key.

    If only litellm knows how to write the request for a provider, litellm writes it. Raises ExportError for an offline
    model, and for a request that litellm cannot show.
    """
    view = source.first
    if not view.model.startswith(endpoints.OFFLINE):
        has_address = split_model(view.model)[0] in endpoints.COMPATIBLE or endpoints.named_address(view) is not None
        if not has_address or rendering.is_by_litellm(view.session, view.column, view.request):
            return _curl_by_litellm(source)
    endpoint = endpoints.endpoint_of(view, source)
    body = exported.pretty({**rendering.body_of(view.session, view.column, view.request), "model": endpoint.model})
    path = endpoints.PATHS[rendering.lm_settings_of(view.session, view.column).model_type]
    lines = [f'curl "{endpoint.base}/{path}"', '-H "Content-Type: application/json"']
    if endpoint.key:
        lines.append(f'-H "Authorization: Bearer ${endpoint.key}"')
    headers, said = endpoints.headers_of(view, source)
    lines += [f'-H "{_escaped(header)}: ${{{variable}}}"' for header, variable in headers.items()]
    return Exported(_command(lines, body), (*endpoint.left_out, *said, *beside(view)))


def _curl_by_litellm(source: Source) -> Exported:
    view = source.first
    allowed, said = endpoints.key_goes_there(view, source)
    said += endpoints.headers_of(view, source)[1]
    try:
        address = endpoints.named_address(view)
        made = rendering.http_request(view.session, view.column, view.request, address, trusted=allowed)
    except ProviderError as error:
        raise ExportError(f"{view.place}: {error}") from error
    headers = {name: value for name, value in made.telling.items() if NO_KEY not in value}
    signed = _SIGNED.search(headers.get("Authorization", ""))
    lines = [f'curl "{_shell_escaped(made.url, made.names)}"']
    if signed is not None:
        lines.append(
            f'--aws-sigv4 "aws:amz:{signed[1]}:{signed[2]}" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"'
        )
        headers = {name: value for name, value in headers.items() if name not in ("Authorization", "X-Amz-Date")}
    lines += [f'-H "{_escaped(name)}: {_shell_escaped(value, made.names)}"' for name, value in headers.items()]
    return Exported(_command(lines, made.body), (*said, *beside(view)))


def _command(lines: Sequence[str], body: str) -> str:
    quoted = shlex.quote(body)
    if len(quoted) <= LONGEST_ARGUMENT:
        return " \\\n  ".join([*lines, f"--data-binary {quoted}"]) + "\n"
    end = f"BODY_{hashlib.sha256(body.encode()).hexdigest()[:16]}"
    return " \\\n  ".join([*lines, f"--data-binary @- <<'{end}'"]) + f"\n{body}\n{end}\n"


def _shell_escaped(text: str, names: Sequence[str]) -> str:
    """Escape a text for double quotes; only the variables in `names` are expanded."""
    made = _escaped(text)
    for name in sorted(names, key=len, reverse=True):
        made = made.replace(_escaped(name), f"${{{name[1:]}}}" if name[1:].isidentifier() else name)
    return made


def _escaped(header: str) -> str:
    """Escape the characters that are special within double quotes of a shell."""
    return re.sub(r'[\\"`$]', r"\\\g<0>", header)


LEAST_EXAMPLES = 10
"""The minimum number of examples for OpenAI's fine-tuning."""


def finetune(source: Source) -> Exported:
    """Write a line `{"messages": […]}` for each complete demo and each case with a known correct answer.

    The answer consists of the expected values if every output has one; else it is the column's reply if rated good;
    else its recorded reply unless rated bad. Lines have no few-shot examples, because these are to be learned. Raises
    ExportError if there is no line.
    """
    first = source.first
    signature = first.signature
    history = signature.history_field
    left, notes = list(switched_off(first.session, source.cases)), []
    if not catalog.profile(first.column.adapter).has_finetuning_in_dspy:
        notes.append(f"dspy has no fine-tuning data for {first.column.adapter}: the form of these lines is ours")
    lines: list[str] = []
    for number, demo in enumerate(first.varied.demos, 1):
        if not demo.enabled:
            continue
        missing = [name for name in signature.fields if name != history and demo.values.get(name) is None]
        if missing:
            left.append(f"demo {number}: it has no {', '.join(missing)}")
        else:
            lines.append(_example(first, signature, dict(demo.values)))
    for view in source.views:
        answer, why_not = _answer(view, signature)
        if answer is None:
            left.append(f"{view.case.plain_words}: {why_not}")
        else:
            lines.append(_example(view, signature, {**rendering.inputs_of(signature, view.case), **answer}))
            if why_not:
                notes.append(f"{view.case.plain_words}: {why_not}")
    if not lines:
        raise ExportError("there is no example to learn from: fill in a demo, or record a reply; " + "; ".join(left))
    if len(lines) < LEAST_EXAMPLES:
        notes.append(f"OpenAI requires at least {LEAST_EXAMPLES} examples; this file has {len(lines)}")
    return Exported("".join(f"{line}\n" for line in lines), tuple(left), tuple(notes))


def _example(view: View, signature: Signature, values: Mapping[str, object]) -> str:
    inputs = {name: value for name, value in values.items() if name in signature.input_fields}
    outputs = {name: value for name, value in values.items() if name in signature.output_fields}
    try:
        built = build_inputs(signature, {**inputs, **outputs})
        asked, answered = [{name: built[name] for name in names} for names in (inputs, outputs)]
        made = view.adapter.format_finetune_data(signature, [], asked, answered)
    except Exception as error:  # whatever dspy's format raises for these values
        raise ExportError(f"{view.place}: {type(error).__name__}: {error}") from error
    return exported.one_line(made)


def _expected(view: View, signature: Signature) -> dict[str, Any] | None:
    """Return the expected outputs if the case has an exact value for each, else None."""
    try:
        fields = expectations.column_expectations(view.case.expect, view.column.id).get("fields", {})
    except expectations.ExpectationError as error:
        raise ExportError(f"{view.place}: {error}") from error
    if not isinstance(fields, Mapping):
        return None
    found = {
        name: fields[name]["equals"]
        for name in signature.output_fields
        if isinstance(fields.get(name), Mapping) and "equals" in fields[name]
    }
    return found if len(found) == len(signature.output_fields) else None


def _answer(view: View, signature: Signature) -> tuple[dict[str, Any] | None, str]:
    """Return the correct answer of a case, and why it has none, or what is doubtful about it."""
    expected = _expected(view, signature)
    if expected is not None:
        return expected, ""
    reply = view.case.replies.get(view.column.id)
    kept = view.case.recordings.get(view.column.id)
    completions = [one for attempt in (kept.attempts if kept is not None else ()) for one in attempt.completions]
    learned: Answer | None = next((one for one in completions if one.reading is not None and one.reading.ok), None)
    if reply is not None and reply.rating == "good":
        learned = reply
    elif reply is not None and reply.rating == "bad" and learned is not None and learned.text == reply.text:
        return None, "its reply is rated bad"
    read = recording.read_completion(view.adapter, view.request, signature, learned).values if learned else {}
    # Missing native outputs are left out
    asked = view.request.signature.output_fields
    values = {name: value for name, value in read.items() if value is not None or name in asked}
    if any(name not in values for name in signature.output_fields):
        return None, "it expects no exact answer, and no reply that is recorded or rated good could be parsed"
    is_old = learned is reply and recording.is_outdated(reply, view.request, view.model)
    return values, "its reply answers another prompt or model" if is_old else ""


def batch(source: Source) -> Exported:
    """Write a line `{"custom_id", "method", "url", "body"}` for each column and case.

    Raises ExportError for several models.
    """
    models = {view.model for view in source.views}
    if len(models) > 1:
        listed = ", ".join(sorted(models))
        raise ExportError(f"a batch is for one model, and there are {len(models)}: {listed}; choose one", "--model")
    left: list[str] = list(switched_off(source.first.session, source.cases))
    endpoint = endpoints.endpoint_of(source.first, source)
    address = endpoints.named_address(source.first)
    if address is not None:
        left.append(f"the address {address}: a batch is uploaded to the server that runs it")
    text = ""
    for number, view in enumerate(source.views, 1):
        # A unique id in ASCII letters, digits, `-` and `_`
        name = re.sub(r"[^A-Za-z0-9_-]", "-", f"{view.case.name}-{view.column.id}")[:48].strip("-")
        path = endpoints.PATHS[rendering.lm_settings_of(view.session, view.column).model_type]
        body = {**rendering.body_of(view.session, view.column, view.request), "model": endpoint.model}
        line = {"custom_id": f"{number}-{name}", "method": "POST", "url": f"/v1/{path}", "body": body}
        text += f"{exported.one_line(line)}\n"
    return Exported(text, tuple(left))
