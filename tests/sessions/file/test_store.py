"""A session file loses nothing, says where it is wrong, and is never half written."""

from __future__ import annotations

import dataclasses
import difflib
import errno
import json
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from sessions.errors import SessionError
from sessions.file import json_values, store
from sessions.model.replies import Measured
from sessions.model.session import DEFAULT_COLUMNS, Case, Demo, Session, SignatureText
from tests.sessions.strategies import sessions

BASIC = Session(
    SignatureText("question -> answer", instructions="Answer.\nBe brief."),
    demos=(Demo({"question": "q", "answer": "a"}),),
    columns=DEFAULT_COLUMNS,
    cases=(Case("rain", inputs={"question": "Is it raining?"}),),
)


def exactly(value: Any) -> Any:
    """A face of a value that tells apart 1, 1.0 and true, NaN from nothing else, and orders of keys."""
    if dataclasses.is_dataclass(value):
        compared = [field.name for field in dataclasses.fields(value) if field.compare]
        return [(name, exactly(getattr(value, name))) for name in compared]
    if isinstance(value, Mapping):
        return "object", [(key, exactly(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [exactly(item) for item in value]
    return type(value).__name__, hex(value) if isinstance(value, int) else repr(value)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions)
def test_any_session_is_the_same_after_save_and_load_and_has_one_text(session: Session) -> None:
    text = store.dumps(session)
    again = store.loads(text)
    assert exactly(again) == exactly(session)
    assert store.dumps(again) == text
    assert json.loads(text.encode("utf-8")) is not None


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("key", ["cost", "duration_ms"])
def test_what_is_no_number_to_the_format_is_kept_as_it_stands(key: str, number: float) -> None:
    case = Case("case 1", measured={"chat": (Measured(**{key: number}),)})
    text = store.dumps(Session(SignatureText("a -> b"), cases=(case,)))
    again = store.loads(text)
    (measured,) = again.cases[0].measured["chat"]
    assert getattr(measured, key) is None and repr(measured.extra[key]) == repr(number)
    assert store.dumps(again) == text


def test_one_changed_line_of_the_instructions_is_one_changed_line_in_the_file() -> None:
    lines = [f"Rule {number}: check the sum of the items." for number in range(30)]
    before = dataclasses.replace(BASIC, signature=SignatureText("a -> b", instructions="\n".join(lines)))
    lines[17] = "Rule 17: never guess a sum."
    after = dataclasses.replace(BASIC, signature=SignatureText("a -> b", instructions="\n".join(lines)))
    assert changed_lines(before, after) == (1, 1)


def test_one_changed_line_of_an_input_or_a_demo_is_one_changed_line_in_the_file() -> None:
    before = dataclasses.replace(BASIC, cases=(Case("c", inputs={"question": "first\nsecond\nthird"}),))
    after = dataclasses.replace(BASIC, cases=(Case("c", inputs={"question": "first\nsecond!\nthird"}),))
    assert changed_lines(before, after) == (1, 1)


def changed_lines(before: Session, after: Session) -> tuple[int, int]:
    diff = list(difflib.ndiff(store.dumps(before).splitlines(), store.dumps(after).splitlines()))
    return sum(line.startswith("- ") for line in diff), sum(line.startswith("+ ") for line in diff)


def test_the_file_is_strict_json_whatever_the_numbers() -> None:
    inputs = {"a": math.nan, "b": -math.inf, "c": 10**5000, "d": 1e300}
    text = store.dumps(dataclasses.replace(BASIC, cases=(Case("c", inputs=inputs),)))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(text, parse_constant=refuse)
    read = store.loads(text).cases[0].inputs
    assert math.isnan(read["a"])
    assert (read["b"], read["c"], read["d"]) == (-math.inf, 10**5000, 1e300)


def test_invisible_characters_are_escaped_and_readable_ones_are_not() -> None:
    text = store.dumps(dataclasses.replace(BASIC, name="Zürich 東京 \x1b[31m \x9b \u202e \ud800 \u2028"))
    assert '"Zürich 東京 \\u001b[31m \\u009b \\u202e \\ud800 \\u2028"' in text


def test_unknown_keys_are_kept_wherever_they_stand() -> None:
    data = json.loads(store.dumps(BASIC))
    for part in (data, data["signature"], data["columns"][0], data["demos"][0], data["cases"][0]):
        part["from_the_future"] = {"kept": [1, 1.0, True]}
    text = store.dumps(store.loads(json.dumps(data)))
    assert text.count('"from_the_future"') == 5
    assert json.loads(text) == data


def test_an_object_of_the_user_that_looks_like_a_tag_stays_an_object() -> None:
    inputs = {"a": {"$lines": ["x", "y"]}, "b": {"$dict": [["x", 1]]}, "c": {"$ref": "#/x"}, "d": {"$lines": 3}}
    session = dataclasses.replace(BASIC, cases=(Case("c", inputs=inputs),))
    assert store.loads(store.dumps(session)).cases[0].inputs == inputs


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"cases": [{"name": "c", "inputs": []}]}, "cases[0].inputs", "expected an object, got a list"),
    ({"cases": [{"inputs": {}}]}, "cases[0]", 'has no "name"'),
    ({"cases": [{"name": "c"}, {"name": "c"}]}, "cases[1].name", "'c' is used twice"),
    ({"columns": [{"id": "a", "adapter": "chat"}, {"id": "a", "adapter": "xml"}]}, "columns[1].id", "used twice"),
    ({"demos": [{"values": {}, "enabled": "no"}]}, "demos[0].enabled", "expected true or false, got a text"),
    ({"signature": {"text": 3}}, "signature.text", "expected a text or a list of its lines, got a number"),
    ({"signature": {"text": "a -> b", "predictor": "Predikt"}}, "signature.predictor", "did you mean Predict?"),
    ({"fallback": 1}, "fallback", "expected true or false"),
    ({"format": 7}, "format", "written by a newer workbench"),
    ({"format": True}, "format", "expected a whole number, got true"),
    ({"model": None}, "model", "expected a text, got null"),
    ({"params": {"temprature": 1}}, "params.temprature", "did you mean temperature?"),
    ({"params": {"temperature": "hot"}}, "params.temperature", "expected a number, got a text"),
]


