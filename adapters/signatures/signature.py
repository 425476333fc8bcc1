"""Signatures: typed inputs and outputs with instructions, as plain immutable data (after `dspy.Signature`)."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from adapters.display.as_text import ShowsItself
from adapters.display.blocks import Note, Passage, Piece, Shown, Table
from adapters.late_dataclasses import dataclass, field, replace
from adapters.signatures.type_names import name_of

Role = Literal["input", "output"]

MODULE = "signature_source"
"""The `__module__` of all classes read from text; the module does not exist."""

_TYPES_OF_A_CALL: tuple[type, ...] = (
    *(type, type(None), types.GenericAlias, types.UnionType),
    *(typing._SpecialForm, typing._GenericAlias),  # type: ignore[attr-defined]
)
"""Types that dspy accepts for a field if the signature is made by a call, not by a class statement."""


class Missing:
    """Type of `MISSING`, which means that no default was given."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"  # copies and pickles are the same object


MISSING = Missing()

CONSTRAINT_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "gt": "greater than: ",
        "ge": "greater than or equal to: ",
        "lt": "less than: ",
        "le": "less than or equal to: ",
        "min_length": "minimum length: ",
        "max_length": "maximum length: ",
        "multiple_of": "a multiple of the given number: ",
        "allow_inf_nan": "allow 'inf', '-inf', 'nan' values: ",
    }
)
"""dspy's words for a field's constraints in the prompt (`dspy.signatures.field`)."""


def constraint_text(arguments: Mapping[str, object]) -> str | None:
    """Write the constraints among a field's arguments as dspy does, in order; None without constraints."""
    words = [f"{CONSTRAINT_WORDS[key]}{value}" for key, value in arguments.items() if key in CONSTRAINT_WORDS]
    return ", ".join(words) if words else None


def desc_text(extra: Mapping[str, object]) -> str | None:
    """Return the description in a field's `json_schema_extra` as text; None without a description.

    dspy prints any value, even a number or None (`dspy.adapters.utils.get_field_description_string`).
    """
    return f"{extra['desc']}" if "desc" in extra else None


@lru_cache(maxsize=4096)
def infer_prefix(name: str) -> str:
    """Convert a field name to a title like dspy's function: `invoice_total2` → `Invoice Total 2`."""
    text = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    text = re.sub("([a-z0-9])([A-Z])", r"\1_\2", text)
    text = re.sub(r"([a-zA-Z])(\d)", r"\1_\2", text)
    text = re.sub(r"(\d)([a-zA-Z])", r"\1_\2", text)
    return " ".join(word if word.isupper() else word.capitalize() for word in text.split("_"))


