"""Convert the calls in a trace to sessions: a session for each signature, a case for each call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path

from adapters.late_dataclasses import dataclass, replace
from adapters.lm.chunk_filters import text_without_secrets
from adapters.lm.secrets import Scrubber, map_texts
from sessions.errors import SessionError
from sessions.imports import lm_call, traces
from sessions.imports.merging import unused
from sessions.imports.reading import LINES, Imported, json_of, text_of
from sessions.imports.traces import HistoryEntry, TracedCall
from sessions.model.session import SignatureText
from sessions.running import recording

MASKED, KEY = "(masked)", "[key]"
SCRUBBER = Scrubber({})
MOST_NAMED = 8
"""The most models that an error message names."""


_STRUCTURE = re.compile(r"(^\d+\. `\w+` \(.*?\)(?=:)|\[\[ ## \w+ ## \]\])", re.MULTILINE)
"""What dspy writes around fields, which is never masked: a pattern of digits would else hide the signature."""


@dataclass(frozen=True)
class Choice:
    """The calls of a trace to import."""

    failed: bool = False
    """True to import only calls that failed, or whose reply a following step could not use."""
    predictor: str | None = None
    """The name of the only session to return."""
    model: str | None = None
    mask: tuple[re.Pattern[str], ...] = ()
    """Patterns of texts to mask in messages, replies, tools and errors, such as personal data."""


def holds_spans(path: str) -> bool:
    """Return whether a file is a trace; of JSON Lines, read three lines."""
    if Path(path).suffix.lower() not in (".json", *LINES) or not Path(path).is_file():
        return False
    try:
        return any(traces.is_trace(one) for one, _ in zip(_documents(path), range(3), strict=False))
    except SessionError:
        return False


def from_trace(path: str, choice: Choice, given: SignatureText | None, case: str) -> dict[str, Imported]:
    """Return a session for each signature by file name; signatures with most calls come first.

    Raises `SessionError` if no chosen call can be read.
    """
    calls = traces.calls_in(_documents(path))
    if not calls:
        raise SessionError(path, "", "it has no span of a model call with messages and a reply")
    wanted = [one for one in calls if choice.model in (None, one.entry["model"])]
    chosen = [one for one in wanted if one.failure or not choice.failed]
    if not chosen:
        models = ", ".join(sorted({one.entry["model"] or "" for one in calls})[:MOST_NAMED])
        hint = f"models: {models}; failed: {sum(bool(one.failure) for one in calls)}"
        raise SessionError(path, "", f"none of its {len(calls)} calls is chosen", hint)
    masked: list[TracedCall] = []
    for call in chosen:
        entry: HistoryEntry = map_texts(call.entry, lambda text: _masked(text, choice.mask))
        entry["model"] = call.entry["model"]
        masked.append(replace(call, entry=entry, failure=_masked(call.failure, choice.mask)))
    keys = sum(KEY in json.dumps(after.entry) for after in masked) - sum(KEY in json.dumps(one.entry) for one in chosen)
    groups: list[list[tuple[TracedCall, Imported]]] = []
    programs: list[tuple[object, ...]] = []
    problem: SessionError | None = None
    for number, call in enumerate(masked, 1):
        try:
            imported = lm_call.from_call(call.entry, f"{path}: call {number}", given, case)
        except SessionError as error:
            problem = problem or error
            continue
        program = call.predictor, *lm_call.program_of(imported.session)
        if program not in programs:
            programs.append(program)
            groups.append([])
        groups[programs.index(program)].append((call, imported))
    if not groups:
        assert problem is not None
        raise problem
    left = len(chosen) - sum(map(len, groups))
    notes = [f"{len(chosen)} of {len(calls)} calls in the trace are chosen"]
    notes += [f"{left} calls were not made by an adapter of dspy: {problem}"] if problem is not None else []
    notes += [f"API keys are replaced by {KEY}, in {keys} of the calls"] if keys else []
    made: dict[str, Imported] = {}
    for group in sorted(groups, key=len, reverse=True):
        imported = lm_call.joined([one for _, one in group], case)
        failures = [call.failure for call, _ in group if call.failure]
        told = [f"{len(failures)} of {len(group)} calls failed, first with: {failures[0]}"] if failures else []
        name = group[0][0].predictor or "-".join(imported.session.signature.read().output_fields)
        session, recorded = imported.session, 0
        for one, column in product(imported.session.cases, session.columns):
            if column.id in one.replies:
                with suppress(SessionError):
                    session = recording.record(session, session.case(one.name), column)
                    recorded += 1
        told.append(f"{recorded} of {len(group)} are recorded for `workbench check`")
        name = unused(re.sub(r"[^\w.-]+", "-", name)[:60] or "call", made, "{}-{}")
        made[name] = replace(imported, session=session, notes=(*notes, *told, *imported.notes))
    if choice.predictor is not None and choice.predictor not in made:
        raise SessionError(path, "", f"no predictor {choice.predictor!r} in it", f"there is {', '.join(made)}")
    return made if choice.predictor is None else {choice.predictor: made[choice.predictor]}


def _documents(path: str) -> Iterator[object]:
    """Yield the JSON documents of a file: each line of JSON Lines, else the whole file."""
    if Path(path).suffix.lower() not in LINES:
        yield json_of(text_of(path), path)
        return
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield json_of(line, path, f"line {number}")


def _masked(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """Mask the matches of patterns in a text, and replace API keys."""
    parts = _STRUCTURE.split(SCRUBBER.scrubbed(text_without_secrets(text)))
    for pattern in patterns:
        parts[::2] = [pattern.sub(MASKED, one) for one in parts[::2]]
    return "".join(parts)
