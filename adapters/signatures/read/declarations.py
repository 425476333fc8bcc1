"""Read signatures from class bodies and from calls such as `dspy.Signature("a -> b")` and `Sig.append(…)`.

Calls are never made; their effect is applied to our own data. That includes calls that make types,
`Enum("Color", ["RED"])` and `TypedDict("Point", {"x": int})`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import typing_extensions
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.annotations import TypeReader
from adapters.signatures.read.classes import WITHOUT_FIELDS, ModuleText
from adapters.signatures.read.fields import (
    Draft,
    SignatureSource,
    check_shown,
    declaration_error,
    ineffective_arguments,
    make_fields,
)
from adapters.signatures.read.names import PARAMETERS, Names
from adapters.signatures.read.source_text import docstring, is_class_variable, told
from adapters.signatures.read.strings import read_string
from adapters.signatures.signature import MODULE, Signature, desc_text


def functional_enum(base: Any, call: ast.Call, reader: TypeReader) -> object:
    """Make an enum from a call such as `Enum("Color", ["RED", "BLUE"])`. Raises SignatureError."""
    name, members = (reader.value(one) for one in call.args)
    options = {key: reader.value(one) for key, one in reader.keywords(call) if key == "start"}
    try:
        return base(name, members, module=MODULE, **options)
    except (TypeError, ValueError) as error:
        raise reader.source.error(call, f"not an enum: {told(error)}") from None


def functional_typed_dict(call: ast.Call, reader: TypeReader) -> object:
    """Make a type from `TypedDict("Point", {"x": int})`; keys may be any text. Raises SignatureError."""
    name, fields = reader.value(call.args[0]), call.args[1]
    if not isinstance(name, str) or not isinstance(fields, ast.Dict) or None in fields.keys:
        raise reader.source.error(call, "unsupported form of TypedDict", 'TypedDict("Point", {"x": int})')
    keys = [reader.value(one) for one in fields.keys if one is not None]
    annotations = {str(key): reader.annotation(one) for key, one in zip(keys, fields.values, strict=True)}
    options = {key: reader.value(one) for key, one in reader.keywords(call) if key == "total"}
    make: Any = typing_extensions.TypedDict
    made = make(name, annotations, **options)
    made.__module__ = MODULE
    return made


_CALL_HINT = 'dspy.Signature("question -> answer", "Instructions.")'

_CHANGES = ("desc", "prefix", "constraints")


def written_field(
    reader: TypeReader, name: str, node: ast.AST, value: ast.expr | None
) -> tuple[FieldInfo | None, tuple[str, ...]]:
    """Read the field assigned to a name, or None, with notes on arguments that have no effect."""
    if value is None:
        return None, ()
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Attribute):
        function = reader.meaning(value.func)
        if isinstance(function, known_names.FieldMaker):
            return reader.dspy_field(function, value), ineffective_arguments(value)
    elif isinstance(value, ast.Name | ast.Attribute):
        shared = reader.meaning(value)
        if isinstance(shared, FieldInfo) and isinstance(shared.json_schema_extra, dict):
            return copy(shared), ()
    raise declaration_error(reader.source, node, name)


def signature_call(call: ast.Call, reader: TypeReader) -> Signature:
    """Read `dspy.Signature("question -> answer", "Instructions.")`, also with a dict of fields.

    Raises SignatureError. Rule: `dspy.signatures.signature.make_signature`.
    """
    given = dict(zip(("signature", "instructions", "signature_name", "custom_types"), call.args, strict=False))
    given.update(reader.keywords(call))
    told = reader.value(given["instructions"]) if "instructions" in given else None
    name = reader.value(given["signature_name"]) if "signature_name" in given else "StringSignature"
    if not isinstance(told, str | None) or not isinstance(name, str):
        raise reader.source.error(call, "instructions and names must be texts", _CALL_HINT)
    written = given.get("signature")
    if isinstance(written, ast.Dict):
        drafts = [_entry(reader, key, value) for key, value in zip(written.keys, written.values, strict=True)]
        return Signature.make(make_fields(drafts, name), told or None, name)
    text = reader.value(written) if written is not None else None
    if written is None or not isinstance(text, str):
        raise reader.source.error(call, "unsupported form of Signature(...)", _CALL_HINT)
    custom_types = _custom_types(given["custom_types"], reader) if "custom_types" in given else None
    try:
        # The string may use the names known at its call.
        names = Names(reader.names.local, reader.names.bound, lambda one, _: reader.names.look_up(one, written))
        return read_string(text, told, name, names, custom_types)
    except SignatureError as error:
        raise reader.source.error(written, error.message, error.hint) from None


def _custom_types(node: ast.expr, reader: TypeReader) -> dict[str, object] | None:
    """Read `custom_types={"Foo": Foo}`, which maps names in the string to types. Raises SignatureError."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if not isinstance(node, ast.Dict):
        raise reader.source.error(node, "custom_types must be a dict of types", 'custom_types={"Foo": Foo}')
    found: dict[str, object] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = reader.value(key) if key is not None else None
        if not isinstance(name, str):
            raise reader.source.error(key or value, "the name of a custom type must be a text", '{"Foo": Foo}')
        found[name] = reader.annotation(value)
    return found


