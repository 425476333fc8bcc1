"""Read a signature from the string `"question -> answer"` or Python source, without running it.

Python source declares `class X(dspy.Signature)`, and the models, enums and constants that the signature uses.
"""

from __future__ import annotations

import ast
import copyreg
import enum
import re
import typing
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import typing_extensions
from pydantic import BaseModel

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.annotations import TypeReader
from adapters.signatures.read.classes import ModuleText
from adapters.signatures.read.declarations import (
    changed_signature,
    functional_enum,
    functional_typed_dict,
    read_signature_class,
    signature_call,
)
from adapters.signatures.read.fields import SignatureSource
from adapters.signatures.read.names import PARAMETERS, dotted
from adapters.signatures.read.plain_strings import read_plain
from adapters.signatures.read.source_text import Binding, SourceText, last_name, told
from adapters.signatures.read.strings import read_string
from adapters.signatures.signature import MODULE, Signature

_SOURCE_LINE = re.compile(
    r"^[ \t]*(?:class[ \t]+\w+[ \t]*[(:\[]|import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b"
    r"|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|@\w|type[ \t]+\w+[ \t]*=|(?:if|try|with|for)\b[^\n]*:[ \t]*$)",
    re.MULTILINE,
)
_SIGNATURE_CALL = re.compile(r"\bSignature[ \t]*\(")


def is_source(text: str) -> bool:
    """Test whether `text` looks like Python source rather than the string notation."""
    return bool(_SOURCE_LINE.search(text) or _SIGNATURE_CALL.search(text)) or (
        "->" not in text and "\n" in text.strip()
    )


def read(text: str, class_name: str | None = None) -> Signature:
    """Read a signature in either notation; the same arguments return the same object.

    `class_name` is required if the text has several signatures. Raises only SignatureError, with the line and column
    of the error.
    """
    return (read_plain(text) if class_name is None else None) or _read(text, class_name)


def _sent(signature: Signature) -> tuple[object, ...]:
    """Return the parts of a pickled signature: source, if a type was read from text, else fields."""
    if not signature.has_types_of_text:
        return signature.__reduce__()
    from adapters.signatures.source_writer import write_source

    return read, (write_source(signature), signature.name)


copyreg.pickle(Signature, _sent)  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _read(text: str, class_name: str | None) -> Signature:
    try:
        if not is_source(text):
            if class_name is not None:
                raise SignatureError(f"there is no class {class_name} in the string notation")
            return read_string(text)
        return SourceModule(SourceText.of(text.removeprefix("\ufeff"))).signature(class_name)
    except RecursionError:
        raise SignatureError("nested too deeply") from None


@lru_cache(maxsize=256)
def class_names(text: str) -> tuple[str, ...]:
    """List the signatures of a Python source; () for the string notation. Raises SignatureError."""
    if not is_source(text):
        return ()
    try:
        return SourceModule(SourceText.of(text.removeprefix("\ufeff"))).signature_names()
    except RecursionError:
        raise SignatureError("nested too deeply") from None


_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_STRING = re.compile(r"""(["'])((?:[^"'\n-]|-(?!>))++->[^"'\n]++)\1""")
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: (.*)|)$", re.MULTILINE)


def sources_in(page: str) -> Iterator[str]:
    """Yield the texts of a copied page that may be a signature: the page, its code blocks, then its strings with `->`.

    Python's prompts and the first line's indentation are removed.
    """
    if re.search(r"^[ \t]*>>> ", page, re.MULTILINE):
        page = "\n".join(_PROMPT.findall(page))
    for text in (page.strip("\n"), *[block.strip("\n") for block in _FENCE.split(page)[1::2]]):
        indent = text[: len(text) - len(text.lstrip())].rpartition("\n")[2]
        # `dedent` would change blank lines of a docstring
        yield "\n".join([line.removeprefix(indent) for line in text.split("\n")])
    yield from [written for _, written in _STRING.findall(page)]


