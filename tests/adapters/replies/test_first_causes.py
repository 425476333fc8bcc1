"""First causes of replies that failed in public or came from a small model; the threads are in patterns.py."""

from __future__ import annotations

import pytest

from tests.support.replies import read

TITLE = "q -> title, rating: int, slug"
WHOLE = "; the whole reply is one XML document, so all of it was refused."
LAYOUT = "The reply has the layout of ReAct agents ({}), not that of the prompt."
NESTED = """
from typing import Any
from pydantic import BaseModel
class Query(BaseModel):
    filters: dict[str, Any]
    range: dict[str, str]
class Ask(dspy.Signature):
    q: str = dspy.InputField()
    query: Query = dspy.OutputField()
"""
UNION = """
from pydantic import BaseModel
class Done(BaseModel):
    done: str
class Click(BaseModel):
    click: int
    double: bool
class Drag(BaseModel):
    click: int
class Act(dspy.Signature):
    q: str = dspy.InputField()
    action: list[Done | Click | Drag] = dspy.OutputField()
"""
WRAPPER = "The reply has the wrapper of a provider's tool call ({}, line 1, column {})."
LOOP = '{"name": "Rex", "age": 1' + "0" * 230
"""The beginning of a number whose zeros never end."""


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "said"),
    [
        (
            "chat",
            "q -> answer: int",
            "[THINK]17x20 is 340, plus 51.[/THINK]391",
            "After its thoughts, the reply is bare: '391', without any [[ ## name ## ]] markers.",
        ),
        (
            "chat",
            "q -> reasoning, answer: int",
            "[[ # reasoning # ]]\nSix times seven.\n\n[[ ## Answer ## ]]\n42",
            "[[ # reasoning # ]] (line 1, column 1) is not a marker: a marker begins a line and is written exactly "
            "[[ ## reasoning ## ]]. It was dropped with the text before the first marker.",
        ),
        ("chat", "q -> a", "[THINK]So", "The reply has [THINK] without [/THINK]: the model's thoughts, and no answer."),
        (
            "chat",
            "q -> a",
            '<|START_ACTION|>[{"tool_name": "search", "parameters": {}}]<|END_ACTION|>',
            "The reply has the wrapper of a provider's tool call (<|START_ACTION|>, line 1, column 1).",
        ),
        (
            "chat",
            "q -> a",
            'I search.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">',
            "The reply has the wrapper of a provider's tool call (<｜DSML｜function_calls, line 2, column 1).",
        ),
        (
            "chat",
            "q -> a",
            "[1.1]" + "\n" * 300,
            "The reply ends in 300 spaces and line breaks (from line 1, column 6).",
        ),
        ("chat", "q -> ok: bool", "[[ ## ok ## ]]\nyes|no", "'yes|no' is both true and false; `ok` takes one of them."),
        (
            "chat",
            "q -> ok: bool",
            "[[ ## ok ## ]]\nYes, no doubt about it",
            "'Yes, no doubt about it' is more than True or False alone: text is not searched for a value.",
        ),
        (
            "chat",
            "q -> score: float",
            "[[ ## score ## ]]\nI cannot evaluate this",
            "`score` is 'I cannot evaluate this', words for no value, where a number is expected.",
        ),
        (
            "chat",
            "q -> thought, action",
            "Thought\nThe user wants to verify it.\nAction\nVideo Tool\nAction Input:\n{}",
            LAYOUT.format("Thought, Action, Action Input"),
        ),
        (
            "chat",
            "q -> thought, action",
            "Thought 1: I look.\n\nAction 1: tool[x]\n\nObservation 1: y",
            LAYOUT.format("Thought, Action, Observation"),
        ),
        ("chat", "q -> plan", '<|open|>toolscall tool="Replace"<|sep|>', WRAPPER.format("<|open|>", 1)),
        (
            "chat",
            "q -> plan",
            "<function=task>\nx",
            WRAPPER.format("<function=task", 1),
        ),
        ("chat", "q -> a", "Lie:default_api:pick{names:[]}", WRAPPER.format("default_api:pick", 5)),
        (
            "chat",
            "question -> answer",
            "Messi\n\nQuestion: How heavy is a heart?\nAnswer: 400 pounds\n",
            "After an answer, the reply goes on with a 'Question' of its own (line 3, column 1): the model continues "
            "the prompt, as base models do.",
        ),
        (
            "json",
            TITLE,
            '{\n"title": "a man who search"rating": 4,\n"slug": "s"}',
            "The text before the JSON key `rating` has no closing quote (line 2, column 27), so the key was not read.",
        ),
        (
            "json",
            "q -> answer: int",
            '[THINK]It asks for {"answer": …}.[/THINK]{"answer": 391}',
            "The first {…} (line 1, column 20) is inside [THINK], and the parser takes it: the server did not separate "
            "the thoughts from the answer. Start it with its reasoning parser.",
        ),
        (
            "json",
            "q -> a",
            "[{'type': 'thinking', 'thinking': 'Hm'}, {'type': 'text', 'text': '{\"a\": \"4\"}'}]",
            "The reply is a list of content parts; the model's answer is in those of type text. A custom LM or proxy "
            "must return that text alone.",
        ),
        (
            "json",
            "q -> offset: int, path",
            '{"offset: 600, "path": "a.py"}',
            "The JSON key `offset` has no closing quote (line 1, column 2).",
        ),
        (
            "json",
            "q -> scores: dict[str, float], total: float",
            '{"criteria_scores": {"style": 1.0}, "score": 0.9}',
            "The reply does not follow the format: none of the JSON keys of the outputs is in it; it has "
            "'criteria_scores', 'style', 'score'.",
        ),
        (
            "json",
            "q -> tags: list[str]",
            "['a', 'b']",
            "The reply is a Python list; the parser expects an object {…} with the output fields as its JSON keys, and "
            "looks at most at the first {…} inside the list. It is probably `tags` itself.",
        ),
        ("json", "q -> n", 'It has 3 "r", so s.count("r") -> 3.', "The reply is prose, without any JSON keys."),
        ("json", "q -> a, b", "Look at [1, 2] first.", "The reply is prose, without any JSON keys."),
        ("json", "q -> ok: bool", '{"ok": "No or yes"}', "'No or yes' is both true and false; `ok` takes one of them."),
        (
            "json",
            "q -> label: Literal['GOOD', 'BAD']",
            '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string", "enum": ["GOOD"]}',
            "The reply repeats the JSON schema (line 1, column 2): values belong directly under their keys.",
        ),
        (
            "json",
            "q -> response",
            "\"{'response': \\\"It is 'it'.\\\"}\"",
            "The whole reply is one JSON string: the object is written as text inside it.",
        ),
        (
            "json",
            "q -> note",
            '{"note": ["a", "b"]}',
            "`note` is a text, so the JSON list became Python notation: \"['a', 'b']\".",
        ),
        (
            "json",
            NESTED,
            '{"query": {"filters": {"groups": [{"field": "a"}, "range": {"from": "now"}\n}}}',
            "A } appears where ] is expected (line 2, column 1): json_repair guessed where the list or object ends.",
        ),
        (
            "json",
            "q -> name",
            '{"type": "message", "model": "m", "content": [{"type": "thinking", "thinking": "Hm."}, '
            '{"type": "text", "text": "{\\"name\\": \\"Ann\\"}"}]}',
            "The reply is the server's whole response; the model's text is at content[1].text inside it. A custom LM "
            "or proxy must return that text alone.",
        ),
        (
            "json",
            "q -> name",
            '{"error": {"message": "Provider returned error", '
            '"metadata": {"raw": "{\\"message\\": \\"No system role\\"}"}}}',
            "The reply is a server's error, not an answer: 'No system role'.",
        ),
        (
            "json",
            "q -> name, age: int",
            '{"name</think>": "Ann", "age": 30}',
            "</think>, the end of thoughts, is inside the object (line 1, column 7): the server did not separate the "
            "thoughts from the answer. Start it with its reasoning parser.",
        ),
        (
            "json",
            "q -> names: list[str]",
            "<think>\n</think>\n\n",
            "The reply ends with its thoughts: no answer follows them.",
        ),
        (
            "json",
            "q -> facts: list[str]",
            "{\"facts\" : [\\'She works\\']}",
            "json_repair took the end of the JSON into `facts`, \"She works']}\": a quote is not JSON's, or is "
            "missing.",
        ),
        (
            "json",
            "q -> found: list[dict[str, str]]",
            '{"CVE-1": {"why": "unused"}, "CVE-2": {"why": "old"}}',
            "The reply has an object for each item, under JSON keys of their own ('CVE-1', 'CVE-2'), instead of the "
            "list `found`.",
        ),
        (
            "json",
            UNION,
            '{"action": [{"done": "x"}, {"scroll": 3}]}',
            "`action[1]` is {'scroll': 3}, which is none of its types: Done needs `done`; Click needs `click`, "
            "`double`; Drag needs `click`.",
        ),
        (
            "json",
            "q -> nodes: list[str]",
            'Here is the result for {project}:\n{"nodes": ["a"],}',
            "The JSON key `nodes` (line 2, column 2) was not read: the parser takes the first {…}, which is "
            "'{project}' (line 1, column 24).",
        ),
        ("json", "q -> a", '"MATCH (m) RETURN m"', "The reply is one JSON string, without any JSON keys."),
        (
            "json",
            "q -> names: list[str]",
            "```yaml\n- name: Order\n- name: Item\n```",
            "The reply begins with a block of yaml instead of the JSON keys.",
        ),
        (
            "json",
            "q -> name, age: int",
            LOOP,
            "The reply ends in a loop: '0' is repeated 230 times, from line 1, column 25 until the end.",
        ),
        (
            "markdown",
            "q -> thought, action",
            "## thought:\nI look.\n\n## action:\n<action>\n<tool>search</tool>\n</action>",
            "The reply has the fields under headings or labels.",
        ),
        (
            "markdown",
            "country -> capital",
            '```json\n{"country": "France", "capital": "Paris"}\n```',
            "The object has JSON keys other than the output fields, which this adapter rejects: `country`.",
        ),
        (
            "xml",
            "q -> actor",
            "<movi>\n<actor>Tom</actor></movie>",
            "<movi> (line 1, column 1) is not closed before </movie> (line 2, column 19)" + WHOLE,
        ),
        (
            "xml",
            "q -> actor",
            "<actor>a<br>b<i>c</i><hr/></actor>",
            "<br> (line 1, column 9) is not closed before </actor> (line 1, column 27)" + WHOLE,
        ),
        ("xml", "q -> actor", "<actor>a</actor></b>", "</b> (line 1, column 17) closes no open tag" + WHOLE),
        (
            "xml",
            "q -> actor",
            "<actor><![CDATA[<x>]]></actr>",
            "A tag is opened and not closed, or closed in another order (line 1, column 25)" + WHOLE,
        ),
        (
            "xml",
            "q -> code",
            "<code>\nprint('</code>')\n</code>",
            "The text of <code> contains </code> (line 2, column 8), which ends it; so </code> (line 3, column 1) "
            f"closes nothing{WHOLE}",
        ),
        (
            "xml",
            "q -> plan",
            '<plan>\n<step name="a"/>\n',
            f"The reply ends (line 3, column 1) before <plan> (line 1, column 1) is closed{WHOLE}",
        ),
        (
            "xml",
            "q -> plan",
            "To plan, we do this:\n1. Begin with a <plan> element.\n2. Add steps.",
            "The reply is prose that mentions tags inside sentences, without any field in tags.",
        ),
        (
            "xml",
            "q -> tool",
            "<tool>look</tool>\n<seen>64</seen>\n<tool>go</tool>",
            "<tool> occurs 2 times; as `tool` is a text, the value is a Python list as text: \"['look', 'go']\".",
        ),
    ],
)
def test_the_first_cause_says_what_is_wrong_and_where(adapter: str, signature: str, completion: str, said: str) -> None:
    assert read(adapter, signature, completion).diagnosis[0].message == said
