"""Merge an import into an existing session without losing anything in it; changes become questions."""

from __future__ import annotations

import json
from collections.abc import Collection

from adapters.late_dataclasses import replace
from sessions.imports.reading import KEPT, Imported, listed
from sessions.model.session import Case, Session, SignatureText, Variant


def merged(session: Session, imported: Imported) -> Imported:
    """Merge the import into a session: replace the signature, append demos, add cases under unused names."""
    other, notes, questions = imported.session, list(imported.notes), list(imported.questions)
    if imported.is_bare_text:  # which has neither a predictor nor own instructions: the session's stay
        had, signature = session.signature, other.signature
        if had.predictor != signature.predictor and had.predictor != SignatureText.predictor:
            signature = replace(signature, predictor=had.predictor)
            notes.append(f"the predictor stays {had.predictor}")
        if had.instructions is not None and signature.instructions is None:
            signature = replace(signature, instructions=had.instructions)
            notes.append("the session keeps its own instructions instead of the text's")
        other = replace(other, signature=signature)
    if replace(other.signature, source=None) != replace(session.signature, source=None):
        # Values without a field stay in the file.
        used = [*(one.values for one in session.demos), *(one.inputs for one in session.cases)]
        gone = sorted({name for values in used for name in values} - set(other.signature.read().fields))
        lost = f"; it has no field for {listed(gone)}, which demos or cases have" if gone else ""
        questions.append(f"the signature is replaced{lost}")
    there = {json.dumps(dict(demo.values)) for demo in session.demos}
    demos = [demo for demo in other.demos if json.dumps(dict(demo.values)) not in there]
    if len(demos) < len(other.demos):
        notes.append(f"demos already in the session: {len(other.demos) - len(demos):,}")
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
    before = list(session.cases)
    if imported.by_name:
        rows = {case.name: case for case in new_cases if case.name in names}
        changed = 0
        for place, case in enumerate(before):  # a row updates inputs and expectations; recordings stay
            if (row := rows.get(case.name)) is None:
                continue
            new, old = [json.dumps([dict(one.inputs), dict(one.expect)]) for one in (row, case)]
            if new != old:
                before[place] = replace(case, inputs=row.inputs, expect=row.expect or case.expect)
                changed += 1
        if rows:
            notes.append(f"cases already in the session: {len(rows):,}; with other values: {changed:,}")
        new_cases = [case for case in new_cases if case.name not in names]
    for case in new_cases:
        name = unused(case.name, names)
        names.add(name)
        cases.append(replace(case, name=name))
    taken, said = _variants(session, other)
    notes += said
    extra = dict(session.extra)
    if KEPT in other.extra:
        earlier = extra.get(KEPT, [])
        both = [*(earlier if isinstance(earlier, list) else [earlier]), other.extra[KEPT]]
        extra[KEPT] = both if KEPT in extra else other.extra[KEPT]
    result = replace(
        session,
        signature=other.signature,
        variants=taken,
        tools=(*session.tools, *[one for one in other.tools if one.name not in [had.name for had in session.tools]]),
        demos=(*session.demos, *demos),
        columns=tuple(columns),
        cases=(*before, *cases),
        extra=extra,
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
    notes = [f"new variants: {len(made) - len(session.variants):,}"] if other.variants else []
    if there:
        notes.append(f"wordings already in the session: {there:,}")
    return tuple(made), notes


def unused(name: str, taken: Collection[str], numbered: str = "{} ({})") -> str:
    """Return `name`, with a number appended if it is taken."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = numbered.format(name, number), number + 1
    return candidate
