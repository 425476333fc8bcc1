"""A text that is no value yet is in no file, and still it survives saving, leaving and a crash."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Session
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.editing.edits import set_reply
from workbench.state.document import KEY, Place, State, session_with_drafts, state_of

PLACES = st.sampled_from(
    [Place("input", "first", field="tags"), Place("input", "second", field="tags"), Place("demo", row=2, field="tags")]
)


@given(st.dictionaries(PLACES, st.text()), st.text())
def test_a_copy_holds_every_draft_and_what_replies_answer_and_gives_back_the_same_state(
    drafts: dict[Place, str], digest: str
) -> None:
    answered = set_reply(State(TICKETS), "first", "chat", Reply("yes", request_digest=digest))
    state = replace(answered, drafts=drafts)
    assert state_of(store.loads(store.dumps(session_with_drafts(state)))) == state


def test_a_session_without_drafts_is_its_own_copy() -> None:
    assert session_with_drafts(State(TICKETS)) is TICKETS
    assert state_of(TICKETS) == State(TICKETS)


def test_drafts_that_somebody_wrote_into_a_file_do_no_harm() -> None:
    hostile = [
        None,
        {"kind": "demo", "case": "", "row": 99, "field": "tags", "text": "x"},
        {"kind": "demo", "case": "", "row": -1, "field": "tags", "text": "x"},
        {"kind": "history", "case": "first", "row": -1, "field": "tags", "text": "x"},
        {"kind": "input", "case": "no such", "row": -1, "field": "tags", "text": "x"},
        {"kind": "rm", "case": "first", "row": -1, "field": "tags", "text": "x"},
        {"kind": "input", "case": "first", "row": "0", "field": ["tags"], "text": 1},
    ]
    session = Session(TICKETS.signature, cases=TICKETS.cases, extra={KEY: hostile, "other": 1})
    state = state_of(session)
    assert state.drafts == {} and state.session.extra == {"other": 1}


@pytest.mark.slow
def test_saving_and_leaving_keeps_a_text_that_is_no_value_and_offers_it_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)
    copies: list[str] = []

    async def act(desk: Desk) -> None:
        desk.app.load(store.load(path), path)
        await desk.go_to("input", "tags")
        await desk.paste_over('["unfinished')
        await desk.press("ctrl+s")
        assert any("invalid value" in str(one.message) for one in desk.app._notifications)
        assert desk.editor.raw == '["unfinished'
        await desk.press("ctrl+q")
        await desk.press("q")
        folder = Path(os.environ["XDG_STATE_HOME"])
        await desk.until(lambda: [*folder.rglob("autosave/*.json")], "a copy")
        copies.extend(one.read_text() for one in folder.rglob("autosave/*.json"))

    at_the_desk(act)
    assert "unfinished" not in path.read_text()
    assert copies
    assert state_of(store.loads(copies[-1])).drafts == {Place("input", "first", field="tags"): '["unfinished'}
