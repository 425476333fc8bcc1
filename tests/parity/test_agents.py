"""The inner signatures of dspy's agents, to the byte: drawn signatures and tools, dspy's modules beside ours."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import dspy
import pytest
from dspy.predict import CodeAct
from dspy.predict.refine import OfferFeedback
from dspy.utils import DummyLM
from hypothesis import given
from hypothesis import strategies as st

from adapters.formats import catalog
from adapters.signatures.agents import Module, inner_signatures, parsed_code, tool_text
from adapters.signatures.signature import Signature
from sessions.imports import proposing
from sessions.model.session import Case, Column, Predictor, Session, SignatureText, Tool
from sessions.running import rendering

FIELDS = ("question: str", "context: list[str]", "text", "limit: int")
OUTPUTS = ("answer: str", "score: float", "label: Literal['a', 'b']", "items: list[str]")


def search(query: str, k: int = 5) -> str:
    """Search the web.

    Returns text.
    """
    return query * k


def add(a: float, b: float) -> float:
    return a + b


def look(places: list[str], how: Literal["up", "down"] = "up", more: dict[str, Any] | None = None) -> str:
    """Look it up in 'places' {and} "more"."""
    return ""


TOOLS: tuple[Callable[..., Any], ...] = (search, add, look)


def drawn(seed: int) -> tuple[Any, list[dspy.Tool]]:
    rng = random.Random(f"agent {seed}")
    inputs = ", ".join(rng.sample(FIELDS, rng.randint(1, 3)))
    outputs = ", ".join(rng.sample(OUTPUTS, rng.randint(1, 3)))
    instructions = rng.choice((None, "Be brief.", "Answer.\n\n    - as a list\n  Be kind."))
    signature = dspy.Signature(f"{inputs} -> {outputs}")
    if instructions is not None:
        signature = signature.with_instructions(instructions)
    return signature, [dspy.Tool(one) for one in rng.sample(TOOLS, rng.randint(0, 3))]


def predictors(module: Module, signature: Any, tools: list[dspy.Tool]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if module == "react":
            made: Any = dspy.ReAct(signature, tools)
        elif module == "code-act":
            made = CodeAct(signature, tools)
        else:
            made = dspy.ProgramOfThought(signature)
    return {name.removesuffix(".predict"): one.signature for name, one in made.named_predictors()}


@pytest.mark.parametrize("module", ["react", "code-act", "program-of-thought"])
def test_every_inner_prompt_is_that_of_dspy(module: Module) -> None:
    for seed in range(20):
        signature, tools = drawn(seed)
        theirs = predictors(module, signature, tools)
        ours = inner_signatures(
            module,
            Signature.from_dspy(signature),
            {one.name: tool_text(one.name, one.desc or "", one.args) for one in tools},
        )
        assert [one.name for one in ours] == list(theirs), seed
        for one in ours:
            made = one.signature.chain_of_thought() if one.is_chain_of_thought else one.signature
            live = theirs[one.name]
            assert made.instructions == live.instructions, (seed, one.name)
            inputs = dict.fromkeys(live.input_fields, "x")
            for name, adapter in (("chat", dspy.ChatAdapter()), ("json", dspy.JSONAdapter())):
                assert catalog.make(name, {}).format(made, [], inputs) == adapter.format(live, [], inputs), (seed, name)


def test_the_feedback_and_the_hint_of_refine_are_those_of_dspy() -> None:
    signature, _ = drawn(3)
    hinted, feedback = inner_signatures("refine", Signature.from_dspy(signature), {})
    hint = dspy.InputField(desc="A hint to the module from an earlier run")
    for ours, theirs in ((hinted, signature.append("hint_", hint)), (feedback, OfferFeedback)):
        inputs = dict.fromkeys(theirs.input_fields, "x")
        assert ours.signature.instructions == theirs.instructions
        for name, adapter in (("chat", dspy.ChatAdapter()), ("json", dspy.JSONAdapter())):
            assert catalog.make(name, {}).format(ours.signature, [], inputs) == adapter.format(theirs, [], inputs)


STEPS = (
    {"thought": "a [[ ## x ## ]]", "tool_name": "search", "tool_args": {"query": "é", "k": 2}, "observation": "xx"},
    {"thought": "", "tool_name": "add", "tool_args": {}, "observation": 3.0},
    {"thought": "b", "tool_name": "add", "tool_args": {"a": [1]}, "observation": {"x": None}},
    {"thought": "c", "tool_name": "look", "tool_args": {}, "observation": ["[/x]", "two\nlines"]},
    {"thought": "d", "tool_name": "finish", "tool_args": {}, "observation": "Completed."},
)


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(at, marks=pytest.mark.slow) for at in range(5, 20))])
def test_a_session_of_an_agent_has_the_prompts_of_five_steps(seed: int) -> None:
    signature, tools = drawn(seed)
    agent = dspy.ReAct(signature, tools)
    written = proposing.in_source(Signature.from_dspy(signature))
    described = tuple(Tool(one.name, one.desc or "", {"type": "object", "properties": one.args}) for one in tools)
    values = dict.fromkeys(signature.input_fields, "x")
    for name, adapter in (("chat", dspy.ChatAdapter()), ("json", dspy.JSONAdapter()), ("xml", dspy.XMLAdapter())):
        for count in range(len(STEPS) + 1):
            steps = {f"{key}_{at}": one for at, step in enumerate(STEPS[:count]) for key, one in step.items()}
            with dspy.context(adapter=adapter):
                inputs = {**values, "trajectory": agent._format_trajectory(steps)}
            for part, live in (("ReAct.react", agent.react), ("ReAct.extract", agent.extract.predict)):
                text = replace(written, predictor=part)
                case = Case("c", values, history=STEPS[:count])
                session = Session(text, columns=(Column(name, name),), cases=(case,), tools=described)
                ours = rendering.request_of(session, session.columns[0], case).prompt.as_dicts()
                assert ours == adapter.format(live.signature, [], inputs), (name, count, part)


ANSWERS: Sequence[Mapping[str, Any]] = (
    {"generated_code": "```python\nx = 1\nx = 'é'\n```", "finished": False},
    {"generated_code": "a = b = 2", "finished": False},
    {"generated_code": "print(2)\n---\nDone.", "finished": False},
    {"generated_code": "```python\nprint(3)\n", "finished": True},
    {"reasoning": "r", "answer": "3", "note": ""},
)


class Interpreter:
    """Give the same output for any code, and an error for the second reply's."""

    def __init__(self) -> None:
        self.runs = 0
        self.tools: dict[str, Any] = {}

    def start(self) -> None:
        """Do nothing."""

    shutdown = start

    def execute(self, code: str, variables: object = None) -> str:
        self.runs += 1
        if self.runs == 3:  # the first run defines the tool
            raise SyntaxError("bad")
        return "3 é\n"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["chat", "json", "xml"])
