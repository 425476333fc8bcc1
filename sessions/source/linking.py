"""A signature's text as a copy of a program's: made from its file, and looked up there again."""

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
    """Follows links for a run: a file is read once, and a class gathered once, however many sessions name it.

    What it has read is remembered; who wants to see a later change makes another.
    """

    _projects: dict[Path, Project] = field(default_factory=dict)
    _found: dict[tuple[Path, Path, str, str, tuple[tuple[str, str], ...]], Gathered | Exception] = field(
        default_factory=dict
    )

    def project(self, folder: Path) -> Project:
        """The project of a session in this folder."""
        top = folder_of_project(folder)
        return self._projects.setdefault(top, Project(top))

    def follow(self, link: SourceLink, folder: Path) -> Gathered:
        """The text that the program has today; `folder` is the session's. Raises `SourceError`."""
        project = self.project(folder)
        if os.path.isabs(link.file):
            raise SourceRefusedError(f"{link.file!r} is an absolute path", "a link is relative to the session's folder")
        file = project.resolved(folder / link.file)
        key = (project.top, file, link.class_name, link.react, tuple(link.tools.items()))
        if key not in self._found:
            try:
                self._found[key] = gather(project, file, link.class_name, link)
            except Exception as error:  # kept, and raised for each session that has this link
                self._found[key] = error
        found = self._found[key]
        if isinstance(found, Exception):
            raise found
        return found


def is_edited(signature: SignatureText) -> bool:
    """Tell whether a linked signature's text differs from what was last taken from the program."""
    return signature.source is not None and not signature.is_as_taken


def is_of_project(file: Path, folder: Path) -> bool:
    """Tell whether a session in `folder` can link this file."""
    try:
        Project.of(folder).resolved(Path(os.path.abspath(file)))
    except SourceRefusedError:
        return False
    return True


def linked(
    file: Path, class_name: str | None, folder: Path, react: str = "", tools: Mapping[str, str] = MappingProxyType({})
) -> SignatureText:
    """The signature of a program's class as the text of a session in `folder`, with its link.

    `react` and `tools` ask for an inner signature of a ReAct over the class. Raises `SourceError` for what cannot be
    followed or, taken together from several places, cannot be read.
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
        meaning = ""  # the whole file is the text: reading it names the line
    link = replace(link, class_name=class_name or found.class_name, digest=found.digest, meaning=meaning)
    return SignatureText(found.text, found.class_name, source=link)


def moved(signature: SignatureText, before: Path, after: Path) -> SignatureText:
    """The signature for a session that is saved in another folder: the link names the same file from there."""
    link = signature.source
    if link is None or os.path.isabs(link.file):
        return signature
    here, there = os.path.realpath(before), os.path.realpath(after)
    if here == there:
        return signature
    relative = os.path.relpath(os.path.join(here, link.file), there).replace(os.sep, "/")
    return replace(signature, source=replace(link, file=relative))
