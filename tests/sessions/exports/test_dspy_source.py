"""The exported module, run under dspy, makes the very same messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions import examples
from sessions.exports.dspy_source import OTHER_ORDER, dspy_source
from sessions.exports.exported import Exported, source_of
from sessions.model.session import Case, Column, Demo, Predictor, Session, SignatureText, Tool, Variant
from sessions.running import rendering
from tests.adapters.signatures.notation_sources import SOURCES
from tests.adapters.signatures.notation_strings import STRINGS

ADAPTERS = ("chat", "json", "xml", "baml", "twostep")

RUN = """
import importlib.util, json, sys
import dspy
from dspy.utils import DummyLM

class Stop(BaseException):
    pass

class Asked(dspy.LM):
    def forward(self, prompt=None, messages=None, **kwargs):
        self.asked = messages
        raise Stop

for path in sys.argv[2:]:
    spec = importlib.util.spec_from_file_location("exported", path)
    module = sys.modules["exported"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = getattr(module, "run_", None) or module.run
    lm = DummyLM([{"nothing": "that parses"}] * 5) if sys.argv[1] == "offline" else Asked(sys.argv[1])
    said = None
    try:
        run(lm)
    except (Exception, Stop) as error:
        said = f"{type(error).__name__}: {error}"[:500]
    messages = lm.history[0]["messages"] if lm.history else getattr(lm, "asked", said)
    print(json.dumps({"messages": messages}))
"""


def session(written: str, /, *demos: Any, class_name: str | None = None, history: Any = (), **inputs: Any) -> Session:
    case = Case("case 1", inputs, tuple(history))
    columns = tuple(Column(name, name) for name in ADAPTERS)
    return Session(SignatureText(written, class_name), tuple(Demo(one) for one in demos), columns, (case,))


SOURCE = '''
import dspy
from enum import Enum
from pydantic import BaseModel, Field
from typing import Literal, Optional

class Mood(Enum):
    GOOD = "good"
    BAD = "bad"

class Item(BaseModel):
    """One thing."""
    name: str = Field(description="what it is {braces} \\\\n")
    price: Optional[float] = Field(default=None, ge=0)

class Find(dspy.Signature):
    """Find "things" in a text: C:\\\\temp, 'quotes'.

        - indented
    """
    text: str = dspy.InputField(desc="any text")
    limit: int = dspy.InputField(default=3)
    config_of: dict[str, list[int]] = dspy.InputField()
    items: list[Item] = dspy.OutputField(desc="all of them", max_length=4)
    mood: Mood = dspy.OutputField(prefix="Feels:")
    verdict: Literal["yes", "it's"] = dspy.OutputField()
'''
HOSTILE = "\x1b[31m \x00 \u2028 {{x}} {% y %} [bold] '''quotes''' \"\"\" \\n \\ é\r\nend\n"
TYPES = """
import dspy

class See(dspy.Signature):
    picture: dspy.Image = dspy.InputField()
    pictures: list[dspy.Image] = dspy.InputField()
    sound: dspy.Audio = dspy.InputField()
    program: dspy.Code["python"] = dspy.InputField()
    document: dspy.File = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    history: dspy.History = dspy.InputField()
    calls: dspy.ToolCalls = dspy.OutputField()
    thoughts: dspy.Reasoning = dspy.OutputField()
    answer: str = dspy.OutputField()
"""
PIXEL = "data:image/png;base64,iVBORw0KGgo="
SEEN = {
    "picture": {"url": PIXEL},
    "pictures": [{"url": "https://example.org/a.png"}, PIXEL],
    "sound": {"data": "UklGRg==", "audio_format": "wav"},
    "program": "print('a')\n# b",
    "document": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
    "tools": [{"name": "search", "desc": "Search.", "args": {"query": {"type": "string"}}}],
}
ANSWERED = {"calls": {"tool_calls": [{"name": "search", "args": {"query": "x"}}]}, "thoughts": "hm", "answer": "a"}

SURROGATE = session("text -> answer", {"text": "\udc80", "answer": "\ud800\n" * 20}, text="\udc80")
"""What dspy itself sends to no model."""

SESSIONS: dict[str, Session] = {
    "lone surrogates": SURROGATE,
    **{name: examples.load(name) for name in examples.NAMES},
    "a string": session("question, context: list[str] -> answer: float", question="Q?", context=["a", "b\nc"]),
    "a class with models": session(
        SOURCE,
        {"text": "a", "limit": 1, "config_of": {"x": [1]}, "items": [{"name": "n"}], "mood": "good", "verdict": "yes"},
        {"text": "incomplete", "items": []},
        {"text": "dropped"},
        class_name="Find",
        text="T",
        config_of={"b": [2, 3], "a": []},
    ),
    "hostile texts": session("text -> answer", {"text": HOSTILE, "answer": HOSTILE}, text=HOSTILE),
    "thinking": replace(
        session("question -> answer", {"question": "q", "reasoning": "r", "answer": "a"}, question="Q?"),
        signature=SignatureText("question -> answer", predictor="ChainOfThought", instructions="Think\n\n  hard."),
    ),
    "custom types": session(TYPES, {**SEEN, **ANSWERED}, class_name="See", history=[{"answer": "before"}], **SEEN),
    "instructions no docstring can hold": replace(
        session("a -> b", a="1"), signature=SignatureText("a -> b", instructions="  indented\n\tand a tab  \n\n")
    ),
    "tools": replace(
        session("question -> answer", {"question": "q", "answer": "a"}, question="Q?"),
        tools=(
            Tool("search", "Searches\nthe web.", "query: str, limit: int = 5"),
            Tool(
                "look", parameters={"type": "object", "properties": {"at": {"type": "string", "description": "what"}}}
            ),
        ),
    ),
    "tools, thinking, with fields of its own": replace(
        session("question, tools: list[dspy.Tool] -> answer, calls: dspy.ToolCalls", question="Q?"),
        signature=SignatureText(
            "question, tools: list[dspy.Tool] -> answer, calls: dspy.ToolCalls", predictor="ChainOfThought"
        ),
        tools=(Tool("search", "Searches.", "query: str"),),
    ),
    "the tools of an agent": replace(
        session("question -> answer", question="Q?"),
        signature=SignatureText("question -> answer", predictor="ReAct.react"),
        tools=(Tool("search", "Searches.", "query: str"),),
    ),
    "a class whose instructions are others": replace(
        session(SOURCE, text="T", config_of={"b": [2, 3]}),
        signature=SignatureText(SOURCE, "Find", "ChainOfThought", instructions="Find  it.\n\n\tNow."),
    ),
    "names of our own": session(
        "import dspy\nclass run(dspy.Signature):\n    inputs: str = dspy.InputField()\n"
        "    predict: str = dspy.OutputField()\n",
        class_name="run",
        inputs="i",
    ),
}


def views() -> Iterator[tuple[str, Session, Column, Case]]:
    for name, one in SESSIONS.items():
        for adapter in ADAPTERS:
            for case in one.cases:
                if one is not SURROGATE and (name, adapter) != (
                    "invoice",
                    "baml",
                ):  # dspy's BAML refuses a model that is used twice
                    yield f"{name}, {adapter}, {case.name}", one, Column(adapter, adapter), case


Asked = tuple[str, Session, Column, Case]


def different(asked: list[Asked], model: str, folder: Path) -> list[str]:
    """The names of those whose exported module makes other messages under dspy than the workbench shows."""
    wanted, paths = [], []
    for number, (_, one, column, case) in enumerate(asked):
        path = folder / f"exported_{number}.py"
        path.write_text(dspy_source(source_of(one, [column], [case])).text, encoding="utf-8")
        wanted.append(json.loads(json.dumps(rendering.request_of(one, column, case).prompt.as_dicts())))
        paths.append(str(path))
    environment = {**os.environ, "MODEL": "openai/none", "DSPY_CACHEDIR": str(folder / "cache")}
    words = [sys.executable, "-W", "ignore", "-c", RUN, model, *paths]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    made = [json.loads(line)["messages"] for line in done.stdout.splitlines() if line.startswith('{"messages"')]
    return [name for (name, *_), ours, theirs in zip(asked, wanted, made, strict=True) if ours != theirs]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["offline", "openai/gpt-6-luna", "anthropic/claude-sonnet-5-5"])
def test_the_exported_module_run_under_dspy_makes_the_very_same_messages(model: str, tmp_path: Path) -> None:
    asked = [
        (name, one if model == "offline" else replace(one, model=model), column, case)
        for name, one, column, case in views()
    ]
    assert len(asked) > 60
    assert different(asked, model, tmp_path) == []


@pytest.mark.slow
def test_so_does_that_of_every_signature_that_is_read(tmp_path: Path) -> None:
    asked: list[Asked] = []
    texts = [SignatureText(source, name) for name, source in SOURCES.items()]
    for text in [*texts, *(SignatureText(one) for one in STRINGS)]:
        for adapter in ADAPTERS if text.class_name else ("chat",):
            column = Column(adapter, adapter)
            try:
                case = Case("case", dict.fromkeys(text.read().input_fields, "a text"))
                one = Session(text, (), (column,), (case,))
                _ = source_of(one, [column], [case]).first.request
            except ValueError:  # what is not read or rendered here is not exported either
                continue
            if "self" not in case.inputs:
                asked.append((f"{text.class_name or text.text}, {adapter}", one, column, case))
    assert len(asked) > 300
    told = [name for name, one, column, case in asked if OTHER_ORDER in made_of(one, column, case).left_out]
    assert different(asked, "offline", tmp_path) == told == ["Mutual, baml"]


def test_an_order_of_classes_that_shows_in_the_prompt_is_said() -> None:
    column = Column("baml", "baml")
    case = Case("case", {"text": "a text"})
    one = Session(SignatureText(SOURCES["Mutual"], "Mutual"), (), (column,), (case,))
    assert OTHER_ORDER in made_of(one, column, case).left_out
    assert OTHER_ORDER not in made_of(one, Column("chat", "chat"), case).left_out


def made_of(one: Session, column: Column, case: Case) -> Exported:
    return dspy_source(source_of(one, [column], [case]))


def source(one: Session, adapter: str = "chat") -> Any:
    return source_of(one, [Column(adapter, adapter)], one.cases[:1])


def test_the_module_is_python_and_the_same_every_time() -> None:
    for one in SESSIONS.values():
        made = dspy_source(source(one)).text  # "chat", which renders all of them
        compile(made, "exported", "exec")
        assert made == dspy_source(source(one)).text
        assert made.encode("utf-8")


def test_what_the_module_does_not_say_is_said() -> None:
    plain = session("a -> b", {"a": "1", "b": "2"}, a="1")
    one = replace(
        plain,
        demos=(replace(plain.demos[0], enabled=False),),
        cases=(*plain.cases, Case("second")),
        model="openai/gpt-4o",
    )
    made = dspy_source(source(one))
    assert made.left_out == ("demo 1: switched off", "the other cases: second")
    assert 'dspy.LM("openai/gpt-4o")' in made.text
    assert "MODEL" in dspy_source(source(plain)).left_out[-1]


def test_an_address_that_a_session_names_gets_no_key_of_yours() -> None:
    one = replace(session("a -> b", a="1"), model="openai/m", params={"api_base": "http://stranger:1/v1"})
    made = dspy_source(source(one))
    assert 'api_key="no-key"' in made.text and "--allow-host stranger:1" in made.left_out[-1]
    allowed = replace(source(one), allow_hosts=["stranger"])
    assert "api_key" not in dspy_source(allowed).text


@pytest.mark.parametrize(
    ("one", "adapter", "said"),
    [
        (session("a -> b", a="1"), "markdown", "dspy has no adapter 'markdown'"),
        (session("demos -> b", demos="1"), "chat", "uses the name 'demos' itself"),
        (replace(session("a -> b"), signature=SignatureText("self -> b")), "chat", "uses the name 'self' itself"),
        (examples.load("invoice"), "baml", "cannot be rendered: ValueError: BAMLAdapter cannot handle recursive"),
        (session("a -> b: no_such_type", a="1"), "chat", "no_such_type"),
        (session("a: dspy.Image -> b", a="no-file.png"), "chat", "cannot be rendered|is no Image|expected"),
    ],
)
def test_what_dspy_cannot_be_given_is_refused_with_the_reason(one: Session, adapter: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dspy_source(source(one, adapter))


def test_a_variant_of_the_reasoning_is_a_predict_of_the_whole_signature() -> None:
    thinking = SESSIONS["thinking"]
    one = replace(
        thinking, variants=(Variant("v", "fields.reasoning.desc", "slowly"), Variant("w", "instructions", "Go."))
    )
    column = Column("chat", "chat", variant="v")
    assert "dspy.Predict(" in dspy_source(source_of(one, [column], one.cases)).text
    other = dspy_source(source_of(one, [replace(column, variant="w")], one.cases)).text
    assert "dspy.ChainOfThought(" in other and '"""Go."""' in other


@pytest.mark.parametrize("predictor", ["Predict", "ChainOfThought"])
@pytest.mark.parametrize("tag", [None, "said", "told"])
def test_the_class_keeps_its_name_whatever_replaces_its_words(tag: str | None, predictor: Predictor) -> None:
    one = replace(
        session(SOURCE, text="T"),
        signature=SignatureText(SOURCE, "Find", predictor, instructions=None if tag else "In other words."),
        variants=(Variant("said", "instructions", "As said."), Variant("told", "fields.mood.desc", "As told.")),
    )
    made = dspy_source(source_of(one, [Column("chat", "chat", variant=tag)], one.cases)).text
    assert "class Find(dspy.Signature):" in made and f"dspy.{predictor}(Find)" in made
    assert {None: "In other words.", "said": "As said.", "told": "As told."}[tag] in made
    assert "StringSignature" not in made


def test_a_signature_that_was_never_a_class_has_the_name_that_dspy_gives_it() -> None:
    one = replace(session("a -> b", a="1"), signature=SignatureText("a -> b", instructions="Do."))
    assert "class StringSignature(dspy.Signature):" in dspy_source(source(one)).text
