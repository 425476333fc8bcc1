"""Whatever stands in a session file, it is a session or one clear error, and a check of it ends in verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions.checking import checking
from sessions.errors import SessionError
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import recording
from workbench.output import json_shapes

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 10**700, 0.5, float("nan"), "", "x", "\ud800", "[/x]\x1b[31m", "a -> b", "chat"]),
    st.sampled_from([[], {}, [[]], [{}], {"": {}}, {"$lines": 3}, {"$lines": ["a"]}, {"text": []}, {"content": {}}]),
)


@cache
def whole() -> str:
    expect = {
        "reply": "parses",
        "fields": {"a": {"equals": "b", "length": {"max": 9}, "matches": "b", "schema": {"type": "string"}}},
        "columns": {"json": {"fields": {"a": {"in": ["b"], "approx": 1, "contains": "b"}}}},
    }
    replies = {"chat": Reply("[[ ## a ## ]]\nb"), "json": Reply('{"a": "b"}', tool_calls=({"function": {}},))}
    case = Case("c", {"q": "x"}, ({"q": "x", "a": "y"},), expect, replies=replies)
    columns = (Column("chat", "chat", params={"seed": 1}), Column("json", "json"))
    session = Session(SignatureText("q, h: dspy.History -> a"), (Demo({"q": "1", "a": "2"}),), columns, (case,))
    for column in columns:
        session = recording.record(session, session.cases[0], column)
    return store.dumps(session)


def session_or_error(text: str) -> Session | SessionError:
    try:
        return store.loads(text, "hostile.json")
    except SessionError as error:
        return error


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*place, key))


@settings(max_examples=3 * settings().max_examples, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_change_to_a_file_gives_a_session_or_an_error_and_a_check_gives_verdicts(data: st.DataObject) -> None:
    content = json.loads(whole())
    *path, last = data.draw(st.sampled_from(list(places(content))[1:]))
    holder = content
    for key in path:
        holder = holder[key]
    if data.draw(st.booleans()):
        holder[last] = data.draw(junk)
    else:
        del holder[last]
    session = session_or_error(json.dumps(content))
    if isinstance(session, SessionError):
        assert str(session).startswith("hostile.json: ")
        return
    assert store.loads(store.dumps(session)) is not None
    for result in checking.check(session):
        assert set(result.verdicts.values()) <= {"pass", "drift", "fail", "empty", "error"}
        json.dumps(json_shapes.fixture(result), allow_nan=False)
    checking.update(session)


@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(st.integers(0, 10_000), st.binary(max_size=3))
def test_any_damaged_byte_gives_a_session_or_an_error(position: int, bytes_: bytes) -> None:
    text = whole()
    position %= len(text)
    damaged = text[:position] + bytes_.decode("latin-1") + text[position + 1 :]
    session = session_or_error(damaged)
    assert isinstance(session, Session) or str(session).startswith("hostile.json: ")
