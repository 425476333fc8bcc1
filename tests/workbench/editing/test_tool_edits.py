"""Tools are edited field by field; what will not do stays as a draft, and the last value in use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.file import store
from sessions.model.session import Session, SignatureText, Tool
from sessions.running import tools
from workbench.editing import row_edits
from workbench.state import document
from workbench.state.document import Place, State

WEATHER = Tool(
    "weather", "The weather.", "place: str", ({"arguments": {"place": "Rome"}, "result": "sunny"}, {"result": "rain"})
)
STATE = State(Session(SignatureText("question -> answer"), tools=(WEATHER, Tool("clock", parameters=""))))


def add(state: State, at: int) -> State:
    return row_edits.add(state, "tool", at)


def at(field: str, row: int = 0) -> Place:
    return Place("tool", row=row, field=field)


def test_a_tool_is_shown_with_its_default_result_apart_from_the_others() -> None:
    assert row_edits.values_of(WEATHER) == {
        "name": "weather",
        "description": "The weather.",
        "arguments": "place: str",
        "default": "rain",
        "results": [{"arguments": {"place": "Rome"}, "result": "sunny"}],
    }
    assert set(row_edits.values_of(Tool("clock", parameters=""))) == {"name", "description", "arguments"}


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("name", "forecast", {"name": "forecast"}),
        ("description", "[/x] \x1b[2J", {"description": "[/x] \x1b[2J"}),
        ("arguments", "place: str, days: int = 2", {"parameters": "place: str, days: int = 2"}),
        ("arguments", '{"type": "object", "properties": {}}', {"parameters": {"type": "object", "properties": {}}}),
        ("arguments", "", {"parameters": ""}),
        ("default", '{"sky": 1}', {"results": (WEATHER.results[0], {"result": {"sky": 1}})}),
        ("default", "", {"results": (WEATHER.results[0],)}),
        ("results", '[{"error": "no network"}]', {"results": ({"error": "no network"}, {"result": "rain"})}),
        ("results", "", {"results": ({"result": "rain"},)}),
    ],
)
def test_what_will_do_is_taken_over_and_can_be_saved(field: str, text: str, expected: dict[str, object]) -> None:
    changed = row_edits.set_text(STATE, at(field), text)
    assert changed.session.tools[0] == replace(WEATHER, **expected)  # type: ignore[arg-type]
    assert not changed.drafts, "the notes call a draft an invalid value"
    assert store.loads(store.dumps(changed.session)).tools == changed.session.tools
    tools.described_tools(changed.session)


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("name", "", "expected letters"),
        ("name", "two words", "for example"),
        ("name", "clock", "already"),
        ("arguments", "place: str, *more", "no *"),
        ("arguments", "place: Whatever", "place"),
        ("arguments", '{"type": "obj', "line 1"),
        ("arguments", '{"type": "array"}', '"type": "object"'),
        ("arguments", "(" * 10_000, "arguments"),
        ("default", "[1, ", "not finished"),
        ("results", '{"result": 1}', "expected a list"),
        ("results", '[{"arguments": {"place": "x"}}]', "neither"),
        ("results", '[{"arguments": 3, "result": 1}]', "must be an object"),
    ],
)
def test_what_will_not_do_is_a_draft_that_says_why(field: str, text: str, said: str) -> None:
    changed = row_edits.set_text(STATE, at(field), text)
    assert changed.session is STATE.session
    assert changed.drafts == {at(field): text}
    assert said in row_edits.problem_of(changed, 0, field, text)
    assert document.state_of(document.session_with_drafts(changed)) == changed
    mended = row_edits.set_text(changed, at("name"), "weather")
    assert (at("name") in mended.drafts) is False


def test_tools_are_added_copied_moved_and_deleted_under_names_of_their_own_with_their_drafts() -> None:
    drafted = row_edits.set_text(STATE, at("name", 1), "not a name")

    def names(state: State) -> list[str]:
        return [one.name for one in state.session.tools]

    assert names(add(drafted, 1)) == ["weather", "tool", "clock"]
    assert names(add(add(drafted, 0), 0)) == ["tool_2", "tool", "weather", "clock"]
    copied = row_edits.duplicate(drafted, "tool", 0)
    assert names(copied) == ["weather", "weather_2", "clock"]
    assert copied.session.tools[1].results == WEATHER.results
    assert list(copied.drafts) == [at("name", 2)]
    assert names(row_edits.move(drafted, "tool", 1, 0)) == ["clock", "weather"]
    assert list(row_edits.move(drafted, "tool", 1, 0).drafts) == [at("name", 0)]
    deleted = row_edits.delete(drafted, "tool", 1)
    assert names(deleted) == ["weather"] and not deleted.drafts


def test_a_typed_result_is_kept_for_its_arguments_and_replaces_the_one_before() -> None:
    once = row_edits.keep_result(STATE, "weather", {"place": "Paris"}, [1, 2])
    assert tools.canned_result(once.session.tools[0], {"place": "Paris"}) == [1, 2]
    twice = row_edits.keep_result(once, "weather", {"place": "Paris"}, "fog")
    assert tools.canned_result(twice.session.tools[0], {"place": "Paris"}) == "fog"
    assert len(twice.session.tools[0].results) == 3
    assert row_edits.keep_result(STATE, "gone", {}, 1) is STATE
