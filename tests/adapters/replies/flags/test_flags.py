"""Flags: none on a good reply, the same every time, never an error, each in the glossary, and fast."""

from __future__ import annotations

import datetime
import enum
import inspect
import json
import random
import re
import typing
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import replies, signatures
from oracle.engines import NAMES
from pydantic import BaseModel

import adapters
from adapters import lint as prompt_lint
from adapters.formats import catalog
from adapters.formats.catalog import make
from adapters.formats.two_step import TwoStepAdapter
from adapters.lint import LINTS
from adapters.replies import flags
from adapters.replies.flag import Flag
from adapters.replies.flags.explaining import detectors_of, explain
from adapters.replies.flags.glossary import FLAGS
from adapters.replies.flags.wrong_places import extra_keys
from adapters.replies.reading import Detector, Reading
from adapters.signatures.signature import Field, Signature
from adapters.types import Code, Reasoning
from sessions.running import linting as session_lint
from tests.support.pace import LOOPS_A_SECOND, loops

ADAPTERS = ("chat", "json", "xml", "baml", "markdown")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str
    score: float
    tags: list[str] = []


# Hypothesis also tries strings of the tested code, such as the stop tokens and markers that are flagged.
WORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=30).filter(
    lambda text: re.search(r"<\||</s>|\[\[ ## ", text) is None
)
PLAIN = st.from_regex(r"[A-Za-z][a-z]{1,8}(?: [a-z]{2,8}){0,5}\.?", fullmatch=True).filter(
    lambda text: text.lower() not in ("none", "null", "nan", "true", "false", "inf")
)
NUMBERS = st.integers(-(10**9), 10**9)
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda number: round(number, 3))

GOOD_VALUES: Mapping[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "text": (str, PLAIN),
    "number": (int, NUMBERS),
    "fraction": (float, FLOATS),
    "truth": (bool, st.booleans()),
    "maybe_number": (int | None, NUMBERS | st.none()),
    "maybe_text": (str | None, PLAIN),
    "texts": (list[str], st.lists(PLAIN, max_size=4)),
    "numbers": (list[int], st.lists(NUMBERS, max_size=4)),
    "counts": (dict[str, int], st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), NUMBERS, max_size=3)),
    "choice": (Literal["yes", "no"], st.sampled_from(["yes", "no"])),
    "color": (Color, st.sampled_from(Color)),
    "item": (Item, st.builds(Item, name=PLAIN, score=FLOATS, tags=st.lists(PLAIN, max_size=3))),
    "items": (list[Item], st.lists(st.builds(Item, name=PLAIN, score=FLOATS), max_size=3)),
    "day": (datetime.date, st.dates()),
    "moment": (datetime.datetime, st.datetimes()),
    "price": (Decimal, st.decimals(-1000, 1000, places=2)),
    "why": (Reasoning, st.builds(Reasoning, content=PLAIN)),
    "program": (Code, st.just(Code(code="def f(x):\n    return x + 1"))),
}


def read(adapter: str, text: str, **outputs: Any) -> tuple[Flag, ...]:
    fields = [Field("question", "input"), *(Field(name, "output", kind) for name, kind in outputs.items())]
    return explain(make(adapter).read(Signature.make(fields), text))


def names(adapter: str, text: str, **outputs: Any) -> list[str]:
    return [flag.name for flag in read(adapter, text, **outputs)]


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(data=st.data())
def test_a_well_formed_reply_raises_no_flag(adapter: str, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sorted(GOOD_VALUES)), min_size=1, max_size=5, unique=True))
    signature = Signature.make(
        (Field("question", "input"), *(Field(name, "output", GOOD_VALUES[name][0]) for name in chosen))
    )
    outputs = {name: data.draw(GOOD_VALUES[name][1], label=name) for name in chosen}
    reply = str(make(adapter).format_assistant_message_content(signature, outputs))
    reading = make(adapter).read(signature, reply)
    assert reading.ok
    assert reading.flags == ()
    assert reading.near_misses == ()


