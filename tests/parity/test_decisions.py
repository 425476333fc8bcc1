"""`Noul`, `Choice` and `Score` under every adapter: prompt, request and values are those of dspy's own `Predict`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import dspy
import pytest
from dspy.experimental import Choice, Noul, Score
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle.engines import NAMES, ScriptedLM, ours, theirs
from oracle.outcomes import difference, divergence, outcome

from adapters.formats.calling import call
from adapters.signatures.signature import Signature
from adapters.types import decision as own

OUTPUTS: Mapping[str, Any] = {
    "noul": Noul,
    "told": Noul[(True, "blocked"), (False, {"why": ["usable"]})],
    "half": Noul[(False, "usable")],
    "yes": bool,
    "flag": Annotated[bool, Noul[(True, "blocked")]],
    "score": Score["poor", "fair", "excellent"],
    "two": Score["no — never", {"level": "yes"}],
    "topic": Choice[("billing", "Payment issue"), ("technical", "")],
    "mixed": Choice[("a b", "x"), (1, None), (True, ["t"]), (None, "nothing")],
    "kind": Literal["bug", "question"],
    "labelled": Annotated[Literal["bug", 2], Choice[("bug", "broken"), (2, "two")]],
    "bare": Annotated[Literal["bug", "wish"], Choice],
    "nested": list[Noul],
    "unsaid": Score,
    "note": str,
}
"""Names of outputs and their types: decisions in every form, native equivalents, and what is none."""

NOULS = ("noul", "told", "half", "yes", "flag")
UNDECIDED = ("nested", "unsaid", "note")

SHARES = st.one_of(st.sampled_from([0, 0.0, 0.25, 0.5, 0.75, 1, 1.0]), st.floats(0, 1))
TEXTS = st.sampled_from(["", " ", "Is it blocked?", "Umlaut é {x}", "${noul}", "line\nbreak"])
DESCRIPTIONS = st.one_of(st.none(), st.text(max_size=5), st.lists(st.text(max_size=3), max_size=2))


@dataclass(frozen=True)
class Drawn:
    """One program: a signature's outputs with their descriptions, `Predict.fields`, demos, and replies."""

    outputs: Mapping[str, str]
    fields: Mapping[str, Any]
    demos: list[dict[str, Any]]
    replies: list[str]
    adapter: str

    def signature(self) -> type[dspy.Signature]:
        fields: dict[str, Any] = {"ticket": (str, dspy.InputField()), "extra": (int, dspy.InputField(desc="a number"))}
        for name, desc in self.outputs.items():
            fields[name] = (OUTPUTS[name], dspy.OutputField(desc=desc) if desc else dspy.OutputField())
        return dspy.Signature(fields, "Triage the ticket.")  # type: ignore[no-any-return]


def settings_of(name: str) -> st.SearchStrategy[dict[str, Any]]:
    own_keys: dict[str, st.SearchStrategy[Any]] = {
        "threshold": st.one_of(SHARES, st.sampled_from([2, -1, "0.5", True])),
        "cuts": st.sampled_from([[0.5, 1.5], [0.2], [1.5, 0.5], [0, 1], [0.5], (0.5, 1.5), [0.1, 0.2]]),
        "weights": st.sampled_from(
            [{}, {"billing": 5}, {"bug": 0.0}, {"bug": 0, "question": 0}, {"1": 3}, {"x": 1}, {"technical": -1}, []]
        ),
        "instructions": st.one_of(TEXTS, st.sampled_from([None, ["a"], {"a": 1}, 5, {"a": {1}}])),
        "criteria": st.sampled_from(
            [
                None,
                {"true": "t"},
                {"true": 1},
                {},
                ["a", "b", "c"],
                ["a", None, "c"],
                {"billing": "b", "technical": "t"},
            ]
        ),
        "other": st.just(1),
    }
    likely = [
        {"score": "cuts", "two": "cuts", **dict.fromkeys(NOULS, "threshold")}.get(name, "weights"),
        "instructions",
    ]
    keys = st.lists(st.sampled_from([*likely, *likely, *likely, "criteria", *own_keys]), max_size=2, unique=True)
    return keys.flatmap(lambda chosen: st.fixed_dictionaries({key: own_keys[key] for key in chosen}))


