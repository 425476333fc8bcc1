"""Pull the program's text into a session, and push a session's class back into its program.

After a pull, recordings stay, so that changed prompts drift and are reviewed. Values whose field is gone or changed its
type are set aside, and return when they fit again. A push changes only the edited lines.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.read.source_text import SourceText, bindings_of, comments_in, first_line, parsable
from adapters.signatures.signature import Signature
from adapters.signatures.type_names import name_of
from sessions.errors import SessionError
from sessions.file import store
from sessions.model.held_values import takes
from sessions.model.session import Session, SourceLink
from sessions.source.gathering import Gathered, gather, read_gathered
from sessions.source.linking import Follower, check_source, differences, is_edited, meaning_of, read_alone
from sessions.source.project import Project, SourceEditedError, SourceError, SourceRefusedError, folder_of_project
from sessions.source.statements import ModuleText, read_module
from sessions.text_diff import line_diff

ASIDE = "aside"
"""The key among a demo's or case's extra data that contains values set aside."""

PUSH = "`workbench push` writes its edits there; `workbench pull --over-edits` drops them"
BOTH = "shift+F11 in the app chooses, and `workbench push` then writes them; `workbench pull --over-edits` drops them"


def _split(
    values: Mapping[str, object], extra: Mapping[str, object], before: Signature, after: Signature
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Split values into those that fit and extra data with the others. Describe the changes."""
    kept, said = dict(values), []
    beside = extra.get(ASIDE)
    aside = dict(beside) if isinstance(beside, Mapping) else {}
    for name in list(kept):
        field, old = after.fields.get(name), before.fields.get(name)
        if field is None and old is not None:
            said.append(f"the field `{name}` is gone; its value is kept aside")
            aside[name] = kept.pop(name)
        elif field is not None and old is not None and field.annotation != old.annotation:
            if not takes(field.annotation, kept[name]):
                said.append(f"the value of `{name}` is not a valid {name_of(field.annotation)} and is kept aside")
                aside[name] = kept.pop(name)
    for name in list(aside):
        field = after.fields.get(name)
        if field is not None and name not in kept and takes(field.annotation, aside[name]):
            said.append(f"`{name}` has a field again and is back")
            kept[name] = aside.pop(name)
    others = {key: one for key, one in extra.items() if key != ASIDE}
    return kept, {**others, ASIDE: aside} if aside else others, said


@dataclass(frozen=True)
class Pulled:
    """The session with the program's text, and descriptions of the changes; no `changes`: already equal."""

    session: Session
    changes: tuple[str, ...]
    notes: tuple[str, ...]


def refuse_to_lose_edits(session: Session, folder: Path, follower: Follower) -> None:
    """Raise `SourceEditedError` if pulling the program's text would discard edits of the session."""
    signature = session.signature
    if signature.source is None or not is_edited(signature):
        return
    found = follower.follow(signature.source, folder)
    if signature.text == found.text:
        return
    if found.digest == signature.source.digest:
        raise SourceEditedError("the session was edited since it was taken from the program", PUSH)
    raise SourceEditedError("the session was edited since it was taken from the program, which has changed too", BOTH)


def pulled(session: Session, folder: Path, follower: Follower, link: SourceLink | None = None) -> Pulled:
    """Pull the current text of the program into a session in `folder`. `link` selects another class.

    Demos and inputs that no longer fit are set aside. Raises `SourceError`.
    """
    meant = link or session.signature.source
    if meant is None:
        raise SourceRefusedError("no link to a program", "`workbench import FILE.py:Class --into SESSION` makes one")
    found = follower.follow(meant, folder)
    program = read_gathered(found, meant.file)
    source = meant
    if found.digest != meant.digest:
        source = replace(meant, digest=found.digest, meaning=meaning_of(program))
    signature = replace(session.signature, text=found.text, class_name=found.class_name, source=source)
    if signature == session.signature:
        return Pulled(session, (), ())
    after = signature.read()
    try:
        before = session.signature.read()
    except SignatureError:
        return Pulled(replace(session, signature=signature), ("the session's earlier text could not be parsed",), ())
    notes: list[str] = []
    demos = []
    for number, demo in enumerate(session.demos, 1):
        values, extra, said = _split(demo.values, demo.extra, before, after)
        notes += [f"demo {number}: {one}" for one in said]
        demos.append(demo if not said else replace(demo, values=values, extra=extra))
    cases = []
    for case in session.cases:
        values, extra, said = _split(case.inputs, case.extra, before, after)
        notes += [f"{case.name}: {one}" for one in said]
        cases.append(case if not said else replace(case, inputs=values, extra=extra))
        gone = [name for name in case.expect.get("fields", {}) if name not in after.fields]
        notes += [f"{case.name}: it has an expectation of `{name}`, which was removed" for name in gone]
    changes = tuple([one.message for one in differences(before, after)]) or ("the text, not what it says",)
    made = replace(session, signature=signature, demos=tuple(demos), cases=tuple(cases))
    return Pulled(made, changes, tuple(notes))


