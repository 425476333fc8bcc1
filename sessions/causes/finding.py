"""Find the causes of drift, each change once, for all fixtures that show it; accept them.

A change of a signature shows in many places of a fixture. A type, for example, appears in the description, in the
schema, in a note after a field, in `response_format`, and in parsed values. Within a fixture, the place nearest to the
signature counts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from adapters.formats.base import Adapter
from adapters.late_dataclasses import dataclass, field
from sessions.causes import writing
from sessions.causes.cause import ACCEPTABLE, Cause, CauseKind, FixtureName, Key
from sessions.checking import checking, verdicts
from sessions.checking.verdicts import KEYS_SORTED, PARSE_ERROR, Drift, Edit, FixtureResult, Origin, shortened
from sessions.model.session import Session

_CASE_TURNS = re.compile(r"(demo|history) (\d+)")
_WORD = re.compile(r"\w+")
_THOUGHT = "reasoning"
"""The field that ChainOfThought adds."""
_OF_TYPES = ("type", "schema", "constraint", "filler")


@dataclass(eq=False)
class Causes:
    """Collects causes with the names of their fixtures and an example each."""

    _fixtures: dict[Key, list[FixtureName]] = field(default_factory=dict)
    _examples: dict[Key, FixtureResult] = field(default_factory=dict)
    _said: dict[Key, dict[str, None]] = field(default_factory=dict)

    def add(self, results: Iterable[FixtureResult]) -> None:
        """Add the results of a check."""
        for result in results:
            for key, drifts in causes_of(result).items():
                self._fixtures.setdefault(key, []).append(FixtureName(result.path, result.case, result.column))
                edits = [(edit, drift.versions) for drift in drifts for edit in drift.edits if edit.said]
                said = {edit.said: None for edit, versions in edits if _edit_key(edit, versions) == key}
                self._said.setdefault(key, {}).update(said)
                if key not in self._examples:
                    parts = {drift.part for drift in drifts}
                    verdicts = {part: word for part, word in result.verdicts.items() if part in parts}
                    example = FixtureResult(result.path, result.case, result.column, verdicts, tuple(drifts))
                    self._examples[key] = example

    def found(self) -> tuple[Cause, ...]:
        """List the causes: changed verdicts and values first, then those with most fixtures."""
        causes = [
            Cause(key, "; ".join(self._said[key]) or plain_words(key), tuple(fixtures), self._examples[key])
            for key, fixtures in self._fixtures.items()
        ]
        return tuple(sorted(causes, key=lambda one: (one.rank, one.key.after != PARSE_ERROR, -len(one.fixtures))))


def causes_of(result: FixtureResult) -> dict[Key, list[Drift]]:
    """Map the causes of a fixture's drift to the drifts that show them.

    Every drift belongs to at least one cause.
    """
    found: dict[Key, list[Drift]] = {}
    fields = _changed_fields(result.drift)
    # Collect the names in changed types.
    edits = [edit for drift in result.drift for edit in drift.edits if edit.origin.kind == "type"]
    runs = [run.strip(" ,;") for edit in edits for run in (*edit.before.split(" … "), *edit.after.split(" … "))]
    types = {word for run in runs if " " not in run for word in _WORD.findall(run)}
    typed = {edit.origin.field for edit in edits}
    for drift in result.drift:
        if drift.part == "render" and drift.edits:
            for key in _keys_of_edits(drift, fields, types, typed):
                found.setdefault(key, []).append(drift)
    _join_types(found)
    model = next((one for one in result.drift if one.place == "request.model"), None)
    told: set[int] = set()
    for change in verdicts.verdict_changes(result):
        kind: CauseKind = "verdict" if PARSE_ERROR in (change.before, change.after) else "values"
        found.setdefault(Key(kind, change.field, change.before, change.after), []).extend(change.drifts)
        told.update(map(id, change.drifts))
    for drift in result.drift:
        if (drift.part == "render" and drift.edits) or id(drift) in told:
            continue
        found.setdefault(_other_key(drift, found, fields, model), []).append(drift)
    return found


def _join_types(found: dict[Key, list[Drift]]) -> None:
    """Join the causes of each field's type.

    Some messages show the type in a note, too; the shortest text is that of the type alone.
    """
    by_field: dict[str, list[Key]] = {}
    for key in found:
        if key.kind == "type":
            by_field.setdefault(key.name, []).append(key)
    for keys in by_field.values():
        first = min(keys, key=lambda one: len(one.before) + len(one.after))
        for key in keys:
            if key != first:
                found[first] += [drift for drift in found.pop(key) if drift not in found[first]]


def origins_of(key: Key, drift: Drift) -> tuple[Origin, ...]:
    """Return the origins where a cause shows in a drift; empty if no text changed."""
    keys = [_edit_key(edit, drift.versions) for edit in drift.edits]
    if key not in keys and key.kind == "type":  # joined with it
        keys = [key if (one.kind, one.name) == (key.kind, key.name) else one for one in keys]
    own = [edit.origin for edit, one in zip(drift.edits, keys, strict=True) if one == key]
    return tuple(dict.fromkeys(own or [edit.origin for edit in drift.edits]))


def _changed_fields(drifts: Sequence[Drift]) -> dict[str, str]:
    """Map added and removed fields to `new` or `gone`, from the system message and parse results."""
    found: dict[str, str] = {}
    if not any(drift.place.endswith(".ok") for drift in drifts):  # a reply that does not parse has no values
        for drift in drifts:
            name = _value_name(drift)
            if name and drift.message.endswith((" is new", " is gone")):
                found[name] = drift.message.rpartition(" ")[2]
    for edit in (edit for drift in drifts for edit in drift.edits):
        of_name = edit.origin.field if edit.origin.kind == "name" and edit.origin.turn == "system" else None
        if of_name is not None and of_name in _WORD.findall(edit.after) and not _is_placeholder(edit):
            found.update(dict.fromkeys(_WORD.findall(edit.before), "gone"))
            found[of_name] = "new"
    return found


def _is_placeholder(edit: Edit) -> bool:
    """Return whether only a field's {name} came or went, as XML shows it for some types alone."""
    return (edit.before + edit.after).strip() == f"{{{edit.origin.field}}}"


