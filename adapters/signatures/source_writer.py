"""Write signatures as Python source that runs under dspy and reads back to an equal signature."""

from __future__ import annotations

import inspect
import re
from ast import literal_eval
from typing import Annotated

from adapters.errors import SignatureError
from adapters.signatures.class_writer import ClassWriter, is_name
from adapters.signatures.signature import CONSTRAINT_WORDS, MISSING, Field, Signature, infer_prefix
from adapters.signatures.value_writer import constraint_values, text_literal
from adapters.types.recognition import is_decision_type

_WORDS = re.compile(
    "(?:^|, )(" + "|".join(re.escape(words) for words in sorted(CONSTRAINT_WORDS.values(), key=len, reverse=True)) + ")"
)
_ARGUMENTS = {words: name for name, words in CONSTRAINT_WORDS.items()}


def write_source(signature: Signature) -> str:
    """Write the Python source of a signature and of every class that its types name.

    Raises SignatureError if source cannot express it, as for a default that is not a literal or two classes with the
    same name.
    """
    if not is_name(signature.name):
        raise SignatureError(
            f"a class cannot be called {signature.name[:60]!r}", hint="give the signature another name"
        )
    writer = ClassWriter([one.annotation for one in signature.fields_in_order], signature.name)
    lines = [f"class {signature.name}(dspy.Signature):"]
    if signature.instructions != Signature.make(signature.fields_in_order).instructions:
        lines += [f"    {docstring(signature.instructions)}", ""]
    for field in signature.fields_in_order:
        lines.append(f"    {_field(writer, field)}")
    if len(lines) == 1:
        lines.append("    pass")
    imports, declarations = writer.imports(), writer.declarations
    return "\n\n\n".join([imports, *declarations, "\n".join(lines)]) + "\n"


def _field(writer: ClassWriter, field: Field) -> str:
    arguments: list[str] = []
    if field.desc is not None and field.desc != f"${{{field.name}}}":
        arguments.append(f"desc={text_literal(field.desc)}")
    if field.prefix is not None and field.prefix != infer_prefix(field.name) + ":":
        arguments.append(f"prefix={text_literal(field.prefix)}")
    arguments += _constraints(writer, field)
    if field.default_factory is not None:
        arguments.append(f"default_factory={writer.values.factory(field.default_factory)}")
    elif field.default is not MISSING:
        arguments.append(f"default={writer.values.write(field.default)}")
    call = f"dspy.{'Input' if field.role == 'input' else 'Output'}Field({', '.join(arguments)})"
    if field.annotation is str and not field.type_was_given:
        return f"{field.name} = {call}"
    annotation = field.annotation
    for one in field.metadata:
        if is_decision_type(one):
            annotation = Annotated[annotation, one]
    return f"{field.name}: {writer.annotation(annotation)} = {call}"


def _constraints(writer: ClassWriter, field: Field) -> list[str]:
    if not field.constraints:
        return []
    pieces = _WORDS.split(field.constraints)
    known = constraint_values(field.metadata)
    if pieces[0]:
        raise SignatureError(
            f"field `{field.name}`: the constraints {field.constraints!r} are not arguments of a field"
        )
    result: list[str] = []
    for words, text in zip(pieces[1::2], pieces[2::2], strict=True):
        name = _ARGUMENTS[words]
        if name in known and str(known[name]) == text:
            result.append(f"{name}={writer.values.write(known[name])}")
        else:
            try:
                written = text if str(literal_eval(text)) == text else repr(text)
            except (ValueError, SyntaxError):
                written = repr(text)
            result.append(f"{name}={written}")
    return result


def docstring(instructions: str) -> str:
    """Write a docstring that `inspect.cleandoc` converts to `instructions`. Raises SignatureError if there is none."""
    indented = "".join(f"\n    {line}" if line else "\n" for line in instructions.split("\n"))
    candidates = [instructions] if "\n" not in instructions else [f"{indented}\n    "]
    for doc in [*candidates, f"{indented}\n    ", f"\n{instructions}", instructions]:
        if inspect.cleandoc(doc) == instructions:
            return text_literal(doc, block=True)
    raise SignatureError(
        "these instructions cannot be a docstring: cleaning changes them", hint="remove tabs and indentation"
    )
