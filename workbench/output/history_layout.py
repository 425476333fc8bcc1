"""Messages laid out for people as `dspy.inspect_history` prints them, with the column in place of its timestamp."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.output import command_output


def write(head: str, messages: Sequence[Mapping[str, Any]]) -> None:
    """Prints one prompt: `[head]`, then every message under its role."""
    command_output.text("\n\n\n")
    command_output.heading(f"[{head}]\n", "blue")
    for message in messages:
        command_output.heading(f"{str(message['role']).capitalize()} message:\n", "red")
        content = message.get("content")
        if isinstance(content, str):
            command_output.text(content.strip())
        elif isinstance(content, list):
            for part in content:
                _write_part(part)
        _write_tool_calls(message.get("tool_calls") or ())
        command_output.text("\n")


def _write_part(part: Mapping[str, Any]) -> None:
    if part.get("type") == "text":
        command_output.text(str(part.get("text", "")).strip())
    else:
        command_output.heading(describe_part(part) + "\n", "blue")


def describe_part(part: Mapping[str, Any]) -> str:
    """A content part that is not text in a few words; data is measured, never dumped."""
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


def _write_tool_calls(calls: Sequence[Mapping[str, Any]]) -> None:
    if calls:
        command_output.heading("Tool calls:\n", "red")
    for call in calls:
        function = _inner(call, "function")
        arguments = function.get("arguments", call.get("args", call.get("arguments", {})))
        name = function.get("name") or call.get("name", "<unknown>")
        shown = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, (dict, list)) else str(arguments)
        command_output.heading(f"{name}: {shown}\n", "green")