@dataclass(frozen=True)
class Push:
    """A prepared push: each file's new text, and the session afterwards; no `files`: nothing to do."""

    project: Project
    files: dict[Path, str]
    session: Session

    def diff(self) -> list[str]:
        """Return the changes as lines of a diff, each file under its name."""
        lines: list[str] = []
        for file, text in self.files.items():
            lines.append(f"@@ {self.project.name(file)}")
            lines += line_diff(self.project.texts[file].split("\n"), text.split("\n"))
        return lines

    def write(self) -> None:
        """Write each file atomically. Raises `SourceError` if one changed meanwhile, and `SessionError`."""
        for file in self.files:
            if Project(self.project.top).read(file) != self.project.texts[file]:
                raise SourceRefusedError(f"{self.project.name(file)} has changed meanwhile", "try again")
        for file, text in self.files.items():
            store.write_whole(file, self.project.encoded(file, text))


def others_changed(push: Push, own: Path, paths: Iterable[Path]) -> dict[Path, int]:
    """Map other sessions whose `source` verdict the push changes to their numbers of recordings.

    Only sessions of the same project count; files other than sessions are skipped.
    """
    now, then = Follower(), Follower()
    found: dict[Path, int] = {}
    for path in paths:
        if path.samefile(own) or folder_of_project(path.parent) != push.project.top:
            continue
        try:
            session = store.load(path)
        except SessionError:
            continue
        then.project(path.parent).texts |= push.files
        verdicts = [check_source(session, path.parent, one) for one in (now, then)]
        if verdicts[0] != verdicts[1]:
            found[path] = sum(len(case.recordings) for case in session.cases)
    return found


def pushed(session: Session, folder: Path) -> Push:
    """Prepare the push of a session in `folder` into its program.

    Raises `SourceError` if the program changed since the session was taken from it, or if an edit cannot be placed in
    the program's own lines; `SignatureError` if the session's text cannot be read.
    """
    signature = session.signature
    link = signature.source
    if link is None:
        raise SourceRefusedError("no link to a program", "`workbench import FILE.py:Class --into SESSION` makes one")
    project = Project.of(folder)
    file = project.resolved(folder / link.file)
    found = gather(project, file, link.class_name, link)
    if signature.text == found.text:
        return Push(project, {}, session)
    is_as_taken = found.digest == link.digest
    if not is_as_taken and meaning_of(read_gathered(found, link.file)) != link.meaning:
        said = f"{link.file} has changed since the session was taken from it"
        over = " --over-edits" if is_edited(signature) else ""
        raise SourceRefusedError(said, f"`workbench check` shows how; `workbench pull{over}` takes it over")
    if signature.class_name != found.class_name:
        said = f"the session's class is {signature.class_name}, the program's {found.class_name}"
        raise SourceRefusedError(said, "rename the class in the program, where other code uses it")
    files = _edited(project, found, read_module(signature.text), is_as_taken)
    for changed, text in files.items():
        project.encoded(changed, text)
    try:
        after = gather(Project(project.top, {**project.texts, **files}), file, link.class_name, link)
    except SourceError as error:
        raise SourceRefusedError(f"the program would not be readable with the session's class: {error}") from None
    if differences(read_alone(signature), read_gathered(after, link.file)):
        said = f"{link.file}: the class there would differ from the session's"
        raise SourceRefusedError(said, "change names that the class shares with other code in the program itself")
    source = replace(link, digest=after.digest, meaning=meaning_of(read_alone(signature)))
    now = replace(signature, text=after.text, source=source)
    return Push(project, files, replace(session, signature=now))


