"""What calls make: signatures (`dspy.Signature("a -> b")`, `make_signature(…)`, `Sig.append(…)` and the like), and
classes (`Enum("Color", ["RED"])`, `TypedDict("Point", {"x": int})`).

The calls are read, and what they do is done to our own data; nothing of the text is called.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import typing_extensions
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.annotation_reader import AnnotationReader, Names
from adapters.signatures.read.classes import MODULE
from adapters.signatures.read.field_calls import check_shown, without_effect
from adapters.signatures.read.signature_class import Draft, make_fields
from adapters.signatures.read.source_text import told
from adapters.signatures.read.strings import read_string
from adapters.signatures.signature import Signature, desc_text


def functional_enum(base: Any, call: ast.Call, reader: AnnotationReader) -> Any:
    """The enum that a call makes, such as `Enum("Color", ["RED", "BLUE"])`. Raises SignatureError."""
    constants = reader.constants
    name, members = (constants.read(one) for one in call.args)
    options = {key: constants.read(one) for key, one in constants.keywords(call) if key == "start"}
    try:
        return base(name, members, module=MODULE, **options)
    except (TypeError, ValueError) as error:
        raise reader.source.error(call, f"not an enum: {told(error)}") from None


def functional_typed_dict(call: ast.Call, reader: AnnotationReader) -> Any:
    """`Point = TypedDict("Point", {"x": int})`, whose keys need not be names. Raises SignatureError."""
    constants = reader.constants
    name, fields = constants.read(call.args[0]), call.args[1]
    if not isinstance(name, str) or not isinstance(fields, ast.Dict) or None in fields.keys:
        raise reader.source.error(call, "this TypedDict is not read", 'TypedDict("Point", {"x": int})')
    keys = [constants.read(one) for one in fields.keys if one is not None]
    annotations = {str(key): reader.read(one) for key, one in zip(keys, fields.values, strict=True)}
    options = {key: constants.read(one) for key, one in constants.keywords(call) if key == "total"}
    make: Any = typing_extensions.TypedDict
    made = make(name, annotations, **options)
    made.__module__ = MODULE
    return made


_CALL_HINT = 'dspy.Signature("question -> answer", "Instructions.")'

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "with_instructions": ("instructions",),
    "append_instructions": ("instructions",),
    "with_updated_fields": ("name", "type_"),
    "prepend": ("name", "field", "type_"),
    "append": ("name", "field", "type_"),
    "insert": ("index", "name", "field", "type_"),
    "delete": ("name",),
}
"""dspy's methods that make a new signature of one, with the names of their positional arguments."""

_CHANGES = ("desc", "prefix", "constraints")


def written_field(
    reader: AnnotationReader, name: str, node: ast.AST, value: ast.expr | None
) -> tuple[FieldInfo | None, tuple[str, ...]]:
    """The field that stands behind a name, and what of it has no effect; None where nothing stands there."""
    if value is None:
        return None, ()
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Attribute):
        function = reader.expression(value.func)
        if isinstance(function, known_names.FieldMaker):
            return reader.constants.read(value), without_effect(value)
    elif isinstance(value, ast.Name | ast.Attribute):
        shared = reader.expression(value)
        if isinstance(shared, FieldInfo) and isinstance(shared.json_schema_extra, dict):
            return copy(shared), ()
    raise reader.source.error(
        node, f"field `{name}` must be declared with InputField or OutputField", f"{name}: ... = dspy.InputField()"
    )


def signature_call(call: ast.Call, reader: AnnotationReader, names: Names) -> Signature:
    """`dspy.Signature("question -> answer", "Instructions.")`, or with a dict of fields; `names` are the text's own.

    Raises SignatureError. Rule: `dspy.signatures.signature.make_signature`.
    """
    given = dict(zip(("signature", "instructions", "signature_name", "custom_types"), call.args, strict=False))
    given.update(reader.constants.keywords(call))
    told = reader.constants.read(given["instructions"]) if "instructions" in given else None
    name = reader.constants.read(given["signature_name"]) if "signature_name" in given else "StringSignature"
    if not isinstance(told, str | None) or not isinstance(name, str):
        raise reader.source.error(call, "instructions and names are texts", _CALL_HINT)
    written = given.get("signature")
    if isinstance(written, ast.Dict):
        drafts = [_entry(reader, key, value) for key, value in zip(written.keys, written.values, strict=True)]
        return Signature.make(make_fields(drafts, name), told or None, name)
    text = reader.constants.read(written) if written is not None else None
    if written is None or not isinstance(text, str):
        raise reader.source.error(call, "this call of Signature is not read", _CALL_HINT)
    custom_types = _custom_types(given["custom_types"], reader) if "custom_types" in given else None
    try:
        return read_string(text, told, name, _NamesBeside(names, written), custom_types)
    except SignatureError as error:
        raise reader.source.error(written, error.message, error.hint) from None


