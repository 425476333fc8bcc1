"""Generated signatures and well-typed or odd values for them, from a seeded `random.Random`."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import random
import types
import typing
import uuid
import warnings
from typing import Annotated, Any, Literal, Optional, Union, get_args, get_origin

import dspy
import pydantic
import typing_extensions
from dspy.adapters.types.citation import Citations
from dspy.adapters.types.document import Document
from dspy.adapters.types.reasoning import Reasoning
from dspy.adapters.types.tool import ToolCallResults, ToolCalls

from adapters.signatures.signature import Signature
from oracle import rare
from oracle import vocabulary as words
from oracle.specs import Built

ODD: tuple[Any, ...] = (
    None,
    0,
    1,
    -7,
    2**70,
    1.5,
    float("nan"),
    float("inf"),
    True,
    "",
    "text",
    "12",
    [],
    [1, "a", None],
    {},
    {"a": {"b": [1]}},
    {1: "x"},
    (1, 2),
    {"x"},
    b"bytes",
    b"\xff",
    datetime.date(2024, 2, 29),
    decimal.Decimal("1.50"),
    words.Color.RED,
    words.Level.HIGH,
    words.Point(1, 2.0),
    words.Pair("l", 1),
    words.Address(street="s", city="c"),
    words.Event(event_name="party"),
    ["a", "b\nc", "«d»"],
    [["nested"], {"k": words.Color.GREEN}],
)


def signature(rng: random.Random, *, outputs: int | None = None) -> Built:
    """A signature of one to four inputs and one to four outputs with types of any kind."""
    count = outputs if outputs is not None else rng.choice((1, 1, 2, 2, 3, 4))
    fields: dict[str, Any] = {}
    warnings.filterwarnings("ignore", "The 'prefix' argument")
    for name in rng.sample(words.INPUT_NAMES, rng.choice((1, 1, 2, 3))):
        fields[name] = (annotation(rng, "input"), _field(rng, dspy.InputField))
    for name in rng.sample([name for name in words.OUTPUT_NAMES if name not in fields], count):
        kind = annotation(rng, "output")
        fields[name] = (kind, _field(rng, dspy.OutputField, kind))
    if rng.random() < 0.08:
        fields["history"] = (dspy.History, dspy.InputField())
    if rng.random() < 0.06:
        fields["tools"] = (rng.choice((list[dspy.Tool], dspy.Tool)), dspy.InputField())
    try:
        made = make(fields, rng.choice(words.INSTRUCTIONS))
        _ = [pydantic.TypeAdapter(one.annotation) for one in made.fields.values()]
    except Exception:  # what dspy or pydantic refuses as a signature is not a case
        return signature(rng, outputs=outputs)
    return Built(made, Signature.from_dspy(made), {})


def make(fields: dict[str, Any], instructions: str | None = None) -> Any:
    return dspy.Signature(fields) if instructions is None else dspy.Signature(fields, instructions)


def built(outputs: dict[str, Any]) -> Built:
    """A signature with the input `q` and these outputs, by name and type."""
    fields = {name: (kind, dspy.OutputField()) for name, kind in outputs.items()}
    made = make({"q": (str, dspy.InputField()), **fields})
    return Built(made, Signature.from_dspy(made), {})


def undescribed(of: Signature) -> Built:
    """A live signature with the names and types of one of ours, and nothing else of it."""
    make_field = {"input": dspy.InputField, "output": dspy.OutputField}
    made = make({name: (one.annotation, make_field[one.role]()) for name, one in of.fields.items()})
    return Built(made, of, {})


def _field(rng: random.Random, make_field: Any, kind: Any = None) -> Any:
    arguments = dict(rng.choice(words.FIELD_CONSTRAINTS))
    arguments.pop("alias", None)
    description = rng.choice(words.DESCRIPTIONS)
    if description is not None:
        arguments["desc"] = description
    if kind is not None and rng.random() < 0.08:
        arguments["default"] = rng.choice(("a default", None, 7, [1], {"k": 1}))
    elif kind is not None and rng.random() < 0.03:
        arguments["default_factory"] = list
    return make_field(**arguments)


def annotation(rng: random.Random, role: str = "output", depth: int = 0) -> Any:
    """A type: simple ones mostly, compound ones two levels deep at most, custom types now and then."""
    roll = rng.random()
    if depth >= 2 or roll < 0.3:
        return rng.choice(words.ATOMS)
    if roll < 0.36:
        return rng.choice(rare.TYPES)
    if roll < 0.48:
        return rng.choice(words.NAMED)
    if roll < 0.58:
        return rng.choice(words.LITERALS)
    if roll < 0.66:
        return rng.choice(words.CUSTOM if depth or role == "output" else words.CUSTOM[:-1])
    if roll < 0.70:
        return rng.choice(words.CONSTRAINED)
    if roll < 0.76:
        return rng.choice(words.UNIONS)
    inner = annotation(rng, role, depth + 1)
    try:
        return _compound(rng, inner, annotation(rng, role, depth + 1))
    except TypeError:
        return list[inner]  # type: ignore[valid-type]


def _compound(rng: random.Random, inner: Any, other: Any) -> Any:
    return rng.choice(
        (
            lambda: list[inner],
            lambda: list[inner],
            lambda: dict[str, inner],
            lambda: dict[int, inner],
            lambda: Optional[inner],  # noqa: UP045
            lambda: inner | None,
            lambda: Union[inner, other],  # noqa: UP007
            lambda: tuple[inner, ...],
            lambda: tuple[inner, other],
            lambda: set[str],
            lambda: frozenset[int],
            lambda: Annotated[inner, pydantic.Field(description="annotated")],
            lambda: typing.Sequence[inner],
            lambda: list[inner | None],
        )
    )()


def value(rng: random.Random, kind: Any, depth: int = 0) -> Any:
    """A value of that type, or an odd one where no rule here makes one."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return value(rng, args[0], depth)
    if origin is Literal:
        return rng.choice(args)
    if origin in (Union, types.UnionType):
        return value(rng, rng.choice(args), depth)
    if origin in (list, set, frozenset, tuple) or getattr(origin, "__name__", "") == "Sequence":
        if origin is tuple and Ellipsis not in args:
            return tuple(value(rng, one, depth + 1) for one in args)
        items = [value(rng, args[0], depth + 1) for _ in range(rng.choice((0, 1, 2, 3)) if depth < 4 else 0)]
        try:
            return origin(items) if origin in (set, frozenset, tuple) else items
        except TypeError:
            return items
    if origin is dict:
        size = rng.choice((0, 1, 2)) if depth < 4 else 0
        return {value(rng, args[0], depth + 1): value(rng, args[1], depth + 1) for _ in range(size)}
    if isinstance(kind, enum.EnumMeta):
        return rng.choice(list(kind))
    if kind in _MAKERS:
        return _MAKERS[kind](rng)
    if typing_extensions.is_typeddict(kind) or dataclasses.is_dataclass(kind) or issubclass_of(kind, tuple):
        hints = typing.get_type_hints(kind)
        made = {name: value(rng, one, depth + 1) for name, one in hints.items()}
        try:
            return made if typing_extensions.is_typeddict(kind) else kind(**made)
        except ValueError:  # a constraint the value happens to break
            return made
    if issubclass_of(kind, pydantic.BaseModel):
        return _model_value(rng, kind, depth)
    return odd(rng)


