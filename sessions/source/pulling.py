"""Pull the program's text into a session. Recordings stay, so that changed prompts drift and are reviewed.

Values whose field is gone or changed its type are set aside, and return when they fit again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapters.errors import SignatureError
from adapters.signatures.signature import Signature
from adapters.signatures.type_names import name_of
from sessions.model.held_values import takes
from sessions.model.session import Case, Demo, Session, SourceLink
from sessions.source.comparing import differences
from sessions.source.gathering import meaning_of, read_gathered
from sessions.source.linking import Follower, is_edited
from sessions.source.project import SourceEditedError, SourceRefusedError

ASIDE = "aside"
"""The key among a demo's or case's extra data that contains values set aside."""

PUSH = "`workbench push` writes its edits there; `workbench pull --over-edits` drops them"
BOTH = "shift+F11 in the app chooses, and `workbench push` then writes them; `workbench pull --over-edits` drops them"


@dataclass(frozen=True)
class Fitted:
    """A session whose values fit its signature. `notes` list values set aside or restored."""

    session: Session
    notes: tuple[str, ...]


def fitted(session: Session, before: Signature, after: Signature) -> Fitted:
    """Adapt the session's demos and inputs from `before` to `after`, setting misfits aside."""
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
        notes += [f"{case.name}: it has an expectation of `{name}`, which is gone" for name in gone]
    made: tuple[tuple[Demo, ...], tuple[Case, ...]] = (tuple(demos), tuple(cases))
    return Fitted(replace(session, demos=made[0], cases=made[1]), tuple(notes))


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
        return Pulled(replace(session, signature=signature), ("the text could not be read before",), ())
    changes = tuple([one.message for one in differences(before, after)])
    fits = fitted(replace(session, signature=signature), before, after)
    return Pulled(fits.session, changes or ("the text, not what it says",), fits.notes)
