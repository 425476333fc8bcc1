"""The text of an error or a history becomes the session of the failed call: against dspy's own texts."""

from __future__ import annotations

import datetime
import enum
import io
import json
import pprint
import random
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import dspy
import pydantic
import pytest
from dspy.adapters.baml_adapter import BAMLAdapter
from dspy.utils import DummyLM
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.inspect_history import pretty_print_history
from hypothesis import given
from hypothesis import strategies as st

from sessions.errors import SessionError
from sessions.file import store
from sessions.imports import lm_call, pasted_calls, pasted_text, sources
from sessions.imports.reading import KEPT, Imported
from sessions.model.session import SignatureText
from tests.support.pace import LOOPS_A_SECOND, loops

ADAPTERS: dict[str, Callable[[], Any]] = {
    "chat": dspy.ChatAdapter,
    "json": dspy.JSONAdapter,
    "xml": dspy.XMLAdapter,
    "baml": BAMLAdapter,
}


class Line(pydantic.BaseModel):
    article: str = pydantic.Field(description="as printed")
    count: int = 1
    price: float


class Invoice(pydantic.BaseModel):
    """An invoice."""

    number: str
    lines: list[Line]
    due: datetime.date | None = None


class Colour(enum.Enum):
    RED = "red"
    DARK_BLUE = "dark blue"


INVOICE = {"number": "7", "lines": [{"article": "pen", "count": 2, "price": 1.5}], "due": "2026-01-02"}
VALUES: list[tuple[Any, list[Any]]] = [
    (str, ["Why?", "two\n\nparagraphs", "User message:", "[[ ## a ## ]] within", "<b>bold</b>", "`code`", "Zürich"]),
    (int, [3, -1]),
    (float, [0.5]),
    (bool, [True, False]),
    (list[str], [["a", "b\nc"], []]),
    (Literal["yes", "no (not)", "it's"], ["yes", "no (not)"]),
    (dict[str, int], [{"a": 1}]),
    (datetime.date, ["2026-01-02"]),
    (int | None, [None, 4]),
    (Colour, ["red", "dark blue"]),
    (Invoice, [INVOICE]),
    (list[Line], [INVOICE["lines"]]),
]
NAMES = ("question", "text", "context_text", "a", "answer", "label", "reasoning", "document", "score2")


def drawn(seed: int) -> tuple[Any, list[dict[str, Any]], dict[str, Any]]:
    """A signature with demos and inputs, as programs have them."""
    rng = random.Random(f"pasted {seed}")
    fields: dict[str, Any] = {}
    values: dict[str, list[Any]] = {}
    count = rng.choice((2, 2, 3, 4))
    for index, name in enumerate(rng.sample(NAMES, count)):
        kind, choices = rng.choice(VALUES) if rng.random() < 0.6 else VALUES[0]
        make = dspy.InputField if index < count // 2 else dspy.OutputField
        described = rng.choice((None, None, "what is asked", "two\nlines (of it): `x`"))
        fields[name] = (kind, make(desc=described) if described else make())
        values[name] = choices
    signature = dspy.Signature(fields, rng.choice(("Answer.", "Answer briefly.\n\n  - as a list\nBe kind.", None)))
    rows = [{name: rng.choice(values[name]) for name in fields} for _ in range(rng.choice((0, 1, 2)) + 1)]
    inputs = {name: one for name, one in rows.pop().items() if name in signature.input_fields}
    for row in rows:
        if rng.random() < 0.2:
            row.pop(next(iter(signature.output_fields)))
    return signature, rows, inputs


def printed(*entries: dict[str, Any], in_colour: bool = False, monkeypatch: Any = None) -> str:
    out = io.StringIO()
    if in_colour:
        monkeypatch.setattr("sys.stdout", out)
    pretty_print_history(list(entries), len(entries), file=None if in_colour else out)
    return out.getvalue()


def entry(messages: list[dict[str, Any]], reply: str = "a reply") -> dict[str, Any]:
    return {"prompt": None, "messages": messages, "outputs": [reply], "timestamp": "2026-01-02T03:04:05.678901"}


def pasted(text: str, **options: Any) -> Imported:
    return sources.load("the clipboard", text=text, **options)


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("block", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 10))])
def test_a_printed_history_becomes_the_session_that_renders_it_or_says_where_not(block: int, name: str) -> None:
    exact = 0
    for seed in range(block * 12, block * 12 + 12):
        signature, demos, inputs = drawn(seed)
        messages = ADAPTERS[name]().format(signature, demos, inputs)
        made = pasted(printed(entry(messages, "The reply:\n\n  in two lines")))
        session = made.session
        assert list(session.signature.read().fields) == list(signature.fields), seed
        assert session.cases[0].replies[session.columns[0].id].text == "The reply:\n\n  in two lines"
        different = lm_call.differences(session, messages, is_printed=True)
        assert not different or any("rendered again" in one for one in made.guesses), (seed, different)
        if not different:
            assert session.columns[0].adapter == name or name in ("json", "baml"), seed
            exact += 1
        assert store.loads(store.dumps(session)).cases == session.cases
    assert exact >= {"chat": 12, "json": 12, "xml": 9, "baml": 3}[name], exact  # BAML shows no class by its schema


