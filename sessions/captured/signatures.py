"""The signature of a live predictor as a session's text: as the program wrote it where that can be found, else anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapters.errors import SignatureError
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.signatures.type_names import name_of
from sessions.captured.described_types import BUILTINS, TypeMaker
from sessions.errors import SessionError
from sessions.imports import proposing
from sessions.imports.chain_of_thought import COT, REASONING
from sessions.imports.reading import text_of
from sessions.model.session import SignatureText
from sessions.source.gathering import gather_text
from sessions.source.linking import is_of_project, linked
from sessions.source.project import SourceError


@dataclass(frozen=True)
class CapturedSignature:
    """The text, what it reads as, and what of the live one it cannot say."""

    text: SignatureText
    signature: Signature
    notes: tuple[str, ...] = ()


def captured(described: Mapping[str, Any], folder: Path) -> CapturedSignature:
    """The text of a description (`workbench.capture.in_your_process.describing.signature`) for a session in `folder`.

    It is linked where its class stands in a file of the session's own project. Raises SignatureError for a signature
    that no text can say.
    """
    maker = TypeMaker(described["classes"])
    live = _live(described, maker)
    for text in _written(described, live, folder):
        if _reads_as(text, live):
            return CapturedSignature(text, text.read())
    for text in _anew(described, live):
        if _reads_as(text, live):
            return CapturedSignature(text, text.read(), tuple(maker.notes))
    # No text says it whole: the nearest is kept, and the prompts it makes will tell the difference.
    text = next(_anew(described, live))
    return CapturedSignature(text, text.read(), (*maker.notes, f"no text says the signature {live.name} whole"))


def _live(described: Mapping[str, Any], maker: TypeMaker) -> Signature:
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
    return Signature(tuple(fields), described["instructions"], described["name"])


def _written(described: Mapping[str, Any], live: Signature, folder: Path) -> Iterator[SignatureText]:
    """The class as the program's file has it, linked where a session here may follow it; with the instructions of the
    live one in the place of its own where those differ."""
    home = described["of"]
    if home is None:
        return
    file, name = Path(home["file"]), home["class"]
    try:
        if is_of_project(file, folder):
            text = linked(file, name, folder)
        else:
            text = SignatureText(gather_text(text_of(str(file)), name), name)
    except (SourceError, SignatureError, SessionError):
        return
    text = replace(text, predictor=described["predictor"])
    yield text
    yield replace(text, instructions=live.instructions)


def _anew(described: Mapping[str, Any], live: Signature) -> Iterator[SignatureText]:
    name = live.name if live.name != "StringSignature" and live.name.isidentifier() else "Captured"
    fields = list(live.fields.values())
    if described["predictor"] == COT:
        bare = [one for one in fields if one.name != REASONING]
        yield replace(_text(bare, live.instructions, name), predictor=COT)
    yield _text(fields, live.instructions, name)


def _text(fields: list[Field], instructions: str, name: str) -> SignatureText:
    """Raises SignatureError for fields that no source can say."""
    try:
        return proposing.signature_text(fields, instructions, name)
    except ValueError as error:
        if isinstance(error, SignatureError):
            raise
        raise SignatureError(str(error)) from None


def _reads_as(text: SignatureText, live: Signature) -> bool:
    try:
        read = text.read()
    except SignatureError:
        return False
    return read.equals(live) and _faces(read) == _faces(live)


def _faces(signature: Signature) -> list[tuple[str, str]]:
    return [(one.name, name_of(one.annotation)) for one in signature.fields.values()]
