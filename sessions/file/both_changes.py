"""Merge our changes to a session with others' changes to its file.

The file's parts (columns, cases, their inputs, their replies …) are compared one by one with the common base. A part
changed by a single side is taken from that side; if both sides changed a part differently, they collide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from adapters.late_dataclasses import dataclass, field, replace
from sessions.errors import SessionError
from sessions.file import file_format, json_values, store
from sessions.file.typed_values import same
from sessions.model.session import Case, Session, digest_of
from sessions.text_diff import opcodes

Winner = Literal["nobody", "our results", "ours"]
"""The winner of parts changed by both sides: nobody (they collide), ours for replies and recordings only, or ours."""

RESULTS: Final = frozenset({"replies", "recorded"})
"""The parts of a case that a run produces."""
RECORDED: Final = ("recordings", "measured")
"""The keys of recordings and their measurements, which are merged together as `recorded`."""

_GONE: Final = object()
"""A placeholder for a part that a side lacks."""

Place = tuple[str, ...]


class CollisionError(SessionError):
    """Raised if both sides changed the same `places`: paths such as `cases · first · inputs · ticket`."""

    def __init__(self, path: str | None, places: tuple[str, ...]) -> None:
        self.places = places
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        super().__init__(path, "", f"it was changed meanwhile, in the same place: {shown}")


@dataclass(frozen=True)
class Merged:
    """The merged session, and the places taken from the file (none if it had not changed)."""

    session: Session
    taken: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Part:
    """Rules to compare a part: key by key (`object`), row by row by the keys in `row_key`, line by line, or whole.

    `inside` has the rules for the parts of an object or of each row; other parts are compared as a whole.
    """

    kind: Literal["whole", "object", "rows", "lines"] = "whole"
    inside: Mapping[str, _Part] = field(default_factory=dict)
    row_key: tuple[str, ...] = ()


_BY_KEY = _Part("object")
_SIGNATURE = _Part("object", {"text": _Part("lines"), "source": _BY_KEY})
_SESSION = _Part(
    "object",
    {
        "signature": _SIGNATURE,
        "params": _BY_KEY,
        "variants": _Part("rows", row_key=("tag", "of")),
        "columns": _Part("rows", {"options": _BY_KEY, "params": _BY_KEY}, ("id",)),
        "tools": _Part("rows", row_key=("name",)),
        "cases": _Part(
            "rows", {"inputs": _BY_KEY, "expect": _BY_KEY, "replies": _BY_KEY, "recorded": _BY_KEY}, ("name",)
        ),
    },
)
_WHOLE = _Part()


def merge(base: Session, ours: Session, theirs: Session, winner: Winner = "nobody") -> Merged:
    """Merge the changes from `base` to `ours` and to `theirs`.

    The order of rows and keys is the file's unless only we changed it. Removing a column collides with results that the
    other side made for it. Raises `CollisionError` if `winner` does not resolve a collision, and `SessionError` if the
    merged session is invalid (a name used twice).
    """
    known = [{case.name: case for case in one.cases} for one in (base, theirs)]
    # Our cases that are equal on all sides need no comparison.
    untouched = {one.name: one for one in ours.cases if all(same(one, cases.get(one.name)) for cases in known)}
    before, mine, other = (_data_of(one, untouched) for one in (base, ours, theirs))
    are_as_taken = all(one.signature.is_as_taken for one in (ours, theirs))
    if are_as_taken:
        for data in (before, mine, other):
            if data["signature"].get("source"):
                data["signature"]["source"] |= {"digest": "", "meaning": ""}
    if same(before, other):
        return Merged(ours)
    merger = _Merger(winner)
    merged = merger.part(before, mine, other, _SESSION, ())
    if winner != "ours":
        merger.collisions += _results_without_column(before, mine, other, merged)
    if merger.collisions:
        raise CollisionError(None, tuple(dict.fromkeys(merger.collisions)))
    for case in merged["cases"]:
        recorded = case.pop("recorded")
        for kind in RECORDED:
            case[kind] = {id: parts[kind] for id, parts in recorded.items() if kind in parts}
    session = file_format.session_of_data(merged)
    cases = tuple([untouched.get(one.name, one) for one in session.cases])
    signature = session.signature
    if are_as_taken and signature.source is not None:
        # The merge of two unedited program texts counts as unedited, because git merges the program alike
        sides = [one.source for one in (ours.signature, theirs.signature) if one.text == signature.text]
        alike = next((one for one in sides if one is not None), None)
        digest, meaning = (alike.digest, alike.meaning) if alike is not None else (digest_of(signature.text), "")
        signature = replace(signature, source=replace(signature.source, digest=digest, meaning=meaning))
    return Merged(replace(session, cases=cases, signature=signature), tuple(merger.taken))


def _merged_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """Merge two changes of a text as git does; return None if both changed the same or adjacent lines."""
    changes = [
        [(start, end, list(side[first:last])) for tag, start, end, first, last in opcodes(base, side) if tag != "equal"]
        for side in (ours, theirs)
    ]
    both = changes[0] + [one for one in changes[1] if one not in changes[0]]
    both.sort(key=lambda one: one[:2])
    if any(after[0] <= before[1] for before, after in itertools.pairwise(both)):
        return None
    made = list(base)
    for start, end, lines in both[::-1]:
        made[start:end] = lines
    return made


@dataclass(eq=False)
class _Merger:
    _winner: Winner
    collisions: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)

    def part(self, base: Any, ours: Any, theirs: Any, how: _Part, place: Place) -> Any:
        if same(base, theirs) or same(ours, theirs):
            return ours
        if how.kind == "object" and all(type(one) is dict for one in (base, ours, theirs)):
            return self._merge_by_key(base, ours, theirs, how, place)
        if how.kind == "rows":
            sides = (base, ours, theirs)
            rows = [{" · ".join([str(row[name]) for name in how.row_key]): row for row in one} for one in sides]
            if all(len(one) == len(side) for one, side in zip(rows, sides, strict=True)):
                inside = _Part("object", {key: _Part("object", how.inside) for one in rows for key in one})
                return list(self._merge_by_key(rows[0], rows[1], rows[2], inside, place).values())
        if how.kind == "lines" and (lines := _merged_lines(base, ours, theirs)) is not None:
            if lines != ours:
                self.taken.append(" · ".join(place))
            return lines
        if same(base, ours):
            self.taken.append(" · ".join(place))
            return theirs
        is_result = place[0] == "cases" and place[2:3] in [(kind,) for kind in RESULTS]
        if self._winner == "nobody" or (self._winner == "our results" and not is_result):
            self.collisions.append(" · ".join(place))
        return ours

    def _merge_by_key(self, base: Any, ours: Any, theirs: Any, how: _Part, place: Place) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for key in _order(list(base), list(ours), list(theirs)):
            sides = [one.get(key, _GONE) for one in (base, ours, theirs)]
            made = self.part(sides[0], sides[1], sides[2], how.inside.get(key, _WHOLE), (*place, key))
            if made is not _GONE:
                merged[key] = made
        return merged


def _order(base: list[str], ours: list[str], theirs: list[str]) -> list[str]:
    """Order all keys: the file's order, then our new keys; the reverse if only we changed the order."""
    only_ours_moved = _common(base, theirs) == _common(theirs, base) and _common(base, ours) != _common(ours, base)
    first, second = (ours, theirs) if only_ours_moved else (theirs, ours)
    return list(dict.fromkeys([*first, *second]))


