"""List the lines of the signature form."""

from __future__ import annotations

from typing import Literal, NamedTuple

from textual.content import Content

from adapters.signatures import outline_edits as change
from adapters.signatures.outline import ClassOutline, Member, Outline
from adapters.signatures.outline_edits import NewMember
from workbench.output.display import one_line
from workbench.tui.widgets.text.plain import QUIET, lines


class Row(NamedTuple):
    """A line of the form: a class, a member, a command to add to them, or a note."""

    kind: Literal["class", "member", "add", "begin", "note"]
    of: str = ""
    member: str = ""
    role: str = ""
    text: str = ""


def rows_of(outline: Outline | None, class_name: str | None) -> tuple[Row, ...]:
    """Return the lines: the signature's inputs and outputs, then every model and enum."""
    if outline is None:
        return (Row("begin", text="begin a signature, or paste one"),)
    signature = outline.class_named(class_name)
    if signature is None:
        return (Row("note", text="This signature is not a class of the text. Edit it in the source."),)
    rows = [Row("class", signature.name)]
    for role, word in (("input", "an input"), ("output", "an output")):
        rows += [Row("member", signature.name, one.name, role) for one in signature.members if one.kind == role]
        rows.append(Row("add", signature.name, role=role, text=f"add {word}"))
    for one in outline.classes:
        if one.kind == "signature":
            continue
        rows.append(Row("class", one.name))
        rows += [Row("member", one.name, member.name, member.kind) for member in one.members]
        rows.append(Row("add", one.name, text="add a value"))
    return tuple(rows)


def line_of(row: Row, outline: Outline | None) -> Content:
    of = outline.class_named(row.of) if outline is not None else None
    if row.kind == "class" and of is not None:
        name = of.name or "(short form)"
        return lines((f" {of.kind.capitalize()} ", QUIET), (one_line(name, 60), "bold $text-accent"))
    member = of.member(row.member) if of is not None and row.kind == "member" else None
    if member is None:
        sign = "+ " if row.kind in ("add", "begin") else ""
        return lines((f"   {sign}{row.text}", QUIET))
    role = {"input": "in ", "output": "out"}.get(member.kind, "·")
    described = member.description if member.description is not None else f"⟨{member.description_code}⟩"
    parts: list[tuple[str, str] | str] = [(f"   {role} ", QUIET), (f"{one_line(member.name, 40):<12}", "bold")]
    kind = one_line(member.type_text or ("" if member.kind == "value" else "str"), 60)
    parts.append((f" {kind}", "$text-secondary"))
    parts.append((f"  {one_line(described, 120)}" if described else "", QUIET))
    return lines(*parts)


def spelled(wanted: NewMember) -> NewMember:
    if wanted.kind != "value":
        return wanted
    return NewMember(wanted.name, wanted.kind, change.value_source(wanted.type_text), wanted.description)


def not_described(of: ClassOutline, member: Member | None) -> str:
    """Return why the description cannot be edited, or ""."""
    if of.kind == "record":
        return f"{of.name} cannot have descriptions; a model can"
    if member is not None and member.description is None:
        return f"The description is code: {one_line(member.description_code, 60)}. Edit it in the source."
    return ""