@st.composite
def evidence(draw: st.DrawFn, name: str) -> Any:
    """What a model says for an output: mostly the distribution it was asked for."""
    if draw(st.integers(0, 19)) == 0:
        return draw(
            st.sampled_from([None, True, "yes", {}, {"noul": 2}, {"noul": 0.5, "more": 1}, {"probabilities": {}}])
        )
    if name == "nested":
        return [{"value": True, "confidence": draw(SHARES)}]
    if name == "unsaid":
        return {"value": 1.5, "confidence": draw(SHARES)}
    if name == "note":
        return "fine"
    if name in NOULS:
        return {"noul": draw(SHARES)}
    labels = {
        "score": ["0", "1", "2"],
        "two": ["0", "1"],
        "topic": ["billing", "technical"],
        "kind": ["bug", "question"],
        "mixed": ["a b", "1", "True", "None"],
        "labelled": ["bug", "2"],
        "bare": ["bug", "wish"],
    }[name]
    return {"probabilities": {label: draw(SHARES) for label in labels}, "confidence": draw(SHARES)}


def written(adapter: str, values: Mapping[str, Any]) -> str:
    texts = {name: one if isinstance(one, str) else json.dumps(one) for name, one in values.items()}
    if adapter == "chat":
        return "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in texts.items()) + "\n\n[[ ## completed ## ]]"
    if adapter == "xml":
        return "\n".join(f"<{name}>{text}</{name}>" for name, text in texts.items())
    return json.dumps(values)


@st.composite
def programs(draw: st.DrawFn) -> Drawn:
    names = draw(st.lists(st.sampled_from(list(OUTPUTS)), min_size=1, max_size=4, unique=True))
    adapter = draw(st.sampled_from(NAMES))
    outputs = {name: draw(TEXTS) if draw(st.booleans()) else "What is it?" for name in names}
    configured = draw(st.lists(st.sampled_from([*names, *names, "gone"]), max_size=2, unique=True))
    if "gone" in configured:  # told alone, whatever else is wrong
        configured = ["gone"]
    fields = {name: draw(settings_of(name)) for name in configured}
    if draw(st.integers(0, 9)) == 0 and names[0] not in UNDECIDED:
        fields = {names[0]: draw(st.sampled_from([None, [], "x"]))}
    demos = draw(
        st.lists(
            st.sampled_from(
                [
                    {"ticket": "t", "noul": True, "note": "n"},
                    {"ticket": "é", "extra": 1, **dict.fromkeys(names, "label"), "augmented": True},
                    {"ticket": "t", "told": Noul(value=True, confidence=0.5), "note": ("a", [1])},
                ]
            ),
            max_size=2,
        )
    )
    values = {name: draw(evidence(name)) for name in names}
    replies = [written(adapter, values), written("json", values), written("chat", values)]
    return Drawn(outputs, fields, demos, replies, adapter)


@contextmanager
def no_warnings() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def compared(drawn: Drawn, capable: bool) -> str | None:
    """How our call departs from dspy's `Predict`, or None."""
    signature = drawn.signature()
    can: dict[str, Any] = {"schema": capable, "params": ("response_format",) if capable else ()}
    outputs = [[one] for one in drawn.replies]
    left_lm, right_lm = ScriptedLM(outputs, **can), ScriptedLM(outputs, **can)

    def by_dspy() -> Any:
        predict = dspy.Predict(signature)
        predict.fields = dict(drawn.fields)
        predict.demos = list(drawn.demos)
        adapter = theirs(drawn.adapter, {}, left_lm)
        with dspy.context(lm=left_lm, adapter=adapter, disable_history=True):
            return dict(predict(ticket="Server is down", extra=3).items())

    def by_us() -> Any:
        mine = Signature.from_dspy(signature).set_decisions(drawn.fields)
        made = call(
            ours(drawn.adapter, {}, right_lm),
            right_lm,
            {},
            (mine, drawn.demos, {"ticket": "Server is down", "extra": 3}),
        )
        return made[0]

    with no_warnings():
        left, right = outcome(by_dspy), outcome(by_us)
    sent = difference(left_lm.calls, right_lm.calls, at="sent")
    return sent or divergence(left, right, same_types=False)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=programs(), capable=st.booleans())
def test_a_program_with_decisions_is_called_as_predict_calls_it(drawn: Drawn, capable: bool) -> None:
    assert compared(drawn, capable) is None


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=programs(), capable=st.booleans())
def test_thousands_of_programs_with_decisions_are_called_as_predict_calls_them(drawn: Drawn, capable: bool) -> None:
    assert compared(drawn, capable) is None


