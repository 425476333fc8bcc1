"""A dspy in a process of its own: what it answers is what ours answers, and how it fails is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.requests.capabilities import Capabilities
from sessions import examples
from sessions.file.typed_values import same
from sessions.model.replies import Answer
from sessions.model.session import Case, Column, Session, SignatureText, Tool
from sessions.releases.engine import Question, ReleaseError
from sessions.releases.release import WORKER, Release
from sessions.upgrades.sides import Ours

ABLE = Capabilities(True, True, True, frozenset({"response_format", "tools", "tool_choice", "reasoning_effort"}))
HOSTILE = "[/red] \x1b[31m \ud800 <&>{}[[ ## completed ## ]]\n" * 3
TOOLS = "question, tools: list[dspy.Tool] -> reasoning: dspy.Reasoning, answer: list[int], calls: dspy.ToolCalls"


@pytest.fixture(scope="module")
def dspy() -> Iterator[Release]:
    with Release(sys.executable) as started:
        yield started


def program(tmp_path: Path, *lines: str) -> str:
    """A Python that says whatever `lines` of a shell script say."""
    python = tmp_path / "python"
    python.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    python.chmod(0o755)
    return str(python)


def asked(signature: str = "question -> answer", adapter: str = "chat", **inputs: object) -> Question:
    column, case = Column(adapter, adapter), Case("one", inputs or {"question": "Why?"})
    return Question(Session(SignatureText(signature), columns=(column,), cases=(case,)), case, column)


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep"])
@pytest.mark.parametrize("name", examples.NAMES)
def test_the_reference_and_ours_say_the_same_of_every_example(dspy: Release, name: str, adapter: str) -> None:
    session = examples.load(name)
    replies = [one.text for case in session.cases for one in case.replies.values()]
    answers = tuple([Answer(text) for text in [*replies, "nonsense", "{}", HOSTILE]])
    for case in session.cases:
        question = Question(session, case, Column(adapter, adapter), ABLE, () if adapter == "twostep" else answers)
        if (name, adapter) == ("invoice", "baml"):
            for engine in (dspy, Ours()):
                with pytest.raises(
                    ReleaseError, match="BAMLAdapter cannot handle recursive pydantic models"
                ) as refused:
                    engine.call(question)
                assert refused.value.kind == "raised"
            continue
        theirs, ours = dspy.call(question), Ours().call(question)
        assert list(map(dict, theirs.messages)) == list(map(dict, ours.messages))
        assert same(dict(theirs.request), dict(ours.request))
        for there, here in zip(theirs.readings, ours.readings, strict=True):
            assert (there.ok, there.error) == (here.ok, here.error)
            assert same(dict(there.values), dict(here.values))


def test_fields_that_native_features_take_out_of_the_prompt_are_named(dspy: Release) -> None:
    question = asked(TOOLS, question="Rain?", tools=[{"name": "search", "desc": "", "args": {}}])
    native = replace(question.column, options={"use_native_function_calling": True})
    question = replace(question, column=native, capabilities=ABLE)
    theirs, ours = dspy.call(question), Ours().call(question)
    assert set(theirs.removed_fields) == set(ours.removed_fields) == {"tools", "reasoning", "calls"}
    assert "tools" in theirs.request


def test_the_adapter_of_a_fallback_takes_the_place_of_the_columns(dspy: Release) -> None:
    with_json = replace(asked(), adapter="json")
    assert dspy.call(with_json).messages == dspy.call(asked(adapter="json")).messages
    assert Ours().call(with_json).messages == Ours().call(asked(adapter="json")).messages


def test_what_no_dspy_holds_is_said_by_name(dspy: Release) -> None:
    set_tool_input = asked()
    session = replace(set_tool_input.session, tools=(Tool("search", parameters="query: str"),))
    for question, said in (
        (asked(adapter="markdown"), "it has no adapter `markdown`"),
        (asked(adapter="somebody:Own"), "it has no adapter `somebody:Own`"),
        (replace(set_tool_input, session=session), "the session has its own tools"),
    ):
        with pytest.raises(ReleaseError, match=said) as found:
            dspy.call(question)
        assert found.value.kind == "unsupported"


def test_a_signature_that_cannot_be_read_is_an_error_and_the_next_question_has_its_own_answer(dspy: Release) -> None:
    with pytest.raises(ReleaseError) as found:
        dspy.call(asked("question answer"))
    assert found.value.kind == "raised"
    assert "question" in str(dspy.call(asked()).messages)


def test_no_text_of_a_session_is_run_there(dspy: Release, tmp_path: Path) -> None:
    there = tmp_path / "ran"
    opens = f"dspy.InputField(default=open({str(there)!r}, 'w'))"
    source = f"class A(dspy.Signature):\n    q: str = {opens}\n    a: str = dspy.OutputField()\n"
    with pytest.raises(ReleaseError):
        dspy.call(asked(source, q="1"))
    assert not there.exists()


def test_a_child_that_is_killed_is_started_anew_by_the_next_question() -> None:
    with Release(sys.executable) as dspy:
        before = dspy.call(asked())
        assert dspy._child is not None
        killed = dspy._child
        killed._process.kill()
        killed._process.wait()
        assert dspy.call(asked()) == before
        assert dspy._child is not killed


def test_a_child_that_ends_says_its_last_word(tmp_path: Path) -> None:
    python = program(tmp_path, 'echo \'{"dspy": "9.9"}\'', "read question", "echo 'no memory left' >&2")
    with Release(python) as dspy, pytest.raises(ReleaseError, match=r"dspy 9\.9 ended: no memory left") as found:
        dspy.call(asked())
    assert found.value.kind == "ended"


def test_a_child_that_hangs_is_ended(tmp_path: Path) -> None:
    python = program(tmp_path, 'echo \'{"dspy": "9.9"}\'', "exec sleep 600")
    with Release(python, answer_seconds=0.05) as dspy, pytest.raises(ReleaseError, match="did not answer") as found:
        dspy.call(asked())
    assert found.value.kind == "too slow"


def test_a_script_around_a_python_is_ended_with_what_it_started(tmp_path: Path) -> None:
    python = program(tmp_path, 'echo \'{"dspy": "9.9"}\'', "sleep 600", "echo never")
    with Release(python, answer_seconds=0.05) as dspy, pytest.raises(ReleaseError, match="did not answer"):
        dspy.call(asked())


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("echo 'No module named dspy' >&2",), "No module named dspy"),
        ((), "it exited without a message"),
        (
            ('echo \'{"error": "its Python is 3.9, and it needs 3.11 or later"}\'',),
            "3.11 or later",
        ),
        (("echo nonsense",), "it exited without a message"),
    ],
)
def test_a_python_without_a_dspy_that_can_be_used_is_one_line(
    tmp_path: Path, lines: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ReleaseError, match=said) as found:
        Release(program(tmp_path, *lines))
    assert found.value.kind == "missing"
    assert "--dspy-python" in str(found.value)


def test_a_python_may_be_named_from_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "exit 1")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReleaseError, match="has no dspy that can be used"):
        Release("./python")


def test_a_python_that_is_not_there_is_one_line() -> None:
    with pytest.raises(ReleaseError, match="cannot be run") as found:
        Release("/nowhere/python")
    assert found.value.kind == "missing"


def test_code_in_a_language_is_that_of_dspy(dspy: Release) -> None:
    source = (
        "import dspy\n\n\nclass Write(dspy.Signature):\n"
        "    task: str = dspy.InputField()\n    program: dspy.Code['python'] = dspy.OutputField()\n"
    )
    session = Session(
        SignatureText(source),
        columns=(Column("chat", "chat"),),
        cases=(Case("case 1", {"task": "t"}),),
    )
    question = Question(session, session.cases[0], session.columns[0])
    assert dspy.call(question).messages == Ours().call(question).messages


@pytest.mark.slow
def test_a_release_that_asks_litellm_of_the_model_hears_the_capabilities_of_the_question() -> None:
    """Releases before 3.1 do: `litellm.supports_response_schema(model=lm.model)`."""
    asks = "import litellm, sys; sys.path.insert(0, {root!r}); from sessions.releases import dspy_worker as worker; "
    asks += "from adapters.requests.capabilities import Capabilities; "
    asks += "worker.let_litellm_know(Capabilities(True, False, False, frozenset(['tools', 'response_format']))); "
    asks += "print(litellm.supports_function_calling(model='nobody/knows'), "
    asks += "litellm.supports_response_schema(model='openai/gpt-4o', custom_llm_provider='openai'), "
    asks += "litellm.get_supported_openai_params(model='x', custom_llm_provider='y'))"
    code = asks.format(root=str(Path(__file__).parents[3]))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "True False ['response_format', 'tools']"


def test_a_dspy_of_before_its_models_says_so_in_a_line() -> None:
    """As dspy 0.1.5, which can be installed."""
    worker = str(WORKER)
    program = (
        "import runpy, sys, types\n"
        "sys.modules['dspy'] = types.ModuleType('dspy')\n"
        f"runpy.run_path({worker!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)["error"].startswith("it is older than dspy.BaseLM")
    assert (done.returncode, done.stderr) == (0, "")
