"""Make a signature's fields as pydantic does for dspy's class: check names, merge defaults and metadata.

dspy's signatures are pydantic models, so dspy rejects whatever pydantic rejects: a leading underscore, a type without
a schema, a constraint that does not fit its type.
"""

from __future__ import annotations

import ast
import inspect
import types
import typing
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import pydantic
from pydantic import BaseModel, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass
from adapters.signatures.read.plain_strings import TAKEN_NAMES
from adapters.signatures.read.source_text import SourceText, told
from adapters.signatures.signature import CONSTRAINT_WORDS, Field, Role, Signature, constraint_text, infer_prefix
from adapters.signatures.type_names import notes_of, unchecked_in, walk

SCALARS = frozenset({str, int, float, bool})

_WITHOUT_EFFECT = ("format", "parser", "json_schema_extra")
_OF_DSPY = ("desc", "prefix")
_OF_PYDANTIC = frozenset(inspect.signature(pydantic.Field).parameters) - {"extra"}
_SHOWN = {"desc": 'desc="..."', "description": 'description="..."', "prefix": 'prefix="Name:"'}


def declaration_error(source: SourceText, node: ast.AST, name: str) -> SignatureError:
    """Make the error for a field without `InputField` or `OutputField`."""
    return source.error(
        node, f"field `{name}` must be declared with InputField or OutputField", f"{name}: ... = dspy.InputField()"
    )


@dataclass(frozen=True)
class Draft:
    """A field as written; `info` is None without an InputField or OutputField."""

    name: str
    annotation: Any
    info: FieldInfo | None
    source: SourceText
    node: ast.AST
    notes: tuple[str, ...] = ()

    @property
    def role(self) -> Role | None:
        """The role, from `info` or from a field in the type's `Annotated`."""
        metadata = getattr(self.annotation, "__metadata__", ())
        for info in (self.info, *(one for one in metadata if isinstance(one, FieldInfo))):
            extra = info.json_schema_extra if info is not None else None
            role = extra.get("__dspy_field_type") if isinstance(extra, dict) else None
            if role == "input" or role == "output":
                return "input" if role == "input" else "output"
        return None

    def error(self, message: str, hint: str = "") -> SignatureError:
        return self.source.error(self.node, message, hint)


@dataclass(frozen=True, eq=False)
class SignatureSource:
    """A signature class as written: own and inherited fields, and the docstring (None for dspy's default)."""

    name: str
    drafts: Mapping[str, Draft]
    doc: str | None

    def make(self) -> Signature:
        return Signature.make(make_fields(list(self.drafts.values()), self.name), self.doc, self.name)

    @property
    def inherited_doc(self) -> str:
        if self.doc is not None:
            return self.doc
        names: dict[Role, list[str]] = {"input": [], "output": []}
        for draft in self.drafts.values():
            if draft.role is not None:
                names[draft.role].append(f"`{draft.name}`")
        return f"Given the fields {', '.join(names['input'])}, produce the fields {', '.join(names['output'])}."


# calls of dspy.InputField and dspy.OutputField


def is_dspy_argument(name: str) -> bool:
    """Test whether dspy or pydantic uses an argument of `InputField`."""
    return name not in _WITHOUT_EFFECT and (name in _OF_DSPY or name in _OF_PYDANTIC)


def dspy_field(role: Role, arguments: dict[str, Any]) -> FieldInfo:
    """Make the pydantic field of a call as dspy does. Raises what pydantic raises for invalid arguments."""
    extra: dict[str, Any] = {name: arguments.pop(name) for name in list(arguments) if name in _OF_DSPY}
    extra["__dspy_field_type"] = role
    if "description" in arguments and "desc" not in extra:
        extra["desc"] = arguments["description"]
    constraints = constraint_text(arguments) if arguments else None
    if constraints is not None:
        extra["constraints"] = constraints
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pydantic.Field(**arguments, json_schema_extra=extra)  # type: ignore[no-any-return]


def check_shown(argument: str, node: ast.expr, value: object, source: SourceText) -> None:
    """Raise SignatureError for a `desc`, `description` or `prefix` that dspy would show differently.

    A description may be any data, as dspy prints it, except a class or function, whose text depends on its module.
    """
    if argument in _SHOWN and not (isinstance(value, str) if argument == "prefix" else not callable(value)):
        raise source.error(node, f"{argument} must be a text, not {type(value).__name__}", _SHOWN[argument])