UNDECIDABLE = {"probabilities": {"0": 0.0, "1": 0.0}, "confidence": 0.9}
DECIDABLE = {"probabilities": {"0": 0.2, "1": 0.8}, "confidence": 0.9}


@pytest.mark.parametrize("adapter", ["chat", "xml"])
@pytest.mark.parametrize("second", ["nothing", None], ids=["unreadable", "undecidable"])
def test_of_several_completions_one_that_cannot_be_read_counts_before_one_that_is_undecided(
    adapter: str, second: str | None
) -> None:
    undecided = written(adapter, {"two": UNDECIDABLE})
    again = [written("json", {"two": DECIDABLE})] * 2
    outputs = [[undecided, undecided if second is None else second], again]
    signature = Drawn({"two": "What is it?"}, {"two": {}}, [], [], adapter).signature()
    left, right = ScriptedLM(outputs), ScriptedLM(outputs)

    def by_dspy() -> Any:
        with dspy.context(lm=left, adapter=theirs(adapter, {}, left), disable_history=True):
            return dict(dspy.Predict(signature)(ticket="t", extra=3, config={"n": 2, "temperature": 1.0}).items())

    def by_us() -> Any:
        mine, params = Signature.from_dspy(signature).set_decisions({"two": {}}), {"n": 2, "temperature": 1.0}
        return call(ours(adapter, {}, right), right, params, (mine, [], {"ticket": "t", "extra": 3}))[0]

    with no_warnings():
        assert divergence(outcome(by_dspy), outcome(by_us), same_types=False) is None
    assert difference(left.calls, right.calls, at="sent") is None
    assert len(right.calls) == (1 if second is None else 2)


@pytest.mark.parametrize("adapter", NAMES)
@pytest.mark.parametrize("name", [one for one in OUTPUTS if one not in UNDECIDED])
def test_each_form_of_a_decision_under_each_adapter(name: str, adapter: str) -> None:
    labels = {"score": 3, "two": 2}
    if name in NOULS:
        said: Any = {"noul": 0.7}
    elif name in labels:
        said = {"probabilities": {str(level): 1 / labels[name] for level in range(labels[name])}, "confidence": 0.9}
    else:
        options = {"topic": ["billing", "technical"], "mixed": ["a b", "1", "True", "None"], "labelled": ["bug", "2"]}
        names = options.get(name, ["bug", "question" if name == "kind" else "wish"])
        said = {"probabilities": dict.fromkeys(names, 0.3), "confidence": 0.9}
    drawn = Drawn({name: "What is it?"}, {name: {}}, [], [written(adapter, {name: said})] * 3, adapter)
    assert compared(drawn, capable=False) is None


@pytest.mark.parametrize(
    ("ours_", "theirs_", "options"),
    [
        (own.Noul, Noul, ((True, "a"), (False, {"b": 1}))),
        (own.Noul, Noul, (True, "alone")),
        (own.Noul, Noul, ((True, "a"), (True, "b"))),
        (own.Noul, Noul, (("x", "a"),)),
        (own.Noul, Noul, ()),
        (own.Score, Score, ("poor", "fair")),
        (own.Score, Score, ("poor",)),
        (own.Score, Score, "poor"),
        (own.Score, Score, ("poor", None)),
        (own.Score, Score, ("poor", 5)),
        (own.Score, Score, ("poor", {"a": {1}})),
        (own.Choice, Choice, (("a", "x"), (1, None))),
        (own.Choice, Choice, ((1, "x"), ("1", "y"))),
        (own.Choice, Choice, ((1.5, "x"),)),
        (own.Choice, Choice, ("a", "b", "c")),
    ],
)
def test_a_declaration_is_made_or_refused_as_dspys(ours_: Any, theirs_: Any, options: Any) -> None:
    def described(kind: Any) -> Any:
        made = kind[options]
        return (made.__name__, made.criteria(), made.description(), made.model_json_schema())

    left, right = outcome(lambda: described(theirs_)), outcome(lambda: described(ours_))
    assert divergence(left, right) is None


@pytest.mark.parametrize(
    ("ours_", "theirs_"), [(own.Noul, Noul), (own.Score, Score), (own.Choice, Choice)], ids=["noul", "score", "choice"]
)
def test_the_bare_types_have_dspys_schema(ours_: Any, theirs_: Any) -> None:
    assert ours_.model_json_schema() == theirs_.model_json_schema()
    assert ours_.description() == theirs_.description()
