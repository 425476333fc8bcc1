"""Read session files with errors that name the place; write them atomically."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable

from adapters.late_dataclasses import dataclass
from sessions.errors import SessionError
from sessions.file import file_format, json_values, whole_files
from sessions.file.json_values import WrittenParts
from sessions.file.whole_files import PathLike, did_you_mean, locked
from sessions.model.session import Session
from sessions.text_diff import line_diff

SIZE_LIMIT = 64_000_000
"""Bytes. Teams commit and review sessions; a larger file is probably something else, and would stall the app."""

STRUCTURE_DEPTH = 16
"""The levels of nesting that the file adds around users' values."""
TOO_DEEP = f"nested too deep: the limit for a value is {json_values.DEPTH} levels"


@dataclass(frozen=True)
class Fingerprint:
    """The SHA-256 of a file's content, independent of its timestamps."""

    sha256: str

    @staticmethod
    def of(content: bytes) -> Fingerprint:
        return Fingerprint(hashlib.sha256(content).hexdigest())


@dataclass(frozen=True)
class Opened:
    """A session and the fingerprint of its file."""

    session: Session
    fingerprint: Fingerprint


class ChangedOnDiskError(SessionError):
    """Raised if the file changed since it was opened, so that saving would lose others' work."""

    def __init__(self, path: str) -> None:
        message = "the file has changed on disk since it was opened"
        super().__init__(path, "", message, "open it again, keep yours, or save under another name")


class FileIsThereError(SessionError):
    """Raised if a file that is to be new is there already."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "", "the file is there already", "save under another name")


def load(path: PathLike) -> Session:
    """Load a session file. Raises `SessionError` for anything but a complete, valid session."""
    name = os.fspath(path)
    return loads(text_in(_read(name), name), name)


def open_file(path: PathLike) -> Opened:
    """Load a session with its fingerprint for `save` and `has_changed`. Raises `SessionError`."""
    name = os.fspath(path)
    content = _read(name)
    return Opened(loads(text_in(content, name), name), Fingerprint.of(content))


def fingerprint(path: PathLike) -> Fingerprint | None:
    """Return the fingerprint of a file; None if it cannot be read."""
    try:
        return Fingerprint.of(_read(os.fspath(path)))
    except SessionError:
        return None


def has_changed(path: PathLike, since: Fingerprint) -> bool:
    """Return whether the content changed; a missing file counts as unchanged."""
    try:
        return Fingerprint.of(_read(os.fspath(path))) != since
    except SessionError as error:
        return not isinstance(error.__cause__, FileNotFoundError)


def difference(session: Session, path: PathLike) -> tuple[str, ...]:
    """Return a diff of the file and `session` as lines ("-" in the file, "+" to be saved).

    A session is compared as it would be saved, without another program's layout. Raises `SessionError` for an
    unreadable file.
    """
    try:
        before = dumps(load(path))
    except SessionError:
        before = _read(os.fspath(path)).decode("utf-8", "backslashreplace")
    return line_diff(before.splitlines(), dumps(session).splitlines())


def text_in(content: bytes, name: str, encoding: str = "utf-8-sig") -> str:
    """Decode the content of a file. Raises `SessionError` naming the line."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{content[min(error.start, len(content) - 1)]:02x} at offset {error.start}"
        raise SessionError(name, f"line {line}", message, "save the file as UTF-8") from None


def loads(text: str, path: PathLike | None = None) -> Session:
    """Load a session from a JSON text; errors name `path`. Raises `SessionError`."""
    name = None if path is None else os.fspath(path)
    if not text.strip():
        raise SessionError(name, "", "the file is empty", "`workbench new` makes a session")
    try:
        data = json_values.decode(text)
    except json.JSONDecodeError as error:
        raise SessionError(name, *json_values.describe_syntax_error(error)) from None
    except json_values.DuplicateKeyError as error:
        place, offset = json_values.find_duplicate(text) or (error.key, 0)
        message = f"the key appears twice, the second time at {json_values.position(text, offset)}"
        raise SessionError(name, place, message, "keep one of the two") from None
    except RecursionError:
        raise SessionError(name, "", TOO_DEEP) from None
    except ValueError as error:
        hint = 'write it as {"$int": "0x…"}'
        raise SessionError(name, "", f"a whole number with too many digits: {error}", hint) from None
    if json_values.is_deeper_than(data, json_values.DEPTH + STRUCTURE_DEPTH):
        raise SessionError(name, "", TOO_DEEP)
    return file_format.session_of_data(data, name)


def dumps(session: Session, parts: WrittenParts | None = None, path: str | None = None) -> str:
    """Return the text of the session's file; the same session always has the same text.

    `parts` caches encoded parts; errors name `path`. Raises `SessionError` for secrets, unknown parameters and values
    that are not plain JSON.
    """
    return json_values.written(file_format.data_of_session(session, path, parts), 0) + "\n"