def _value_name(drift: Drift) -> str:
    _, found, name = drift.place.partition(".values.")
    return name if found and drift.part == "parse" else ""


def _keys_of_edits(drift: Drift, fields: dict[str, str], types: set[str], typed: set[str | None]) -> Iterator[Key]:
    """Yield a cause for each changed origin of a message, without changes that follow from another.

    `types` are the names in the changed types of the fixture, and `typed` their fields.
    """
    if fields:
        named = [edit for edit in drift.edits if edit.origin.kind in ("instructions", "description")]
        edits = [edit for edit in named if edit.origin.field not in fields and edit.origin.turn == "system"]
        edits = [edit for edit in edits if not _names_only(edit, fields)]
        if len(edits) < len(drift.edits):
            yield _fields_key(fields)
    else:
        edits = list(drift.edits)
    schemas = {edit.origin.field for edit in edits if edit.origin.kind == "schema"}
    reminded = {edit.origin.turn for edit in edits if edit.origin.kind == "reminder"}
    given: dict[Key, None] = {}
    for edit in edits:
        kind, field = edit.origin.kind, edit.origin.field
        has_words = _WORD.search(edit.before + edit.after) is not None
        follows = kind in _OF_TYPES and kind != "type" and field in typed
        follows |= kind in ("constraint", "filler") and field in schemas
        follows |= kind in ("marker", "name") and edit.origin.turn in reminded  # the reminder contains them
        follows |= kind in ("marker", "name") and field in typed and (_is_placeholder(edit) or not has_words)
        if kind in _OF_ADAPTERS and types:  # it names a changed type, or describes the form of one
            is_note = _ABOUT_TYPES.search(f"{edit.before}\n{edit.after}") is not None
            is_note |= field in typed and not has_words
            follows |= is_note or not types.isdisjoint(_WORD.findall(f"{edit.before} {edit.after}"))
        if not follows:
            given[_edit_key(edit, drift.versions)] = None
    yield from given


_OF_ADAPTERS = ("marker", "reminder", "boilerplate", "filler")
_ABOUT_TYPES = re.compile(
    r"the value you produce|valid Python|adhere to|JSON schema|exactly match|no extra characters|\bone of\b|"
    "be a single|True or False|<item>|nested XML structure|object with these keys|the value of this field|"
    "Add no other keys"
)
"""Phrases in the adapters' notes on types, as in dspy's `translate_field_type`, `user_message_output_requirements`."""


def _names_only(edit: Edit, fields: dict[str, str]) -> bool:
    """Return whether only names of added and removed fields changed, as in generated instructions."""
    gone, new = _WORD.findall(edit.before), _WORD.findall(edit.after)
    follows = all(fields.get(one) == "gone" for one in gone) and all(fields.get(one) == "new" for one in new)
    return edit.origin.kind == "instructions" and bool(gone or new) and follows


def _fields_key(fields: dict[str, str]) -> Key:
    gone = [name for name, what in fields.items() if what == "gone"]
    new = [name for name, what in fields.items() if what == "new"]
    return Key("fields", "", ", ".join(gone), ", ".join(new))


