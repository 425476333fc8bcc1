"""Link a session's signature text to its program: copy it, and look it up again later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from sessions.model.session import SignatureText, SourceLink
from sessions.source.gathering import Gathered, gather, meaning_of, read_gathered
from sessions.source.project import Project, SourceRefusedError, folder_of_project


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
