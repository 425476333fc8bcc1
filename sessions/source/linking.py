"""Link a session's signature text to its program, and compare the two.

The verdict `source` compares fields, types, descriptions and instructions.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, field, replace
from adapters.signatures.read.known_names import NOT_READ
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.signatures.type_names import name_of
from sessions.checking.class_changes import (
    ClassChange,
    changed,
    class_changes,
    classes_of,
    outline,
    owners_of,
    rename_classes,
    renamed,
    renamed_classes,
    schema_of,
)
from sessions.checking.verdicts import Drift, FixtureResult, Word
from sessions.errors import SessionError
from sessions.model.session import Session, SignatureText, SourceLink, digest_of
from sessions.source.gathering import Gathered, gather, gather_text, read_gathered
from sessions.source.places import is_place, places_of
from sessions.source.project import Project, SourceError, SourceGoneError, SourceRefusedError, folder_of_project
from sessions.text_diff import line_diff


@dataclass
class Follower:
    """Follows links for a run: each file is read, and each class gathered, only once.

    Results are cached; create another follower to see later changes.
    """

    _projects: dict[Path, Project] = field(default_factory=dict)
    _found: dict[tuple[Path, Path, str, str, tuple[tuple[str, str], ...]], Gathered | Exception] = field(
        default_factory=dict
    )

    def project(self, folder: Path) -> Project:
        """Return the project of a session in this folder."""
        top = folder_of_project(folder)
        return self._projects.setdefault(top, Project(top))

    def follow(self, link: SourceLink, folder: Path) -> Gathered:
        """Return the program's current text; `folder` is the session's. Raises `SourceError`."""
        project = self.project(folder)
        if os.path.isabs(link.file):
            raise SourceRefusedError(f"{link.file!r} is an absolute path", "a link is relative to the session's folder")
        file = project.resolved(folder / link.file)
        key = (project.top, file, link.class_name, link.react, tuple(link.tools.items()))
        if key not in self._found:
            try:
                self._found[key] = gather(project, file, link.class_name, link)
            except Exception as error:  # cached, and raised for each session with this link
                self._found[key] = error
        found = self._found[key]
        if isinstance(found, Exception):
            raise found
        return found


def is_edited(signature: SignatureText) -> bool:
    """Return whether a linked signature's text differs from the text last taken from the program."""
    return signature.source is not None and not signature.is_as_taken


def is_of_project(file: Path, folder: Path) -> bool:
    """Return whether a session in `folder` can link this file."""
    try:
        Project.of(folder).resolved(Path(os.path.abspath(file)))
    except SourceRefusedError:
        return False
    return True


def linked(
    file: Path, class_name: str | None, folder: Path, react: str = "", tools: Mapping[str, str] = MappingProxyType({})
) -> SignatureText:
    """Return a program's class as linked signature text for a session in `folder`.

    `react` and `tools` select an inner signature of a ReAct over the class. Raises `SourceError` if the source cannot
    be followed, or if text gathered from several places cannot be read.
    """
    project = Project.of(folder)
    relative = os.path.relpath(os.path.realpath(file), os.path.realpath(folder)).replace(os.sep, "/")
    link = SourceLink(relative, class_name or "", react=react, tools=tools)
    found = gather(project, project.resolved(Path(os.path.abspath(file))), class_name, link)
    try:
        meaning = meaning_of(read_gathered(found, str(file)))
    except SourceRefusedError:
        if found.text != project.read(found.files[0]):
            raise
        meaning = ""  # the text is the whole file: reading it reports the line
    link = replace(link, class_name=class_name or found.class_name, digest=found.digest, meaning=meaning)
    return SignatureText(found.text, found.class_name, source=link)


def class_in(text: str, file: str, name: str, folder: Path | None) -> SignatureText:
    """Return a program's class, or its only signature, linked if it belongs to the project of `folder`.

    In another project, it comes unlinked, with what it imports from there. Raises `SessionError` and `SourceError`.
    """
    from adapters.signatures import notation  # loads pydantic, which checking a plain signature does not need

    try:
        names = [name] if name else [*notation.class_names(text)] or [*places_of(text)]
        if len(names) > 1:
            choices = ", ".join(f"{file}:{one}" for one in names)
            raise SessionError(file, "", f"it has {len(names)} signatures", f"name one: {choices}")
        if names and folder is not None and is_of_project(Path(file), folder):
            found = linked(Path(file), names[0], folder)
        elif not names:
            found = SignatureText(text)
        else:
            found = gather_text(text, names[0], file)
            try:
                (found if is_place(names[0]) else SignatureText(text, names[0])).read()  # names the file's own lines
            except SignatureError as error:
                try:  # to follow the imports in the file's own project
                    if folder is not None:
                        return replace(linked(Path(file), names[0], Path(file).parent), source=None)
                except SourceError:
                    if NOT_READ in error.message:
                        raise
                if not is_place(names[0]):
                    raise
            return found
        found.read()
        return found
    except SignatureError as error:
        raise SessionError(file, "", str(error)) from None