@pytest.mark.parametrize("adapter", ["json", "baml", "markdown"])
@given(text=WORDS)
def test_any_text_in_good_json_raises_no_flag_but_for_escapes(adapter: str, text: str) -> None:
    signature = Signature.make((Field("question", "input"), Field("answer", "output")))
    reply = str(make(adapter).format_assistant_message_content(signature, {"answer": text}))
    assert make(adapter).read(signature, reply).flags == ()


def flags_of(detect: Detector, reading: Reading) -> Iterator[Flag]:
    """Yield all flags of a detector, those that are no causes too."""
    for one in detect(reading):
        yield from [one] if isinstance(one, Flag) else flags_of(one, reading)


@pytest.mark.parametrize("name", catalog.NAMES)
@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 100), marks=pytest.mark.slow)], ids=str)
def test_no_detector_raises_and_flags_are_the_same_every_time(seeds: range, name: str) -> None:
    adapter = make(name)
    for seed in seeds:
        rng = random.Random(f"flags {seed} {name}")
        built = signatures.signature(rng)
        for _ in range(10):
            completion = replies.reply(rng, name if name in NAMES else "chat", built)
            reading = adapter.read(built.ours, completion)
            for detect in detectors_of(reading):
                for flag in flags_of(detect, reading):
                    assert flag.name in FLAGS
                    assert flag.field is None or flag.field in built.ours.output_fields
            assert reading.flags == explain(adapter.read(built.ours, completion))
            assert len({(flag.name, flag.field, flag.path) for flag in reading.flags}) == len(reading.flags)


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(
    text=st.text(st.sampled_from("[]{}<>#&;:,\"'`\\ \n\r\u2028\ufeff\ud800\x00aAn1.-") | st.characters(), max_size=80)
)
def test_any_text_at_all_is_explained(adapter: str, text: str) -> None:
    reading = make(adapter).read(
        Signature.make((Field("q", "input"), Field("a", "output"), Field("n", "output", int))), text
    )
    for detect in detectors_of(reading):
        assert all(flag.message for flag in flags_of(detect, reading))
    assert reading.flags == explain(reading)


def test_two_steps_flags_are_those_of_the_extraction() -> None:
    signature = Signature.make((Field("q", "input"), Field("a", "output")))
    reading = TwoStepAdapter().read(signature, "prose", extraction="[[ ## a ## ]]\nx")
    assert [flag.name for flag in reading.flags] == ["completed-marker-missing"]
    assert TwoStepAdapter().read(signature, "prose").flags == ()


def test_a_flag_names_the_field_the_value_and_the_place() -> None:
    (flag,) = read("chat", "[[ ## sure ## ]]\nYes\n[[ ## completed ## ]]", sure=bool)
    assert flag == Flag("bool-from-a-word", "'Yes' in `sure` counts as True.", "sure")
    (flag,) = read("json", '{"a": "x",\n "a": "y"}', a=str)
    assert flag.field == "a"
    assert "line 1" in flag.message
    assert "'y'" in flag.message


def test_a_fraction_for_an_int_is_told_as_one_and_words_around_it_as_words() -> None:
    for adapter, reply in (("chat", "[[ ## n ## ]]\n%s\n[[ ## completed ## ]]"), ("json", '{"n": %s}')):
        (flag,) = read(adapter, reply % "12.5", n=int)
        assert flag.name == "fraction-for-a-whole-number" and "'12.5'" in flag.message
    (flag,) = read("chat", "[[ ## n ## ]]\nabout 12.5\n[[ ## completed ## ]]", n=int)
    assert flag.name == "words-around-value"
    assert read("chat", "[[ ## n ## ]]\n12.5\n[[ ## completed ## ]]", n=float) == ()