@pytest.mark.parametrize(("change", "place", "message"), WRONG, ids=[place for _, place, _ in WRONG])
def test_what_is_wrong_is_named_by_its_place(change: dict[str, Any], place: str, message: str) -> None:
    data = json.loads(store.dumps(BASIC)) | change
    with pytest.raises(SessionError) as caught:
        store.loads(json.dumps(data), "q.json")
    assert caught.value.place == place
    assert message in str(caught.value)
    assert str(caught.value).startswith("q.json: ")


SECRETS: list[dict[str, Any]] = [
    {"api_key": "abc"},
    {"extra_headers": {"Authorization": "Bearer abcdefghijkl"}},
    {"user": "sk-canary-1234567890"},
    {"stop": ["sk-canary-1234567890"]},
    {"api_base": "https://me:canary@host/v1"},
    {"api_base": "https://host/v1?token=canary"},
    {"token": "canary"},
]


@pytest.mark.parametrize("params", SECRETS, ids=str)
def test_a_secret_is_refused_on_load_and_on_save_without_being_repeated(params: dict[str, Any]) -> None:
    data = json.loads(store.dumps(BASIC))
    data["columns"][1]["params"] = params
    with pytest.raises(SessionError, match="environment") as loading:
        store.loads(json.dumps(data))
    column = dataclasses.replace(DEFAULT_COLUMNS[0], params=params)
    with pytest.raises(SessionError, match="environment") as saving:
        store.dumps(dataclasses.replace(BASIC, columns=(column,)))
    assert loading.value.place.startswith("columns[1].params.")
    assert "canary" not in str(loading.value) + str(saving.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (store.dumps(BASIC).encode()[:200], "ends in the middle"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"format": 0, "signature": {"text": "a -> b"}, "x": ' + b"[" * 300 + b"]" * 300 + b"}", "nested too deep"),
        (b'{"format": 0, "x": ' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"format": 0,\n "format": 0}', "the key appears twice, the second time at line 2, column 2"),
        (b'{"format": 0,\n<<<<<<< HEAD\n}', "merge conflict"),
        (b'{"format": 0,\n  "name" "x"}', "line 2, column 10: not valid JSON"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b"{}", 'it has no "format"'),
        (b"[]", "expected an object, got a list"),
    ],
)
def test_a_bad_file_is_one_clear_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(SessionError) as caught:
        store.load(path)
    assert message in str(caught.value)
    assert path.read_bytes() == content


