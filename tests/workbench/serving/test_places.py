"""One address for a class, spent once it is full; then a secret for each, of his own place alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_lm import Clock

from workbench.serving.places import SIGNS, Places, RefusedError, new_token


def places(most: int = 2, idle_s: float = 60.0, clock: Clock | None = None) -> Places:
    return Places(most, idle_s, lambda number: Path(f"/class/{number}"), clock or Clock())


def test_the_address_of_a_class_admits_all_of_it_and_is_spent_with_the_last() -> None:
    room = places(most=3)
    address = room.token
    came = [room.admit(address) for _ in range(3)]
    assert [one.number for one in came] == [1, 2, 3]
    assert len({one.secret for one in came}) == 3
    with pytest.raises(RefusedError, match="no longer, good"):
        room.admit(address)


def test_a_spent_address_stays_spent_when_places_come_free() -> None:
    clock = Clock()
    room = places(most=1, clock=clock)
    spent = room.token
    room.admit(spent)
    clock.now += 61
    assert [one.number for one in room.leave()] == [1]
    with pytest.raises(RefusedError):
        room.admit(spent)
    assert room.admit(room.token).number == 2


def test_the_next_address_admits_nobody_before_a_place_is_free() -> None:
    room = places(most=1)
    room.admit(room.token)
    with pytest.raises(RefusedError, match="All places are taken"):
        room.admit(room.token)


@pytest.mark.parametrize("wrong", ["", "k7mq", "\ud800", "é" * 14, "a" * 1_000_000, "../../etc/passwd"])
def test_a_wrong_token_takes_no_place(wrong: str) -> None:
    room = places()
    with pytest.raises(RefusedError):
        room.admit(wrong)
    assert room.visitors == ()


def test_a_token_can_be_typed_from_a_wall() -> None:
    tokens = {new_token() for _ in range(200)}
    assert len(tokens) == 200
    assert all(len(one) == 14 and set(one) <= {*SIGNS, "-"} for one in tokens)
    room = places()
    assert room.admit(room.token.upper()).number == 1


def test_a_secret_is_good_until_its_place_is_given_back() -> None:
    clock = Clock()
    room = places(clock=clock)
    visitor = room.admit(room.token)
    assert room.holder(visitor.secret) is visitor
    assert room.holder("another") is None
    assert room.holder(None) is None
    clock.now += 59
    assert room.leave() == ()
    clock.now += 2
    assert room.leave() == (visitor,)
    assert room.holder(visitor.secret) is None


def test_who_has_a_page_open_keeps_his_place_and_is_told_to_be_idle() -> None:
    clock = Clock()
    room = places(clock=clock)
    visitor = room.admit(room.token)
    visitor.is_here = True
    clock.now += 61
    assert (room.leave(), room.idle()) == ((), (visitor,))
    room.heard_of(visitor)
    assert room.idle() == ()


def test_a_folder_that_cannot_be_made_takes_no_place() -> None:
    def full_disk(number: int) -> Path:
        raise OSError("no space left")

    room = Places(1, 60.0, full_disk, Clock())
    with pytest.raises(OSError, match="no space left"):
        room.admit(room.token)
    assert (room.visitors, room.is_full) == ((), False)


def test_the_teachers_address_is_good_for_one_and_takes_no_place_of_the_class() -> None:
    clock = Clock()
    room = places(most=1, clock=clock)
    own = room.teachers_token
    assert own != room.token
    teacher = room.admit(own.upper())
    assert (teacher.leads, teacher.name) == (True, "the teacher")
    visitor = room.admit(room.token)
    assert (visitor.leads, visitor.name) == (False, "visitor 1")
    for token in (own, "", room.teachers_token):
        assert not room.is_teachers(token)
        with pytest.raises(RefusedError):
            room.admit(token)
    clock.now += 61
    room.heard_of(visitor)
    assert room.leave() == (teacher,)
    with pytest.raises(RefusedError, match="no longer, good"):
        room.admit(own)
    assert room.admit(room.teachers_token).leads, "a new one, for whoever leads next"


def test_an_address_of_a_teacher_is_not_spent_where_no_folder_can_be_made() -> None:
    def full(number: int) -> Path:
        raise OSError(28, "no space left")

    room = Places(1, 60.0, full, Clock())
    own = room.teachers_token
    with pytest.raises(OSError, match="no space"):
        room.admit(own)
    assert room.is_teachers(own)
