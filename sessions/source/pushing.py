"""Writing a session's class back into its program: only the lines that were edited, all others to the character."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sessions.errors import SessionError
from sessions.file import store
from sessions.line_diff import line_diff
from sessions.model.session import Session
from sessions.source.comparing import differences, read_alone
from sessions.source.gathering import Gathered, Piece, gather, read_gathered
from sessions.source.linking import is_edited
from sessions.source.project import Project, SourceError, SourceRefusedError
from sessions.source.statements import ModuleText, read_module


@dataclass(frozen=True)
class Push:
    """What a push would write: the new text of each file, and the session afterwards. `files` is empty for nothing."""

    project: Project
    files: dict[Path, str]
    session: Session

    def diff(self) -> list[str]:
        """The change of every file as lines of a diff, its name in front."""
        lines: list[str] = []
        for file, text in self.files.items():
            lines.append(f"@@ {self.project.name(file)}")
            lines += line_diff(self.project.texts[file].split("\n"), text.split("\n"))
        return lines

    def write(self) -> None:
        """Writes each file, whole. Raises `SourceError` when one has changed meanwhile, and `SessionError`."""
        for file in self.files:
            if Project(self.project.top).read(file) != self.project.texts[file]:
                raise SourceRefusedError(f"{self.project.name(file)} has changed meanwhile", "try again")
        for file, text in self.files.items():
            store.write_whole(file, _encoded(file, text))


def pushed(session: Session, folder: Path) -> Push:
    """What has to be written for the program to say what the session says; the session stands in `folder`.

    Raises `SourceError` where the program changed since the session was taken from it, and where an edit has no place
    in the program's own lines; `SignatureError` for a text of the session that cannot be read.
    """
    signature = session.signature
    link = signature.source
    if link is None:
        raise SourceRefusedError("no link to a program", "`workbench import FILE.py:Class --into SESSION` makes one")
    project = Project.of(folder)
    file = project.resolved(folder / link.file)
    found = gather(project, file, link.class_name)
    if signature.text == found.text:
        return Push(project, {}, session)
    if found.digest != link.digest:
        said = f"{link.file} has changed since the session was taken from it"
        over = " --over-edits" if is_edited(signature) else ""
        raise SourceRefusedError(said, f"`workbench check` shows how; `workbench pull{over}` takes it over")
    if signature.class_name != link.class_name:
        said = f"the session's class is {signature.class_name}, the program's {link.class_name}"
        raise SourceRefusedError(said, "what is called otherwise elsewhere too is renamed in the program")
    files = _edited(project, found, read_module(signature.text))
    after = _again(project, files, file, link.class_name)
    if differences(read_alone(signature), read_gathered(after, link.file)):
        said = f"{link.file}: written back, the class would not say what the session says"
        raise SourceRefusedError(said, "an edit of a name that it shares with others is made in the program")
    now = replace(signature, text=after.text, source=replace(link, digest=after.digest))
    return Push(project, files, replace(session, signature=now))


def _edited(project: Project, found: Gathered, edited: ModuleText) -> dict[Path, str]:
    """The files with the session's statements in the place of theirs; new ones stand in front of the class."""
    pieces = {piece.names: piece for piece in found.pieces}
    main = next(piece for piece in found.pieces if found.class_name in piece.names)
    changes: dict[Path, list[tuple[int, int, str]]] = {}
    for statement in edited.statements:
        text = edited.text[statement.start : statement.end]
        piece = pieces.get(statement.names)
        if piece is None:
            if text.strip() not in map(str.strip, found.text.split("\n")):  # a name that gathering gave is there
                changes.setdefault(main.file, []).append((main.start, main.start, f"{text.strip()}\n\n\n"))
        elif text.rstrip() != piece.text.rstrip():
            if not piece.is_as_written:
                said = f"{project.name(piece.file)}: {', '.join(piece.names)} names members of other modules there"
                raise SourceRefusedError(said, "edit it in the program")
            changes.setdefault(piece.file, []).append((piece.start, piece.end, _as_there(project, piece, text)))
    return {file: _with_imports(_changed(project.read(file), of), edited) for file, of in changes.items()}


def _changed(text: str, places: list[tuple[int, int, str]]) -> str:
    in_order = sorted(places, key=lambda one: one[:2])
    for start, end, replacement in in_order[::-1]:
        text = text[:start] + replacement + text[end:]
    return text


def _as_there(project: Project, piece: Piece, text: str) -> str:
    """The edited text with the line ends of the file, and with the blank lines that stand behind the piece there."""
    before = project.texts[piece.file][piece.start : piece.end]
    body = text.rstrip()
    if "\r\n" in before:
        body = body.replace("\r\n", "\n").replace("\n", "\r\n")
    return body + before[len(before.rstrip()) :]


def _with_imports(text: str, edited: ModuleText) -> str:
    """The text with those of the session's imports that it uses and lacks, behind its own."""
    module = read_module(text)
    used = {name for one in module.statements for name in one.uses}
    known = {one.bound for one in module.imports} | {name for one in module.statements for name in one.names}
    needed = [one for one in edited.imports if one.bound in used and one.bound not in known]
    if not needed:
        return text
    lines = text.split("\n")
    last = max((one.line for one in module.imports), default=0)
    return "\n".join([*lines[:last], *(one.text for one in needed), *lines[last:]])


def _again(project: Project, files: dict[Path, str], file: Path, class_name: str) -> Gathered:
    """What the program would say with these files."""
    try:
        return gather(Project(project.top, {**project.texts, **files}), file, class_name)
    except SourceError as error:
        raise SourceRefusedError(f"written back, the program could not be read: {error}") from None


def _encoded(file: Path, text: str) -> bytes:
    """The text as bytes, with the mark in front that the file has now."""
    try:
        mark = file.read_bytes()[:3] == b"\xef\xbb\xbf"
    except OSError as error:
        raise SessionError(str(file), "", f"cannot be read: {error.strerror or error}") from None
    return (b"\xef\xbb\xbf" if mark else b"") + text.encode("utf-8")