def _custom_types(node: ast.expr, reader: AnnotationReader) -> dict[str, Any] | None:
    """`custom_types={"Foo": Foo}`: types by the names that the string uses. Raises SignatureError."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if not isinstance(node, ast.Dict):
        raise reader.source.error(node, "custom_types is read as a dict of types", 'custom_types={"Foo": Foo}')
    found: dict[str, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = reader.constants.read(key) if key is not None else None
        if not isinstance(name, str):
            raise reader.source.error(key or value, "a custom type needs a name that is a text", '{"Foo": Foo}')
        found[name] = reader.read(value)
    return found


class _NamesBeside:
    """Names in a signature's string, where dspy knows those of the text around it too (`custom_types`)."""

    def __init__(self, around: Names, node: ast.AST) -> None:
        self.around = around
        self.node = node

    def find(self, name: str, node: ast.AST) -> Any:
        return self.around.find(name, self.node)

    def suggestions(self) -> Sequence[str]:
        return self.around.suggestions()


def changed_signature(call: ast.Call, method: str, base: Signature, reader: AnnotationReader) -> Signature:
    """`base.method(…)`. Raises SignatureError for arguments that are not read and for what dspy refuses."""
    if len(call.args) > len(PARAMETERS[method]):
        raise reader.source.error(call, f"{method} takes {', '.join(PARAMETERS[method])}")
    given: dict[str, ast.expr] = dict(zip(PARAMETERS[method], call.args, strict=False))
    given.update(reader.constants.keywords(call))

    def value(name: str, kind: type, default: Any = None) -> Any:
        found = reader.constants.read(given[name]) if name in given else default
        if not isinstance(found, kind):
            raise reader.source.error(call, f"{method} needs {name}: {kind.__name__}")
        return found

    match method:
        case "with_instructions":
            return base.with_instructions(value("instructions", str))
        case "append_instructions":
            return base.append_instructions(value("instructions", str))
        case "delete":
            try:
                return base.delete(value("name", str))
            except ValueError as error:
                raise reader.source.error(call, str(error)) from None
        case "with_updated_fields":
            return _updated(call, base, given, reader, value("name", str))
        case _:
            name = value("name", str)
            index = {"prepend": 0, "append": -1}.get(method)
            return _inserted(call, base, given, reader, name, value("index", int) if index is None else index)


def _type_of(given: Mapping[str, ast.expr], reader: AnnotationReader) -> Any:
    node = given.get("type_")
    return None if node is None or (isinstance(node, ast.Constant) and node.value is None) else reader.read(node)


def _updated(
    call: ast.Call, base: Signature, given: Mapping[str, ast.expr], reader: AnnotationReader, name: str
) -> Signature:
    changes = {key: reader.constants.read(one) for key, one in given.items() if key in _CHANGES}
    if "desc" in changes:
        check_shown("desc", given["desc"], changes["desc"], reader.source)
        changes["desc"] = desc_text(changes)
    if name not in base.fields:
        raise reader.source.error(call, f"there is no field `{name}`", ", ".join(base.fields))
    return base.with_updated_fields(name, _type_of(given, reader), **changes)


def _inserted(
    call: ast.Call, base: Signature, given: Mapping[str, ast.expr], reader: AnnotationReader, name: str, index: int
) -> Signature:
    info, notes = written_field(reader, name, call, given.get("field"))
    annotation = _type_of(given, reader)
    draft = Draft(name, str if annotation is None else annotation, info, reader.source, call, notes)
    (field,) = make_fields([draft], base.name)
    try:
        return base.insert(index, name, field)
    except ValueError as error:
        raise reader.source.error(call, str(error)) from None


def _entry(reader: AnnotationReader, key: ast.expr | None, value: ast.expr) -> Draft:
    """`"name": (type, dspy.InputField())` or `"name": dspy.InputField()`."""
    name = reader.constants.read(key) if key is not None else None
    if not isinstance(name, str) or not name.isidentifier():
        raise reader.source.error(key or value, "a field needs a name that is a text", '"question": dspy.InputField()')
    annotation: Any = str
    if isinstance(value, ast.Tuple) and len(value.elts) == 2:
        annotation = reader.read(value.elts[0])
        value = value.elts[1]
    info, notes = written_field(reader, name, value, value)
    return Draft(name, str if annotation is None else annotation, info, reader.source, key or value, notes)
