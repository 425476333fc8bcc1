"""A signature's fields as pydantic makes them of dspy's class: names checked, defaults and metadata merged.

dspy's signatures are pydantic models, so what pydantic refuses (a leading underscore, a type it has no schema for, a
constraint that does not fit its type), dspy refuses.
"""

from __future__ import annotations

import ast
import typing
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.signatures.read.plain_types import is_plain, is_plain_field
from adapters.signatures.read.source_text import SourceText, told
from adapters.signatures.signature import MISSING, Field, Role, Signature, desc_text, infer_prefix
from adapters.signatures.type_walk import notes_of, unchecked_in, walk

TAKEN_NAMES = frozenset({"fields", "signature", "instructions", "input_fields", "output_fields", "model_config"})
"""Names of properties of dspy's own class, with which a signature fails there too."""


@dataclass(frozen=True)
class Draft:
    """A field as written: `info` None means that neither InputField nor OutputField stands there."""

    name: str
    annotation: Any
    info: FieldInfo | None
    source: SourceText
    node: ast.AST
    notes: tuple[str, ...] = ()

    @property
    def role(self) -> Role | None:
        """Input or output, by its own field or by one in its `Annotated`."""
        metadata = getattr(self.annotation, "__metadata__", ())
        for info in (self.info, *(one for one in metadata if isinstance(one, FieldInfo))):
            extra = info.json_schema_extra if info is not None else None
            role = extra.get("__dspy_field_type") if isinstance(extra, dict) else None
            if role == "input" or role == "output":
                return "input" if role == "input" else "output"
        return None

    def error(self, message: str, hint: str = "") -> SignatureError:
        return self.source.error(self.node, message, hint)


def make_fields(drafts: Sequence[Draft], name: str) -> tuple[Field, ...]:
    """The fields, in the order of `drafts`. Raises SignatureError where dspy fails to declare the class."""
    for draft in drafts:
        _check_name(draft)
    if all(is_plain_field(draft.name, draft.annotation, draft.info) for draft in drafts):
        return tuple([_field(one, FieldInfo.from_annotated_attribute(one.annotation, one.info)) for one in drafts])
    definitions: dict[str, Any] = {
        draft.name: draft.annotation if draft.info is None else (draft.annotation, draft.info) for draft in drafts
    }
    try:
        model = _model(name, definitions)
    except Exception as error:  # pydantic raises many kinds for a field that it cannot make
        raise _culprit(drafts, name, error) from None
    for draft in drafts:
        if any(isinstance(part, typing.ForwardRef) for part in walk(model.model_fields[draft.name].annotation)):
            raise draft.error(
                f"field `{draft.name}`: its type is defined by itself", "a class can name itself, an alias cannot"
            )
    return tuple(_field(draft, model.model_fields[draft.name]) for draft in drafts)


def _model(name: str, definitions: dict[str, Any]) -> type[BaseModel]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return create_model(name, **definitions)


def _check_name(draft: Draft) -> None:
    if draft.name in TAKEN_NAMES:
        raise draft.error(
            f"`{draft.name}` cannot be a field: dspy's signatures use that name", f"for example {draft.name}_"
        )
    if draft.name.startswith("_"):
        rest = draft.name.lstrip("_") or "x"
        raise draft.error(f"field names cannot begin with an underscore: `{draft.name}`", f"{rest}")


def _culprit(drafts: Sequence[Draft], name: str, error: Exception) -> SignatureError:
    """The error at the field that causes it, found by declaring each alone."""
    for draft in drafts:
        alone = draft.annotation if draft.info is None else (draft.annotation, draft.info)
        try:
            _model(name, {draft.name: alone})
        except Exception as own:  # the same, of one field
            return draft.error(f"field `{draft.name}`: {_told(own)}", _hint(own))
    return drafts[0].error(_told(error), _hint(error))


def _told(error: Exception) -> str:
    text = told(error)
    if "conflicts with member" in text:
        return "pydantic's models use that name themselves"
    if isinstance(error, PydanticSchemaGenerationError):
        return text.partition(". Set `arbitrary_types_allowed")[0]
    if isinstance(error, RecursionError):
        return "the type is nested too deeply"
    return text


def _hint(error: Exception) -> str:
    if isinstance(error, PydanticSchemaGenerationError):
        return "dspy refuses this type too"
    return ""


def _field(draft: Draft, info: FieldInfo) -> Field:
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    role = extra.get("__dspy_field_type")
    if role not in ("input", "output"):
        raise draft.error(
            f"field `{draft.name}` must be declared with InputField or OutputField",
            f"{draft.name}: ... = dspy.InputField()",
        )
    complete = {**extra}
    complete.setdefault("prefix", infer_prefix(draft.name) + ":")
    complete.setdefault("desc", f"${{{draft.name}}}")
    info.json_schema_extra = complete
    chosen: Role = "input" if role == "input" else "output"
    required = info.is_required()
    return Field(
        name=draft.name,
        role=chosen,
        annotation=info.annotation,
        desc=desc_text(extra),
        prefix=_text(extra.get("prefix")),
        constraints=_text(extra.get("constraints")),
        default=MISSING if required or info.default_factory is not None else info.default,
        default_factory=info.default_factory,  # type: ignore[arg-type]
        notes=draft.notes if is_plain(info.annotation) else (*draft.notes, *notes_of(info.annotation, info.metadata)),
        unchecked=() if is_plain(info.annotation) else unchecked_in(info.annotation),
        info=info,
        type_was_given=not extra.get("IS_TYPE_UNDEFINED", False),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(frozen=True, eq=False)
class SignatureSource:
    """A signature class as written: its own and inherited fields, and its docstring (None: dspy's sentence)."""

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
