"""Defaults of outputs: computed when dspy computes them, as often, and what they raise is what dspy raises."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import dspy
import pytest
from oracle.engines import NAMES, ours, theirs
from oracle.outcomes import divergence, outcome, plain
from oracle.tally import Record, Tally

from adapters.replies.reading import Reading
from adapters.signatures.signature import Signature


def broken() -> int:
    raise ZeroDivisionError("no default today")


DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "a factory that raises": {"default_factory": broken},
    "a factory that wants the validated data": {"default_factory": lambda data: 1},
    "a default that cannot be copied": {"default": threading.Lock()},
    "a default of its own kind": {"default": {"x": [1]}},
    "an empty list": {"default": []},
    "a factory": {"default_factory": dict},
}
REPLIES: Mapping[str, Mapping[str, str]] = {
    "refused": {
        "chat": "[[ ## b ## ]]\nx",
        "json": '{"b": "x"}',
        "xml": "<b>x</b>",
    },
    "without any field": {"chat": "junk", "json": "junk", "xml": "junk"},
    "without the field of the default": {"chat": "[[ ## b ## ]]\n1", "json": '{"b": 1}', "xml": "<b>1</b>"},
    "whole": {"chat": "[[ ## a ## ]]\n2\n[[ ## b ## ]]\n1", "json": '{"a": 2, "b": 1}', "xml": "<a>2</a><b>1</b>"},
}
TEXT = [name for name in NAMES if name != "twostep"]


def asked(options: Mapping[str, Any]) -> Any:
    return dspy.Signature(
        {"q": (str, dspy.InputField()), "a": (object, dspy.OutputField(**options)), "b": (int, dspy.OutputField())}
    )


@pytest.mark.parametrize("name", TEXT)
def test_a_default_is_what_dspy_makes_of_it_or_raises_what_dspy_raises(name: str, record: Record) -> None:
    tally = Tally("defaults of outputs")
    for what, options in DEFAULTS.items():
        signature = asked(options)
        for which, replies in REPLIES.items():
            reply = replies.get(name, replies["json"])
            left = outcome(lambda: plain(theirs(name).parse(signature, reply)))  # noqa: B023
            right = outcome(lambda: plain(ours(name).parse(Signature.from_dspy(signature), reply)))  # noqa: B023
            tally.add(f"{what}, {which}", divergence(left, right))
    tally.report(record)


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("reply", list(REPLIES))
def test_a_factory_is_asked_as_often_as_dspy_asks_it(name: str, reply: str) -> None:
    counts = []
    for make, convert in ((theirs, lambda one: one), (ours, Signature.from_dspy)):
        made: list[int] = []
        signature = asked({"default_factory": lambda: made.append(1) or 7})  # noqa: B023
        outcome(lambda: make(name).parse(convert(signature), REPLIES[reply].get(name, REPLIES[reply]["json"])))  # noqa: B023
        counts.append(len(made))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", [*TEXT, "markdown"])
@pytest.mark.parametrize("what", list(DEFAULTS))
def test_reading_never_raises_whatever_a_default_does(name: str, what: str) -> None:
    from adapters.formats.catalog import make

    signature = Signature.from_dspy(asked(DEFAULTS[what]))
    for replies in REPLIES.values():
        for reply in replies.values():
            reading = make(name).read(signature, reply)
            assert isinstance(reading, Reading)
            assert isinstance(reading.flags, tuple)
            assert isinstance(reading.near_misses, tuple)
            assert reading.ok or reading.error is not None
