"""Compare a session with its program (the verdict `source`): fields, types, descriptions, instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from adapters.errors import SignatureError
from adapters.signatures.signature import Field, Signature
from adapters.signatures.type_names import name_of
from sessions.checking.verdicts import Drift, FixtureResult, Word
from sessions.model.session import Session, SignatureText
from sessions.source.gathering import default_of, digest_of, read_gathered, shape_of
from sessions.source.linking import Follower
from sessions.source.project import SourceError, SourceGoneError
from sessions.text_diff import line_diff

OWN_INSTRUCTIONS = "nothing follows its instructions: they are its own, not those of the class"
"""About a session whose class is linked, but whose instructions were set elsewhere, as by `with_instructions`."""


class SourceVerdict(NamedTuple):
    """The verdict `source`, what differs, and a note on what the link does not follow."""

    word: Word
    drift: tuple[Drift, ...] = ()
    note: str = ""


def check_source(session: Session, folder: Path, follower: Follower) -> SourceVerdict | None:
    """Compare a session in `folder` with its program; None without a link. Never raises.

    Where the session's instructions are not those of the class, equal fields are no pass: it is `empty`, with a note.
    """
    signature = session.signature
    if signature.source is None:
        return None
    try:
        found = follower.follow(signature.source, folder)
        is_same = signature.text == found.text and signature.class_name == found.class_name
        alone = None if is_same and signature.instructions is None else read_alone(signature)
        drift = [] if is_same or alone is None else differences(alone, read_gathered(found, signature.source.file))
    except SourceGoneError as error:
        return SourceVerdict("gone", (Drift("source", "signature.source", str(error)),))
    except SourceError as error:
        return SourceVerdict("refused", (Drift("source", "signature.source", str(error)),))
    except SignatureError as error:
        return SourceVerdict("error", (Drift("source", "signature", str(error)),))
    if drift and digest_of(found.text) == signature.source.digest:
        said = "the session was edited since it was taken from the program; `workbench push` writes that there"
        drift.append(Drift("source", "signature.text", said))
    is_untracked = alone is not None and signature.instructions not in (None, alone.instructions)
    note = OWN_INSTRUCTIONS if is_untracked else ""
    return SourceVerdict("drift" if drift else "empty" if is_untracked else "pass", tuple(drift), note)


def with_source(results: Sequence[FixtureResult], found: SourceVerdict | None) -> list[FixtureResult]:
    """Add the verdict on a session's source to the results of its fixtures."""
    if found is None:
        return list(results)
    word, drift, note = found
    return [
        replace(
            one,
            verdicts={**one.verdicts, "source": word},
            drift=(*drift, *one.drift),
            notes=(*one.notes, *([note] if note else [])),
        )
        for one in results
    ]


NO_LINK = "no link to a program"


def why_unlinked(session: Session) -> str:
    """Return why no program's text is followed for a session; "" when its class and instructions are."""
    if session.signature.source is None:
        return NO_LINK
    try:
        own = session.signature.instructions
        return "" if own in (None, read_alone(session.signature).instructions) else "instructions of its own"
    except SignatureError:  # the verdict `source` says what is wrong
        return ""


def read_alone(signature: SignatureText) -> Signature:
    """Read the text alone, without a session's own instructions or predictor. Raises SignatureError."""
    return replace(signature, predictor="Predict", instructions=None).read()


def differences(before: Signature, after: Signature) -> list[Drift]:
    """Compare the session's signature with the program's, `after`: one drift for each change."""
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
            drifts += _field_drift(field, other)
    kept = [name for name in before.fields if name in after.fields]
    order = [name for name in after.fields if name in before.fields]
    if kept != order:
        drifts.append(Drift("source", "fields", "the order of the fields has changed", tuple(line_diff(kept, order))))
    return drifts


def _field_drift(before: Field, after: Field) -> list[Drift]:
    place, named = f"fields.{before.name}", f"`{before.name}`"
    drifts: list[Drift] = []
    if before.role != after.role:
        drifts.append(_changed(f"{place}.role", f"the role of {named}", before.role, after.role))
    drifts += _type_drift(before, after)
    for what, old, new in (
        ("desc", before.description, after.description),
        ("prefix", before.shown_prefix, after.shown_prefix),
        ("constraints", before.constraints or "", after.constraints or ""),
        ("default", default_of(before), default_of(after)),
    ):
        if old != new:
            drifts.append(_changed(f"{place}.{what}", f"the {_WORDS[what]} of {named}", old, new))
    return drifts


_WORDS = {"desc": "description", "prefix": "prefix", "constraints": "constraints", "default": "default"}


def _type_drift(before: Field, after: Field) -> list[Drift]:
    place = f"fields.{before.name}.type"
    old, new = name_of(before.annotation), name_of(after.annotation)
    if old != new:
        return [_changed(place, f"the type of `{before.name}`", old, new)]
    lines, others = shape_of(before.annotation), shape_of(after.annotation)
    if lines == others:
        return []
    said = f"the type of `{before.name}`, {old}, has a new definition"
    return [Drift("source", place, said, tuple(line_diff(lines, others)))]


def _changed(place: str, what: str, before: str, after: str) -> Drift:
    lines = tuple(line_diff(before.split("\n"), after.split("\n")))
    return Drift("source", place, f"{what} {'have' if place == 'instructions' else 'has'} changed", lines)