def save(
    session: Session, path: PathLike, *, over: Fingerprint | None = None, parts: WrittenParts | None = None
) -> Fingerprint:
    """Write the session to `path` atomically: even after a crash the file has its old or its new content.

    The file keeps its mode. A link is followed only within its folder. With `over`, only a file with that fingerprint
    is replaced; `parts` caches encoded parts. Returns the fingerprint of the written content. Raises `SessionError`
    (`ChangedOnDiskError`); the file is then unchanged, and no other file is left in its folder.
    """
    with locked(path):
        return save_locked(session, path, over=over, parts=parts)


def save_new(session: Session, path: PathLike) -> Fingerprint:
    """Write the session to a new file, whole or not at all.

    Raises `SessionError`: `FileIsThereError` if there is a file of that name, even one that another process is making.
    """
    with locked(path):
        return save_locked(session, path, is_new=True)


def save_locked(
    session: Session,
    path: PathLike,
    *,
    over: Fingerprint | None = None,
    parts: WrittenParts | None = None,
    is_new: bool = False,
) -> Fingerprint:
    """Save like `save`, or for `is_new` like `save_new`; the caller holds the folder's lock (`file.whole_files`)."""
    name = os.fspath(path)
    pieces: list[str] = []
    json_values.write(file_format.data_of_session(session, name, parts), pieces)
    pieces.append("\n")
    digest, size = hashlib.sha256(), 0
    for piece in map(str.encode, pieces):
        digest.update(piece)
        size += len(piece)
    if over is not None and has_changed(name, over):
        raise ChangedOnDiskError(name)
    _write_whole(name, map(str.encode, pieces), size, is_new=is_new)
    return Fingerprint(digest.hexdigest())


def write_whole(path: PathLike, content: bytes) -> None:
    """Replace the content of a file atomically. Raises `SessionError`."""
    _write_whole(os.fspath(path), [content], len(content))


def _write_whole(name: str, pieces: Iterable[bytes], size: int, *, is_new: bool = False) -> None:
    if size > SIZE_LIMIT:
        raise SessionError(name, "", _too_large(size), "it could not be opened again; remove some recordings")
    try:
        target, mode = _target(name)
        if is_new:
            whole_files.create(target, pieces)
        else:
            whole_files.replace(target, pieces, mode)
    except FileExistsError:
        raise FileIsThereError(name) from None
    except OSError as error:
        raise _not_done(name, "written", error) from error


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise SessionError(path, "", "not a regular file")
            if status.st_size > SIZE_LIMIT:
                raise SessionError(path, "", _too_large(status.st_size))
            content = file.read(status.st_size + 1)
            if len(content) > status.st_size:  # the file grows meanwhile
                content += file.read(SIZE_LIMIT + 1 - len(content))
    except FileNotFoundError as error:
        hint = did_you_mean(path) or "`workbench new` makes a session"
        raise SessionError(path, "", "there is no such file", hint) from error
    except IsADirectoryError:
        raise SessionError(path, "", "this is a folder", "name the session file in it") from None
    except ValueError as error:
        if isinstance(error, SessionError):
            raise
        raise SessionError(path, "", f"not a file name: {error}") from None
    except OSError as error:
        raise _not_done(path, "read", error) from error
    if len(content) > SIZE_LIMIT:
        raise SessionError(path, "", _too_large(len(content)))
    return content


def _target(path: str) -> tuple[str, int | None]:
    """Return the file to replace and its mode (None for a new file). Raises `SessionError` and OSError."""
    if "\0" in path:
        raise SessionError(path.replace("\0", "\\0"), "", "not a file name: it has a NUL character")
    target = path
    if os.path.islink(path):
        target = os.path.realpath(path)
        folder = os.path.realpath(os.path.dirname(path) or ".")
        if os.path.dirname(target) != folder:
            hint = "save to that file itself, or under another name"
            raise SessionError(path, "", f"this is a link that leads out of its folder, to {target}", hint)
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return target, None
    if stat.S_ISDIR(status.st_mode):
        raise SessionError(path, "", "this is a folder", "name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise SessionError(path, "", "not a regular file", "save under another name")
    if not os.access(target, os.W_OK):
        raise SessionError(path, "", "the file is read-only", "make it writable, or save under another name")
    return target, stat.S_IMODE(status.st_mode)


def _not_done(path: str, done: str, error: OSError) -> SessionError:
    reason, hint = whole_files.explain(error)
    return SessionError(path, "", f"cannot be {done}: {reason}", hint)


def _too_large(size: int) -> str:
    return f"too large for a session: {size:,} bytes, and the limit is {SIZE_LIMIT:,}"
