"""Index a signature's declarations and their spans, for edits in place."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import lru_cache
from typing import Literal

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.notation import class_names, is_source
from adapters.signatures.read.source_text import (
    SourceText,
    Span,
    bindings_of,
    check_size,
    last_name,
    parsable,
    parse_expression,
)

MemberKind = Literal["input", "output", "member", "value"]
ClassKind = Literal["signature", "model", "record", "enum"]

_ENUMS = ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")
_DESCRIPTIONS = {"input": "desc", "output": "desc", "member": "description"}


@dataclass(frozen=True)
class Member:
    """A field of a signature or model, or a value of an enum, as written.

    `block` covers its lines and the comments directly above; it is None if other code shares the lines. If the
    description is code, `description` is None and `description_code` its source. For an enum's value, `type_text` and
    `type_span` are those of the value's source.
    """

    name: str
    kind: MemberKind
    name_span: Span
    statement: Span
    type_text: str = ""
    type_span: Span | None = None
    value_span: Span | None = None
    call: ast.Call | None = None
    description: str | None = ""
    description_code: str = ""
    description_span: Span | None = None
    block: Span | None = None


@dataclass(frozen=True)
class ClassOutline:
    """A class with its members in text order. `can_grow` is False if the body is on the `class` line."""

    name: str
    kind: ClassKind
    name_span: Span
    block: Span
    members: tuple[Member, ...]
    indent: str
    body_end: int
    body_start: int
    docstring: Span | None = None
    can_grow: bool = True

    def member(self, name: str) -> Member | None:
        return next((one for one in self.members if one.name == name), None)


@dataclass(frozen=True)
class Outline:
    """The declarations of a valid text. The string notation has a single class, named ""."""

    text: str
    short: bool
    classes: tuple[ClassOutline, ...]
    bound: frozenset[str] = frozenset()
    last_import: int = 0
    """Offset at which to insert imports."""

    def class_named(self, name: str | None) -> ClassOutline | None:
        """Find a class by its name, or the last signature if `name` is None."""
        if name is None:
            return next((one for one in reversed(self.classes) if one.kind == "signature"), None)
        return next((one for one in reversed(self.classes) if one.name == name), None)

    @property
    def types(self) -> tuple[str, ...]:
        """The names of the models, records and enums."""
        return tuple(one.name for one in self.classes if one.kind != "signature")


@lru_cache(maxsize=32)
def outline_of(text: str) -> Outline:
    """Outline a text in either notation. Raises SignatureError if it cannot be parsed."""
    if not is_source(text):
        return _short(text)
    check_size(text)
    signatures = class_names(text)
    source, _ = parsable(SourceText.of(text))
    tree = source.parse()
    reader = _Reader(source, text)
    kinds: dict[str, ClassKind] = {}
    found = []
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        kind = "signature" if node.name in signatures else _kind(node, kinds)
        if kind is not None:
            kinds[node.name] = kind
            found.append(reader.class_outline(node, kind))
    place = 0  # for new imports: after the imports above the first class, or the docstring
    for index, node in enumerate(tree.body):
        is_doc = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or is_doc:
            place = reader.line_end(source.span(node).end)
        elif isinstance(node, ast.ClassDef):
            break
    return Outline(text, False, tuple(found), frozenset(bindings_of(tree.body)), place)


def parse_source(text: str) -> ast.Module:
    """Parse a source, with the position of each node as in `text`. Raises SignatureError."""
    return parsable(SourceText.of(text))[0].parse()


def _kind(node: ast.ClassDef, known: dict[str, ClassKind]) -> ClassKind | None:
    """Classify a class by its bases and decorators; None for other kinds."""
    bases = [last_name(one) for one in node.bases]
    for base in bases:
        if base in known and known[base] != "signature":
            return known[base]
    if any(base in _ENUMS for base in bases):
        return "enum"
    if "BaseModel" in bases:
        return "model"
    decorators = [last_name(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
    return "record" if "dataclass" in decorators or "TypedDict" in bases or "NamedTuple" in bases else None


@dataclass(eq=False)
class _Reader:
    _source: SourceText
    _text: str  # may differ from the parsed text, but has the same offsets

    def class_outline(self, node: ast.ClassDef, kind: ClassKind) -> ClassOutline:
        first = node.body[0]
        begin = self._source.span(first).start
        start = self._line_start(begin)
        can_grow = not self._text[start:begin].strip() and first.lineno > node.lineno
        members = [one for one in (self._member(statement, kind) for statement in node.body) if one is not None]
        whole = self._source.span(node)
        decorated = min([whole.start, *(self._source.span(one).start for one in node.decorator_list)])
        name = re.compile(r"class\s+(\w+)").search(self._text, whole.start)
        return ClassOutline(
            node.name,
            kind,
            Span(*name.span(1)) if name is not None else Span(whole.start, whole.start),
            Span(self._include_comments(self._line_start(decorated)), self.line_end(whole.end)),
            tuple(members),
            self._text[start:begin] if can_grow else "    ",
            self.line_end(self._source.span(node.body[-1]).end),
            start,
            self._source.span(first) if ast.get_docstring(node, clean=False) is not None else None,
            can_grow,
        )

    def _member(self, node: ast.stmt, kind: ClassKind) -> Member | None:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name) as target) if kind != "enum":
                annotation, value = self._source.span(node.annotation), node.value
                if last_name(getattr(node.annotation, "value", node.annotation)) == "ClassVar":
                    return None
                role: MemberKind | None = _role(value) if kind == "signature" else "member"
                typed: tuple[str, Span | None] = (annotation.of(self._text), annotation)
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if name != "model_config":
                role = "value" if kind == "enum" else _role(value) if kind == "signature" else None
                typed = (
                    ("", None)
                    if kind != "enum"
                    else (self._source.span(value).of(self._text), self._source.span(value))
                )
            case _:
                return None
        if role is None or (kind == "enum" and name.startswith("_")):
            return None
        call = described = None
        if isinstance(value, ast.Call) and (kind == "signature" or last_name(value.func) == "Field"):
            call = value
            described = next((one.value for one in call.keywords if one.arg == _DESCRIPTIONS.get(role)), None)
        constant = described.value if isinstance(described, ast.Constant) else None
        is_text = isinstance(constant, str)
        statement = self._source.span(node)
        return Member(
            name,
            role,
            self._source.span(target),
            statement,
            *typed,
            value_span=self._source.span(value) if value is not None else None,
            call=call,
            description=constant if isinstance(constant, str) else None if described else "",
            description_code=self._source.span(described).of(self._text) if described and not is_text else "",
            description_span=self._source.span(described) if described else None,
            block=self._block(statement),
        )

    def _block(self, statement: Span) -> Span | None:
        start, end = self._line_start(statement.start), self.line_end(statement.end)
        behind = self._text[statement.end : end].strip()
        if self._text[start : statement.start].strip() or (behind and not behind.startswith("#")):
            return None
        return Span(self._include_comments(start), end)

    def _include_comments(self, start: int) -> int:
        while start > 0:
            above = self._line_start(start - 1)
            if not self._text[above:start].lstrip().startswith("#"):
                return start
            start = above
        return start

    def _line_start(self, place: int) -> int:
        return self._text.rfind("\n", 0, place) + 1

    def line_end(self, place: int) -> int:
        """Return the offset after the line break that follows `place`."""
        end = self._text.find("\n", place)
        return len(self._text) if end < 0 else end + 1


def _role(value: ast.expr | None) -> MemberKind | None:
    name = last_name(value.func) if isinstance(value, ast.Call) else ""
    if name == "InputField":
        return "input"
    return "output" if name == "OutputField" else None


_HEAD = "def f("


def _short(text: str) -> Outline:
    """Outline the string notation by parsing each half as the parameters of a function."""
    halves = text.split("->")
    if len(halves) != 2:
        raise SignatureError("a short signature has one `->` between inputs and outputs", 1, 1, "question -> answer")
    members: list[Member] = []
    start = 0
    roles: tuple[MemberKind, MemberKind] = ("input", "output")
    for role, half in zip(roles, halves, strict=True):
        source = SourceText(f"{_HEAD}{half}): pass", text, start, len(half), len(_HEAD))
        function = source.parse().body[0]
        for one in function.args.args if isinstance(function, ast.FunctionDef) else ():
            shift = start - len(_HEAD)
            begin, end = [place + shift for place in source.span(one)]
            name = Span(begin, begin + len(one.arg))
            member = Member(one.arg, role, name, Span(begin, end))
            if one.annotation is not None:
                typed = Span(source.span(one.annotation)[0] + shift, end)
                member = replace(member, type_text=typed.of(text), type_span=typed)
            members.append(member)
        start += len(half) + 2
    whole = Span(0, len(text))
    return Outline(text, True, (ClassOutline("", "signature", Span(0, 0), whole, tuple(members), "", len(text), 0),))


def uses_of(text: str, name: str) -> set[int]:
    """Find the offsets (code points) of all references to `name`, without its own class statement.

    Quoted types count (`"list[Item]"`); choices (`Literal["Item"]`), descriptions and comments do not. Raises
    SignatureError for a text nested too deeply.
    """
    found = _Uses(text, name)
    try:
        found.visit(parse_source(text))
    except RecursionError:
        raise SignatureError("nested too deeply to be changed here", hint="change it in the source") from None
    return found.places


class _Uses:
    """The references to a name in a text, as offsets."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.places: set[int] = set()
        self.source = SourceText.of(text)

    def visit(self, node: ast.AST, is_type: bool = False) -> None:
        """Visit a node and its parts. Strings in a type are types, except in a Literal or the metadata of Annotated."""
        types: list[ast.expr] = []
        others: list[ast.AST] = []
        match node:
            case ast.Name(id=name):
                if name == self.name:
                    self.places.add(self.source.index(node.lineno, node.col_offset))
            case ast.Constant(value=str() as quoted) if is_type:
                self._quoted(node, quoted, 0)
            case ast.Subscript(value=head, slice=inner) if is_type:
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                count = {"Literal": 0, "Annotated": 1}.get(last_name(head), len(items))
                types, others = [head, *items[:count]], [*items[count:]]
            case ast.BinOp(left=left, right=right) if is_type:
                types = [left, right]
            case ast.List(elts=items) | ast.Tuple(elts=items) if is_type:
                types = items
            case ast.AnnAssign(annotation=annotation, value=value):
                types, others = [annotation], [] if value is None else [value]
            case ast.Assign(value=ast.Subscript() | ast.BinOp() as value):
                types = [value]
            case ast.Assign(value=value):
                others = [value]
            case ast.ClassDef():
                types, others = node.bases, [*node.keywords, *node.decorator_list, *node.body]
            case _:
                others = list(ast.iter_child_nodes(node))
                if isinstance(node, ast.Call) and last_name(node.func) in ("Signature", "make_signature"):
                    self._visit_signature(node)
        for one in types:
            self.visit(one, True)
        for other in others:
            self.visit(other)

    def _visit_signature(self, call: ast.Call) -> None:
        """Visit the types that the string of `dspy.Signature("question -> bill: Bill")` names."""
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and "->" in first.value:
            with suppress(SignatureError):
                for one in _short(first.value).classes[0].members:
                    if one.type_span is not None:
                        self._quoted(first, one.type_text, one.type_span.start)

    def _quoted(self, node: ast.expr, quoted: str, position: int) -> None:
        """Visit a quoted type that starts `position` characters after the opening quote."""
        start = self.source.index(node.lineno, node.col_offset) + 1 + position
        if self.source.text[start : start + len(quoted)] != quoted:
            return  # escapes, a prefix or triple quotes, which are not used for types
        inner = parse_expression(f"({quoted})")
        if inner is not None:
            within = _Uses(f"({quoted})", self.name)
            within.visit(inner, True)
            self.places |= {start - 1 + place for place in within.places}
