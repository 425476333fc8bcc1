"""What each release of dspy changed in prompts and readings, found out from the releases themselves.

Run `python docs/prompt_history.py` after `workbench dspy add` of every release in `RELEASES` but the last, which is the
dspy that the tests install. It writes `prompt_history.json`, and `regenerate.py` makes the page of that alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sessions.causes import writing
from sessions.causes.cause import Key
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.releases.engine import Engine
from sessions.upgrades.report import Found, upgrade
from sessions.upgrades.sides import Change, Side, compare, open_engine

FILE = Path(__file__).with_name("prompt_history.json")
RELEASES = ("2.6.27", "3.0.4", "3.1.3", "3.2.1", "3.3.1", "3.4.1")
ADAPTERS = ("chat", "json", "xml", "baml", "twostep")
MOST_LINES = 10
LONGEST_LINE = 160


def sample(
    name: str,
    signature: str,
    inputs: Mapping[str, Any],
    demos: Sequence[Mapping[str, Any]] = (),
    replies: Mapping[str, str] | None = None,
    history: Sequence[Mapping[str, Any]] = (),
) -> Session:
    """A session with every adapter, for a model that has native tools and schemas."""
    shown = {adapter: Reply(text) for adapter, text in (replies or {}).items()}
    case = Case("one", inputs, tuple(history), replies=shown)
    columns = tuple([Column(adapter, adapter) for adapter in ADAPTERS])
    text = SignatureText(signature)
    return Session(text, tuple([Demo(one) for one in demos]), columns, (case,), "openai/gpt-4o-mini", name=name)


MODEL = '''class Item(BaseModel):
    """A line of it."""
    name: str = Field(description="What it is")
    price: float
    tags: list[str] = []

class Invoice(BaseModel):
    items: list[Item]
    note: str | None = None

class Extract(dspy.Signature):
    """Take it apart."""
    text: str = dspy.InputField(desc="a text")
    context: list[str] = dspy.InputField()
    invoice: Invoice = dspy.OutputField()
    total: float = dspy.OutputField(desc="the sum", ge=0)
'''
INVOICE = {"items": [{"name": "Tee", "price": 1.5, "tags": ["grün"]}], "note": None}
HISTORY = """class Talk(dspy.Signature):
    history: dspy.History = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()
"""
ENUM = """class Colour(Enum):
    RED = "red-ish"
    BLUE = "blue-ish"

class Pick(dspy.Signature):
    text: str = dspy.InputField()
    colour: Colour = dspy.OutputField()
"""
TOOL = {"name": "find", "desc": "Find it", "args": {"q": {"type": "string"}}}
SAMPLES = (
    sample(
        "question",
        "question -> answer",
        {"question": "Who?"},
        [{"question": "Where?", "answer": "There"}],
        {"json": '{"answer": "Me"}', "xml": "<answer>Me & you</answer>"},
    ),
    sample(
        "optional",
        "question: str, hint: str | None -> answer: str, score: float | None",
        {"question": "Who?", "hint": None},
        [{"question": "Where?", "hint": "h", "answer": "There", "score": 1.5}],
        {"chat": "[[ ## answer ## ]]\nMe\n\n[[ ## completed ## ]]", "json": '{"answer": "Me"}'},
    ),
    sample("history", HISTORY, {"question": "And then?"}, (), None, [{"question": "Who?", "answer": "Me"}]),
    sample(
        "model",
        MODEL,
        {"text": "A & B < 3", "context": ["x"]},
        [{"text": "t", "context": ["z"], "invoice": INVOICE, "total": 1.5}],
    ),
    sample(
        "literals",
        "text: str -> label: Literal['a','b'], level: Literal[1,2], ok: bool",
        {"text": "t"},
        [{"text": "u", "label": "a", "level": 1, "ok": True}, {"text": "x", "label": "b"}],
        {"json": '{"label": "a", "level": "2", "ok": "yes"}'},
    ),
    sample("enum", ENUM, {"text": "t"}),
    sample("code", "task: str -> program: dspy.Code['python']", {"task": "t"}),
    sample(
        "image",
        "image: dspy.Image, question: str -> answer: str",
        {"image": {"url": "https://example.com/a.png"}, "question": "What?"},
    ),
    sample(
        "tools", "question: str, tools: list[dspy.Tool] -> calls: dspy.ToolCalls", {"question": "q", "tools": [TOOL]}
    ),
    sample(
        "dicts",
        "data: dict[str,int] -> rows: list[dict[str,str]], best: tuple[int,str]",
        {"data": {"a": 1}},
        [{"data": {"b": 2}, "rows": [{"x": "y"}], "best": [1, "a"]}],
    ),
)


def digest() -> str:
    """Of the samples: a history belongs to those that it was made from."""
    return hashlib.sha256("".join([store.dumps(one) for one in SAMPLES]).encode()).hexdigest()[:16]


def step(before: Engine, after: Engine) -> dict[str, Any]:
    """What the later of two releases changed, over every sample and adapter."""
    change = Change(Side(before.name, before), Side(after.name, after), "dspy release")
    compared = [
        compare(change, one, one.name, case, column) for one in SAMPLES for case in one.cases for column in one.columns
    ]
    found = upgrade(before.name, after.name, compared)
    missing = sorted({one.why_not.removeprefix(f"{one.column}: ") for one in compared if one.why_not})
    changes = [_shape(one) for one in found.found]
    return {"from": before.version, "to": after.version, "counts": found.counts, "changes": changes, "missing": missing}


def _shape(one: Found) -> dict[str, Any]:
    diff = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in one.example.diff]
    example = [*diff[:MOST_LINES], *([" …"] if len(diff) > MOST_LINES else [])]
    return {"key": list(one.key), "adapters": list(one.adapters), "sample": one.example_of.path, "diff": example}


def page() -> str:
    """The history as Markdown, of the file alone."""
    return "\n\n".join(_paragraphs(json.loads(FILE.read_text(encoding="utf-8"))))


def _paragraphs(history: Mapping[str, Any]) -> Iterator[str]:
    for one in reversed(history["steps"]):
        counts = one["counts"]
        yield f"### {one['from']} → {one['to']}"
        said = f"{counts['changed']} of {counts['compared']} prompts and replies of the samples differ."
        yield " ".join([said, *[f"Not compared: {_plain(reason)}." for reason in one["missing"]]])
        for change in one["changes"]:
            words = writing.plain_words(Key(*change["key"]))
            yield f"- {_plain(words)} ({', '.join(change['adapters'])}; as in `{change['sample']}`)"
            runs = [len(run) for line in change["diff"] for run in re.findall("`+", line)]
            fence = "`" * max(3, max(runs, default=0) + 1)
            yield "\n".join([f"{fence}diff", *change["diff"], fence])


def _plain(words: str) -> str:
    """Text between backticks is code; what else Markdown or HTML might take for its own is escaped."""
    parts = words.split("`")
    for place in range(0, len(parts), 2):
        for mark in "\\*_[]<>#":
            parts[place] = parts[place].replace(mark, f"\\{mark}")
    return "`".join(parts)


def main() -> None:
    engines = [open_engine("installed" if version == RELEASES[-1] else version) for version in RELEASES]
    try:
        if [one.version for one in engines] != list(RELEASES):
            sys.exit(f"the history is of {', '.join(RELEASES)}; there are {', '.join(one.version for one in engines)}")
        steps = [step(before, after) for before, after in pairwise(engines)]
    finally:
        for one in engines:
            one.close()
    text = json.dumps({"samples": digest(), "steps": steps}, indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
