"""Recognise custom types: ours, dspy's (by qualified name, without importing it), and their subclasses.

A model that only has a method `format` is not a custom type. `asks_for_types` also searches containers, unions, models,
typed dicts and dataclasses.

The `TypeAdapter` and JSON schema of each type are cached: in dspy, building them is most of the cost of formatting and
parsing. The keys are identities of types, because `list[int | str] == list[str | int]` although the two coerce
differently.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice
from typing import Annotated, Any, Generic, Literal, NotRequired, Protocol, Required, TypeVar, get_args, get_origin

import pydantic
import pydantic_core
from pydantic import TypeAdapter
from pydantic_core import CoreConfig, SchemaValidator
from typing_extensions import ReadOnly, TypeAliasType, is_typeddict

from adapters.late_dataclasses import dataclass, field

Result = TypeVar("Result")
LIMIT = 4096


@dataclass(eq=False)
class ByIdentity(Generic[Result]):
    """A cache of `make(key)` by the key's identity, cleared when full; exceptions are not cached."""

    _make: Callable[[Any], Result]
    _made: dict[int, tuple[object, Result]] = field(default_factory=dict)

    def __call__(self, key: object) -> Result:
        found = self._made.get(id(key))
        if found is not None:
            return found[1]
        made = self._make(key)
        if len(self._made) >= LIMIT:
            self._made.clear()
        self._made[id(key)] = (key, made)
        return made


class Validator(Protocol):
    """The part of pydantic's validators that parsing needs."""

    def validate_python(self, value: Any, /, *, by_name: bool | None = None) -> Any: ...


type_adapter: ByIdentity[TypeAdapter[object]] = ByIdentity(TypeAdapter)
"""The `TypeAdapter` of an annotation. Raises what pydantic raises for unsupported types."""


CONTAINERS = frozenset(("list", "tuple", "set", "frozenset", "deque", "dict", "frozendict", "ordered-dict", "counter"))
"""Kinds of pydantic's schemas that can stop at an error; older releases go on in dicts."""
ONE_INSIDE = (
    *("schema", "items_schema", "keys_schema", "values_schema", "extras_schema"),
    *("lax_schema", "strict_schema", "json_schema", "python_schema"),
)
SEVERAL_INSIDE = ("items_schema", "choices", "fields", "definitions", "steps")
"""Keys of a schema that hold another one, or a list or mapping of others."""
KNOWN_CODE = ("pydantic.", "pydantic_core.", "adapters.types.", "dspy.")
"""Modules whose validators raise nothing but ValueError for a wrong value, and do not count errors."""


class OwnCodeError(Exception):
    """A type calls a user's code, which may raise other errors for later items, or count the errors inside."""


