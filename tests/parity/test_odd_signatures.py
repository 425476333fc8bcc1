"""Signatures and replies that hardly anyone writes, as dspy takes them: odd descriptions, names and types, no text."""

from __future__ import annotations

from asyncio import run
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, List, NewType, Optional  # noqa: UP035

import dspy
import pydantic
import pytest
from oracle.engines import NAMES, ScriptedLM, ours, theirs
from oracle.outcomes import difference, divergence, outcome, plain
from oracle.tally import Record, Tally

from adapters.signatures import notation
from adapters.signatures.signature import Signature
from tests.adapters.signatures.dspy_signatures import of_source

I, O = dspy.InputField, dspy.OutputField  # noqa: E741


class Lazy(pydantic.BaseModel):
    """Validates to an iterator that can be walked once."""

    it: Iterable[int]


ODD: Mapping[str, Mapping[str, Any]] = {
    "a description of None": {"q": (str, I(desc=None)), "a": (str, O(desc=None))},
    "a number as description": {"q": (str, I(desc=5)), "a": (int, O(desc=2.5))},
    "a list as description": {"q": (str, I(desc=["a"])), "a": (str, O(desc=["b", 1]))},
    "an output named text": {"q": (str, I()), "text": (str, O()), "n": (int, O())},
    "an output named text behind others": {"q": (str, I()), "n": (int, O()), "text": (str, O(desc="all of it"))},
    "perhaps a list of anything": {"q": (str, I()), "a": (Optional[List], O())},  # noqa: UP006, UP045
    "a dict of anything": {"q": (str, I()), "a": (dict, O())},
    "a text that is annotated with a custom type": {"q": (str, I()), "a": (Annotated[str, dspy.Code], O())},
    "a custom type inside of an annotated list": {"q": (Annotated[list[str], dspy.Image], I()), "a": (str, O())},
}
REPLIES = (
    "[[ ## a ## ]]\n1\n[[ ## text ## ]]\nx\n[[ ## n ## ]]\n2",
    '{"a": "1", "text": "x", "n": 2}',
    "<a>1</a><text>x</text><n>2</n>",
)


@pytest.mark.parametrize("name", NAMES)
def test_odd_signatures_are_written_and_read_as_dspy_does(name: str, record: Record) -> None:
    tally = Tally("odd signatures")
    for what, fields in ODD.items():
        signature = dspy.Signature(dict(fields))
        demos = [{"q": "1", "a": ["x"], "text": "t", "n": 1}]
        left = outcome(lambda: plain(theirs(name).format(signature, demos, {"q": "?"})))  # noqa: B023
        right = outcome(lambda: plain(ours(name).format(Signature.from_dspy(signature), demos, {"q": "?"})))  # noqa: B023
        tally.add(f"{what}, prompt", divergence(left, right))
        for reply in REPLIES:
            results, sent = [], []
            for make, one in ((theirs, signature), (ours, Signature.from_dspy(signature))):
                main, extraction = ScriptedLM([[reply], [reply]]), ScriptedLM([[reply], [reply]])
                adapter = make(name, None, extraction)
                results.append(outcome(lambda: plain(adapter(main, {}, one, demos, {"q": "?"}))))  # noqa: B023
                sent.append((main.calls, extraction.calls))
            tally.add(f"{what}, {reply[:5]}", difference(*sent, at="sent") or divergence(*results))
    tally.report(record)


