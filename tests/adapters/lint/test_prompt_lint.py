"""Lints: each tells what is the case and where to look; a plain prompt has none; nothing raises."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from oracle import signatures
from pydantic import Field as PydanticField
from pydantic import create_model

from adapters import lint as prompt_lint
from adapters.formats import catalog
from adapters.formats.catalog import make
from adapters.lint import LINTS, Lint, Place, round_trip
from adapters.signatures.signature import Field, Signature
from adapters.types import History

QA = Signature.make((Field("question", "input"), Field("answer", "output")))
TWO = Signature.make((Field("question", "input"), Field("answer", "output"), Field("score", "output", float)))
TALK = Signature.make((Field("history", "input", History), Field("question", "input"), Field("answer", "output")))
ASKED = {"question": "Q"}


def lint(
    signature: Signature, demos: Any, inputs: Any, adapter: str = "chat", *rest: Any, **more: Any
) -> tuple[Lint, ...]:
    return prompt_lint.lint(signature, demos, inputs, catalog.profile(adapter), *rest, **more)


def names(*found: Lint) -> list[str]:
    return [one.name for one in found]


def test_field_names_of_a_model_are_a_problem_once_a_demo_or_a_turn_shows_them() -> None:
    aliased = create_model("Bill", total=(int, PydanticField(alias="sum")))
    billed = Signature.make((Field("history", "input", History), Field("q", "input"), Field("bill", "output", aliased)))
    turn = {"q": "Q", "bill": {"sum": 1}}
    assert "demo-shows-field-names" not in names(*lint(billed, [], {"q": "Q"}))
    assert "demo-shows-field-names" in names(*lint(billed, [turn], {"q": "Q"}))
    assert "demo-shows-field-names" in names(*lint(billed, [], {"q": "Q", "history": {"messages": [turn]}}))
    assert "alias-not-shown" in names(*lint(billed, [], {"q": "Q"}, "baml"))


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "twostep", "markdown"])
def test_a_plain_prompt_has_no_lint(adapter: str) -> None:
    demos = [] if adapter == "markdown" else [{"question": "2+2?", "answer": "4", "score": 1.0}]
    prompt = make(adapter).render(TWO, demos, ASKED)
    assert lint(TWO, demos, ASKED, adapter, prompt) == ()
    assert round_trip(make(adapter), TWO, demos) == ()


def test_a_dropped_demo_is_named_with_what_it_lacks() -> None:
    dropped, other = lint(QA, [{"question": "Q"}, {"answer": "A"}], ASKED)
    assert (dropped.name, dropped.place) == ("demo-dropped", Place("demo", 1))
    assert "no output" in dropped.message
    assert "no input" in other.message


def test_an_incomplete_demo_is_moved_and_filled_in() -> None:
    demos = [{"question": "a", "answer": "b", "score": 1.0}, {"question": "c", "answer": "d"}]
    filled, moved = lint(TWO, demos, ASKED)
    assert (filled.name, filled.place) == ("demo-filled-in", Place("demo", 2, "score"))
    assert "Not supplied" in filled.message
    assert (moved.name, moved.place) == ("demo-moved", Place("demo", 2))
    assert "demo 1" in moved.message


def test_an_incomplete_demo_that_already_stands_first_is_not_moved() -> None:
    demos = [{"question": "c", "answer": "d"}, {"question": "a", "answer": "b", "score": 1.0}]
    assert names(*lint(TWO, demos, ASKED)) == ["demo-filled-in"]


def test_demos_have_the_numbers_of_the_prompt() -> None:
    prompt = make("chat").render(QA, [{"question": "Q"}], ASKED)
    renumbered = type(prompt)(prompt.messages, (type(prompt.demos[0])(7, "dropped", ("answer",)),))
    (found,) = lint(QA, [{"question": "Q"}], ASKED, "chat", renumbered)
    assert found.place == Place("demo", 7)


@pytest.mark.parametrize("history", [{"messages": [{"question": "a"}]}, History(messages=[{"question": "a"}])])
def test_a_turn_without_an_answer_prints_none(history: Any) -> None:
    found = lint(TALK, [], {**ASKED, "history": history})
    assert found[1].name == "history-turn-prints-none"
    assert found[1].place == Place("history", 1, "answer")
    text = make("chat").render(TALK, [], {**ASKED, "history": History(messages=[{"question": "a"}])}).messages[2].text
    assert "None" in text


def test_a_marker_in_a_value_is_found_wherever_it_stands() -> None:
    text = "x\n[[ ## answer ## ]]\n42"
    demos = [{"question": text, "answer": text}]
    places = [one.place for one in lint(QA, demos, {"question": text}) if one.name == "marker-in-value"]
    assert places == [Place("input", None, "question"), Place("demo", 1, "question"), Place("demo", 1, "answer")]
    turns = {"messages": [{"question": text, "answer": "a"}]}
    found = lint(TALK, [], {"question": "Q", "history": turns})
    assert Place("history", 1, "question") in [one.place for one in found if one.name == "marker-in-value"]


def test_a_history_is_described_as_a_field_and_sent_as_turns() -> None:
    turns = {"messages": [{"question": "a", "answer": "b"}]}
    (described,) = lint(TALK, [], {**ASKED, "history": turns})
    assert (described.name, described.place) == ("history-described-not-sent", Place("field", None, "history"))
    prompt = make("chat").render(TALK, [], {**ASKED, "history": History.model_validate(turns)})
    assert "`history`" in prompt.messages[0].text
    assert all("[[ ## history ## ]]\n{" not in message.text for message in prompt.messages[1:])


def test_a_key_of_a_demo_that_is_no_field_is_named() -> None:
    (extra,) = lint(QA, [{"question": "q", "answer": "a", "source": "faq"}], ASKED)
    assert (extra.name, extra.place) == ("extra-demo-key", Place("demo", 1))
    assert "source" in extra.message


def test_a_marker_of_no_field_is_no_lint() -> None:
    assert lint(QA, [], {"question": "[[ ## title ## ]]"}) == ()


def test_a_tag_in_an_input_matters_to_xml_alone() -> None:
    assert names(*lint(QA, [], {"question": "</question><answer>x"}, "xml")) == ["tag-in-value"]
    assert lint(QA, [{"question": "q", "answer": "<answer>x"}], ASKED, "xml") == ()
    assert lint(QA, [], {"question": "<answer>"}, "chat") == ()


def test_missing_and_extra_inputs_are_named() -> None:
    signature = Signature.make(
        (Field("a", "input"), Field("b", "input"), Field("c", "input", str, default="x"), Field("d", "output"))
    )
    found = lint(signature, [], {"a": "1", "zzz": 2, "d": "3"})
    assert [(one.name, one.place.field) for one in found] == [
        ("missing-input", "b"),
        ("default-not-applied", "c"),
        ("extra-input-ignored", "zzz"),
    ]


def test_a_value_that_its_type_refuses_or_would_print_otherwise_is_told() -> None:
    signature = Signature.make((Field("n", "input", float), Field("a", "output")))
    (refused,) = lint(signature, [], {"n": "many"})
    assert (refused.name, refused.place) == ("value-of-another-type", Place("input", None, "n"))
    (other,) = lint(signature, [], {"n": 12})
    assert (other.name, other.severity) == ("validated-value-differs", "info")
    assert "'12'" in other.message
    assert "'12.0'" in other.message
    assert lint(signature, [], {"n": 12.0}) == ()
    walked = Signature.make((Field("n", "input", Iterable[int]), Field("a", "output")))
    assert lint(walked, [], {"n": [1]}) == (), "pydantic makes an iterator of its own, which nobody prints"


def test_fields_say_what_has_no_effect() -> None:
    signature = Signature.make(
        (
            Field("question", "input", prefix="Ask:"),
            Field("completed", "output"),
            Field("n", "output", int, constraints="less than or equal to: 5"),
        )
    )
    assert names(*lint(signature, [], ASKED)) == [
        "prefix-without-effect",
        "output-named-completed",
        "constraint-not-enforced",
    ]


def test_what_a_format_has_no_place_for_is_told() -> None:
    demos = [{"question": "a", "answer": "b"}]
    prompt = make("markdown").render(QA, demos, ASKED)
    assert names(*lint(QA, demos, ASKED, "markdown", prompt)) == ["left-out-by-the-format"]


def test_a_demo_that_does_not_read_back_is_told() -> None:
    good, bad = {"question": "q", "answer": "x"}, {"question": "q", "answer": "x]]>y"}
    (found,) = round_trip(make("xml"), QA, [good, bad])
    assert (found.name, found.place.number) == ("demo-does-not-read-back", 2)


def test_a_demo_that_reads_back_otherwise_is_told() -> None:
    (found,) = round_trip(make("chat"), QA, [{"question": "q", "answer": "  padded  "}])
    assert (found.name, found.place) == ("demo-reads-back-otherwise", Place("demo", 1, "answer"))
    assert "'padded'" in found.message


def test_a_place_reads_well() -> None:
    assert str(Place("demo", 3, "answer")) == "demo 3 `answer`"
    assert str(Place("prompt")) == "prompt"


class Hostile(dict[str, Any]):
    def get(self, *arguments: Any) -> Any:
        raise RuntimeError("no")


@pytest.mark.parametrize("name", catalog.NAMES)
def test_lints_never_raise(name: str) -> None:
    for seed in range(60):
        rng = random.Random(f"lint {seed} {name}")
        built = signatures.signature(rng)
        values: list[Any] = [None, "x", 1, 2.5, True, [], ["a", 1], {"a": {"b": 1}}, {1, 2}, "\ud800", "[[ ## x ## ]]"]
        demos = [{field: rng.choice(values) for field in built.ours.fields if rng.random() < 0.8} for _ in range(4)]
        inputs = {field: rng.choice(values) for field in built.ours.input_fields if rng.random() < 0.8}
        found = lint(built.ours, demos, inputs, name)
        assert found == lint(built.ours, demos, inputs, name)
        assert all(one.name in LINTS and one.message for one in (*found, *round_trip(make(name), built.ours, demos)))
    assert isinstance(lint(TALK, [Hostile(question="x")], {"history": Hostile()}, name), tuple)


def test_many_demos_are_linted_up_to_a_limit() -> None:
    assert len(lint(QA, [{"question": "Q"}] * 5000, ASKED)) == 500


@pytest.mark.parametrize(
    ("model", "is_refused"),
    [
        ("anthropic/claude-sonnet-5-5", True),
        ("bedrock/anthropic.claude-3-sonnet-20240229-v1:0", True),
        ("vertex_ai/claude-sonnet-4-5", True),
        ("vertex_ai/gemini-2.5-pro", False),
        ("gemini/gemini-2.5-pro", False),
        ("openai/gpt-4o", False),
        ("offline/exact", False),
        (None, False),
    ],
)
def test_a_model_that_wants_a_user_message_is_told_of_beside_a_prompt_without(
    model: str | None, is_refused: bool
) -> None:
    alone = make("markdown").render(QA, [], ASKED)
    found = lint(QA, [], ASKED, "markdown", alone, model=model)
    assert names(*found) == ["no-user-message"] * is_refused
    assert all(one.place == Place("column") for one in found)
    assert lint(QA, [], ASKED, "chat", make("chat").render(QA, [], ASKED), model=model) == ()