def _common(keys: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [key for key in keys if key in known]


def _results_without_column(base: Any, ours: Any, theirs: Any, merged: Any) -> Iterator[str]:
    """Yield columns that one side removed while the other made results for them."""
    there = {column["id"] for column in merged["columns"]}
    gone = [column["id"] for column in base["columns"] if column["id"] not in there]
    if not gone:
        return
    before = {case["name"]: case for case in base["cases"]}
    for side in (ours, theirs):
        kept = {column["id"] for column in side["columns"]}
        for case in side["cases"]:
            earlier = before.get(case["name"], {"replies": {}, "recorded": {}})
            for id in gone:
                changed = [kind for kind in RESULTS if not same(case[kind].get(id), earlier[kind].get(id))]
                if changed and id in kept:
                    yield f"columns · {id}"


def _data_of(session: Session, untouched: Mapping[str, Case]) -> dict[str, Any]:
    """Return the file's data with users' values decoded, and recordings and measurements merged as `recorded`.

    The cases in `untouched` keep their places, and nothing else.
    """
    cases = tuple([Case(one.name) if one.name in untouched else one for one in session.cases])
    data: dict[str, Any] = json_values.decode(store.dumps(replace(session, cases=cases)))
    for case in data["cases"]:
        kinds = {kind: case.pop(kind) for kind in RECORDED}
        ids = dict.fromkeys(id for of in kinds.values() for id in of)
        case["recorded"] = {id: {kind: of[id] for kind, of in kinds.items() if id in of} for id in ids}
    return data