_OF_KIND: Mapping[str, CauseKind] = {
    "value": "input",
    "instructions": "instructions",
    "description": "description",
    "type": "type",
    "constraint": "constraint",
    "name": "fields",
}
"""The kind of cause for each kind of text that a signature or data writes."""


def _edit_key(edit: Edit, versions: str) -> Key:
    origin, kind = edit.origin, edit.origin.kind
    before, after = shortened(edit.before), shortened(edit.after)
    case = _CASE_TURNS.match(origin.turn)
    if case is not None and kind != "reminder":
        return Key("demo" if case[1] == "demo" else "history", case[2], before, after)
    if kind == "schema":
        return Key("schema", "", shortened(_without_notation(edit.before)), shortened(_without_notation(edit.after)))
    if kind in _OF_KIND:
        return Key(_OF_KIND[kind], "" if kind == "instructions" else origin.field or "", before, after)
    by = _release_kind(versions, "adapter or its options")
    if by == "dspy release":
        said = Edit(origin, writing.abstract(edit.before, ()), writing.abstract(edit.after, ()))
        return writing.key_of(said, by, is_part=bool(before and after))
    return Key(by, kind, before, after)


_NOTATION = re.compile(r'[\\"]*\bdescription[\\"]*:|[\\"#{}\[\],:]')


def _without_notation(text: str) -> str:
    """Return the content of a piece of a schema in JSON, JSON in a string, or BAML."""
    return " ".join(_NOTATION.sub(" ", text).split()) or text


def _release_kind(versions: str, otherwise: CauseKind) -> CauseKind:
    """Return the kind of release that changed, according to `versions`."""
    if "dspy " in versions:
        return "dspy release"
    if "json_repair " in versions or "pydantic " in versions:
        return "json_repair or pydantic release"
    return "engine" if "engine " in versions else otherwise


def _other_key(drift: Drift, found: dict[Key, list[Drift]], fields: dict[str, str], model: Drift | None) -> Key:
    """Return the cause of a drift outside of message texts."""
    if drift.place == "keys":
        return Key("key order", "", "", "")
    if drift.part == "source":  # context lines may differ between fixtures
        lines = "\n".join([line for line in drift.diff if line[:1] in ("-", "+")]).encode("utf-8", "surrogatepass")
        return Key("source", drift.place, drift.message, hashlib.sha256(lines).hexdigest()[:16] if lines else "")
    if drift.place in ("inputs", "signature") or drift.place.startswith("recordings."):
        return Key("error", drift.place, drift.message, "")
    if drift.part in ("expect", "upstream", "live"):
        kinds: dict[str, CauseKind] = {"expect": "expectation", "upstream": "upstream", "live": "live"}
        return Key(kinds[drift.part], drift.place, drift.message, "")
    if drift.place == "adapter":
        return Key("adapter or its options", "", str(drift.before), str(drift.after))
    if drift.part == "render":
        return _request_key(drift, found, model)
    near = _near(found, _value_name(drift))
    if near is not None:
        return near
    if fields:
        return _fields_key(fields)
    return Key(_release_kind(drift.versions, "reading"), _value_name(drift), _short(drift.before), _short(drift.after))


def _request_key(drift: Drift, found: dict[Key, list[Drift]], model: Drift | None) -> Key:
    """Return the cause of a changed parameter, an added or removed message, or a changed order."""
    if model is not None and drift.place.startswith("request."):
        return Key("model", "", _short(model.before), _short(model.after))
    name = drift.place.partition("request.")[2]
    if name in ("response_format", "tools", "tool_choice"):
        near = _near(found, "")
        if near is not None:
            return near
        if drift.before is None or drift.after is None or not isinstance(drift.after, type(drift.before)):
            return Key("capabilities", name, _short(drift.before), _short(drift.after))
    if "messages" in drift.place:
        turn = next((_CASE_TURNS.match(one.turn) for one in drift.origins if _CASE_TURNS.match(one.turn)), None)
        kind: CauseKind = "history" if turn is not None and turn[1] == "history" else "demo"
        # Messages of a turn differ between adapters. Common to all is only that they were added or removed.
        said = "messages that were recorded are gone" if turn is None else "messages are new"
        return Key(kind, turn[2] if turn is not None else "", said, "")
    return Key("parameter", name, _short(drift.before), _short(drift.after))


