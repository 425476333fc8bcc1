"""Shapes at the edge of what an adapter can be given: none of a kind, the wrong kind, too many."""

from __future__ import annotations

from typing import Any

import dspy
import pytest
from oracle import compare, signatures
from oracle.engines import NAMES
from oracle.specs import Built
from oracle.tally import Record, Tally

from adapters.signatures.signature import Signature


def live(**fields: Any) -> Built:
    made = signatures.make(dict(fields))
    return Built(made, Signature.from_dspy(made), {})


def asked(kind: Any = str) -> Any:
    return kind, dspy.InputField()


def wanted(kind: Any = str) -> Any:
    return kind, dspy.OutputField()


PLAIN = live(q=asked(), a=wanted(), n=wanted(int))
TALK = live(q=asked(), talk=asked(dspy.History), a=wanted())
TWO_TALKS = live(q=asked(), talk=asked(dspy.History), other=asked(dspy.History), a=wanted())
NO_INPUTS, NO_OUTPUTS, NOTHING = live(a=wanted()), live(q=asked()), live()
DEMO = {"q": 1, "a": 2, "n": 3}


def turns(*messages: Any) -> Any:
    return dspy.History(messages=list(messages))


CASES: dict[str, tuple[Built, Any, dict[str, Any]]] = {
    "no fields at all": (NOTHING, [], {}),
    "no inputs": (NO_INPUTS, [], {}),
    "no inputs, a demo": (NO_INPUTS, [{"a": 1}], {}),
    "no outputs": (NO_OUTPUTS, [], {"q": 1}),
    "no outputs, a demo": (NO_OUTPUTS, [{"q": 1}], {"q": 2}),
    "nothing given": (PLAIN, [], {}),
    "an input of None": (PLAIN, [], {"q": None}),
    "demos in a tuple": (PLAIN, (DEMO,), {"q": 1}),
    "a demo that is dspy's example": (PLAIN, [dspy.Example(**DEMO)], {"q": 1}),
    "a demo that is None": (PLAIN, [None], {"q": 1}),
    "a demo that is a text": (PLAIN, ["q"], {"q": 1}),
    "an empty demo": (PLAIN, [{}], {"q": 1}),
    "a demo with an output of None": (PLAIN, [{**DEMO, "n": None}], {"q": None}),
    "a demo with a key of no field": (PLAIN, [{**DEMO, "augmented": True}], {}),
    "the same demo twice": (PLAIN, [DEMO, DEMO], {"q": 1}),
    "no history given": (TALK, [], {"q": "x"}),
    "a history of None": (TALK, [], {"q": "x", "talk": None}),
    "a history that is a list": (TALK, [], {"q": "x", "talk": []}),
    "an empty history": (TALK, [], {"talk": turns()}),
    "turns with odd keys": (
        TALK,
        [],
        {"q": "x", "talk": turns({"q": "1", "a": "2", "zzz": 3}, {}, {"zzz": 1}, {"a": None}, {"q": None})},
    ),
    "a history and a complete demo": (
        TALK,
        [{"q": 1, "a": 2}, {"q": 1, "a": 2, "talk": turns()}],
        {"q": 3, "talk": turns()},
    ),
    "two histories": (TWO_TALKS, [], {"q": "x", "talk": turns({"q": "1"}), "other": turns({"q": "2"})}),
}


@pytest.mark.parametrize("name", NAMES)
def test_prompts_at_the_edge(name: str, record: Record) -> None:
    tally = Tally("prompts at the edge")
    for case, (built, demos, inputs) in CASES.items():
        tally.add(case, compare.formatting(name, built, demos, inputs))
    tally.report(record)


REPLIES = {
    "chat": ("[[ ## a ## ]]x[[ ## n ## ]]1", "[[ ## a ## ]]\n[[ ## n ## ]]\n", "[[ ## a ## ]]\r[[ ## n ## ]]\r1"),
    "json": ("{}", "[]", "null", '"x"', '{"a": null, "n": null}', '{"n": 1, "a": 2, "n": 3}', "{" * 50),
    "xml": ("<a/><n/>", "<a>x</a><n>1</n>", "<n>1</n><a>x</a><a>y</a>", "x", "<a>&#10;</a><n> 1 </n>", "<a>\ud800</a>"),
    "baml": ("{}", "{a: x, n: 1}", '{"a": "x", "n": "1"}'),
}


@pytest.mark.parametrize("name", REPLIES)
def test_replies_at_the_edge(name: str, record: Record) -> None:
    tally = Tally("replies at the edge")
    for completion in ("", " ", "\n", *REPLIES[name]):
        for shape, built in {"plain": PLAIN, "no outputs": NO_OUTPUTS, "nothing": NOTHING, "talk": TALK}.items():
            tally.add(f"{shape} {completion!r}", compare.parsing(name, built, completion))
    tally.report(record)
