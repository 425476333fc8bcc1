"""Dataclasses that are compiled late behave as Python's, from before their first instance on."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from adapters import late_dataclasses

Decorator = Callable[..., Any]


def classes(dataclass: Decorator, slots: bool = False) -> tuple[Any, Any, Any]:
    @dataclass(frozen=True, slots=slots)
    class Point:
        """A point."""

        x: int
        y: int = 0
        marks: dict[str, int] = dataclasses.field(default_factory=dict, repr=False, compare=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("left of the edge")

    @dataclass(frozen=True, slots=slots, kw_only=True)
    class Named(Point):
        """A point with a name."""

        name: str

    @dataclass(frozen=True, slots=slots, eq=False)
    class Own:
        """An object that tells itself."""

        x: int
        called: str = ""

        def __repr__(self) -> str:
            return "own"

    return Point, Named, Own


OURS, PYTHONS = [
    {slots: classes(dataclass, slots) for slots in (False, True)}
    for dataclass in (late_dataclasses.dataclass, dataclasses.dataclass)
]


def outcome(act: Callable[[], Any]) -> Any:
    try:
        return repr(act())
    except Exception as error:
        return type(error), str(error) if not isinstance(error, dataclasses.FrozenInstanceError) else ""


ACTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "made": lambda point, named, own: (point(1), point(1, y=2), named(1, name="n"), own(3)),
    "defaults are made anew": lambda point, *_: point(1).marks is point(1).marks,
    "a field of any name": lambda *classes: classes[2](3, called="own").called,
    "a missing argument": lambda point, *_: point(),
    "an argument too many": lambda point, *_: point(1, 2, {}, 3),
    "a name by position": lambda _, named, __: named(1, 2, {}, "n"),
    "refused after it is made": lambda point, *_: point(-1),
    "equality": lambda point, named, own: (
        point(1) == point(1, marks={"a": 1}),
        point(1) == point(2),
        point(1) == named(1, name="n"),
        own(1) == own(1),
    ),
    "hashes": lambda point, named, own: (
        hash(point(1)) == hash(point(1)),
        len({named(1, name="n"), named(1, name="n"), named(1, name="m")}),
        len({own(1), own(1)}),
    ),
    "replaced": lambda point, named, _: (
        dataclasses.replace(point(1), y=5),
        dataclasses.replace(named(1, name="n"), x=4),
    ),
    "told before an instance": lambda point, named, own: [
        [(one.name, one.type, one.kw_only, one.repr) for one in dataclasses.fields(cls)]
        + [cls.__match_args__, dataclasses.is_dataclass(cls), cls.__doc__]
        for cls in (point, named, own)
    ],
    "changed": lambda point, *_: setattr(point(1), "x", 2),
    "added to": lambda point, *_: setattr(point(1), "z", 2),
    "taken from": lambda point, *_: delattr(point(1), "x"),
    "copied": lambda _, named, own: (copy.copy(named(1, name="n")), copy.copy(own(1))),
    "as a dictionary": lambda _, named, __: dataclasses.asdict(named(1, name="n")),
}


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("slots", [False, True])
def test_a_class_does_as_pythons_does(name: str, used: bool, slots: bool) -> None:
    ours = OURS[slots] if used else classes(late_dataclasses.dataclass, slots)
    assert outcome(lambda: ACTS[name](*ours)) == outcome(lambda: ACTS[name](*PYTHONS[slots]))


@pytest.mark.parametrize(
    "act", [lambda one, same: one == same, lambda one, same: hash(one) == hash(same), lambda one, _: repr(one)]
)
def test_instances_from_another_process_are_equal_before_one_is_made_here(act: Callable[..., Any]) -> None:
    told = []
    for dataclass in (late_dataclasses.dataclass, dataclasses.dataclass):
        _, named, _ = classes(dataclass)
        one, same = [object.__new__(named) for _ in range(2)]
        for each in (one, same):
            vars(each).update(x=1, y=2, marks={}, name="n")  # as pickle does
        told.append(act(one, same))
    assert told[0] == told[1]


def test_first_instances_in_several_threads_are_whole() -> None:
    for _ in range(20):
        point, *_ = classes(late_dataclasses.dataclass)
        together = Barrier(4)

        def make(number: int, point: Any = point, together: Barrier = together) -> Any:
            together.wait()
            return point(number, marks={"a": number})

        with ThreadPoolExecutor(4) as threads:
            made = list(threads.map(make, range(4)))
        assert [(one.x, one.y, one.marks) for one in made] == [(number, 0, {"a": number}) for number in range(4)]
        assert len(set(made)) == 4


def changing(dataclass: Decorator) -> Any:
    @dataclass
    class Base:
        def __post_init__(self) -> None:
            self.x += 1  # type: ignore[attr-defined]

    @dataclass(kw_only=True)
    class Count(Base):
        """A count that may change."""

        x: int
        seen: list[int] = dataclasses.field(default_factory=list)

    return Count


def changed(count: Any) -> object:
    one = count(x=1)
    one.x, one.other = 5, 6
    return one, vars(one)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "made": lambda count: count(x=1),
    "changed and added to": changed,
    "equality": lambda count: (count(x=1) == count(x=1), count(x=1) == count(x=2), count(x=1) == 1),
    "no hash": lambda count: (count.__hash__, hash(count(x=1))),
    "defaults are made anew": lambda count: count(x=1).seen is count(x=1).seen,
    "by position": lambda count: count(1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_class_whose_instances_change_does_as_pythons_does(name: str) -> None:
    ours, pythons = changing(late_dataclasses.dataclass), changing(dataclasses.dataclass)
    assert outcome(lambda: CHANGES[name](ours)) == outcome(lambda: CHANGES[name](pythons))


@pytest.mark.parametrize("slots", [False, True])
def test_methods_are_compiled_with_their_first_call(slots: bool) -> None:
    point, *_ = classes(late_dataclasses.dataclass, slots)
    late = dict(vars(point))
    one = point(1)
    assert vars(point)["__init__"] is not late["__init__"]
    assert vars(point)["__repr__"] is late["__repr__"]
    repr(one)
    assert vars(point)["__repr__"] is not late["__repr__"]
