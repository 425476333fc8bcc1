"""Export a request in the form of OpenAI's chat completions: its messages, the whole, or a shell command."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence

from adapters.lm import ProviderError
from adapters.lm.litellm_client import NO_KEY
from sessions.exports import exported
from sessions.exports.endpoints import (
    OFFLINE,
    PATHS,
    endpoint_of,
    headers_of,
    is_written_by_litellm,
    key_goes_there,
    named_address,
)
from sessions.exports.exported import Exported, ExportError, Source, beside
from sessions.running import rendering

_SIGNED = re.compile("^AWS4-HMAC-SHA256 Credential=[^/]*/[^/]*/([a-z0-9-]+)/([a-z0-9-]+)/")
"""The region and service of a request signed for AWS."""

LONGEST_ARGUMENT = 100_000
"""Bytes. Linux rejects arguments of more than 131,072; longer bodies are passed by standard input."""


def messages(source: Source) -> Exported:
    """Export `[{"role", "content"}, …]`, as returned by the adapter's `format`."""
    view = source.first
    request = view.request
    others = [name for name in request.params if name not in view.session.params_of(view.column)]
    left = (f"what goes out beside the messages: {', '.join(others)} (the export as request has it)",) if others else ()
    text = exported.pretty(request.prompt.as_dicts())
    return Exported(text + "\n", (*left, *beside(view)))


def request(source: Source) -> Exported:
    """Export `{"model", "messages", …parameters}`."""
    view = source.first
    left = beside(view)
    return Exported(exported.pretty(view.request.as_dict()) + "\n", left)


def curl(source: Source) -> Exported:
    """Export a curl command with a variable for the API key.

    If only litellm knows how to write the request for a provider, litellm writes it. Raises ExportError for an offline
    model, and for a request that litellm cannot show.
    """
    view = source.first
    if not view.model.startswith(OFFLINE) and is_written_by_litellm(view):
        return _curl_by_litellm(source)
    endpoint = endpoint_of(view, source)
    body = exported.pretty({**rendering.body_of(view.session, view.column, view.request), "model": endpoint.model})
    path = PATHS[rendering.lm_settings_of(view.session, view.column).model_type]
    lines = [f'curl "{endpoint.base}/{path}"', '-H "Content-Type: application/json"']
    if endpoint.key:
        lines.append(f'-H "Authorization: Bearer ${endpoint.key}"')
    headers, said = headers_of(view, source)
    lines += [f'-H "{_escaped(header)}: ${{{variable}}}"' for header, variable in headers.items()]
    return Exported(_command(lines, body), (*endpoint.left_out, *said, *beside(view)))


def _curl_by_litellm(source: Source) -> Exported:
    view = source.first
    allowed, said = key_goes_there(view, source)
    said += headers_of(view, source)[1]
    try:
        made = rendering.http_request(view.session, view.column, view.request, named_address(view), trusted=allowed)
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
