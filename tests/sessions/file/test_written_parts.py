"""A session written from known parts is the file that would have been written without them."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

from hypothesis import given

from sessions import examples
from sessions.file import file_format, json_values, saving, store
from sessions.file.json_values import WrittenParts
from sessions.model.session import Demo, Session, SignatureText
from tests.sessions.strategies import sessions


def text_of(session: Session, parts: WrittenParts) -> str:
    pieces: list[str] = []
    json_values.write(file_format.data_of_session(session, None, parts), pieces)
    parts.evict_unused()
    return "".join(pieces) + "\n"


@given(session=sessions)
def test_any_session_written_twice_from_its_parts_is_its_file(session: Session) -> None:
    parts = WrittenParts()
    assert text_of(session, parts) == text_of(session, parts) == store.dumps(session)


def test_the_file_of_a_recorded_example_is_the_same_from_its_parts(tmp_path: Path) -> None:
    session = examples.load("invoice")
    parts = WrittenParts()
    for name in ("first", "second"):
        store.save(session, tmp_path / name, parts=parts)
        parts.evict_unused()
    assert (tmp_path / "second").read_text() == store.dumps(session)


def test_a_changed_demo_is_written_anew_and_the_others_are_not() -> None:
    made: list[str] = []
    parts = WrittenParts()
    one, two, new = Demo({"a": "1"}), Demo({"a": "2"}), Demo({"a": "3"})

    def write(*demos: Demo) -> None:
        for demo in demos:
            parts.text_of(demo, lambda demo=demo: made.append(demo.values["a"]) or {}, 2)
        parts.evict_unused()

    write(one, two)
    write(one, new)
    assert made == ["1", "2", "3"]
    write(one, two)
    assert made == ["1", "2", "3", "2"]


def test_a_demo_is_one_text_wherever_it_stands() -> None:
    demo = Demo({"q": "first\nsecond"})
    session = Session(SignatureText("q -> a"), demos=(demo, demo))
    parts = WrittenParts()
    assert text_of(session, parts) == store.dumps(session)
    moved = replace(session, demos=(Demo({"q": "x"}), demo))
    assert text_of(moved, parts) == store.dumps(moved)


def test_a_file_saved_again_and_again_onto_what_others_wrote_is_the_same_from_its_parts(tmp_path: Path) -> None:
    path, parts = tmp_path / "q.json", WrittenParts()
    session = examples.load("invoice")
    store.save(session, path)
    for number in range(3):
        store.save(replace(store.load(path), name=f"theirs {number}"), path)
        ours = session.replace_case(replace(session.cases[0], expect={"total": number}))
        session = saving.save(session, ours, path, parts=parts).session
        assert session.name == f"theirs {number}"
        assert session.cases[0].expect == {"total": number}
        assert path.read_text() == store.dumps(session)


def test_a_copy_of_known_parts_is_written_without_holding_its_text(tmp_path: Path) -> None:
    demos = tuple([Demo({"question": f"{number} {'How long? Välja. ' * 120}"}) for number in range(300)])
    session = Session(SignatureText("question -> answer"), demos=demos)
    path, parts = tmp_path / "s.json", WrittenParts()
    store.save(session, path, parts=parts)
    parts.evict_unused()
    tracemalloc.start()
    written = store.save(session, path, parts=parts)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < path.stat().st_size / 3
    assert written == store.fingerprint(path)
    assert path.read_bytes() == store.dumps(session).encode()
