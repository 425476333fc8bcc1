"""Variants: other wordings of the instructions and of fields' descriptions, under tags, tried beside the original.

A variant remembers the text it was written for. When that has changed since it is stale: it is not used, it says so,
and it stays in the session until its owner removes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from adapters.signatures.signature import Signature
from sessions.model.session import Column, Session, SignatureText, Variant

INSTRUCTIONS = "instructions"

State = Literal["current", "stale", "lost"]
"""current: in use · stale: its original has changed · lost: the field it was written for is gone."""

_TAG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DESCRIPTION = re.compile(r"fields\.(\w+)\.desc")

ORIGINAL_TAG = "original"


class VariantError(ValueError):
    """A variant that cannot be made, and what would work."""


@dataclass(frozen=True)
class VariantUse:
    """A variant as it stands to today's signature; `original` is today's text, None where there is none any more."""

    variant: Variant
    state: State
    original: str | None


def tags(session: Session) -> tuple[str, ...]:
    """The tags in use, in the order of the file."""
    return tuple(dict.fromkeys(one.tag for one in session.variants))


def original_of(signature: Signature, of: str) -> str | None:
    """The text that `of` (`instructions` or `fields.NAME.desc`) names; None for a field that is not there."""
    if of == INSTRUCTIONS:
        return signature.instructions
    found = _DESCRIPTION.fullmatch(of)
    field = signature.fields.get(found.group(1)) if found is not None else None
    return None if field is None else field.description


def uses(session: Session, tag: str | None = None) -> tuple[VariantUse, ...]:
    """Every variant (of `tag`) with its state. Raises `adapters.errors.SignatureError`."""
    signature = session.signature.read()
    return tuple([use_of(signature, one) for one in session.variants if tag is None or one.tag == tag])


def use_of(signature: Signature, variant: Variant) -> VariantUse:
    """The variant as it stands to this signature."""
    original = original_of(signature, variant.of)
    if original is None:
        return VariantUse(variant, "lost", None)
    is_current = not variant.original or variant.original == Variant.hash_of(original)
    return VariantUse(variant, "current" if is_current else "stale", original)


def apply(session: Session, tag: str) -> Signature:
    """The session's signature with the current variants of `tag`; stale and lost ones leave the original as it is.

    An unknown tag is an error (`VariantError`), so that no comparison is silently with itself.
    """
    if tag not in tags(session):
        raise VariantError(f"no variant has the tag {tag!r}; there are {list(tags(session))}")
    signature = session.signature.read()
    for use in uses(session, tag):
        if use.state != "current":
            continue
        found = _DESCRIPTION.fullmatch(use.variant.of)
        if found is None:
            signature = signature.with_instructions(use.variant.text)
        else:
            signature = signature.with_updated_fields(found.group(1), desc=use.variant.text)
    return signature


def check_tag(tag: str) -> None:
    """Raises `VariantError` for what is no tag, or a tag that is taken."""
    if not _TAG.fullmatch(tag):
        raise VariantError(f"the tag {tag[:80]!r} must match ^{_TAG.pattern}$, for example `shorter` or `v2`")
    if tag == ORIGINAL_TAG:
        raise VariantError(f"the tag {ORIGINAL_TAG!r} is the signature itself; choose another")


def targets(signature: Signature) -> tuple[str, ...]:
    """Return the texts that can have variants: the instructions and the descriptions of fields."""
    return (INSTRUCTIONS, *(f"fields.{name}.desc" for name in signature.fields))


def apply_variant(session: Session, tag: str, of: str, text: str) -> Session:
    """Add a variant to the session; it replaces the variant of the same tag and text.

    No other variant is touched, stale ones included. Raises `VariantError`, `adapters.errors.SignatureError`.
    """
    check_tag(tag)
    original = original_of(session.signature.read(), of)
    if original is None:
        raise VariantError(f"there is nothing called {of!r}; variants are of `instructions` or `fields.NAME.desc`")
    made = Variant(tag, of, text, Variant.hash_of(original))
    places = [index for index, one in enumerate(session.variants) if (one.tag, one.of) == (tag, of)]
    if not places:
        return replace(session, variants=(*session.variants, made))
    kept = replace(made, extra=session.variants[places[0]].extra)
    listed = [kept if index == places[0] else one for index, one in enumerate(session.variants)]
    return replace(session, variants=tuple(listed))


def columns_of(column: Column, tags: Sequence[str]) -> tuple[Column, ...]:
    """The column as it is, and once for each tag: what to compare. The id names the tag."""
    return (column, *(replace(column, id=f"{column.id} · {tag}", variant=tag) for tag in tags))


@dataclass(frozen=True)
class VariedSignature(SignatureText):
    """A signature text that is read with variants in it. For rendering and sending only, never for saving."""

    varied: Signature | None = None

    def read(self) -> Signature:
        return self.varied if self.varied is not None else super().read()


def session_of(session: Session, column: Column) -> Session:
    """The session as the column sees it: with the variants of its tag, the same object where it has none.

    Raises `VariantError` and `adapters.errors.SignatureError`.
    """
    if column.variant is None:
        return session
    text = session.signature
    # The same object for the same content, since caches go by its identity
    own = [part for one in session.variants if one.tag == column.variant for part in (one.of, one.text, one.original)]
    own += [part for one in text.tools.items() for part in one]
    key = (text.text, text.class_name, text.predictor, text.instructions, text.decisions_as_text, column.variant, *own)
    if key not in _made:
        made = apply(Session(text, variants=session.variants, tools=session.tools), column.variant)
        if len(_made) >= 64:
            _made.clear()
        _made[key] = made
    varied = _made[key]
    signature = VariedSignature(
        text.text, text.class_name, text.predictor, text.instructions, decisions=text.decisions, varied=varied
    )
    return replace(session, signature=signature)


_made: dict[tuple[str | None, ...], Signature] = {}
