"""Convert the signature of a live predictor to session text: the program's own text if found, else generated.

The program's side describes its types; `TypeMaker` makes classes from the descriptions.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import typing
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pydantic
import typing_extensions

import adapters.types
from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, field, replace
from adapters.signatures import notation
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.signatures.type_names import name_of
from sessions.errors import SessionError
from sessions.imports import proposing
from sessions.imports.proposing import COT, REASONING
from sessions.imports.reading import text_of
from sessions.model.session import SignatureText
from sessions.source.gathering import gather_text
from sessions.source.linking import is_of_project, linked
from sessions.source.places import places_of
from sessions.source.project import SourceError

BUILTINS: Mapping[str, type] = MappingProxyType(
    {one.__name__: one for one in (str, int, float, bool, bytes, complex, list, dict, tuple, set, frozenset, object)}
)
NAMED: Mapping[str, Any] = MappingProxyType({"None": type(None), "Any": Any, "...": ..., **BUILTINS})
MODULES = MappingProxyType({one.__name__: one for one in (datetime, decimal, uuid, pathlib, fractions, ipaddress)})
"""Standard library modules whose classes can be field types."""

Described = Mapping[str, Any]
"""A signature, type or field as the program's side describes it."""


@dataclass(eq=False)
class TypeMaker:
    """Makes types from descriptions. Unsupported types become Any, with an entry in `notes`."""

    _described: Mapping[str, Mapping[str, Any]]
    _made: dict[str, Any] = field(default_factory=dict)
    _making: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def make(self, described: Any) -> Any:
        """Make the type described by `workbench.capture.in_your_process.describing.annotation`."""
        if isinstance(described, str):
            return NAMED[described] if described in NAMED else self._unknown(described)
        if "class" in described:
            return self._class(described["class"])
        if "literal" in described:
            return typing.Literal[tuple([self.value(one) for one in described["literal"]])]
        if "union" in described:
            return typing.Union[tuple([self.make(one) for one in described["union"]])]  # noqa: UP007
        if "annotated" in described:
            inner, details = self.make(described["annotated"]), described["details"]
            return typing.Annotated[inner, pydantic.Field(**details)] if details else inner
        if "generic" in described:
            origin = self.make(described["generic"])
            arguments = tuple([self.make(one) for one in described["arguments"]])
            if not hasattr(origin, "__class_getitem__"):
                return self._unknown(str(origin))
            return origin[arguments if len(arguments) != 1 else arguments[0]]
        return self._unknown(str(described.get("unknown")))

    def value(self, data: object) -> Any:
        """Convert an enum member to its value in a class made here. Return other data unchanged."""
        if isinstance(data, dict) and data.get("$type") == "enum":
            cls, _, member = str(data.get("name")).rpartition(".")
            for key, made in self._made.items():
                if key.rpartition(":")[2] == cls and isinstance(made, type) and issubclass(made, enum.Enum):
                    return made[member]
        return data

    def _unknown(self, what: str) -> Any:
        self.notes.append(f"the type {what} cannot be written in a session: `Any` is used in its place")
        return Any

    def _class(self, key: str) -> Any:
        described = self._described[key]
        if key in self._made:
            return self._made[key]
        if key in self._making:
            return typing.ForwardRef(described["name"])
        self._making.append(key)
        try:
            made = self._made_of(described, key)
        except Exception as error:  # pydantic raises many kinds of errors
            made = self._unknown(f"{described['name']} ({type(error).__name__}: {error})"[:300])
        self._making.remove(key)
        self._made[key] = made
        return made

    def _made_of(self, described: Described, key: str) -> Any:
        name, kind = described["name"], described["kind"]
        if kind == "dspy":
            return getattr(adapters.types, name)
        if kind == "known":
            return getattr(MODULES[described["module"]], name)
        if kind == "enum":
            base = BUILTINS.get(str(described["base"]))
            members = [(one, value) for one, value in described["members"]]
            made: Any = enum.Enum(name, members, type=base) if base else enum.Enum(name, members)
            made.__doc__ = described.get("doc")
            return made
        if kind == "model":
            return self._model(described)
        if kind == "dataclass":
            fields: list[Any] = []
            for one in described["fields"]:
                made_type = self.make(one["type"])
                has = "default" in one and not isinstance(one["default"], list | dict)
                fields.append((one["name"], made_type, one["default"]) if has else (one["name"], made_type))
            made = dataclasses.make_dataclass(name, fields)
            made.__doc__ = described.get("doc")
            return made
        if kind == "typed dict":
            parts = {one["name"]: self.make(one["type"]) for one in described["fields"]}
            return typing_extensions.TypedDict(name, parts, total=described["total"])  # type: ignore[operator]
        return self._unknown(key.replace(":", "."))

    def _model(self, described: Described) -> Any:
        fields: dict[str, Any] = {}
        for one in described["fields"]:
            annotation = self.make(one["type"])  # first, as the default may be a member of it
            arguments = dict(one["arguments"])
            if "factory" in one:
                arguments["default_factory"] = BUILTINS[one["factory"]]
            elif "default" in one:
                arguments["default"] = self.value(one["default"])
            fields[one["name"]] = (annotation, pydantic.Field(**arguments))
        settings: Any = dict(described["settings"])
        made = pydantic.create_model(described["name"], __config__=settings, **fields)
        made.__doc__ = described.get("doc")
        made.model_rebuild(force=True, _types_namespace={described["name"]: made})
        return made


