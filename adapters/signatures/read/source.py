"""Python source with `class X(dspy.Signature)` and the models, enums and constants around it, read and never run."""

from __future__ import annotations

import ast
import enum
import typing
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import typing_extensions
from pydantic import BaseModel

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.annotation_reader import AnnotationReader
from adapters.signatures.read.bindings import Binding, bindings_of, parsable
from adapters.signatures.read.classes import MODULE, ClassMaker
from adapters.signatures.read.signature_body import SignatureMaker
from adapters.signatures.read.signature_calls import (
    PARAMETERS,
    changed_signature,
    functional_enum,
    functional_typed_dict,
    signature_call,
)
from adapters.signatures.read.signature_class import SignatureSource
from adapters.signatures.read.source_text import SourceText, told
from adapters.signatures.read.unbuilt_models import are_postponed, rebuilt_models
from adapters.signatures.signature import Signature


class ModuleNames:
    """Names as a piece of the module sees them: `local` ones first."""

    def __init__(self, module: SourceModule, local: Mapping[str, Any]) -> None:
        self.module = module
        self.local = local

    def find(self, name: str, node: ast.AST) -> Any:
        if name in self.local:
            return self.local[name]
        return self.module.find(name, node)

    def suggestions(self) -> Sequence[str]:
        return sorted({*self.local, *self.module.bindings, *known_names.bare_names()})


