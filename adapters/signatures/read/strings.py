"""Read `"question, context: list[str] -> answer: float"` like dspy, with errors for parts that dspy silently drops."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
import typing
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import pydantic

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from adapters.signatures.read import known_names
from adapters.signatures.read.annotations import TypeReader
from adapters.signatures.read.fields import Draft, make_fields
from adapters.signatures.read.names import Names
from adapters.signatures.read.plain_strings import plain_half
from adapters.signatures.read.source_text import SourceText, check_size, line_and_column, unbalanced
from adapters.signatures.signature import Field, Role, Signature

_NAME = re.compile(r"(?:^|,)\s*(\w+)\s*(?=[:,]|$)")
_TWO_NAMES = re.compile(r"(?:^|,)\s*([^\W\d]\w*)[ \t]+([^\W\d]\w*)")
_BEHIND_COLON = re.compile(r":\s*([A-Za-z_]\w*)", re.ASCII)
"""Matches the names that dspy looks up in the calling code: only those directly after a colon."""
_HEAD, _TAIL = "def f(", "): pass"


class StringNames(Names):
    """The names of the string notation: dspy's types and some standard ones, without imports.

    `custom_types` come first. Names other than builtins and those of `typing` come from the text `around` the string.
    Rule: `SignatureMeta._detect_custom_types_from_caller`, `make_signature`.
    """

    def __init__(self, around: Names | None, custom_types: Mapping[str, object] | None) -> None:
        super().__init__(custom_types or {}, {}, lambda name, node: None, around)

    def find(self, name: str, node: ast.AST) -> object:
        if name in self.local:
            return self.local[name]
        if self.around is None or is_dspys_own(name):
            return known_names.bare(name, known_names.STRING_BUILTINS)
        return self.around.find(name, node)

    def suggestions(self) -> Sequence[str]:
        named = [(name, known_names.bare(name)) for name in known_names.bare_names()]
        # A function such as `final` is no type; pydantic's, as `confloat`, make types.
        return [name for name, one in named if not inspect.isfunction(one) or one.__module__.startswith("pydantic")]


def is_dspys_own(name: str) -> bool:
    """Test whether dspy's string notation always knows the name: `typing`'s and some builtins."""
    return name in known_names.STRING_BUILTINS or name in typing.__dict__ or name == "NoneType"


def read_string(
    text: str,
    instructions: str | None = None,
    name: str = "StringSignature",
    names: Names | None = None,
    custom_types: Mapping[str, object] | None = None,
) -> Signature:
    """Read a signature in the string notation. Raises SignatureError.

    Without `instructions` it has dspy's default sentence. `names` are those of the surrounding text, `custom_types` the
    types passed by name.
    """
    check_size(text)
    parts = text.split("->")
    if len(parts) == 1:
        end = line_and_column(text, len(text.rstrip()))
        raise SignatureError("no `->` between inputs and outputs", *end, 'for example "question -> answer"')
    if text.strip()[:1] in ("'", '"'):
        raise SignatureError("quotes around the signature", *line_and_column(text, 0), "leave them out")
    if len(parts) > 2:
        place = len(parts[0]) + 2 + len(parts[1])
        raise SignatureError("more than one `->`", *line_and_column(text, place), "inputs -> outputs, once")
    reads = StringNames(names, custom_types)
    found = set(custom_types or _BEHIND_COLON.findall(text))
    is_alone = names is None and not custom_types
    inputs: Sequence[Draft | Field] = plain_half(parts[0], "input") if is_alone else []
    inputs = inputs or _half(text, 0, parts[0], "input", reads, found)
    taken = {one.name for one in inputs}
    outputs: Sequence[Draft | Field] = plain_half(parts[1], "output") if is_alone else []
    if not outputs or not taken.isdisjoint([one.name for one in outputs]):
        outputs = _half(text, len(parts[0]) + 2, parts[1], "output", reads, found)
    for one in outputs:
        if isinstance(one, Draft) and one.name in taken:
            raise one.error(f"`{one.name}` is an input already", "inputs and outputs need distinct names")
    made = iter(make_fields([one for one in (*inputs, *outputs) if isinstance(one, Draft)], name))
    fields = [next(made) if isinstance(one, Draft) else one for one in (*inputs, *outputs)]
    return Signature.make(fields, instructions or None, name)


def _half(whole: str, start: int, part: str, role: Role, names: StringNames, found: Set[str]) -> list[Draft]:
    """Read the fields on one side of the arrow; `found` are names that dspy would find in the calling code."""
    source = SourceText(_HEAD + part + _TAIL, whole, start, len(part), len(_HEAD))
    source, tree = _parsed(source, part)
    function = tree.body[0]
    closes = source.head + len(part)
    if (
        len(tree.body) != 1
        or not isinstance(function, ast.FunctionDef)
        or len(function.body) != 1
        or source.index(function.body[0].lineno, function.body[0].col_offset) != closes + 3
    ):
        raise source.error_at(closes, "expected only a list of fields", "name: type, name: type")
    _refuse_what_dspy_drops(source, function.args)
    reader = TypeReader(source, names, as_dspy_string=True)
    drafts: dict[str, Draft] = {}
    for argument in function.args.args:
        if argument.arg in drafts:
            raise source.error(argument, f"`{argument.arg}` is named twice", "give every field a unique name")
        drafts[argument.arg] = _draft(source, reader, argument, role, found)
    return list(drafts.values())


def _parsed(source: SourceText, part: str) -> tuple[SourceText, ast.Module]:
    loose = unbalanced(part)
    if loose is not None:
        raise source.error_at(len(_HEAD) + loose[0], f"not valid Python: {loose[1]}")
    try:
        return source, source.parse()
    except SignatureError as error:
        if "default" in error.message:
            # Python requires defaults last, but not after `*`: parse so, to report defaults that dspy drops.
            any_order = replace(source, text=f"{_HEAD}*, {part}{_TAIL}", head=len(_HEAD) + 3)
            return any_order, any_order.parse()
        for found in _NAME.finditer(part):
            if keyword.iskeyword(found[1]):
                place = len(_HEAD) + found.start(1)
                message = f"`{found[1]}` is a Python keyword and cannot name a field"
                raise source.error_at(place, message, f"for example {found[1]}_") from None
        if (pair := _TWO_NAMES.search(part)) and not any(map(keyword.iskeyword, pair.groups())):
            first, second = pair.groups()
            hint = f"write `{first}: {second}`, `{first}, {second}` or `{first}_{second}`"
            raise source.error_at(len(_HEAD) + pair.start(2), f"`{first} {second}` is not a field", hint) from None
        raise


def _draft(source: SourceText, reader: TypeReader, argument: ast.arg, role: Role, found: Set[str]) -> Draft:
    annotation: object = str
    notes: tuple[str, ...] = ()
    # In dspy's order, which is visible in dspy's error messages.
    extra: dict[str, Any] = {"IS_TYPE_UNDEFINED": argument.annotation is None} if role == "input" else {}
    extra["__dspy_field_type"] = role
    if argument.annotation is not None:
        if isinstance(argument.annotation, ast.Constant) and isinstance(argument.annotation.value, str):
            raise source.error(
                argument.annotation,
                "dspy's string notation does not accept quoted types",
                f"{argument.annotation.value[:60]}",
            )
        annotation = reader.annotation(argument.annotation)
        if annotation is None:
            annotation, notes = str, ("dspy's string notation reads the type None as str",)
        notes += tuple(_unfound(argument.annotation, found))
    info = pydantic.Field(json_schema_extra=extra)
    return Draft(argument.arg, annotation, info, source, argument, notes)


def _unfound(annotation: ast.expr, found: Set[str]) -> Iterator[str]:
    """Yield a note for each name that is known here but not found by dspy's string notation."""
    waiting: list[ast.expr] = [annotation]
    told: set[str] = set()
    while waiting:
        match waiting.pop():
            case ast.Subscript(value=base, slice=inner):
                waiting += [inner, base]
            case ast.Tuple(elts=several):
                waiting += reversed(several)
            case ast.BinOp(left=left, right=right):
                waiting += [right, left]
            case ast.Attribute(value=ast.Name(id="dspy"), attr=name) if name in known_names.EXPERIMENTAL:
                yield f"dspy has no `dspy.{name}`: its strings accept `{name}` with custom_types={{'{name}': {name}}}"
            case ast.Name(id=name) if not is_dspys_own(name) and name not in found and name not in told:
                told.add(name)
                yield (
                    f"dspy's string notation does not find `{name}` inside brackets; "
                    f"pass it with custom_types={{'{name}': {name}}}"
                )
            case _:
                pass


def _refuse_what_dspy_drops(source: SourceText, arguments: ast.arguments) -> None:
    """Raise SignatureError for defaults, `/`, `*` and their fields, which dspy silently drops."""
    defaults = [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
    if defaults:
        raise source.error(
            defaults[0],
            "the string notation has no defaults (dspy silently drops them)",
            "write the signature as a Python class: name: type = dspy.InputField(default=...)",
        )
    if arguments.posonlyargs:
        first = arguments.posonlyargs[0]
        raise source.error(first, "the fields before `/` would be dropped", "leave out the `/`")
    if arguments.vararg is not None:
        raise source.error(
            arguments.vararg, f"`*{arguments.vararg.arg}` is not a field", f"{arguments.vararg.arg}: list[str]"
        )
    if arguments.kwonlyargs:
        raise source.error(arguments.kwonlyargs[0], "the fields after `*` would be dropped", "leave out the `*`")
    if arguments.kwarg is not None:
        name = arguments.kwarg.arg
        raise source.error(arguments.kwarg, f"`**{name}` is not a field", f"{name}: dict[str, Any]")
