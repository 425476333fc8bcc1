"""What an import gives: a session, what was done to make it, and what a person has to decide first."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.model.session import Session


@dataclass(frozen=True)
class Imported:
    """A session made of somebody's file.

    `notes` say what was found, taken and left. `questions` are what the file does not say and what was proposed in its
    place: a session with questions is a proposal, which its user accepts or answers. `has_signature` is False where the
    signature was given, so that merging keeps the session's own. With `is_bare_text` the file is a signature's source,
    which says neither the predictor nor instructions in the place of its own.
    """

    session: Session
    notes: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    has_signature: bool = True
    is_bare_text: bool = False
    by_name: bool = False
    """Whether its cases take the place of those of the same name, whose recordings and replies stay."""


KEPT = "imported"
"""The key of `extra` under which what has no place in a session is kept."""