class SourceModule:
    """A Python text. Only what the chosen signature uses is looked at."""

    def __init__(self, source: SourceText) -> None:
        self.source, self.type_lines = parsable(source)
        self.statements = self.source.parse().body
        self.bindings = bindings_of(self.statements)
        self.postponed = are_postponed(self.statements)
        self.rebuilt = rebuilt_models(self.statements)
        self._meanings: dict[Binding, Any] = {}
        self._making: list[Binding] = []
        self._unfinished: list[tuple[ClassMaker, type]] = []
        self._forward: list[Binding] = []

    def reader(self, local: Mapping[str, Any]) -> AnnotationReader:
        return AnnotationReader(self.source, ModuleNames(self, local))

    def signature_names(self) -> tuple[str, ...]:
        """The names that are bound to signatures at the end of the module, in order."""
        last = [one[-1] for one in self.bindings.values()]
        last.sort(key=lambda one: one.node.lineno)
        return tuple(one.name for one in last if self._is_signature(one, ()))

    def signature(self, class_name: str | None) -> Signature:
        """The signature of that name, or the only one. Raises SignatureError."""
        names = self.signature_names()
        if class_name is None:
            if len(names) != 1:
                raise self._choice(names)
            class_name = names[0]
        elif class_name not in names:
            raise self._no_such(class_name, names)
        binding = self.bindings[class_name][-1]
        found = self._meaning(binding, binding.node)
        return found.make() if isinstance(found, SignatureSource) else typing.cast(Signature, found)

    def _choice(self, names: tuple[str, ...]) -> SignatureError:
        if names:
            place = self.bindings[names[1]][-1].node
            return self.source.error(place, f"several signatures: {', '.join(names)}", "choose one by its class name")
        for bound in self.bindings.values():
            self._refuse_rebinding(bound)
            if isinstance(bound[-1].node, ast.ClassDef):
                for base in bound[-1].node.bases:
                    if isinstance(base, ast.Name | ast.Attribute):
                        self.reader({}).expression(base)
                return self.source.error(
                    bound[-1].node,
                    "no class of this text is a dspy.Signature",
                    f"class {bound[-1].name}(dspy.Signature)",
                )
        return SignatureError("no signature in this text", 1, 1, 'class X(dspy.Signature): … or "question -> answer"')

    def _no_such(self, name: str, names: tuple[str, ...]) -> SignatureError:
        listed = f"there is {', '.join(names)}" if names else "this text has no signature"
        bound = self.bindings.get(name)
        if bound is None:
            return SignatureError(f"no signature `{name}`", 1, 1, listed)
        self._refuse_rebinding(bound)
        return self.source.error(bound[-1].node, f"`{name}` is not a dspy.Signature", listed)

    def _refuse_rebinding(self, bound: list[Binding]) -> None:
        if not self._is_signature(bound[-1], ()) and any(self._is_signature(one, ()) for one in bound):
            raise self.source.error(bound[-1].node, f"`{bound[-1].name}` is computed here, and nothing is run")

    def find(self, name: str, node: ast.AST) -> Any:
        """The meaning of a name at `node`: bound above it, else bound below, else as if imported."""
        bound = self.bindings.get(name)
        if bound is None:
            return known_names.bare(name)
        line = getattr(node, "lineno", 0)
        before = [one for one in bound if one.node.lineno <= line and one not in self._making[-1:]]
        chosen = before[-1] if before else bound[0]
        if self._making and chosen is self._making[-1] and not isinstance(chosen.node, ast.ClassDef):
            return known_names.bare(name)
        return self._meaning(chosen, node)

    def _meaning(self, binding: Binding, use: ast.AST) -> Any:
        if binding in self._meanings:
            return self._meanings[binding]
        if isinstance(binding.node, ast.Import | ast.ImportFrom):
            found = self._imported(binding, use)
        elif binding in self._making:
            self._forward.append(binding)
            return typing.ForwardRef(binding.name)
        else:
            forward = len(self._forward)
            self._making.append(binding)
            try:
                found = self._made(binding, use)
            finally:
                self._making.pop()
            if isinstance(found, typing.ForwardRef):
                raise self.source.error(use, f"`{binding.name}` is defined by itself")
            if self._making and len(self._forward) > forward and not isinstance(binding.node, ast.ClassDef):
                # An alias of a class that is being made: it is read again when the class exists.
                return found
        self._meanings[binding] = found
        if not self._making:
            self._finish()
        return found

    def _imported(self, binding: Binding, use: ast.AST) -> Any:
        path = binding.path
        module = known_names.known_module(path)
        if module is not None:
            return module
        owner_name, _, name = path.rpartition(".")
        owner = known_names.known_module(owner_name)
        if owner is None:
            if isinstance(binding.node, ast.Import) and known_names.known_module(path.partition(".")[0]):
                return known_names.known_module(path.partition(".")[0])
            raise self.source.error(
                use,
                f"`{binding.name}` is imported from {owner_name or path}, which is not read",
                "put its definition into this text",
            )
        try:
            return known_names.member(owner, name)
        except LookupError:
            raise self.source.error(use, f"`{name}` of {owner.name} is not understood here") from None

    def _made(self, binding: Binding, use: ast.AST) -> Any:
        node = binding.node
        if isinstance(node, ast.ClassDef):
            if self._is_signature(binding, ()):
                return SignatureMaker(self, node).make()
            return self.make_class(node, node.name, {})
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            raise self.source.error(use, f"`{binding.name}` is a function: code, which is never run")
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.lineno in self.type_lines:
                return typing_extensions.TypeAliasType(binding.name, self.reader({}).read(node.value))
            return self._assigned(binding.name, node.value)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return self._assigned(binding.name, node.value, alias=_is_alias_annotation(node.annotation))
        if type(node).__name__ == "TypeAlias":
            return typing_extensions.TypeAliasType(binding.name, self.reader({}).read(node.value))  # type: ignore[attr-defined]
        raise self.source.error(use, f"`{binding.name}` is computed, and nothing is run", "assign it a literal")

    def _assigned(self, name: str, value: ast.expr, alias: bool = False) -> Any:
        reader = self.reader({})
        if alias or isinstance(value, ast.Subscript):
            return reader.read(value)
        if isinstance(value, ast.Name | ast.Attribute):
            return reader.expression(value)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
            return reader.read(value)
        if isinstance(value, ast.Call) and (changed := self._changed(value, reader)) is not None:
            return changed
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Attribute) and _is_dotted(value.func):
            function = reader.expression(value.func)
            if function is known_names.SIGNATURE:
                return signature_call(value, reader, ModuleNames(self, {}))
            if function is typing.TypeVar:
                return self._type_variable(name, value, reader)
            if function is typing.NewType and len(value.args) == 2:
                new_type: Any = typing.NewType
                made = new_type(name, reader.read(value.args[1]))
                made.__module__ = MODULE
                return made
            if (
                isinstance(function, enum.EnumMeta)
                and len(value.args) == 2
                and not getattr(function, "__members__", {})
            ):
                return functional_enum(function, value, reader)
            if function in (typing.TypedDict, typing_extensions.TypedDict) and len(value.args) == 2:
                return functional_typed_dict(value, reader)
            if function is typing_extensions.TypeAliasType and len(value.args) == 2:
                return typing_extensions.TypeAliasType(name, reader.read(value.args[1]))
        return reader.constants.read(value)

    def _changed(self, call: ast.Call, reader: AnnotationReader) -> Signature | None:
        """`Sig.append(…)`, where `Sig` is a signature of this text or a call that makes one."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in PARAMETERS:
            return None
        base: Any = None
        if isinstance(function.value, ast.Call) and self._makes_signature(function.value, ()):
            base = self._assigned("", function.value)
        elif isinstance(function.value, ast.Name) and function.value.id in self.bindings:
            base = reader.expression(function.value)
        if isinstance(base, SignatureSource):
            base = base.make()
        return changed_signature(call, function.attr, base, reader) if isinstance(base, Signature) else None

    def _type_variable(self, name: str, call: ast.Call, reader: AnnotationReader) -> Any:
        constraints = [reader.read(one) for one in call.args[1:]]
        bound = next((reader.read(one) for key, one in reader.constants.keywords(call) if key == "bound"), None)
        make: Any = typing.TypeVar
        return make(name, *constraints, bound=bound)

    def make_class(self, node: ast.ClassDef, qualname: str, local: Mapping[str, Any]) -> type:
        maker = ClassMaker(self, node, qualname, local)
        made = maker.make()
        self._unfinished.append((maker, made))
        return made

    def _finish(self) -> None:
        """Completes the classes that named one another before all of them existed."""
        waiting, self._unfinished = self._unfinished, []
        if not self._forward:
            return
        meant, self._forward = self._forward, []
        classes = {one.name: self._meaning(one, one.node) for one in meant}
        for maker, made in waiting:
            maker.complete(made)
        for maker, made in waiting:
            if issubclass(made, BaseModel):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        made.model_rebuild(_types_namespace=classes)
                    except Exception as error:  # pydantic raises many kinds for a name that it cannot resolve
                        message = f"class {made.__name__}: {told(error)}"
                        raise self.source.error(maker.node, message) from None

    # signatures

    def _is_signature(self, binding: Binding, seen: tuple[Binding, ...]) -> bool:
        node = binding.node
        if isinstance(node, ast.ClassDef):
            return any(self._names_signature(one, (*seen, binding)) for one in node.bases)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            return self._makes_signature(node.value, (*seen, binding))
        return False

    def _makes_signature(self, call: ast.Call, seen: tuple[Binding, ...]) -> bool:
        """Whether the call is of Signature, make_signature, or of a method that makes a signature of another."""
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in PARAMETERS:
            if isinstance(function.value, ast.Call):
                return self._makes_signature(function.value, seen)
            if isinstance(function.value, ast.Name) and function.value.id in self.bindings:
                bound = [one for one in self.bindings[function.value.id] if one not in seen]
                return bool(bound) and self._is_signature(bound[-1], seen)
        return self._names_signature(function, seen, calls=True)

    def _names_signature(self, node: ast.expr, seen: tuple[Binding, ...], calls: bool = False) -> bool:
        if isinstance(node, ast.Name) and node.id in self.bindings:
            bound = [one for one in self.bindings[node.id] if one not in seen]
            if not bound:
                return False
            if not isinstance(bound[-1].node, ast.Import | ast.ImportFrom):
                return not calls and self._is_signature(bound[-1], seen)
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        try:
            return self.reader({}).expression(node) is known_names.SIGNATURE
        except SignatureError:
            return False


def _is_dotted(node: ast.expr) -> bool:
    """A name or names with dots between, and no call or value among them."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_alias_annotation(node: ast.expr) -> bool:
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "TypeAlias"
