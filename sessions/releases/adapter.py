"""Adapters of other dspy releases, as columns name them: `chat@3.0.4`.

Such an adapter makes no prompt by itself: bound to a case of a session, it asks the release for the whole call, from
the request to the parse result. The release does not report the origins of prompt pieces and values; these are aligned
from the texts where that is certain.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adapters.errors import AdapterParseError
from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.formats.catalog import UnknownAdapterError
from adapters.json_text.repair_limits import TooLargeError, quick_reading, steps_in_force
from adapters.late_dataclasses import dataclass, field, replace
from adapters.prompts.text import Demos, Message, Prompt, Segment, Text, Values, prompt_of_dicts
from adapters.replies.reading import FieldReading, Reading, ReadingError, Span
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Outcome, Request
from adapters.signatures.signature import Signature
from sessions.file.typed_values import read_back, same, typed
from sessions.model import variants
from sessions.model.replies import Answer, Extraction
from sessions.model.session import Case, Column, Session
from sessions.releases.engine import Question, ReleaseError, ReleaseReading
from sessions.text_diff import opcodes

if TYPE_CHECKING:
    from sessions.releases.release import Release

Beside = Callable[[Column, Capabilities], Sequence[Message]]
"""Makes our own messages for the case, with one of our columns. May raise anything."""


def make(column: Column) -> ReleaseAdapter:
    """Make the adapter of a column such as `chat@3.0.4`. Raises `UnknownAdapterError` if no dspy has it."""
    named = catalog.parse_release(column.adapter)
    if named is None:
        raise UnknownAdapterError(f"{column.adapter!r} expected an adapter of a release, such as chat@3.0.4")
    if catalog.dspy_class(named.adapter) is None:
        listed = ", ".join([f"{one}@{named.version}" for one in catalog.NAMES if catalog.dspy_class(one) is not None])
        raise UnknownAdapterError(f"no dspy has an adapter {named.adapter!r}; there are {listed}")
    return ReleaseAdapter(named.adapter, named.version)


class ReleaseAdapter(Adapter):
    """The `adapter` of dspy `version`; once bound to a case (`bound`), its `whole_call` runs in that release."""

    def __init__(self, adapter: str, version: str) -> None:
        super().__init__()
        self.adapter = adapter
        self.version = version
        self.name = f"{adapter}@{version}"  # type: ignore[misc]
        self.profile = catalog.profile(self.name)  # type: ignore[misc]

    def bound(self, session: Session, case: Case, column: Column, ours: Beside) -> ReleaseAdapter:
        """Return this adapter for a case in a column; `ours` makes the messages that our adapter sends."""
        made = ReleaseAdapter(self.adapter, self.version)
        made.whole_call = CaseOfRelease(made, session, case, column, ours)
        return made

    def fallback_adapter(self) -> Adapter | None:
        """Return the release's JSON adapter for the same case, if this adapter falls back to it."""
        call = self.whole_call
        if not isinstance(call, CaseOfRelease) or not catalog.profile(self.adapter).can_fall_back:
            return None
        following = ReleaseAdapter("json", self.version)
        following.whole_call = replace(call, adapter=following, fallback="json")
        return following

    def render(self, signature: Signature, demos: Demos, inputs: Values, reuse: Prompt | None = None) -> Prompt:
        raise ReleaseError("unsupported", self.name, "another release renders only the cases of a session")

    def read(self, signature: Signature, completion: str) -> Reading:
        """Return an unparsed result: the release cannot be asked without a case."""
        fields = {name: FieldReading(name, "unread") for name in signature.output_fields}
        spans = (Span(0, len(completion), "ignored"),) if completion else ()
        error = ReadingError("ReleaseError", "another release parses replies only with a case's prompt")
        return Reading(self.name, signature, completion, {}, spans, fields, error)


