"""Tools from live functions as dspy infers them, and tools that are only described."""

from __future__ import annotations

import enum
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal

import pydantic
import pytest
from dspy.adapters.types import Tool as DspyTool
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.types import Tool


class Unit(enum.Enum):
    METRE = "m"
    FOOT = "ft"


class Place(pydantic.BaseModel):
    """A place on a map."""

    name: str
    parent: Region | None = None


class Region(pydantic.BaseModel):
    code: str


class Node(pydantic.BaseModel):
    children: list[Node] = []


Place.model_rebuild()


def plain(x: int, y: str = "hello") -> str:
    """Repeat.

    Over two lines."""
    return y * x


def untyped(x, *rest, flag=None, **others):  # type: ignore[no-untyped-def]
    return x


def rich(place: Place, places: list[Place], unit: Unit = Unit.METRE, price: Decimal = Decimal("1.5")) -> None: ...


def odd(kind: Literal["a", "b"] | None = None, when: dict[str, tuple[int, ...]] = {}, f: Any = object) -> None: ...  # noqa: B006


def recursive(node: Node) -> None: ...


class Caller:
    """Calls."""

    def __call__(self, x: float) -> float:
        """The call itself."""
        return x

    def method(self, q: str) -> str:
        return q


async def waiting(x: int = 3) -> int:
    return x


FUNCTIONS: list[Any] = [plain, untyped, rich, odd, Caller(), Caller().method, waiting, lambda a, b=2: a]
TOLD: list[dict[str, Any]] = [
    {},
    {"name": "named", "desc": "Does it."},
    {"name": "", "desc": ""},
    {"args": {}},
    {"args": {"x": {"type": "integer"}}, "arg_types": {"x": int}},
    {"arg_desc": {"x": "how often", "nothing": "?"}},
    {"desc": "Two\nlines, one <tag>.", "args": {"q": {"type": "string", "default": None}}},
    {"name": 5},
    {"args": []},
]


def described(make: Callable[..., Any], function: Any, told: dict[str, Any]) -> tuple[Any, ...]:
    try:
        tool = make(function, **told)
    except pydantic.ValidationError as error:
        return ("refused", [(one["loc"], one["type"]) for one in error.errors()])
    except Exception as error:
        return ("raises", type(error))
    facts = tool.name, tool.desc, tool.args, tool.arg_types, tool.arg_desc, tool.has_kwargs
    dumped = pydantic.TypeAdapter(type(tool)).dump_python(tool, mode="json", fallback=str)
    return *facts, str(tool), repr(tool), tool.format(), dumped, tool.format_as_litellm_function_call()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: getattr(function, "__name__", "object"))
def test_a_function_becomes_the_same_tool(function: Any) -> None:
    for told in TOLD:
        assert described(Tool, function, told) == described(DspyTool, function, told)


@pytest.mark.parametrize("function", [recursive, 5, None, "os.system", len, type])
def test_what_cannot_become_a_tool_fails_alike(function: Any) -> None:
    assert described(Tool, function, {}) == described(DspyTool, function, {})


TEXTS = st.none() | st.text(max_size=30)


@pytest.mark.slow
@given(
    name=st.text(min_size=1, max_size=20),
    desc=TEXTS,
    args=st.dictionaries(st.text(max_size=8), st.dictionaries(st.sampled_from(["type", "default", "x"]), TEXTS)),
)
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_a_described_tool_reads_like_one_with_a_function(name: str, desc: str | None, args: dict[str, Any]) -> None:
    def silent() -> None: ...

    mine, dspys = Tool(name=name, desc=desc, args=args), DspyTool(silent, name=name, desc=desc, args=args)
    assert str(mine) == str(dspys)
    theirs_desc = dspys.desc
    call = mine.format_as_litellm_function_call()
    assert call["function"] | {"description": theirs_desc} == dspys.format_as_litellm_function_call()["function"]


def test_a_described_tool_cannot_be_called() -> None:
    tool = Tool(name="search", args={"query": {"type": "string"}})
    with pytest.raises(NotImplementedError, match="no function to call"):
        tool.func(query="x")


def test_a_tool_needs_a_function_or_a_name() -> None:
    with pytest.raises(TypeError, match="a function or a name"):
        Tool()


def test_a_reply_never_makes_a_tool() -> None:
    for cls in (Tool, DspyTool):
        with pytest.raises(TypeError, match="func"):
            pydantic.TypeAdapter(cls).validate_python({"name": "search", "args": {}})
