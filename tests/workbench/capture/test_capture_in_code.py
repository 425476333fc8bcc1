"""`with capture(…)` around calls of every kind that dspy knows: each becomes a fixture that holds."""

from __future__ import annotations

import asyncio
import json
import threading
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import dspy
import pydantic
import pytest
from scripted_dspy import Scripted, chat

from sessions.checking import checking
from sessions.file import store
from sessions.model.session import Session
from workbench.capture import Capture, capture


def the_session(folder: Path) -> Session:
    (path,) = folder.glob("*.session.json")
    return store.load(path)


def all_hold(folder: Path) -> int:
    """How many fixtures there are; each holds."""
    results = [one for path in folder.glob("*.session.json") for one in checking.check(store.load(path), path.name)]
    assert [(one.path, one.case, one.drift) for one in results if not one.passed] == []
    return len(results)


def test_a_call_becomes_a_case_with_its_recording(folder: Path) -> None:
    with capture(folder):
        dspy.Predict("question -> answer")(question="Why?")
    session = the_session(folder)
    (case,) = session.cases
    assert (case.name, dict(case.inputs)) == ("Why?", {"question": "Why?"})
    assert case.recordings["chat"].attempts[0].completions[0].text == chat(answer="fine")
    assert case.replies["chat"].source == "sent"
    assert all_hold(folder) == 1


def test_what_is_outside_of_the_with_is_not_captured(folder: Path) -> None:
    ask = dspy.Predict("question -> answer")
    ask(question="before")
    with capture(folder):
        ask(question="within")
    ask(question="after")
    assert [one.name for one in the_session(folder).cases] == ["within"]


def test_a_callback_that_the_program_configures(folder: Path) -> None:
    listener = Capture(folder)
    with dspy.context(callbacks=[listener]):
        dspy.Predict("question -> answer")(question="Why?")
    listener.close()
    assert all_hold(folder) == 1


def test_calls_that_wait_for_each_other_in_one_loop(folder: Path) -> None:
    ask = dspy.ChainOfThought("question -> answer")

    async def many() -> None:
        await asyncio.gather(*(ask.acall(question=f"number {index}") for index in range(8)))

    with dspy.context(lm=Scripted(lambda text: chat(reasoning="so", answer=text[-400:].split("number ")[1][0]))):
        with capture(folder):
            asyncio.run(many())
    assert {one.name for one in the_session(folder).cases} == {f"number {index}" for index in range(8)}
    assert all_hold(folder) == 8


def test_calls_in_threads_keep_apart(folder: Path) -> None:
    model = Scripted(lambda text: chat(answer=text[text.index("number ") :][:9]))

    def work(number: int) -> None:
        with dspy.context(lm=model):
            dspy.Predict("question -> answer")(question=f"number {number:02}")

    with capture(folder):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    for case in the_session(folder).cases:
        reading = case.recordings["chat"].attempts[0].completions[0].reading
        assert reading is not None
        assert reading.values["answer"] == case.name
    assert all_hold(folder) == 12


def test_dspys_own_threads(folder: Path) -> None:
    ask = dspy.Predict("question -> answer")
    pairs = [(ask, dspy.Example(question=f"q{number}").with_inputs("question")) for number in range(6)]
    with capture(folder):
        dspy.Parallel(num_threads=3, disable_progress_bar=True)(pairs)
    assert all_hold(folder) == 6


def test_a_stream(folder: Path) -> None:
    ask = dspy.streamify(dspy.Predict("question -> answer"))

    async def read() -> list[Any]:
        return [one async for one in ask(question="Why?")]

    with capture(folder):
        asyncio.run(read())
    assert all_hold(folder) == 1


def test_an_agent_with_tools(folder: Path) -> None:
    def look_up(city: str) -> str:
        return f"sunny in {city}"

    def answer(text: str) -> str:
        if "next_tool_name" not in text[-600:]:
            return chat(reasoning="seen", answer="sunny")
        tool, arguments = ("finish", "{}") if "observation_0" in text else ("look_up", '{"city": "Bern"}')
        return chat(next_thought="I look", next_tool_name=tool, next_tool_args=arguments)

    class Ask(dspy.Signature):  # type: ignore[misc]
        """Say the weather."""

        question: str = dspy.InputField()
        answer: str = dspy.OutputField()

    with dspy.context(lm=Scripted(answer)), capture(folder):
        dspy.ReAct(Ask, tools=[look_up])(question="Bern?")
    assert {path.name for path in folder.iterdir()} == {"Ask.react.session.json", "Ask.extract.session.json"}
    assert all_hold(folder) == 3


pytestmark = pytest.mark.filterwarnings("ignore:Implementing custom LMs:DeprecationWarning")


class Size(Enum):
    SMALL = 1
    LARGE = 2


class Part(pydantic.BaseModel):
    """A part."""

    name: str = pydantic.Field(description="as it is sold", max_length=40)
    size: Size = Size.SMALL


