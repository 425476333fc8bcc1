"""Format 1: its JSON Schema and its loader refuse the same, older files are brought to it, newer ones are refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions import examples
from sessions.checking import checking
from sessions.errors import SessionError
from sessions.file import store
from sessions.model.parameters import PARAMETERS
from sessions.model.replies import Measured
from sessions.model.session import SCHEMA, Case, Session, SignatureText, Variant
from tests.sessions.strategies import sessions

OLD = Path(__file__).with_name("formats") / "format_0.session.json"
# As the first program that wrote format 1 saved it; what reads and writes sessions has been made anew since.
FIRST_OF_TODAY = OLD.with_name("format_1.session")
SCHEMA_OF_FILES = json.loads((files("sessions") / "session.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA_OF_FILES)


def whole() -> dict[str, Any]:
    """A file with something at every place, as JSON data."""
    data: dict[str, Any] = json.loads(store.dumps(store.load(OLD)))
    data["tools"] = [{"name": "weather", "description": ["Now."], "parameters": {}, "results": [{"result": 3}]}]
    data["variants"] = [{"tag": "short", "of": "instructions", "text": ["Be brief."], "original": ""}]
    return data


def test_the_schema_is_a_schema_and_knows_every_key_and_parameter() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA_OF_FILES)
    private = replace(examples.load("receipt"), private=True)  # a key that is left out while it is false
    assert list(SCHEMA_OF_FILES["properties"]) == list(json.loads(store.dumps(private)))
    assert "private" not in json.loads(store.dumps(replace(private, private=False)))
    assert list(SCHEMA_OF_FILES["$defs"]["parameters"]["properties"]) == list(PARAMETERS)
    assert SCHEMA_OF_FILES["$id"] == SCHEMA


@settings(suppress_health_check=list(HealthCheck))
@given(sessions)
def test_the_schema_accepts_every_file_that_is_written(session: Session) -> None:
    VALIDATOR.validate(json.loads(store.dumps(session)))


def test_a_linked_session_of_before_is_saved_to_the_same_bytes() -> None:
    linked = OLD.with_name("linked_chain_of_thought.session").read_text(encoding="utf-8")
    assert store.dumps(store.loads(linked)) == linked


@pytest.mark.parametrize("name", examples.NAMES)
def test_the_examples_stand_as_they_would_be_saved(name: str) -> None:
    assert store.dumps(examples.load(name)) == examples.text(name)
    VALIDATOR.validate(json.loads(examples.text(name)))


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place of JSON data, its own among them."""
    yield path
    for key, item in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(item, (*path, key))


def changed(data: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """`data` with `value` at `path`; REMOVED takes it out."""
    data = copy.deepcopy(data)
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    if not path:
        return None if value is REMOVED else value
    if value is not REMOVED:
        holder[path[-1]] = value
    else:
        del holder[path[-1]]
    return data


REMOVED = object()
WRONG: list[Any] = [REMOVED, None, True, 3, 1.5, "x", [], ["x"], [3], [{}], {}, {"$lines": ["a", "b"]}, {"$lines": [3]}]
WRONG += [
    {"$int": "0x1"},
    {"$int": hex(2**2048 - 1)},
    {"$int": hex(2**2048)},
    {"$float": "NaN"},
    {"$float": 3},
    {"$dict": [["a", 1]]},
    {"later": 1},
]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(list(places(whole()))), st.sampled_from(WRONG))
def test_schema_and_loader_refuse_the_same(path: tuple[str | int, ...], wrong: Any) -> None:
    data = changed(whole(), path, wrong)
    refusal = None
    try:
        store.loads(json.dumps(data))
    except SessionError as error:
        refusal = error
    if refusal is not None and "used twice" in refusal.message:
        return  # no schema can say this
    if isinstance(wrong, dict) and "$dict" in wrong:
        return  # the loader also takes this form where nobody writes it
    assert VALIDATOR.is_valid(data) == (refusal is None), refusal


def test_a_file_of_format_0_is_read_whole_and_written_as_format_1() -> None:
    session = store.load(OLD)
    assert session.name == "Weather"
    assert session.extra == {"team": "forecasts"}
    assert session.case("rain").measured["chat"] == (Measured(None, None, 80.7),)
    assert all(result.passed for result in checking.check(session, cases=["rain"]))
    data = json.loads(store.dumps(session))
    assert data["format"] == 1
    assert "measured" not in data["cases"][0]["recordings"]["chat"]
    assert store.loads(store.dumps(session)) == session
    old = json.loads(OLD.read_text())
    for case in old["cases"]:
        for recording in case["recordings"].values():
            del recording["measured"]
    new = copy.deepcopy(data)
    for case in new["cases"]:
        del case["measured"]
    for key in ("$schema", "tools", "variants"):
        del new[key]
    assert new == old | {"format": 1}


