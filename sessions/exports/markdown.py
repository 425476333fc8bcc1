"""Export a session as Markdown: the signature, each column's prompt, reply and parse result."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adapters.display.as_text import cut_bytes, visible
from adapters.prompts.text import Text
from adapters.replies.flags.explaining import explain
from adapters.values.plain_json import plain
from sessions.exports import exported
from sessions.exports.exported import Exported, Source, View, beside
from sessions.running.recording import as_json, is_outdated, read_completion

_SPECIAL = re.compile(r"([\\`*_\[\]#|<>~&]|^[-+](?= )|(?<=\d)[.)](?= ))")


def markdown(source: Source) -> Exported:
    """Export a session; all its texts are fenced or escaped, never Markdown or HTML."""
    first = source.first
    session = first.session
    sections = [f"# {_escaped(source.name)}"]
    if session.notes:
        sections.append(_fenced(session.notes, "text"))
    text = session.signature
    sections += ["## Signature", _fenced(text.text, "python" if "\n" in text.text else "text")]
    if text.predictor != "Predict":
        reasoning = ", which asks for `reasoning` first" if text.predictor == "ChainOfThought" else ""
        sections.append(f"Predictor: {text.predictor}{reasoning}.")
    if text.instructions is not None:
        sections += ["Instructions:", _fenced(text.instructions, "text")]
    sections += [
        f"## Inputs: {_escaped(first.case.name)}",
        _fenced(exported.readable(cut_bytes(as_json(first.case.inputs))), "json"),
    ]
    left: list[str] = []
    for view in source.views:
        sections += _column(view)
        left += [one for one in beside(view) if one not in left]
        if any(not isinstance(part, Text) for message in view.request.messages for part in message.parts):
            left.append(f"column {view.column.id}: long data of images and files is cut")
    return Exported("\n\n".join(sections) + "\n", tuple(left))


def _column(view: View) -> Iterator[str]:
    request = view.request
    yield f"## {_escaped(view.column.id)} → {_escaped(view.model)}"
    for message in request.messages:
        yield f"### {_escaped(message.title)}"
        yield _fenced("".join([piece.text for piece in message.passage.pieces]), "text")
    if request.params:
        yield "### beside the messages"
        yield _fenced(exported.readable(dict(request.params)), "json")
    reply = view.case.replies.get(view.column.id)
    if reply is None:
        return
    old = ", to another prompt or model" if is_outdated(reply, request, view.model) else ""
    yield f"### reply of {_escaped(reply.model or view.model)} ({reply.source}{old})"
    yield _fenced(reply.text, "text")
    if reply.rating:
        yield f"Rated {reply.rating}."
    if reply.note:
        yield _fenced(reply.note, "text")
    reading = read_completion(view.adapter, request, view.signature, reply)
    if reading.error is not None:
        yield f"Not read: {_escaped(reading.error.type)}"
        yield _fenced(reading.error.message, "text")
    else:
        yield "Read as:"
        yield _fenced(exported.readable({name: plain(as_json(one)) for name, one in reading.values.items()}), "json")
    flags = [
        f"- {_escaped(one.field or 'the reply')}: **{_escaped(one.name)}**: {_escaped(one.message)}"
        for one in explain(reading)
    ]
    if flags:
        yield "What might surprise:"
        yield "\n".join(flags)


def _fenced(text: str, language: str) -> str:
    """Write a code block with a fence longer than all backtick runs in the text."""
    shown = visible(text).rstrip("\n")
    longest = max([len(one) for one in re.findall(r"`+", shown)], default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def _escaped(text: str) -> str:
    """Put `text` on a single line and escape all characters of Markdown and HTML."""
    return _SPECIAL.sub(r"\\\1", visible(text, keep="").replace("␊", " "))
