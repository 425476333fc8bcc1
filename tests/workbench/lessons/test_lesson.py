from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.formats.two_step import TwoStepAdapter
from adapters.prompts.text import DataPart, Prompt, Text
from adapters.requests.request import Request, prepare
from adapters.signatures.signature import Signature
from adapters.values.custom_types import build_inputs
from sessions import examples
from sessions.model.session import Column, Session, SignatureText
from sessions.running import rendering
from tests.support.hostile import HOSTILE
from workbench.lessons import lesson, reply_lesson
from workbench.lessons.lesson import LessonStep, steps_of


def joined(prompt: Prompt, steps: Iterable[LessonStep]) -> list[dict[str, Any]]:
    """The pieces of all steps as messages with the prompt's roles."""
    parts: dict[tuple[int, int], list[Text | DataPart]] = {}
    for step in steps:
        for piece in step.pieces:
            found = parts.setdefault((piece.message, piece.part), [])
            if piece.content is not None:
                found.append(piece.content)
    rebuilt: list[dict[str, Any]] = []
    for index in sorted({message for message, _ in parts}):
        contents = [_together(parts[key]) for key in sorted(parts) if key[0] == index and parts[key]]
        rebuilt.append(replace(prompt.messages[index], parts=tuple(contents)).as_dict())
    return rebuilt


def _together(pieces: Sequence[Text | DataPart]) -> Text | DataPart:
    first = pieces[0]
    if isinstance(first, DataPart):
        return first
    return Text([segment for piece in pieces if isinstance(piece, Text) for segment in piece.segments])


def request_of(example: str, adapter: str) -> tuple[Adapter, Request]:
    session = examples.load(example)
    column = Column(adapter, adapter)
    return rendering.adapter_of(column), rendering.request_of(session, column, session.cases[0])


@pytest.mark.parametrize("adapter", catalog.NAMES)
@pytest.mark.parametrize("example", examples.NAMES)
def test_the_pieces_joined_are_exactly_the_prompt(example: str, adapter: str) -> None:
    try:
        of_adapter, request = request_of(example, adapter)
    except ValueError as refused:  # dspy's BAML refuses a model that is used twice: there is no prompt to take apart
        pytest.skip(str(refused))
    steps = steps_of(of_adapter, request)
    assert joined(request.prompt, steps) == request.prompt.as_dicts()
    assert all(step.title and step.explanation and step.pieces for step in steps)


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml"])
def test_a_system_message_is_built_in_three_steps(adapter: str) -> None:
    steps = steps_of(*request_of("question", adapter))
    assert [step.title for step in steps[:3]] == ["The fields", "The structure", "The objective"]
    fields, _, objective = [str(step.pieces[0].content) for step in steps[:3]]
    assert fields.startswith("Your input fields are:")
    assert objective.lstrip("\n").startswith("In adhering to this structure, your objective is:")


def test_the_last_message_ends_with_the_reminder() -> None:
    steps = steps_of(*request_of("question", "chat"))
    assert [step.title for step in steps[-2:]] == ["The inputs", "The reminder"]
    assert str(steps[-1].pieces[0].content).startswith("\n\nRespond with the corresponding output fields")


def test_twostep_and_markdown_are_taken_apart_too() -> None:
    two_step = [step.title for step in steps_of(*request_of("invoice", "twostep"))]
    assert two_step[:5] == ["The opening", "The inputs", "The outputs", "The hand-over", "The objective"]
    markdown = [step.title for step in steps_of(*request_of("invoice", "markdown"))]
    assert markdown[0] == "The task" and markdown[-1] == "The response format"
    assert any(title.startswith("The input ") for title in markdown)


def test_every_demo_and_every_turn_is_a_step_of_its_own() -> None:
    for example in examples.NAMES:
        session = examples.load(example)
        titles = [step.title for step in steps_of(*request_of(example, "chat"))]
        assert sum(title.startswith("Turn ") for title in titles) == len(session.cases[0].history)
        used = [use for use in request_of(example, "chat")[1].prompt.demos if use.use != "dropped"]
        assert sum(title.startswith("Demo ") for title in titles) == len(used)