def test_a_session_of_a_code_act_has_the_prompts_of_its_steps(name: str) -> None:
    signature = "question -> answer, note"
    adapter = {"chat": dspy.ChatAdapter, "json": dspy.JSONAdapter, "xml": dspy.XMLAdapter}[name]()
    lm = DummyLM([dict(one) for one in ANSWERS], adapter=adapter)
    with dspy.context(lm=lm, adapter=adapter):
        done = CodeAct(signature, [search])(Interpreter(), question="x")
    case = Case("c", {"question": "x"})
    tool = dspy.Tool(search)
    tools = (Tool(tool.name, tool.desc or "", {"type": "object", "properties": tool.args}),)
    for count, sent in enumerate(lm.history):
        steps: list[dict[str, Any]] = [{} for _ in range(count)]
        for key, value in done.trajectory.items():
            field, _, number = key.rpartition("_")
            if int(number) < count:
                steps[int(number)][field] = value
        part: Predictor = "CodeAct.codeact" if count < len(ANSWERS) - 1 else "CodeAct.extractor"
        session = Session(SignatureText(signature, predictor=part), columns=(Column(name, name),), tools=tools)
        made = rendering.request_of(session, session.columns[0], replace(case, history=tuple(steps)))
        assert made.prompt.as_dicts() == sent["messages"], count
    assert [parsed_code(one["generated_code"]) for one in ANSWERS[:4]] == [
        ("x = 1\nx = 'é'\nx", ""),
        ("a = b = 2", "Error: Code format is not correct."),
        ("print(2)\n", ""),
        ("```python\nprint(3)\n", ""),
    ]


@given(st.lists(st.sampled_from(["```python", "```", "\n", " ", "x =", "=", "---", "1", "y == 2"]), max_size=12))
def test_code_is_taken_from_a_reply_as_dspy_takes_it(parts: list[str]) -> None:
    code = "".join(parts)
    theirs, problem = dspy.ProgramOfThought._parse_code(None, {"generated_code": code})
    assert parsed_code(code) == (theirs, problem or "")