def test_colours_markdown_and_indentation_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    signature, demos, inputs = drawn(3)
    messages = dspy.ChatAdapter().format(signature, demos, inputs)
    plain = printed(entry(messages))
    coloured = printed(entry(messages), in_colour=True, monkeypatch=monkeypatch)
    monkeypatch.undo()
    assert "\x1b[31m" in coloured
    variants = [
        coloured,
        coloured.replace("\x1b", ""),
        re.sub(r"\x1b\[0m(\s+)", "\\1\x1b[39m", coloured),  # as a terminal draws it, and tmux copies it
        f"It fails:\n\n```\n{plain.strip()}\n```\n\nAny idea?\n",
        "".join(f"> {line}\n" for line in plain.strip().split("\n")),
        "".join(f"    {line}\n" for line in plain.strip().split("\n")),
        plain.replace("\n", "\r\n"),
    ]
    first = pasted(plain)
    sorted_fields = "the prompt shows the fields of `{}` in alphabetical order: those with defaults, `{}`, are put last"
    assert first.guesses == (sorted_fields.format("Line", "count"), sorted_fields.format("Invoice", "due"))
    for text in variants:
        made = pasted(text)
        assert made.session.signature == first.session.signature, text[:200]
        assert made.session.cases[0].replies["chat"].text == "a reply", text[:200]
        assert made.guesses == first.guesses, text[:200]


def test_of_several_calls_one_is_chosen() -> None:
    signature, demos, inputs = drawn(3)
    messages = dspy.ChatAdapter().format(signature, demos, inputs)
    text = printed(entry(messages, "first"), entry(messages, "second\n\n\nUser message:\n\nnot a message"))
    with pytest.raises(SessionError, match=r"it has 2 calls: choose with --call") as caught:
        pasted(text)
    assert "\n  1  2026-01-02T03:04:05: " in str(caught.value) and " -> first\n" in str(caught.value)
    assert pasted(text, call=1).session.cases[0].replies["chat"].text == "first"
    with pytest.raises(SessionError, match="no call 3"):
        pasted(text, call=3)
    with pytest.raises(SessionError, match="but not the reply"):
        pasted_calls.from_calls(pasted_calls.find("AdapterParseError, aperiodically"), "it", number=1)