def _near(found: dict[Key, list[Drift]], field: str) -> Key | None:
    """Find a cause that explains a changed value or schema: the field's type, else any type or field."""
    of_signature = [key for key in found if key.kind in ("type", "schema", "fields", "constraint")]
    exact = [key for key in of_signature if key.name == field]
    if exact:
        return exact[0]
    if field:
        return next(iter(of_signature), None)
    described = [key for key in found if key.kind == "description"]
    return next(iter([*of_signature, *described]), None)


def _short(value: object) -> str:
    return "" if value is None else verdicts.short_json(value)


_CHANGED: Mapping[str, str] = {
    "instructions": "the instructions",
    "description": "the description of{name}",
    "type": "the type of{name}",
    "constraint": "the constraint of{name}",
    "schema": "the schema of a type",
    "input": "the input{name}",
    "parameter": "the parameter{name}",
    "model": "the model",
}


def plain_words(key: Key) -> str:
    """Describe a cause in a line, such as "the description of `score` changed: “0 to 1” → “0 to 10”"."""
    change = f": {verdicts.quoted(key.before)} → {verdicts.quoted(key.after)}" if key.before or key.after else ""
    name = f" `{key.name}`" if key.name else ""
    if key.kind in _CHANGED:
        return f"{_CHANGED[key.kind].format(name=name)} changed{change}"
    if key.kind in ("source", "expectation", "upstream", "live", "error"):
        return f"{key.kind}: {verdicts.cut(key.before, 160)}"
    if key.kind == "fields":
        gone, new = key.before, key.after
        if key.name:  # texts that begin with a name, such as TwoStep's line of a whole history
            gone, new = verdicts.cut(gone), verdicts.cut(new)
        if gone and new and "," not in gone + new:
            return f"`{gone}` is now `{new}`"
        if (gone, new) in ((_THOUGHT, ""), ("", _THOUGHT)):
            was, now = ("ChainOfThought", "Predict") if gone else ("Predict", "ChainOfThought")
            return f"`{_THOUGHT}` is {'gone' if gone else 'new'}, as where {now} takes the place of {was}"
        parts = [f"gone {gone}" if gone else "", f"new {new}" if new else ""]
        return f"the fields changed: {', '.join(one for one in parts if one) or 'their names'}"
    if key.kind in ("demo", "history"):
        what, which = ("demo", "demos") if key.kind == "demo" else ("turn of the history", "history")
        if key.before.startswith("messages ") and not key.after:
            return f"{f'the {which}' if key.name else 'demos or history'} changed: {key.before}"
        return f"{what} {key.name} changed{change}"
    if key.kind in ("verdict", "values"):
        said = f"the value of{name} changed"
        if key.kind == "verdict":
            said = f"{name.strip() or 'a reply'} {'no longer parses' if key.after == PARSE_ERROR else 'parses now'}"
        return f"{said}: {verdicts.cut(key.before)} → {verdicts.cut(key.after)}"
    if key.kind == "reading":
        return f"the reading of{name} changed{change}" if key.name else f"the verdict of a reply changed{change}"
    if key.kind == "capabilities":
        return f"the model's capabilities changed{name and f', as{name} shows'}"
    if key.kind == "adapter or its options":
        return f"the adapter or its options changed{key.name and f' ({key.name})'}{change}"
    if key.kind == "key order":
        return KEYS_SORTED
    if key.kind == "dspy release" and writing.is_of_writing(key):
        return f"another dspy release: {writing.plain_words(key)}"
    return f"another {key.kind}{change}"


@dataclass(frozen=True)
class Accepted:
    """A session after accepting, with the numbers of recorded fixtures and of those waiting for another cause.

    `settled` contains the ids of the causes for which a fixture was recorded.
    """

    session: Session
    recorded: int
    waiting: int
    settled: frozenset[str] = frozenset()


def accepted(
    session: Session,
    results: Sequence[FixtureResult],
    ids: Collection[str],
    adapters: Mapping[str, Adapter] | None = None,
) -> Accepted:
    """Accept the causes with these ids. `results` come from a current check of the session.

    A recording changed by two causes waits until both are accepted, so that neither is accepted unseen.
    """
    ready: set[tuple[str, str]] = set()
    settled: set[str] = set()
    waiting = 0
    for result in results:
        keys = [key for key in causes_of(result) if key.kind in ACCEPTABLE]
        taken = [key.id in ids for key in keys]
        if keys and all(taken):
            ready.add((result.case, result.column))
            settled.update(key.id for key in keys)
        else:
            waiting += any(taken)
    if not ready:
        return Accepted(session, 0, waiting)
    made = checking.update(session, adapters=adapters, wanted=lambda case, column: (case, column) in ready)
    return Accepted(made, len(ready), waiting, frozenset(settled))
