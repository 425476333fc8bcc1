"""`workbench new`: create a session from a signature.

Makes a session file with the columns and the model of your config (by default
chat, json and xml, and offline/exact). SIGNATURE is the string notation, or a
path ending in .py (or .py:Class when the file has several signatures, and
.py:function.Class for a class in a function). The file is read, never run.

VALUE is used unchanged for a str field. For any other type it is JSON, else
text if the type takes text. An Image, Audio, File or Document takes @PATH: the
data of that file becomes the value (--input picture=@rain.png).

With --module, the module's inner signatures become a session each:
`-o agent.session.json` of react writes agent.react.session.json and
agent.extract.session.json. They keep your signature and tools, and make from
them the prompts that dspy sends.

examples:
  workbench new "question -> answer" -o q.session.json --input question="Is it raining?"
  workbench new "question, context: list[str] -> answer: Literal['yes', 'no'], score: float" -o q.session.json \\
      --input question="Is it raining?" --input context='["It pours."]'
  workbench new invoice.py:Extract -o invoice.session.json --cot --model openai/gpt-6-luna
  workbench new "question -> answer" --module react --tool "search(query: str): Search the web." -o agent.session.json
  workbench new "text -> label" -o l.session.json --demo '{"text": "Lovely.", "label": "positive"}'
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.late_dataclasses import replace
from adapters.lint.outputs import output_lints
from adapters.signatures.agents import MODULES, Module
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.signatures.type_names import name_of
from adapters.tools.arguments import schema_of_line
from adapters.types.recognition import custom_types_in, type_adapter
from adapters.values.custom_types import WHAT_WORKS
from adapters.values.plain_json import JSON
from sessions.imports.reading import text_of
from sessions.model.held_values import shown, strict_json, takes, value_in
from sessions.model.session import Case, Column, Demo, Predictor, Session, SignatureText, Tool
from sessions.source.linking import class_in
from sessions.source.places import PLACE
from workbench.cli import selection
from workbench.cli.arguments import Options, Parser
from workbench.config import settings
from workbench.editing import field_values
from workbench.output import console, exit_codes, json_shapes
from workbench.output.exit_codes import CommandError, no_such


def add_arguments(parser: Parser) -> None:
    parser.add_argument("signature", metavar="SIGNATURE", help="the string notation, FILE.py or FILE.py:Class")
    parser.option("-o --output", "FILE", "the session file to write", required=True)
    parser.add_argument("--input", dest="inputs", action="append", default=[], metavar="NAME=VALUE")
    parser.several("--demo", "JSON", "an object of values", dest="demos")
    parser.option("--instructions", "TEXT", "in place of the signature's own")
    parser.flag("--cot", "ChainOfThought: `reasoning` in front of the outputs")
    parser.add_argument(
        "--module", choices=get_args(Module), help="a session for each inner signature of this dspy module"
    )
    parser.several(
        "--tool",
        "NAME(ARGUMENTS): DESCRIPTION",
        "a tool of react or code-act, such as 'search(query: str, k: int = 5): Search the web.'",
        dest="tools",
    )
    parser.shared("model")
    parser.flag("--force", "overwrite FILE if it is there; the app can restore what it was")


def run(options: Options) -> int:
    if options.output == "-":
        raise CommandError("-o -: a session is a file; name one")
    written = signature_text(options.signature, options.instructions, options.cot, Path(options.output).parent)
    signature = written.read()
    linked_to = f", linked to {written.source.file}:{written.source.class_name}" if written.source is not None else ""
    if options.tools and options.module is None:
        raise CommandError("--tool belongs to --module react or code-act")
    if options.module is not None:
        return _write_module(options, written)
    session = replace(
        _configured(written, options.model),
        demos=tuple(Demo(demo_values(text, signature)) for text in options.demos),
        cases=(Case("case 1", inputs=input_values(options.inputs, signature)),),
        name=signature.name if written.class_name else "",
    )
    path = Path(options.output)
    selection.save_new(session, str(path), options.force)
    lints = [one for one in output_lints(signature, catalog.profile("chat")) if one.name == "code-of-type-not-run"]
    if options.json:
        columns = [one.id for one in session.columns]
        shape = {"path": str(path), "columns": columns, "signature": _fields(signature)}
        console.json({**shape, "lints": list(map(json_shapes.lint, lints))})
    else:
        for one in lints:
            console.message(f"! {one.message}")
        named = shlex.quote(str(path))
        console.message(
            f"{path}: {signature.signature}{linked_to}. Next: `workbench render {named}`, or `workbench {named}`"
        )
    return exit_codes.OK


def _write_module(options: Options, written: SignatureText) -> int:
    """Write a session for each inner signature of a dspy module, made of the user's signature and tools."""
    if options.demos or options.cot:
        raise CommandError("--module makes the signatures itself: leave out --demo and --cot")
    tools = tuple(_tool(one) for one in options.tools)
    if tools and options.module in ("program-of-thought", "refine"):
        raise CommandError(f"{options.module} has no tools")
    signature = written.read()
    inputs = input_values(options.inputs, signature)
    first, _, rest = Path(options.output).name.partition(".")
    made: dict[str, tuple[str, Session]] = {}
    for predictor in (one for one in get_args(Predictor) if MODULES.get(one.partition(".")[0]) == options.module):
        name = predictor.partition(".")[2]
        session = _configured(replace(written, predictor=predictor), options.model)
        session = replace(session, tools=tools, name=f"{first}: {name}")
        inner = session.signature.read()
        added = [one for one, field in inner.input_fields.items() if field.default is MISSING]
        empty = {one: "" for one in added if one not in signature.fields}  # the module fills them in at each step
        own = {one: value for one, value in {**empty, **inputs}.items() if one in inner.input_fields}
        session = replace(session, cases=(Case("case 1", inputs=own),))
        path = Path(options.output).with_name(".".join(part for part in (first, name, rest) if part))
        made[str(path)] = (name, session)
    selection.refuse_existing(made, options.force)  # all, before the first is written
    shapes: list[JSON] = []
    for path_of_one, (name, session) in made.items():
        selection.save_new(session, path_of_one, options.force)
        inner = session.signature.read()
        shapes.append({"path": path_of_one, "name": name, "signature": _fields(inner)})
        if not options.json:
            console.message(f"{path_of_one}: {inner.signature}")
    if options.json:
        console.json({"module": options.module, "sessions": shapes})
    elif options.module == "react" and not tools:
        console.message("! The agent has no tools: add them with --tool, or in the Tools tab of the app")
    return exit_codes.OK


