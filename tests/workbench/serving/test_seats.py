"""One code for a class, spent once it is full; then a secret for each participant, for one seat alone."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from scripted_lm import Clock

from workbench.serving import seats
from workbench.serving.seats import SIGNS, JoinError, Seats, new_code


@pytest.fixture(autouse=True)
def no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "make_folder", lambda top, number, sessions: top / str(number))


def seats_of(most: int = 2, idle_s: float = 60.0, clock: Clock | None = None) -> Seats:
    made = Seats(most, idle_s, Path("/class"))
    made.now = clock or Clock()
    return made


def full_disk(top: Path, number: int, sessions: Sequence[Path]) -> Path:
    raise OSError(28, "no space left")


def test_the_address_of_a_class_admits_all_of_it_and_is_spent_with_the_last() -> None:
    room = seats_of(most=3)
    address = room.code
    came = [room.admit(address) for _ in range(3)]
    assert [one.number for one in came] == [1, 2, 3]
    assert len({one.secret for one in came}) == 3
    with pytest.raises(JoinError, match="The class is full, so its code is no longer valid"):
        room.admit(address)


def test_a_spent_address_stays_spent_when_places_come_free() -> None:
    clock = Clock()
    room = seats_of(most=1, clock=clock)
    spent = room.code
    room.admit(spent)
    clock.now += 61
    assert [one.number for one in room.release()] == [1]
    with pytest.raises(JoinError):
        room.admit(spent)
    assert room.admit(room.code).number == 2


def test_the_next_address_admits_nobody_before_a_place_is_free() -> None:
    room = seats_of(most=1)
    room.admit(room.code)
    with pytest.raises(JoinError, match="The class is full"):
        room.admit(room.code)


@pytest.mark.parametrize("wrong", ["", "k7mq", "\ud800", "é" * 14, "a" * 1_000_000, "../../etc/passwd"])
def test_a_wrong_token_takes_no_place(wrong: str) -> None:
    room = seats_of()
    with pytest.raises(JoinError):
        room.admit(wrong)
    assert room.all == ()


def test_a_token_can_be_typed_from_a_wall() -> None:
    tokens = {new_code() for _ in range(200)}
    assert len(tokens) == 200
    assert all(len(one) == 14 and set(one) <= {*SIGNS, "-"} for one in tokens)
    for typed in (str.upper, lambda code: code.replace("-", ""), lambda code: f" {code.replace('-', ' ')} "):
        room = seats_of()
        assert room.admit(typed(room.code)).number == 1


def test_a_secret_is_good_until_its_place_is_given_back() -> None:
    clock = Clock()
    room = seats_of(clock=clock)
    visitor = room.admit(room.code)
    assert room.holder(visitor.secret) is visitor
    assert room.holder("another") is None
    assert room.holder(None) is None
    clock.now += 59
    assert room.release() == ()
    clock.now += 2
    assert room.release() == (visitor,)
    assert room.holder(visitor.secret) is None


def test_who_has_a_page_open_keeps_his_place_and_is_told_to_be_idle() -> None:
    clock = Clock()
    room = seats_of(clock=clock)
    visitor = room.admit(room.code)
    visitor.is_here = True
    clock.now += 61
    assert (room.release(), room.idle()) == ((), (visitor,))
    room.touch(visitor)
    assert room.idle() == ()


def test_an_address_has_as_many_seats_as_it_may_have() -> None:
    room = Seats(9, 60.0, Path("/class"), per_address=1)
    room.admit(room.teachers_code, address="10.0.0.1")
    room.admit(room.code, address="10.0.0.1")
    with pytest.raises(JoinError, match="has a seat already"):
        room.admit(room.code, address="10.0.0.1")
    for address in ("10.0.0.2", "", ""):
        room.admit(room.code, address=address)
    assert room.remove(1) is not None
    room.admit(room.code, address="10.0.0.1")
    anybody = Seats(9, 60.0, Path("/class"), per_address=0)
    assert [anybody.admit(anybody.code, address="10.0.0.1").number for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("n" * 41, "n" * 39 + "…"), ("n" * 40, "n" * 40), ("e" + "\u0301" * 300, "e" + "\u0301" * 40)],
    ids=["too long", "as long as it may be", "accents"],
)
def test_a_name_has_an_end_although_accents_take_no_room(name: str, shown: str) -> None:
    room = seats_of()
    assert room.admit(room.code, f" {name} ").called == shown


def test_a_removed_participant_has_no_seat_and_the_teacher_cannot_be_removed() -> None:
    room = seats_of()
    teacher, visitor = room.admit(room.teachers_code), room.admit(room.code, " Ada ")
    assert (visitor.name, teacher.name) == ("Ada (participant 1)", "the teacher")
    assert (room.remove(0), room.remove(7), room.remove(1)) == (None, None, visitor)
    assert room.holder(visitor.secret) is None


def test_a_folder_that_cannot_be_made_takes_no_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "make_folder", full_disk)
    room = seats_of(most=1)
    with pytest.raises(OSError, match="no space left"):
        room.admit(room.code)
    assert (room.all, room.is_full) == ((), False)


def test_the_teachers_address_is_good_for_one_and_takes_no_place_of_the_class() -> None:
    clock = Clock()
    room = seats_of(most=1, clock=clock)
    own = room.teachers_code
    assert own != room.code
    teacher = room.admit(own.upper())
    assert (teacher.leads, teacher.name) == (True, "the teacher")
    visitor = room.admit(room.code)
    assert (visitor.leads, visitor.name) == (False, "participant 1")
    for token in (own, "", room.teachers_code):
        assert not room.is_teachers(token)
        with pytest.raises(JoinError):
            room.admit(token)
    clock.now += 61
    room.touch(visitor)
    assert room.release() == (teacher,)
    with pytest.raises(JoinError, match="no longer valid"):
        room.admit(own)
    assert room.admit(room.teachers_code).leads, "a new one, for whoever leads next"


def test_the_code_of_a_teacher_is_not_spent_where_no_folder_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "make_folder", full_disk)
    room = seats_of(most=1)
    own = room.teachers_code
    with pytest.raises(OSError, match="no space"):
        room.admit(own)
    assert room.is_teachers(own)


def test_a_pipe_in_a_folder_of_somebody_else_holds_up_no_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"{seats.PREFIX}x").mkdir()
    os.mkfifo(tmp_path / f"{seats.PREFIX}x" / seats.LOCK)
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    looking = threading.Thread(target=seats.abandoned, args=(0.0,), daemon=True)
    looking.start()
    looking.join(10)
    assert not looking.is_alive()


def test_where_files_cannot_be_locked_no_folder_counts_as_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with seats.class_folder() as running:
        monkeypatch.setattr(fcntl, "flock", no_locks)
        assert (seats.abandoned(0.0), running.is_dir()) == ([], True)
