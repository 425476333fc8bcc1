"""The offline models, each under every adapter."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from scripted_lm import collect

from adapters.formats.catalog import make
from adapters.formats.chat import ChatAdapter
from adapters.lm import ProviderError
from adapters.lm import open as open_model
from adapters.lm.offline import NAMES, PERSONAS, OfflineLM, task
from adapters.mutations import CATALOGUE
from adapters.requests.capabilities import NONE
from adapters.requests.request import prepare
from adapters.running import runner
from adapters.running.runs import Run
from adapters.signatures.notation import read
from tests.support.pace import LOOPS_A_SECOND, loops

ADAPTERS = ("chat", "json", "xml", "baml", "twostep", "markdown")

WEATHER = read("question, context: list[str] -> answer: Literal['yes', 'no'], score: float, reasons: list[str]")
RAIN = {"question": "Is it raining in Bergen?", "context": ["In Bergen it pours.", "Umbrellas\nare sold out."]}

ORDER = read(
    '''
import datetime
from enum import Enum
from typing import Literal, Optional

import dspy
from pydantic import BaseModel, Field


class Urgency(Enum):
    LOW = "low"
    HIGH = "high"


class Item(BaseModel):
    name: str = Field(description="what is ordered")
    quantity: int = Field(ge=1, le=20)
    price: Optional[float] = None


class Order(BaseModel):
    number: str
    customer: str
    day: datetime.date
    items: list[Item]


class ReadOrder(dspy.Signature):
    """Read the order."""

    letter: str = dspy.InputField()
    order: Order = dspy.OutputField()
    urgency: Urgency = dspy.OutputField()
    paid: bool = dspy.OutputField()
    pieces: int = dspy.OutputField(desc="how many in all", ge=1, le=100)
    note: Optional[str] = dspy.OutputField()
'''
)
LETTER = {
    "letter": "Order A-2044 of 2024-03-02. Jane Doe wants 2 red apples at 3.50 each & 4 pears < 5 kg, urgently (high)."
}
DEMO = {
    "letter": "Order B-1 of 2023-12-24. Ada Li wants 1 lamp.",
    "order": {
        "number": "B-1",
        "customer": "Ada Li",
        "day": "2023-12-24",
        "items": [{"name": "lamp", "quantity": 1, "price": None}],
    },
    "urgency": "low",
    "paid": False,
    "pieces": 1,
    "note": "a lamp",
}


def ask(adapter: str, model: str, signature: Any = WEATHER, demos: Any = (), inputs: Any = RAIN, **options: Any) -> Run:
    lm = open_model(f"offline/{model}", chunk_seconds=0)
    return runner.run(make(adapter), lm, signature, demos, inputs, fallback=False, **options)


def reply(run: Run) -> str:
    return run.attempts[0].completions[0].text


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_exact_answers_so_that_every_adapter_reads_it(adapter: str) -> None:
    run = ask(adapter, "exact")
    assert run.ok, run.error
    assert run.values["answer"] in ("yes", "no")
    assert 0 < run.values["score"] < 1
    assert "In Bergen it pours." in run.values["reasons"]


@pytest.mark.parametrize("adapter", ["chat", "json", "twostep", "markdown"])
def test_exact_fills_nested_types_from_their_schema(adapter: str) -> None:
    run = ask(adapter, "exact", ORDER, (), LETTER)
    assert run.ok, run.error
    order = run.values["order"]
    assert str(order.day) == "2024-03-02"
    assert all(1 <= item.quantity <= 20 for item in order.items)
    assert run.values["urgency"].value == "high"
    assert 1 <= run.values["pieces"] <= 100


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_exact_names_keys_by_the_aliases_that_the_adapter_parses(adapter: str) -> None:
    aliased = read(
        """
import dspy
from dspy.experimental import Choice
from pydantic import BaseModel, Field

class Bill(BaseModel):
    total: int = Field(alias="Total")

class Judge(dspy.Signature):
    \"\"\"Judge the bill.\"\"\"
    text: str = dspy.InputField()
    bill: Bill = dspy.OutputField()
    grade: Choice[("fair", "as agreed"), ("wrong", "not as agreed")] = dspy.OutputField(desc="how it is")