def test_an_early_file_of_todays_format_is_saved_to_the_same_bytes_and_checks_as_it_did() -> None:
    session = store.load(FIRST_OF_TODAY)
    assert store.dumps(session).encode() == FIRST_OF_TODAY.read_bytes()
    lamp = session.case("lamp")
    extraction = lamp.recordings["two"].attempts[-1]
    assert (extraction.role, [one.reading is not None for one in extraction.completions]) == ("extraction", [True])
    verdicts = {one.column: one.verdicts for one in checking.check(session, cases=["lamp"])}
    passed = {"render": "pass", "parse": "pass", "expect": "pass"}
    assert verdicts["chat"] == verdicts["two"] == passed
    assert verdicts["json"] == {"render": "empty", "parse": "empty", "expect": "pass"}


@pytest.mark.parametrize("cases", [3, [3], [{"recordings": 3}], [{"name": "c", "recordings": {"chat": 3}}]])
def test_an_old_file_that_is_wrong_is_one_clear_error(cases: Any) -> None:
    with pytest.raises(SessionError, match=r"cases"):
        store.loads(json.dumps({"format": 0, "signature": {"text": "a -> b"}, "cases": cases}))


def test_a_newer_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_text(json.dumps(whole() | {"format": 2}))
    with pytest.raises(SessionError, match=r"format 2, and this one reads format 1 \(upgrade the workbench\)"):
        store.load(path)


def test_unknown_keys_are_kept_at_every_level() -> None:
    data = whole()
    case = data["cases"][0]
    recording = case["recordings"]["chat"]
    attempt = recording["attempts"][0]
    levels = [
        data,
        data["signature"],
        data["variants"][0],
        data["columns"][0],
        data["tools"][0],
        data["demos"][0],
        case,
        case["replies"]["chat"],
        case["measured"]["chat"][0],
        recording,
        attempt,
        attempt["completions"][0],
    ]
    for level in levels:
        level["from_the_future"] = {"kept": [1, 1.0, True]}
    text = store.dumps(store.loads(json.dumps(data)))
    assert json.loads(text) == data
    assert text.count('"from_the_future"') == len(levels)


def test_what_was_measured_changes_no_line_of_a_recording() -> None:
    before, after = whole(), whole()
    after["cases"][0]["measured"]["chat"][0]["duration_ms"] = 99.9
    one, other = (store.loads(json.dumps(data)) for data in (before, after))
    assert one.case("rain").recordings == other.case("rain").recordings
    assert checking.check(one) == checking.check(other)


def test_a_long_line_is_written_in_pieces_of_which_an_edit_changes_few() -> None:
    sentences = [f"Sentence {number} says that invoice {number * 7} was paid in full." for number in range(100)]
    before = store.dumps(session_with(" ".join(sentences)))
    sentences[40] = "This one is not like it was before."
    after = store.dumps(session_with(" ".join(sentences)))
    assert max(map(len, before.splitlines())) < 250
    changed_lines = set(after.splitlines()) - set(before.splitlines())
    assert len(changed_lines) <= 4


def session_with(text: str) -> Session:
    return Session(SignatureText("a -> b"), cases=(Case("c", {"a": text}),))


def test_a_variant_knows_whether_its_original_has_changed() -> None:
    variant = Variant("short", "instructions", "Be brief.", Variant.hash_of("Answer at length."))
    assert variant.original == Variant.hash_of("Answer at length.")
    assert variant.original != Variant.hash_of("Answer in full.")


def test_a_turn_that_is_off_stands_in_the_file_beside_its_switch_and_the_others_as_they_are() -> None:
    turns = ({"question": "1"}, {"question": "2"}, {"enabled": True, "values": {"a": 1}})
    session = Session(SignatureText("q -> a"), cases=(Case("c", history=turns, turns_off=frozenset({0})),))
    written = json.loads(store.dumps(session))["cases"][0]["history"]
    assert written == [
        {"enabled": False, "values": {"question": "1"}},
        {"question": "2"},
        {"enabled": True, "values": {"enabled": True, "values": {"a": 1}}},
    ]
    assert store.loads(store.dumps(session)) == session
