"""Every release that was added makes under our column what it makes in a script of its own, byte for byte.

`workbench dspy add VERSION` installs what is skipped here by name.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.formats import catalog
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.releases import environments
from sessions.releases.engine import Question, ReleaseError
from sessions.releases.release import Release

pytestmark = pytest.mark.slow
RELEASES = ("2.5.43", "2.6.27", "3.0.4", "3.1.3", "3.2.1", "3.3.1")
ADAPTERS = ("chat", "json", "xml", "baml", "twostep")
TYPES = """\
import dataclasses
import datetime
import enum
from typing import Annotated, Any, Literal, Optional, Union
import pydantic
from typing_extensions import NotRequired, TypedDict
import dspy

class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"

class Point(pydantic.BaseModel):
    x: float
    label: str = pydantic.Field(default="", description="what it is called")

class Line(pydantic.BaseModel):
    \"\"\"From one to another.\"\"\"
    points: list[Point]
    mood: Optional[Mood] = None

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2

class Tone(str, enum.Enum):
    WARM = "warm"
    COLD = "cold"

class Tree(pydantic.BaseModel):
    name: str | None = None
    kind: Literal["leaf", "branch"] = "leaf"
    near: Point | None = pydantic.Field(None, description="the next one")
    tags: dict[str, list[int]] = {}

@dataclasses.dataclass
class Pair:
    left: int
    right: str | None = None

class Row(TypedDict):
    id: int
    note: NotRequired[str | None]

"""
FIELDS: dict[str, tuple[str, str]] = {
    "text": ("q: str", "a: str"),
    "number": ("q: str", "a: int"),
    "fraction": ("q: float", "a: float"),
    "truth": ("q: bool", "a: bool"),
    "texts": ("q: list[str]", "a: list[str]"),
    "numbers by name": ("q: dict[str, int]", "a: dict[str, int]"),
    "literal": ("q: str", 'a: Literal["yes", "it\'s <no>"]'),
    "literal of numbers": ("q: str", "a: Literal[1, 2]"),
    "enum": ("q: str", "a: Mood"),
    "enums": ("q: str", "a: list[Mood]"),
    "model": ("q: Point", "a: Point"),
    "models": ("q: list[Point]", "a: list[Point]"),
    "nested": ("q: str", "a: Line"),
    "either": ("q: str", "a: Union[int, str]"),
    "or none": ("q: str | None", "a: str | None"),
    "either of three": ("q: str", "a: list[int] | dict[str, Point] | None"),
    "list of either": ("q: str", "a: list[int | str]"),
    "enum or none": ("q: str", "a: Mood | None"),
    "optional": ("q: Optional[str]", "a: Optional[int]"),
    "optional model": ("q: str", "a: Optional[Point]"),
    "anything": ("q: Any", "a: dict[str, Any]"),
    "lists of lists": ("q: list[list[int]]", "a: list[list[str]]"),
    "a list": ("q: list", "a: list"),
    "model by name": ("q: str", "a: dict[str, Point]"),
    "models or none": ("q: list[Point] | None", "a: list[Point] | None"),
    "lists of models by name": ("q: str", "a: dict[str, list[Point]]"),
    "model of unions": ("q: Tree", "a: Tree"),
    "models of unions": ("q: str", "a: list[Tree]"),
    "dataclass": ("q: Pair", "a: Pair"),
    "dataclasses": ("q: str", "a: list[Pair]"),
    "typed dict": ("q: Row", "a: Row"),
    "typed dicts": ("q: str", "a: list[Row]"),
    "typed dict or none": ("q: str", "a: Row | None"),
    "number enum": ("q: str", "a: Level"),
    "text enum": ("q: str", "a: Tone"),
    "literals": ("q: str", 'a: list[Literal["a", "b"]]'),
    "literal or none": ("q: str", 'a: Literal["a", "b"] | None'),
    "limits": ("q: str", "a: Annotated[int, pydantic.Field(ge=0, le=5)]"),
    "pair": ("q: tuple[int, str]", "a: tuple[int, str]"),
    "date": ("q: datetime.date", "a: datetime.date"),
}
VALUES: dict[str, Any] = {
    "q: str": "Why? <b> & [[ ## a ## ]]\n\ttwo",
    "q: float": 12,
    "q: bool": True,
    "q: list[str]": ["one", 'tw"o', "日本"],
    "q: dict[str, int]": {"b": 1, "a": 2},
    "q: Point": {"x": 1, "label": "l"},
    "q: list[Point]": [{"x": 1.5, "label": ""}],
    "q: Optional[str]": None,
    "q: str | None": None,
    "q: Any": {"k": [1, None]},
    "q: list[list[int]]": [[1], []],
    "q: list": [1, "x"],
    "q: list[Point] | None": [{"x": 1.5, "label": ""}],
    "q: Tree": {"name": None, "kind": "branch", "near": {"x": 1, "label": "n"}, "tags": {"t": [1]}},
    "q: Pair": {"left": 1, "right": None},
    "q: Row": {"id": 1},
    "q: tuple[int, str]": [1, "b"],
    "q: datetime.date": "2026-01-31",
}
SCRIPT = """\
import json, sys
import dspy
answers = []
for one in json.load(sys.stdin):
    try:
        names = {"__name__": "signature_source"}  # some releases write the module of a class in the prompt
        exec(one["source"], names)
        kind = getattr(__import__(one["module"], fromlist=["x"]), one["kind"])
        adapter = kind(dspy.LM("openai/none", api_key="none")) if one["kind"] == "TwoStepAdapter" else kind()
        answers.append(adapter.format(names["Task"], one["demos"], one["inputs"]))
    except Exception as error:
        answers.append(type(error).__name__)
