"""Long replies: Python looks for no garbage meanwhile, and hostile ones end within their steps."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pydantic
import pytest

from adapters import InputField, OutputField, Signature
from adapters.formats.base import LONG_REPLY
from adapters.formats.catalog import make
from adapters.formats.xml_reading import MOST_REPEATS
from adapters.json_text.repair_limits import REPAIR_STEPS
from adapters.json_text.repaired_json import repair_json
from tests.support.pace import LOOPS_A_SECOND, loops


class Node(pydantic.BaseModel):
    name: str
    children: list[Node] = []


NODES = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), list[Node])


@contextmanager
def searches() -> Iterator[list[str]]:
    """The searches for garbage that begin within the block."""
    found: list[str] = []

    def tell(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            found.append(phase)

    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.callbacks.append(tell)
    try:
        yield found
    finally:
        gc.callbacks.remove(tell)
        gc.set_threshold(*before)


def reply(count: int) -> str:
    return json.dumps({"v": [{"name": f"node {number}"} for number in range(count)]})


def test_garbage_is_not_looked_for_while_a_long_reply_is_parsed() -> None:
    text = reply(10_000)
    adapter = make("json")
    adapter.read(NODES, reply(1))
    assert len(text) > LONG_REPLY
    with searches() as within:
        reading = adapter.read(NODES, text)
    assert reading.ok
    assert len(reading.values["v"]) == 10_000
    assert len(within) <= 2, "one before it and one after it"
    assert gc.isenabled()
    with searches() as later:
        kept = [[number] for number in range(10_000)]
    assert len(kept) == 10_000
    assert later


@pytest.mark.parametrize("is_valid", [True, False])
def test_a_program_that_looks_for_no_garbage_is_left_so(is_valid: bool) -> None:
    gc.disable()
    try:
        make("json").read(NODES, reply(1_000) if is_valid else "no JSON " * 2_000)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nested_openings_end_within_the_steps_of_a_reading() -> None:
    text = "{[" * 49_500
    reading = make("chat").read(NODES, f"[[ ## v ## ]]\n{text}")
    assert reading.error is not None
    assert "too large to read" in reading.error.message
    assert reading.repair_steps > REPAIR_STEPS
    with pytest.raises(ValueError, match="too large to read"):
        repair_json(text)


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("<v>x</v>", "<b/>", ""),
        ("<v>x</v> ", "<b>x</b>", "<v>y</v>"),
        ("", "<v> x </v>", ""),
        ("<v/>", "<v> </v>", "\n<w>z</w>"),
        ("<v/>", "<v/>", "<v>x</v>"),
        ("a<b/>", "<v>x<c> y</c></v>", "<v>z</v>"),
        ("", '<entry key="v"> x</entry>', "b"),
    ],
)
def test_elements_in_a_long_row_differ_in_their_spans_alone(before: str, unit: str, after: str) -> None:
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), list[str])
    text = f"{before}{unit * (MOST_REPEATS + 2)}{after}"
    reading = make("xml").read(signature, text)
    assert "".join([text[one.start : one.end] for one in reading.spans]) == text
    assert len(reading.spans) < 20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adapters.formats.xml_reading.MOST_REPEATS", MOST_REPEATS + 2)
        apart = make("xml").read(signature, text)
    assert len(apart.spans) > MOST_REPEATS
    assert (reading.values, reading.fields, reading.error) == (apart.values, apart.fields, apart.error)
    assert (reading.flags, reading.diagnosis) == (apart.flags, apart.diagnosis)


MILLION = 1_000_000
LONG = {
    "elements in a row": ("xml", "<v>x</v>" + "<b/>" * MILLION),
    "the answer in a row": ("xml", "<v>x</v>" * MILLION),
    "a broken object of one key": ("json", "{" + '"v": 1, ' * MILLION + ",}"),
    "white space before a marker": ("chat", " " * (10 * MILLION) + "[[ ## v ## ]]\nx"),
    "opening brackets": ("chat", "[[ ## v ## ]]\n" + "[" * (10 * MILLION)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_millions_of_pieces_are_read_and_explained_at_once(name: str) -> None:
    adapter, text = LONG[name]
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), str)

    def explained() -> None:
        assert isinstance(make(adapter).read(signature, text).diagnosis, tuple)

    assert loops(explained, tries=1) < 2 * LOOPS_A_SECOND
