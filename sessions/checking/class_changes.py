"""Compare the classes in field types, from a program or from a prompt, field by field."""

from __future__ import annotations

import itertools
import json
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adapters.signatures.signature import Signature
from adapters.signatures.type_names import name_of
from adapters.types.recognition import type_adapter
from sessions.checking.verdicts import quoted
from sessions.text_diff import stretches

Schema = Mapping[str, Any]

LONGEST, MOST_SCHEMAS = 1_000_000, 200
"""The maximum number of characters of a prompt that are searched for schemas, and of positions tried."""
_SCHEMA = re.compile(r'\{"(?:type|\$defs|\$ref|anyOf|additionalProperties)":')
_ESCAPED = re.compile(r'\\(["\\])')
"""Escapes of a schema inside a JSON string."""
MOST_PAIRS = 400
"""The maximum number of pairs of classes compared to find renames."""


def classes_of(signature: Signature) -> dict[str, Schema]:
    """Map each class in a signature's types to its JSON schema, without nested definitions."""
    found: dict[str, Schema] = {}
    for field in signature.fields.values():
        schema = schema_of(field.annotation)
        found |= schema.get("$defs", {})
        if _is_class(field.annotation, schema):
            found[name_of(field.annotation)] = _without(schema, "$defs")
    return found


def owners_of(signature: Signature) -> dict[str, str]:
    """Map `Class.field` to the class that declares the field, which may be a base."""
    found: dict[str, str] = {}

    def visit(annotation: object) -> None:
        for one in typing.get_args(annotation):
            visit(one)
        for name, field in getattr(annotation, "model_fields", {}).items():
            assert isinstance(annotation, type)
            if f"{annotation.__name__}.{name}" not in found:
                owner = next(
                    (one for one in annotation.__mro__ if name in vars(one).get("__annotations__", {})), annotation
                )
                found[f"{annotation.__name__}.{name}"] = owner.__name__
                visit(field.annotation)

    for one in signature.fields.values():
        visit(one.annotation)
    return found


def schema_of(annotation: object) -> dict[str, Any]:
    """Return the JSON schema of a type with its members in order.

    For a type without a schema, the result contains only its name.
    """
    try:
        return type_adapter(annotation).json_schema()
    except Exception:  # pydantic raises various exceptions for a type without a schema
        return {"title": str(annotation)}


def outline(annotation: object) -> Schema:
    """Return the schema of a type without class definitions; empty for a class."""
    schema = schema_of(annotation)
    return {} if _is_class(annotation, schema) else _without(schema, "$defs")


def _is_class(annotation: object, schema: Schema) -> bool:
    return isinstance(annotation, type) and ("properties" in schema or "enum" in schema)


def renamed_classes(before: Mapping[str, Schema], after: Mapping[str, Schema]) -> dict[str, str]:
    """Map old to new names of classes that differ in name only."""
    gone, come = [one for one in before if one not in after], [one for one in after if one not in before]
    if len(gone) * len(come) > MOST_PAIRS:
        return {}
    return renamed(gone, come, lambda old, new: rename_classes(before[old], {old: new}) == after[new])


def rename_classes(schema: Schema, names: Mapping[str, str]) -> Schema:
    """Replace class names in the title and references of a schema."""
    text = json.dumps(schema)
    for old, new in names.items():
        text = re.sub(rf'("#/\$defs/|"title": "){re.escape(old)}"', lambda found: f'{found[1]}{new}"', text)  # noqa: B023
    made: Schema = json.loads(text)
    return made


def renamed(gone: Sequence[str], new: Sequence[str], alike: Callable[[str, str], bool]) -> dict[str, str]:
    """Pair each removed name with the first unpaired new name that is `alike`."""
    pairs: dict[str, str] = {}
    for old in gone:
        found = next((one for one in new if one not in pairs.values() and alike(old, one)), None)
        if found is not None:
            pairs[old] = found
    return pairs


class ClassChange(NamedTuple):
    """A change of a class or its field: description, old and new text."""

    place: str
    said: str
    before: str
    after: str

    def moved_to_owner(self, owners: Mapping[str, str]) -> ClassChange:
        """Move a change of an inherited field to the class that declares it."""
        name, dot, field = self.place.partition(".")
        owner = owners.get(self.place, name)
        return self._replace(place=f"{owner}{dot}{field}", said=self.said.replace(f"`{name}.", f"`{owner}."))


