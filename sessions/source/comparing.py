"""Whether the program that a session was taken from still says what the session says (the verdict `source`), and if
not, what differs: fields, types, descriptions, instructions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.errors import SignatureError
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.signatures.type_names import name_of
from adapters.types.pydantic_schema import json_schema
from sessions.fixtures.verdicts import Drift, FixtureResult, Word
from sessions.line_diff import line_diff
from sessions.model.session import Session, SignatureText
from sessions.source.gathering import digest_of, read_gathered
from sessions.source.linking import Follower
from sessions.source.project import SourceError, SourceGoneError


def check_source(session: Session, folder: Path, follower: Follower) -> tuple[Word, tuple[Drift, ...]] | None:
    """The verdict on a session in `folder`; None without a link. `pass`, `drift`, `gone` or `refused`. Never raises."""
    signature = session.signature
    if signature.source is None:
        return None
    try:
        found = follower.follow(signature.source, folder)
        if signature.text == found.text and signature.class_name == found.class_name:
            return "pass", ()
        drift = differences(read_alone(signature), read_gathered(found, signature.source.file))
    except SourceGoneError as error:
        return "gone", (Drift("source", "signature.source", str(error)),)
    except SourceError as error:
        return "refused", (Drift("source", "signature.source", str(error)),)
    except SignatureError as error:
        return "error", (Drift("source", "signature", str(error)),)
    if not drift:
        return "pass", ()
    if digest_of(found.text) == signature.source.digest:
        said = "the session was edited since it was taken from the program; `workbench push` writes that there"
        drift.append(Drift("source", "signature.text", said))
    return "drift", tuple(drift)


def with_source(results: Sequence[FixtureResult], found: tuple[Word, tuple[Drift, ...]] | None) -> list[FixtureResult]:
    """The results of a session's fixtures with the verdict on its source beside the others."""
    if found is None:
        return list(results)
    word, drift = found
    return [replace(one, verdicts={**one.verdicts, "source": word}, drift=(*drift, *one.drift)) for one in results]


def read_alone(signature: SignatureText) -> Signature:
    """What the text says by itself, without what a session puts on top of it. Raises SignatureError."""
    return replace(signature, predictor="Predict", instructions=None).read()


def differences(before: Signature, after: Signature) -> list[Drift]:
    """How `after`, the program's, is not `before`, the session's; one drift a thing that changed."""
    drifts: list[Drift] = []
    if before.instructions != after.instructions:
        drifts.append(_changed("instructions", "the instructions", before.instructions, after.instructions))
    for name, field in after.fields.items():
        if name not in before.fields:
            said = f"the {field.role} field `{name}` ({name_of(field.annotation)}) is new"
            drifts.append(Drift("source", f"fields.{name}", said, (f"+{name}: {name_of(field.annotation)}",)))
    for name, field in before.fields.items():
        other = after.fields.get(name)
        if other is None:
            said = f"the {field.role} field `{name}` is gone"
            drifts.append(Drift("source", f"fields.{name}", said, (f"-{name}: {name_of(field.annotation)}",)))
        else:
            drifts += _of_field(field, other)
    kept = [name for name in before.fields if name in after.fields]
    order = [name for name in after.fields if name in before.fields]
    if kept != order:
        drifts.append(Drift("source", "fields", "the order of the fields has changed", tuple(line_diff(kept, order))))
    return drifts


def _of_field(before: Field, after: Field) -> list[Drift]:
    place, named = f"fields.{before.name}", f"`{before.name}`"
    drifts: list[Drift] = []
    if before.role != after.role:
        drifts.append(_changed(f"{place}.role", f"the role of {named}", before.role, after.role))
    drifts += _of_type(before, after)
    for what, old, new in (
        ("desc", before.description, after.description),
        ("prefix", before.shown_prefix, after.shown_prefix),
        ("constraints", before.constraints or "", after.constraints or ""),
        ("default", _default(before), _default(after)),
    ):
        if old != new:
            drifts.append(_changed(f"{place}.{what}", f"the {_WORDS[what]} of {named}", old, new))
    return drifts


_WORDS = {"desc": "description", "prefix": "prefix", "constraints": "constraints", "default": "default"}


def _of_type(before: Field, after: Field) -> list[Drift]:
    place = f"fields.{before.name}.type"
    old, new = name_of(before.annotation), name_of(after.annotation)
    if old != new:
        return [_changed(place, f"the type of `{before.name}`", old, new)]
    lines, others = _shape(before.annotation), _shape(after.annotation)
    if lines == others:
        return []
    said = f"the type of `{before.name}`, {old}, is defined otherwise"
    return [Drift("source", place, said, tuple(line_diff(lines, others)))]


def _shape(annotation: Any) -> Sequence[str]:
    """The JSON schema of a type as lines, with the docstrings and descriptions of its models; its name without one."""
    try:
        return json.dumps(json_schema(annotation), indent=1, ensure_ascii=False, default=str).split("\n")
    except Exception:  # pydantic raises whatever it likes for a type of which it has no schema
        return [str(annotation)]


def _default(field: Field) -> str:
    if field.default_factory is not None:
        return f"{getattr(field.default_factory, '__name__', 'a factory')}()"
    return "" if field.default is MISSING else repr(field.default)


def _changed(place: str, what: str, before: str, after: str) -> Drift:
    lines = tuple(line_diff(before.split("\n"), after.split("\n")))
    return Drift("source", place, f"{what} {'have' if place == 'instructions' else 'has'} changed", lines)