def test_a_long_value_is_shown_short() -> None:
    (flag,) = read("chat", f"{'dear ' * 100_000}\n[[ ## a ## ]]\nx\n[[ ## completed ## ]]", a=str)
    assert len(flag.message) < 200


def test_repairs_say_what_was_wrong_with_the_json() -> None:
    (flag,) = [flag for flag in read("json", "{'a': 'x', 'b': True,}", a=str, b=bool) if flag.name == "json-repaired"]
    for word in ("single quotes", "a comma before a closing bracket", "True, False or None", "line 1"):
        assert word in flag.message


def test_a_fence_around_json_is_told_and_nothing_else() -> None:
    assert names("json", '```json\n{"a": "x"}\n```', a=str) == ["fence-dropped"]


def test_prose_around_json_is_told() -> None:
    assert names("json", 'Sure!\n{"a": "x"}\nAnything else?', a=str) == ["text-around-dropped"]


def test_prose_around_tags_is_told() -> None:
    assert names("xml", "Sure!\n<a>x</a>", a=str) == ["text-around-dropped"]


def test_an_escape_that_is_meant_as_one_is_no_flag() -> None:
    assert names("json", r'{"a": "Option B:\nUse it. C:\nMore"}', a=str) == []
    assert names("json", r'{"a": "C:\\new"}', a=str) == []
    assert names("json", r'{"a": "\frac{1}{2}"}', a=str) == ["backslash-is-an-escape"]


def test_extra_keys_are_found_inside_of_lists_and_models() -> None:
    (flag,) = read("json", '{"items": [{"name": "a", "score": 1, "why": "b"}]}', items=list[Item])
    assert flag.name == "extra-keys-of-value-dropped"
    assert "`why`" in flag.message


class Order(BaseModel):
    number: int
    lines: list[Item]
    by_name: dict[str, Item] = {}


def test_extra_keys_are_found_at_every_level_each_once() -> None:
    lines = [{"name": "a", "score": 1, "why": "b"}, {"name": "a", "score": 1, "why": "b", "how": 1}]
    orders = [{"number": 1, "lines": lines, "by": "c", "by_name": {"x": {"name": "a", "score": 1, "when": 0}}}]
    (flag,) = read("json", json.dumps({"orders": orders * 2}), orders=list[Order])
    assert flag.message == "`orders` has JSON keys that its type lacks; they were dropped: `by`, `why`, `how`, `when`."


@pytest.mark.parametrize("annotation", [list, dict, tuple, list[Any], dict[str, Any], tuple[()], str | None, Any])  # type: ignore[misc]
def test_types_that_keep_every_key_drop_none(annotation: Any) -> None:
    for value in ({"a": {"b": [1]}}, [{"a": 1}, [{"b": 2}]]):
        assert extra_keys(annotation, value) == []


@pytest.mark.parametrize(
    "annotation",
    [list[float], dict[str, list[float | None]], tuple[str, float], list, typing.List, typing.Dict | None, Any],  # noqa: UP006
)
def test_numbers_that_are_not_finite_are_found_inside_of_containers(annotation: Any) -> None:
    values = {"dict": '{"x": [1, NaN]}', "tuple": '["x", NaN]'}
    text = next((one for kind, one in values.items() if kind in str(annotation).lower()), "[1, NaN]")
    assert "not-a-finite-number" in names("json", f'{{"a": {text}}}', a=annotation)


class Hostile(BaseModel):
    name: str

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")


def test_a_type_that_raises_in_its_own_hooks_does_no_harm() -> None:
    assert names("json", '{"a": {"name": "x", "b": 1}}', a=Hostile) == ["extra-keys-of-value-dropped"]
    signature = Signature.make((Field("q", "input"), Field("a", "output", Hostile | None)))
    reading = make("chat").read(signature, "[[ ## b ## ]]\n{}")
    assert "all-outputs-filled-in" in [flag.name for flag in reading.flags]
    assert isinstance(reading.near_misses, tuple)