def test_what_dspy_itself_prints_of_a_call_is_read() -> None:
    lm = DummyLM([{"reasoning": "So.", "answer": "x"}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        dspy.ChainOfThought("question -> answer: str")(question="Why?")
    out = io.StringIO()
    lm.inspect_history(1, file=out)
    session = pasted(out.getvalue()).session
    assert list(session.signature.read().fields) == ["question", "reasoning", "answer"]
    assert session.cases[0].inputs == {"question": "Why?"}


def test_entries_printed_as_python_are_read_and_never_run(tmp_path: Any) -> None:
    signature, demos, inputs = drawn(3)
    data = entry(dspy.ChatAdapter().format(signature, demos, inputs))
    hostile = f"open({str(tmp_path / 'made')!r}, 'w')"
    text = repr([data])[:-2] + f", 'response': ModelResponse(id='x', choices=[Choices()]), 'usage': {hostile}}}]"
    text = f"{text[:-2]}, 'spent': {{'tokens': 3, 'details': Wrapper(audio=0), 'each': [1, Wrapper()]}}}}]"
    made = pasted(text)
    assert made.session.cases[0].extra[KEPT]["spent"] == {"tokens": 3, "details": {"audio": 0}, "each": [1, {}]}
    assert "left out, because no code is run: usage" in made.notes
    assert store.loads(store.dumps(made.session)).cases == made.session.cases
    assert made.session.cases[0].replies["chat"].text == "a reply"
    assert made.guesses == ()
    assert not (tmp_path / "made").exists()
    assert pasted_text.literals_in("['outputs'" * 5000).entries == ()


NAME = st.sampled_from(["answer", "score", "reasoning", "next_tool_args", "is_ok"])
REPLY = st.text(st.sampled_from("ab \n\t{}[]#\"'\\:,é1"), max_size=60) | st.sampled_from(
    ["", " ", '{"answer": 1}', "[[ ## answer ## ]]\nyes", "LM Response: x", "line\n\nExpected nothing \n\n", "a\\nb"]
)


@given(st.sampled_from(list(ADAPTERS)), st.lists(NAME, min_size=1, max_size=4, unique=True), REPLY, st.data())
def test_the_text_of_a_parse_error_gives_its_reply_and_fields_exactly(
    name: str, names: list[str], reply: str, data: st.DataObject
) -> None:
    signature = dspy.Signature(f"question -> {', '.join(names)}")
    adapter = {"chat": "ChatAdapter", "json": "JSONAdapter", "xml": "XMLAdapter", "baml": "BAMLAdapter"}[name]
    found = data.draw(st.none() | st.lists(st.sampled_from(names), unique=True))
    message = data.draw(st.none() | st.just("LM response cannot be serialized to a JSON object."))
    parsed: Any = None if found is None else dict.fromkeys(found)
    error = str(AdapterParseError(adapter, signature, reply, message, parsed))
    traceback = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    program()\n'
        f"dspy.utils.exceptions.AdapterParseError: {error}"
    )
    for text in (
        error,
        traceback,
        f"```\n{error}```\n",
        json.dumps({"level": "error", "message": traceback}),
        repr(error),
    ):
        (only,) = pasted_text.errors_in(text)
        assert (only.adapter, only.reply, only.expected) == (adapter, reply, tuple(names)), text
        assert only.actual == (None if found is None else tuple(found))
    made = pasted(traceback)
    assert made.session.cases[0].replies[name].text == reply
    assert list(made.session.signature.read().output_fields) == names
    assert any("no inputs" in one for one in made.guesses)


def test_a_real_failed_call_gives_the_type_that_its_message_names() -> None:
    signature = dspy.Signature("question -> answer: str, score: int")
    with pytest.raises(AdapterParseError) as caught:
        dspy.ChatAdapter().parse(signature, "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\nhigh")
    made = pasted(str(caught.value))
    assert made.session.signature.read().fields["score"].annotation is int
    said = "`chat` cannot parse the reply (AdapterParseError): it finds `answer` and `score` with a wrong value"
    assert said in made.notes
    kept = made.session.cases[0].extra[KEPT]
    assert list(made.guesses) == kept["guessed"]
    assert kept["error"].startswith("Failed to parse field score")


EXPECTED = "Expected to find output fields in the LM response: "
ACTUAL = "Actual output fields parsed from the LM response: "


@pytest.mark.parametrize(
    ("kind", "text"), [(list[Literal[1, 0]], "[7]"), (Literal["a", "b"], "c"), (list[int], '["x"]'), (bool, "perhaps")]
)
def test_types_in_a_message_are_read(kind: Any, text: str) -> None:
    signature = dspy.Signature({"q": (str, dspy.InputField()), "value": (kind, dspy.OutputField())})
    with pytest.raises(AdapterParseError) as caught:
        dspy.ChatAdapter().parse(signature, f"[[ ## value ## ]]\n{text}")
    made = pasted(str(caught.value))
    assert made.session.signature.read().fields["value"].annotation == kind
    assert "`chat` cannot parse the reply (AdapterParseError): it finds `value` with a wrong value" in made.notes


def test_a_reply_that_parses_here_is_told() -> None:
    text = str(AdapterParseError("ChatAdapter", dspy.Signature("q -> score"), "[[ ## score ## ]]\nhigh"))
    assert any("and here it parses" in one for one in pasted(text).guesses)


THREADS = {
    "dspy 8379": (
        "Adapter ChatAdapter failed to parse the LM response. \n\nLM Response: [[ ## next_thought ## ]]\nThe user"
        ' wants it.[[ ## next_tool_name ## ]]\nredacted[[ ## next_tool_args ## ]]\n{\n    "query": "x"\n}\n'
        f"[[ ## completed ## ]] \n\n{EXPECTED}[next_thought, next_tool_name, next_tool_args] \n\n"
        f"{ACTUAL}[next_thought] \n\n",
        "chat",
        ["next_thought", "next_tool_name", "next_tool_args"],
    ),
    "dspy 8276": (
        f"LM Response:  \n\n{EXPECTED}[reasoning, answer] \n\n{ACTUAL}[] \n\n | Exception: Traceback (most recent "
        "call last):\n  File ...",
        "chat",
        ["reasoning", "answer"],
    ),
    "dspy 8276 with its title": (
        "# [Bug] AdapterParseError: Adapter ChatAdapter failed to parse the LM response.\n\n### What happened?\n\n"
        f"LM Response:  \n\n{EXPECTED}[reasoning, answer] \n\n{ACTUAL}[] \n",
        "chat",
        ["reasoning", "answer"],
    ),
    "dspy 8264, quoted below a sentence": (
        "It was interrupted after a few steps:\n\n> WARNING falling back to JSON mode.\n> ERROR Adapter JSONAdapter "
        'failed to parse the LM response.  \n> \n> LM Response: {"type": "function", "parameters": {}} \n> \n'
        f"> {EXPECTED}[discussion, advice] \n> \n> {ACTUAL}[] \n> \n> . Set `provide_traceback=True`.\nMore prose.",
        "json",
        ["discussion", "advice"],
    ),
    "dspy 8539": (
        "AdapterParseError: Adapter JSONAdapter failed to parse the LM response. LM Response: "
        f'{{"json_input": {{"actors": ["A"]}}}}\n{EXPECTED}[reasoning, actors]\n{ACTUAL}[]',
        "json",
        ["reasoning", "actors"],
    ),
}


@pytest.mark.parametrize("thread", THREADS)
def test_errors_as_people_posted_them(thread: str) -> None:
    text, adapter, names = THREADS[thread]
    made = pasted(text)
    assert made.session.columns[0].adapter == adapter
    assert list(made.session.signature.read().output_fields) == names
    assert not any("differs" in one for one in made.guesses)
    assert any("cannot parse the reply" in one for one in made.notes)


def test_a_given_signature_is_kept() -> None:
    text = THREADS["dspy 8276"][0]
    made = pasted(text, given=SignatureText("question, context: list[str] -> answer"))
    assert made.session.signature.predictor == "ChainOfThought"
    assert not any("has no output" in one for one in made.guesses)
    other = pasted(text, given=SignatureText("question -> label"))
    assert any("no output `reasoning`, `answer`" in one for one in other.guesses)


def test_other_text_holds_no_call() -> None:
    for text in ("", "Hello", "Response:", "[1, 2]", "{'a': 1}", "LM Response: x"):
        assert not pasted_calls.find(text)


PRINTED = """[2025-01-02T21:33:21.657114]

System message:

Your input fields are:
1. `question` (str)

Your output fields are:
1. `answer` (str)

All interactions will be structured in the following way, with the appropriate values filled in.

[[ ## question ## ]]
{question}

[[ ## answer ## ]]
{answer}

[[ ## completed ## ]]

In adhering to this structure, your objective is:
        Be brief.

User message:

[[ ## question ## ]]
Why?

Response:

[[ ## answer ## ]]
Because.

[[ ## completed ## ]]"""


def test_a_printed_call_in_inline_code_with_prose_around_it_ends_with_the_code() -> None:
    made = pasted(f"Hi, the last prompt is as follows:\n\n`{PRINTED}`\n\nIs `this` a prompt?")
    (case,) = made.session.cases
    assert case.inputs == {"question": "Why?"}
    assert case.replies["chat"].text.endswith("Because.\n\n[[ ## completed ## ]]")
    assert any("blank lines" in one for one in made.guesses)


def test_quote_marks_in_a_reply_that_is_not_quoted_stay() -> None:
    reply = "> a quote\n> of two lines"
    text = f"Adapter ChatAdapter failed to parse the LM response. \n\nLM Response: {reply} \n\n{EXPECTED}[answer] \n\n"
    (error,) = pasted_text.errors_in(text)
    assert error.reply == reply


def test_a_call_pasted_from_a_terminal_is_known_by_its_lines() -> None:
    """Terminals send the ends of pasted lines as `\\r`."""
    assert pasted_text.holds_calls("System message:\r\rYour input fields are:\r1. `question` (str)")
    assert not pasted_text.holds_calls("System message:\r\rYou are helpful.")
    assert pasted_text.holds_calls(PRINTED.replace("\n", "\r"))
    made = pasted(PRINTED.replace("\n", "\r"))
    assert made.session.cases[0].inputs == {"question": "Why?"}


@pytest.mark.parametrize(("kind", "empty"), [(list[str], []), (dict[str, int], {}), (list[Line], [])])
def test_an_empty_list_in_xml_is_a_value_of_its_demo(kind: Any, empty: Any) -> None:
    fields = {"text": (str, dspy.InputField()), "rows": (kind, dspy.OutputField()), "a": (str, dspy.OutputField())}
    demos = [{"text": "one", "rows": empty, "a": "x"}, {"text": "two", "rows": empty, "a": "y"}]
    messages = dspy.XMLAdapter().format(dspy.Signature(fields, "Sort."), demos, {"text": "three"})
    made = pasted(printed(entry(messages)))
    assert [dict(one.values) for one in made.session.demos] == demos
    assert not any("rendered again" in one for one in made.guesses)


def other_release(adapter: str, listing: str, question: str, template: str) -> Imported:
    """A history as dspy 3.0 to 3.2 prints it: XML's questions with Chat's markers, JSON in XML, BAML without words."""
    system = f"Your input fields are:\n1. `ticket` (dict[str, int]):\nYour output fields are:\n{listing}\nAll "
    system += (
        f"interactions will be structured in the following way, with the appropriate values filled in.\n\n{template}"
    )
    system += "\nIn adhering to this structure, your objective is: \n        Sort."
    demo = {"xml": '<rows>\n[{"n": 1}]\n</rows>', "baml": '{"rows": [{"n": 1}]}'}[adapter]
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": question},
        {"role": "assistant", "content": demo},
        {"role": "user", "content": question},
    ]
    return pasted(printed(entry(messages)))


