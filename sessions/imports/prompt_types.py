"""Recover field types from a prompt: from type names, and from JSON schemas or BAML shown for outputs."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.errors import SignatureError
from adapters.prompts.field_descriptions import ListedField, simplified_type, type_note
from adapters.signatures.read.names import names_in
from adapters.signatures.read.source_text import is_literal
from adapters.signatures.signature import strip_annotated
from sessions.imports import shown_types
from sessions.imports.reading import listed
from sessions.imports.shown_types import Schema
from sessions.model.session import SignatureText

_FORMATS = {format: name for name, format in shown_types.FORMATS.items()}
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "complex": "complex"}
_BOUNDS = {
    "exclusiveMinimum": "gt",
    "minimum": "ge",
    "exclusiveMaximum": "lt",
    "maximum": "le",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
_NAMES = frozenset(
    """
    str int float bool bytes complex list dict tuple set frozenset object None List Dict Tuple Set
    date datetime time timedelta Decimal UUID Path Any Literal Union Optional
    Audio Code History Image Tool ToolCalls Reasoning Document Citations File
    """.split()
)
"""Type names that a prompt may use; all others are the user's classes."""
_SCHEMA = "must adhere to the JSON schema: "
_CHOICES = "must be one of: "
_LITERAL = re.compile(r"\bLiteral\[([^\[\]]*)\]")
_STAND_IN = "class {}(pydantic.BaseModel):\n    model_config = {{'extra': 'allow'}}"


def of_fields(
    inputs: Sequence[ListedField], outputs: Sequence[ListedField], system: str, questions: list[str]
) -> Schema:
    """Recover the types of all fields by name, together, because they may share classes.

    Adds `questions` about types that the prompt does not define.
    """
    classes: dict[str, str] = {}
    inputs, outputs = ([_in_python(one, system, questions) for one in each] for each in (inputs, outputs))
    for one in outputs:
        try:
            found = _classes(one, system, questions)
        except ValueError:
            continue
        classes |= {name: source for name, source in found.items() if name not in classes}
    texts = {one.name: one.type_text for one in (*inputs, *outputs)}
    for name, text in texts.items():
        for unknown in _unknown(text):
            if unknown not in classes:
                classes[unknown] = _STAND_IN.format(unknown)
                told = "which only its source defines: an empty class is proposed"
                questions.append(f"the type of `{name}` is {text}, {told}")
    together = _read(texts, classes)
    if together is not None:
        return together
    made: dict[str, Any] = {}
    for name, text in texts.items():
        alone = _read({name: text}, classes)
        if alone is None:
            questions.append(f"the type of `{name}` is {text}, which only its source defines: str is proposed")
        made[name] = str if alone is None else alone[name]
    return made


def annotation(name: str, text: str, questions: list[str]) -> Any:
    """Return the type named by a text such as `list[int]`; str, with a question, for a user's class."""
    told: list[str] = []
    types = of_fields([ListedField(name, text, "")], [], "", told)
    if told:
        questions.append(f"the type of `{name}` is {text}, which only its source defines: str is proposed")
        return str
    return types[name]


def _in_python(field: ListedField, system: str, questions: list[str]) -> ListedField:
    """Write a field's type as Python, with quotes in a Literal, whose strings early releases of dspy write bare."""
    note = type_note(field.name, system) or ""
    noted = note.removeprefix(_CHOICES).split("; ")

    def quoted(found: re.Match[str]) -> str:
        is_noted = note.startswith(_CHOICES) and ", ".join(noted) == found[1]
        choices = noted if is_noted else found[1].split(", ")
        if is_literal(found[1]) or any(one[:1] in ("'", '"', "<", "") for one in choices):
            return found[0]
        if not is_noted:
            questions.append(f"the prompt shows the choices of `{field.name}` without quotes: strings are taken")
        return f"Literal[{', '.join(one if is_literal(one) else repr(one) for one in choices)}]"

    text = re.sub(r"\bAnnotated\[(\w+), [^\[\]]*\]", r"\1", _LITERAL.sub(quoted, field.type_text))
    return field._replace(type_text=re.sub(r"\bCode_(\w+)", r'Code["\1"]', re.sub(r"\bNoneType\b", "None", text)))