def test_every_name_in_the_code_is_in_the_glossary_and_the_other_way_round() -> None:
    lints_of_sessions = Path(inspect.getfile(session_lint))
    for module, glossary, made in ((flags, FLAGS, "Flag"), (prompt_lint, LINTS, "Lint")):
        files = [*Path(inspect.getfile(module)).parent.glob("*.py"), lints_of_sessions]
        sources = [path.read_text("utf-8") for path in files]
        used = {name for source in sources for name in re.findall(rf'\b{made}\(\s*"([a-z-]+)"', source)}
        assert used == set(glossary)


PATHOLOGICAL = {
    "one long section": "[[ ## a ## ]]\n" + "word " * 200_000,
    "markers": "[[ ## a ## ]]\nx\n" * 30_000,
    "unknown markers": "".join(f"[[ ## f{number} ## ]]\nx\n" for number in range(30_000)),
    "openings of markers": "[[ ## " * 100_000,
    "think": "<think>" * 100_000,
    "quotes": '"\\' * 300_000,
    "braces": "{" * 300_000,
    "one member": '{"a": "' + "x" * 900_000 + '"}',
    "many members": "{" + ", ".join(f'"k{number}": {number}' for number in range(50_000)) + "}",
    "backslashes": '{"a": "' + "\\\\" * 300_000 + '"}',
    "colons": '{"a": "' + "C:\\\\new " * 100_000 + '"}',
    "commas": '{"a": "x"' + "," * 100_000 + "}",
    "white space": "[[ ## a ## ]]\n" + " " * 500_000 + "x",
    "ampersands": "<a>" + "&" * 500_000 + "</a>",
    "tags": "<b>x</b>" * 60_000,
    "one tag": "<a>" + "<b>x</b>" * 60_000 + "</a>",
    "bullets": "[[ ## n ## ]]\n" + "- x\n" * 100_000,
    "digits": "[[ ## n ## ]]\n" + "1,000" * 100_000,
}


@pytest.mark.parametrize("adapter", ["chat", *(pytest.param(one, marks=pytest.mark.slow) for one in ("json", "xml"))])
@pytest.mark.parametrize("shape", PATHOLOGICAL)
def test_a_reply_of_a_megabyte_is_explained_at_once(adapter: str, shape: str) -> None:
    signature = Signature.make((Field("q", "input"), Field("a", "output"), Field("n", "output", int | None)))
    reading = make(adapter).read(signature, PATHOLOGICAL[shape])

    def explained() -> None:
        assert isinstance(explain(reading), tuple)
        assert isinstance(reading.near_misses, tuple)

    assert loops(explained, tries=1) < 2 * LOOPS_A_SECOND


@pytest.mark.parametrize("adapter", ["json", "baml"])
def test_an_object_without_its_opening_brace_is_not_taken_for_one_of_its_values(adapter: str) -> None:
    reading = adapters.read("q -> one: dict, two: list", '"one": {"a": 1},\n"two": [{"b": 2}]}', adapter=adapter)
    assert reading.values == {"one": {"a": 1}, "two": [{"b": 2}]}
    flags = [(one.name, one.message[:36]) for one in reading.flags]
    assert flags == [("json-repaired", "The { before the object is missing; ")]


@pytest.mark.parametrize(
    ("adapter", "reply"),
    [
        ("json", '{"mood": "a "tags": ["a", "b"]}'),
        ("chat", '[[ ## mood ## ]]\n"a\n\n[[ ## tags ## ]]\n["a"]\n\n[[ ## completed ## ]]'),
    ],
)
def test_a_quote_that_is_not_closed_is_the_cause_and_not_words_around_the_value(adapter: str, reply: str) -> None:
    names = [flag.name for flag in read(adapter, reply, mood=Literal["a", "b"], tags=list[str]) if flag.field == "mood"]
    assert names.count("quote-not-closed") == 1
    assert not {"words-around-value", "value-in-another-case"} & {*names}
