"""Replies that failed in public threads, rebuilt: dspy's outcome, the true cause first, no false cause."""

from __future__ import annotations

from typing import Any, NamedTuple

import dspy
import pytest
from oracle.engines import theirs
from oracle.outcomes import divergence, outcome

import adapters
from adapters.formats import catalog
from adapters.signatures.signature import Signature

MODELS = """
import datetime, dspy, enum, pydantic
from typing import Any, Literal
class Kind(enum.Enum):
    SINGLE_QUESTION = "SINGLE"
    MERGE = "MERGE_MULTIPLE"
class Part(pydantic.BaseModel):
    kind: Kind = Kind.MERGE
    level: Literal["low", "medium", "high"] = "low"
    score: float = 0.0
    day: datetime.date | None = None
    note: str = ""
class S(dspy.Signature):
    text: str = dspy.InputField()
    properties: list[Part] = dspy.OutputField()
"""
TOOLS = "question, tools: list[dspy.Tool] -> outputs: dspy.ToolCalls"
DICT = "{'args': {'a': {'go': {'to': 'x'}}, 's': {}}, 'type': 'Output'}"
NOT_CUT = ("cut-off-json-completed",)
REACT = "question -> next_thought, next_tool_name: Literal['search', 'finish'], next_tool_args: dict[str, Any]"


class Report(NamedTuple):
    """A reply, as the thread reports it; its first cause (none: it parses as meant), places, and false causes."""

    thread: str
    adapter: str
    signature: str
    reply: str
    cause: str | None = None
    places: tuple[str, ...] = ()
    false: tuple[str, ...] = ()


BRACKET = ("wrong-bracket", (), ("cut-off-json-completed",))
CALL = ("tool-call-wrapper", (), ("thoughts-not-separated",))
UNREAD = ("key-not-read", ("age",), ("output-missing",))
NOTE = "# note: the value you produce must exactly match (no extra characters) one of: a; b"