class Machine(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    parts: dict[str, Part]
    state: Literal["new", "used"]
    within: list[Machine] = pydantic.Field(default_factory=list)


def test_models_in_models_made_within_a_function_are_written_out(folder: Path) -> None:
    class Local(pydantic.BaseModel):
        machine: Machine
        weight: float | None = None

    fields = {
        "text": (str, dspy.InputField(desc="the leaflet")),
        "seen": (Local, dspy.OutputField(desc="all that is said")),
    }
    describe = dspy.Signature(fields, "Describe the machine.")
    reply = json.dumps({"machine": {"parts": {"a": {"name": "bolt", "size": 2}}, "state": "new"}, "weight": 3})
    with dspy.context(lm=Scripted(lambda text: chat(seen=reply))), capture(folder):
        dspy.Predict(describe)(text="A machine of one bolt.")
    assert all_hold(folder) == 1
    assert "class Part(BaseModel)" in the_session(folder).signature.text


def test_two_calls_of_two_step(folder: Path) -> None:
    first = Scripted(lambda text: "The answer must be 7, I think.")
    second = Scripted(lambda text: chat(answer="7"))
    with dspy.context(lm=first, adapter=dspy.TwoStepAdapter(second)), capture(folder):
        assert dspy.Predict("question -> answer: int")(question="3 + 4?").answer == 7
    recording = the_session(folder).cases[0].recordings["twostep"]
    assert [one.role for one in recording.attempts] == ["main", "extraction"]
    assert all_hold(folder) == 1


@pytest.mark.parametrize(
    ("adapter", "reply", "column"),
    [
        (dspy.JSONAdapter(), '{"answer": "fine", "sure": "yes"}', "json"),
        (dspy.XMLAdapter(), "<answer>\nfine\n</answer>\n<sure>\ntrue\n</sure>", "xml"),
        (dspy.ChatAdapter(use_json_adapter_fallback=False), chat(answer="fine", sure="True"), "chat"),
    ],
)
def test_each_adapter_is_a_column_of_its_own(adapter: Any, reply: str, column: str, folder: Path) -> None:
    with dspy.context(lm=Scripted(lambda text: reply), adapter=adapter), capture(folder):
        dspy.Predict("question -> answer, sure: bool")(question="Why?")
    assert [one.id for one in the_session(folder).columns] == [column]
    assert all_hold(folder) == 1


def test_one_input_by_two_adapters_and_models_is_one_case_with_three_columns(folder: Path) -> None:
    ask = dspy.Predict("question -> answer")
    other = Scripted(lambda text: chat(answer="other"), temperature=0.9)
    with capture(folder):
        ask(question="Why?")
        with dspy.context(lm=other):
            ask(question="Why?")
        with dspy.context(adapter=dspy.JSONAdapter(), lm=Scripted(lambda text: '{"answer": "as JSON"}')):
            ask(question="Why?")
    session = the_session(folder)
    assert [one.id for one in session.columns] == ["chat", "chat (2)", "json"]
    assert dict(session.columns[1].params) == {"temperature": 0.9}
    assert all_hold(folder) == 3


def test_several_completions_at_once(folder: Path) -> None:
    model = Scripted(lambda text: [chat(answer="one"), chat(answer="two")])
    with dspy.context(lm=model), capture(folder):
        dspy.Predict("question -> answer", n=2)(question="Why?")
    attempt = the_session(folder).cases[0].recordings["chat"].attempts[0]
    assert [one.reading.values["answer"] for one in attempt.completions if one.reading] == ["one", "two"]
    assert all_hold(folder) == 1


def test_a_reply_that_dspy_refuses_is_a_failure_that_is_kept(folder: Path) -> None:
    no_fallback = dspy.ChatAdapter(use_json_adapter_fallback=False)
    with dspy.context(lm=Scripted(lambda text: "no markers"), adapter=no_fallback), capture(folder):
        with pytest.raises(Exception, match="failed to parse"):
            dspy.Predict("question -> answer")(question="Why?")
    reading = the_session(folder).cases[0].recordings["chat"].attempts[0].completions[0].reading
    assert reading is not None and not reading.ok
    assert reading.error is not None and reading.error.type == "AdapterParseError"
    assert all_hold(folder) == 1


def test_only_failures(folder: Path) -> None:
    model = Scripted(lambda text: '{"answer": "by JSON"}' if "broken" in text else chat(answer="fine"))
    with dspy.context(lm=model), capture(folder, only="failures"):
        for question in ("good", "broken", "also good"):
            dspy.Predict("question -> answer")(question=question)
    assert [one.name for one in the_session(folder).cases] == ["broken"]


def test_as_many_cases_as_were_asked_for(folder: Path) -> None:
    with capture(folder, cases=3):
        for number in range(9):
            dspy.Predict("question -> answer")(question=f"number {number}")
    assert [one.name for one in the_session(folder).cases] == ["number 0", "number 1", "number 2"]


def test_a_sample_is_the_same_in_every_run(folder: Path, tmp_path: Path) -> None:
    for place in (folder, tmp_path / "again"):
        with capture(place, sample=0.5):
            for number in range(30):
                dspy.Predict("question -> answer")(question=f"number {number}")
    names = [{one.name for one in the_session(place).cases} for place in (folder, tmp_path / "again")]
    assert names[0] == names[1]
    assert 5 <= len(names[0]) <= 25


def test_other_demos_are_another_session_and_nothing_there_is_changed(folder: Path) -> None:
    ask = dspy.Predict("question -> answer")
    with capture(folder):
        ask(question="Why?")
    before = (folder / "question-answer.session.json").read_bytes()
    ask.demos = [dspy.Example(question="Grass?", answer="green")]
    with capture(folder):
        ask(question="Why?")
    assert (folder / "question-answer.session.json").read_bytes() == before
    assert len(store.load(folder / "question-answer-2.session.json").demos) == 1
    assert all_hold(folder) == 2


def test_what_somebody_wrote_into_the_session_stays(folder: Path) -> None:
    with capture(folder):
        dspy.Predict("question -> answer")(question="first")
    path = folder / "question-answer.session.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["notes"] = "mine"
    data["cases"][0].update(name="my name", expect={"reply": "parses"})
    path.write_text(json.dumps(data), encoding="utf-8")
    with capture(folder):
        for question in ("first", "second"):
            dspy.Predict("question -> answer")(question=question)
    session = the_session(folder)
    assert session.notes == "mine"
    assert [one.name for one in session.cases] == ["my name", "second"]
    assert session.cases[0].expect == {"reply": "parses"}


def test_an_adapter_of_the_program_is_kept_without_a_recording(folder: Path) -> None:
    class Own(dspy.ChatAdapter):  # type: ignore[misc]
        def format_task_description(self, signature: Any) -> str:
            return "Mine."

    with dspy.context(adapter=Own()), capture(folder):
        dspy.Predict("question -> answer")(question="Why?")
    session = the_session(folder)
    assert dict(session.cases[0].inputs) == {"question": "Why?"}
    assert not session.cases[0].recordings


def test_values_of_many_types_and_hostile_texts(folder: Path) -> None:
    hostile = "[/b] \x1b[31m \u202e \0 {{x}} <a>&amp;"
    ask = dspy.Predict("items: list[dict], size, text -> answer")
    with capture(folder):
        ask(items=[{"a": 1, 2: (3, None)}], size=Size.LARGE, text=hostile)
        ask(items=[], size=float("nan"), text="x" * 200_000)
    assert all_hold(folder) == 2


def test_a_capture_that_was_closed_goes_on_with_another_child(folder: Path) -> None:
    listener = Capture(folder)
    with dspy.context(callbacks=[listener]):
        for question in ("first", "second"):
            dspy.Predict("question -> answer")(question=question)
            listener.close()
    assert [one.name for one in the_session(folder).cases] == ["first", "second"]


def test_texts_of_a_field_are_in_no_file(folder: Path) -> None:
    model = Scripted(lambda text: chat(reasoning="Mrs. Annabel Lee is well.", answer="well"))
    with dspy.context(lm=model), capture(folder, redact=["patient"]):
        dspy.ChainOfThought("patient, question -> answer")(patient="Annabel Lee", question="How is she?")
    (path,) = folder.iterdir()
    assert "Annabel" not in path.read_text(encoding="utf-8")
    assert "Mrs. (redacted) is well." in path.read_text(encoding="utf-8")
    assert all_hold(folder) == 1


@pytest.mark.parametrize("wrong", [{"only": "some"}, {"sample": 0}, {"cases": 0}, {"redact": "patient"}])
def test_what_cannot_be_meant_is_said_before_anything_is_called(wrong: dict[str, Any], folder: Path) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Capture(folder, **wrong)


def test_calls_that_are_cached_and_called_anew_are_the_same_case(folder: Path) -> None:
    with capture(folder):
        for _ in range(3):
            dspy.Predict("question -> answer")(question="Why?")
    assert len(the_session(folder).cases) == 1


class Short(dspy.Signature):  # type: ignore[misc]
    """Be short."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


class Long(Short):
    """Be long."""


class Wrapper(dspy.Module):  # type: ignore[misc]
    def __init__(self, signature: Any) -> None:
        super().__init__()
        self.answer = dspy.Predict(signature)

    def forward(self, question: str) -> Any:
        return self.answer(question=question)


def test_a_session_is_named_after_the_class_of_its_signature_and_not_after_a_wrapper(folder: Path) -> None:
    with capture(folder):
        for signature in (Short, Long, Short.with_instructions("Be brief."), Short):
            Wrapper(signature)(question="Why?")
    names = {path.name: store.load(path).signature.read().instructions for path in folder.iterdir()}
    expected = {"Short": "Be short.", "Long": "Be long.", "Wrapper.answer": "Be brief."}
    assert names == {f"{name}.session.json": said for name, said in expected.items()}