class SourceModule(ModuleText):
    """A Python text; only the parts that the chosen signature uses are read."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self._meanings: dict[Binding, object] = {}
        self._making: list[Binding] = []
        self._forward: list[Binding] = []

    def signature_names(self) -> tuple[str, ...]:
        """List the names bound to signatures at the end of the module, in order."""
        last = [one[-1] for one in self.bindings.values()]
        last.sort(key=lambda one: one.node.lineno)
        return tuple(one.name for one in last if self._is_signature(one, ()))

    def signature(self, class_name: str | None) -> Signature:
        """Read the signature of that name, or the only signature. Raises SignatureError."""
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
                        self.top.meaning(base)
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
            raise self.source.error(bound[-1].node, f"`{bound[-1].name}` is computed here by code, which is never run")

    def look_up(self, name: str, node: ast.AST) -> object:
        """Find the meaning of a bound name at `node`: its last binding above, else its first below."""
        bound = self.bindings[name]
        line = getattr(node, "lineno", 0)
        before = [one for one in bound if one.node.lineno <= line and one not in self._making[-1:]]
        chosen = before[-1] if before else bound[0]
        if self._making and chosen is self._making[-1] and not isinstance(chosen.node, ast.ClassDef):
            return known_names.bare(name)
        return self._meaning(chosen, node)

    def _meaning(self, binding: Binding, use: ast.AST) -> object:
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
                raise self.source.error(use, f"`{binding.name}` is defined in terms of itself")
            if self._making and len(self._forward) > forward and not isinstance(binding.node, ast.ClassDef):
                # An alias of a class that is still being made: not cached, so it is read again later.
                return found
        self._meanings[binding] = found
        if not self._making:
            self._finish()
        return found

    def _imported(self, binding: Binding, use: ast.AST) -> object:
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
                f"`{binding.name}` is imported from {owner_name or path}, and {known_names.NOT_READ}",
                "put its definition into this text",
            )
        try:
            return known_names.member(owner, name)
        except LookupError:
            raise self.source.error(use, f"`{name}` of {owner.name} is not supported") from None

    def _made(self, binding: Binding, use: ast.AST) -> object:
        node = binding.node
        if isinstance(node, ast.ClassDef):
            if self._is_signature(binding, ()):
                return read_signature_class(self, node)
            return self.make_class(node, node.name, {})
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            raise self.source.error(use, f"`{binding.name}` is a function: code, which is never run")
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.lineno in self.type_lines:
                return typing_extensions.TypeAliasType(binding.name, self.top.annotation(node.value))
            return self._assigned(binding.name, node.value)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            if last_name(node.annotation) == "TypeAlias":
                return self.top.annotation(node.value)
            return self._assigned(binding.name, node.value)
        if type(node).__name__ == "TypeAlias":
            return typing_extensions.TypeAliasType(binding.name, self.top.annotation(node.value))  # type: ignore[attr-defined]
        raise self.source.error(use, f"`{binding.name}` is computed by code, which is never run", "assign it a literal")

    def _assigned(self, name: str, value: ast.expr) -> object:
        reader = self.top
        if isinstance(value, ast.Subscript):
            return reader.annotation(value)
        if isinstance(value, ast.Name | ast.Attribute):
            return reader.meaning(value)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
            return reader.annotation(value)
        if isinstance(value, ast.Call) and (changed := self._changed(value, reader)) is not None:
            return changed
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Attribute) and dotted(value.func):
            function = reader.meaning(value.func)
            if function is known_names.SIGNATURE:
                return signature_call(value, reader)
            if function is typing.TypeVar:
                constraints = [reader.annotation(one) for one in value.args[1:]]
                bound = next((reader.annotation(one) for key, one in reader.keywords(value) if key == "bound"), None)
                variable: Any = typing.TypeVar
                return variable(name, *constraints, bound=bound)
            if function is typing.NewType and len(value.args) == 2:
                new_type: Any = typing.NewType
                made = new_type(name, reader.annotation(value.args[1]))
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
                return typing_extensions.TypeAliasType(name, reader.annotation(value.args[1]))
        return reader.value(value)

    def _changed(self, call: ast.Call, reader: TypeReader) -> Signature | None:
        """Read `Sig.append(…)`, where `Sig` is a signature of this text or a call that makes a signature."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in PARAMETERS:
            return None
        base: object = None
        if isinstance(function.value, ast.Call) and self._makes_signature(function.value, ()):
            base = self._assigned("", function.value)
        elif isinstance(function.value, ast.Name) and function.value.id in self.bindings:
            base = reader.meaning(function.value)
        if isinstance(base, SignatureSource):
            base = base.make()
        return changed_signature(call, function.attr, base, reader) if isinstance(base, Signature) else None

    def _finish(self) -> None:
        """Resolve the forward references between classes once all of them exist."""
        waiting, self.unfinished = self.unfinished, []
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
        """Test for a call of Signature, make_signature, or a method that derives a signature from another."""
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
            return self.top.meaning(node) is known_names.SIGNATURE
        except SignatureError:
            return False
