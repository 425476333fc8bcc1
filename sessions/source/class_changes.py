"""Compare the classes that a signature's types are made of: models, enums, dataclasses and typed dicts, by field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adapters.signatures.signature import Signature
from adapters.signatures.type_names import name_of
from sessions.checking.verdicts import Drift, quoted
from sessions.source.gathering import schema_of
from sessions.text_diff import line_diff, stretches

Schema = Mapping[str, Any]

MOST_PAIRS = 400
"""Pairs of classes that are compared for a new name."""


def classes_of(signature: Signature) -> dict[str, Schema]:
    """Map the classes in a signature's types to their JSON schemas, each without those inside it."""
    found: dict[str, Schema] = {}
    for field in signature.fields.values():
        schema = schema_of(field.annotation)
        found |= schema.get("$defs", {})
        if _is_class(field.annotation, schema):
            found[name_of(field.annotation)] = _without(schema, "$defs")
    return found


def outline(annotation: object) -> Schema:
    """Return what the schema of a type says beside the classes in it; nothing for a class."""
    schema = schema_of(annotation)
    return {} if _is_class(annotation, schema) else _without(schema, "$defs")


def _is_class(annotation: object, schema: Schema) -> bool:
    return isinstance(annotation, type) and ("properties" in schema or "enum" in schema)


def renamed_classes(before: Mapping[str, Schema], after: Mapping[str, Schema]) -> dict[str, str]:
    """Pair the classes that only got another name, old to new."""
    gone, come = [one for one in before if one not in after], [one for one in after if one not in before]
    if len(gone) * len(come) > MOST_PAIRS:
        return {}
    return renamed(gone, come, lambda old, new: with_names(before[old], {old: new}) == after[new])


def with_names(schema: Schema, names: Mapping[str, str]) -> Schema:
    """Replace the names of classes in a schema: its title and its references."""
    text = json.dumps(schema)
    for old, new in names.items():
        text = re.sub(rf'("#/\$defs/|"title": "){re.escape(old)}"', lambda found: f'{found[1]}{new}"', text)  # noqa: B023
    made: Schema = json.loads(text)
    return made


def renamed(gone: Sequence[str], new: Sequence[str], alike: Callable[[str, str], bool]) -> dict[str, str]:
    """Pair names that are gone with new ones for the same thing, each once, in their order."""
    pairs: dict[str, str] = {}
    for old in gone:
        found = next((one for one in new if one not in pairs.values() and alike(old, one)), None)
        if found is not None:
            pairs[old] = found
    return pairs


def class_drifts(before: Mapping[str, Schema], after: Mapping[str, Schema]) -> Iterator[Drift]:
    """Yield each change within the classes that both sides have, by class and field."""
    for name, schema in before.items():
        if name in after and json.dumps(schema) != json.dumps(after[name]):
            yield from _class_drift(name, schema, after[name])


def _class_drift(name: str, before: Schema, after: Schema) -> Iterator[Drift]:
    old, new = before.get("properties", {}), after.get("properties", {})
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    pairs = renamed(gone, come, lambda one, other: _without(old[one], "title") == _without(new[other], "title"))
    for one, other in pairs.items():
        said = f"`{name}.{one}` is now `{other}`"
        yield Drift("source", f"types.{name}.{other}", said, (f"-{one}", f"+{other}"))
    for one in gone:
        if one not in pairs:
            yield Drift("source", f"types.{name}.{one}", f"`{name}.{one}` is gone", (f"-{json.dumps(old[one])}",))
    for one in come:
        if one not in pairs.values():
            yield Drift("source", f"types.{name}.{one}", f"`{name}.{one}` is new", (f"+{json.dumps(new[one])}",))
    for one in old:
        if one in new:
            yield from _property_drift(name, one, old[one], new[one])
    kept = [pairs.get(one, one) for one in old if pairs.get(one, one) in new]
    order = [one for one in new if one in kept]
    if kept != order:
        yield _drift(f"types.{name}", f"the order of the fields of `{name}` changed", kept, order)
    required = [[one for one in of.get("required", ()) if one in old and one in new] for of in (before, after)]
    for one in sorted(set(required[0]) ^ set(required[1])):
        if ("default" in old[one]) == ("default" in new[one]):
            now = "now" if one in required[1] else "no longer"
            yield Drift("source", f"types.{name}.{one}", f"`{name}.{one}` is {now} required")
    for key, said in (("description", "docstring"), ("enum", "members")):
        if before.get(key) != after.get(key):
            yield changed(f"types.{name}", f"the {said} of `{name}`", before.get(key, ""), after.get(key, ""))
    rest = [_without(of, "description", "enum", "properties", "required") for of in (before, after)]
    if rest[0] != rest[1]:
        yield changed(f"types.{name}", f"the definition of `{name}`", *rest)


def _property_drift(name: str, field: str, before: Schema, after: Schema) -> Iterator[Drift]:
    place, named = f"types.{name}.{field}", f"`{name}.{field}`"
    for key in ("description", "default", "title"):
        if (key in before, before.get(key)) != (key in after, after.get(key)):
            yield changed(place, f"the {key} of {named}", *[of.get(key, "") for of in (before, after)])
    types = [_without(of, "description", "default", "title") for of in (before, after)]
    if types[0] != types[1]:
        yield changed(place, f"the type of {named}", *types)


def _without(schema: Schema, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keys}


def changed(place: str, what: str, before: object, after: object) -> Drift:
    """Describe a changed text or JSON value in words, old → new, and as a diff."""
    old, new = (
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, indent=1) for one in (before, after)
    )
    verb = "have" if what.endswith(("instructions", "constraints")) or what.startswith("the members") else "has"
    return _drift(place, f"{what} {verb} changed: {words(old, new)}", old.split("\n"), new.split("\n"))


def _drift(place: str, said: str, before: Sequence[str], after: Sequence[str]) -> Drift:
    return Drift("source", place, said, tuple(line_diff(before, after)))


def words(before: str, after: str) -> str:
    """Quote the words that left a text and those that came, as in “Concise” → “Short”."""
    found = stretches(before, after)
    old, new = [before[start:end] for _, start, end, _, _ in found], [after[start:end] for *_, start, end in found]
    return f"{_runs(old)} → {_runs(new)}"


def _runs(runs: Sequence[str]) -> str:
    said = [" ".join(run.strip(' \n\t,"').split()) for run in runs]
    return quoted(" … ".join(dict.fromkeys([one for one in said if one])))