def test_histories_of_other_releases_keep_their_values_and_mark_what_they_do_not_show() -> None:
    template = "<ticket>\n{ticket}\n</ticket>\n\n<rows><item><n>...</n></item></rows>"
    marked = '[[ ## ticket ## ]]\n{"a": 1}'
    made = other_release("xml", "1. `rows` (list[Row]): the rows", marked, template)
    assert made.session.columns[0].adapter == "xml"
    assert dict(made.session.cases[0].inputs) == {"ticket": {"a": 1}}
    assert dict(made.session.demos[0].values) == {"ticket": {"a": 1}, "rows": [{"n": 1}]}
    assert "the prompt shows the names in Row, not their types: Any is proposed" in made.guesses
    assert any("rendered again" in one for one in made.guesses)
    request = (
        "Respond with a JSON object in the following order of fields: `rows` (must be formatted as a valid Python "
    )
    request += "list[Literal['a)', 'b']]).\n"
    template = "[[ ## rows ## ]]\nOutput field `rows` should be of type: {n: int,}[]\n\n[[ ## completed ## ]]"
    made = other_release("baml", "1. `rows` (list):", f"{marked}\n\n{request}", template)
    assert made.session.signature.read().fields["rows"].annotation == list[Literal["a)", "b"]]
    made = other_release("baml", "1. `rows` (list):", marked, template)
    assert {
        "no field has a description: BAMLAdapter of dspy 3.0 shows none",
        "the prompt does not show the items of `rows`",
    } <= set(made.guesses)