SOURCE = """
import dspy
from enum import Enum

class Words(str, Enum):
    SHORT = "short"

class Odd(dspy.Signature):
    none: str = dspy.InputField(desc=None)
    number: str = dspy.InputField(desc=5)
    listed: str = dspy.InputField(desc=["a", {"b": None}])
    word: int = dspy.InputField(desc=Words.SHORT)
    described: str = dspy.InputField(description=7)
    a: str = dspy.OutputField(desc=2.5)
    b: int = dspy.OutputField(desc=("x",))

Changed = Odd.with_updated_fields("a", desc=["of", 1])
"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", ["Odd", "Changed"])
def test_a_description_that_is_no_text_is_shown_from_source_as_dspy_shows_it(
    name: str, which: str, record: Record
) -> None:
    tally = Tally("descriptions in source that are not text")
    live, read = of_source(SOURCE, which), notation.read(SOURCE, which)
    for what, values in (("all", dict.fromkeys(live.input_fields, "1")), ("none", {})):
        left = outcome(lambda: plain(theirs(name).format(live, [], dict(values))))  # noqa: B023
        right = outcome(lambda: plain(ours(name).format(read, [], dict(values))))  # noqa: B023
        tally.add(what, divergence(left, right))
    tally.report(record)


OUTER = """
class Outer(BaseModel):
    \'\'\'Names what stands below.\'\'\'
    one: "Inner" = Field(description="the one")
    more: list["Inner"]
    perhaps: Optional["Inner"] = None
    quoted: "list[Inner]"
    pair: Union["Early", "Inner"]
    early: "Early"
    marked: Annotated["Inner", Field(description="marked")]
    hidden: "Annotated[Inner, Field(description='hidden')]"
    number: int = 3
"""
INNER = """
class Inner(BaseModel):
    \'\'\'Stands below.\'\'\'
    x: int
