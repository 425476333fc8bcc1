"""A shell command that sends one request by curl."""

from __future__ import annotations

import hashlib
import shlex

from sessions.exports import json_text
from sessions.exports.endpoints import endpoint_of
from sessions.exports.exported import Exported, Source, beside

LONGEST_ARGUMENT = 100_000
"""Bytes. Linux refuses arguments of more than 131,072; what is longer goes in by standard input."""


def curl(source: Source) -> Exported:
    """The command, with the key as a variable. Raises ExportError for a provider that speaks another protocol."""
    view = source.first
    request = view.request
    endpoint = endpoint_of(view, source)
    body = json_text.pretty({**request.as_dict(), "model": endpoint.model})
    lines = [f'curl "{endpoint.base}/chat/completions"', '-H "Content-Type: application/json"']
    if endpoint.key:
        lines.append(f'-H "Authorization: Bearer ${endpoint.key}"')
    quoted = shlex.quote(body)
    if len(quoted) <= LONGEST_ARGUMENT:
        text = " \\\n  ".join([*lines, f"--data-binary {quoted}"])
    else:
        end = f"BODY_{hashlib.sha256(body.encode()).hexdigest()[:16]}"
        text = " \\\n  ".join([*lines, f"--data-binary @- <<'{end}'"]) + f"\n{body}\n{end}"
    return Exported(text + "\n", (*endpoint.left_out, *beside(view)))
