"""Values beside a signature that changed: what has no field any more, or another type, is kept aside and comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.signatures.signature import Signature
from adapters.signatures.type_names import name_of
from sessions.imports.cells import takes
from sessions.model.session import Case, Demo, Session

ASIDE = "aside"
"""The key beside a demo's or a case's own, under which such values are kept."""


@dataclass(frozen=True)
class Fitted:
    """A session whose values fit its signature; `notes` say which were put aside, and which came back."""

    session: Session
    notes: tuple[str, ...]


def fitted(session: Session, before: Signature, after: Signature) -> Fitted:
    """The session's demos and inputs, made for `before`, as far as they fit `after`."""
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
        notes += [f"{case.name}: it expects something of `{name}`, which is no field any more" for name in gone]
    made: tuple[tuple[Demo, ...], tuple[Case, ...]] = (tuple(demos), tuple(cases))
    return Fitted(replace(session, demos=made[0], cases=made[1]), tuple(notes))


def _split(
    values: Mapping[str, Any], extra: Mapping[str, Any], before: Signature, after: Signature
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The values that fit, the rest beside them, and what was done in words."""
    kept, said = dict(values), []
    beside = extra.get(ASIDE)
    aside = dict(beside) if isinstance(beside, Mapping) else {}
    for name in list(kept):
        field, old = after.fields.get(name), before.fields.get(name)
        if field is None and old is not None:
            said.append(f"`{name}` has no field any more and is kept aside")
            aside[name] = kept.pop(name)
        elif field is not None and old is not None and field.annotation != old.annotation:
            if not takes(field.annotation, kept[name]):
                said.append(f"the value of `{name}` is no {name_of(field.annotation)} and is kept aside")
                aside[name] = kept.pop(name)
    for name in list(aside):
        field = after.fields.get(name)
        if field is not None and name not in kept and takes(field.annotation, aside[name]):
            said.append(f"`{name}` has a field again and is back")
            kept[name] = aside.pop(name)
    others = {key: one for key, one in extra.items() if key != ASIDE}
    return kept, {**others, ASIDE: aside} if aside else others, said