def test_a_file_of_200_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(SessionError, match="too large for a session: 200,000,000 bytes"):
        store.load(path)


def test_a_missing_file_suggests_the_nearest_name_and_a_folder_is_no_file(tmp_path: Path) -> None:
    store.save(BASIC, tmp_path / "invoice.json")
    with pytest.raises(SessionError, match=r"did you mean .*invoice\.json"):
        store.load(tmp_path / "invioce.json")
    with pytest.raises(SessionError, match="this is a folder"):
        store.load(tmp_path)
    with pytest.raises(SessionError, match="this is a folder"):
        store.save(BASIC, tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SessionError, match="not a regular file"):
        store.load(tmp_path / "pipe")
    with pytest.raises(SessionError, match="not a regular file"):
        store.save(BASIC, tmp_path / "pipe")


def test_values_that_are_no_json_are_refused_on_save_with_their_place(tmp_path: Path) -> None:
    session = dataclasses.replace(BASIC, cases=(Case("c", inputs={"when": [1, {"x": {1, 2}}]}),))
    with pytest.raises(SessionError, match=r"cases\[0\]\.inputs\.when\[1\]\.x: a set is not a JSON value"):
        store.save(session, tmp_path / "s.json")
    assert list(tmp_path.iterdir()) == []


def test_nesting_up_to_the_limit_is_kept_and_one_more_is_refused() -> None:
    nested: Any = {"$lines": "x"}
    for _ in range(json_values.DEPTH - 2):
        nested = {"$lines": nested}
    session = dataclasses.replace(BASIC, cases=(Case("c", inputs={"v": nested}),))
    assert store.loads(store.dumps(session)).cases[0].inputs == {"v": nested}
    with pytest.raises(SessionError, match="nested more than"):
        store.dumps(dataclasses.replace(BASIC, cases=(Case("c", inputs={"v": [nested]}),)))


def test_save_keeps_the_mode_and_a_new_file_gets_the_usual_one(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    plain = tmp_path / "plain"
    plain.touch()
    store.save(BASIC, path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    store.save(dataclasses.replace(BASIC, name="new"), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert store.load(path).name == "new"


def test_a_link_within_its_folder_is_kept_and_one_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    outside, inside = tmp_path / "outside.json", tmp_path / "folder" / "inside.json"
    store.save(BASIC, outside)
    store.save(BASIC, inside)
    near, out = tmp_path / "folder" / "near.json", tmp_path / "folder" / "out.json"
    near.symlink_to("inside.json")
    out.symlink_to("../outside.json")
    store.save(dataclasses.replace(BASIC, name="new"), near)
    assert near.is_symlink()
    assert store.load(inside).name == "new"
    with pytest.raises(SessionError, match="a link that leads out of its folder"):
        store.save(dataclasses.replace(BASIC, name="new"), out)
    assert store.load(outside).name == ""


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, failure: BaseException
) -> None:
    path = tmp_path / "s.json"
    store.save(BASIC, path)
    before = path.read_bytes()

    def fail(*arguments: object) -> None:
        raise failure

    monkeypatch.setattr(os, call, fail)
    with pytest.raises((SessionError, KeyboardInterrupt)) as caught:
        store.save(dataclasses.replace(BASIC, name="new"), path)
    assert isinstance(failure, KeyboardInterrupt) or "no space left" in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["s.json"]
    assert path.read_bytes() == before


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.json"
    store.save(BASIC, path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(SessionError, match="read-only"):
        store.save(dataclasses.replace(BASIC, name="new"), path)
    assert store.load(path).name == ""


def test_saving_where_no_folder_is_says_so(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="the folder does not exist"):
        store.save(BASIC, tmp_path / "none" / "s.json")