@dataclass(frozen=True)
class CapturedSignature:
    """The text, its parsed signature, and notes on what the text cannot express."""

    text: SignatureText
    signature: Signature
    notes: tuple[str, ...] = ()


def captured(described: Described, folder: Path, name: str = "") -> CapturedSignature:
    """Return the text of a description (`workbench.capture.in_your_process.describing.signature`).

    It is linked if its class, or the expression that makes it, is in a file of the project of the session in `folder`;
    `name`, the predictor's, selects among equivalent expressions. Raises SignatureError for a signature that no text
    can express.
    """
    maker = TypeMaker(described["classes"])
    fields: list[Field] = []
    for one in described["fields"]:
        factory = one.get("factory")
        annotation = maker.make(one["type"])
        fields.append(
            Field(
                name=one["name"],
                role=one["role"],
                annotation=annotation,
                desc=one["desc"],
                prefix=one["prefix"],
                constraints=one["constraints"],
                default=maker.value(one["default"]) if "default" in one else MISSING,
                default_factory=BUILTINS[factory] if factory else None,
                type_was_given=one["type_was_given"],
            )
        )
    live = Signature(tuple(fields), described["instructions"], described["name"])
    for text in _written(described, live, folder, name):
        if reads_as(text, live):
            return CapturedSignature(text, text.read())
    for text in _anew(described, live):
        if reads_as(text, live):
            return CapturedSignature(text, text.read(), tuple(maker.notes))
    # No text expresses it fully: keep the nearest, and let its prompts show the difference.
    text = next(_anew(described, live))
    return CapturedSignature(text, text.read(), (*maker.notes, f"no text describes the whole signature {live.name}"))


def _written(described: Described, live: Signature, folder: Path, name: str) -> Iterator[SignatureText]:
    """Yield candidate texts from the program's files: the class, or the expression that makes it.

    They are linked if a session here may follow the link. The last candidates combine the class with the live
    instructions.
    """
    homes = [described["of"], described.get("react", {}).get("of")]
    of_home, of_agent = [None if home is None else (Path(home["file"]), home["class"]) for home in homes]
    candidates: list[tuple[Path, str]] = [one for one in (of_agent, of_home) if one is not None]
    tried = [text for one in candidates if (text := _linked(described, *one, folder)) is not None]
    yield from tried
    words = name.split(".")
    for file in map(Path, described.get("files", ())):
        if not is_of_project(file, folder):
            continue
        try:
            content = text_of(str(file))
            names = [*notation.class_names(content), *places_of(content)]
        except (SignatureError, SessionError):
            continue
        for one in sorted(names, key=lambda place: not set(words) & set(place.split("."))):
            text = _linked(described, file, one, folder)
            if text is not None:
                yield text
    if of_home is not None and of_agent is None:
        yield from (replace(text, instructions=live.instructions) for text in tried)


def _linked(described: Described, file: Path, name: str, folder: Path) -> SignatureText | None:
    react = described.get("react", {})
    try:
        if is_of_project(file, folder):
            text = linked(file, name, folder, react.get("part", ""), react.get("tools", {}))
        elif react:
            return None
        else:
            text = gather_text(text_of(str(file)), name)
    except (SourceError, SignatureError, SessionError):
        return None
    return replace(text, predictor=described["predictor"])


def _anew(described: Mapping[str, object], live: Signature) -> Iterator[SignatureText]:
    name = live.name if live.name != "StringSignature" and live.name.isidentifier() else "Captured"
    fields = list(live.fields.values())
    if described["predictor"] == COT:
        bare = [one for one in fields if one.name != REASONING]
        yield replace(proposing.signature_text(bare, live.instructions, name), predictor=COT)
    yield proposing.signature_text(fields, live.instructions, name)


def reads_as(text: SignatureText, live: Signature) -> bool:
    """Return whether a text expresses a signature, with the same types."""
    try:
        read = text.read()
    except SignatureError:
        return False
    ours, theirs = [{name: name_of(one.annotation) for name, one in each.fields.items()} for each in (read, live)]
    return read.equals(live) and list(ours.items()) == list(theirs.items())
