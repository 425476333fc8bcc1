"""Read the text and JSON of imported files, with errors that name the place; the result of an import."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from adapters.late_dataclasses import dataclass
from sessions.errors import SessionError
from sessions.file import json_values, store
from sessions.file.store import SIZE_LIMIT
from sessions.file.whole_files import did_you_mean
from sessions.model.session import Session


@dataclass(frozen=True)
class Imported:
    """The result of an import: a session, notes and open questions.

    `notes` list what was found, imported and skipped. `questions` list what the file lacks and the proposals for it; a
    session with questions is a proposal for its user to accept or answer. `has_signature` is False if the signature
    was given, so that merging keeps the session's own. `is_bare_text` marks a signature's source, which holds neither
    the predictor nor instructions that override its own.
    """

    session: Session
    notes: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    has_signature: bool = True
    is_bare_text: bool = False
    by_name: bool = False
    """True if its cases update cases of the same name, whose recordings and replies stay."""
    guesses: tuple[str, ...] = ()
    """Assumptions about facts that a pasted text lacks. Unlike `questions` they need no answer."""


KEPT = "imported"
"""The key of `extra` for imported data that sessions have no field for."""


UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16, in which Excel saves "Unicode text"."""
LINES = (".jsonl", ".ndjson")
GIVE_SIGNATURE = "give the signature with --signature"
"""The hint of errors about fields that an import lacks; the app asks for the signature."""
PICKLES = (".pkl", ".pickle", ".joblib")
HOW_TO_SAVE = "in dspy, `program.save('program.json')` writes JSON, which is read here"


def text_of(path: str) -> str:
    """Read a file in UTF-8, or UTF-16 with a byte order mark. Raises `SessionError`, also for pickles."""
    file = Path(path)
    if file.is_dir():
        if any((file / name).exists() for name in ("program.pkl", "metadata.json")):
            raise pickled(path, "this is a dspy program saved whole")
        raise SessionError(path, "", "this is a folder", "name the file in it")
    if file.suffix.lower() in PICKLES:
        raise pickled(path, "this is a pickle")
    try:
        with file.open("rb") as opened:
            content = opened.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise SessionError(path, "", "there is no such file", did_you_mean(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SessionError(path, "", f"cannot be read: {reason.lower()}") from None
    if len(content) > SIZE_LIMIT:
        raise SessionError(path, "", f"too large: the limit is {SIZE_LIMIT:,} bytes", "import it in parts")
    if content[:1] == b"\x80" or content[:2] == b"PK":
        raise pickled(path, "this is a pickle")
    return store.text_in(content, path, "utf-16" if content[:2] in UTF_16_MARKS else "utf-8-sig")


def pickled(path: str, what: str, hint: str = HOW_TO_SAVE) -> SessionError:
    """Return the error for a pickle."""
    return SessionError(path, "", f"{what}, which is not read because unpickling runs the code in it", hint)


def json_of(text: str, path: str, place: str = "") -> Any:
    """Parse a JSON text without repairs. Raises `SessionError` with line and column, or at `place`."""
    try:
        value = json.loads(text, object_pairs_hook=json_values.unique_keys)
    except json.JSONDecodeError as error:
        at, message, hint = json_values.describe_syntax_error(error)
        raise SessionError(path, place or at, message, hint) from None
    except json_values.DuplicateKeyError as error:
        raise SessionError(path, place, f"the key {error.key!r} appears twice in one object") from None
    except RecursionError:
        raise SessionError(path, place, store.TOO_DEEP) from None
    except ValueError as error:
        raise SessionError(path, place, str(error)) from None
    if json_values.is_deeper_than(value, json_values.DEPTH):
        raise SessionError(path, place, store.TOO_DEEP)
    return value


def decoded(value: object, read: Callable[[str], Any] = json.loads) -> Any:
    """Decode a text that is JSON for `read`; return any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return read(value)
    except (ValueError, RecursionError):
        return value


def dict_in(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_in(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none for other values."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list | tuple) else []


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