def class_changes(
    before: Mapping[str, Schema], after: Mapping[str, Schema], is_sorted: bool = False
) -> Iterator[ClassChange]:
    """Yield each change within the classes that both sides have.

    With `is_sorted`, the schemas list fields by name, as a prompt shows them, so field order is not compared.
    """
    for name, schema in before.items():
        if name in after and json.dumps(schema) != json.dumps(after[name]):
            yield from _class_change(name, schema, after[name], is_sorted)


def _class_change(name: str, before: Schema, after: Schema, is_sorted: bool) -> Iterator[ClassChange]:
    old, new = before.get("properties", {}), after.get("properties", {})
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    pairs = renamed(gone, come, lambda one, other: _without(old[one], "title") == _without(new[other], "title"))
    for one, other in pairs.items():
        yield ClassChange(f"{name}.{other}", f"`{name}.{one}` is now `{other}`", one, other)
    for one in gone:
        if one not in pairs:
            yield ClassChange(f"{name}.{one}", f"`{name}.{one}` is gone", json.dumps(old[one]), "")
    for one in come:
        if one not in pairs.values():
            yield ClassChange(f"{name}.{one}", f"`{name}.{one}` is new", "", json.dumps(new[one]))
    for one in old:
        if one not in new:
            continue
        place, was, now = f"{name}.{one}", old[one], new[one]
        for key in ("description", "default", "title"):
            if (key in was, was.get(key)) != (key in now, now.get(key)):
                yield changed(place, f"the {key} of `{place}`", was.get(key, ""), now.get(key, ""))
        types = [_without(of, "description", "default", "title") for of in (was, now)]
        if types[0] != types[1]:
            yield changed(place, f"the type of `{place}`", *types)
    kept = [pairs.get(one, one) for one in old if pairs.get(one, one) in new]
    order = [one for one in new if one in kept]
    if kept != order and not is_sorted:
        yield ClassChange(name, f"the order of the fields of `{name}` changed", "\n".join(kept), "\n".join(order))
    required = [[one for one in of.get("required", ()) if one in old and one in new] for of in (before, after)]
    for one in sorted(set(required[0]) ^ set(required[1])):
        if ("default" in old[one]) == ("default" in new[one]):
            now = "now" if one in required[1] else "no longer"
            yield ClassChange(f"{name}.{one}", f"`{name}.{one}` is {now} required", "", "")
    for key, said in (("description", "docstring"), ("enum", "members")):
        if before.get(key) != after.get(key):
            yield changed(name, f"the {said} of `{name}`", before.get(key, ""), after.get(key, ""))
    rest = [_without(of, "description", "enum", "properties", "required") for of in (before, after)]
    if rest[0] != rest[1]:
        yield changed(name, f"the definition of `{name}`", *rest)


def _without(schema: Schema, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keys}


def changed(place: str, what: str, before: object, after: object) -> ClassChange:
    """Describe a changed text or JSON value as “old” → “new”."""
    old, new = (
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, indent=1) for one in (before, after)
    )
    verb = "have" if what.endswith(("instructions", "constraints")) or what.startswith("the members") else "has"
    said = " → ".join(map(quoted, words_changed(old, new)))
    return ClassChange(place, f"{what} {verb} changed: {said}", old, new)


def classes_in(text: str) -> dict[str, Schema]:
    """Map class names to the JSON schemas found in a prompt.

    Schemas that cannot be decoded are skipped.
    """
    found = classes_in(_ESCAPED.sub(r"\1", text)) if '{\\"' in text else {}
    position, decoder = 0, json.JSONDecoder()
    for begin in itertools.islice(_SCHEMA.finditer(text[:LONGEST]), MOST_SCHEMAS):
        if begin.start() < position:
            continue
        try:
            schema, position = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            continue
        definitions = schema.get("$defs", {})
        if isinstance(definitions, dict):
            found |= {name: one for name, one in definitions.items() if isinstance(one, dict)}
        if isinstance(schema.get("title"), str) and isinstance(
            schema.get("properties", schema.get("enum")), dict | list
        ):
            found[schema["title"]] = _without(schema, "$defs")
    return {name: one for name, one in found.items() if isinstance(one.get("properties", {}), dict)}


def words_changed(before: str, after: str) -> tuple[str, str]:
    """Return the words removed from and added to a text."""
    found = stretches(before, after)
    old, new = [before[start:end] for _, start, end, _, _ in found], [after[start:end] for *_, start, end in found]
    return _joined(old), _joined(new)


def _joined(runs: Sequence[str]) -> str:
    said = [" ".join(run.strip(' \n\t,"').split()) for run in runs]
    return " … ".join(dict.fromkeys([one for one in said if one]))
