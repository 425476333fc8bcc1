"""A printed history becomes the signature, demos, inputs and reply of its call, or a guess says what is unsure."""

from __future__ import annotations

import datetime
import enum
import io
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import pydantic
import pytest
from dspy.adapters.baml_adapter import BAMLAdapter
from dspy.utils.inspect_history import pretty_print_history

from adapters.signatures.signature import without_none
from sessions.imports import lm_call, sources
from sessions.imports.reading import Imported
from sessions.running import rendering

ADAPTERS: dict[str, Any] = {
    "chat": dspy.ChatAdapter(),
    "json": dspy.JSONAdapter(),
    "xml": dspy.XMLAdapter(),
    "baml": BAMLAdapter(),
}


def printed(
    signature: Any,
    inputs: Mapping[str, Any],
    demos: Sequence[Mapping[str, Any]] = (),
    reply: str = "a reply",
    adapter: str = "chat",
    time: str = "2026-01-02T03:04:05",
) -> tuple[str, list[dict[str, Any]]]:
    messages = ADAPTERS[adapter].format(signature, list(demos), dict(inputs))
    out = io.StringIO()
    pretty_print_history([{"prompt": None, "messages": messages, "outputs": [reply], "timestamp": time}], 1, file=out)
    return out.getvalue(), messages


def pasted(text: str) -> Imported:
    return sources.load("the clipboard", text=text)


def reply_of(made: Imported) -> str:
    return next(iter(made.session.cases[0].replies.values())).text


ONE = dspy.Signature({"question": (str, dspy.InputField(desc="asked")), "answer": (str, dspy.OutputField())}, "Answer.")


@pytest.mark.parametrize(
    "instructions",
    [
        "In adhering to this structure, your objective is: \n        Fake.",
        "\n  Leading.\nother",
        "Answer.\n    x\n    y",
        "See:\n```\nUser message:\n```\nbelow.",
        "\n        User message:\nas it is.",
    ],
)
@pytest.mark.parametrize("described", [None, "what is asked"])
def test_instructions_that_quote_a_prompt_or_begin_with_spaces_are_kept(
    instructions: str, described: str | None
) -> None:
    question = dspy.InputField(desc=described) if described else dspy.InputField()
    signature = dspy.Signature({"question": (str, question), "answer": (str, dspy.OutputField())}, instructions)
    text, messages = printed(signature, {"question": "Why?"})
    made = pasted(text)
    assert made.session.signature.read().instructions == signature.instructions
    assert made.guesses == ()
    assert not lm_call.differences(made.session, messages, is_printed=True)


@pytest.mark.parametrize("before", [" ", "\n**", "\n- "])
def test_instructions_below_an_edited_objective_are_kept(before: str) -> None:
    signature = dspy.Signature("question -> answer", "Do it well.\nIn adhering to this.")
    made = pasted(printed(signature, {"question": "Why?"})[0].replace("\nIn adhering", f"{before}In adhering", 1))
    assert made.session.signature.read().instructions == "Do it well.\nIn adhering to this."


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    "value",
    [
        "```python\nprint(1)\n```",
        "Tool calls:\nsearch: {}",
        '{"answer": 1}',
        "Response:\n\nnone",
        "It:\n        User message:\n        x",
    ],
)
def test_texts_that_look_like_a_part_of_the_print_are_values(value: str, adapter: str) -> None:
    demo = {"question": value, "answer": value}
    text, messages = printed(ONE, {"question": value}, [demo, demo], value, adapter)
    made = pasted(text)
    assert [dict(one.values) for one in made.session.demos] == [demo, demo]
    assert dict(made.session.cases[0].inputs) == {"question": value}
    assert reply_of(made) == value.strip()
    assert made.guesses == ()
    assert not lm_call.differences(made.session, messages, is_printed=True)


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("kind", [str | None, dspy.Code])
@pytest.mark.parametrize("value", ['{"a": 1}', "5"])
def test_a_text_that_is_json_stays_a_text_where_the_type_takes_it(value: str, kind: Any, adapter: str) -> None:
    signature = dspy.Signature({"q": (kind, dspy.InputField(desc="asked")), "answer": (str, dspy.OutputField())})
    text, messages = printed(signature, {"q": value}, adapter=adapter)
    made = pasted(text)
    assert (dict(made.session.cases[0].inputs), made.guesses) == ({"q": value}, ())
    assert not lm_call.differences(made.session, messages, is_printed=True)


