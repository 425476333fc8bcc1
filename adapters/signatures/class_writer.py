"""Write types as Python source: annotations as expressions, their classes as class statements."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import keyword
import types
import typing
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pydantic
import pydantic.dataclasses
import typing_extensions
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.known_names import is_not_run
from adapters.signatures.type_names import is_type_alias, walk
from adapters.signatures.value_writer import ValueWriter, constraint_values, text_literal
from adapters.types.recognition import is_decision_type, is_kind_of, kind_of, options_of

_FIELD_ARGUMENTS = (
    *("alias", "title", "description", "examples", "exclude", "discriminator", "deprecated", "json_schema_extra"),
    *("frozen", "validate_default", "repr", "init", "init_var", "kw_only"),
)
_DOTTED_MODULES = ("datetime", "uuid", "decimal", "fractions", "pathlib", "ipaddress", "collections", "re")


class ClassWriter:
    """Write the types of a signature, and declare their classes in the order that Python needs."""

    def __init__(self, annotations: Iterable[object], taken: str) -> None:
        self.declarations: list[str] = []
        self.values = ValueWriter(self.declare, self._imported)
        self._imports: dict[str, set[str]] = {"dspy": {""}}
        self._names: dict[str, object] = {taken: None}
        self._writing: list[object] = []
        self._met_unfinished = False
        self._user_names = {
            getattr(part, "__name__", "")
            for one in annotations
            for part in walk(one)
            if (isinstance(part, type | typing.NewType) or is_type_alias(part))
            and known_names.home_of(part) is None
            and part.__module__ not in ("builtins", "typing")
        }

    def imports(self) -> str:
        """Write the import statements that the source needs."""
        whole = sorted(name for name, names in self._imports.items() if "" in names)
        parts = sorted((name, sorted(names - {""})) for name, names in self._imports.items() if names - {""})
        lines = [f"import {name}" for name in whole]
        return "\n".join([*lines, *(f"from {name} import {', '.join(names)}" for name, names in parts)])

    def _imported(self, module: str, name: str) -> str:
        if name == "" or name in self._user_names or module in _DOTTED_MODULES:
            self._imports.setdefault(module, set()).add("")
            return f"{module}.{name}" if name else module
        self._imports.setdefault(module, set()).add(name)
        return name

    def annotation(self, annotation: object) -> str:
        """Write a type as an expression, quoted if it names a class that is still being declared."""
        before, self._met_unfinished = self._met_unfinished, False
        text = "None" if annotation is type(None) else self._type(annotation)
        quoted = self._met_unfinished
        self._met_unfinished = before
        return text_literal(text) if quoted else text

    def _type(self, annotation: object) -> str:
        if annotation is None:
            return "None"
        if annotation is type(None):
            return self._imported("types", "NoneType")
        if annotation is ...:
            return "..."
        if isinstance(annotation, str | typing.ForwardRef):
            # An unresolved reference of a live class to itself: write it as it is, in quotes.
            self._met_unfinished = True
            return annotation if isinstance(annotation, str) else annotation.__forward_arg__
        if isinstance(annotation, list):
            return f"[{', '.join(self._type(one) for one in annotation)}]"
        origin = get_origin(annotation)
        if (origin is not None and not isinstance(annotation, type)) or isinstance(annotation, types.GenericAlias):
            args = get_args(annotation)
            if origin is Literal:
                return f"{self._imported('typing', 'Literal')}[{', '.join(self.values.write(one) for one in args)}]"
            if origin is Annotated:
                parts = [self._type(args[0]), *(self._metadata(one) for one in args[1:] if not is_not_run(one))]
                return f"{self._imported('typing', 'Annotated')}[{', '.join(parts)}]" if len(parts) > 1 else parts[0]
            if origin is types.UnionType:
                return " | ".join(self._union(args))
            if origin is Union:
                if len(args) == 2 and args[1] is type(None):
                    return f"{self._imported('typing', 'Optional')}[{self._type(args[0])}]"
                return f"{self._imported('typing', 'Union')}[{', '.join(self._union(args))}]"
            alias = getattr(annotation, "_name", None)
            head = self._imported("typing", alias) if isinstance(alias, str) else self._type(origin)
            inner = ", ".join(self._type(one) for one in args)
            if not args and origin is not tuple:
                return head
            return f"{head}[{inner or '()'}]"
        if isinstance(annotation, type) and annotation.__module__ == "builtins":
            return annotation.__name__
        return self._named(annotation)

    def _union(self, args: Iterable[object]) -> list[str]:
        return ["None" if one is type(None) else self._type(one) for one in args]

    def _named(self, annotation: Any) -> str:
        if is_kind_of(annotation, "Type") or is_kind_of(annotation, "History"):
            return self._dspy_type(annotation)
        known = known_names.home_of(annotation)
        if known is not None:
            return self._imported(*known)
        metadata = getattr(annotation, "__pydantic_generic_metadata__", {})
        if metadata.get("origin") is pydantic.RootModel:
            return f"{self._imported('pydantic', 'RootModel')}[{self._type(metadata['args'][0])}]"
        if isinstance(annotation, type) or is_type_alias(annotation) or hasattr(annotation, "__supertype__"):
            return self.declare(annotation)
        raise SignatureError(f"the type {str(annotation)[:60]} cannot be written as source")

    def _dspy_type(self, annotation: type) -> str:
        name = annotation.__name__
        if name.startswith("Code_"):
            return f"dspy.Code[{text_literal(annotation.language)}]"  # type: ignore[attr-defined]
        if name in known_names.EXPERIMENTAL:
            self._imported("dspy.experimental", "")
            return f"dspy.experimental.{name}"
        if is_decision_type(annotation):
            self._imported("dspy.experimental", "")
            criteria, kind = annotation.criteria(), kind_of(annotation)  # type: ignore[attr-defined]
            if kind == "score":
                written = [self.values.write(one) for one in criteria]
            else:
                values = options_of(annotation) if kind == "choice" else [one == "true" for one in criteria]
                pairs = zip(values, criteria.values(), strict=True)
                written = [f"({self.values.write(value)}, {self.values.write(told)})" for value, told in pairs]
            return f"dspy.experimental.{kind.capitalize()}[{', '.join(written)}]"
        if name in known_names.DSPY_TYPES or name == "Type":
            return f"dspy.{name}"
        raise SignatureError(f"the custom type {name} cannot be written as source", hint="its methods are code")

    def _metadata(self, one: Any) -> str:
        if is_decision_type(one):
            return self._dspy_type(one)
        if isinstance(one, FieldInfo):
            return f"{self._imported('pydantic', 'Field')}({', '.join(self._arguments(one))})"
        if isinstance(one, str | int | float | bool | None):
            return self.values.write(one)
        known = known_names.home_of(one)
        if known is not None:
            return self._imported(*known)
        home = known_names.home_of(type(one))
        if home is not None and dataclasses.is_dataclass(one):
            given = [
                f"{field.name}={self.values.write(getattr(one, field.name))}"
                for field in dataclasses.fields(one)
                if field.init and getattr(one, field.name) != field.default
            ]
            return f"{self._imported(*home)}({', '.join(given)})"
        raise SignatureError(f"{str(one)[:60]} in Annotated[...] cannot be written as source")

    def declare(self, cls: Any) -> str:
        """Declare a class once and return its name. Raises SignatureError if another class has that name."""
        name: str = cls.__name__
        known = known_names.home_of(cls)
        if known is not None:
            return self._imported(*known)
        if any(cls is one for one in self._writing):
            self._met_unfinished = True
            return name
        if name in self._names:
            if self._names[name] is not cls:
                raise SignatureError(f"two different classes are called {name}", hint="rename one of them")
            return name
        if not is_name(name):
            raise SignatureError(f"the class {name[:60]} cannot be written as source")
        self._names[name] = cls
        self._writing.append(cls)
        before, self._met_unfinished = self._met_unfinished, False
        text = self._declaration(cls)
        self._met_unfinished = before
        self._writing.pop()
        self.declarations.append(text)
        return name

    def _declaration(self, cls: Any) -> str:
        if hasattr(cls, "__supertype__"):
            made = self._imported("typing", "NewType")
            return f"{cls.__name__} = {made}({cls.__name__!r}, {self._type(cls.__supertype__)})"
        if is_type_alias(cls):
            made = self._imported("typing_extensions", "TypeAliasType")
            return f"{cls.__name__} = {made}({cls.__name__!r}, {self.annotation(cls.__value__)})"
        if issubclass(cls, enum.Enum):
            lines = [f"{name} = {self.values.write(member.value)}" for name, member in cls.__members__.items()]
            bases = ", ".join(self._type(one) for one in cls.__bases__)
            return self._statement(f"class {cls.__name__}({bases})", cls, lines)
        if issubclass(cls, BaseModel):
            return self._model(cls)
        if dataclasses.is_dataclass(cls):
            return self._dataclass(cls)
        if typing_extensions.is_typeddict(cls):
            return self._typed_dict(cls)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            lines = []
            for name in cls._fields:
                default = f" = {self.values.write(cls._field_defaults[name])}" if name in cls._field_defaults else ""
                lines.append(f"{name}: {self.annotation(cls.__annotations__[name])}{default}")
            generated = str(cls.__doc__).startswith(f"{cls.__name__}(")
            head = f"class {cls.__name__}({self._imported('typing', 'NamedTuple')})"
            return self._statement(head, cls, lines, generated)
        raise SignatureError(f"the class {cls.__name__} cannot be written as source", hint="models and enums can")

    def _statement(self, head: str, cls: type, lines: list[str], generated_doc: bool = False) -> str:
        doc = cls.__dict__.get("__doc__")
        body = [text_literal(doc, block=True)] if isinstance(doc, str) and not generated_doc else []
        body += lines
        return "\n".join([f"{head}:", *(f"    {line}" for line in body or ["pass"])])

    def _model(self, cls: type[BaseModel]) -> str:
        if not cls.__pydantic_complete__:
            cls.model_rebuild(raise_errors=False)
        bases = ", ".join(self._type(one) for one in cls.__bases__)
        inherited: dict[str, object] = {}
        for base in cls.__bases__:
            inherited.update(getattr(base, "model_config", {}))
        config = {
            key: value for key, value in cls.model_config.items() if inherited.get(key, PydanticUndefined) != value
        }
        lines = []
        if all(is_name(key) for key in config) and config:
            options = ", ".join(f"{key}={self.values.write(value)}" for key, value in config.items())
            lines.append(f"model_config = {self._imported('pydantic', 'ConfigDict')}({options})")
        elif config:
            lines.append(f"model_config = {self.values.write(config)}")
        own = inspect.get_annotations(cls)
        for name, info in cls.model_fields.items():
            if name in own:
                lines.append(self._member(name, info))
        return self._statement(f"class {cls.__name__}({bases})", cls, lines)

    def _member(self, name: str, info: FieldInfo) -> str:
        others = [one for one in info.metadata if not constraint_values([one]) and not is_not_run(one)]
        annotation: object = info.annotation
        for one in others:
            annotation = Annotated[annotation, one]
        text = f"{name}: {self.annotation(annotation)}"
        plain = self._arguments(info)
        if not plain:
            return text
        if len(plain) == 1 and plain[0].startswith("default="):
            return f"{text} = {plain[0].removeprefix('default=')}"
        return f"{text} = {self._imported('pydantic', 'Field')}({', '.join(plain)})"

    def _arguments(self, info: FieldInfo) -> list[str]:
        arguments: list[str] = []
        if info.default_factory is not None:
            arguments.append(f"default_factory={self.values.factory(info.default_factory)}")  # type: ignore[arg-type]
        elif info.default is not PydanticUndefined and info.default is not ...:
            arguments.append(f"default={self.values.write(info.default)}")
        for name in _FIELD_ARGUMENTS:
            value = getattr(info, name, None)
            if value is not None and not (name == "repr" and value is True):
                arguments.append(f"{name}={self.values.write(value)}")
        for name in ("validation_alias", "serialization_alias"):
            value = getattr(info, name)
            if value is not None and value != info.alias:
                arguments.append(f"{name}={self.values.write(value)}")
        return arguments + [
            f"{name}={self.values.write(value)}" for name, value in constraint_values(info.metadata).items()
        ]

    def _dataclass(self, cls: Any) -> str:
        module = "pydantic.dataclasses" if pydantic.dataclasses.is_pydantic_dataclass(cls) else "dataclasses"
        infos = cls.__pydantic_fields__ if module == "pydantic.dataclasses" else {}
        lines: list[str] = []
        for one in dataclasses.fields(cls):
            if one.name in infos:
                lines.append(self._member(one.name, infos[one.name]))
                continue
            options: list[str] = []
            if one.default is not dataclasses.MISSING:
                options.append(f"default={self.values.write(one.default)}")
            if one.default_factory is not dataclasses.MISSING:
                options.append(f"default_factory={self.values.factory(one.default_factory)}")
            if one.kw_only:
                options.append("kw_only=True")
            value = f" = {self._imported('dataclasses', 'field')}({', '.join(options)})" if options else ""
            lines.append(f"{one.name}: {self.annotation(one.type)}{value}")
        frozen = "(frozen=True)" if cls.__dataclass_params__.frozen else ""
        generated = str(cls.__doc__).startswith(f"{cls.__name__}(")
        return f"@{self._imported(module, 'dataclass')}{frozen}\n" + self._statement(
            f"class {cls.__name__}", cls, lines, generated
        )

    def _typed_dict(self, cls: Any) -> str:
        members: dict[str, str] = {}
        for name, annotation in cls.__annotations__.items():
            while get_origin(annotation) in (typing.Required, typing.NotRequired):
                annotation = get_args(annotation)[0]
            if name in cls.__optional_keys__:
                annotation = typing.NotRequired[annotation]
            members[name] = self.annotation(annotation)
        base = self._imported("typing_extensions", "TypedDict")
        if not all(is_name(name) for name in members):
            pairs = ", ".join(f"{text_literal(name)}: {text}" for name, text in members.items())
            return f"{cls.__name__} = {base}({text_literal(cls.__name__)}, {{{pairs}}})"
        return self._statement(
            f"class {cls.__name__}({base})", cls, [f"{name}: {text}" for name, text in members.items()]
        )


def is_name(text: str) -> bool:
    """Test whether `text` is a valid Python name."""
    return text.isidentifier() and not keyword.iskeyword(text)
