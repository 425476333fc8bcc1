"""Taking the program's text over into a session: recordings stay, so that its prompts then drift and are decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from adapters.errors import SignatureError
from sessions.model.session import Session, SourceLink
from sessions.source.comparing import differences
from sessions.source.fitting import fitted
from sessions.source.gathering import read_gathered
from sessions.source.linking import Follower
from sessions.source.project import SourceRefusedError


@dataclass(frozen=True)
class Pulled:
    """The session with the program's text, and what that changed, in words; `changes` is empty where nothing did."""

    session: Session
    changes: tuple[str, ...]
    notes: tuple[str, ...]


def pulled(session: Session, folder: Path, follower: Follower, link: SourceLink | None = None) -> Pulled:
    """The session, which stands in `folder`, with the text that its program has today; `link` names another class.

    Demos and inputs that do not fit any more are kept aside. Raises `SourceError`.
    """
    meant = link or session.signature.source
    if meant is None:
        raise SourceRefusedError("no link to a program", "`workbench import FILE.py:Class --into SESSION` makes one")
    found = follower.follow(meant, folder)
    read_gathered(found, meant.file)
    source = replace(meant, digest=found.digest)
    signature = replace(session.signature, text=found.text, class_name=found.class_name, source=source)
    if signature == session.signature:
        return Pulled(session, (), ())
    after = signature.read()
    try:
        before = session.signature.read()
    except SignatureError:
        return Pulled(replace(session, signature=signature), ("the text could not be read before",), ())
    changes = tuple([one.message for one in differences(before, after)])
    fits = fitted(replace(session, signature=signature), before, after)
    return Pulled(fits.session, changes or ("the text, not what it says",), fits.notes)