QUOTING = "Yes.\n\n\nUser message:\n\nnot a message"


def test_a_reply_that_quotes_a_message_is_whole_because_the_next_call_begins_with_its_time() -> None:
    text, _ = printed(ONE, {"question": "Why?"}, reply=QUOTING)
    made = pasted(text)
    assert (reply_of(made), made.guesses) == (QUOTING, ())
    untimed = pasted(text.replace("[2026-01-02T03:04:05]\n", ""))
    assert reply_of(untimed) == "Yes."
    assert untimed.guesses == (
        "messages after the last reply are left out: they have no reply, or belong to the last one",
    )


def test_colours_of_a_value_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    red = "\x1b[31mred\x1b[0m"
    messages = ADAPTERS["chat"].format(ONE, [], {"question": red})
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    reply = f"a\nb {red} c"
    pretty_print_history([{"prompt": None, "messages": messages, "outputs": [reply], "timestamp": "Unknown time"}], 1)
    monkeypatch.undo()
    made = pasted(out.getvalue())
    assert dict(made.session.cases[0].inputs) == {"question": red}
    assert reply_of(made) == reply


def test_two_kinds_of_line_ends_are_named() -> None:
    text, _ = printed(ONE, {"question": "one\r\ntwo"})
    made = pasted(text)
    assert dict(made.session.cases[0].inputs) == {"question": "one\ntwo"}
    assert made.guesses == ("lines end in \\r\\n and in \\n: \\n is used for all",)


def test_none_in_a_text_is_none_where_the_type_allows_it() -> None:
    signature = dspy.Signature({"q": (str | None, dspy.InputField()), "answer": (str, dspy.OutputField())})
    made = pasted(printed(signature, {"q": None}, [{"q": None, "answer": "None"}])[0])
    assert dict(made.session.cases[0].inputs) == {"q": None}
    assert dict(made.session.demos[0].values) == {"q": None, "answer": "None"}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("kind", [int, list[str], dict[str, Any]])
def test_a_value_that_is_missing_is_none_whatever_its_type(kind: Any, adapter: str) -> None:
    signature = dspy.Signature({"q": (kind, dspy.InputField(desc="asked")), "answer": (kind, dspy.OutputField())})
    text, messages = printed(signature, {"q": None}, [{"q": None, "answer": None}], adapter=adapter)
    made = pasted(text)
    assert (dict(made.session.cases[0].inputs), made.guesses) == ({"q": None}, ())
    assert dict(made.session.demos[0].values) == {"q": None, "answer": None}
    assert not lm_call.differences(made.session, messages, is_printed=True)


class Line(pydantic.BaseModel):
    """A line."""

    text: str = pydantic.Field(description="as printed")
    count: int = 1


class Total(pydantic.BaseModel):
    """A sum."""

    sum: int


class Rebate(pydantic.BaseModel):
    """A rebate."""

    rate: float


class Note(pydantic.BaseModel):
    note: str = "none"


class Invoice(pydantic.BaseModel):
    """An invoice.
    In two lines."""

    number: str = pydantic.Field(description="first")
    main: Line
    total: Total = pydantic.Field(description="last line")
    notes: list[Note]
    other: Rebate | None = pydantic.Field(description="if any")
    due: datetime.date | None = None


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def of_type(kind: Any) -> Any:
    return dspy.Signature(
        {"question": (str, dspy.InputField(desc="asked")), "answer": (kind, dspy.OutputField())}, "Do it."
    )