def test_an_error_as_pytest_prints_it() -> None:
    error = AdapterParseError("JSONAdapter", dspy.Signature("question -> answer"), "{'b': 1}", parsed_result={})
    failed = f"AdapterParseError: {error}".split("\n")
    text = "\n".join(["    def test() -> None:", *(f"E           {line}".rstrip() for line in failed), "a.py:3: Error"])
    made = pasted(f"It fails:\n```\n{text}\n```")
    assert made.session.cases[0].replies["json"].text == "{'b': 1}"
    assert not any("other text is between" in one for one in made.guesses)


def test_messages_without_a_reply_become_a_prompt() -> None:
    signature, demos, inputs = drawn(3)
    messages = dspy.ChatAdapter().format(signature, demos, inputs)
    lines = [f"{one['role'].title()} message:\n{one['content']}" for one in messages]
    texts = ["```\n" + "\n".join(lines) + "\n```\nWhere is the reply?", f"`{messages!r}`"]
    for text in texts:
        made = pasted(text)
        assert list(made.session.signature.read().fields) == list(signature.fields)
        assert made.session.cases[0].replies == {}
        assert not lm_call.differences(made.session, messages, is_printed=True)
    assert "the text has no reply" in pasted(texts[0]).guesses


@pytest.mark.parametrize("name", ["chat", "json"])
def test_a_history_that_a_page_shows_in_fences_ends_with_its_fence(name: str) -> None:
    signature, demos, inputs = drawn(3)
    messages = ADAPTERS[name]().format(signature, demos, inputs)
    first, second = [printed(entry(messages, reply)).strip() for reply in ("one", "two")]
    first = re.sub(r"\A\[.*?\]\s*", "", first)  # the page leaves out the time of the first call
    page = f"So:\n```\n{first}\n```\n\nthen\n\n```\nprogram()\n```\n\n```\n{second}\n```\nThe end."
    for call, reply in ((1, "one"), (2, "two")):
        made = pasted(
            re.sub(r"[ \t]+$", "", page, flags=re.MULTILINE), call=call
        )  # white space at ends of lines is lost
        assert made.session.cases[0].replies[name].text == reply
        assert made.session.signature.read().instructions == signature.instructions
        assert dict(made.session.cases[0].inputs) == inputs


