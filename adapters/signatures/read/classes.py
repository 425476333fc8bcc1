"""Make models, enums, typed dicts, dataclasses and named tuples from syntax trees, as Python does.

The classes have the fields, docstrings and configuration of the source but no methods. `__not_run__` lists the methods
that pydantic would call (validators, serializers), for the notes of fields that use the class.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import types
import typing
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pydantic
import pydantic.dataclasses
import typing_extensions
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.signatures.read.annotations import LaterNames, QuotesKept, TypeReader, Unbuilt, keep_unbuilt
from adapters.signatures.read.names import Names
from adapters.signatures.read.source_text import (
    SourceText,
    bindings_of,
    docstring,
    is_class_variable,
    last_name,
    parsable,
    rebuilt_models,
    told,
)
from adapters.signatures.signature import MODULE
from adapters.types.recognition import is_custom_type

_DECORATORS = (
    *("field_validator", "model_validator", "validator", "root_validator"),
    *("field_serializer", "model_serializer", "computed_field"),
)
WITHOUT_FIELDS = (*(ast.FunctionDef, ast.AsyncFunctionDef, ast.Pass, ast.Expr, ast.Assert, ast.Import, ast.ImportFrom),)
"""Statements of a class body that do not declare a field; they are skipped, never run."""

_CONSTRUCTION = ("__init__", "__new__", "__post_init__", "model_post_init", "_missing_")
_SCHEMA_HOOKS = ("__get_pydantic_core_schema__", "__get_pydantic_json_schema__", "__class_getitem__")
_TYPE_HOOKS = (
    *("adapt_to_native_lm_feature", "parse_lm_response", "parse_stream_chunk", "is_streamable"),
    *("serialize_model", "extract_custom_type_from_annotation"),
)
_LIVE_HINT = "give a live class to the command line as module:Class"


class ModuleText:
    """The statements of a Python text, their bindings, and the classes made so far."""

    def __init__(self, source: SourceText) -> None:
        self.source, self.type_lines = parsable(source)
        self.statements = self.source.parse().body
        self.bindings = bindings_of(self.statements)
        future = [one for one in self.statements if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
        self.postponed = any(alias.name == "annotations" for one in future for alias in one.names)
        self.rebuilt = rebuilt_models(self.statements)
        self.unfinished: list[tuple[ClassMaker, type]] = []
        self.top = self.reader({})

    def look_up(self, name: str, node: ast.AST) -> object:
        """Find the meaning of a bound name at `node`. Raises SignatureError."""
        raise NotImplementedError

    def reader(self, local: Mapping[str, object]) -> TypeReader:
        """Make a reader that looks up `local` names before those of the module."""
        return TypeReader(self.source, Names(local, self.bindings, self.look_up))

    def make_class(self, node: ast.ClassDef, qualname: str, local: Mapping[str, object]) -> type:
        """Make the type that a class statement declares. Raises SignatureError."""
        maker = ClassMaker(self, node, qualname, local)
        made = maker.make()
        self.unfinished.append((maker, made))
        return made


@dataclasses.dataclass
class ClassBody:
    """The parts of a class statement that determine its type."""

    doc: str | None
    annotations: dict[str, ast.expr]
    values: dict[str, ast.expr]
    nested: dict[str, type]
    attribute_docs: dict[str, str]
    not_run: tuple[str, ...]


class ClassMaker:
    """Make the type that a class statement declares."""

    def __init__(self, around: ModuleText, node: ast.ClassDef, qualname: str, local: Mapping[str, object]) -> None:
        self.around = around
        self.source = around.source
        self.node = node
        self.qualname = qualname
        self.local = dict(local)
        self.reader = around.reader(self.local)

    def make(self) -> type:
        """Make the class. Raises SignatureError if that would require running code."""
        if getattr(self.node, "type_params", None):
            raise self.source.error(self.node, "generic classes are not supported", "write the class out for each type")
        bases = [self._base(one) for one in self.node.bases]
        decorator = self._dataclass_decorator()
        kind = self._kind(bases, decorator)
        body = self._body(in_enum=kind == "enum")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if kind == "enum":
                    made: Any = self._enum(bases, body)
                elif kind == "model":
                    made = self._model(bases, body)
                else:
                    made = self._class(bases, body, skip_private=False)
                if decorator is not None:
                    function, options = decorator
                    made = function(**options)(made)
        except (SignatureError, RecursionError):
            raise
        except Exception as error:  # pydantic raises many kinds of errors for invalid classes
            raise self.source.error(self.node, f"class {self.node.name}: {told(error)}") from None
        if is_custom_type(made):
            described = self._description()
            if described is not None:
                made.description = classmethod(lambda cls: described)
            if any(isinstance(one, ast.FunctionDef) and one.name == "format" for one in self.node.body):
                made.__format_is_code__ = True
        made.__built_from_source__ = True
        made.__not_run__ = body.not_run
        made.__nested__ = types.MappingProxyType(body.nested)
        return typing.cast(type, made)

    def _base(self, node: ast.expr) -> object:
        head = node.value if isinstance(node, ast.Subscript) else node
        found = self.reader.meaning(head) if isinstance(head, ast.Name | ast.Attribute) else None
        if isinstance(node, ast.Subscript):
            found = self.reader.annotation(node)
        if found is typing.TypedDict:
            return typing_extensions.TypedDict
        if isinstance(found, typing.ForwardRef):
            raise self.source.error(node, "a class cannot be its own base")
        if found is typing.Protocol:
            raise self.source.error(
                node, "a Protocol cannot be the type of a field", f"class {self.node.name}(pydantic.BaseModel)"
            )
        return found

    def _kind(self, bases: list[object], decorator: object) -> str:
        custom = next((node for base, node in zip(bases, self.node.bases, strict=True) if is_custom_type(base)), None)
        for statement in self.node.body if custom is not None else ():
            # Hooks of a custom dspy type would change a request.
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name in _TYPE_HOOKS:
                said = f"{self.node.name} is a custom dspy type whose {statement.name} is code, which is never run"
                raise self.source.error(custom or statement, said, _LIVE_HINT)
        if decorator is not None:
            return "dataclass"
        for base in bases:
            if base in (typing_extensions.TypedDict, typing.NamedTuple):
                return "typed dict" if base is typing_extensions.TypedDict else "named tuple"
            if isinstance(base, type):
                if issubclass(base, BaseModel):
                    return "model"
                if issubclass(base, enum.Enum):
                    return "enum"
            if typing_extensions.is_typeddict(typing.get_origin(base) or base):  # also `Base[int]`, a generic
                return "typed dict"
        raise self.source.error(
            self.node,
            f"class {self.node.name} is neither a pydantic model, an enum, a TypedDict, a NamedTuple nor a dataclass",
            f"class {self.node.name}(pydantic.BaseModel)",
        )

    def _description(self) -> str | None:
        """Return the text that `description()` of a custom type returns; None without that method."""
        for statement in self.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "description":
                lines = statement.body[1:] if docstring(statement) is not None else statement.body
                if len(lines) == 1 and isinstance(lines[0], ast.Return) and lines[0].value is not None:
                    told = self.reader.value(lines[0].value)
                    if isinstance(told, str):
                        return told
                raise self.source.error(
                    statement, f"the description of {self.node.name} is code, which is never run", _LIVE_HINT
                )
        return None

    def _dataclass_decorator(self) -> Any:
        found: object = None
        for node in self.node.decorator_list:
            call = node.func if isinstance(node, ast.Call) else node
            function: object = None
            if isinstance(call, ast.Name | ast.Attribute):
                with suppress(SignatureError):
                    function = self.reader.meaning(call)
            if function is dataclasses.dataclass or function is pydantic.dataclasses.dataclass:
                options = {}
                if isinstance(node, ast.Call):
                    options = {key: self.reader.value(value) for key, value in self.reader.keywords(node)}
                found = (function, options)
            elif function not in (enum.unique, typing.final, typing_extensions.final):
                raise self.source.error(
                    node, f"the decorator of {self.node.name} is code, which is never run", "leave it out"
                )
        return found

    def _body(self, in_enum: bool) -> ClassBody:
        annotations: dict[str, ast.expr] = {}
        values: dict[str, ast.expr] = {}
        nested: dict[str, type] = {}
        attribute_docs: dict[str, str] = {}
        last = ""
        not_run: list[str] = []
        statements = list(self.node.body)
        doc = docstring(self.node)
        for statement in statements[1:] if doc is not None else statements:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and last:
                attribute_docs[last] = str(statement.value.value)
            last = ""
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name)):
                    last = name
                    if not is_class_variable(statement.annotation):
                        annotations[name] = statement.annotation
                        if statement.value is not None:
                            values[name] = statement.value
                case ast.Assign(targets=targets, value=value) if all(isinstance(one, ast.Name) for one in targets):
                    for name in (one.id for one in targets if isinstance(one, ast.Name)):
                        if in_enum and name in values:
                            raise self.source.error(statement, f"`{name}` is a member of {self.node.name} already")
                        values[name] = value
                case ast.ClassDef(name="Config") if not in_enum:
                    nested["Config"] = self._config_class(statement)
                case ast.ClassDef(name=name):
                    nested[name] = self.around.make_class(statement, f"{self.qualname}.{name}", self.local)
                    self.local[name] = nested[name]
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    not_run.extend(self._method(statement))
                case _ if isinstance(statement, WITHOUT_FIELDS) and not isinstance(
                    statement, ast.ImportFrom | ast.Import
                ):
                    pass
                case _:
                    raise self.source.error(
                        statement, f"this statement in class {self.node.name} is code, which is never run"
                    )
        return ClassBody(doc, annotations, values, nested, attribute_docs, tuple(not_run))

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
        if node.name in _SCHEMA_HOOKS:
            raise self.source.error(node, f"{node.name} is code, which is never run", _LIVE_HINT)
        for decorator in node.decorator_list:
            name = last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name in _DECORATORS:
                return [f"{name} `{node.name}`"]
        return [f"method `{node.name}`"] if node.name in _CONSTRUCTION else []

    def _config_class(self, node: ast.ClassDef) -> type:
        values: dict[str, object] = {"__module__": MODULE, "__qualname__": f"{self.qualname}.Config"}
        for statement in node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values[name] = self.reader.value(value)
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case _:
                    raise self.source.error(statement, "this statement in Config is code, which is never run")
        return type("Config", (), values)

    def _keywords(self) -> dict[str, object]:
        keywords: dict[str, object] = {}
        for one in self.node.keywords:
            if one.arg is None or one.arg == "metaclass":
                raise self.source.error(one.value, "this class argument is code, which is never run", "leave it out")
            keywords[one.arg] = self.reader.value(one.value)
        return keywords

    def _names(self, body: ClassBody) -> dict[str, object]:
        names: dict[str, object] = {"__module__": MODULE, "__qualname__": self.qualname}
        if body.doc is not None:
            names["__doc__"] = body.doc
        return names

    def _class(self, bases: list[object], body: ClassBody, skip_private: bool) -> type:
        namespace = self._names(body)
        kept = {name: node for name, node in body.annotations.items() if not (skip_private and name.startswith("_"))}
        namespace["__annotations__"] = {name: self.reader.annotation(node) for name, node in kept.items()}
        for name, node in body.values.items():
            if not (skip_private and name.startswith("_")):
                namespace[name] = self._value(node)
        namespace.update(body.nested)
        keywords = self._keywords()
        self._describe(namespace, keywords, bases, body)
        return types.new_class(self.node.name, tuple(bases), keywords, lambda filled: filled.update(namespace))

    def _model(self, bases: list[object], body: ClassBody) -> type:
        made = self._class(bases, body, skip_private=True)
        if self.qualname not in self.around.rebuilt:
            found: dict[str, Unbuilt] = {}
            for name in made.__annotations__:
                written = body.annotations[name]
                names = LaterNames(self.reader.names, self.node.lineno)
                if names.may_occur_in(written):
                    TypeReader(self.source, names).annotation(written)
                if names.bound_at:
                    if self.around.postponed:
                        annotation: Any = typing.ForwardRef(ast.unparse(written))
                    else:
                        annotation = QuotesKept(self.source, self.reader.names).annotation(written)
                    info = FieldInfo.from_annotation(annotation)
                    if name in body.values:
                        info = FieldInfo.from_annotated_attribute(annotation, self._value(body.values[name]))
                    found[name] = Unbuilt(info, names.bound_at)
            keep_unbuilt(made, found, self.node.lineno)
        return made

    def _describe(
        self, namespace: dict[str, Any], keywords: Mapping[str, object], bases: list[object], body: ClassBody
    ) -> None:
        """Set the strings below fields as their descriptions (pydantic would read them from the file)."""
        config: dict[str, object] = {}
        for found in (*(getattr(base, "model_config", {}) for base in bases), namespace.get("model_config"), keywords):
            config.update(found if isinstance(found, Mapping) else {})
        if not config.get("use_attribute_docstrings"):
            return
        for name, doc in body.attribute_docs.items():
            info = namespace.get(name, ...)
            if name not in namespace["__annotations__"]:
                continue
            if not isinstance(info, FieldInfo):
                info = pydantic.Field(default=info)
            if info.description is None:
                described: Any = pydantic.Field(description=inspect.cleandoc(doc))
                namespace[name] = FieldInfo.merge_field_infos(described, info)

    def _value(self, node: ast.expr) -> object:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            if self.reader.meaning(node.func) is dataclasses.field:
                return dataclasses.field(**self.reader.arguments(node))
        return self.reader.value(node)

    def _enum(self, bases: list[object], body: ClassBody) -> type:
        refused = next((one for one in body.not_run if "__new__" in one or "__init__" in one), None)
        if refused is not None:
            raise self.source.error(
                self.node, f"enum {self.node.name}: {refused} is code, which is never run", _LIVE_HINT
            )

        def fill(namespace: dict[str, object]) -> None:
            for name, value in self._names(body).items():
                namespace[name] = value
            for name, node in body.values.items():
                namespace[name] = self.reader.value(node)
                # The namespace turns `auto()` into a number, and later members may name earlier ones.
                self.local[name] = namespace[name]

        return types.new_class(self.node.name, tuple(bases), self._keywords(), fill)

    def complete(self, made: type) -> None:
        """Replace forward references in `made` with the finished classes."""
        if issubclass(made, BaseModel) or issubclass(made, enum.Enum):
            return
        for statement in self.node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=written) if name in made.__annotations__:
                    if not is_class_variable(written):
                        annotation = self.reader.annotation(written)
                        made.__annotations__[name] = annotation
                        if name in getattr(made, "__dataclass_fields__", {}):
                            made.__dataclass_fields__[name].type = annotation  # type: ignore[attr-defined]