@dataclass(frozen=True)
class CaseOfRelease:
    """The whole call of a case in a column (`adapters.requests.calls.WholeCall`)."""

    adapter: ReleaseAdapter
    session: Session
    case: Case
    column: Column
    ours: Beside
    fallback: str = ""
    """The fallback's adapter, used instead of the column's."""
    capabilities: Capabilities | None = field(default=None)
    """The capabilities that the request was made for."""

    def request(self, capabilities: Capabilities, model: str | None, reuse: Prompt | None = None) -> Request:
        """Return what the release sends. Raises `ReleaseError` and `SignatureError`."""
        asked = replace(self, capabilities=capabilities)
        made = _release(self.adapter.version).call(asked._question())
        signature = variants.session_of(self.session, self.column).signature.read()
        removed = tuple([name for name in made.removed_fields if name in signature.fields])
        left = signature
        for name in removed:
            left = left.without(name)
        try:
            ours = self.ours(replace(self.column, adapter=self.adapter.adapter), capabilities)
        except Exception:  # whatever dspy's format raises for this signature and these values
            ours = ()
        prompt = traced(prompt_of_dicts(made.messages), ours)
        if reuse is not None:
            prompt = kept(prompt, reuse)
        return Request(prompt, made.request, left, removed, model, whole_call=asked)

    def outcome(self, request: Request, signature: Signature, output: Mapping[str, object] | str | None) -> Outcome:
        """Parse an answer as the release does. Never raises: a failure is in the parse result.

        Under a step limit, the release is not asked if our adapter would exceed the limit, because it has none.
        """
        answer = _answer(output)
        why_not = self._why_not_asked(request, answer)
        try:
            if why_not:
                read = ReleaseReading(False, {}, "ReleaseError", why_not)
            else:
                (read,) = _release(self.adapter.version).call(self._question(answer)).readings
        except ReleaseError as error:
            read = ReleaseReading(False, {}, "ReleaseError", str(error))
        reading = self._reading(request, signature, answer.text, read)
        return Outcome(reading.values, reading)

    def _question(self, *answers: Answer) -> Question:
        named = catalog.parse_release(self.column.adapter)
        column = self.column if named is None else replace(self.column, adapter=named.adapter)
        return Question(self.session, self.case, column, self.capabilities, answers, self.fallback)

    def _why_not_asked(self, request: Request, answer: Answer) -> str:
        """Return why the current step limit forbids asking the release; empty if it allows that."""
        steps = steps_in_force()
        if steps is None:
            return ""
        try:
            error = catalog.make(self.adapter.adapter).read(request.signature, answer.text).exception
        except Exception:  # whatever dspy's parser raises
            error = None
        if not (steps.ran_out or isinstance(error, TooLargeError)):
            return ""
        ours = f"our {self.adapter.adapter} adapter does not finish this reply within {steps.allowed:,} steps"
        return f"dspy {self.adapter.version} is not asked: {ours}, and that one has no such limit"

    def _reading(self, request: Request, signature: Signature, text: str, read: ReleaseReading) -> Reading:
        values = {name: read_back(value) for name, value in read.values.items()}
        spans: tuple[Span, ...] = (Span(0, len(text), "untraced"),) if text else ()
        if read.ok:
            ours: Reading | None = None  # parsed with our adapter of the same name, unless it fails or takes too long
            with suppress(Exception), quick_reading() as steps:
                ours = catalog.make(self.adapter.adapter).read(request.signature, text)
            spans = spans_of(text, read.values, None if steps.ran_out else ours)
        places = {one.field: (one.start, one.end) for one in spans if one.field is not None}
        fields = {
            name: FieldReading(name, "read", text, places.get(name), values[name])
            if name in values
            else FieldReading(name, "missing" if read.ok else "unread", text)
            for name in signature.output_fields
        }
        if read.ok:
            return Reading(self.adapter.name, signature, text, values, spans, fields, reader=self.adapter)
        raised: Exception = (
            AdapterParseError(self.adapter.name, signature, text, read.message)
            if read.error == "AdapterParseError"
            else RefusedByReleaseError(f"{read.error}: {read.message}")
        )
        error = ReadingError(read.error, read.message or f"{self.adapter.name} does not read it")
        return Reading(self.adapter.name, signature, text, {}, spans, fields, error, raised, reader=self.adapter)


class RefusedByReleaseError(Exception):
    """An exception other than a parse error that a release raised for a reply, with its message."""