def strip_annotated(annotation: object) -> object:
    """Remove a top-level `Annotated` from a field's annotation, as pydantic does."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def without_none(annotation: Any) -> Any:
    """Return the only type beside None, else the annotation."""
    if get_origin(annotation) not in (Union, types.UnionType) or type(None) not in get_args(annotation):
        return annotation
    members = [one for one in get_args(annotation) if one is not type(None)]
    return members[0] if len(members) == 1 else annotation


def allows_none(annotation: object) -> bool:
    """Test whether the annotation allows None (`dspy.adapters.utils.annotation_allows_none`)."""
    if annotation is None or annotation is type(None):
        return True
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return bool(args) and allows_none(args[0])
    if origin is Union or origin is types.UnionType:
        return any(allows_none(arg) for arg in args)
    return False


@dataclass(frozen=True, eq=False)
class Field:
    """An input or output. `annotation` is a Python type, built from the text without running it.

    `desc` and `prefix` default to dspy's (`${name}`, `Title:`) if None. `constraints` is the text in the prompt; dspy
    shows constraints to the model and never enforces them. `notes` list parts of the source that have no effect here,
    such as validators, which are not run.
    """

    name: str
    role: Role
    annotation: Any = str
    desc: str | None = None
    prefix: str | None = None
    constraints: str | None = None
    default: Any = MISSING
    default_factory: Callable[[], object] | None = None
    notes: tuple[str, ...] = ()
    type_was_given: bool = True
    decision: Mapping[str, object] | None = None
    """Settings of an output in `dspy.Predict.fields`: `threshold`, `cuts` or `weights`, `instructions`, `criteria`."""
    unchecked: tuple[str, ...] = ()
    """Validators and constructors of its type that dspy runs on every value, and that are never run here."""

    given_info: Any = field(default=None, repr=False)
    """The `FieldInfo` of the signature that this field was made from, or a function that makes it."""

    @classmethod
    def read_info(
        cls,
        name: str,
        info: Any,
        extra: Mapping[str, Any],
        notes: tuple[str, ...] = (),
        unchecked: tuple[str, ...] = (),
    ) -> Field:
        """Make a field from a pydantic `FieldInfo`; `extra` is its `json_schema_extra` as declared."""
        has_default = not info.is_required() and info.default_factory is None
        return cls(
            name=name,
            role=extra["__dspy_field_type"],
            annotation=info.annotation,
            desc=desc_text(extra),
            prefix=extra.get("prefix"),
            constraints=extra.get("constraints"),
            default=info.default if has_default else MISSING,
            default_factory=info.default_factory,
            notes=notes,
            type_was_given=not extra.get("IS_TYPE_UNDEFINED", False),
            unchecked=unchecked,
            given_info=info,
        )

    def __str__(self) -> str:
        return repr(self) if self.given_info is None else str(self.info)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "given_info": self.info}  # a function that makes it cannot be pickled

    @property
    def info(self) -> Any:
        """The `FieldInfo` of the signature that this field was made from, or None."""
        return self.given_info() if callable(self.given_info) else self.given_info

    @property
    def metadata(self) -> Sequence[Any]:
        """The metadata in the `Annotated` of the signature that this field was made from."""
        return getattr(self.given_info, "metadata", ())

    @property
    def description(self) -> str:
        """The description in the prompt; "" for dspy's placeholder `${name}`."""
        return "" if self.desc is None or self.desc == f"${{{self.name}}}" else self.desc

    @property
    def shown_prefix(self) -> str:
        return self.prefix if self.prefix is not None else infer_prefix(self.name) + ":"

    @property
    def is_required(self) -> bool:
        return self.default is MISSING and self.default_factory is None

    def fallback(self) -> object:
        """Return the value of a missing output: its default, None if the type allows it, or MISSING.

        Rule: `dspy.adapters.utils.apply_output_field_defaults`. Each call returns a new copy of the default, or calls
        the default factory.
        """
        if self.default_factory is not None:
            from pydantic.fields import FieldInfo

            return FieldInfo(default_factory=self.default_factory).get_default(call_default_factory=True)
        if self.default is not MISSING:
            from copy import deepcopy

            return deepcopy(self.default)
        return None if allows_none(self.annotation) else MISSING


def InputField(**arguments: object) -> Field:  # noqa: N802
    """Make an unnamed input field for `Signature.prepend`, `append` and `insert`, like `dspy.InputField`."""
    return _field("input", arguments)


def OutputField(**arguments: object) -> Field:  # noqa: N802
    """Make an unnamed output field, like `dspy.OutputField`."""
    return _field("output", arguments)


def _field(role: Role, arguments: Mapping[str, Any]) -> Field:
    default = arguments.get("default", MISSING)
    return Field(
        name="",
        role=role,
        annotation=arguments.get("annotation"),
        desc=arguments.get("desc", arguments.get("description")),
        prefix=arguments.get("prefix"),
        constraints=constraint_text(arguments),
        default=MISSING if default is ... else default,
        default_factory=arguments.get("default_factory"),
    )


