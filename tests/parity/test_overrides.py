"""Every method that docs/adapters.md names, overridden as users do it, in each adapter: what then goes out and in.

The same override is put on dspy's class and on ours. An override may say something of its own, change what `super()`
says, hand `super()` other arguments, give nothing at all, or be set on the object alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import dspy
import pydantic
import pytest
from oracle.engines import NAMES, THEIRS, ScriptedLM, ours
from oracle.outcomes import divergence, outcome, plain
from oracle.tally import Record, Tally

from adapters.signatures.signature import Signature

DOCUMENT = Path(__file__).parents[2] / "docs" / "adapters.md"


class Item(pydantic.BaseModel):
    """A line of a bill."""

    name: str
    price: float = 0.0


class Bill(dspy.Signature):
    """Read the bill.

    Twice."""

    note: str = dspy.InputField()
    earlier: list[Item] = dspy.InputField(desc="Lines of last time", min_length=1)
    history: dspy.History = dspy.InputField()
    items: list[Item] = dspy.OutputField()
    kind: Literal["paid", "open"] = dspy.OutputField(desc="what it is")
    comment: str = dspy.OutputField()


LINES = [{"name": "tea & <milk>", "price": 2.5}]
COMPLETE = {"note": "Tea.", "earlier": LINES, "history": None, "items": LINES, "kind": "paid", "comment": "a < b"}
DEMOS = [{**COMPLETE, "history": {"messages": []}}, {"note": "Only this.", "kind": "open"}, {"comment": "dropped"}]
TURNS = [{"note": "Earlier?", "earlier": [], "items": [], "kind": "open", "comment": "none"}, {"note": "And?"}]
REPLIES: Mapping[str, str] = {
    "chat": '[[ ## items ## ]]\n[{"name": "tea"}]\n\n[[ ## kind ## ]]\npaid\n\n[[ ## comment ## ]]\nfine',
    "json": '{"items": [{"name": "tea"}], "kind": "paid", "comment": "fine"}',
    "xml": "<items><item><name>tea</name></item></items><kind>paid</kind><comment>fine</comment>",
}
REPLY_OF = {"chat": "chat", "json": "json", "baml": "json", "xml": "xml", "twostep": "chat"}

Method = Callable[..., Any]


def documented() -> list[str]:
    """The methods of the table in docs/adapters.md, and `format`, which its first example overrides."""
    table = re.findall(r"^\| `(\w+)\(", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    return ["format", *table]


OWN: Mapping[str, Any] = {
    "format": [{"role": "system", "content": "Own."}, {"role": "user", "content": "Own?"}],
    "format_demos": [{"role": "user", "content": "Own demo"}, {"role": "assistant", "content": "Own answer"}],
    "format_conversation_history": [{"role": "user", "content": [{"type": "text", "text": "Own turn"}]}],
    "format_finetune_data": {"messages": []},
    "parse": {"items": [], "kind": "open", "comment": "own"},
}


def changed(value: Any) -> Any:
    """What `super()` gave, changed as users change it: text replaced and added to, a message or a value more."""
    if isinstance(value, str):
        return "Own. " + value.replace("[[ ## ", "<<").replace(" ## ]]", ">>").replace("note", "NOTE")
    if isinstance(value, list):
        return [*value[:-1], {"role": "user", "content": "One more."}]
    if isinstance(value, dict) and "messages" in value:
        return {"messages": value["messages"][1:]}
    if isinstance(value, dict):
        return {**value, "comment": "own"}
    return value


def other_arguments(name: str, arguments: list[Any], keywords: dict[str, Any]) -> None:
    """Other arguments for `super()`: fewer fields, demos, turns, or another text."""
    if name == "format_field_with_value":
        arguments[0] = dict(list(arguments[0].items())[:1])
    elif name == "format_demos":
        arguments[1] = arguments[1][:1]
    elif name == "format_conversation_history":
        arguments[2] = {**arguments[2], "note": "other"}
    elif name in ("format_user_message_content", "format_assistant_message_content"):
        arguments[1] = {**arguments[1], "note": "other", "comment": "other"}
        keywords["suffix" if "user" in name else "missing_field_message"] = "Own end."
    elif name in ("format", "format_finetune_data"):
        arguments[1] = arguments[1][1:]
    elif name == "parse":
        arguments[1] = arguments[1].replace("fine", "other")
    else:
        arguments[0] = arguments[0].with_instructions("Other instructions.").delete("comment")


def overriding(base: type, name: str, way: str) -> type:
    """A class below `base` with `name` overridden in that way."""

    def method(self: Any, *given: Any, **keywords: Any) -> Any:
        if way == "own":
            return deepcopy(OWN.get(name, "Own text."))
        if way == "nothing":
            return None
        arguments = list(given)
        if way == "other arguments":
            arguments += [keywords.pop(one) for one in list(keywords) if one in POSITIONAL]
            other_arguments(name, arguments, keywords)
        result = getattr(super(made, self), name)(*arguments, **keywords)
        return changed(result) if way == "changed" else result

    method.__name__ = name
    made: type = type("Mine", (base,), {name: method})
    return made


POSITIONAL = ("signature", "demos", "inputs", "outputs", "completion", "fields_with_values", "history_field_name")
WAYS = ("own", "changed", "other arguments", "nothing")


def reader(field: Any) -> str:
    """What an override of dspy's shape reads of a field: its name and, through `info`, type and role."""
    extra = field.info.json_schema_extra
    return f"{field.name}: {field.info.annotation} {extra['__dspy_field_type']} {extra['desc']}"