def test_a_users_own_adapter_is_shown_message_by_message() -> None:
    class Own(Adapter):
        name = "own"

        def format(self, signature: Signature, demos: Any, inputs: Any) -> list[dict[str, Any]]:
            return [{"role": "system", "content": "be brief"}, {"role": "user", "content": "go"}]

    session = examples.load("question")
    signature = session.signature.read()
    request = prepare(Own(), signature, (), rendering.inputs_of(signature, session.cases[0]))
    steps = steps_of(Own(), request)
    assert joined(request.prompt, steps) == request.prompt.as_dicts()
    assert [step.title for step in steps] == ["The system message", "The inputs"]


def test_messages_without_content_and_with_images_are_kept_whole() -> None:
    signature = Session(SignatureText("image: dspy.Image, question -> answer")).signature.read()
    inputs = build_inputs(signature, {"image": {"url": "https://e.org/a.png"}, "question": "what?"})
    for name in catalog.NAMES:
        adapter = catalog.make(name)
        request = prepare(adapter, signature, (), inputs)
        assert joined(request.prompt, steps_of(adapter, request)) == request.prompt.as_dicts()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_values_change_no_piece(text: str) -> None:
    session = examples.load("question")
    case = replace(session.cases[0], inputs=dict.fromkeys(session.cases[0].inputs, text))
    for name in catalog.NAMES:
        column = Column(name, name)
        try:
            request = rendering.request_of(session, column, case)
        except Exception:
            continue
        steps = lesson.steps_of(rendering.adapter_of(column), request)
        assert joined(request.prompt, steps) == request.prompt.as_dicts()


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
def test_a_reply_is_found_sliced_and_coerced_field_by_field(adapter: str) -> None:
    signature = SignatureText("question -> answer: Literal['yes', 'no'], score: float").read()
    made = catalog.make(adapter)
    text = f"Sure!\n{made.format_assistant_message_content(signature, {'answer': 'yes', 'score': 0.5})}"
    if adapter == "xml":
        text = text.removeprefix("Sure!\n")
    reading = made.read(signature, text)
    titles = [step.title for step in reply_lesson.steps_of(reading)]
    assert titles[:3] == ["The reply", "Found: the structure", "Sliced: the values"]
    assert titles[-1] == "✓ Parsed"
    assert ("Ignored" in titles) == text.startswith("Sure!")
    score = next(step for step in reply_lesson.steps_of(reading) if step.title == "score (float)")
    assert ("value", "0.5, a float") in score.facts


def test_a_refused_reply_ends_with_why_and_where() -> None:
    signature = SignatureText("question -> score: float").read()
    last = reply_lesson.steps_of(catalog.make("chat").read(signature, "[[ ## score ## ]]\nhigh"))[-1]
    assert last.title == "✗ Parse error"
    assert ("dspy raises", "AdapterParseError") in last.facts and ("place", "line 2, column 1") in last.facts
    assert [(span.start, span.end) for span in last.spans] == [(18, 22)]


def test_the_steps_of_a_second_model_are_places_in_its_own_reply() -> None:
    signature = SignatureText("question -> answer, score: float").read()
    said = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]"
    reading = TwoStepAdapter("offline/exact").read(signature, "It is, I think.", said)
    steps = reply_lesson.steps_of(reading)
    assert "The second model's reply" in [step.title for step in steps]
    score = next(step for step in steps if step.title == "score (float)")
    (value,) = [span for span in score.spans if span.kind == "value"]
    assert score.reading.completion[value.start : value.end].strip() == "0.5"


def test_a_parse_error_names_its_cause_the_fixes_and_the_most_common_patterns() -> None:
    signature = SignatureText("text -> label: Literal['a', 'b']").read()
    reading = catalog.make("chat").read(signature, "[[ ## label ## ]]\nc\n\n[[ ## completed ## ]]")
    _ = reading.diagnosis
    facts = reply_lesson.steps_of(reading)[-1].facts
    assert ("fix", "Allow 'c' in `label`.") in facts
    assert [label for label, _ in facts].count("often") == 6


def test_parsers_are_the_built_in_ones_and_those_of_columns_each_once() -> None:
    found = reply_lesson.parsers_for(["own:Adapter", "xml", "own:Adapter"])
    assert found == (*catalog.NAMES, "own:Adapter")