def test_the_comments_of_a_baml_prompt_describe_classes_and_fields() -> None:
    text, messages = printed(of_type(Invoice), {"question": "Why?"}, adapter="baml")
    made = pasted(text)
    assert not lm_call.differences(made.session, messages, is_printed=True)
    invoice = made.session.signature.read().fields["answer"].annotation
    assert invoice.__doc__ == "An invoice.\nIn two lines."
    assert invoice.model_fields["total"].annotation.__doc__ == "A sum."
    assert without_none(invoice.model_fields["other"].annotation).__doc__ == "A rebate."
    assert {name: one.description for name, one in invoice.model_fields.items()} == {
        "number": "first",
        "main": "A line.",
        "total": "last line",
        "notes": None,
        "other": "if any",
        "due": None,
    }
    assert made.guesses == (
        "BAMLAdapter shows no defaults: all fields of `Invoice` are required",
        "BAMLAdapter shows no defaults: all fields of `Main` are required",
        "BAMLAdapter shows no defaults: all fields of `Total` are required",
        "BAMLAdapter shows no defaults: all fields of `Notes` are required",
        "BAMLAdapter shows no defaults: all fields of `Other` are required",
        "the prompt shows the contents of Invoice, not the names of its classes",
    )


def test_fields_in_alphabetical_order_are_a_guess_where_some_have_defaults() -> None:
    made = pasted(printed(of_type(Line), {"question": "Why?"})[0])
    assert list(made.session.signature.read().fields["answer"].annotation.model_fields) == ["text", "count"]
    assert made.guesses == (
        "the prompt shows the fields of `Line` in alphabetical order: those with defaults, `count`, are put last",
    )


def test_an_alphabetical_order_is_kept_where_all_fields_have_defaults() -> None:
    every = pydantic.create_model("Every", b=(int, 1), a=(str, "x"))
    made = pasted(printed(of_type(every), {"question": "Why?"})[0])
    assert list(made.session.signature.read().fields["answer"].annotation.model_fields) == ["a", "b"]
    assert made.guesses == ("the prompt shows the fields of `Every` in alphabetical order, which is kept",)


def test_fields_that_an_old_release_shows_in_their_order_keep_it() -> None:
    text, _ = printed(of_type(Line), {"question": "Why?"})
    shown = '{"type": "object", "properties": {"b": {"type": "string"}, "c": {"type": "integer", "default": 1}, '
    shown += '"a": {"type": "string"}}, "required": ["b", "a"], "title": "Line"}'
    start = "must adhere to the JSON schema: "
    old = "\n".join(line.partition(start)[0] + start + shown if start in line else line for line in text.split("\n"))
    made = pasted(old)
    assert list(made.session.signature.read().fields["answer"].annotation.model_fields) == ["b", "c", "a"]


def test_values_of_an_enum_that_are_all_numbers_are_numbers() -> None:
    made = pasted(printed(of_type(Level), {"question": "Why?"})[0])
    found = made.session.signature.read().fields["answer"].annotation
    assert [one.value for one in found] == [1, 2]
    assert made.guesses == (
        "the prompt shows the values of Level, not the names of its members; these are taken as numbers",
    )


def test_an_object_that_baml_writes_over_several_lines_is_named() -> None:
    signature = dspy.Signature(
        {"line": (Line, dspy.InputField(desc="given")), "answer": (str, dspy.OutputField())}, "Do it."
    )
    text, messages = printed(signature, {"line": Line(text="x")}, adapter="baml")
    made = pasted(text)
    assert made.session.cases[0].inputs["line"] == '{\n  "text": "x",\n  "count": 1\n}'
    assert made.guesses == (
        "the type of `line` is Line, which only its source defines: an empty class is proposed",
        "`line`: BAMLAdapter writes an object of a class as lines, which are kept as text",
    )
    request = rendering.request_of(made.session, made.session.columns[0], made.session.cases[0])
    assert request.prompt.as_dicts() == messages
