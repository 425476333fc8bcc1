"""Edit a signature's text in place, without changing anything else.

Each function takes an outline and returns the new text. An edit that would lose other parts of the text raises
SignatureError with the reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.class_writer import is_name
from adapters.signatures.notation import read
from adapters.signatures.outline import ClassKind, ClassOutline, Member, Outline, outline_of, parse_source, uses_of
from adapters.signatures.read import known_names
from adapters.signatures.read.names import names_in
from adapters.signatures.read.source_text import Span, comments_in, is_literal, line_and_column, parse_expression
from adapters.signatures.source_writer import docstring, write_source
from adapters.signatures.value_writer import text_literal

_ELSEWHERE = "change it in the source"

_BEGINNING = """import dspy


class {name}(dspy.Signature):
    {field}: str = dspy.InputField()
"""


@dataclass(frozen=True)
class NewMember:
    """A new member: its name, kind as in `Member`, type (or an enum value's source) and description.

    A `description` of None keeps the current description.
    """

    name: str
    kind: str
    type_text: str = ""
    description: str | None = ""


def set_member(outline: Outline, of: ClassOutline, member: Member, wanted: NewMember) -> str:
    """Change a member's name, type, role or description, without rewriting unchanged parts."""
    _check_name(of, wanted.name, member)
    if outline.short:
        if wanted.description:
            return _source_form(outline, wanted, member)
        return _short_text(outline, [_spelled(wanted, one) if one is member else one for one in of.members])
    changes: list[tuple[Span, str]] = []
    if wanted.name != member.name:
        changes.append((member.name_span, wanted.name))
    if wanted.type_text != member.type_text:
        if member.type_span is not None:
            changes.append((member.type_span, wanted.type_text))
        else:
            changes.append((Span(member.name_span.end, member.name_span.end), f": {wanted.type_text}"))
    if wanted.kind != member.kind:
        changes.append(_role_change(outline, member, wanted.kind))
    if wanted.description is not None and wanted.description != member.description:
        changes.append(_description_change(outline, of, member, wanted.description))
    text = _apply_changes(outline.text, changes)
    is_other = member.kind != "value" and wanted.type_text != member.type_text
    needs = set(names_in(wanted.type_text)) if is_other else set()
    if wanted.description and member.kind == "member" and member.call is None:
        needs.add(_field_maker(outline).partition(".")[0])
    return _add_imports(text, needs)


def add_words(type_text: str, wanted: str) -> str:
    """Return the type `wanted`, as `type_text` with new words if its Literal only gained these."""
    old, new = parse_expression(type_text), parse_expression(wanted)
    if old is None or new is None:
        return wanted
    words = ast.unparse(new).removeprefix(ast.unparse(old).rstrip("]")).rstrip("]")
    if "'" not in type_text and '"' not in words and "\\" not in words:
        words = words.replace("'", '"')
    end = len(type_text.rstrip("], \t\n"))
    made = parse_expression(extended := type_text[:end] + words + type_text[end:])
    return extended if made is not None and ast.dump(made) == ast.dump(new) else wanted


def add_member(outline: Outline, of: ClassOutline, wanted: NewMember) -> str:
    """Add a member, after the last of its kind if there is one."""
    _check_name(of, wanted.name, None)
    if outline.short:
        if wanted.description:
            return _source_form(outline, wanted, None)
        return _short_text(outline, [*of.members, _spelled(wanted, None)])
    if not of.can_grow:
        raise _refused(outline, of.block.start, f"the body of {of.name} is on the same line as its name")
    line = f"{of.indent}{_written(outline, of, wanted)}\n"
    blocks = [(one.kind, one.block) for one in of.members if one.block is not None]
    same = [block for kind, block in blocks if kind == wanted.kind]
    if same:
        place = same[-1].end
    elif blocks:
        place = blocks[0][1].start if wanted.kind == "input" else blocks[-1][1].end
    else:
        place, line = of.body_end, f"\n{line}" if of.kind == "signature" else line
    text = _inserted(outline.text, place, line)
    needs = set(names_in(wanted.type_text)) if wanted.kind != "value" else set()
    if wanted.kind in ("input", "output"):
        needs.add(_field_maker(outline, wanted.kind).partition(".")[0])
    elif wanted.kind == "member" and wanted.description:
        needs.add(_field_maker(outline).partition(".")[0])
    return _add_imports(text, needs)


def delete_member(outline: Outline, of: ClassOutline, member: Member) -> str:
    """Delete a member; the comments above it stay."""
    if outline.short:
        return _short_text(outline, [one for one in of.members if one is not member])
    if member.block is None:
        raise _refused(outline, member.statement.start, f"{member.name} shares its line with something else")
    start = outline.text.rfind("\n", 0, member.statement.start) + 1
    classes = [one for one in parse_source(outline.text).body if isinstance(one, ast.ClassDef)]
    is_only = len(of.members) == 1 and any(one.name == of.name and len(one.body) == 1 for one in classes)
    return outline.text[:start] + (f"{of.indent}pass\n" if is_only else "") + outline.text[member.block.end :]


def move_member(outline: Outline, of: ClassOutline, member: Member, by: int) -> str:
    """Swap a member with the one `by` places further among its kind; return the same text if there is none."""
    alike = [one for one in of.members if one.kind == member.kind]
    to = alike.index(member) + by
    if not 0 <= to < len(alike):
        return outline.text
    other = alike[to]
    if outline.short:
        swapped = {id(member): other, id(other): member}
        return _short_text(outline, [swapped.get(id(one), one) for one in of.members])
    if member.block is None or other.block is None:
        raise _refused(outline, member.statement.start, f"{member.name} shares its line with something else")
    first, second = sorted((member.block, other.block))
    text = outline.text if outline.text.endswith("\n") else outline.text + "\n"
    second = Span(second.start, max(second.end, text.find("\n", second.end - 1) + 1))
    return text[: first.start] + second.of(text) + text[first.end : second.start] + first.of(text) + text[second.end :]


def set_instructions(outline: Outline, of: ClassOutline, instructions: str) -> str:
    """Replace a signature's docstring; empty instructions remove it."""
    if outline.short or not of.can_grow:
        raise _refused(outline, of.block.start, "instructions cannot be added here")
    text = outline.text
    if not instructions.strip():
        if of.docstring is None or not of.members:
            return text
        rest = text[text.find("\n", of.docstring.end) + 1 :]
        return text[: of.body_start] + rest.lstrip("\n")
    literal = docstring(instructions)
    if of.docstring is not None:
        return _apply_changes(text, [(of.docstring, literal)])
    return _inserted(text, of.body_start, f"{of.indent}{literal}\n\n")


def add_class(outline: Outline, name: str, kind: ClassKind) -> str:
    """Add a model or enum with one member before the first signature; a string becomes Python source."""
    _check_class_name(outline, name)
    if outline.short:
        return add_class(outline_of(write_source(read(outline.text))), name, kind)
    base = "BaseModel" if "BaseModel" in outline.bound else "pydantic.BaseModel"
    head, body = ("Enum", 'FIRST = "first"') if kind == "enum" else (base, "name: str")
    first = next((one for one in outline.classes if one.kind == "signature"), None)
    place = first.block.start if first is not None else len(outline.text)
    text = outline.text[:place] + f"class {name}({head}):\n    {body}\n\n\n" + outline.text[place:]
    return _add_imports(text, {head.partition(".")[0]})


def delete_class(outline: Outline, of: ClassOutline) -> str:
    """Delete a class. Raises SignatureError if it is used."""
    for place in sorted(uses_of(outline.text, of.name)):
        if not of.block.start <= place < of.block.end:
            raise _refused(outline, place, f"{of.name} is still used", "give that field another type first")
    return outline.text[: of.block.start] + outline.text[of.block.end :].lstrip("\n")


def rename_class(outline: Outline, of: ClassOutline, name: str) -> str:
    """Rename a class and its uses, also in quoted types, but not in comments and other strings."""
    if name == of.name:
        return outline.text
    _check_class_name(outline, name)
    places = {of.name_span.start, *uses_of(outline.text, of.name)}
    return _apply_changes(outline.text, [(Span(place, place + len(of.name)), name) for place in places])


def new_source(name: str, field: str) -> str:
    """Write the source of a new signature."""
    return _BEGINNING.format(name=name, field=field)


# inside


def _check_name(of: ClassOutline, name: str, member: Member | None) -> None:
    if not is_name(name):
        hint = re.sub(r"\W+", "_", name.strip()).strip("_").lower() or "answer"
        hint = f"_{hint}" if hint[:1].isdigit() else hint
        said = "a name consists of letters, digits and _, and is not a Python keyword"
        raise SignatureError(said, hint=f"{hint}_" if hint == name else hint)
    other = of.member(name)
    if other is not None and (member is None or other.name != member.name):
        raise SignatureError(f"{name} already exists", hint="each needs a unique name")


def _check_class_name(outline: Outline, name: str) -> None:
    if not is_name(name):
        raise SignatureError("a name consists of letters, digits and _, and is not a Python keyword", hint="LineItem")
    if name in outline.bound or name in known_names.bare_names():
        raise SignatureError(f"the name {name} is taken", hint="choose another name")


def _role_change(outline: Outline, member: Member, kind: str) -> tuple[Span, str]:
    if member.value_span is None:
        raise _refused(outline, member.statement.start, f"the role of {member.name} is not written here")
    found = re.compile(r"(\w+\s*\.\s*)?\b(Input|Output)Field\b").match(outline.text, member.value_span.start)
    if found is None:
        raise _refused(outline, member.value_span.start, f"the role of {member.name} is written in an unusual way")
    if found[1] is None:
        return Span(found.start(2), found.end()), _field_maker(outline, kind)
    return Span(found.start(2), found.end()), "InputField" if kind == "input" else "OutputField"


def _description_change(outline: Outline, of: ClassOutline, member: Member, description: str) -> tuple[Span, str]:
    text = outline.text
    if member.description is None:
        raise _refused(outline, member.statement.start, f"the description of {member.name} is code")
    if member.kind == "value" or of.kind == "record":
        raise _refused(outline, member.statement.start, f"{of.name}.{member.name} has no room for a description")
    keyword = f"{'description' if member.kind == 'member' else 'desc'}={text_literal(description)}"
    if member.description_span is not None:
        return _description_replaced(text, member.description_span, description)
    if member.call is not None and member.value_span is not None:
        closing = member.value_span.end - 1
        before = text[member.value_span.start : closing].rstrip()
        if comments_in(before.rpartition("\n")[2]):
            raise _refused(outline, closing, f"a comment ends the last line of {member.name}")
        separator = "" if before.endswith(("(", ",")) else ", "
        place = member.value_span.start + len(before)
        return Span(place, place), f"{separator or (' ' if before.endswith(',') else '')}{keyword}"
    field = _field_maker(outline)
    if member.value_span is None:
        end = member.statement.end
        return Span(end, end), f" = {field}({keyword})"
    return member.value_span, f"{field}(default={member.value_span.of(text)}, {keyword})"


def _description_replaced(text: str, span: Span, description: str) -> tuple[Span, str]:
    if description:
        return span, text_literal(description)
    # also remove the keyword and a comma next to it
    start = text.rfind("desc", 0, span.start)
    end = span.end
    behind = re.compile(r"\s*,\s*").match(text, end)
    before = re.compile(r",\s*$").search(text, 0, start)
    if behind is not None:
        end = behind.end()
    elif before is not None:
        start = before.start()
    return Span(start, end), ""


def _field_maker(outline: Outline, kind: str = "member") -> str:
    """Name the function that declares a field, as imported by the source: `Field` or `pydantic.Field`."""
    name = {"input": "InputField", "output": "OutputField"}.get(kind, "Field")
    if name in outline.bound:
        return name
    return f"pydantic.{name}" if kind == "member" else f"dspy.{name}"


def _written(outline: Outline, of: ClassOutline, wanted: NewMember) -> str:
    if wanted.kind == "value":
        return f"{wanted.name} = {wanted.type_text}"
    if wanted.kind == "member":
        described = (
            f" = {_field_maker(outline)}(description={text_literal(wanted.description)})" if wanted.description else ""
        )
        if described and of.kind == "record":
            raise SignatureError(f"{of.name} has no room for a description", hint="leave the description empty")
        return f"{wanted.name}: {wanted.type_text or 'str'}{described}"
    described = f"desc={text_literal(wanted.description)}" if wanted.description else ""
    return f"{wanted.name}: {wanted.type_text or 'str'} = {_field_maker(outline, wanted.kind)}({described})"


def _apply_changes(text: str, changes: list[tuple[Span, str]]) -> str:
    for span, new in sorted(changes, reverse=True):
        if comments_in(span.of(text)) and not set(comments_in(span.of(text))) <= set(comments_in(new)):
            line, column = line_and_column(text, span.start)
            raise SignatureError("the replaced text contains a comment", line, column, _ELSEWHERE)
        text = text[: span.start] + new + text[span.end :]
    return text


def _inserted(text: str, place: int, line: str) -> str:
    before = text[:place]
    return before + ("" if not before or before.endswith("\n") else "\n") + line + text[place:]


def _refused(outline: Outline, place: int, message: str, hint: str = _ELSEWHERE) -> SignatureError:
    return SignatureError(message, *line_and_column(outline.text, place), hint)


# the short notation


def _spelled(wanted: NewMember, member: Member | None) -> NewMember:
    untyped = member is not None and not member.type_text and wanted.type_text == "str"
    return replace(wanted, type_text="" if untyped else wanted.type_text)


def _short_text(outline: Outline, rows: Sequence[Member | NewMember]) -> str:
    if comments_in(outline.text):
        raise _refused(outline, 0, "there is a comment in this short signature")
    halves: dict[str, list[str]] = {"input": [], "output": []}
    for one in rows:
        halves[one.kind].append(f"{one.name}: {one.type_text}" if one.type_text else one.name)
    return " -> ".join(map(", ".join, halves.values())).strip()


def _source_form(outline: Outline, wanted: NewMember, member: Member | None) -> str:
    """Rewrite a short signature as Python source, to add a description."""
    source = outline_of(write_source(read(outline.text)))
    of = source.class_named(None)
    if of is None:
        raise SignatureError("this short signature cannot be written as Python source")
    found = of.member(member.name) if member is not None else None
    if found is None:
        return add_member(source, of, wanted)
    unchanged = member is not None and (wanted.type_text or "str") == (member.type_text or "str")
    return set_member(source, of, found, replace(wanted, type_text=found.type_text) if unchanged else wanted)


# imports


def _add_imports(text: str, names: set[str]) -> str:
    """Add imports for the names that the text does not bind."""
    try:
        outline = outline_of(text)
    except SignatureError:
        return text  # the error is reported when the text is read
    if outline.short:
        return text
    lines = {line for line in map(known_names.import_of, names - outline.bound) if line}
    new = sorted(line for line in lines if f"{line.partition(' import ')[0]} import *" not in text)
    if not new:
        return text
    place = outline.last_import
    return _inserted(text, place, "".join(f"{line}\n" for line in new) + ("" if place else "\n\n"))


def value_source(said: str) -> str:
    """Write an enum's value as source: literals as typed, everything else as a string."""
    return said.strip() if is_literal(said.strip()) else text_literal(said.strip())
