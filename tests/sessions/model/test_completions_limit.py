"""How many completions of one call a session may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.errors import SessionError
from sessions.file.file_format import check
from sessions.imports.dspy_program import parameters_in
from sessions.model.parameters import MOST_COMPLETIONS, check_parameters
from sessions.model.session import Column, Session, SignatureText


@pytest.mark.parametrize("n", [MOST_COMPLETIONS + 1, 100_000, 10**5_000], ids=["one more", "many", "no end"])
def test_more_completions_than_can_be_shown_are_refused_in_one_line(n: int) -> None:
    with pytest.raises(SessionError) as caught:
        check_parameters({"n": n}, "params")
    assert str(caught.value) == (
        f"params.n: expected a whole number up to {MOST_COMPLETIONS}, got more (send several times for more)"
    )


def test_it_is_so_for_a_columns_own_and_where_one_is_imported() -> None:
    column = Column("one", "chat", params={"n": 100_000})
    with pytest.raises(SessionError, match=r"columns\[0\]\.params\.n: expected a whole number up to"):
        check(Session(SignatureText("q -> a"), (), (column,), (), "offline/exact"))
    assert parameters_in({"n": 100_000, "seed": 1}) == {"seed": 1}


@pytest.mark.parametrize("n", [None, 1, 3, MOST_COMPLETIONS])
def test_what_people_ask_for_is_taken(n: Any) -> None:
    check_parameters({"n": n}, "params")


@pytest.mark.parametrize("n", [True, 2.0, "3", [1]])
def test_what_is_no_number_is_told_as_such(n: Any) -> None:
    with pytest.raises(SessionError, match=r"expected a whole number up to 128, got [^m]"):
        check_parameters({"n": n}, "params")
