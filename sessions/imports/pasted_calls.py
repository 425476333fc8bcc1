"""Convert a call in pasted text to a session: a dspy parse error, or output of its `inspect_history()`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.formats import catalog
from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.signature import Field
from sessions.checking.verdicts import cut
from sessions.errors import SessionError
from sessions.imports import lm_call, pasted_text, prompt_types, proposing
from sessions.imports.pasted_text import FoundError
from sessions.imports.reading import GIVE_SIGNATURE, KEPT, Imported, decoded, listed
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText

ADAPTERS = {"ChatAdapter": "chat", "JSONAdapter": "json", "XMLAdapter": "xml", "BAMLAdapter": "baml"}
INPUT = "prompt"
"""The input of a session made from an error, whose text names no inputs."""
NO_REPLY = "it names an error of dspy, but not the reply"
WANTED = "give the error's whole text, or the output of `dspy.inspect_history()`"
_OF_REACT = {"next_tool_args": "dict[str, Any]"}
_FAILED_FIELD = re.compile(r"field (\w+)\b")
_ITS_TYPE = re.compile(r"validation errors? for ([^\n]+)")
_ITS_CHOICES = re.compile(r" is not one of \(([^()\n]+?),?\)")


@dataclass(frozen=True)
class PastedCalls:
    """The calls in a text: printed calls as entries of `lm.history`, and errors that belong to none of them."""

    entries: tuple[Mapping[str, Any], ...] = ()
    errors: tuple[FoundError, ...] = ()
    guesses: tuple[str, ...] = ()
    is_printed: bool = True
    """False for entries of `lm.history` itself, which keep the white space around messages."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.entries) + len(self.errors)

    def titles(self) -> list[str]:
        """Describe each call in one line: its time, the start of its last message, its reply."""
        made = []
        for one in self.entries:
            asked = next((str(each.get("content")) for each in reversed(one.get("messages") or ())), "")
            question = asked.partition("\n\nRespond with")[0]
            stamp = str(one.get("timestamp", "call")).partition(".")[0]
            made.append(f"{stamp}: {_short(question, 24)} -> {_short(lm_call.first_output(one))}")
        return made + [
            f"{one.adapter or 'error'}, {', '.join(one.expected)}: {_short(one.reply)}" for one in self.errors
        ]


def _short(text: str, most: int = 48) -> str:
    return cut(re.sub(r"\[\[ ## \w+ ## \]\]", "", text), most)


def find(text: str) -> PastedCalls:
    """Find the calls in a text, if it has any."""
    found = pasted_text.history_in(text)
    replies = {lm_call.first_output(one).strip() for one in found.entries}
    errors = [one for one in pasted_text.errors_in(text) if one.reply.strip() not in replies or not one.reply.strip()]
    return PastedCalls(found.entries, tuple(errors), found.guesses)


