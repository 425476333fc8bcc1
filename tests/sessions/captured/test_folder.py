"""Calls as the program's side tells them, put into the sessions of a folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from sessions.captured.folder import CallFilter, CapturedFolder
from sessions.file import store

ADAPTERS = {
    "chat": ("dspy.adapters.chat_adapter:ChatAdapter", "[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]"),
    "json": ("dspy.adapters.json_adapter:JSONAdapter", '{"answer": "yes"}'),
}
DEFINITION: dict[str, Any] = {
    "name": "QA",
    "instructions": "Answer.",
    "fields": [
        {
            "name": name,
            "role": role,
            "type": "str",
            "type_was_given": True,
            "constraints": None,
            "prefix": f"{name.title()}:",
            "desc": f"${{{name}}}",
        }
        for name, role in (("question", "input"), ("answer", "output"))
    ],
    "classes": {},
    "of": None,
    "predictor": "Predict",
}


def call(question: str, adapter: str, **output: Any) -> dict[str, Any]:
    cls, reply = ADAPTERS[adapter]
    attempt = {
        "adapter": {"classes": [cls], "options": {}},
        "is_extraction": False,
        "messages": [{"role": "user", "content": question}],
        "params": {},
        "model": {"name": "openai/gpt-4o", "params": {}, "abilities": None},
        "outputs": [{"text": reply, **output}],
        "error": None,
        "readings": [{"values": {"answer": "yes"}}],
    }
    return {
        "signature": "s",
        "name": "QA",
        "inputs": {"question": question},
        "demos": [],
        "config": {},
        "attempts": [attempt],
        "values": [{"answer": "yes"}],
        "error": None,
    }


def told(tmp_path: Path, *calls: dict[str, Any]) -> CapturedFolder:
    folder = CapturedFolder(tmp_path, CallFilter())
    folder.take({"define": "s", "signature": DEFINITION})
    for one in calls:
        folder.take(one)
    folder.save()
    return folder


def test_results_stand_in_the_order_of_the_columns_whichever_was_called_first(tmp_path: Path) -> None:
    calls = [call("a", "chat"), call("b", "json"), call("b", "chat")]
    assert not told(tmp_path, *calls).problems
    session = store.load(tmp_path / "QA.session.json")
    assert [one.id for one in session.columns] == ["chat", "json"]
    for held in (session.case("b").recordings, session.case("b").replies):
        assert list(held) == ["chat", "json"]


def test_a_call_that_no_file_can_hold_keeps_no_other_call_out(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(120):
        deep = [deep]
    calls = [call(name, "chat") for name in "abc"]
    folder = told(tmp_path, *calls, call("a", "json", logprobs=deep), call("d", "chat"))
    assert len(folder.problems) == 1
    session = store.load(tmp_path / "QA.session.json")
    assert [one.name for one in session.cases] == ["a", "b", "c", "d"]
    assert list(session.case("a").recordings) == ["chat"]


def test_a_call_whose_requests_are_hidden_is_told(tmp_path: Path) -> None:
    hidden = call("a", "chat")
    hidden["attempts"][0]["messages"] = []
    folder = told(tmp_path, hidden)
    assert any("QA: not captured" in one and "override `forward`" in one for one in folder.notes)
    assert not list(tmp_path.iterdir())
    assert not told(tmp_path, {**hidden, "error": {"type": "ValueError", "message": "no input"}}).notes


def writer(tmp_path: Path, instructions: str = "Answer.") -> CapturedFolder:
    folder = CapturedFolder(tmp_path, CallFilter())
    folder._next_save = math.inf  # each writes when it is told to
    folder.take({"define": "s", "signature": {**DEFINITION, "instructions": instructions}})
    return folder


def test_several_writers_of_one_session_are_joined(tmp_path: Path) -> None:
    """Inputs that begin alike have one name for a case in each process, and another adapter comes first."""
    long = "the same words at the beginning of each of these questions "
    writers = [writer(tmp_path) for _ in range(3)]
    for number, one in enumerate(writers):
        one.take(call("a", "json" if number == 1 else "chat"))
    for number, one in enumerate(writers):
        one.take(call(f"{long}{number % 2}", "chat"))
        one.take(call(f"{long}{number} again", "chat"))
    for one in writers:
        one.save()
        assert not one.problems
    session = store.load(tmp_path / "QA.session.json")
    asked = [one.inputs["question"] for one in session.cases]
    assert sorted(asked) == sorted(["a", f"{long}0", f"{long}1", *[f"{long}{number} again" for number in range(3)]])
    assert set(session.cases[0].recordings) == {"chat", "json"} == {one.adapter for one in session.columns}
    assert all(one.recordings for one in session.cases)


def test_a_writer_of_another_signature_gets_a_file_beside(tmp_path: Path) -> None:
    writers = [writer(tmp_path, said) for said in ("Answer.", "Reply.")]
    for one in writers:
        one.take(call("a", "chat"))
    for one in writers:
        one.save()
        assert not one.problems
    said = [store.load(tmp_path / f"QA{more}.session.json").signature.read().instructions for more in ("", "-2")]
    assert said == ["Answer.", "Reply."]