REPORTS = (
    Report("json_repair #49", "json", "q -> note", '{"note": "A message to the "editor", no answer yet."}'),
    Report("json_repair #94", "json", "q -> plot", '{"plot": "x"yz"w"}\nplot:'),
    Report("json_repair #26", "json", "q -> html", '{"html": "<h2 id="top">More than 90 - "a team"?</h2>"}'),
    Report("langchain #16458", "json", "q -> name, age: int", '{name": "Ann", "age": 31}'),
    Report("langgraph #2582", "json", "q -> next: Literal['END', 'sql']", '\n   {\n   next: "sql"\n   }\n\n'),
    Report("semantic-kernel #1469", "json", "q -> plan: list[str]", '{"plan": ["a", "b"]}\nmore text....'),
    Report("allms #21", "json", "q -> score: int", '{\\"score\\": 0}\n'),
    Report("mem0 #5623", "json", "q -> memory: list[dict[str, str]]", '{"memory": [{"text": "tea"},]}'),
    Report("instructor #32", "json", "q -> code", '{\n"code": "\nbody {\n  margin: 0;\n}\n"\n}'),
    Report(
        "baserow #4269", "json", "q -> r, a", '{\n{"r": "A greeting.", "a": "Hello!"}', "doubled-brace", (), NOT_CUT
    ),
    Report("OpenMAIC #658", "json", "q -> latex", '{"latex": "\\frac{a}{b}"}', "backslash-is-an-escape", ("latex",)),
    Report("mastra #24442", "json", "q -> n, items: list[str]", '{"n":"A","items":["x","y"', "cut-off-json-completed"),
    Report("json_repair #173", "json", MODELS, '[{"note": "a"}, {"note": "b"}]', "list-at-the-root"),
    Report(
        "ai-review #108", "json", "q -> action, tool", '```json\n[{"file": "a", "line": 3}]\n```', "list-at-the-root"
    ),
    Report("semantic-kernel #4622", "json", "q -> why, do", '{"plan": {"why": "a", "do": ""}}\n#END', "likely-reply"),
    Report(
        "dspy #1818", "chat", "q -> i: int, s", "3\n\n[[ ## s ## ]]\nIt is.\n\n[[ ## completed ## ]]", "likely-reply"
    ),
    Report("dspy #1125", "chat", "q -> reasoning, result", "Reasoning: They differ.\n\nResult: two", "likely-reply"),
    Report("vllm #23694", "json", "q -> a", '<|channel|>final<|message|>{"a": "x"}<|return|>', "harmony-channels"),
    Report(
        "sidekick #75",
        "chat",
        "q -> a",
        "<|channel|>analysis<|message|>They greet.<|end|><|start|>assistant<|channel|>final<|message|>Hello!",
        "harmony-channels",
    ),
    Report(
        "claude-code #73856",
        "json",
        "q -> path, node",
        'so\n<invoke name="shot">\n<parameter name="path">/a.pen</parameter>\n</invoke>',
        "tool-call-wrapper",
    ),
    Report(
        "mcp-agent #460",
        "json",
        MODELS,
        '{"properties": [{"level": 0.9}, {"level": "low"}, {"level": 0.1}]}',
        "value-not-allowed",
        ("properties[0].level", "properties[2].level"),
    ),
    Report(
        "poliloom #118",
        "json",
        MODELS,
        '{"properties": [{"day": "15世紀"}, {"day": "1499"}]}',
        "date-not-read",
        ("properties[0].day", "properties[1].day"),
        ("schema-echoed",),
    ),
    Report(
        "MIESC #131",
        "json",
        MODELS,
        '{"properties": [{"score": "high"}, {"score": "0.8"}, {"score": "medium"}]}',
        "not-a-number",
        ("properties[0].score", "properties[2].score"),
    ),
    Report(
        "instructor #77",
        "json",
        MODELS,
        '{"properties": [{"kind": "root"}, {"kind": "leaf"}]}',
        "value-not-allowed",
        ("properties[0].kind", "properties[1].kind"),
    ),
    Report("langchain #36603", "json", MODELS, '{"properties": [{"note": ["a", "b"]}]}', None, ("properties[0].note",)),
    Report("llama_index #12455", "chat", REACT, 'Thought: I need it.\nAction: search ({"input": "x"})', "agent-layout"),
    Report("vllm #13125", "chat", "q -> a", "Okay.\n</think>\n\nIt is **Paris**.", "thoughts-not-separated"),
    Report("qwen-code #6033", "xml", "q -> a", "Okay.</think>\nB it is.", "thoughts-not-separated"),
    Report(
        "litellm #7209",
        "json",
        TOOLS,
        '{"type": "function", "name": "get", "parameters": {"city": "Rome"}}',
        "tool-call-wrapper",
        (),
        ("format-not-followed",),
    ),
    Report("Rapid-MLX #700", "chat", "q -> a", '{"name": "look", "parameters": {"for": "x"}}', "tool-call-wrapper"),
    Report("llama-models #266", "chat", "q -> a", '<|python_tag|>weather(city="Rome")', "tool-call-wrapper"),
    Report("json_repair #56", "json", "q -> name, n", '{"na"me": "O"Hara", "n": "1"}', "key-broken-by-quote"),
    Report("deer-flow #151", "json", "q -> a, b: bool", "{}", "empty-object", (), ("reply-too-short",)),
    Report("vllm #4093", "json", "q -> a, n: int", '{\n"n":' + "\n \n" * 200, "runaway-repetition"),
    Report(
        "json_repair #59",
        "json",
        MODELS,
        '{"properties": ['
        + '{"note": "swelling of skin", "score": 0}, {"note": "frostbite", "score": 1}, ' * 30
        + '{"no',
        "runaway-repetition",
    ),
    Report("crewAI #799", "chat", "q -> result", '[[ ## result ## ]]\n{"result": "1"}', "json-in-a-text-field"),
    Report("autogen #6638", "json", "q -> a", '{"a": "one"}\n{"a": "two"}', "several-objects"),
    Report("Scrapegraph-ai #324", "json", "q -> l: list[int]", '{"l": [1, 2, ...]}', "list-abbreviated"),
    Report(
        "graphrag #635",
        "json",
        MODELS,
        '{"properties": [{"note": "a"}, {"note": "b"}}\n\nNote that these are mine.',
        *BRACKET,
    ),
    Report("crewAI #1649", "json", "q -> a, n: int", '"{\\"a\\": \\"\\", \\"n\\": 10}"', None, (), ("value-invented",)),
    Report("pyspur #262", "json", "q -> m: dict[str, str]", '"{\\"joke\\": \\"Why?\\"}"', "json-in-a-string"),
    Report("OmniParser #259", "json", "q -> Next_Action", '{\n    "Next Action": "wait",\n}', "likely-reply"),
    Report("hermes-agent #742", "json", "q -> a", '</think>{"name": "s", "arguments": {}}</tool_call>', *CALL),
    Report("hermes-agent #11994", "chat", "q -> a", '[TOOL_CALL]\n{tool => "skills"}\n[/TOOL_CALL]', *CALL),
    Report("hermes-studio #942", "chat", "q -> a", "[Calling tool: search]\n</invoke>\n</minimax:tool_call>", *CALL),
    Report("opencode #1373", "json", "q -> l: list[str]", '{"l": "[\\"a\\"]</parameter>\\n</invoke>"}', *CALL),
    Report(
        "zettelrobbe #74", "json", "q -> a, b", '<think>By {ACME}.</think>{"a": "x", "b": "y"}', "object-inside-think"
    ),
    Report("imp #509", "chat", "q -> a", "Thinking Process:\n\n1.  **Analyze:** 2+2.", "thoughts-not-separated"),
    Report(
        "rs-nightshift #98", "json", "q -> l: list[str]", "Okay, the user wants a copy. I", "thoughts-not-separated"
    ),
    Report("jsonrepair #197", "json", "q -> title, n: int", '{"title "\'K\' a Judge","n":[1]}', "key-broken-by-quote"),
    Report("aurora #18", "json", "q -> p, n: int", "{'p': 'yes', 'n': 4.8}", "fraction-for-a-whole-number"),
    Report("dspy #7997", "chat", "q -> t: Literal['a', 'b']", f"[[ ## t ## ]]\na   {NOTE}", "placeholder-echoed"),
    Report("ragas #2162", "json", "q -> text", '{"statements": ["Born in Ulm."]}', "other-keys"),
    Report("BAML #844", "json", "q -> t, n: int", '{"t": "a man who cher"n": 4}', "key-inside-a-text"),
    Report("knowledge-table #59", "json", "q -> l: list[str]", "['糖尿病', '肥胖']", "list-at-the-root"),
    Report("vllm #8020", "chat", "q -> a", "\n[1.1]" + "\n" * 200, "runaway-repetition"),
    Report("langchain #5396", "chat", "q -> ok: bool", "[[ ## ok ## ]]\nyes|no", "not-true-or-false"),
    Report("water #57", "chat", "q -> n: float", "[[ ## n ## ]]\nI cannot evaluate this", "null-not-allowed"),
    Report("langchain #19107", "xml", "q -> a", "<films><a>Tom</a></film>", "xml-tag-not-closed"),
    Report("dspy #1691", "chat", "q -> output", "## output ##\nhere's the answer", "likely-reply"),
    Report("dspy #1691, on its line", "chat", "q -> output", "## output ## here's the answer", "likely-reply"),
    Report(
        "dspy #2003",
        "chat",
        REACT,
        '[[ ## next_thought ## ]]\nI look.\n\n[[ ## tool_name ## ]]\nsearch\n\n[[ ## next_tool_args ## ]]\n{"q": "x"}',
        "name-nearly-right",
        ("next_tool_name",),
    ),
    Report(
        "json_repair #133",
        "json",
        "q -> songs, name",
        '{"songs": "Hits:\\n- "Josephine"\\n- "Tell Me There\'s "a Heaven",\\n- "Julia".", "name": "Rea"}',
        "likely-reply",
        (),
        ("output-missing",),
    ),
    Report("outlines #267", "json", "q -> name, age: int", '{\n  "name": "old man "}",\n  "age": 14\n}', *UNREAD),
    Report(
        "BAML #1254",
        "baml",
        "q -> code, usage",
        '{\n  "code": """\nclass A { s string @d("x") }\n""",\n  "usage": """\nb.A("")\n"""\n}',
        "likely-reply",
        (),
        ("output-missing",),
    ),
    Report(
        "coze-studio #573",
        "json",
        "q -> output: dict[str, str], reasoning",
        '{"output": "\\n```json\\n{\\"output\\": {\\"p\\": \\"x\\"}, \\"reasoning\\": \\"y\\"}\\n```"}',
        "json-in-a-string",
        (),
        ("format-not-followed",),
    ),
    Report(
        "graphify #2286", "json", "q -> l: list[dict[str, str]]", "{“l”:[{“n”:“a“,”f”:“b”}]}", "key-holds-text", ("l",)
    ),
    Report(
        "auto-dev #299",
        "json",
        "q -> a",
        '{"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "<think>\\nfoobar"}}]}',
        "whole-response",
    ),
    Report(
        "opencode #8851",
        "chat",
        "q -> a",
        'I look. <|tool_calls_section_begin|> <|tool_call_begin|> bash:0 <|tool_call_argument_begin|> {"c": "ls"}',
        *CALL,
    ),
    Report("OpenCLI #1124", "chat", "q -> a: int", "已思考（用时 1 秒）\n\nWe add.\n\n4", "thoughts-not-separated"),
    Report(
        "Resume-Matcher #438",
        "json",
        MODELS,
        '{"properties": [{"day": "Present"}, {"day": "N/A"}]}',
        "date-not-read",
        ("properties[0].day", "properties[1].day"),
    ),
    Report(
        "mem0 #1848", "json", "q -> facts: list[str]", "{\"facts\" : [\\'It is\\']}", "value-holds-the-end", ("facts",)
    ),
    Report("mem0 #4312", "json", "text -> l: list[str]", "<think>\n</think>\n\n", "empty-reply"),
    Report("dspy #10102", "xml", "q -> code", "<code>\nprint('</code>')\n</code>", "xml-tag-not-closed"),
    Report(
        "langchain #18434", "xml", "q -> t", "<t>a</t>\n<o>b</o>\n<t>c</t>", "repeated-tag-became-list-text", ("t",)
    ),
    Report("semantic-kernel #3682", "xml", "q -> plan", "1. Begin with a <plan>.\n2. Go.", None, (), ("xml-cut-off",)),
    Report("oh-my-pi #8495", "chat", "q -> a", '<|open|>toolscall tool="Replace"<|sep|>', *CALL),
    Report("q27 #24", "chat", "q -> a", "<name>task\n</parameter>\n<parameter=prompt>\nx", *CALL),
    Report("bayes-platform #731", "chat", "q -> a", "Lie:default_api:pick{names:[]}", *CALL),
    Report(
        "LearnDataWithMark #42", "chat", "question -> answer", "Yes\n\nQuestion: Why?\nAnswer: No", "inputs-made-up"
    ),
    Report("datachain #1930", "json", "q -> l: list[str]", '{"l": "[\\n\\"a\\"\\n]"}'),
    Report("BAML #1249", "json", "q -> n, age: int", "{“n”: “Ann”, “age”: 30}"),
    Report("vercel/ai #1921", "json", MODELS, '{"properties": [{"note": "1 (.', "cut-off-json-completed"),
    Report(
        "vercel/ai #11489",
        "json",
        "q -> valid: bool, why: str | None",
        '<think>\nsay {"valid": true}\n</think>\n{"valid": false, "why": "x"}',
        "object-inside-think",
    ),
    Report(
        "magentic #4",
        "json",
        "q -> n: int",
        '{"n": (new Date("2019-07-03") - new Date("2019-01-04")) / (1000 * 60)}',
        "not-a-number",
        ("n",),
        ("words-around-value",),
    ),
    Report(
        "langchain-aws #1221",
        "json",
        "q -> version, items: list[dict[str, str]]",
        '{"items": {"version": "v1", "Timeline": [1, 2]}}',
        "field-inside-another",
        ("items",),
    ),
    Report(
        "midscene #1981",
        "xml",
        "q -> kind, param",
        '<kind>Input\n<param>{"value": "Ann"}</param>',
        "xml-tag-not-closed",
        (),
        ("xml-cut-off",),
    ),
    Report("eva #951", "xml", "q -> a", "<think>below <10%</think>\n<a>A</a>", "xml-less-than"),
    Report("fix-busted-json #5", "json", "q -> n, c", '{"n": "Ann”, "c": "Paris"}', "value-holds-the-end", ("n",)),
    Report(
        "cherry-studio #14714",
        "chat",
        "q -> a",
        '< | DSML | tool_calls>\n< | DSML | invoke name="search">\n</ | DSML | invoke>',
        *CALL,
    ),
    Report("mlx-lm #1374", "json", "q -> a", '[TOOL_CALLS] [{"name": "calc", "arguments": {"e": "2+3"}}]', *CALL),
    Report(
        "outlines #759",
        "json",
        "q -> verdicts: list[dict[str, str]], n: int",
        '{"verdicts": [{"why": "It says: \\\\"no limit\\\\", so it is", "verdict": "1"}], "n": one}',
        "quote-escaped-twice",
    ),
    Report(
        "json_repair #107",
        "json",
        "q -> data: list[dict[str, str]]",
        '{"data": [{"name": "A", "value": "1", "name": "B", "value": "2"}]}',
        "duplicate-key-last-wins",
        ("data",),
    ),
    Report("json_repair #172", "json", "q -> l: list[dict[str, str]], s", '{"l": [{"n": "1"], "s": "x"}'),
    Report("json_repair #164", "json", "q -> l: list[str], n", '{"l": ["", "en"], "n": "a",}'),
    Report("syncode #171", "json", "q -> key: list[str]", '{"key”: [“a”, “b”]}', "likely-reply"),
    Report("dspy #1662", "chat", "q -> r, a", "[ ## r ## ]\nx\n\n[ ## a ## ]\nParis", "likely-reply"),
    Report(
        "graphiti #912",
        "json",
        "q -> duplicates: list[int]",
        '{"properties": {"duplicates": {"type": "array"}}, "title": "Edge", "type": "object"}',
        "schema-echoed",
    ),
    Report("lmnr index #23", "xml", "q -> output", '{"action": "click"}\n</output>', "xml-tag-not-closed"),
    Report("letraz #180", "json", "q -> months: list[int]", '{"months": ["June"]}', "not-a-number", ("months[0]",)),
    Report(
        "spring-ai #4650",
        "json",
        "q -> actor, films: list[str]",
        '<thinking>I have {"actor": "Ann"}.</thinking>\n{"actor": "Ann", "films": ["Big"]}',
        "object-inside-think",
    ),
    Report("browser-use #5", "json", "q -> a: dict[str, Any], s: dict[str, Any]", DICT, "likely-reply"),
    Report(
        "langchain #29515",
        "json",
        MODELS.replace("note: str = ", "note_id: str\n    note_kind: str\n    x: str = "),
        '{"properties": [{"note": "a"}]}',
        "key-nearly-right",
        ("properties[0].note_id",),
    ),
    Report(
        "claude-code #62171",
        "json",
        "q -> body, tags: dict[str, str]",
        '{"body": "x</body>\\n<parameter name=\\"tags\\">{}", "tags": {}}',
        "tool-call-wrapper",
        ("body",),
    ),
    Report(
        "MetaGPT #733", "json", "q -> l: list[str]", '{"l": ["a"  # it\'s why\n]}', None, (), ("text-lost-in-repair",)
    ),
)


def as_dspy(signature: Signature) -> Any:
    """The same fields as a signature of dspy's, with the very same types."""
    makers = {"input": dspy.InputField, "output": dspy.OutputField}
    return dspy.Signature({name: (one.annotation, makers[one.role]()) for name, one in signature.fields.items()})


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.thread)
def test_a_public_reply_is_explained_as_it_failed(report: Report) -> None:
    signature = adapters.read_signature(report.signature)
    for name in ("chat", "json", "xml", "baml"):
        reading = catalog.make(name).read(signature, report.reply)
        left = outcome(lambda name=name: dict(theirs(name).parse(as_dspy(signature), report.reply)))
        assert (left.error is None) == reading.ok, name
        assert not reading.ok or divergence(left, outcome(lambda found=reading: dict(found.values))) is None

    found = catalog.make(report.adapter).read(signature, report.reply).diagnosis
    if report.cause is not None:
        assert found[0].cause == report.cause, found
    assert {one.path or one.field for one in found} >= set(report.places), found
    assert not {one.cause for one in found} & set(report.false), found