def entries_in(text: str) -> PastedCalls:
    """Find entries of `lm.history` in a text, as Python or JSON."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = pasted_text.literals_in(text)
    data = decoded(text)
    entries = found.entries or tuple(filter(lm_call.is_call, data if isinstance(data, list) else [data]))
    return PastedCalls(entries, notes=found.notes, is_printed=False)


def from_calls(
    calls: PastedCalls, path: str, given: SignatureText | None = None, case: str = "case 1", number: int | None = None
) -> Imported:
    """Convert call `number` (from 1) to a session; None means the only call. Raises `SessionError`."""
    if number is None and len(calls) > 1:
        told = "".join(f"\n  {index}  {title}" for index, title in enumerate(calls.titles(), 1))
        raise SessionError(path, "", f"it has {len(calls)} calls: choose with --call{told}")
    if not calls:
        raise SessionError(path, "", NO_REPLY, WANTED)
    index = (number or 1) - 1
    if not 0 <= index < len(calls):
        raise SessionError(path, "", f"there is no call {number}", f"it has {len(calls)}")
    if index >= len(calls.entries):
        made = _read_error_text(calls.errors[index - len(calls.entries)], path, given, case)
    else:
        made = lm_call.from_call(calls.entries[index], path, given, case, is_printed=calls.is_printed)
    guesses = tuple(dict.fromkeys([*calls.guesses, *made.guesses, *made.questions]))
    session = made.session
    if guesses:
        one = session.cases[0]
        kept = {**one.extra, KEPT: {**one.extra.get(KEPT, {}), "guessed": list(guesses)}}
        session = session.replace_case(replace(one, extra=kept))
    notes = (*made.notes, *calls.notes, *_verdict(session))
    return replace(made, session=session, notes=notes, questions=(), guesses=guesses)


def _verdict(session: Session) -> Sequence[str]:
    """Describe how the current parser handles the reply."""
    column = session.columns[0]
    reply = session.cases[0].replies.get(column.id)
    if reply is None:
        return ()
    if reply.tool_calls and not reply.text:
        return (f"the reply calls {listed(one['function']['name'] for one in reply.tool_calls)}",)
    reading = catalog.make(column.adapter, {}).read(session.signature.read(), reply.text)
    if reading.error is None:
        return (f"parsed by `{column.adapter}`, the reply gives {listed(reading.values)}",)
    found = [name for name, one in reading.fields.items() if one.state == "read"]
    failed = [name for name, one in reading.fields.items() if one.state == "failed"]
    parts = [listed(found)] if found else []
    parts += [f"{listed(failed)} with a wrong value"] if failed else []
    said = f"it finds {' and '.join(parts) or 'no output'}"
    return (f"`{column.adapter}` cannot parse the reply ({reading.error.type}): {said}",)


def _read_error_text(error: FoundError, path: str, given: SignatureText | None, case: str) -> Imported:
    guesses = list(error.guesses)
    adapter = ADAPTERS.get(error.adapter)
    if adapter is None:
        adapter = "json" if error.reply.lstrip().startswith("{") else "chat"
        told = f"the adapter {error.adapter} is not known here" if error.adapter else "the text names no adapter"
        guesses.append(f"{told}: `{adapter}` is taken")
    names = error.expected
    if not names:  # by dspy's markers, JSON keys or XML elements
        marked = re.findall(r"\[\[ ## (\w+) ## \]\]", error.reply) or re.findall(r'^\s*"(\w+)"\s*:', error.reply, re.M)
        marked = marked or re.findall(r"</(\w+)>", error.reply)
        names = tuple(dict.fromkeys(name for name in marked if name != "completed"))
    if not names:
        raise SessionError(path, "", "the error names no output fields", GIVE_SIGNATURE)
    if error.expected != names:
        guesses.append(f"the outputs are those that the reply names: {listed(names)}")
    if given is None:
        signature = _signature(names, error, path, guesses)
    else:
        signature = proposing.fitting(given, [*given.read().input_fields, *names])
        unknown = [name for name in names if name not in signature.read().output_fields]
        if unknown:
            guesses.append(f"the signature has no output {listed(unknown)}, which the error names")
    reply = Reply(error.reply, source="pasted")
    extra = {KEPT: {"error": error.message}} if error.message else {}
    column = Column(adapter, adapter)
    made = Case(case, replies={adapter: reply}, extra=extra)
    session = Session(signature, (), (column,), cases=(made,))
    reading = catalog.make(adapter, {}).read(signature.read(), error.reply)
    if reading.ok:
        guesses.append("dspy could not parse the reply, and here it parses: a type, an option or the release differs")
    elif error.actual is not None and not error.message:
        fields = reading.fields
        today = tuple([name for name in names if name in fields and fields[name].state in ("read", "default")])
        if set(today) != set(error.actual):
            told = f"{listed(error.actual) or 'no output'}, and parsed again {listed(today) or 'none'}"
            guesses.append(f"dspy found {told}: a type, an option or the release differs")
    notes = [f"an error of {error.adapter or 'an adapter'}: it expected {listed(names)}"]
    if adapter in ("json", "baml"):
        notes.append("the text has only the part of the reply that looked like JSON, which may not be all of it")
    return Imported(session, tuple(notes), (), has_signature=given is None, guesses=tuple(guesses))


def _signature(names: Sequence[str], error: FoundError, path: str, guesses: list[str]) -> SignatureText:
    known: dict[str, str] = {}
    if (failed := _FAILED_FIELD.search(error.message)) is not None:
        if (told := _ITS_TYPE.search(error.message, failed.end())) is not None:
            known[failed[1]] = re.sub(r"\bliteral\[", "Literal[", told[1].strip())
        if (choices := _ITS_CHOICES.search(error.message, failed.end())) is not None:
            known[failed[1]] = f"Literal[{choices[1]}]"
    if "next_tool_name" in names:
        known = _OF_REACT | known
    fields = [Field(INPUT, "input", str)]
    untold = []
    for name in names:
        unknown: list[str] = []
        annotation = prompt_types.annotation(name, known[name], unknown) if name in known else str
        guesses += unknown
        untold += [name] if name not in known else []
        fields.append(Field(name, "output", annotation))
    guesses.insert(0, f"an error's text has no inputs: `{INPUT}` is in their place")
    if untold:
        guesses.append(f"an error's text has no types: str is the type of {listed(untold)}")
    return proposing.proposed(fields, None, path)