@pytest.mark.parametrize("name", ["chat", "json"])
def test_a_history_in_an_indented_block_of_a_page_is_read(name: str) -> None:
    signature, demos, inputs = drawn(3)
    data = entry(ADAPTERS[name]().format(signature, demos, inputs))
    shown = textwrap.indent(printed(data).strip(), "    ")
    objects = ", 'response': ModelResponse(choices=[Choices(message=Message(content='a'))])}]"
    python = textwrap.indent(pprint.pformat([data], sort_dicts=False)[:-2] + objects, "    ")
    page = "The prompt:\n\n```python\n{}\n```\n\n{}\n\nHere we see the prompt.\n\n    {{'model': 'openai/x'}}\n"
    for text in (page.format("lm.inspect_history(1)", shown), page.format("lm.history", python)):
        assert pasted_text.holds_calls(text)
        made = pasted(text)
        assert made.session.signature.read().instructions == signature.instructions
        assert dict(made.session.cases[0].inputs) == inputs
        assert made.session.cases[0].replies[name].text == "a reply"


def test_the_blank_line_after_the_fields_of_older_releases_is_no_part_of_the_last_one() -> None:
    fields = "1. `answer` (str): the answer\nConstraints: maximum length: 200"
    text = PRINTED.replace("1. `answer` (str)", fields).replace("1. `question` (str)", "1. `question` (str): asked")
    signature = pasted(text).session.signature.read()
    assert signature.fields["question"].desc == "asked"
    assert signature.fields["answer"].constraints == "maximum length: 200"


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: Expected dict_keys(['reasoning', 'answer']) but got dict_keys(['answer'])",
        "AdapterParseError: Failed to parse field rating with value 3 from the LM response.",
        "[Bug] an AdapterParseError with Expected to find output fields in the LM response: [next_thought]",
    ],
)
def test_an_error_without_its_reply_is_told_from_other_text(text: str) -> None:
    with pytest.raises(SessionError, match="it names an error of dspy, but not the reply"):
        pasted(text)


@pytest.mark.parametrize("text", [None, "[[ ## answer ## ]]\nYes."])
@pytest.mark.parametrize("adapter", ["chat", "json"])
def test_printed_tool_calls_become_turns_and_a_reply(adapter: str, text: str | None) -> None:
    class Ask(dspy.Signature):
        """Answer."""

        question: str = dspy.InputField()
        history: dspy.History = dspy.InputField()
        tools: list[dspy.Tool] = dspy.InputField()
        answer: str = dspy.OutputField()
        calls: dspy.ToolCalls = dspy.OutputField()

    called = [{"id": f"call_{one}", "name": "look", "args": {"text": f"{one} é"}} for one in (1, 2)]
    results = [{"call_id": one["id"], "name": "look", "value": "Tool calls:"} for one in called]
    turns = [
        {"question": "q1", "calls": {"tool_calls": called, "tool_call_results": {"tool_call_results": results}}},
        {"question": "q2", "answer": "a2"},
    ]
    made = ADAPTERS[adapter]()
    made.use_native_function_calling = True
    signature = Ask.delete("tools").delete("calls")
    history = dspy.History(messages=[{**turns[0], "calls": dspy.ToolCalls.model_validate(turns[0]["calls"])}, turns[1]])
    messages = made.format(signature, [], {"question": "q3", "history": history})
    output = {"text": text, "tool_calls": [{"function": {"name": "look", "arguments": '{"text": "x"}'}}]}
    printed = io.StringIO()
    pretty_print_history([{"messages": messages, "outputs": [output], "timestamp": "now"}] * 2, 2, file=printed)
    assert len(pasted_calls.find(printed.getvalue())) == 2
    (case,) = (one := sources.load("-", text=printed.getvalue(), call=2)).session.cases
    assert case.history == ({"question": "q1", "tool_calls": turns[0]["calls"]}, turns[1])
    (reply,) = case.replies.values()
    assert (reply.text, [each["function"]["name"] for each in reply.tool_calls or ()]) == (text or "", ["look"])
    assert [each.name for each in one.session.tools] == ["look"]
    assert one.guesses == (
        "the ids of tool calls are not printed: results belong to the calls in their order",
        "the call does not describe the tool `look`: its arguments are unknown",
        "the prompt has no names for tools and their calls: `tools` and `tool_calls` are proposed",
    )


def test_an_error_cut_off_before_the_reply_gives_field_value_and_choices() -> None:
    """As in dspy's issue 10062."""

    class Rate(dspy.Signature):
        text: str = dspy.InputField()
        rating: Literal[1, 2, 3] = dspy.OutputField()

    with pytest.raises(AdapterParseError) as caught:
        dspy.ChatAdapter().parse(Rate, "[[ ## rating ## ]]\n7")
    text = "adapter.parse(Rate, completion)\n# AdapterParseError: " + str(caught.value).split("\n\n")[0]
    assert pasted_text.holds_calls(text)
    made = sources.load("-", text=text)
    assert made.session.signature.read().fields["rating"].annotation == Literal[1, 2, 3]
    (reply,) = made.session.cases[0].replies.values()
    assert reply.text == "[[ ## rating ## ]]\n7"
    assert not any("offline" in one for one in made.notes)
    assert "the error's text ends before the reply: the reply is made from the value in it" in made.guesses