def moved(signature: SignatureText, before: Path, after: Path) -> SignatureText:
    """Adjust a signature's link for a session saved in another folder, to the same file."""
    link = signature.source
    if link is None or os.path.isabs(link.file):
        return signature
    here, there = os.path.realpath(before), os.path.realpath(after)
    if here == there:
        return signature
    relative = os.path.relpath(os.path.join(here, link.file), there).replace(os.sep, "/")
    return replace(signature, source=replace(link, file=relative))


OWN_INSTRUCTIONS = "its instructions are its own, so they are not compared with the class's"
"""The note on a linked session whose instructions were set elsewhere, such as by `with_instructions`."""


class SourceVerdict(NamedTuple):
    """The verdict `source`, the differences, and a note on content that the link does not cover."""

    word: Word
    drift: tuple[Drift, ...] = ()
    note: str = ""


def check_source(session: Session, folder: Path, follower: Follower) -> SourceVerdict | None:
    """Compare a session in `folder` with its program; None without a link. Never raises.

    If the session has its own instructions instead of the class's, equal fields do not pass: the verdict is `empty`,
    with a note.
    """
    signature = session.signature
    if signature.source is None:
        return None
    try:
        found = follower.follow(signature.source, folder)
        is_same = signature.text == found.text and signature.class_name == found.class_name
        alone = None if is_same and signature.instructions is None else read_alone(signature)
        drift = [] if is_same or alone is None else differences(alone, read_gathered(found, signature.source.file))
    except SourceGoneError as error:
        return SourceVerdict("gone", (Drift("source", "signature.source", str(error)),))
    except SourceError as error:
        return SourceVerdict("refused", (Drift("source", "signature.source", str(error)),))
    except SignatureError as error:
        return SourceVerdict("error", (Drift("source", "signature", str(error)),))
    if drift and digest_of(found.text) == signature.source.digest:
        said = "the session was edited since it was taken from the program; `workbench push` writes the edits there"
        drift.append(Drift("source", "signature.text", said))
    is_untracked = alone is not None and signature.instructions not in (None, alone.instructions)
    note = OWN_INSTRUCTIONS if is_untracked else ""
    if drift:
        return SourceVerdict("drift", tuple(drift), note)
    return SourceVerdict("empty" if is_untracked else "pass", (), note)


def add_source_verdict(results: Sequence[FixtureResult], found: SourceVerdict | None) -> list[FixtureResult]:
    """Add the verdict on a session's source to the results of its fixtures."""
    if found is None:
        return list(results)
    word, drift, note = found
    return [
        replace(
            one,
            verdicts={**one.verdicts, "source": word},
            drift=(*drift, *one.drift),
            notes=(*one.notes, *([note] if note else [])),
        )
        for one in results
    ]


NO_LINK = "no link to a program"


def why_unlinked(session: Session) -> str:
    """Return why a session does not follow a program; "" if its class and instructions do."""
    if session.signature.source is None:
        return NO_LINK
    try:
        own = session.signature.instructions
        return "" if own in (None, read_alone(session.signature).instructions) else "instructions of its own"
    except SignatureError:  # the verdict `source` reports it
        return ""


def read_alone(signature: SignatureText) -> Signature:
    """Read the text alone, without a session's own instructions or predictor. Raises SignatureError."""
    return replace(signature, predictor="Predict", instructions=None).read()


