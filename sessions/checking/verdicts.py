"""Verdicts of a check on rendering, parsing and expectations, with what differs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from adapters.values.plain_json import plain
from sessions.file.json_values import JSON
from sessions.file.typed_values import same
from sessions.model.session import Case, Recording

Word = Literal["pass", "drift", "fail", "empty", "error", "gone", "refused"]
"""pass: as recorded, or as expected · drift: not as recorded · fail: not as expected · empty: nothing recorded, or
nothing expected · error: it could not be judged. Of a source alone, gone: the class or its file is not there ·
refused: it must not, or cannot, be followed."""

Part = Literal["render", "parse", "expect", "source", "upstream", "live"]
PARTS: tuple[Part, ...] = ("render", "parse", "expect")
"""The verdicts of every check; `source` is given where there is a link, `upstream` and `live` when asked for."""

KEYS_SORTED = "the keys of the file were sorted, and prompts depend on their order"
"""Of a drift that comes of the order of keys alone."""


@dataclass(frozen=True)
class Origin:
    """The source of a piece of a message: its `kind` in `adapters.prompts.text`, field and turn."""

    turn: str
    kind: str
    field: str | None = None

    def __str__(self) -> str:
        return f"{self.turn} · {self.kind}" + (f" of `{self.field}`" if self.field is not None else "")

    def in_words(self) -> str:
        """Such as "the description of `score` in the system message"."""
        what = _KINDS.get(self.kind, self.kind)
        if self.field is not None:
            return f"the {what} of `{self.field}` in {turn_in_words(self.turn)}"
        return f"the {what} of {turn_in_words(self.turn)}"


_KINDS = {"boilerplate": "fixed text", "custom": "adapter's own text"}


def turn_in_words(turn: str) -> str:
    """A message's `turn` as a person says it: "history turn 1", "the system message"."""
    if turn.startswith("history "):
        return "history turn " + turn.removeprefix("history ")
    return {"system": "the system message", "inputs": "the inputs"}.get(turn, turn)


@dataclass(frozen=True)
class Edit:
    """A change in the pieces of an origin: words removed and words added, runs joined by `…`.

    `said`: the change of a class in a schema, in words that are the same wherever a prompt shows that class.
    """

    origin: Origin
    before: str
    after: str
    said: str = ""


@dataclass(frozen=True)
class Drift:
    """A difference: which verdict it belongs to, where, in words, and as a diff.

    `place` is a path (`messages[0]`, `request.temperature`, `attempts[0].completions[0].values.answer`,
    `fields.answer.equals`). `diff` holds lines that begin with "-", "+" or " ". `origins` say what made the pieces of
    today's message that differ, and `edits` what changed in each. `before` and `after` are JSON, for differences that
    are no text. `versions` says which versions have changed since the recording, and is empty when none has.
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
    """The verdicts on one column of a case of the session at `path`, by part."""

    path: str
    case: str
    column: str
    verdicts: Mapping[Part, Word]
    drift: tuple[Drift, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know of the fixture although it is no drift, such as what could not be asked."""
    seconds: float = field(default=0.0, compare=False)
    """What judging it took."""

    @property
    def passed(self) -> bool:
        """Something was checked, and all that was asked for held."""
        return not self.failed and not self.is_empty and not self.unasked

    @property
    def unasked(self) -> bool:
        """Another dspy was to judge and could not be asked; nothing else is wrong."""
        return self.verdicts.get("upstream") == "empty" and not self.failed and not self.is_empty

    @property
    def failed(self) -> bool:
        return any(word not in ("pass", "empty") for word in self.verdicts.values())

    @property
    def is_empty(self) -> bool:
        """Nothing is recorded and nothing expected: nothing was checked. That its source is the same is no check."""
        others = [word for part, word in self.verdicts.items() if part != "source"]
        return all(word == "empty" for word in others) and not self.failed


PARSED, PARSE_ERROR, NO_VALUE = "parsed", "parse error", "no value"
MOST_INNER, DEEPEST = 3, 20
"""Changes within a value that are named one by one; levels at which they are looked for."""
_ABSENT: Final = object()
LONGEST_COMPARED, LONGEST_VALUE = 2_000, 60
"""Characters of a text that is compared whole; of a value in a sentence."""
_WORD = re.compile(r"\w+")
_COMPLETION = re.compile(r"(attempts\[\d+\]\.completions\[\d+\])\.(ok|error|values)(?:\.(.*))?", re.DOTALL)


class VerdictChange(NamedTuple):
    """A change in how a recorded reply parses: its verdict, or one field's value.

    `before` and `after` are values as JSON, or `parsed`, `parse error`, `no value`. `field` is empty for an error that
    names no field.
    """

    field: str
    before: str
    after: str
    drifts: tuple[Drift, ...]

    @property
    def is_flip(self) -> bool:
        """Tell whether the verdict changed, not only a value."""
        return PARSE_ERROR in (self.before, self.after)

    def __str__(self) -> str:
        return (f"`{self.field}`: " if self.field else "") + f"{cut(self.before)} → {cut(self.after)}"