def _unknown(text: str) -> list[str]:
    """Return the names of user-defined classes in a type."""
    return [one for one in names_in(text) if one not in _NAMES]


def _read(texts: Mapping[str, str], classes: Mapping[str, str]) -> Schema | None:
    """Read the types as in a signature's source; return None if they cannot be read.

    Fields are numbered because Python normalises identifiers (NFKC): distinct names in a prompt may collide in a class.
    """
    lines = [f"    field_{number}: {text} = dspy.OutputField()" for number, text in enumerate(texts.values())]
    source = "\n\n\n".join([*classes.values(), "\n".join(["class Imported(dspy.Signature):", *lines])])
    try:
        fields = SignatureText(source, "Imported").read().fields
    except SignatureError:
        return None
    return {name: strip_annotated(fields[f"field_{number}"].annotation) for number, name in enumerate(texts)}


def _classes(field: ListedField, system: str, questions: list[str]) -> dict[str, str]:
    unknown = _unknown(field.type_text)
    if not unknown:
        return {}
    note = type_note(field.name, system)
    if note is not None and note.startswith(_SCHEMA):
        schema = json.loads(note.removeprefix(_SCHEMA))
        for name, one in _described(schema).items():
            if _is_sorted(one):
                last = f": those with defaults, {listed(_optional(one))}, are put last"
                last = last if one.get("required") else ", which is kept"
                questions.append(f"the prompt shows the fields of `{name}` in alphabetical order{last}")
        return classes_of(schema)
    if note is not None and note.startswith(_CHOICES) and unknown == [field.type_text]:
        values: list[Any] = note.removeprefix(_CHOICES).split("; ")
        numbers = [int(one) for one in values if re.fullmatch(r"0|-?[1-9]\d{0,8}", one)]
        told = "; these are taken as numbers" if len(numbers) == len(values) else ""
        questions.append(f"the prompt shows the values of {field.type_text}, not the names of its members{told}")
        return classes_of({"title": field.type_text, "enum": numbers if told else values})
    simplified = simplified_type(field.name, system)
    template = re.search(rf"^<{field.name}>\n?(<\w+>.*)\n?</{field.name}>$", system, re.MULTILINE)
    if simplified is None and template is None:
        return {}
    defined: dict[str, Any] = {}
    if simplified:
        _name_objects(shown_types.from_baml(simplified), unknown[0], defined)
        questions += [f"BAMLAdapter shows no defaults: all fields of `{name}` are required" for name in defined]
    else:
        _name_objects(shown_types.from_template(template[0] if template else ""), unknown[0], defined)
        questions.append(f"the prompt shows the names in {unknown[0]}, not their types: Any is proposed")
    if len(defined) > 1:
        questions.append(f"the prompt shows the contents of {unknown[0]}, not the names of its classes")
    return classes_of({"$defs": defined})


def _name_objects(schema: Schema, name: str, defined: dict[str, Any]) -> Schema:
    """Name each object of an unnamed schema after the field that holds it."""
    found = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), Mapping):
            found[key] = _name_objects(found[key], name, defined)
    if "anyOf" in found:
        found["anyOf"] = [_name_objects(one, name, defined) for one in found["anyOf"]]
    if "properties" not in found:
        return found
    title = name
    while title in defined:
        title += "_"
    defined[title] = found
    found["title"] = title
    found["properties"] = {
        key: _name_objects(one, "".join(part.title() for part in key.split("_")), defined)
        for key, one in found["properties"].items()
    }
    return {"$ref": f"#/$defs/{title}"}


def classes_of(schema: Schema) -> dict[str, str]:
    """Write the source of each class in the schema, by name; a class comes before those that use it.

    Raises ValueError for an invalid class name.
    """
    written: dict[str, str] = {}
    waiting = _described(schema)
    while waiting:
        ready = [name for name, one in waiting.items() if not (_used(one) & set(waiting)) - {name}]
        for name in ready or list(waiting)[:1]:
            written[name] = _class(name, waiting.pop(name))
    return written