@dataclass(frozen=True, eq=False)
class Signature(ShowsItself):
    """A name, the effective instructions, and fields in declaration order. Compared by identity.

    Methods that return a new signature clean the instructions again, as dspy does (a second `inspect.cleandoc` can
    remove more indentation).
    """

    fields_in_order: tuple[Field, ...]
    instructions: str = field(default="")
    name: str = "StringSignature"

    def __post_init__(self) -> None:
        if isinstance(self.fields_in_order, str):
            raise TypeError(
                f"a Signature consists of fields; adapters.read_signature({self.fields_in_order!r}) reads a text"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return Signature, (self.fields_in_order, self.instructions, self.name)

    def __copy__(self, *_: object) -> Signature:
        return self  # it never changes

    __deepcopy__ = __copy__

    @property
    def has_types_of_text(self) -> bool:
        """True if a type was read from text, so that no other process can import it."""
        return any(_is_of_text(one.annotation) for one in self.fields_in_order)

    @classmethod
    def make(cls, fields: Iterable[Field], instructions: str | None = None, name: str = "StringSignature") -> Signature:
        """Make a signature from a docstring as written, or with dspy's default instructions if None."""
        ordered = tuple(fields)
        if instructions is None:
            inputs = ", ".join(f"`{one.name}`" for one in ordered if one.role == "input")
            outputs = ", ".join(f"`{one.name}`" for one in ordered if one.role == "output")
            instructions = f"Given the fields {inputs}, produce the fields {outputs}."
        return cls(ordered, inspect.cleandoc(instructions), name)

    @cached_property
    def input_fields(self) -> Mapping[str, Field]:
        return MappingProxyType({one.name: one for one in self.fields_in_order if one.role == "input"})

    @cached_property
    def output_fields(self) -> Mapping[str, Field]:
        return MappingProxyType({one.name: one for one in self.fields_in_order if one.role == "output"})

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Inputs before outputs, as dspy orders them."""
        return MappingProxyType({**self.input_fields, **self.output_fields})

    @cached_property
    def field_faces(self) -> tuple[tuple[str, Role, bool], ...]:
        """Each field's name, role and whether its type is `str`; with the values, these determine a demo's text."""
        return tuple((one.name, one.role, one.annotation is str) for one in self.fields.values())

    @cached_property
    def fields_only(self) -> Signature:
        """The signature without instructions; the same object for all signatures with these `Field` objects.

        It is the cache key for text that depends on the fields alone, which is thus reused while instructions are
        edited, and across a team's fixtures.
        """
        return _fields_only(self.fields_in_order)

    @cached_property
    def inputs_only(self) -> Signature:
        """The inputs without instructions; like `fields_only`, the cache key for text about them."""
        return _fields_only(tuple(self.input_fields.values()))

    @cached_property
    def outputs_only(self) -> Signature:
        return _fields_only(tuple(self.output_fields.values()))

    @cached_property
    def history_field(self) -> str | None:
        """The first input field annotated History, if any."""
        from adapters.types.recognition import is_named  # loads pydantic

        inputs = self.fields_only.input_fields.items()
        return next((name for name, field in inputs if is_named(field.annotation, "History")), None)

    @property
    def signature(self) -> str:
        return f"{', '.join(self.input_fields)} -> {', '.join(self.output_fields)}"

    def with_instructions(self, instructions: str) -> Signature:
        """Replace the instructions; empty instructions become dspy's default sentence, as in dspy."""
        return Signature.make(self.fields.values(), instructions or None)

    def append_instructions(self, instructions: str) -> Signature:
        return self.with_instructions(f"{self.instructions}\n\n{instructions}")

    def with_updated_fields(self, name: str, type_: object = None, **changes: Any) -> Signature:
        """Change a field's type, `desc`, `prefix` or `constraints`. Raises KeyError for an unknown field."""
        if name not in self.fields:
            raise KeyError(name)
        field = self.fields[name]
        own = dict(changes)
        if type_ is not None:
            changes["annotation"] = strip_annotated(type_)
        if field.given_info is not None:
            info = copy(field.info)
            info.json_schema_extra = {**info.json_schema_extra, **own}
            info.annotation = changes.get("annotation", info.annotation)
            changes["given_info"] = info
        updated = replace(field, **changes)
        return self._of(updated if one.name == name else one for one in self.fields.values())

    def set_decisions(self, settings: Mapping[str, Mapping[str, object]]) -> Signature:
        """Set the decision settings of outputs (`dspy.Predict.fields`), by name.

        Raises ValueError for a name that is not an output and for settings that are not a mapping.
        `adapters.requests.decisions` checks whether the settings fit the output's type.
        """
        unknown = sorted(settings.keys() - self.output_fields.keys())
        if unknown:
            raise ValueError(f"Decision configuration refers to unsupported outputs: {unknown}.")
        for name, own in settings.items():
            if not isinstance(own, Mapping):
                raise ValueError(f"Decision configuration for {name!r} must be a mapping.")
        if not settings:
            return self
        fields = [replace(one, decision=settings.get(one.name, one.decision)) for one in self.fields_in_order]
        return Signature(tuple(fields), self.instructions, self.name)

    def delete(self, name: str) -> Signature:
        """Remove a field; an unknown name only cleans the instructions.

        Raises ValueError for field types that dspy rejects when it makes the new signature.
        """
        return self.without(name).made_by_a_call()

    def made_by_a_call(self) -> Signature:
        """Return the signature; raise ValueError for types that dspy rejects when a call makes it (`NewType`, `List`).

        Rule: `dspy.signatures.signature.make_signature`.
        """
        for one in self.fields_in_order:
            if not isinstance(one.annotation, _TYPES_OF_A_CALL):
                made_of = type(one.annotation)
                raise ValueError(f"Field types must be types, but received: {one.annotation} of type {made_of}.")
        return self

    def without(self, name: str) -> Signature:
        """Remove a field like `delete`, without checking the types of the others."""
        return self._of(one for one in self.fields.values() if one.name != name)

    def prepend(self, name: str, field: Field, type_: object = None) -> Signature:
        return self.insert(0, name, field, type_)

    def append(self, name: str, field: Field, type_: object = None) -> Signature:
        return self.insert(-1, name, field, type_)

    def insert(self, index: int, name: str, field: Field, type_: object = None) -> Signature:
        """Insert `field` at `index` among the fields of its role; negative indices count from the end (-1 appends).

        Raises ValueError if the index is out of range.
        """
        annotation = field.annotation if type_ is None else type_
        if annotation is None:
            annotation = str
        inputs, outputs = list(self.input_fields.values()), list(self.output_fields.values())
        chosen = inputs if field.role == "input" else outputs
        position = index + len(chosen) + 1 if index < 0 else index
        if not 0 <= position <= len(chosen):
            raise ValueError(f"index {index} is outside of the {len(chosen)} {field.role} fields")
        chosen.insert(position, replace(field, name=name, annotation=strip_annotated(annotation)))
        return self._of({one.name: one for one in (*inputs, *outputs)}.values())

    def chain_of_thought(self) -> Signature:
        """Add `reasoning` before the outputs, as in `dspy.ChainOfThought(signature).predict.signature`."""
        return self.prepend("reasoning", OutputField(desc="${reasoning}"), str)

    def equals(self, other: Signature) -> bool:
        """Compare the instructions, and the role, description, prefix and constraints of each field."""

        def face(one: Field) -> tuple[str, str, str, str | None]:
            return one.role, one.desc or f"${{{one.name}}}", one.shown_prefix, one.constraints

        return self.instructions == other.instructions and {name: face(one) for name, one in self.fields.items()} == {
            name: face(one) for name, one in other.fields.items()
        }

    @classmethod
    def of(cls, signature: Any) -> Signature:
        """Return a signature as it is, or converted from a live `dspy.Signature` class. Raises TypeError for others."""
        if isinstance(signature, Signature):
            return signature
        if not isinstance(signature, type) or not hasattr(signature, "fields"):
            kind = f"the class {signature.__name__}" if isinstance(signature, type) else type(signature).__name__
            raise TypeError(
                f"signature: expected an adapters.Signature or a dspy.Signature class, got {kind}; "
                "adapters.read_signature reads one from a text"
            )
        return cls.from_dspy(signature)

    @classmethod
    def from_dspy(cls, signature: Any) -> Signature:
        """Convert a live `dspy.Signature` class from its attributes, without importing dspy."""
        fields = [Field.read_info(name, info, info.json_schema_extra or {}) for name, info in signature.fields.items()]
        return cls(tuple(fields), signature.instructions, signature.__name__)

    def shown(self) -> Shown:
        """Describe the name, instructions and fields for display."""
        rows = [
            (one.name, one.role, name_of(one.annotation), one.description, one.constraints or "")
            for one in self.fields.values()
        ]
        instructions = Passage("instructions", (Piece(self.instructions, "instructions"),))
        table = Table.of(("field", "role", "type", "description", "constraints"), rows)
        return Shown(self.name, (Note(self.signature), instructions, table))

    def _of(self, fields: Iterable[Field]) -> Signature:
        return Signature.make(fields, self.instructions or None)


def _is_of_text(annotation: object) -> bool:
    return getattr(annotation, "__module__", "") == MODULE or any(map(_is_of_text, get_args(annotation)))


@lru_cache(maxsize=1024)
def _fields_only(fields: tuple[Field, ...]) -> Signature:
    return Signature(fields)
