"""A signature from the body of its class: fields, instructions, and what it has from those it inherits from."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from adapters.signatures.read import known_names
from adapters.signatures.read.annotation_reader import AnnotationReader
from adapters.signatures.read.classes import WITHOUT_FIELDS, docstring, is_class_variable
from adapters.signatures.read.classes import Surroundings as ClassSurroundings
from adapters.signatures.read.signature_calls import written_field
from adapters.signatures.read.signature_class import Draft, SignatureSource


class Surroundings(ClassSurroundings, Protocol):
    """What a signature needs of the text around it."""

    statements: list[ast.stmt]


class SignatureMaker:
    """Reads the signature that one class statement declares."""

    def __init__(self, around: Surroundings, node: ast.ClassDef) -> None:
        self._around = around
        self._node = node

    def make(self) -> SignatureSource:
        """The signature. Raises SignatureError for a statement of the class that means running code."""
        drafts: dict[str, Draft] = {}
        doc = docstring(self._node)
        inherited: str | None = None
        parents = [self._parent(one) for one in self._node.bases]
        for parent in reversed(parents):
            if parent is not None:
                drafts.update(parent.drafts)
        for parent in parents:
            if parent is not None and parent.inherited_doc != "":
                inherited = parent.inherited_doc
        local: dict[str, Any] = {}
        reader = self._around.reader(local)
        own: dict[str, Draft] = {}
        for statement in _taken(self._node.body[1:] if doc is not None else self._node.body, reader):
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    if not is_class_variable(annotation) and self._is_field(reader, name, value):
                        own[name] = self._draft(reader, statement, name, annotation, value)
                case ast.Assign(targets=[ast.Name(id="__doc__")], value=value):
                    doc = reader.constants.read(value)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if name != "model_config" and self._is_field(reader, name, value):
                        own[name] = self._draft(reader, statement, name, None, value)
                case ast.ClassDef(name=name):
                    local[name] = self._around.make_class(statement, f"{self._node.name}.{name}", local)
                case ast.AugAssign(target=ast.Name(id="__doc__"), op=ast.Add(), value=value) if doc is not None:
                    doc += str(reader.constants.read(value))
                case ast.Delete(targets=targets):
                    for target in targets:
                        own.pop(getattr(target, "id", ""), None)
                case _ if isinstance(statement, WITHOUT_FIELDS):
                    pass
                case _:
                    raise self._around.source.error(
                        statement, "this statement in a signature is code, which is never run"
                    )
        # dspy puts a field that is only annotated behind those with a value.
        drafts.update({name: draft for name, draft in own.items() if draft.info is not None})
        drafts.update(own)
        doc = self._told_below(doc)
        return SignatureSource(self._node.name, drafts, doc if doc is not None else inherited)

    def _told_below(self, doc: str | None) -> str | None:
        """The instructions that a statement behind the class gives it: `X.__doc__ = …`, `X.instructions = …`."""
        for statement in self._around.statements:
            match statement:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr="__doc__" | "instructions")]):
                    if name == self._node.name and statement.lineno > self._node.lineno:
                        told = self._around.reader({}).constants.read(statement.value)
                        if not isinstance(told, str):
                            raise self._around.source.error(statement, "instructions are a text")
                        doc = told
        return doc

    def _is_field(self, reader: AnnotationReader, name: str, value: ast.expr | None) -> bool:
        """Whether it is meant as a field: with an underscore in front it is one by InputField or OutputField alone."""
        if not name.startswith("_"):
            return True
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name | ast.Attribute):
            return False
        return isinstance(reader.expression(value.func), known_names.FieldMaker)

    def _parent(self, node: ast.expr) -> SignatureSource | None:
        found = self._around.reader({}).expression(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if found is known_names.SIGNATURE:
            return None
        if isinstance(found, SignatureSource):
            return found
        raise self._around.source.error(
            node, "a signature can only inherit from other signatures", "class X(dspy.Signature)"
        )

    def _draft(
        self, reader: AnnotationReader, node: ast.stmt, name: str, annotation: ast.expr | None, value: ast.expr | None
    ) -> Draft:
        info, notes = written_field(reader, name, node, value)
        if annotation is None:
            if info is not None and isinstance(info.json_schema_extra, dict):
                info.json_schema_extra["IS_TYPE_UNDEFINED"] = True
            return Draft(name, str, info, self._around.source, node, notes)
        return Draft(name, reader.read(annotation), info, self._around.source, node, notes)


def _taken(body: Sequence[ast.stmt], reader: AnnotationReader) -> Iterator[ast.stmt]:
    """The statements in the order in which Python comes to them: of an `if` over constants, one branch.

    Raises SignatureError for a condition that cannot be read without running code.
    """
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _taken(statement.body if reader.constants.read(statement.test) else statement.orelse, reader)
        else:
            yield statement
