"""Detect the kind of a file by name and content, and import it; on request, import rows as cases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from adapters.late_dataclasses import replace
from sessions.errors import SessionError, counted
from sessions.imports import conversations, demos, dspy_program, lm_call, optimizer_runs, pasted_calls, pasted_text
from sessions.imports.merging import unused
from sessions.imports.reading import KEPT, LINES, Imported, json_of, pickled, text_of
from sessions.model.parameters import kind_of
from sessions.model.session import DEFAULT_COLUMNS, Case, Session, SignatureText
from sessions.source.linking import class_in
from sessions.source.places import PLACE

ROWS = (".csv", ".tsv", *LINES)
NAMES = ("case", "name", "id")
"""Columns with a case's name, in order of preference; they are not fields of the signature."""


def as_cases(imported: Imported, name: str) -> Imported:
    """Convert imported rows from demos to cases. Rows without a name are called `name 1`, `name 2`, …"""
    session = imported.session
    signature = session.signature.read()
    cases: list[Case] = []
    taken: set[str] = set()
    for number, demo in enumerate(session.demos, 1):
        beside = demo.extra.get(KEPT, {})
        others: dict[str, Any] = dict(beside) if isinstance(beside, Mapping) else {}
        said = [one for one in NAMES if isinstance(others.get(one), str | int) and str(others[one]).strip()]
        own = unused(str(others.pop(said[0])).strip() if said else f"{name} {number}", taken)
        taken.add(own)
        inputs = {key: value for key, value in demo.values.items() if key in signature.input_fields}
        outputs = {key: value for key, value in demo.values.items() if key in signature.output_fields}
        expect = {"fields": {key: {"equals": value} for key, value in outputs.items()}} if outputs else {}
        cases.append(Case(own, inputs=inputs, expect=expect, extra={KEPT: others} if others else {}))
    expecting = sum(bool(case.expect) for case in cases)
    notes = [re.sub(r" demo(s?)(?!\w)", r" row\1", note) for note in imported.notes]
    notes.append(f"{counted(len(cases), 'case')}, {expecting:,} of them with expectations")
    made = replace(session, demos=(), cases=tuple(cases))
    return Imported(made, tuple(notes), imported.questions, imported.has_signature, by_name=True)


