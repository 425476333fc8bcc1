"""Verdicts of a check on rendering, parsing and expectations, with the differences."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from adapters.late_dataclasses import dataclass, field
from adapters.values.plain_json import plain
from sessions.file.json_values import JSON
from sessions.file.typed_values import same
from sessions.model.session import Case

Word = Literal["pass", "drift", "fail", "empty", "error", "gone", "refused"]
"""The word of a verdict. pass: as recorded or expected · drift: differs from the recording · fail: differs from the
expectation · empty: nothing recorded, or nothing expected · error: could not be judged. For `source` only: gone: the
class or its file is missing · refused: the link must not, or cannot, be followed."""

Part = Literal["render", "parse", "expect", "source", "upstream", "live"]
PARTS: tuple[Part, ...] = ("render", "parse", "expect")
"""The verdicts of every check. `source` is added for a linked session, `upstream` and `live` on request."""

_UNFAILED = frozenset[Word](("pass", "empty"))

KEYS_SORTED = "the keys of the file were sorted, and prompts depend on their order"
"""The message of a drift caused by key order alone."""


@dataclass(frozen=True)
class Origin:
    """The source of a piece of a message: its turn, its `kind` in `adapters.prompts.text`, and its field."""

    turn: str
    kind: str
    field: str | None = None

    def plain_words(self) -> str:
        """Return a phrase such as "the description of `score` in the system message"."""
        what = _KINDS.get(self.kind, self.kind)
        if self.field is not None:
            return f"the {what} of `{self.field}` in {turn_in_words(self.turn)}"
        return f"the {what} of {turn_in_words(self.turn)}"


_KINDS = {"boilerplate": "fixed text", "custom": "adapter's own text"}


def turn_in_words(turn: str) -> str:
    """Return a phrase for a message's `turn`: "history turn 1", "the system message"."""
    if turn.startswith("history "):
        return "history turn " + turn.removeprefix("history ")
    return {"system": "the system message", "inputs": "the inputs"}.get(turn, turn)


@dataclass(frozen=True)
class Edit:
    """A change in the pieces of an origin: the removed and the added words, with `…` between stretches.

    `said` describes the change of a class in a schema, in the same words wherever a prompt shows that class.
    """

    origin: Origin
    before: str
    after: str
    said: str = ""


