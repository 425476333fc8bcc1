"""A session shows itself in a notebook."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions import examples
from tests.support.notebook_cell import HOSTILE, STEERS, cell_of, plain_of


@pytest.mark.parametrize("name", examples.ALL)
def test_a_session_shows_its_signature_its_cases_and_their_replies(name: str) -> None:
    session = examples.load(name)
    text = cell_of(session).text
    assert session.signature.text in text
    assert all(case.name in text for case in session.cases)
    assert all(column.id in text for column in session.columns)


def test_a_hostile_name_is_only_text() -> None:
    session = replace(examples.load(examples.FIRST), name=HOSTILE)
    assert "script" not in cell_of(session).names
    assert not STEERS & set(cell_of(session).text + plain_of(session))