def made(name: str, cls: type) -> Any:
    if name == "twostep":
        return cls(ScriptedLM([[REPLIES["chat"]]]))
    return cls()


def base_of(engine: str, name: str) -> type:
    return THEIRS[name] if engine == "dspy" else type(ours(name))


def whole(engine: str, name: str, adapter: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything that is asked of an adapter: the messages, the values, the whole call, both ways of calling."""
    signature: Any = Bill if engine == "dspy" else Signature.from_dspy(Bill)
    reply = "prose" if name == "twostep" else REPLIES[REPLY_OF[name]]

    def inputs() -> dict[str, Any]:
        return {"note": "Tea?", "earlier": deepcopy(LINES), "history": dspy.History(messages=deepcopy(TURNS))}

    def call() -> Any:
        model = ScriptedLM([[reply], [REPLIES["json"]]])
        try:
            values: Any = adapter(model, {}, signature, deepcopy(DEMOS), inputs())
        except Exception as error:
            values = type(error).__name__
        return model.calls, plain(values)

    def acall() -> Any:
        model = ScriptedLM([[reply], [REPLIES["json"]]])
        return plain(asyncio.run(adapter.acall(model, {}, signature, deepcopy(DEMOS), inputs()))), model.calls

    yield "format", lambda: plain(adapter.format(signature, deepcopy(DEMOS), inputs()))
    if name != "twostep":
        yield "parse", lambda: adapter.parse(signature, reply)
    yield "call", call
    if name != "twostep":
        yield "acall", acall
    if name in ("chat", "xml"):  # dspy has none for the others; ours has
        yield (
            "format_finetune_data",
            lambda: plain(adapter.format_finetune_data(signature, deepcopy(DEMOS), inputs(), COMPLETE)),
        )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", documented())
def test_an_override_does_under_every_adapter_what_it_does_under_dspys(name: str, method: str, record: Record) -> None:
    tally = Tally("overridden methods")
    if not hasattr(THEIRS[name], method):
        pytest.skip(f"dspy's {THEIRS[name].__name__} has no {method}")
    for way in WAYS:
        if (method, way) == ("format", "nothing"):
            continue  # dspy calls the model with no messages at all
        left = whole("dspy", name, made(name, overriding(base_of("dspy", name), method, way)))
        right = whole("ours", name, made(name, overriding(base_of("ours", name), method, way)))
        for (what, theirs), (_, mine) in zip(left, right, strict=True):
            one, other = outcome(theirs), outcome(mine)
            if way == "nothing" and one.error is not None and type(one.error) is type(other.error):
                continue  # a fault of the override's own: how Python words it depends on the line that met it
            tally.add(f"{method} {way} {what}", divergence(one, other))
    tally.report(record)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", documented())
def test_an_override_set_on_the_object_counts_too(name: str, method: str, record: Record) -> None:
    tally = Tally("methods overridden on the object")
    if not hasattr(THEIRS[name], method):
        pytest.skip(f"dspy's {THEIRS[name].__name__} has no {method}")
    sides = []
    for engine in ("dspy", "ours"):
        adapter = made(name, base_of(engine, name))
        setattr(adapter, method, lambda *given, **keywords: deepcopy(OWN.get(method, "Own text.")))
        sides.append(whole(engine, name, adapter))
    for (what, theirs), (_, mine) in zip(*sides, strict=True):
        tally.add(f"{method} {what}", divergence(outcome(theirs), outcome(mine)))
    tally.report(record)


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml"])
@pytest.mark.parametrize("notation", ["live", "source"])
def test_a_field_with_its_value_has_the_info_that_dspy_gives_it(name: str, notation: str, record: Record) -> None:
    """Overrides of `format_field_with_value` read `field.info`, whatever notation the signature came from."""
    from adapters.signatures import notation as read

    source = (
        "import dspy\nclass S(dspy.Signature):\n"
        '    q: str = dspy.InputField(desc="asked")\n    a: list[int] = dspy.OutputField()\n'
    )
    names: dict[str, Any] = {"dspy": dspy, "__name__": "source"}
    exec(source, names)  # noqa: S102
    tally = Tally("fields with their values")

    def overridden(base: type) -> Any:
        def method(self: Any, fields_with_values: Any, **keywords: Any) -> str:
            return "\n".join(f"{reader(field)} = {value}" for field, value in fields_with_values.items())

        return type("Mine", (base,), {"format_field_with_value": method})()

    mine = Signature.from_dspy(names["S"]) if notation == "live" else read.read(source, "S")
    demos = [{"q": "1", "a": [2]}]
    left = outcome(lambda: overridden(base_of("dspy", name)).format(names["S"], demos, {"q": "x"}))
    right = outcome(lambda: plain(overridden(base_of("ours", name)).format(mine, demos, {"q": "x"})))
    tally.add(f"{name} {notation}", divergence(left, right))
    tally.report(record)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_built_on_a_piece_keeps_its_origins(name: str) -> None:
    signature = Signature.from_dspy(dspy.Signature("q -> a"))
    demos = [{"q": "1", "a": "2"}, {"q": "3", "a": "4"}]
    adapter = made(name, overriding(base_of("ours", name), "format_demos", "other arguments"))
    prompt = adapter.render(signature, demos, {"q": "x"})
    shown = [one for one in prompt.messages if one.turn == "demo 1"]
    assert len(shown) == 2
    assert {segment.kind for one in shown for segment in one.segments} & {"value"}