@pytest.mark.parametrize("lines", [("", ""), ("```", "print(1)", "```", "")])
def test_a_reply_in_a_page_ends_with_its_marker_and_fence(lines: tuple[str, ...]) -> None:
    """As in dspy's tutorial on entities, whose page goes on with more fences."""
    messages = dspy.ChatAdapter().format(dspy.Signature("question -> answer"), [], {"question": "Why?"})
    reply = "\n".join(["[[ ## answer ## ]]", *lines, "[[ ## completed ## ]]"])
    printed = io.StringIO()
    pretty_print_history([{"messages": messages, "outputs": [reply]}], 1, file=printed)
    page = f"# Page\n\n```\n{printed.getvalue().strip()}\n```\nMore:\n\n```\n0.26\n```\n"
    assert first_reply(made := sources.load("-", text=page)) == reply
    assert made.notes[0] == "2 messages, as `chat` made them"  # the text names no model


def test_a_history_of_messages_without_a_system_prompt_of_dspy_becomes_turns() -> None:
    """As in dspy's issue 8195: printed as Python, with a comment, below prose."""
    shown = """The user message is right:

```python
lm.history

[
    {'role': 'system', 'content': '...'}, # omitted
    {'role': 'user', 'content': "What's <b>it</b>?"},
    {'role': 'assistant', 'content': 'Nothing.'},
]
```
"""
    case = sources.load("-", text=shown).session.cases[0]
    assert case.history == ({"question": "What's <b>it</b>?", "answer": "Nothing."},)


@pytest.mark.parametrize("dots", ["...", "…"])
def test_a_page_that_abbreviates_the_prompt_is_told_so(dots: str) -> None:
    text = f"System message:\n\nYour input fields are:\n1. `question` (str)\n\n{dots}\n\n\nResponse:\n\n"
    text += "[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]\n"
    with pytest.raises(SessionError, match=r"abbreviated \(`\.\.\.`\): fields are missing in it .*--signature"):
        pasted(text)
    made = pasted(text, given=SignatureText("question -> answer"))
    assert made.session.cases[0].replies["chat"].text.startswith("[[ ## answer ## ]]\nParis")
    assert made.notes[0] == "1 message, as `chat` made them"


def test_a_page_without_a_call_is_told_so() -> None:
    with pytest.raises(SessionError, match="it contains neither JSON nor a call of dspy"):
        sources.load("-", text="# ChatAdapter fails\n\nMOCK = '[[ ## topic ## ]]'\n")
    with pytest.raises(SessionError, match="not valid JSON"):
        sources.load("-", text="{'a': 1")


def test_demos_with_a_history_of_their_own_keep_it() -> None:
    """As in dspy's issue 9022."""
    signature = dspy.Signature("question, history: dspy.History -> answer")
    demos = [{"question": "q1", "history": dspy.History(messages=[]), "answer": "a1"}]
    messages = dspy.ChatAdapter().format(signature, demos, {"question": "q2", "history": dspy.History(messages=[])})
    made = lm_call.from_call({"messages": messages, "outputs": ["x"]}, "x")
    assert dict(made.session.demos[0].values) == {"question": "q1", "history": {"messages": []}, "answer": "a1"}
    assert made.questions == ()


@pytest.mark.parametrize(
    "page",
    [
        "{}",
        "[{}]",
        ">>> lm.history[-1]\n{}\n",
        "import dspy\n\nhistory = [{}]\nprint(history)\n",
        "Out[3]: [{}]\n\nMore.",
    ],
)
def test_a_history_as_python_is_data_also_in_a_python_file(page: str, tmp_path: Path) -> None:
    """As `print(lm.history)` shows it: `response` and classes in angle brackets are no literals."""
    signature, demos, inputs = drawn(3)
    data = entry(dspy.JSONAdapter().format(signature, demos, inputs), "<class 'kept'>")
    data |= {"kwargs": {"temperature": 0.5}, "response": {}}
    text = repr(data).replace(
        "'response': {}",
        "'response': ModelResponse(created=datetime.datetime(2025, 1, 2), usage=Usage(total=-3, x=[b'', ...]))",
    )
    shown = "{'format': <class 'dspy.Outputs'>, 'at': <a.b object at 0x7f>, 'kind': <Kind.A: 'a'>, "
    path = tmp_path / "history.py"
    path.write_text(page.format(text.replace("'kwargs': {", f"'kwargs': {shown}")))
    for made in (sources.load(str(path)), sources.load("standard input", text=path.read_text())):
        assert made.session.cases[0].replies["json"].text == "<class 'kept'>"
        assert made.session.params["temperature"] == 0.5
        assert not lm_call.differences(made.session, data["messages"])
        kept = made.session.cases[0].extra["imported"]["response"]
        assert kept == {"usage": {"total": -3, "x": []}}
        left_out = "kwargs.format, kwargs.at, kwargs.kind, response.created, response.usage.x"
        assert f"left out, because no code is run: {left_out}" in made.notes