"""
SIMPLE = "class Outer(BaseModel):\n    one: 'Inner'\n"
LATER = {
    "named before": OUTER + INNER,
    "all quoted": OUTER + INNER,
    "inherited below": "class Base(BaseModel):\n    one: 'Inner'\n" + INNER + "class Outer(Base):\n    z: int\n",
    "inherited above": "class Base(BaseModel):\n    one: 'Inner'\nclass Outer(Base):\n    z: int\n" + INNER,
    "declared anew": "class Base(BaseModel):\n    one: 'Inner'\nclass Outer(Base):\n    one: int\n" + INNER,
    "in another": "class Base(BaseModel):\n    one: 'Inner'\n" + INNER + "class Outer(BaseModel):\n    b: Base\n",
    "rebuilt": SIMPLE + INNER + "Outer.model_rebuild()\n",
    "of itself": "class Outer(BaseModel):\n    one: 'Inner'\n    own: Optional['Outer'] = None\n" + INNER,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", LATER)
def test_a_model_that_names_a_class_defined_below_it_is_shown_as_dspy_shows_it(
    name: str, what: str, record: Record
) -> None:
    head = "from __future__ import annotations\n" if what == "all quoted" else ""
    head += "import dspy\nfrom typing import Annotated, Optional, Union\nfrom pydantic import BaseModel, Field\n"
    early = "class Early(BaseModel):\n    e: str\n"
    use = "class Uses(dspy.Signature):\n    q: str = dspy.InputField()\n    a: Outer = dspy.OutputField()\n"
    text = head + early + LATER[what] + use
    live, read = of_source(text, "Uses"), notation.read(text, "Uses")
    left = outcome(lambda: plain(theirs(name).format(live, [], {"q": "?"})))
    right = outcome(lambda: plain(ours(name).format(read, [], {"q": "?"})))
    tally = Tally("models that name a class defined below")
    tally.add(what, divergence(left, right))
    tally.report(record)


UserId = NewType("UserId", int)


class WithHistory(dspy.Signature):
    """A class statement takes a NewType; taking the history out makes the signature anew, which does not."""

    q: UserId = dspy.InputField()
    turns: dspy.History = dspy.InputField()
    a: str = dspy.OutputField()


@pytest.mark.parametrize("name", [one for one in NAMES if one != "twostep"])  # which takes no history out
def test_a_field_of_a_new_type_beside_a_history_is_refused_as_dspy_refuses_it(name: str) -> None:
    given = {"q": 1, "turns": dspy.History(messages=[])}
    left = outcome(lambda: theirs(name).format(WithHistory, [], given))
    right = outcome(lambda: ours(name).format(Signature.from_dspy(WithHistory), [], given))
    assert divergence(left, right) is None and "Field types must be types" in str(left.error)


@pytest.mark.parametrize("kind", [UserId, List, Annotated[List, "bare"], Annotated[int, "plain"]])  # noqa: UP006
@pytest.mark.parametrize("awaited", [False, True])
def test_an_extraction_of_a_type_without_arguments_is_refused_as_dspy_refuses_it(kind: Any, awaited: bool) -> None:
    names: dict[str, Any] = {"__annotations__": {"q": str, "a": kind}, "q": I(), "a": O()}
    signature = type(dspy.Signature)("Stated", (dspy.Signature,), names)
    results, sent = [], []
    for make, one in ((theirs, signature), (ours, Signature.from_dspy(signature))):
        model = ScriptedLM([["prose"], ["[[ ## a ## ]]\n1"]])
        adapter = make("twostep", None, model)
        asked = (model, {}, one, [], {"q": "?"})
        results.append(outcome(lambda: run(adapter.acall(*asked)) if awaited else adapter(*asked)))  # noqa: B023
        sent.append(model.calls)
    assert divergence(*results) is None and difference(*sent) is None
    assert ("Field types must be types" in str(results[0].error)) == (kind != Annotated[int, "plain"])


@pytest.mark.parametrize("name", NAMES)
def test_a_live_model_is_shown_as_it_stands_before_it_is_built_and_after(name: str) -> None:
    head = "import dspy\nfrom pydantic import BaseModel, Field\n"
    use = "class Uses(dspy.Signature):\n    q: str = dspy.InputField()\n    a: Outer = dspy.OutputField()\n"
    live = of_source(head + SIMPLE + INNER + use, "Uses")
    kept = Signature.from_dspy(live)

    def both() -> tuple[Any, Any]:
        left = outcome(lambda: plain(theirs(name).format(live, [], {"q": "?"})))
        return left, outcome(lambda: plain(ours(name).format(kept, [], {"q": "?"})))

    before = both()
    live.output_fields["a"].annotation.model_rebuild()
    after = both()
    assert [divergence(*before), divergence(*after)] == [None, None]
    assert (repr(before[0]) != repr(after[0])) is (name == "baml")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", ["input", "output"])
def test_a_value_that_can_be_walked_once_is_walked_as_dspy_walks_it(name: str, role: str, record: Record) -> None:
    tally = Tally("values that can be walked once")
    for annotation, make in (
        (Lazy, lambda: Lazy(it=[1, 2])),
        (list[Lazy], lambda: [Lazy(it=[1, 2]), Lazy(it=[3])]),
        (Any, lambda: Lazy(it=[1, 2])),
        (dict[str, Lazy], lambda: {"x": Lazy(it=[4])}),
    ):
        fields = {
            "q": (annotation if role == "input" else str, I()),
            "a": (annotation if role == "output" else str, O()),
        }
        signature = dspy.Signature(fields)
        prompts = []
        for adapter, one in ((theirs(name), signature), (ours(name), Signature.from_dspy(signature))):
            values = {"q": "?", "a": "!"} | {"q" if role == "input" else "a": make()}
            prompts.append(outcome(lambda: plain(adapter.format(one, [values], {"q": "?"}))))  # noqa: B023
        tally.add(str(annotation), divergence(*prompts))
    tally.report(record)


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml"])
@pytest.mark.parametrize("reply", [None, {"a": 1}, 5, b"[[ ## a ## ]]\n1", ["x"]], ids=str)
def test_a_reply_that_is_no_text_is_refused_as_dspy_refuses_it(name: str, reply: Any, record: Record) -> None:
    tally = Tally("replies that are not text")
    signature = dspy.Signature("q -> a")
    left = outcome(lambda: theirs(name).parse(signature, reply))
    right = outcome(lambda: plain(ours(name).parse(Signature.from_dspy(signature), reply)))
    tally.add(f"{name} {reply}", divergence(left, right))
    tally.report(record)
