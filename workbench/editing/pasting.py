"""Rows of demos from the clipboard: JSON, JSON Lines, or a table with a header of field names."""

from __future__ import annotations

from adapters.errors import SignatureError
from sessions.errors import SessionError
from sessions.imports import demos as readers
from sessions.imports.result import Imported
from sessions.model.session import Demo, SignatureText

FROM = "what was pasted"


def demos_in(text: str, signature: SignatureText) -> tuple[tuple[Demo, ...], tuple[str, ...]]:
    """The demos that a pasted text holds, and what to say about them.

    One JSON object is one demo. Raises `SessionError`, naming the row, for what is none of the three formats.
    """
    start = text.lstrip()[:1]
    try:
        if start == "[":
            found = readers.from_json(text, FROM, signature)
        elif start == "{":
            found = _objects(text, signature)
        else:
            found = readers.from_csv(text.strip("\n") + "\n", FROM, signature)
    except SignatureError as error:
        raise SessionError(FROM, "", f"the signature cannot be read: {error}") from None
    return found.session.demos, (*found.notes, *found.questions)


def _objects(text: str, signature: SignatureText) -> Imported:
    """JSON Lines; where that fails, one object over several lines."""
    try:
        return readers.from_json_lines(text, FROM, signature)
    except SessionError as error:
        try:
            return readers.from_json(f"[{text}]", FROM, signature)
        except SessionError:
            raise error from None