def odd(rng: random.Random) -> Any:
    """A value of no type in particular."""
    return rng.choice(ODD) if rng.random() < 0.6 else rng.choice(rare.VALUES)


def issubclass_of(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _model_value(rng: random.Random, kind: Any, depth: int) -> Any:
    made: dict[str, Any] = {}
    for name, one in kind.model_fields.items():
        if one.is_required() or (depth < 3 and rng.random() < 0.5):
            made[name] = value(rng, one.annotation, depth + 1)
    try:
        return kind.model_validate(made, by_name=True, by_alias=True)
    except Exception:  # a constraint the value happens to break: as a plain dict it is a case too
        return made


def inputs(rng: random.Random, built: Built) -> dict[str, Any]:
    """Inputs for a signature: mostly complete and of the right type."""
    made: dict[str, Any] = {}
    for name, one in built.theirs.input_fields.items():
        roll = rng.random()
        if one.annotation is dspy.History:
            made[name] = history(rng, built)
        elif roll < 0.07:
            continue
        else:
            made[name] = odd(rng) if roll < 0.2 else value(rng, one.annotation)
    if rng.random() < 0.1:
        made["zzz_not_a_field"] = "lost"
    return made


def outputs(rng: random.Random, built: Built) -> dict[str, Any]:
    """Well-typed outputs, every one of them."""
    return {name: value(rng, one.annotation) for name, one in built.theirs.output_fields.items()}


def demo(rng: random.Random, built: Built) -> dict[str, Any]:
    """A demo: complete, incomplete, with None, with wrong types, or one that dspy drops."""
    made = {
        name: value(rng, one.annotation)
        for name, one in built.theirs.fields.items()
        if one.annotation is not dspy.History
    }
    roll = rng.random()
    if roll < 0.45:
        return made
    for name in list(made):
        change = rng.random()
        if change < 0.3:
            del made[name]
        elif change < 0.4:
            made[name] = None
        elif change < 0.5:
            made[name] = odd(rng)
    return made


def history(rng: random.Random, built: Built) -> Any:
    """Zero to three turns, some of them without an answer or a question."""
    turns = []
    for _ in range(rng.choice((0, 1, 2, 3))):
        turn = demo(rng, built)
        if turn:
            turns.append(turn)
    return dspy.History(messages=turns)


def _text(rng: random.Random) -> str:
    return rng.choice(words.TEXTS)


def _tool(rng: random.Random) -> Any:
    def search(query: str, k: int = 5) -> str:
        """Search the web."""
        return query * k

    return dspy.Tool(search)


def _tool_calls(rng: random.Random) -> Any:
    calls = [
        {"id": f"call_{index}", "name": "search", "args": {"query": _text(rng)}}
        for index in range(rng.choice((0, 1, 2)))
    ]
    made = ToolCalls.from_dict_list(calls)
    if rng.random() < 0.4:
        results = [{"call_id": one["id"], "name": "search", "value": rng.choice(ODD[:12])} for one in calls]
        made = made.model_copy(
            update={"tool_call_results": ToolCallResults.model_validate({"tool_call_results": results})}
        )
    return made


_MAKERS: dict[Any, typing.Callable[[random.Random], Any]] = {
    str: _text,
    int: lambda rng: rng.choice((0, 1, 42, -7, 10**15)),
    float: lambda rng: rng.choice((0.0, 1.5, -2.25e-7, 1e300)),
    bool: lambda rng: rng.random() < 0.5,
    bytes: lambda rng: rng.choice((b"", b"abc")),
    complex: lambda rng: 1 + 2j,
    type(None): lambda rng: None,
    datetime.date: lambda rng: datetime.date(2024, 2, 29),
    datetime.datetime: lambda rng: datetime.datetime(2024, 2, 29, 12, 30, tzinfo=rng.choice((None, datetime.UTC))),
    datetime.time: lambda rng: datetime.time(12, 30),
    datetime.timedelta: lambda rng: datetime.timedelta(days=1, seconds=90),
    decimal.Decimal: lambda rng: decimal.Decimal("1.50"),
    uuid.UUID: lambda rng: uuid.UUID(int=5),
    pydantic.HttpUrl: lambda rng: pydantic.HttpUrl("https://example.com/a b"),
    dspy.Image: lambda rng: dspy.Image(url=rng.choice(("https://example.com/a.jpg", "data:image/png;base64,AAAA"))),
    dspy.Audio: lambda rng: dspy.Audio(data="UklGRg==", audio_format="wav"),
    dspy.File: lambda rng: dspy.File(file_id="file-1", filename="a.pdf"),
    dspy.Code: lambda rng: dspy.Code(code=rng.choice(("print(1)", "x = '''a'''\n", "```python\ny\n```"))),
    Reasoning: lambda rng: Reasoning(content=_text(rng)),
    ToolCalls: _tool_calls,
    Citations: lambda rng: Citations.from_dict_list(
        [{"cited_text": "Paris", "document_index": 0, "start_char_index": 0, "end_char_index": 5}] * rng.choice((0, 1))
    ),
    Document: lambda rng: Document(data=_text(rng), title=rng.choice((None, "T"))),
    dspy.Tool: _tool,
    dspy.History: lambda rng: dspy.History(messages=[]),
    words.Blocks: lambda rng: words.Blocks(url="https://example.com/b.png"),
}
