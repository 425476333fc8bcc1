"""`workbench parse`: show how each adapter parses a reply.

Parse a reply with the adapter of each column. Shows the verdict, the values,
the use of every character, the steps from text to value, and flags for
surprises. The reply is taken exactly as given. Exits 1 if it does not parse.

examples:
  workbench parse q.session.json --adapter chat --response reply.txt
  pbpaste | workbench parse q.session.json --adapter json xml
  workbench parse q.session.json --adapter twostep --response prose.txt --extraction second-reply.txt
  workbench parse q.session.json --adapter chat --json < reply.txt | jq .readings.chat.error
  workbench parse q.session.json --adapter xml --fixes < reply.txt    which change of the session would help
  workbench parse q.session.json --adapter chat --chunks chunks.jsonl    what dspy's streaming would emit
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.formats.catalog import UnknownAdapterError
from adapters.formats.two_step import TwoStepAdapter
from adapters.prompts.text import Prompt
from adapters.replies import streaming
from adapters.replies.reading import Reading
from adapters.requests.request import Request, read_reply
from sessions.file import whole_files
from sessions.model.replies import Extraction, Reply
from sessions.model.session import Column
from sessions.running import rendering
from workbench.cli import arguments, selection
from workbench.output import console, exit_codes, json_shapes, reading_text
from workbench.output.exit_codes import CommandError

if TYPE_CHECKING:
    from workbench.editing.fixes import Effect


MOST_LINES = 12
"""The most lines of a prompt's changed section to print."""


def add_arguments(parser: arguments.Parser) -> None:
    parser.shared("session")
    arguments.add_columns(parser)
    parser.option("--response", "FILE", "the reply (default, and for -: standard input)")
    parser.option("--chunks", "FILE", "the reply as streamed, a JSON string a line: what dspy would emit")
    parser.flag("--fixes", "also apply each fix by itself: would this reply parse, what changes")
    parser.option("--extraction", "FILE", "twostep: the reply of the extracting model")


def run(options: arguments.Options) -> int:
    chosen = selection.select(options.session, options.adapters, options.case)
    if options.extraction is not None and not selection.has_two_step(chosen):
        raise CommandError("--extraction is the second reply of twostep; no such column is parsed")
    reply_source = options.response if options.chunks is None else options.chunks
    if options.extraction == "-" and reply_source in (None, "-"):
        raise CommandError(
            "standard input holds one reply: give the other by --response, --chunks or --extraction FILE"
        )
    extraction = None if options.extraction is None else _reply_from(options.extraction)
    if options.chunks is not None and options.response is not None:
        raise CommandError("give the reply by --chunks or --response, not by both")
    chunks = None if options.chunks is None else _chunks_from(options.chunks)
    completion = _reply_from(options.response) if chunks is None else "".join(chunks)
    shapes: dict[str, Any] = {}
    codes = [exit_codes.OK]
    for column in chosen.columns:
        try:
            reading = read(chosen, column, completion, extraction)
        except UnknownAdapterError as error:
            codes.append(exit_codes.USAGE)
            console.problem(f"{column.id}: {error}")
            said = {"type": type(error).__name__, "message": str(error), "field": None}
            shapes[column.id] = {"ok": False, "values": {}, "error": said, "spans": [], "fields": {}, "flags": []}
            continue
        codes.append(exit_codes.OK if reading.ok else exit_codes.DIFFERENT)
        effects: Sequence[Effect] = ()
        if options.fixes:
            from workbench.editing import fixes

            second = None if extraction is None else Extraction(text=extraction)
            reply = Reply(completion, source="pasted", extraction=second)
            effects = fixes.effects_for(chosen.session, column, chosen.case, reply)
        form, outputs = streaming.FORMS.get(reading.adapter), reading.signature.output_fields
        streamed = None if form is None or chunks is None else streaming.streamed(form, outputs, chunks)
        if options.json:
            shapes[column.id] = json_shapes.reading(reading)
            if chunks is not None:
                shapes[column.id]["stream"] = json_shapes.stream(streamed)
            if options.fixes:
                shapes[column.id]["fixes"] = [
                    {
                        **json_shapes.fix(one.fix),
                        "parses": one.parses,
                        "verdict": one.verdict,
                        "prompt": [{"section": part.section, "lines": list(part.lines)} for part in one.prompt],
                    }
                    for one in effects
                ]
            continue
        reading_text.write(column.id, reading)
        if chunks is not None:
            reading_text.write_stream(reading, streamed, len(chunks))
        # Print each fix with number, new verdict and changed lines of the prompt.
        for number, effect in enumerate(effects, 1):
            colour = "green" if effect.parses else "yellow"
            console.heading(f"  fix {number} ({effect.fix.kind}): {effect.fix.message} → {effect.verdict}", colour)
            for section in effect.prompt:
                console.text(f"      {section.section}")
                console.diff_lines(section.lines[:MOST_LINES], "        ")
                if len(section.lines) > MOST_LINES:
                    console.text(f"        … {len(section.lines) - MOST_LINES} more lines")
    if options.json:
        console.json({"readings": shapes})
    return exit_codes.worst(codes)


def read(chosen: selection.Selection, column: Column, completion: str, extraction: str | None) -> Reading:
    """Parse a reply with a column, without the fields that the column's model answers natively.

    Raises `CommandError` for an invalid signature, and `UnknownAdapterError`.
    """
    adapter = rendering.adapter_of(column, allow_code=column.adapter in chosen.allow_code)
    made = selection.prepare_request(chosen, column)
    request = made if isinstance(made, Request) else Request(Prompt(()), {}, chosen.session.signature.read())
    if isinstance(adapter, TwoStepAdapter):
        return adapter.read(request.signature, completion, extraction)
    return read_reply(adapter, request, completion).ending(None, None, request.params, request.prompt)


def _chunks_from(source: str) -> list[str]:
    """Read the chunks of a stream: a JSON string on each line. Raises `CommandError` naming the line."""
    chunks: list[str] = []
    for number, line in enumerate(_reply_from(source).split("\n"), 1):
        if not line.strip():
            continue
        try:
            chunk = json.loads(line)
        except ValueError as error:
            raise CommandError(f"{source}, line {number}: {error}") from error
        if not isinstance(chunk, str):
            raise CommandError(f"{source}, line {number}: a chunk is a JSON string")
        chunks.append(chunk)
    return chunks


def _reply_from(source: str | None) -> str:
    """Read the file `source`, or standard input for None and `-`. Raises `CommandError`.

    The text is unchanged, including byte order marks, line breaks and blanks.
    """
    if source is None or source == "-":
        return arguments.standard_input("the reply")
    try:
        return arguments.decode(Path(source).read_bytes(), source)
    except OSError as error:
        raise CommandError(f"{source}: {whole_files.explain(error)[0]}") from error