Kind = Literal["signature", "demos", "cases", "program", "call", "history", "candidates", "trace"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def load(
    path: str,
    kind: Kind | None = None,
    given: SignatureText | None = None,
    *,
    predictor: str | None = None,
    case: str | None = None,
    folder: Path | None = None,
    call: int | None = None,
    text: str | None = None,
) -> Imported:
    """Import a file, using the signature `given` if any. A `.py` path may name its class: `x.py:Class`.

    A class is linked to its file if that belongs to the project of a session in `folder`. `call` chooses among several
    calls. `text` replaces the file's content; `path` then only names it. Raises `SessionError`, `SignatureError` and
    `SourceError` for what cannot be imported.
    """
    name = case or ("case 1" if text is not None else Path(path).stem)
    if text is None:
        file, _, of_class = path.rpartition(":")
        is_python = path.endswith(".py") or (file.endswith(".py") and PLACE.fullmatch(of_class) is not None)
        source = text_of(path) if path.endswith(".py") and kind is None else ""  # which may show calls, and no class
        is_history = pasted_text.literals_in(source).entries and not re.search(r"^class \w", source, re.MULTILINE)
        if kind == "signature" or (kind is None and is_python and not is_history):
            _refuse_choice(path, "a signature has", call=call, predictor=predictor, case=case)
            return _from_source(path, folder)
        if optimizer_runs.is_folder(path):
            _refuse_choice(path, OF_RUNS, call=call, case=case)
            return optimizer_runs.from_folder(path, given, predictor)
        if Path(path).name == optimizer_runs.STATE:
            raise pickled(path, "this is a pickle", optimizer_runs.SAVE_GEPA)
        text = text_of(path)
    suffix = Path(path).suffix.lower()
    if kind == "cases":
        _refuse_choice(path, "its rows become cases, which have", call=call, predictor=predictor)
        return as_cases(_rows(text, path, suffix, given), name)
    is_log = (
        kind is None and suffix in LINES and (pasted_text.ERROR_MARK in text or pasted_text.literals_in(text).entries)
    )
    if (suffix in ROWS and not is_log) or (kind == "demos" and not suffix):
        _refuse_choice(path, OF_DEMOS, call=call, predictor=predictor, case=case)
        return _rows(text, path, suffix, given)
    if kind in (None, "call"):
        pasted = pasted_calls.find(text)
        if pasted:
            _refuse_choice(path, OF_CALLS, predictor=predictor)
            return pasted_calls.from_calls(pasted, path, given, name, call)
        found = pasted_text.literals_in(text)
        if found.entries:
            _refuse_choice(path, OF_CALLS, predictor=predictor)
            first = found.entries[0]
            if "outputs" in first or lm_call.names_fields(first):
                made = _from_calls(list(found.entries), path, given, name, call)
            else:
                _refuse_choice(path, OF_MESSAGES, call=call)
                made = conversations.from_messages(first, path, given, name)
            return replace(made, notes=(*made.notes, *found.notes))
    try:
        data = json_of(text, path)
    except SessionError:
        is_error = pasted_text.names_error(text)
        if suffix == ".json" or (text.lstrip()[:1] in ("[", "{", '"', "") and not is_error):
            raise
        message = pasted_calls.NO_REPLY if is_error else "it contains neither JSON nor a call of dspy"
        raise SessionError(path, "", message, pasted_calls.WANTED) from None
    if isinstance(data, dict) and "format" in data and "signature" in data:
        raise SessionError(path, "", "this is a session already", f"`workbench {path}` opens it")
    what = kind or ("candidates" if optimizer_runs.is_log(path) else _kind_of(data, path))
    if what == "candidates":
        _refuse_choice(path, OF_RUNS, call=call, case=case)
        return optimizer_runs.from_run(data, path, given, predictor)
    if what == "program":
        if not isinstance(data, dict):
            raise SessionError(path, "", f"expected an object, got {kind_of(data)}")
        _refuse_choice(path, "a saved program has", call=call, case=case)
        return dspy_program.from_program(data, path, given, predictor)
    if what == "call":
        _refuse_choice(path, OF_CALLS, predictor=predictor)
        return _from_calls(data, path, given, name, call)
    if what == "history":
        if not conversations.is_messages(data):
            raise SessionError(path, "", "expected a list of messages with role and content")
        _refuse_choice(path, OF_MESSAGES, call=call, predictor=predictor)
        reply = (lm_call.answer_in(data) or {}).get("text") if isinstance(data, dict) else None
        return conversations.from_messages(data, path, given, name, reply=reply)
    _refuse_choice(path, OF_DEMOS, call=call, predictor=predictor, case=case)
    return demos.from_json(text, path, given)


OF_DEMOS = "its rows are demos, which have"
OF_RUNS = "a run of an optimiser has"
OF_CALLS = "a call has"
OF_MESSAGES = "a list of messages has"


def _refuse_choice(path: str, has: str, **choices: int | str | None) -> None:
    """Raise `SessionError` for a choice that has no meaning for what is imported; `has` begins the sentence."""
    for name, given in choices.items():
        if given is not None:
            hint = "--as cases makes cases of the rows" if (name, has) == ("case", OF_DEMOS) else f"leave out --{name}"
            raise SessionError(path, "", f"{has} no {name}", hint)


def _rows(text: str, path: str, suffix: str, given: SignatureText | None) -> Imported:
    """Import a table or flat objects, by the suffixes of CSV and JSON Lines, or without any by content."""
    if suffix in (".csv", ".tsv"):
        return demos.from_csv(text, path, given)
    if suffix in LINES:
        return demos.from_json_lines(text, path, given)
    return demos.from_json(text, path, given) if suffix else demos.from_text(text, path, given)


def _kind_of(data: object, path: str) -> Kind:
    if optimizer_runs.is_run(data):
        return "candidates"
    if dspy_program.is_program(data):
        return "program"
    if lm_call.is_call(data) or (isinstance(data, list) and data and all(map(lm_call.is_call, data))):
        return "call"
    if conversations.is_messages(data):
        return "history"
    if isinstance(data, list):
        return "demos"
    hint = f"say what it is with --as: {', '.join(KINDS)}"
    raise SessionError(path, "", f"{kind_of(data)} of an unknown kind", hint)


def _from_calls(data: Any, path: str, given: SignatureText | None, case: str, number: int | None) -> Imported:
    calls = data if isinstance(data, list) else [data]
    if not calls or not all(isinstance(one, dict) for one in calls):
        raise SessionError(path, "", "there is no call in it", "an entry of `lm.history`, as JSON")
    if number is not None:
        if not 1 <= number <= len(calls):
            raise SessionError(path, "", f"there is no call {number}", f"it has {len(calls)}")
        calls = [calls[number - 1]]
    if len(calls) == 1:
        return lm_call.from_call(calls[0], path, given, case)
    made = [lm_call.from_call(one, f"{path}: call {at}", given, case) for at, one in enumerate(calls, 1)]
    return lm_call.joined(made, case)


def _from_source(path: str, folder: Path | None) -> Imported:
    file, _, name = path.rpartition(":") if ":" in path and not path.endswith(".py") else (path, "", "")
    written = class_in(text_of(file), file, name, folder)
    signature = written.read()
    notes = [f"the signature {signature.name}: {signature.signature}"]
    if written.source is not None:
        notes.append(f"linked to {written.source.file}:{written.source.class_name}")
    notes += [f"`{field.name}`: {note}" for field in signature.fields.values() for note in field.notes]
    return Imported(Session(written, (), DEFAULT_COLUMNS), tuple(notes), is_bare_text=True)
