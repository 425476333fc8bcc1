"""Placeholders that stand nowhere else: filled in at once they give the very messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessions import examples
from sessions.exports.exported import source_of
from sessions.exports.template import filled, template
from sessions.model.session import Case, Column, Demo, Session, SignatureText, Tool

PIXEL = "data:image/png;base64,iVBORw0KGgo="
NASTY = ["{{a}}", "{{a}} <<a>> [[[a]]] %%a%% ⟪a⟫", "{", "}}", "{% raw %}", "$a \\1", "\x1b[0m\x00\udc80", ""]


def made(session: Session, adapter: str = "chat", case: int = 0) -> tuple[Any, Any]:
    source = source_of(session, [Column(adapter, adapter)], [session.cases[case]])
    exported = template(source)
    assert exported == template(source)
    return json.loads(exported.text), source.first.request.prompt.as_dicts()


def refilled(data: Any) -> Any:
    return filled(data["messages"], {one["text"]: one["value"] for one in data["placeholders"].values()})


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep", "markdown"])
def test_filled_in_it_is_the_request_of_every_adapter(adapter: str) -> None:
    for name in ("question", "triage"):
        session = examples.load(name)
        for number in range(len(session.cases)):
            data, messages = made(session, adapter, number)
            assert set(data["placeholders"]) >= set(session.cases[number].inputs)
            assert refilled(data) == messages


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml"])
def test_the_tools_of_a_session_are_no_placeholder(adapter: str) -> None:
    tools = (Tool("search", "Searches.", "query: str"),)
    data, messages = made(Session(SignatureText("a -> b"), tools=tools, cases=(Case("c", {"a": "x"}),)), adapter)
    assert list(data["placeholders"]) == ["a"]
    assert "Searches." in str(data["messages"])
    assert refilled(data) == messages


@pytest.mark.parametrize("one", NASTY)
@pytest.mark.parametrize("other", NASTY)
def test_no_text_of_an_input_demo_or_instruction_is_taken_for_a_placeholder(one: str, other: str) -> None:
    session = Session(
        SignatureText("a, b -> c", instructions=f"{other}{{{one}"),
        (Demo({"a": one, "b": other, "c": one}),),
        cases=(Case("x", {"a": one, "b": other}),),
    )
    data, messages = made(session)
    assert refilled(data) == messages
    texts = [entry["text"] for entry in data["placeholders"].values()]
    written = json.dumps(data["messages"], ensure_ascii=False)
    assert [written.count(json.dumps(text, ensure_ascii=False)[1:-1]) for text in texts] == [1, 1]


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep", "markdown"])
@pytest.mark.parametrize("value", ["", "\n", "one\n", " one"])
def test_an_empty_or_blank_text_leaves_no_line_of_its_own(adapter: str, value: str) -> None:
    for text in ("a, b -> c", "b, a -> c"):
        data, messages = made(Session(SignatureText(text), cases=(Case("x", {"a": value, "b": "two"}),)), adapter)
        assert refilled(data) == messages


def test_only_the_empty_input_that_is_written_differently_has_no_place() -> None:
    session = Session(SignatureText("a, b -> c"), cases=(Case("x", {"a": "", "b": ""}),))
    exported = template(source_of(session, [Column("twostep", "twostep")], session.cases))
    data = json.loads(exported.text)
    assert list(data["placeholders"]) == ["a"] and data["messages"][-1]["content"] == "a: {{a}}\n\nb:"
    assert any(one.startswith("a place for b: ") for one in exported.left_out)


def test_the_first_form_is_the_usual_one_and_a_collision_takes_another() -> None:
    plain, _ = made(Session(SignatureText("a -> c"), cases=(Case("x", {"a": "1"}),)))
    assert plain["placeholders"]["a"] == {"text": "{{a}}", "type": "str", "written": "as it stands", "value": "1"}
    taken, _ = made(Session(SignatureText("a -> c", instructions="Say {{a}}."), cases=(Case("x", {"a": "1"}),)))
    assert taken["placeholders"]["a"]["text"] == "<<a>>"


def test_what_has_no_place_is_said() -> None:
    session = Session(
        SignatureText("picture: dspy.Image, n: int, late -> c"), cases=(Case("x", {"picture": PIXEL, "n": 3}),)
    )
    source = source_of(session, [Column("chat", "chat")], session.cases)
    exported = template(source)
    data = json.loads(exported.text)
    assert data["placeholders"]["n"]["written"] == "as in value"
    assert any(one.startswith("a place for picture, late") for one in exported.left_out)
    assert refilled(data) == source.first.request.prompt.as_dicts()