def _codes_of(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield what validation with a core schema calls, without the schemas inside."""
    function = schema.get("function")
    yield function.get("function") if isinstance(function, dict) else function
    yield from (schema.get("missing"), schema.get("discriminator"))
    factory = schema.get("default_factory")
    if factory not in (list, dict, set):
        yield factory
    if schema.get("post_init"):
        yield getattr(schema["cls"], schema["post_init"])


def _is_known(code: Any) -> bool:
    while isinstance(code, partial):
        code = code.func
    return not callable(code) or f"{getattr(code, '__module__', '')}.".startswith(KNOWN_CODE)


def _stopping(schema: Any) -> Any:
    """Return a core schema whose containers all stop at their first wrong item. Raises OwnCodeError."""
    if isinstance(schema, tuple):  # a choice with its label
        return (_stopping(schema[0]), *schema[1:])
    if not isinstance(schema, dict):
        return schema
    if schema.get("custom_init") or not all(map(_is_known, _codes_of(schema))):
        raise OwnCodeError
    made = dict(schema)
    for key in ONE_INSIDE:
        if isinstance(schema.get(key), dict):
            made[key] = _stopping(schema[key])
    for key in SEVERAL_INSIDE:
        inside = schema.get(key)
        if isinstance(inside, list):
            made[key] = [_stopping(one) for one in inside]
        elif isinstance(inside, dict) and key in ("choices", "fields"):
            made[key] = {name: _stopping(one) for name, one in inside.items()}
    if schema.get("type") in CONTAINERS:
        made["fail_fast"] = True
    return made


def _stopping_validator(annotation: Any) -> Validator:
    """Make a validator that stops at the first wrong item of each container.

    It is the usual one if the type calls a user's code, or this release of pydantic makes no other.
    """
    whole = type_adapter(annotation)
    try:
        config = CoreConfig(title=whole.validator.title)
        # The validators of the classes inside, made before, would not stop.
        return SchemaValidator(_stopping(whole.core_schema), config, _use_prebuilt=False)
    except Exception:  # whatever another release of pydantic says of such a schema or argument
        return whole


stopping_validator: ByIdentity[Validator] = ByIdentity(_stopping_validator)
"""The validator of an annotation that accepts the same values as `type_adapter`'s, but lists fewer errors: of the wrong
items of each list or dict only the first. pydantic makes an object of every error: of ten megabytes of `{}` for a list
of models, for half a minute."""


BEGINNING = 1_000
"""Items of a list or dict that are asked at once for errors: pydantic makes a dict of each of a million errors."""


def first_errors(
    annotation: object, given: Any, most: int, by_name: bool | None = None, known: object = None
) -> list[pydantic_core.ErrorDetails]:
    """Return at most `most` errors of a value, the first ones; from `known` if that is pydantic's error and short."""
    if isinstance(known, pydantic.ValidationError) and known.error_count() <= BEGINNING:
        return known.errors(include_url=False, include_context=False)[:most]
    found: list[pydantic_core.ErrorDetails] = []
    for start, part in _parts(annotation, given):
        for error in _errors_of_part(annotation, part, most - len(found), by_name):
            if start:
                error["loc"] = (int(error["loc"][0]) + start, *error["loc"][1:])
            found.append(error)
        if len(found) == most:
            break
    return found


def _errors_of_part(
    annotation: object, given: Any, most: int, by_name: bool | None
) -> list[pydantic_core.ErrorDetails]:
    """Return the first errors of a value; those of its beginning if no others can come before them."""
    cut: dict[Path, int] = {}
    beginning = _beginning(given, BEGINNING, (), cut)
    if cut and "max_length" not in repr(type_adapter(annotation).core_schema):
        found = _errors(type_adapter(annotation), beginning, most, by_name)
        if len(found) == most and all(one["type"] not in OF_LENGTH for one in found) and _are_first(found, cut):
            return found
    validator_of = type_adapter if sum(cut.values()) <= MOST_ITEMS else stopping_validator
    return _errors(validator_of(annotation), given, most, by_name)


def _errors(validator: Validator, given: Any, most: int, by_name: bool | None) -> list[pydantic_core.ErrorDetails]:
    try:
        validator.validate_python(given, by_name=by_name)
    except pydantic.ValidationError as refused:
        return refused.errors(include_url=False, include_context=False)[:most]
    return []


Path = tuple[int | str, ...]
OF_LENGTH = ("too_short", "too_long", "value_error", "assertion_error")
"""Errors that may be of a list's length."""
FEW = 50
"""Items of a list inside a list whose end is cut off."""
DEEPEST = 20
MOST_ITEMS = 500_000
"""Items of long lists from which only the first error of each list is found; a reply of 1 MB has fewer."""


def _beginning(value: Any, most: int, path: Path, cut: dict[Path, int]) -> Any:
    """Return JSON with its long lists cut to `most` items, those inside to `FEW`; note their paths and lengths."""
    if type(value) is dict and len(value) <= most and len(path) < DEEPEST:
        return {key: _beginning(one, most, (*path, key), cut) for key, one in value.items()}
    if type(value) is not list or len(path) >= DEEPEST:
        return value
    if len(value) > most:
        cut[path] = len(value)
        value, most = value[:most], FEW
    return [_beginning(one, most, (*path, index), cut) for index, one in enumerate(value)]


def _are_first(found: list[pydantic_core.ErrorDetails], cut: Iterable[Path]) -> bool:
    """Return whether all errors are of the items of one list, and of no list that was cut before it or within it."""
    around = [path for path in cut if all(one["loc"][: len(path)] == path for one in found)]
    if not around:
        return False
    place = around[-1]
    for path in set(cut).difference(around):
        one, other = next(((one, other) for one, other in zip(place, path, strict=False) if one != other), ("", ""))
        if not isinstance(one, int) or not isinstance(other, int) or one > other:
            return False
    return all(type((*one["loc"], "")[len(place)]) is int for one in found)


def _parts(annotation: object, given: Any) -> Iterator[tuple[int, Any]]:
    """Yield a value, or the pieces of a long list or dict (`BEGINNING`), each with the items of a list before it."""
    origin = get_origin(annotation)
    if origin not in (list, dict) or type(given) is not origin or len(given) <= BEGINNING:
        yield 0, given
    elif origin is list:
        for start in range(0, len(given), BEGINNING):
            yield start, given[start : start + BEGINNING]
    else:
        items = iter(given.items())
        while part := dict(islice(items, BEGINNING)):
            yield 0, part


def _type_first(node: object) -> Any:
    if isinstance(node, Mapping):
        return {
            key: _type_first(child)
            for key, child in sorted(node.items(), key=lambda item: (item[0] != "type", item[0]))
        }
    if isinstance(node, list):
        return [_type_first(child) for child in node]
    return node


json_schema: ByIdentity[dict[str, object]] = ByIdentity(
    lambda annotation: _type_first(type_adapter(annotation).json_schema())
)
"""The JSON schema as in dspy's prompts: `type` first, other keys sorted (`dspy.adapters.utils._get_json_schema`)."""

schema_by_name: ByIdentity[dict[str, Any]] = ByIdentity(
    lambda annotation: {"type": "string"} if annotation is str else type_adapter(annotation).json_schema(by_alias=False)
)
"""The JSON schema with field names instead of aliases, as in dspy's XMLAdapter.

The first `TypeAdapter` of a process looks for pydantic's plugins in every installed package; text needs none.
"""


OURS = "adapters.types"
DSPYS = "dspy.adapters.types"

START = "<<CUSTOM-TYPE-START-IDENTIFIER>>"
END = "<<CUSTOM-TYPE-END-IDENTIFIER>>"
"""dspy's markers around the JSON of content parts in a message's text, before they are expanded."""

DECISIONS = ("Noul", "Score", "Choice")
Kind = Literal["noul", "score", "choice"]


def is_custom_type(annotation: object) -> bool:
    """Test whether `annotation` is our or dspy's `Type`, or a subclass."""
    return is_kind_of(annotation, "Type")


def custom_types_in(annotation: object) -> list[Any]:
    """Find the custom types in an annotation, in order and with repetitions: `dict[str, list[Image]]` → [Image].

    Rule: `dspy.Type.extract_custom_type_from_annotation`, which searches type arguments but not models.
    """
    if is_custom_type(annotation):
        return [annotation]
    return [found for arg in get_args(annotation) for found in custom_types_in(arg)]


def is_named(annotation: object, name: str) -> bool:
    """Test whether `annotation` is our or dspy's class `name` itself (`Reasoning`, `ToolCalls`, …).

    Subclasses do not count, as in dspy, which compares with `==`; except for `Code`, where dspy calls `issubclass`, so
    that `Code["java"]` counts.
    """
    if name == "Code":
        return is_kind_of(annotation, name)
    return isinstance(annotation, type) and _their_names(annotation)[0] == name


def is_kind_of(annotation: object, name: str) -> bool:
    """Test whether `annotation` is our or dspy's class `name`, or a subclass."""
    return isinstance(annotation, type) and name in _their_names(annotation)


def is_builtin(annotation: object) -> bool:
    """Test whether `annotation` is our or dspy's type, not a user's subclass."""
    if not isinstance(annotation, type) or not isinstance(annotation.__module__, str):
        return False
    return f"{annotation.__module__}.".startswith((f"{OURS}.", "dspy."))


def is_decision_type(annotation: object) -> bool:
    """Test whether `annotation` is our or dspy's Noul, Score or Choice, with or without `[…]`."""
    return any(is_kind_of(annotation, name) for name in DECISIONS)


def kind_of(decision_type: object) -> Kind:
    """Classify a decision type, ours or dspy's."""
    if is_kind_of(decision_type, "Noul"):
        return "noul"
    return "score" if is_kind_of(decision_type, "Score") else "choice"


def options_of(choice: type[pydantic.BaseModel]) -> tuple[object, ...]:
    """Return the declared values of a `Choice` (ours or dspy's), with their Python types."""
    return get_args(choice.model_fields["value"].annotation)


@lru_cache(maxsize=1024)
def _their_names(cls: type) -> tuple[str, ...]:
    """Return the names of a class and its bases, "" for those that are neither ours nor dspy's."""
    names: list[str] = []
    for base in cls.__mro__:
        is_theirs = f"{base.__module__}.".startswith((f"{OURS}.", f"{DSPYS}."))
        names.append(base.__qualname__ if is_theirs else "")
    return tuple(names)


BUILT_MODELS = ("History", "ToolCallResults")
"""dspy's models that plain JSON is converted to although they are not a `Type`."""


def is_built(annotation: object) -> bool:
    """Test whether plain JSON is converted to an instance of this class."""
    return is_custom_type(annotation) or any(is_named(annotation, name) for name in BUILT_MODELS)


def unwrapped(annotation: object) -> object:
    """Remove `Annotated`, `Required` and similar wrappers from an annotation, and resolve aliases."""
    while True:
        if get_origin(annotation) in (Annotated, Required, NotRequired, ReadOnly):
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, TypeAliasType):
            annotation = annotation.__value__
        else:
            return annotation


def fields_of(annotation: object) -> Mapping[str, object]:
    """Map JSON keys to annotations for a model, typed dict or dataclass; empty for other types."""
    if not isinstance(annotation, type):
        return {}
    if issubclass(annotation, pydantic.BaseModel):
        fields: dict[str, object] = {}
        for name, field in annotation.model_fields.items():
            for key in (name, field.alias, field.validation_alias):
                if isinstance(key, str):
                    fields[key] = field.annotation
        return fields
    # Annotations that are text stay text: converting them to types would require evaluating them.
    if is_typeddict(annotation):
        return annotation.__annotations__
    if dataclasses.is_dataclass(annotation):
        return {field.name: field.type for field in dataclasses.fields(annotation)}
    return {}


def _search(annotation: object) -> bool:
    waiting = [annotation]
    seen: list[object] = []
    while waiting:
        part = unwrapped(waiting.pop())
        if is_built(part):
            return True
        if not any(part is other for other in seen):
            seen.append(part)
            waiting.extend((*get_args(part), *fields_of(part).values()))
    return False


asks_for_types: ByIdentity[bool] = ByIdentity(_search)
"""Test whether an annotation contains a custom type at any depth; cached by annotation."""