"""
    )
    run = ask(adapter, "exact", aliased, (), {"text": "12 eggs for 3 EUR"})
    assert run.ok, run.error


@pytest.mark.parametrize("adapter", ["xml", "baml"])
def test_where_a_prompt_does_not_list_the_choices_the_examples_do(adapter: str) -> None:
    run = ask(adapter, "exact", ORDER, [DEMO], LETTER)
    assert run.ok, run.error
    assert run.values["urgency"].value in ("low", "high")


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep"])
def test_inputs_of_an_example_get_the_examples_outputs(adapter: str) -> None:
    run = ask(adapter, "exact", ORDER, [DEMO], {"letter": DEMO["letter"]})
    assert run.ok, run.error
    assert run.values["order"].customer == "Ada Li"
    assert (run.values["urgency"].value, run.values["paid"], run.values["pieces"]) == ("low", False, 1)
    if adapter != "twostep":
        assert reply(run).strip() == run.attempts[0].request["messages"][-2]["content"].strip()


@pytest.mark.parametrize("demos", [(), ({"text": "One loaf for 3", "lines": [{"item": "loaf", "price": 3.0}]},)])
def test_exact_fills_a_list_of_models_whose_shape_the_first_of_two_steps_is_not_told(demos: tuple[Any, ...]) -> None:
    lines = read(
        "from pydantic import BaseModel\n"
        "class Line(BaseModel):\n    item: str\n    price: float\n"
        "class Extract(dspy.Signature):\n    text: str = dspy.InputField()\n"
        "    lines: list[Line] = dspy.OutputField()\n"
    )
    run = ask("twostep", "exact", lines, demos, {"text": "2 pens for 3.50 and a book for 12"})
    assert run.ok, run.error
    assert all(line.item and line.price for line in run.values["lines"])


def test_an_incomplete_example_gives_what_it_has() -> None:
    demo = {**RAIN, "answer": "no"}
    run = ask("chat", "exact", demos=[demo])
    assert run.ok
    assert run.values["answer"] == "no"


def test_the_same_inputs_get_the_same_values_under_every_adapter() -> None:
    values = [dict(ask(adapter, "exact").values) for adapter in ADAPTERS]
    assert all(one == values[0] for one in values)


def test_a_picture_alone_is_answered_without_the_words_around_it() -> None:
    signature = read("picture: dspy.Image -> caption: str")
    picture = {"picture": "data:image/png;base64,AAAA"}
    values = [dict(ask(adapter, "exact", signature, inputs=picture).values) for adapter in ADAPTERS]
    assert all(one == values[0] for one in values)
    assert "picture" not in values[0]["caption"] and "##" not in values[0]["caption"]


@pytest.mark.parametrize("name", NAMES)
def test_every_model_answers_the_same_every_time(name: str) -> None:
    first, second = (ask("chat", name.removeprefix("offline/")) for _ in range(2))
    assert [one.text for one in first.attempts[0].completions] == [one.text for one in second.attempts[0].completions]


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_model_says_the_run_ends_with_a_verdict(adapter: str, name: str) -> None:
    run = ask(adapter, name.removeprefix("offline/"), ORDER, [DEMO], LETTER)
    assert run.ok is (run.error is None)
    assert run.error is None or run.error.phase == "response"


def test_chatty_puts_prose_around_the_answer() -> None:
    text = reply(ask("json", "chatty"))
    assert text.startswith(("Sure!", "Of course."))
    assert not text.endswith("}")
    assert ask("json", "chatty").ok


def test_truncated_stops_in_the_middle_for_length() -> None:
    run = ask("json", "truncated")
    assert run.attempts[0].completions[0].finish_reason == "length"
    whole = reply(ask("json", "exact"))
    assert whole.startswith(reply(run))
    assert len(reply(run)) < len(whole) * 0.85


def test_sloppy_makes_a_slip_that_depends_on_the_messages() -> None:
    replies = {reply(ask("json", "sloppy", inputs={**RAIN, "question": f"{number}?"})) for number in range(12)}
    exact = {reply(ask("json", "exact", inputs={**RAIN, "question": f"{number}?"})) for number in range(12)}
    assert not replies & exact
    assert any(text.startswith("{'") for text in replies)
    assert any(",\n}" in text for text in replies)


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
def test_fenced_wraps_the_answer(adapter: str) -> None:
    assert reply(ask(adapter, "fenced")).startswith("```")
    assert reply(ask(adapter, "fenced")).endswith("```")


def test_thinking_drafts_before_it_answers() -> None:
    text = reply(ask("chat", "thinking"))
    assert text.startswith("<think>")
    assert text.index("[[ ## answer ## ]]") < text.index("</think>") < text.rindex("[[ ## answer ## ]]")


def test_wrongcase_capitalises_the_names() -> None:
    assert "[[ ## Answer ## ]]" in reply(ask("chat", "wrongcase"))
    assert not ask("json", "wrongcase").ok


def test_midline_runs_on_in_one_line() -> None:
    assert "\n" not in reply(ask("chat", "midline"))
    assert not ask("chat", "midline").ok
    assert ask("json", "midline").ok


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
def test_missing_forgets_one_output(adapter: str) -> None:
    run = ask(adapter, "missing")
    assert not run.ok
    assert sum(name in reply(run) for name in WEATHER.output_fields) == 2


def test_mistyped_answers_in_words() -> None:
    run = ask("chat", "mistyped")
    assert not run.ok
    assert "I would say" in reply(run)


def test_empty_says_nothing_and_refusal_no() -> None:
    empty = ask("chat", "empty")
    assert empty.error is not None
    assert "The LM returned an empty or null response." in empty.error.message
    assert reply(empty) == ""
    assert "I can't help" in reply(ask("chat", "refusal"))


def test_toolcall_calls_a_tool_that_nobody_gave_it() -> None:
    assert '"name": "final_answer"' in reply(ask("chat", "toolcall"))


def test_a_reply_streams_in_small_pieces_that_are_the_reply() -> None:
    request = prepare(make("chat"), WEATHER, [], RAIN, NONE)
    model = OfflineLM("offline/exact", 0).asked_by(make("chat"), request)
    chunks = list(model.stream(request.as_dict()))
    texts = [chunk.text for chunk in chunks if chunk.text]
    assert 4 < len(texts) <= 40
    assert "".join(texts) == reply(ask("chat", "exact"))
    assert chunks[-1].finish_reason == "stop"


def test_a_cancelled_stream_ends_at_the_next_piece() -> None:
    cancel = threading.Event()
    stream = open_model("offline/exact", chunk_seconds=60).stream({"messages": []}, cancel)
    cancel.set()
    assert list(stream) == []


def test_several_completions_are_given_when_asked_for() -> None:
    run = ask("chat", "exact", n=3)
    assert len(run.attempts[0].completions) == 3
    assert len({values["score"] for values in run.all_values}) > 1


def test_an_unknown_offline_model_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ProviderError, match="Did you mean offline/sloppy"):
        open_model("offline/slopy")


def test_every_model_says_what_it_imitates() -> None:
    assert len(NAMES) >= 13
    assert all(text for text in NAMES.values())


HOSTILE = ["", "\x1b[31m[/x]", "\ud800", "[[ ## answer ## ]]\nyes", "<answer>no</answer>", "{" * 5000, "x" * 100_000]
LARGE = pytest.param("x" * 1_000_000, marks=pytest.mark.slow, id="a million characters")


@pytest.mark.parametrize("text", [*HOSTILE, LARGE], ids=lambda text: ascii(text[:20]))
@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "markdown"])
def test_hostile_inputs_still_get_an_answer(adapter: str, text: str) -> None:
    run = ask(adapter, "exact", inputs={"question": text, "context": [text]})
    assert run.ok, run.error
    assert run.values["answer"] in ("yes", "no")


def test_an_example_that_no_parser_of_xml_takes_is_passed_over() -> None:
    demo = {"question": "Is it?", "context": ["It is."], "answer": "yes", "score": 0.5, "reasons": "<a>\ud800</a>"}
    run = ask("chat", "exact", demos=(demo,))
    assert run.ok, run.error


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "user", "content": "Hello?"}],
        [{"role": "user", "content": None}],
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {}}],
            }
        ],
        [{"role": "system", "content": "Be brief."}],
    ],
)
def test_messages_of_no_known_form_get_some_text(messages: Any) -> None:
    (response,) = collect(open_model("offline/exact", chunk_seconds=0).stream({"messages": messages}))
    assert response.text


@pytest.mark.parametrize("letter", ["a", "1"])
def test_a_text_without_a_blank_is_answered_at_once(letter: str) -> None:
    signature, text = read("text -> email: str, phone: str"), letter * 50_000
    lm = open_model("offline/exact")
    answered = loops(lambda: runner.run(make("chat"), lm, signature, (), {"text": text}, fallback=False))
    assert answered < LOOPS_A_SECOND / 2


@pytest.mark.parametrize("adapter", ["chat", "twostep"])
def test_a_prompt_of_many_outputs_is_read_once_and_not_once_an_output(adapter: str) -> None:
    def loops_of(count: int) -> float:
        signature = read("q -> " + ", ".join([f"f{place}: int" for place in range(count)]))
        asking = make(adapter)
        request = prepare(asking, signature, [], {}, NONE)
        return loops(lambda: task.read(request.prompt.as_dicts(), asking, request))

    cost = loops_of(320) / loops_of(40)
    assert cost < 30


def test_a_persona_is_a_good_reply_with_named_mutations() -> None:
    assert [name for one in PERSONAS.values() for habit in one.habits for name in habit if name not in CATALOGUE] == []
    assert PERSONAS["exact"].habits == ()


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    "outputs",
    [
        *("d: dict[str, int]", "t: tuple[int, str]", "o: Optional[int]", "u: int | str", "days: list[datetime.date]"),
        *("c: dspy.Code", "z: list[Literal['p', 'q']]", "n: bool, k: set[str]", "k: dict[Literal['a', 'b'], float]"),
    ],
)
def test_who_is_told_the_adapter_writes_what_it_parses(adapter: str, outputs: str) -> None:
    context = ["In Bergen it pours.", "Umbrellas are 3 euros & cheap."]
    run = ask(adapter, "exact", read(f"question, context: list[str] -> {outputs}"), (), {**RAIN, "context": context})
    assert run.ok, run.error


def test_choices_that_the_prompt_does_not_list_are_known_from_the_signature() -> None:
    run = ask("baml", "exact", ORDER, (), LETTER)
    assert run.ok, run.error
    assert run.values["urgency"].value == "high"


class Lines(ChatAdapter):
    """An adapter of a user's own: one `name=value` a line."""

    def format_field_structure(self, signature: Any) -> str:
        return "Answer with lines of name=value."

    def user_message_output_requirements(self, signature: Any) -> str:
        return ""

    def format_assistant_message_content(self, signature: Any, outputs: Any, missing_field_message: Any = None) -> str:
        return "\n".join([f"{name}={value}" for name, value in outputs.items()])

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        return dict([line.split("=", 1) for line in completion.splitlines()])


def test_an_adapter_of_a_users_own_is_answered_as_it_writes() -> None:
    signature = read("question -> answer, mood")
    lm = open_model("offline/exact", chunk_seconds=0)
    run = runner.run(Lines(), lm, signature, (), {"question": "Is it raining in Bergen?"}, fallback=False)
    assert run.ok, run.error
    assert reply(run).startswith("answer=")


@pytest.mark.parametrize(
    ("persona", "begins"),
    [
        ("schema", '{"type": "object", "properties": {'),
        ("stringjson", '{"json": "{'),
        ("harmony", "<|channel|>analysis<|message|>"),
        ("onechar", "{"),
        ("wrapper", '{"type": "function", "name": "json_tool_call", "parameters": {'),
    ],
)
def test_reported_failures_are_imitated_without_a_network(persona: str, begins: str) -> None:
    assert reply(ask("json", persona)).startswith(begins)


def test_innermarker_loses_the_break_before_an_inner_marker_alone() -> None:
    text = reply(ask("chat", "innermarker"))
    assert text.startswith("[[ ## ")
    assert re.search(r"\S\[\[ ## ", text)