def _edited(project: Project, found: Gathered, edited: ModuleText, is_as_taken: bool) -> dict[Path, str]:
    """Replace the program's statements by the session's. New ones go before the class.

    If the program's comments or layout changed since (not `is_as_taken`), each edit is merged into its own line there.
    """
    pieces = {piece.names: piece for piece in found.pieces}
    main = next((piece for piece in reversed(found.pieces) if piece.is_as_written), None)
    main = next((piece for piece in found.pieces if found.class_name in piece.names and piece.is_as_written), main)
    changes: dict[Path, list[tuple[int, int, str]]] = {}
    for statement in edited.statements:
        text = edited.text[statement.start : statement.end]
        piece = pieces.get(statement.names)
        if piece is None:
            if text.strip() not in map(str.strip, found.text.split("\n")):  # an alias that gathering added
                if main is None:
                    raise SourceRefusedError("the signature is inside other code", "edit it in the program")
                changes.setdefault(main.file, []).append((main.start, main.start, f"{text.strip()}\n\n\n"))
        elif text.rstrip() != piece.text.rstrip():
            text = text if is_as_taken else merged(piece.text, text, project.name(piece.file))
            if text == piece.text:
                continue
            if not piece.is_as_written:
                said = f"{project.name(piece.file)}: {', '.join(piece.names)} is written differently there"
                raise SourceRefusedError(said, "edit it in the program")
            before = project.texts[piece.file][piece.start : piece.end]
            text = text.rstrip()
            if "\r\n" in before:  # the file's line ends, and the blank lines after the piece, stay
                text = text.replace("\r\n", "\n").replace("\n", "\r\n")
            text += before[len(before.rstrip()) :]
            changes.setdefault(piece.file, []).append((piece.start, piece.end, text))
    return {file: _imports_added(_changed(project.read(file), of), edited) for file, of in changes.items()}


def _changed(text: str, places: list[tuple[int, int, str]]) -> str:
    in_order = sorted(places, key=lambda one: one[:2])
    for start, end, replacement in in_order[::-1]:
        text = text[:start] + replacement + text[end:]
    return text


def _imports_added(text: str, edited: ModuleText) -> str:
    """Add imports of the session that the text uses but lacks, after its own imports."""
    module = read_module(text)
    used = {name for one in module.statements for name in one.uses}
    known = {one.bound for one in module.imports} | {name for one in module.statements for name in one.names}
    needed = [one for one in edited.imports if one.bound in used and one.bound not in known]
    if not needed:
        return text
    lines = text.split("\n")
    last = max((one.line for one in module.imports), default=0)
    return "\n".join([*lines[:last], *(one.text for one in needed), *lines[last:]])


def merged(there: str, edited: str, name: str) -> str:
    """Merge the edits of a session's statement into the program's, keeping its comments and layout.

    Statements of a class are matched by the name they bind; unchanged ones keep the program's text. Raises
    `SourceRefusedError` for an edit that cannot be placed, or that would lose a comment.
    """
    program, session = _Parts.of(there), _Parts.of(edited)
    refused = SourceRefusedError(
        f"{name} has changed since the session was taken from it, where the session was edited too",
        "`workbench pull --over-edits` takes the program's text",
    )
    if program is None or session is None or program.head != session.head:
        if program is not None and session is not None and program.whole == session.whole:
            return there
        if program is None or program.parts or comments_in(there):
            raise refused
        return edited
    order = [key for key in session.parts if key in program.parts]
    if order != [key for key in program.parts if key in session.parts]:
        raise refused
    changes: list[tuple[int, int, str]] = []
    end = program.start
    for key, part in session.parts.items():
        mine = program.parts.get(key)
        if mine is None:
            changes.append((end, end, "\n" + edited[part.line : part.end]))
        else:
            end = mine.end
            if mine.says != part.says:
                changes.append((mine.start, mine.end, edited[part.start : part.end]))
    for key, mine in program.parts.items():
        if key not in session.parts:
            changes.append((mine.line, there.find("\n", mine.end) + 1 or len(there), ""))
    made = _changed(there, changes)
    if Counter(comments_in(there)) - Counter(comments_in(made)):
        raise refused
    return made


class _Part(NamedTuple):
    """A statement in a class's body: start of its first line, `text[start:end]`, and its AST dump."""

    line: int
    start: int
    end: int
    says: str


class _Parts(NamedTuple):
    """The statements of a class's body by the names they bind. `start` is the end of its head."""

    whole: str
    head: str
    start: int
    parts: dict[str, _Part]

    @classmethod
    def of(cls, text: str) -> _Parts | None:
        """Split a text; return None if two statements bind the same name or share a line."""
        source, _ = parsable(SourceText.of(text))
        body = source.parse().body
        whole = "".join(map(ast.dump, body))
        node = body[0] if len(body) == 1 else None
        if not isinstance(node, ast.ClassDef):
            return cls(whole, whole, len(text), {})
        parts: dict[str, _Part] = {}
        for one in node.body:
            first = first_line(one)
            line = source.line_starts[first - 1]
            begin, end = source.span(one)
            names = list(bindings_of([one]))
            key = " ".join(names) if names else type(one).__name__
            if key in parts or any(other.line == line for other in parts.values()):
                return None
            parts[key] = _Part(line, begin if first == one.lineno else line, end, ast.dump(one))
        start = source.index(node.body[0].lineno, 0) - 1
        node.body = []
        return cls(whole, ast.dump(node), start, parts)
