"""Replies and recordings in a file: whatever order and kinds a person wrote them in, saving changes nothing of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sessions.file import store
from sessions.file.file_format import as_data
from sessions.model.replies import Extraction, RecordedAttempt, RecordedCompletion, RecordedReading, Reply, keys_of
from sessions.model.session import Case, Column, Demo, Recording, Session, SignatureText


def saved(part: str, written: str) -> str:
    """`written`, put under a case at `part`, as it stands there after loading and saving."""
    case = f'{{"name": "c", "{part}": {{"chat": {written}}}}}'
    session = store.loads(f'{{"format": 1, "signature": {{"text": "q -> a"}}, "cases": [{case}]}}')
    return json.dumps(json.loads(store.dumps(session))["cases"][0][part]["chat"])


@pytest.mark.parametrize(
    "written",
    [
        '{"text": "x"}',
        '{"source": "pasted", "text": "x"}',
        '{"text": "x", "model": 5, "later": [1], "raw": 1}',
        '{"rating": "good", "note": "n", "text": "x", "source": "sent"}',
        '{"text": "x", "tool_calls": null, "finish_reason": null, "extraction": {"text": "t", "more": 1}}',
        '{"text": "x", "extraction": 7, "reasoning": "", "raw": false}',
    ],
)
def test_a_reply_of_any_layout_is_saved_as_it_was_written(written: str) -> None:
    assert saved("replies", written) == written


@pytest.mark.parametrize(
    "written",
    [
        '{"adapter": "chat"}',
        '{"error": null, "adapter": "chat", "completions": [{"reading": null, "text": null}]}',
        '{"adapter": "chat", "role": "odd", "request": null, "completions": [], "error": 5}',
        '{"adapter": "chat", "completions": [{}, {"text": "", "reading": {"values": {}, "ok": true}}]}',
    ],
)
def test_a_recorded_attempt_of_any_layout_is_saved_as_it_was_written(written: str) -> None:
    before = '"source": "sent", "versions": {}, "capabilities": {}, "messages": [], "request": {}'
    recording = f'{{{before}, "attempts": [{written}]}}'
    assert saved("recordings", recording) == recording


@pytest.mark.parametrize("written", ["[{}]", '[{"cost": null}]', '[{"duration_ms": "x", "usage": {}, "cost": 1}]'])
def test_what_was_measured_is_saved_as_it_was_written(written: str) -> None:
    assert saved("measured", written) == written


def test_what_is_made_here_names_who_and_whence_first_and_leaves_out_what_is_not_known() -> None:
    case = Case("c", replies={"chat": Reply("x", model="m", finish_reason="stop", rating="good")})
    data = json.loads(store.dumps(Session(SignatureText("q -> a"), cases=(case,))))
    reply = {"text": "x", "source": "sent", "model": "m", "finish_reason": "stop", "rating": "good"}
    assert json.dumps(data["cases"][0]["replies"]["chat"]) == json.dumps(reply)


def test_what_is_taken_back_leaves_no_trace_in_the_file() -> None:
    session = store.loads(
        store.dumps(Session(SignatureText("q -> a"), cases=(Case("c", replies={"chat": Reply("x")}),)))
    )
    (case,) = session.cases
    rated = replace(case, replies={"chat": replace(case.replies["chat"], rating="good")})
    again = store.loads(store.dumps(session.replace_case(rated))).cases[0].replies["chat"]
    unrated = session.replace_case(replace(case, replies={"chat": replace(again, rating=None)}))
    assert store.dumps(unrated) == store.dumps(session)


def test_an_attempt_made_here_is_written_whole() -> None:
    assert list(as_data(RecordedAttempt("chat"))) == ["adapter", "role", "request", "completions", "error"]


def test_a_part_read_from_a_file_has_all_fields_as_one_that_is_made_here() -> None:
    case = '{"name": "c", "replies": {"chat": {"text": "x", "source": "sent"}}}'
    read = store.loads(f'{{"format": 1, "signature": {{"text": "q -> a"}}, "cases": [{case}]}}').cases[0]
    for one, made in ((read, Case("c", replies=read.replies)), (read.replies["chat"], Reply("x"))):
        assert one == made
        assert {**vars(one), "keys": None, "extra": {}} == {**vars(made), "keys": None, "extra": {}}
        assert [name for name in vars(one) if name != "keys"] == [name for name in vars(made) if name != "keys"]
        with pytest.raises(AttributeError):
            one.extra = {}  # type: ignore[misc]


@pytest.mark.parametrize(
    "kind",
    [Case, Column, Demo, Extraction, RecordedAttempt, RecordedCompletion, RecordedReading, Recording, Reply, Session],
)
def test_what_a_part_needs_is_never_taken_for_absent(kind: type[object]) -> None:
    needed = [one for one in keys_of(kind).values() if one.is_needed]
    assert not [one.name for one in needed if one.rule.is_lenient or one.rule.null_is_absent]
