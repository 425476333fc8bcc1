"""What the pytest plugin collects is what a check judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from sessions import examples
from sessions.checking import checking
from sessions.checking.verdicts import PARTS
from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from tests.sessions.strategies import sessions
from workbench.pytest_plugin.session_tests import Fixture, outline


def judged(session: Session) -> tuple[Fixture, ...]:
    found = []
    for one in checking.check(session):
        parts = tuple(part for part in PARTS if one.verdicts[part] != "empty")
        if parts:
            found.append(Fixture(one.case, one.column, parts))
    return tuple(found)


@pytest.mark.parametrize("name", examples.NAMES)
def test_an_example_has_the_tests_that_a_check_judges(name: str, tmp_path: Path) -> None:
    session = examples.load(name)
    store.save(session, tmp_path / "x.session.json")
    assert outline(tmp_path / "x.session.json") == judged(session)


def test_a_recording_whose_column_is_gone_is_still_looked_at(rain: str, run: Callable[..., Any]) -> None:
    run("send", rain, "--save")
    session = replace(store.load(rain), columns=())
    store.save(session, rain)
    found = outline(Path(rain))
    assert found is not None
    assert {(one.case, one.column) for one in found} == {(one.case, one.column) for one in judged(session)} != set()


@pytest.mark.slow
@given(session=sessions)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_names_in_pieces_are_the_names_that_a_check_says(session: Session, tmp_path: Path) -> None:
    store.save(session, tmp_path / "x.session.json")
    found = outline(tmp_path / "x.session.json")
    assert found is not None
    assert {one.case for one in found} <= {one.name for one in session.cases}
    recorded = {(case.name, column) for case in session.cases for column in case.recordings}
    assert {(one.case, one.column) for one in found if "render" in one.parts} == recorded


@pytest.mark.parametrize("content", ["", "[]", "3", "{}", '{"format": 1, "cases": 3}', "[" * 100_000, "\udcff"])
def test_what_is_no_session_has_no_outline(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert outline(tmp_path / "x.json") is None


def test_a_file_that_is_not_there_has_no_outline(tmp_path: Path) -> None:
    assert outline(tmp_path / "x.json") is None


@pytest.mark.parametrize("name", ["x" * 401, "short\n" + "x" * 401, "\ud83d\ude00" + "x" * 401])
def test_a_case_with_a_long_name_has_an_outline(name: str, tmp_path: Path) -> None:
    case = Case(name, expect={"reply": {"parses": True}})
    session = Session(SignatureText("a -> b"), columns=(Column("chat", "chat"),), cases=(case,))
    store.save(session, tmp_path / "x.session.json")
    found = outline(tmp_path / "x.session.json")
    assert found is not None
    assert {one.case for one in found} == {name}
