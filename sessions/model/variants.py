"""Variants: tagged alternative texts for the instructions and fields' descriptions, compared with the original.

A variant remembers the text for which it was written. If that text changes, the variant is stale: it is marked, no
longer used, and stays in the session until its owner removes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.signature import Signature
from sessions.model.session import Column, Session, SignatureText, Variant

INSTRUCTIONS = "instructions"

State = Literal["current", "stale", "lost"]
"""`current`: in use. `stale`: its original changed. `lost`: its field was removed."""

_TAG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DESCRIPTION = re.compile(r"fields\.(\w+)\.desc")

ORIGINAL_TAG = "original"


class VariantError(ValueError):
    """Raised for an invalid variant or tag; the message has a remedy."""


@dataclass(frozen=True)
class VariantUse:
    """A variant's state for the current signature; `original` is the current text, None if it was removed."""

    variant: Variant
    state: State
    original: str | None


def tags(session: Session) -> tuple[str, ...]:
    """Return the tags in use, in the order of the file."""
    return tuple(dict.fromkeys(one.tag for one in session.variants))


def original_of(signature: Signature, of: str) -> str | None:
    """Return the text named by `of` (`instructions` or `fields.NAME.desc`); None for a missing field."""
    if of == INSTRUCTIONS:
        return signature.instructions
    found = _DESCRIPTION.fullmatch(of)
    field = signature.fields.get(found.group(1)) if found is not None else None
    return None if field is None else field.description


def uses(session: Session, tag: str | None = None) -> tuple[VariantUse, ...]:
    """Return all variants (of `tag`) with their states. Raises `adapters.errors.SignatureError`."""
    signature = session.signature.read()
    return tuple([use_of(signature, one) for one in session.variants if tag is None or one.tag == tag])


def use_of(signature: Signature, variant: Variant) -> VariantUse:
    """Determine the state of a variant for this signature."""
    original = original_of(signature, variant.of)
    if original is None:
        return VariantUse(variant, "lost", None)
    is_current = not variant.original or variant.original == Variant.hash_of(original)
    return VariantUse(variant, "current" if is_current else "stale", original)


def apply(session: Session, tag: str) -> Signature:
    """Apply the current variants of `tag` to the session's signature; stale and lost variants are ignored.

    Raises `VariantError` for an unknown tag, so that nothing is silently compared with itself.
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
    """Raise `VariantError` for an invalid or reserved tag."""
    if not _TAG.fullmatch(tag):
        raise VariantError(
            f"the tag {tag[:80]!r} must match ^{_TAG.pattern}$: lower-case letters, digits, dots, hyphens and"
            " underscores, for example `shorter` or `v2`"
        )
    if tag == ORIGINAL_TAG:
        raise VariantError(f"the tag {ORIGINAL_TAG!r} is the signature itself; choose another")


def targets(signature: Signature) -> tuple[str, ...]:
    """Return the texts that can have variants: the instructions and the descriptions of fields."""
    return (INSTRUCTIONS, *(f"fields.{name}.desc" for name in signature.fields))


def apply_variant(session: Session, tag: str, of: str, text: str) -> Session:
    """Add a variant to the session, replacing the variant with the same tag and target `of`.

    Other variants, including stale ones, are unchanged. Raises `VariantError`, `adapters.errors.SignatureError`.
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
    """Return the column and a copy for each tag, with the tag in its id."""
    return (column, *(replace(column, id=f"{column.id} · {tag}", variant=tag) for tag in tags))


@dataclass(frozen=True)
class VariedSignature(SignatureText):
    """A signature text with variants applied, for rendering and sending only, never for saving."""

    varied: Signature | None = None

    def read(self) -> Signature:
        return self.varied if self.varied is not None else super().read()


def session_of(session: Session, column: Column) -> Session:
    """Return the session with the variants of the column's tag; without a tag, the session itself.

    Raises `VariantError` and `adapters.errors.SignatureError`.
    """
    if column.variant is None:
        return session
    text = session.signature
    # the same object for the same content, because caches use its identity
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