def verdict_changes(result: FixtureResult) -> list[VerdictChange]:
    """List how the replies of a fixture parse differently, so that no harmless change of its prompt hides it.

    A value that came or went together with its field in the prompt is a change of the fields, not of the reply.
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
            changes.append(_flip(parts))
            continue
        for part, drift in parts.items():
            name = part.partition("values.")[2]
            is_of_field = drift.message.endswith(" is gone") and name in gone
            is_of_field |= drift.message.endswith(" is new") and name in new
            if name and not is_of_field:
                changes += _value_changes(name, drift)
    return changes


def _value_changes(field: str, drift: Drift) -> Iterator[VerdictChange]:
    """Name what changed in a value: the value, or within models the field of the innermost class.

    A model whose class alone has another name, or its fields another order, has the value that it had.
    """
    if drift.message.endswith((" is gone", " is new")):
        found = [(field, _value(drift, "gone"), _value(drift, "new"))]
    else:
        inner = list(dict.fromkeys(_differing(field, drift.before, drift.after, 0)))
        whole = [(field, as_short_json(drift.before), as_short_json(drift.after))]
        found = inner if len(inner) <= MOST_INNER else whole
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
                    old, new = (NO_VALUE if one is _ABSENT else as_short_json(one) for one in sides)
                    yield f"{name}.{key}", old, new
                else:
                    yield from _differing(f"{name}.{key}", sides[0], sides[1], depth + 1)
            return
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and depth < DEEPEST:
        for old, new in zip(before, after, strict=True):
            yield from _differing(f"{name}[]", old, new, depth + 1)
    elif not same(before, after):
        yield name, as_short_json(before), as_short_json(after)


def _flip(parts: Mapping[str, Drift]) -> VerdictChange:
    is_parsed_now = parts["ok"].after is True
    error = parts["error"] if "error" in parts else parts["ok"]
    about = error.before if is_parsed_now else error.after
    field = (about.get("field") if isinstance(about, Mapping) else None) or ""
    value = parts.get(f"values.{field}")
    known = PARSED if value is None else as_short_json(value.after if is_parsed_now else value.before)
    ends = (PARSE_ERROR, known) if is_parsed_now else (known, PARSE_ERROR)
    return VerdictChange(field, *ends, tuple(parts.values()))


def _value(drift: Drift, absent: Literal["gone", "new"]) -> str:
    """The recorded value of a drift for "gone", today's for "new"."""
    if absent == "gone":
        return NO_VALUE if drift.message.endswith(" is new") else as_short_json(drift.before)
    return NO_VALUE if drift.message.endswith(" is gone") else as_short_json(drift.after)


def _fields_of_the_prompt(drifts: Sequence[Drift]) -> tuple[set[str], set[str]]:
    """Words that left the system message's structure and words that came: the names of fields are among them."""
    gone: set[str] = set()
    new: set[str] = set()
    for edit in (edit for drift in drifts for edit in drift.edits):
        if edit.origin.turn == "system" and edit.origin.kind not in ("instructions", "description"):
            gone.update(_WORD.findall(edit.before))
            new.update(_WORD.findall(edit.after))
    return gone, new


def as_short_json(value: object) -> str:
    """Write a value as JSON; a long one as its beginning and the digest of the whole, so that it still compares."""
    text = json.dumps(plain(value), ensure_ascii=False)
    return shortened(text)


def shortened(text: str) -> str:
    """Shorten a long text to its beginning and a digest of the whole."""
    if len(text) <= LONGEST_COMPARED:
        return text
    return f"{text[:200]}… sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def cut(text: str, length: int = LONGEST_VALUE) -> str:
    """Join a text into a line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def quoted(text: str) -> str:
    """Quote a text in a sentence, cut; "nothing" for an empty one."""
    return f"“{cut(text)}”" if text else "nothing"


def totals(results: Iterable[FixtureResult]) -> dict[str, int]:
    """Count fixtures that `passed`, `failed`, were `unasked` and `empty`; each counts once. No result is kept."""
    counts = {"passed": 0, "failed": 0, "unasked": 0, "empty": 0}
    for one in results:
        counts["passed"] += one.passed
        counts["failed"] += one.failed
        counts["unasked"] += one.unasked
        counts["empty"] += one.is_empty
    return counts


NOT_RECORDED = "nothing recorded: only the expectations were judged"


def notes_of(case: Case, column: str) -> tuple[str, ...]:
    """Sentences on one column of a case; none where all that it shows was judged."""
    recorded, reply = case.recordings.get(column), case.replies.get(column)
    if recorded is None:
        return (NOT_RECORDED,) if case.expect else ()
    if reply is not None and reply.text not in _texts(recorded):
        return (f"the recorded reply was judged, not the one shown ({reply.source}); `workbench record` records that",)
    return ()


def lost_recording(case: Case, column: str) -> bool:
    """Tell whether a recorded run left its measures beside an expectation, but no recording."""
    return bool(case.expect) and column not in case.recordings and bool(case.measured.get(column))


def _texts(recorded: Recording) -> set[str]:
    return {one.text for attempt in recorded.attempts for one in attempt.completions}