def ineffective_arguments(node: ast.Call) -> tuple[str, ...]:
    """Return notes on the arguments that dspy ignores."""
    notes: list[str] = []
    for one in node.keywords:
        if one.arg is None or is_dspy_argument(one.arg):
            continue
        near: list[str] = []
        if one.arg not in _WITHOUT_EFFECT:
            import difflib  # only for the hint

            near = difflib.get_close_matches(one.arg, [*_OF_DSPY, *CONSTRAINT_WORDS, *_OF_PYDANTIC], n=1)
        notes.append(f"`{one.arg}` has no effect in dspy" + (f"; did you mean {near[0]}?" if near else ""))
    return tuple(notes)


# fields from drafts


def make_fields(drafts: Sequence[Draft], name: str) -> tuple[Field, ...]:
    """Make the fields in the order of `drafts`. Raises SignatureError if dspy could not declare the class."""
    for draft in drafts:
        if draft.name in TAKEN_NAMES:
            raise draft.error(
                f"`{draft.name}` cannot be a field: dspy's signatures use that name", f"for example {draft.name}_"
            )
        if draft.name.startswith("_"):
            rest = draft.name.lstrip("_") or "x"
            raise draft.error(f"field names cannot start with an underscore: `{draft.name}`", rest)
    if all(is_plain_field(draft.name, draft.annotation, draft.info) for draft in drafts):
        return tuple([_field(one, FieldInfo.from_annotated_attribute(one.annotation, one.info)) for one in drafts])
    definitions: dict[str, object] = {
        draft.name: draft.annotation if draft.info is None else (draft.annotation, draft.info) for draft in drafts
    }
    try:
        model = _model(name, definitions)
    except Exception as error:  # pydantic raises many kinds of errors for invalid fields
        for draft in drafts:
            try:
                _model(name, {draft.name: definitions[draft.name]})
            except Exception as own:  # this field alone fails, so it is the cause
                said, hint = _told(own)
                raise draft.error(f"field `{draft.name}`: {said}", hint) from None
        raise drafts[0].error(*_told(error)) from None
    for draft in drafts:
        if any(isinstance(part, typing.ForwardRef) for part in walk(model.model_fields[draft.name].annotation)):
            raise draft.error(
                f"field `{draft.name}`: its type is defined in terms of itself",
                "a class can name itself, an alias cannot",
            )
    return tuple([_field(draft, model.model_fields[draft.name]) for draft in drafts])


def _model(name: str, definitions: dict[str, Any]) -> type[BaseModel]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return create_model(name, **definitions)


def _told(error: Exception) -> tuple[str, str]:
    """Return the message of pydantic's error, and a hint."""
    text = told(error)
    if isinstance(error, PydanticSchemaGenerationError):
        return text.partition(". Set `arbitrary_types_allowed")[0], "dspy refuses this type too"
    if "conflicts with member" in text:
        return "pydantic's models use that name themselves", ""
    return "the type is nested too deeply" if isinstance(error, RecursionError) else text, ""


def _field(draft: Draft, info: FieldInfo) -> Field:
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    role = extra.get("__dspy_field_type")
    if role not in ("input", "output"):
        raise declaration_error(draft.source, draft.node, draft.name)
    complete = {**extra}
    complete.setdefault("prefix", infer_prefix(draft.name) + ":")
    complete.setdefault("desc", f"${{{draft.name}}}")
    info.json_schema_extra = complete
    if is_plain(info.annotation):
        return Field.read_info(draft.name, info, extra, draft.notes)
    notes = (*draft.notes, *notes_of(info.annotation, info.metadata))
    return Field.read_info(draft.name, info, extra, notes, unchecked_in(info.annotation))


# plain types, accepted without building a pydantic model, which is most of the cost of reading


def is_plain_field(name: str, annotation: object, info: FieldInfo | None) -> bool:
    """Test whether pydantic certainly accepts a field: a plain type, no constraint, a name it does not use."""
    return (
        type(info) is FieldInfo
        and not info.metadata
        and info.discriminator is None
        and not inspect.ismethoddescriptor(info.default)
        and not hasattr(BaseModel, name)
        and is_plain(annotation)
    )


def is_plain(annotation: object, depth: int = 20) -> bool:
    """Test whether a type consists only of str, numbers, bool, None, lists, dicts, unions and literals.

    Every version of pydantic accepts these.
    """
    if annotation is str or annotation is int or annotation is float or annotation is bool or annotation is type(None):
        return True
    if depth == 0:
        return False
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return all(one is None or type(one) in (int, bool) or (type(one) is str and one.isascii()) for one in arguments)
    if origin is dict:
        return len(arguments) == 2 and arguments[0] in SCALARS and is_plain(arguments[1], depth - 1)
    if origin is list:
        return len(arguments) == 1 and is_plain(arguments[0], depth - 1)
    if origin is Union or origin is types.UnionType:
        return all(is_plain(one, depth - 1) for one in arguments)
    return False
