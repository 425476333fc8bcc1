"""Rows of a table as cases: the inputs of each, and what is expected where its outputs stand beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.signatures.signature import Signature
from sessions.imports.merging import unused
from sessions.imports.result import KEPT, Imported
from sessions.model.session import Case, Demo

NAMES = ("case", "name", "id")
"""Columns that are no field of the signature and say what a case is called, the first that is there."""


def from_demos(imported: Imported, name: str) -> Imported:
    """The import of rows, each as a case in the place of a demo. A row without a name of its own is `name 1`, …"""
    session = imported.session
    signature = session.signature.read()
    cases: list[Case] = []
    taken: set[str] = set()
    for number, demo in enumerate(session.demos, 1):
        case = _case(demo, signature, f"{name} {number}")
        case = replace(case, name=unused(case.name, taken))
        taken.add(case.name)
        cases.append(case)
    expecting = sum(bool(case.expect) for case in cases)
    notes = [note.replace(" demos", " rows") for note in imported.notes]
    notes.append(f"{len(cases):,} cases, {expecting:,} of them with what is expected")
    made = replace(session, demos=(), cases=tuple(cases))
    return Imported(made, tuple(notes), imported.questions, imported.has_signature, by_name=True)


def _case(demo: Demo, signature: Signature, otherwise: str) -> Case:
    beside = demo.extra.get(KEPT, {})
    others: dict[str, Any] = dict(beside) if isinstance(beside, Mapping) else {}
    column = next((one for one in NAMES if isinstance(others.get(one), str | int) and str(others[one]).strip()), None)
    name = otherwise if column is None else str(others.pop(column)).strip()
    inputs = {key: value for key, value in demo.values.items() if key in signature.input_fields}
    outputs = {key: value for key, value in demo.values.items() if key in signature.output_fields}
    expect = {"fields": {key: {"equals": value} for key, value in outputs.items()}} if outputs else {}
    return Case(name, inputs=inputs, expect=expect, extra={KEPT: others} if others else {})
