"""Write causes as GitHub Actions' inline annotations, at the line of the program or of the session."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from adapters.errors import SignatureError
from sessions.causes.cause import Cause, fixture_count
from sessions.errors import SessionError
from sessions.file import store
from sessions.model.session import Session
from sessions.source.linking import Follower
from sessions.source.places import line_of
from sessions.source.project import Project, SourceError

VARIABLE = "GITHUB_ACTIONS"
MOST = 50
"""The maximum number of annotations; GitHub shows ten of a step and keeps fifty."""


def commands(causes: Sequence[Cause], errors: Mapping[str, str]) -> Iterator[str]:
    """Yield a workflow command for each unreadable file and each cause; empty outside of GitHub Actions."""
    if os.environ.get(VARIABLE) != "true":
        return
    for path, message in list(errors.items())[:MOST]:
        yield command(path, 1, "workbench check", message)
    for cause in causes[:MOST]:
        fixture = cause.fixtures[0]
        file, line = _place(cause)
        yield command(file, line, cause.words, f"{fixture_count(cause.fixtures)}, such as {fixture} [{cause.id}]")


def _place(cause: Cause) -> tuple[str, int]:
    """Find the changed field or class in the linked program, else the case in its session file."""
    fixture = cause.fixtures[0]
    path = Path(fixture.path)
    try:
        session = store.load(path)
        if cause.key.kind == "source":
            return _program_line(session, path, cause)
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (SessionError, SourceError, SignatureError, OSError, UnicodeDecodeError):
        return fixture.path, 1
    name = f'"name": {json.dumps(fixture.case, ensure_ascii=False)}'
    return fixture.path, next((number for number, line in enumerate(lines, 1) if name in line), 1)


def _program_line(session: Session, path: Path, cause: Cause) -> tuple[str, int]:
    link = session.signature.source
    if link is None:
        return str(path), 1
    project = Project.of(path.parent)
    file, name = project.resolved(path.parent / link.file), link.class_name
    kind, _, rest = cause.key.name.partition(".")
    field = rest.partition(".")[0] if kind == "fields" else ""
    if kind == "types":
        name, _, field = rest.partition(".")
        pieces = Follower().follow(link, path.parent).pieces
        file = next((one.file for one in pieces if name in one.names), file)
    return os.path.relpath(file), line_of(project.read(file), name, field)


def command(file: str, line: int, title: str, message: str) -> str:
    """Write a workflow command that annotates a line; its texts are escaped."""
    named = f"file={_escaped(file, ':,')},line={line},title={_escaped(title, ':,')}"
    return f"::error {named}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    """Escape like `@actions/core`: a text cannot end its command or begin another."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