def differences(before: Signature, after: Signature) -> list[Drift]:
    """Compare the session's signature with the program's, `after`: one drift for each change.

    A change within a class, such as a model, is a drift of that class's field, whichever signature fields use it.
    """
    drifts: list[Drift] = []
    mine, theirs = classes_of(before), classes_of(after)
    classes = renamed_classes(mine, theirs)
    drifts += [Drift("source", f"types.{new}", f"the class `{old}` is now `{new}`") for old, new in classes.items()]
    gone = [one for one in before.fields if one not in after.fields]
    new = [one for one in after.fields if one not in before.fields]
    pairs = renamed(gone, new, lambda old, other: _is_renamed(before, after, old, other))
    is_generated = all(one.instructions == Signature.make(one.fields_in_order).instructions for one in (before, after))
    with_new_names = re.sub(r"(?<=`)\w+(?=`)", lambda name: pairs.get(name[0], name[0]), before.instructions)
    if after.instructions not in (before.instructions, with_new_names) and not is_generated:
        drifts.append(_drift(changed("instructions", "the instructions", before.instructions, after.instructions)))
    for one, other in pairs.items():
        drifts.append(Drift("source", f"fields.{other}", f"`{one}` is now `{other}`", (f"-{one}", f"+{other}")))
    for mark, names, signature, verb in (("+", new, after, "new"), ("-", gone, before, "gone")):
        for name in names:
            if name not in pairs and name not in pairs.values():
                role, of_type = signature.fields[name].role, name_of(signature.fields[name].annotation)
                said = f"the {role} field `{name}`{f' ({of_type})' * (mark == '+')} is {verb}"
                drifts.append(Drift("source", f"fields.{name}", said, (f"{mark}{name}: {of_type}",)))
    for name, known in before.fields.items():
        if name in after.fields:
            drifts += map(_drift, _field_changes(known, after.fields[name], classes))
    called = {classes.get(one, one): rename_classes(mine[one], classes) for one in mine}
    owners = {**owners_of(before), **owners_of(after)}
    changes = dict.fromkeys([one.moved_to_owner(owners) for one in class_changes(called, theirs)])
    drifts += [_drift(one._replace(place=f"types.{one.place}")) for one in changes]
    kept = [pairs.get(name, name) for name in before.fields if pairs.get(name, name) in after.fields]
    order = [name for name in after.fields if name in kept]
    if kept != order:
        drifts.append(Drift("source", "fields", "the order of the fields has changed", tuple(line_diff(kept, order))))
    return drifts


def meaning_of(signature: Signature) -> str:
    """Digest the meaning of a signature as `differences` compares it: no comments, layout or methods."""
    fields = [
        [
            *(one.name, one.role, name_of(one.annotation), schema_of(one.annotation)),
            *(one.description, one.shown_prefix, one.constraints or "", default_of(one)),
        ]
        for one in signature.fields.values()
    ]
    return digest_of(json.dumps([signature.instructions, fields], ensure_ascii=False, default=str))


def default_of(field: Field) -> str:
    if field.default_factory is not None:
        return f"{getattr(field.default_factory, '__name__', 'a factory')}()"
    return "" if field.default is MISSING else repr(field.default)


def _is_renamed(before: Signature, after: Signature, old: str, new: str) -> bool:
    """Return whether two fields differ in name only: same role, type, position, texts and default."""
    faces = [
        (one.role, name_of(one.annotation), one.description, one.prefix, one.constraints, default_of(one))
        for one in (before.fields[old], after.fields[new])
    ]
    return list(before.fields).index(old) == list(after.fields).index(new) and faces[0] == faces[1]


def _drift(change: ClassChange) -> Drift:
    diff = line_diff(change.before.split("\n"), change.after.split("\n"))
    return Drift("source", change.place, change.said, tuple([line for line in diff if line not in ("-", "+")]))


def _field_changes(before: Field, after: Field, classes: Mapping[str, str]) -> Iterator[ClassChange]:
    place, named = f"fields.{before.name}", f"`{before.name}`"
    if before.role != after.role:
        yield changed(f"{place}.role", f"the role of {named}", before.role, after.role)
    old, new = name_of(before.annotation), name_of(after.annotation)
    if re.sub(r"\w+", lambda word: classes.get(word[0], word[0]), old) != new:
        yield changed(f"{place}.type", f"the type of {named}", old, new)
    elif rename_classes(outline(before.annotation), classes) != outline(after.annotation):
        outlines = [outline(one.annotation) for one in (before, after)]
        yield changed(f"{place}.type", f"the definition of {new}, the type of {named},", *outlines)
    for what, said, mine, theirs in (
        ("desc", "description", before.description, after.description),
        ("prefix", "prefix", before.shown_prefix, after.shown_prefix),
        ("constraints", "constraints", before.constraints or "", after.constraints or ""),
        ("default", "default", default_of(before), default_of(after)),
    ):
        if mine != theirs:
            yield changed(f"{place}.{what}", f"the {said} of {named}", mine, theirs)