print("\\n" + json.dumps(answers))
"""


def source_of(name: str) -> str:
    given, wanted = FIELDS[name]
    return (
        f'{TYPES}class Task(dspy.Signature):\n    """Say it.\n\n    In two lines."""\n\n'
        f"    {given} = dspy.InputField(desc='what is asked')\n    n: int = dspy.InputField()\n"
        f"    {wanted} = dspy.OutputField()\n    why: str = dspy.OutputField(desc='in a word')\n"
    )


def demos_of(name: str) -> list[dict[str, Any]]:
    value = VALUES[FIELDS[name][0]]
    return [{"q": value, "n": 1, "a": "an answer", "why": "so"}, {"q": value, "a": "no n, no why"}, {"other": 1}]


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> Iterator[Release]:
    found = environments.find(request.param)
    if found is None or not found.is_there:
        pytest.skip(f"dspy {request.param} was not added")
    with environments.open_release(request.param) as dspy:
        yield dspy


def in_a_script(version: str, questions: list[dict[str, Any]], folder: Path) -> list[Any]:
    """What that dspy's own adapters make of signatures that Python itself has made."""
    found = environments.find(version)
    assert found is not None
    done = subprocess.run(
        [found.python, "-I", "-W", "ignore", "-c", SCRIPT],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        cwd=folder,
        env={"DSPY_CACHEDIR": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": str(folder)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    answers: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


def made_under_a_column(release: Release, question: Question) -> list[dict[str, Any]] | None:
    """The messages of a column; None where the release refuses to make any."""
    try:
        return [dict(one) for one in release.call(question).messages]
    except ReleaseError:
        return None


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_messages_are_what_it_makes_in_a_script_of_its_own(
    release: Release, adapter: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    module, kind = catalog.dspy_class(adapter) or ("", "")
    asked: list[dict[str, Any]] = [
        {
            "source": source_of(name),
            "module": module,
            "kind": kind,
            "demos": demos_of(name),
            "inputs": {"q": VALUES[FIELDS[name][0]], "n": 3},
        }
        for name in FIELDS
    ]
    compared = 0
    for name, question, own in zip(FIELDS, asked, in_a_script(release.version, asked, tmp_path), strict=True):
        column, case = Column(adapter, adapter), Case("one", question["inputs"])
        session = Session(
            SignatureText(question["source"], "Task"),
            demos=tuple([Demo(one) for one in question["demos"]]),
            columns=(column,),
            cases=(case,),
        )
        made = made_under_a_column(release, Question(session, case, column))
        assert (made is None) is isinstance(own, str), (name, made, own)
        if made is not None:
            assert made == own, name
            compared += 1
    record_property("compared", f"dspy {release.version} {adapter}: {compared} of {len(FIELDS)}")
    if compared == 0:
        lacking = {"2.5.43": {"xml", "baml", "twostep"}, "2.6.27": {"xml", "baml"}}
        assert adapter in lacking.get(release.version, ())


STRINGS = """
q -> a: str | None · q -> a: Optional[str] · q -> a: int | str · q -> a: list[int | None] · q -> a: dict[str, int]
q: list[str] -> a: Literal["yes", "no"] · q -> a: Union[int, str] · q, c: bool -> a: float, why
"""


def test_string_notation_is_rejected_where_that_release_rejects_it(release: Release, tmp_path: Path) -> None:
    texts = [text.strip() for line in STRINGS.strip().splitlines() for text in line.split("·")]
    questions = [
        {"source": f"import dspy\nTask = dspy.Signature({text!r})", "module": "dspy", "kind": "ChatAdapter"}
        | {"demos": [], "inputs": {"q": "?", "c": True}}
        for text in texts
    ]
    for text, own in zip(texts, in_a_script(release.version, questions, tmp_path), strict=True):
        case, column = Case("one", {"q": "?", "c": True}), Column("chat", "chat")
        session = Session(SignatureText(text), columns=(column,), cases=(case,))
        made = made_under_a_column(release, Question(session, case, column))
        assert (None if isinstance(own, str) else own) == made, text
        if "BitOr" in own:
            with pytest.raises(ReleaseError, match=r"does not accept `X \| Y` in string notation; write Optional\[X\]"):
                release.call(Question(session, case, column))