@dataclass(frozen=True)
class Drift:
    """A difference: its verdict, place, message and diff.

    `place` is a path (`messages[0]`, `request.temperature`, `attempts[0].completions[0].values.answer`,
    `fields.answer.equals`). `diff` contains lines that begin with "-", "+" or " ". `origins` are the sources of the
    differing pieces of today's message, and `edits` the changes in each. `before` and `after` are JSON, for differences
    other than text. `versions` names the versions that changed since the recording; it is empty if none did.
    """

    part: Part
    place: str
    message: str
    diff: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    before: JSON = None
    after: JSON = None
    versions: str = ""
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class FixtureResult:
    """The verdicts on a column of a case in the session at `path`, by part."""

    path: str
    case: str
    column: str
    verdicts: Mapping[Part, Word]
    drift: tuple[Drift, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks that are not drift, such as a release that could not be asked."""
    seconds: float = field(default=0.0, compare=False)
    """The time that the check of this fixture took."""

    @property
    def passed(self) -> bool:
        """Return whether something was checked and everything passed."""
        return not self.failed and not self.is_empty and not self.unasked

    @property
    def unasked(self) -> bool:
        """Return whether only the verdict of another dspy is missing, because it could not be asked."""
        return self.verdicts.get("upstream") == "empty" and not self.failed and not self.is_empty

    @property
    def failed(self) -> bool:
        return not _UNFAILED.issuperset(self.verdicts.values())

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was checked, because nothing is recorded or expected.

        The verdict `source` does not count as a check.
        """
        others = {word for part, word in self.verdicts.items() if part != "source"}
        return others <= {"empty"} and not self.failed


PARSED, PARSE_ERROR, NO_VALUE = "parsed", "parse error", "no value"
MOST_INNER, DEEPEST = 3, 20
"""The maximum number of changes listed within a value, and the depth to which they are searched."""
_ABSENT: Final = object()
LONGEST_COMPARED, LONGEST_VALUE = 2_000, 60
"""The maximum length of a text compared in full, and of a value in a sentence."""
_WORD = re.compile(r"\w+")
_COMPLETION = re.compile(r"(attempts\[\d+\]\.completions\[\d+\])\.(ok|error|values)(?:\.(.*))?", re.DOTALL)


class VerdictChange(NamedTuple):
    """A change in how a recorded reply parses: its verdict, or one field's value.

    `before` and `after` are values as JSON, or `parsed`, `parse error`, `no value`. `field` is empty for an error
    without a field.
    """

    field: str
    before: str
    after: str
    drifts: tuple[Drift, ...]

    def __str__(self) -> str:
        return (f"`{self.field}`: " if self.field else "") + f"{cut(self.before)} → {cut(self.after)}"


def verdict_changes(result: FixtureResult) -> list[VerdictChange]:
    """List changes in how the replies of a fixture parse, separately from changes of its prompt.

    A value that was added or removed together with its field in the prompt counts as a change of the fields.
    """
    replies: dict[str, dict[str, Drift]] = {}
    for drift in result.drift:
        found = _COMPLETION.fullmatch(drift.place) if drift.part == "parse" else None
        if found is not None:
            part = found[2] if found[3] is None else f"{found[2]}.{found[3]}"
            replies.setdefault(found[1], {})[part] = drift
    if not replies:
        return []
    gone, new = _fields_of_the_prompt(result.drift)
    changes: list[VerdictChange] = []
    for parts in replies.values():
        if "ok" in parts:
            is_parsed_now = parts["ok"].after is True
            error = parts["error"] if "error" in parts else parts["ok"]
            about = error.before if is_parsed_now else error.after
            field = (about.get("field") if isinstance(about, Mapping) else None) or ""
            value = parts.get(f"values.{field}")
            known = PARSED if value is None else short_json(value.after if is_parsed_now else value.before)
            ends = (PARSE_ERROR, known) if is_parsed_now else (known, PARSE_ERROR)
            changes.append(VerdictChange(field, *ends, tuple(parts.values())))
            continue
        for part, drift in parts.items():
            name = part.partition("values.")[2]
            is_of_field = drift.message.endswith(" is gone") and name in gone
            is_of_field |= drift.message.endswith(" is new") and name in new
            if name and not is_of_field:
                changes += _value_changes(name, drift)
    return changes


def _value_changes(field: str, drift: Drift) -> Iterator[VerdictChange]:
    """Yield the changes in a value; within models, the field of the innermost class.

    A model with only its class renamed or its fields reordered is unchanged.
    """
    is_new, is_gone = drift.message.endswith(" is new"), drift.message.endswith(" is gone")
    before = NO_VALUE if is_new else short_json(drift.before)
    found = [(field, before, NO_VALUE if is_gone else short_json(drift.after))]
    if not (is_new or is_gone):
        inner = list(dict.fromkeys(_differing(field, drift.before, drift.after, 0)))
        found = inner if len(inner) <= MOST_INNER else found
    yield from (VerdictChange(*one, (drift,)) for one in found)


def _differing(name: str, before: JSON, after: JSON, depth: int) -> Iterator[tuple[str, str, str]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping) and depth < DEEPEST:
        models = [one.get("$type") == "model" and isinstance(one.get("value"), Mapping) for one in (before, after)]
        if all(models):
            name, before, after = str(after.get("name")), before["value"], after["value"]
        if all(models) or list(before) == list(after):
            for key in dict.fromkeys([*before, *after]):
                sides = [one.get(key, _ABSENT) for one in (before, after)]
                if _ABSENT in sides:
                    old, new = (NO_VALUE if one is _ABSENT else short_json(one) for one in sides)
                    yield f"{name}.{key}", old, new
                else:
                    yield from _differing(f"{name}.{key}", sides[0], sides[1], depth + 1)
            return
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and depth < DEEPEST:
        for old, new in zip(before, after, strict=True):
            yield from _differing(f"{name}[]", old, new, depth + 1)
    elif not same(before, after):
        yield name, short_json(before), short_json(after)


def _fields_of_the_prompt(drifts: Sequence[Drift]) -> tuple[set[str], set[str]]:
    """Return the words removed from and added to the system message's structure.

    They include the names of removed and new fields.
    """
    gone: set[str] = set()
    new: set[str] = set()
    for edit in (edit for drift in drifts for edit in drift.edits):
        if edit.origin.turn == "system" and edit.origin.kind not in ("instructions", "description"):
            gone.update(_WORD.findall(edit.before))
            new.update(_WORD.findall(edit.after))
    return gone, new


def short_json(value: object) -> str:
    """Write a value as JSON; a long one as its beginning and a digest, for comparison."""
    return shortened(json.dumps(plain(value), ensure_ascii=False))


def shortened(text: str) -> str:
    """Shorten a long text to its beginning and a digest of the whole."""
    if len(text) <= LONGEST_COMPARED:
        return text
    return f"{text[:200]}… sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def cut(text: str, length: int = LONGEST_VALUE) -> str:
    """Collapse a text into a line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def quoted(text: str) -> str:
    """Cut and quote a text for a sentence; "nothing" for an empty text."""
    return f"“{cut(text)}”" if text else "nothing"


def totals(results: Iterable[FixtureResult]) -> dict[str, int]:
    """Count `passed`, `failed`, `unasked` and `empty` fixtures; each counts once.

    Results are consumed one by one and not kept.
    """
    counts = {"passed": 0, "failed": 0, "unasked": 0, "empty": 0}
    for one in results:
        counts["passed"] += one.passed
        counts["failed"] += one.failed
        counts["unasked"] += one.unasked
        counts["empty"] += one.is_empty
    return counts


NOT_RECORDED = "nothing recorded: only the expectations were judged"
NOT_PARSED = 'passes with the parse error that was recorded; if it is meant, expect {"reply": "does_not_parse"}'
OLD_REPLY = "the judged reply answers another prompt or model; send it again to judge this prompt"


def notes_of(case: Case, column: str, verdicts: Mapping[Part, Word], is_of_old_reply: bool = False) -> tuple[str, ...]:
    """Return remarks on a column of a case: what was not judged, or passes as a recorded parse error.

    `is_of_old_reply`: the judged reply answers another prompt or model than today's.
    """
    recorded, reply = case.recordings.get(column), case.replies.get(column)
    if verdicts["render"] == "error":
        return ()
    if recorded is None:
        if not case.expect:
            return ()
        return (NOT_RECORDED, OLD_REPLY) if is_of_old_reply else (NOT_RECORDED,)
    notes: list[str] = []
    texts = {one.text for attempt in recorded.attempts for one in attempt.completions}
    if reply is not None and reply.text not in texts:
        shown = f"not the one shown ({reply.source}); `workbench record` records that"
        notes.append(f"the recorded reply was judged, {shown}")
    last = recorded.attempts[-1].completions if recorded.attempts else ()
    has_error = any(one.reading is not None and not one.reading.ok for one in last)
    if has_error and verdicts["parse"] == "pass" and verdicts["expect"] == "empty":
        notes.append(NOT_PARSED)
    return tuple(notes)
