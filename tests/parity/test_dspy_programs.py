"""dspy's own programs with an adapter of ours in place of dspy's: same prompts, same predictions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import dspy
import pydantic
import pytest
from dspy.utils import DummyLM
from oracle.bridge import Bridge
from oracle.engines import ours, theirs
from oracle.outcomes import Outcome, difference, divergence, outcome, plain
from oracle.tally import Record, Tally


class Person(pydantic.BaseModel):
    name: str
    age: int


class Extract(dspy.Signature):  # type: ignore[misc]
    """Extract the people."""

    text: str = dspy.InputField(desc="a report")
    people: list[Person] = dspy.OutputField(desc="who is in it")
    mood: Literal["good", "bad"] = dspy.OutputField()


class Chat(dspy.Signature):  # type: ignore[misc]
    question: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    answer: str = dspy.OutputField()


def search(query: str) -> str:
    """Search the web."""
    return f"found {query}"


def predict() -> Any:
    return dspy.Predict("question -> answer")(question="What color is the sky?")


def predict_with_demos() -> Any:
    program = dspy.Predict("question -> answer")
    program.demos = [
        dspy.Example(question="Grass?", answer="green"),
        dspy.Example(question="Coal?"),
        {"question": "Snow?", "answer": None},
    ]
    return program(question="What color is the sky?")


def chain_of_thought() -> Any:
    return dspy.ChainOfThought("question, context: list[str] -> answer: float")(
        question="How much?", context=["a", "b\nc"]
    )


def extraction() -> Any:
    return dspy.Predict(Extract)(text="Ann (31) and Bob (40) are here.")


def conversation() -> Any:
    turns = dspy.History(messages=[{"question": "Who?", "answer": "Me."}, {"question": "Why?"}])
    return dspy.Predict(Chat)(question="And now?", history=turns)


def react() -> Any:
    return dspy.ReAct("question -> answer", tools=[search], max_iters=2)(question="What is it?")


PERSON = {"people": [{"name": "Ann", "age": 31}, {"name": "Bob", "age": "40"}], "mood": "good"}
STEP = {"next_thought": "look", "next_tool_name": "search", "next_tool_args": {"query": "it"}}
DONE = {"next_thought": "done", "next_tool_name": "finish", "next_tool_args": {}}

PROGRAMS: dict[str, tuple[Callable[[], Any], list[dict[str, Any]]]] = {
    "predict": (predict, [{"answer": "blue"}]),
    "predict with demos": (predict_with_demos, [{"answer": "blue"}]),
    "chain of thought": (chain_of_thought, [{"reasoning": "because", "answer": "12.5"}]),
    "chain of thought, asked again": (
        chain_of_thought,
        [{"reasoning": "because", "answer": "a lot"}, {"reasoning": "r", "answer": 3}],
    ),
    "extraction": (extraction, [PERSON]),
    "extraction, a wrong value": (extraction, [{**PERSON, "mood": "so-so"}, {**PERSON, "mood": "bad"}]),
    "conversation": (conversation, [{"answer": "Here."}]),
    "react": (react, [STEP, DONE, {"reasoning": "r", "answer": "it"}]),
    "nothing that parses": (predict, [{"wrong": "x"}, {"wrong": "y"}, {"wrong": "z"}]),
}


def run(adapter: Any, name: str, program: str, call: Callable[[Callable[[], Any]], Any]) -> tuple[Outcome, Any]:
    function, answers = PROGRAMS[program]
    lm = DummyLM([dict(one) for one in answers], adapter=theirs(name))
    with dspy.context(lm=lm, adapter=adapter):
        made = outcome(lambda: call(function).toDict())
    return made, [plain(one["messages"]) for one in lm.history]


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml"])
def test_predictions_are_the_same(name: str, record: Record) -> None:
    tally = Tally(f"dspy programs over the bridge, {name}")
    for program in PROGRAMS:
        left, their_messages = run(theirs(name), name, program, lambda function: function())
        right, our_messages = run(Bridge(ours(name)), name, program, lambda function: function())
        found = difference(their_messages, our_messages, at="messages") or divergence(left, right)
        tally.add(program, found)
    tally.report(record)


def test_asynchronous_predictions_are_the_same(record: Record) -> None:
    tally = Tally("dspy programs over the bridge, asynchronous")
    for name in ("chat", "json", "xml", "baml"):

        def run_program(adapter: Any) -> Outcome:
            lm = DummyLM([{"answer": "blue"}], adapter=theirs(name))  # noqa: B023
            with dspy.context(lm=lm, adapter=adapter):
                program = dspy.Predict("question -> answer")
                return outcome(lambda: asyncio.run(program.acall(question="What color is the sky?")).toDict())

        tally.add(name, divergence(run_program(theirs(name)), run_program(Bridge(ours(name)))))
    tally.report(record)