def _tool(written: str) -> Tool:
    """Parse a tool given as `name(arguments): description`. Raises `CommandError`."""
    match = re.fullmatch(r"\s*(\w+)\((.*)\)\s*(?::\s*(.*))?", written, re.DOTALL)
    if match is None:
        raise CommandError(f"the tool {written!r}: expected NAME(ARGUMENTS): DESCRIPTION")
    try:
        schema_of_line(match[2])
    except SignatureError as error:
        raise CommandError(f"the tool {match[1]}: {error}") from error
    return Tool(match[1], match[3] or "", match[2].strip())


def signature_text(given: str, instructions: str | None, cot: bool, folder: Path) -> SignatureText:
    """Return the signature that the user gave: in string notation, or as the class of a `.py` file.

    A class comes with only the code that it needs. It is linked to its file if that belongs to the project of a session
    in `folder`.
    """
    path, _, class_name = (given, "", "") if given.endswith(".py") else given.rpartition(":")
    is_class = path.endswith(".py") and (path == given or PLACE.fullmatch(class_name))
    written = class_in(text_of(path), path, class_name, folder) if is_class else SignatureText(given)
    return replace(written, predictor="ChainOfThought" if cot else "Predict", instructions=instructions)


def program_session(given: str) -> Session:
    """Return a session without a file for a program's class, for the app to open."""
    written = signature_text(given, None, False, Path())
    return replace(_configured(written, None), name=written.read().name)


def _configured(signature: SignatureText, model: str | None) -> Session:
    """Return a session with the config file's columns, and its model unless one is given."""
    wanted = settings.load().settings
    columns = tuple([Column(name, name) for name in wanted.columns])
    return Session(signature, columns=columns, model=model or wanted.model)


def input_values(given: Sequence[str], signature: Signature) -> dict[str, Any]:
    """Parse `NAME=VALUE` words to values by input. Raises `CommandError` for an unknown name or invalid value."""
    values: dict[str, Any] = {}
    for word in given:
        name, equals, text = word.partition("=")
        if not equals:
            raise CommandError(f"--input {word!r}: write NAME=VALUE")
        field = signature.input_fields.get(name)
        if field is None:
            raise CommandError(f"--input: {no_such('input', name, signature.input_fields)}")
        if not (text.startswith("@") and field_values.takes_file(field)):
            if name in values:
                raise CommandError(f"--input {name} is given twice")
            values[name] = value_of(text, field)
            continue
        try:
            values[name] = field_values.attached(field, Path(os.path.expanduser(text[1:])), values.get(name))
        except field_values.AttachError as error:
            raise CommandError(f"--input {name}: {error}") from error
        console.message(f"{name}: {field_values.attachment_words(values[name])}")
    return values


def value_of(text: str, field: Field) -> Any:
    """Return `text` for a str field; for other types its JSON if valid, else `text` if valid. Raises `CommandError`."""
    if field.annotation is str:
        return text
    try:
        return value_in(text, field)
    except ValueError as error:
        raise CommandError(f"--input {field.name}: {error}; {_what_works(field)}") from None


def _what_works(field: Field) -> str:
    """Suggest a valid input, with an example only if it would be accepted."""
    for custom in custom_types_in(field.annotation):
        if custom.__name__ in WHAT_WORKS:
            file = f", or attach a file: --input {field.name}=@PATH" if field_values.takes_file(field) else ""
            return WHAT_WORKS[custom.__name__] + file
    shape = type_adapter(field.annotation).json_schema()
    samples: Mapping[str, str] = {
        "array": '["a", "b"]',
        "object": '{"key": "value"}',
        "integer": "3",
        "number": "0.5",
        "boolean": "true",
        "null": "null",
    }
    choices = shape.get("enum") or [shape.get("const")]
    sample = json.dumps(choices[0]) if choices[0] is not None else samples.get(str(shape.get("type")), '"text"')
    return f"give it as JSON, e.g. '{sample}'" if takes(field.annotation, strict_json(sample)) else "give it as JSON"


def demo_values(text: str, signature: Signature) -> dict[str, Any]:
    """Parse a demo's values. Raises `CommandError` unless `text` is a JSON object with the signature's fields only."""
    try:
        values = strict_json(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--demo {shown(text)}: {error}; give a JSON object of field values") from error
    if not isinstance(values, dict):
        raise CommandError(f"--demo {shown(text)}: give a JSON object of field values")
    for name in values:
        if name not in signature.fields:
            raise CommandError(f"--demo: {no_such('field', name, signature.fields)}")
    return values


def _fields(signature: Signature) -> list[dict[str, Any]]:
    return [{"name": one.name, "role": one.role, "type": name_of(one.annotation)} for one in signature.fields.values()]