@pytest.mark.parametrize("name", ["log.jsonl", "log.txt", None])
def test_a_log_in_json_lines_is_read_for_its_calls(name: str | None, tmp_path: Path) -> None:
    signature, demos, inputs = drawn(3)
    calls = [entry(dspy.ChatAdapter().format(signature, demos, inputs), one) | {"cost": None} for one in ("a", "b")]
    raised = AdapterParseError("ChatAdapter", signature, "[[ ## answer ## ]]\nyes")
    error = {"level": "error", "message": str(raised)}
    for lines, said in ((calls, ["a", "b"]), ([error], ["[[ ## answer ## ]]\nyes"])):
        text = "".join(json.dumps(one) + "\n" for one in lines)
        path = tmp_path / (name or "none")
        path.write_text(text)
        made = sources.load(str(path)) if name else sources.load("standard input", text=text)
        assert [one.text for case in made.session.cases for one in case.replies.values()] == said


def test_a_program_with_a_class_beside_a_history_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    shown = "class Ask(dspy.Signature):\n    question: str = dspy.InputField()\n    answer: str = dspy.OutputField()\n"
    path.write_text(f"import dspy\n\n{shown}\nhistory = [{{'messages': [], 'outputs': ['x']}}]\n")
    assert sources.load(str(path)).session.signature.class_name == "Ask"


def test_printed_messages_with_other_labels_are_read() -> None:
    """As in dspy's issue 8261, which prints two messages below its own labels."""
    text = (
        PRINTED.partition("User message:")[0].rstrip() + "\nConstructed assistant message:\n[[ ## answer ## ]]\nParis\n"
    )
    made = pasted(text)
    assert "Constructed" not in made.session.signature.read().instructions
    assert first_reply(made) == "[[ ## answer ## ]]\nParis"
    assert "the text has no reply: its last message is taken as the reply" in made.guesses


def first_reply(made: Imported) -> str:
    return next(iter(made.session.cases[0].replies.values())).text


@pytest.mark.parametrize(
    "piece",
    ["Failed to parse field a with value ", "field a is not one of (", "field a with value x from the LM response. "],
)
def test_looking_for_an_error_without_its_reply_is_linear(piece: str) -> None:
    text = "Failed to parse field a with value x from the LM response. Error message: " + piece * 20_000
    assert loops(lambda: pasted_text.holds_calls(piece * 20_000)) < LOOPS_A_SECOND
    assert loops(lambda: sources.load("-", text=text)) < LOOPS_A_SECOND


@pytest.mark.parametrize(
    "piece",
    [
        "System message:\n\nx\n\n\nResponse:\n\n" + "a word\n" * 300 + "\n\n",
        "\x1b[31mUser message:\x1b[0m\n" + "\x1b[32m2026\x1b[0m | INFO\n" * 99,
    ],
    ids=["one time", "lines of a log"],
)
def test_finding_the_calls_of_a_printed_history_is_linear(piece: str) -> None:
    text = "[2026-01-02T03:04:05]\n\n" + piece * 500
    assert loops(lambda: pasted_text.history_in(text)) < LOOPS_A_SECOND


@pytest.mark.parametrize("write", [repr, json.dumps, lambda data: pprint.pformat(data).replace("\n", "\r")])
def test_pasted_entries_of_a_history_are_chosen_from(write: Callable[[object], str]) -> None:
    signature, demos, inputs = drawn(3)
    messages = dspy.ChatAdapter().format(signature, demos, inputs)
    text = write([entry(messages, "first"), entry(messages, "  second\n")])
    assert pasted_text.holds_calls(text) and not pasted_calls.find(text)
    calls = pasted_calls.entries_in(text)
    assert [one[-8:].strip() for one in calls.titles()] == ["-> first", "> second"]
    made = pasted_calls.from_calls(calls, "the pasted text", number=2)
    assert made.session.cases[0].replies["chat"].text == "  second\n"
    assert not lm_call.differences(made.session, messages)