def changed_signature(call: ast.Call, method: str, base: Signature, reader: TypeReader) -> Signature:
    """Apply `base.method(…)`. Raises SignatureError for arguments that dspy rejects or that are unsupported."""
    if len(call.args) > len(PARAMETERS[method]):
        raise reader.source.error(call, f"{method} takes {', '.join(PARAMETERS[method])}")
    given: dict[str, ast.expr] = dict(zip(PARAMETERS[method], call.args, strict=False))
    given.update(reader.keywords(call))

    def value(name: str, kind: type, default: object = None) -> Any:
        found = reader.value(given[name]) if name in given else default
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
            name = value("name", str)
            changes = {key: reader.value(one) for key, one in given.items() if key in _CHANGES}
            if "desc" in changes:
                check_shown("desc", given["desc"], changes["desc"], reader.source)
                changes["desc"] = desc_text(changes)
            if name not in base.fields:
                raise reader.source.error(call, f"there is no field `{name}`", ", ".join(base.fields))
            return base.with_updated_fields(name, _type_of(given, reader), **changes)
        case _:
            name = value("name", str)
            index = 0 if method == "prepend" else -1 if method == "append" else value("index", int)
            info, notes = written_field(reader, name, call, given.get("field"))
            annotation = _type_of(given, reader)
            draft = Draft(name, str if annotation is None else annotation, info, reader.source, call, notes)
            (field,) = make_fields([draft], base.name)
            try:
                return base.insert(index, name, field)
            except ValueError as error:
                raise reader.source.error(call, str(error)) from None


def _type_of(given: Mapping[str, ast.expr], reader: TypeReader) -> object:
    node = given.get("type_")
    return None if node is None or (isinstance(node, ast.Constant) and node.value is None) else reader.annotation(node)


def _entry(reader: TypeReader, key: ast.expr | None, value: ast.expr) -> Draft:
    """Read an entry `"name": (type, dspy.InputField())` or `"name": dspy.InputField()`."""
    name = reader.value(key) if key is not None else None
    if not isinstance(name, str) or not name.isidentifier():
        raise reader.source.error(key or value, "the name of a field must be a text", '"question": dspy.InputField()')
    annotation: object = str
    if isinstance(value, ast.Tuple) and len(value.elts) == 2:
        annotation = reader.annotation(value.elts[0])
        value = value.elts[1]
    info, notes = written_field(reader, name, value, value)
    return Draft(name, str if annotation is None else annotation, info, reader.source, key or value, notes)


def read_signature_class(module: ModuleText, node: ast.ClassDef) -> SignatureSource:
    """Read the signature that a class statement declares, with inherited fields.

    Raises SignatureError for statements that would require running code.
    """
    top = module.top
    drafts: dict[str, Draft] = {}
    doc = docstring(node)
    parents: list[SignatureSource] = []
    for base in node.bases:
        found = top.meaning(base) if isinstance(base, ast.Name | ast.Attribute) else None
        if isinstance(found, SignatureSource):
            parents.append(found)
        elif found is not known_names.SIGNATURE:
            said = "a signature can only inherit from other signatures"
            raise top.source.error(base, said, "class X(dspy.Signature)")
    for parent in reversed(parents):
        drafts.update(parent.drafts)
    inherited = next((one.inherited_doc for one in reversed(parents) if one.inherited_doc), None)
    local: dict[str, object] = {}
    reader = module.reader(local)
    own: dict[str, Draft] = {}
    for statement in _executed(node.body[1:] if doc is not None else node.body, reader):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                if not is_class_variable(annotation) and _is_field(reader, name, value):
                    own[name] = _draft(reader, statement, name, annotation, value)
            case ast.Assign(targets=[ast.Name(id="__doc__")], value=value):
                doc = reader.value(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if name != "model_config" and _is_field(reader, name, value):
                    own[name] = _draft(reader, statement, name, None, value)
            case ast.ClassDef(name=name):
                local[name] = module.make_class(statement, f"{node.name}.{name}", local)
            case ast.AugAssign(target=ast.Name(id="__doc__"), op=ast.Add(), value=value) if doc is not None:
                doc += str(reader.value(value))
            case ast.Delete(targets=targets):
                for target in targets:
                    own.pop(getattr(target, "id", ""), None)
            case _ if isinstance(statement, WITHOUT_FIELDS):
                pass
            case _:
                raise module.source.error(statement, "this statement in a signature is code, which is never run")
    # dspy puts fields without a value after those with a value.
    drafts.update({name: draft for name, draft in own.items() if draft.info is not None})
    drafts.update(own)
    # `X.__doc__ = …` or `X.instructions = …` below the class replaces its instructions.
    for statement in module.statements:
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=node.name), attr="__doc__" | "instructions")]):
                if statement.lineno > node.lineno:
                    doc = top.value(statement.value)
                    if not isinstance(doc, str):
                        raise module.source.error(statement, "instructions must be a text")
    return SignatureSource(node.name, drafts, doc if doc is not None else inherited)


def _is_field(reader: TypeReader, name: str, value: ast.expr | None) -> bool:
    """Test whether a name is a field; with a leading underscore, only if it is an InputField or OutputField."""
    if not name.startswith("_"):
        return True
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name | ast.Attribute):
        return False
    return isinstance(reader.meaning(value.func), known_names.FieldMaker)


def _draft(reader: TypeReader, node: ast.stmt, name: str, annotation: ast.expr | None, value: ast.expr | None) -> Draft:
    info, notes = written_field(reader, name, node, value)
    if annotation is not None:
        return Draft(name, reader.annotation(annotation), info, reader.source, node, notes)
    if info is not None and isinstance(info.json_schema_extra, dict):
        info.json_schema_extra["IS_TYPE_UNDEFINED"] = True
    return Draft(name, str, info, reader.source, node, notes)


def _executed(body: Sequence[ast.stmt], reader: TypeReader) -> Iterator[ast.stmt]:
    """Yield the statements that Python would execute, with only the taken branch of each `if`.

    Raises SignatureError for a condition that is not constant.
    """
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _executed(statement.body if reader.value(statement.test) else statement.orelse, reader)
        else:
            yield statement