def _described(schema: Schema) -> dict[str, Schema]:
    """Return the schemas of the classes in a schema, by name."""
    described: dict[str, Schema] = dict(schema.get("$defs") or {})
    title = schema.get("title")
    if isinstance(title, str) and ("properties" in schema or "enum" in schema):
        described[title] = schema
    return described


def _optional(schema: Schema) -> list[str]:
    return [name for name in schema.get("properties", ()) if name not in schema.get("required", ())]


def _is_sorted(schema: Schema) -> bool:
    """Return whether a class's fields are shown by name, so that only the order of the required fields is known.

    `dspy.adapters.utils._get_json_schema` sorts them.
    """
    names = list(schema.get("properties", ()))
    return len(names) > 1 and bool(_optional(schema)) and names == sorted(names)


def _used(schema: object) -> set[str]:
    if isinstance(schema, dict):
        own = {str(schema["$ref"]).rpartition("/")[2]} if "$ref" in schema else set()
        return own.union(*(_used(one) for key, one in schema.items() if key != "$defs"))
    return set().union(*map(_used, schema)) if isinstance(schema, list) else set()


def _class(name: str, schema: Schema) -> str:
    _checked(name)
    described = schema.get("description")
    lines = [f"    {described!r}"] if isinstance(described, str) else []
    if "enum" in schema:
        for number, value in enumerate(schema["enum"], 1):
            member = re.sub(r"\W+", "_", str(value)).strip("_").upper()
            is_name = member.isidentifier() and not keyword.iskeyword(member)
            lines.append(f"    {member if is_name else f'MEMBER_{number}'} = {value!r}")
        return "\n".join([f"class {name}(enum.Enum):", *lines])
    if isinstance(schema.get("additionalProperties"), bool):
        lines.append(f"    model_config = {{'extra': {'allow' if schema['additionalProperties'] else 'forbid'!r}}}")
    properties = schema.get("properties", {})
    required = [one for one in schema.get("required", ()) if one in properties]
    in_order = [*required, *_optional(schema)] if _is_sorted(schema) or len(required) == len(properties) else properties
    for one in in_order:
        lines.append(_property(_checked(one), properties[one], one in required))
    return "\n".join([f"class {name}(pydantic.BaseModel):", *(lines or ["    pass"])])


def _checked(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be a name in Python")
    return name


def _property(name: str, schema: Mapping[str, object], is_required: bool) -> str:
    arguments = [f"{_BOUNDS[key]}={value!r}" for key, value in schema.items() if key in _BOUNDS]
    if isinstance(schema.get("description"), str):
        arguments.append(f"description={schema['description']!r}")
    if schema.get("title") not in (None, name.replace("_", " ").title()):
        arguments.append(f"title={schema['title']!r}")
    if not is_required and "default" in schema:
        arguments.insert(0, f"default={schema['default']!r}")
    elif not is_required:
        arguments.insert(0, f"default_factory={'dict' if schema.get('type') == 'object' else 'list'}")
    value = f" = pydantic.Field({', '.join(arguments)})" if arguments else ""
    if len(arguments) == 1 and arguments[0].startswith("default="):
        value = f" = {schema['default']!r}"
    return f"    {name}: {type_text(schema)}{value}"


def type_text(schema: Schema) -> str:
    """Write the Python type of a schema; classes appear by name."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        return f"Union[{', '.join(map(type_text, choices))}]"
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"tuple[{', '.join(map(type_text, schema['prefixItems']))}]"
        items = schema.get("items")
        inner = type_text(items) if isinstance(items, Mapping) else "Any"
        return f"{'set' if schema.get('uniqueItems') else 'list'}[{inner}]"
    if kind == "object":
        if isinstance(schema.get("title"), str) and "properties" in schema:
            return str(schema["title"])
        inner_schema = schema.get("additionalProperties")
        return f"dict[str, {type_text(inner_schema) if isinstance(inner_schema, Mapping) else 'Any'}]"
    if kind == "string" and schema.get("format") in _FORMATS:
        return _FORMATS[str(schema["format"])]
    return _TYPES.get(str(kind), "Any")