def _answer(output: Mapping[str, Any] | str | None) -> Answer:
    if not isinstance(output, Mapping):
        return Answer(output or "")
    extraction = output.get("extraction")
    return Answer(
        output.get("text") or "",
        reasoning=output.get("reasoning_content"),
        tool_calls=tuple(output.get("tool_calls") or ()) or None,
        logprobs=output.get("logprobs"),
        citations=tuple(output.get("citations") or ()) or None,
        extraction=Extraction("chat", extraction) if isinstance(extraction, str) else None,
    )


def _release(version: str) -> Release:
    """Return a release. The module that starts it is imported here, because most sessions need none."""
    from sessions.releases import environments

    return environments.release_of(version)


def traced(theirs: Prompt, own: Sequence[Message]) -> Prompt:
    """Add the turns and origins of `own`, our adapter's messages, to their prompt where certain."""
    if [one.role for one in own] != [one.role for one in theirs.messages]:
        return theirs
    made: list[Message] = []
    for message, ours in zip(theirs.messages, own, strict=True):
        parts = ours.parts
        if message.is_list or ours.is_list or len(message.parts) != 1 or len(ours.parts) != 1:
            parts = ours.parts if message.as_dict() == ours.as_dict() else message.parts
        elif str(message.text) != str(ours.text):
            parts = (_aligned(str(message.text), ours.text),)
        made.append(replace(message, turn=ours.turn, parts=parts))
    return replace(theirs, messages=tuple(made))


def kept(prompt: Prompt, before: Prompt) -> Prompt:
    """Reuse the message objects of `before` that are equal in `prompt`, origins included."""
    known: dict[tuple[str, str, str], Message] = {(one.role, one.turn, str(one.text)): one for one in before.messages}
    made: list[Message] = []
    for message in prompt.messages:
        old = known.get((message.role, message.turn, str(message.text)))
        is_same = old is not None and old == message and old.segments == message.segments
        made.append(old if is_same and old is not None else message)
    return replace(prompt, messages=tuple(made))


def _aligned(text: str, ours: Text) -> Text:
    """Split `text` into segments, with those of `ours` for lines that are certainly shared."""
    lines, own = text.splitlines(keepends=True), str(ours).splitlines(keepends=True)
    starts = [0]
    for line in own:
        starts.append(starts[-1] + len(line))
    once = {line for line, count in Counter(lines).items() if count == 1}
    once &= {line for line, count in Counter(own).items() if count == 1}
    segments: list[Segment] = []
    done = 0
    for tag, start, end, here, here_end in opcodes(lines, own):
        # Runs of equal lines are certain if a line in them is unique in both.
        if tag == "equal" and any(line.strip() and line in once for line in lines[start:end]):
            segments += [Segment("".join(lines[done:start]), "custom")]
            segments += ours.slice(starts[here], starts[here_end]).segments
            done = end
    segments += [Segment("".join(lines[done:]), "custom")]
    return Text(segments)


def spans_of(reply: str, values: Mapping[str, object], ours: Reading | None = None) -> tuple[Span, ...]:
    """Partition a reply into spans when only its values are known (as `sessions.file.typed_values` writes them).

    `ours` is the parse result of our adapter of the same name for the same reply, if any.
    """
    if not reply:
        return ()
    if ours is not None and ours.ok and not any(one.kind == "duplicate" for one in ours.spans):
        if ours.values.keys() == values.keys() and all(same(typed(ours.values[name]), values[name]) for name in values):
            return ours.spans
    placed: list[Span] = []
    for name, value in values.items():
        text = value if isinstance(value, str) else ""
        if isinstance(value, int | float):
            text = json.dumps(value)
        start = reply.find(text) if text.strip() else -1
        if start >= 0 and reply.find(text, start + 1) < 0:
            placed.append(Span(start, start + len(text), "value", name))
    placed.sort()
    if any(one.end > other.start for one, other in pairwise(placed)):
        placed = []  # values overlap, so their places are not certain
    spans: list[Span] = []
    done = 0
    for one in [*placed, Span(len(reply), len(reply), "value")]:
        if one.start > done:
            spans.append(Span(done, one.start, "untraced"))
        if one.end > one.start:
            spans.append(one)
        done = one.end
    return tuple(spans)
