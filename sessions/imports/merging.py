"""Merge an import into an existing session without losing anything in it; changes become questions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from adapters.late_dataclasses import replace
from adapters.signatures.signature import Signature
from sessions.imports.reading import KEPT, Imported, listed
from sessions.model.session import Case, Demo, Session, SignatureText, Variant


def merged(session: Session, imported: Imported) -> Imported:
    """Merge the import into a session: replace the signature, append demos, add cases under unused names."""
    other, kept_notes = _keep_unsaid(session, imported)
    notes, questions = [*imported.notes, *kept_notes], list(imported.questions)
    if replace(other.signature, source=None) != replace(session.signature, source=None):
        questions.append(f"the signature is replaced{_lost(session, other.signature.read())}")
    there = {_content(demo) for demo in session.demos}
    demos = [demo for demo in other.demos if _content(demo) not in there]
    if len(demos) < len(other.demos):
        notes.append(f"{len(other.demos) - len(demos):,} demos are in the session already")
    new_cases = [case for case in other.cases if case != Case(case.name)]
    columns = list(session.columns)
    for case in new_cases:
        columns += [
            one for one in other.columns if one.id in case.replies and one.id not in [had.id for had in columns]
        ]
    if other.model != Session.model and other.model != session.model:
        notes.append(f"the session's model stays {session.model}; the file's was {other.model}")
    names = {case.name for case in session.cases}
    cases: list[Case] = []
    before = session.cases
    if imported.by_name:
        rows = {case.name: case for case in new_cases if case.name in names}
        before = tuple([_again(case, rows.get(case.name)) for case in before])
        changed = sum(one is not other for one, other in zip(before, session.cases, strict=True))
        if rows:
            notes.append(f"{len(rows):,} cases are in the session already, {changed:,} of them with other values")
        new_cases = [case for case in new_cases if case.name not in names]
    for case in new_cases:
        name = unused(case.name, names)
        names.add(name)
        cases.append(replace(case, name=name))
    taken, said = _variants(session, other)
    notes += said
    result = replace(
        session,
        signature=other.signature,
        variants=taken,
        tools=(*session.tools, *[one for one in other.tools if one.name not in [had.name for had in session.tools]]),
        demos=(*session.demos, *demos),
        columns=tuple(columns),
        cases=(*before, *cases),
        extra=_kept(session.extra, other.extra),
    )
    return Imported(result, tuple(notes), tuple(questions), imported.has_signature)


def _variants(session: Session, other: Session) -> tuple[tuple[Variant, ...], list[str]]:
    """Append the import's new variants to the session's, under unused tags; return them with notes."""
    made, there = list(session.variants), 0
    for one in other.variants:
        if any((had.of, had.text) == (one.of, one.text) for had in made):
            there += 1
            continue
        made.append(replace(one, tag=unused(one.tag, {had.tag for had in made if had.of == one.of}, "{}-{}")))
    notes = [f"{len(made) - len(session.variants):,} variants are new"] if other.variants else []
    if there:
        notes.append(f"{there:,} wordings are in the session already")
    return tuple(made), notes


def _keep_unsaid(session: Session, imported: Imported) -> tuple[Session, list[str]]:
    """Return the imported session with notes.

    If the import is a signature's bare text, the session's predictor and own instructions stay, as a text has neither.
    """
    other = imported.session
    notes: list[str] = []
    if not imported.is_bare_text:
        return other, notes
    before, signature = session.signature, other.signature
    if before.predictor != signature.predictor and before.predictor != SignatureText.predictor:
        signature = replace(signature, predictor=before.predictor)
        notes.append(f"the predictor stays {before.predictor}")
    if before.instructions is not None and signature.instructions is None:
        signature = replace(signature, instructions=before.instructions)
        notes.append("the session keeps its own instructions instead of the text's")
    return replace(other, signature=signature), notes


def _again(case: Case, row: Case | None) -> Case:
    """Update a case with the inputs and expectations of the row of its name; keep its recordings."""
    if row is None or (json.dumps([row.inputs, row.expect]) == json.dumps([dict(case.inputs), dict(case.expect)])):
        return case
    return replace(case, inputs=row.inputs, expect=row.expect or case.expect)


def unused(name: str, taken: Collection[str], numbered: str = "{} ({})") -> str:
    """Return `name`, with a number appended if it is taken."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = numbered.format(name, number), number + 1
    return candidate


def _content(demo: Demo) -> str:
    return json.dumps(dict(demo.values))


def _lost(session: Session, signature: Signature) -> str:
    """Describe values of the session for which the new signature has no field; they stay in the file."""
    used = {name for demo in session.demos for name in demo.values} | {
        name for case in session.cases for name in case.inputs
    }
    gone = sorted(used - set(signature.fields))
    return f"; it has no field for {listed(gone)}, which demos or cases have" if gone else ""


def _kept(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    if KEPT not in after:
        return dict(before)
    if KEPT not in before:
        return {**before, KEPT: after[KEPT]}
    earlier = before[KEPT] if isinstance(before[KEPT], list) else [before[KEPT]]
    return {**before, KEPT: [*earlier, after[KEPT]]}
