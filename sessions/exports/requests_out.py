"""Export a request: its messages and itself as OpenAI's chat completions write them, or as a shell command."""

from __future__ import annotations

import hashlib
import shlex

from sessions.exports import json_text
from sessions.exports.endpoints import PATHS, endpoint_of, headers_of
from sessions.exports.exported import Exported, Source, beside
from sessions.running import rendering

LONGEST_ARGUMENT = 100_000
"""Bytes. Linux refuses arguments of more than 131,072; what is longer goes in by standard input."""


def messages(source: Source) -> Exported:
    """`[{"role", "content"}, …]`, as the adapter's `format` returns them."""
    view = source.first
    request = view.request
    others = [name for name in request.params if name not in view.session.params_of(view.column)]
    left = (f"what goes out beside the messages: {', '.join(others)} (the export as request has it)",) if others else ()
    text = json_text.pretty(request.prompt.as_dicts())
    return Exported(text + "\n", (*left, *beside(view)))


def request(source: Source) -> Exported:
    """`{"model", "messages", …parameters}`."""
    view = source.first
    left = beside(view)
    return Exported(json_text.pretty(view.request.as_dict()) + "\n", left)


def curl(source: Source) -> Exported:
    """The command, with the key as a variable. Raises ExportError for a provider that speaks another protocol."""
    view = source.first
    endpoint = endpoint_of(view, source)
    body = json_text.pretty({**rendering.body_of(view.session, view.column, view.request), "model": endpoint.model})
    path = PATHS[rendering.lm_settings_of(view.session, view.column).model_type]
    lines = [f'curl "{endpoint.base}/{path}"', '-H "Content-Type: application/json"']
    if endpoint.key:
        lines.append(f'-H "Authorization: Bearer ${endpoint.key}"')
    headers, said = headers_of(view, source)
    lines += [f'-H "{_escaped(header)}: ${{{variable}}}"' for header, variable in headers.items()]
    quoted = shlex.quote(body)
    if len(quoted) <= LONGEST_ARGUMENT:
        text = " \\\n  ".join([*lines, f"--data-binary {quoted}"])
    else:
        end = f"BODY_{hashlib.sha256(body.encode()).hexdigest()[:16]}"
        text = " \\\n  ".join([*lines, f"--data-binary @- <<'{end}'"]) + f"\n{body}\n{end}"
    return Exported(text + "\n", (*endpoint.left_out, *said, *beside(view)))


def _escaped(header: str) -> str:
    """A header's name between double quotes: "`" and "$" may stand in one."""
    return header.replace("`", "\\`").replace("$", "\\$")
