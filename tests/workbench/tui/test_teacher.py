"""Whoever follows the teacher goes where he goes, is told what keeps him, and stays when the teacher leaves."""

from __future__ import annotations

import pytest

from workbench.serving.messages import TeachersPlace
from workbench.tui import teacher as teacher_module
from workbench.tui.teacher import Teacher

A, B = TeachersPlace(case="a"), TeachersPlace(case="b")


class Visitor:
    """Follows, and notes where it went and what it was told; `kept` is what keeps it from going."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.went: list[tuple[TeachersPlace, TeachersPlace | None]] = []
        self.told: list[str] = []
        self.signs: list[str] = []
        self.kept = ""
        monkeypatch.setattr(teacher_module, "plain_notify", lambda _, said, *, title, **__: self.told.append(title))
        self.teacher = Teacher(None, self.go, lambda: self.signs.append(self.teacher.sign))  # type: ignore[arg-type]

    def go(self, place: TeachersPlace, before: TeachersPlace | None) -> str:
        if not self.kept:
            self.went.append((place, before))
        return self.kept


def test_following_goes_there_at_once_and_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(monkeypatch)
    visitor.teacher.toggle()
    assert visitor.told == ["No teacher is here"]
    assert visitor.teacher.sign == ""
    visitor.teacher.told(A)
    assert visitor.went == []
    assert visitor.teacher.sign == "○ follow the teacher"
    visitor.teacher.toggle()
    visitor.teacher.told(B)
    visitor.teacher.catch_up()
    assert visitor.went == [(A, None), (B, A)]
    assert visitor.teacher.sign == "◉ following the teacher"
    visitor.teacher.toggle()
    visitor.teacher.told(A)
    assert len(visitor.went) == 2
    assert visitor.told[1:] == [], "the button that was pressed says it"
    visitor.teacher.toggle()
    visitor.teacher.stop("You are editing.")
    assert visitor.told[1:] == ["Not following"]


def test_a_step_of_ones_own_stops_following_a_lesson_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(monkeypatch)
    visitor.teacher.told(A)
    visitor.teacher.toggle()
    visitor.teacher.step_aside()
    assert visitor.teacher.is_followed, "the teacher is at no lesson"
    visitor.teacher.told(TeachersPlace(screen="lesson"))
    visitor.teacher.step_aside("You took a step.")
    assert visitor.signs[-1] == "○ follow the teacher"
    assert visitor.told == ["Not following"]


def test_what_keeps_a_follower_is_told_once_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(monkeypatch)
    visitor.teacher.told(A)
    visitor.kept = "a question is open"
    visitor.teacher.toggle()
    visitor.teacher.catch_up()
    assert visitor.told == ["You cannot follow yet"]
    assert visitor.signs[-1] == visitor.teacher.sign == "◉ following as soon as you can"
    visitor.kept = ""
    visitor.teacher.catch_up()
    assert visitor.went == [(A, None)]
    assert visitor.signs[-1] == "◉ following the teacher"


def test_when_the_teacher_leaves_followers_are_told_and_follow_again_when_he_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visitor = Visitor(monkeypatch)
    visitor.teacher.told(A)
    visitor.teacher.toggle()
    visitor.teacher.told(None)
    visitor.teacher.told(None)
    assert visitor.told == ["The teacher has left"]
    assert visitor.teacher.sign == "◌ the teacher has left"
    visitor.teacher.told(B)
    assert visitor.went == [(A, None), (B, A)]
    other = Visitor(monkeypatch)
    other.teacher.told(A)
    other.teacher.told(None)
    assert (other.told, other.teacher.sign) == ([], ""), "who does not follow is not disturbed"


def test_in_a_lesson_the_teacher_is_followed_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(monkeypatch)
    visitor.teacher.is_followed = True
    assert visitor.teacher.sign == "", "nobody is there yet, and nobody has left"
    visitor.teacher.told(A)
    assert visitor.went == [(A, None)]
