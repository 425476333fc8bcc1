"""What every adapter must do, the built-in ones and a user's alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from threading import Event
from typing import Any, ClassVar, cast

import pytest
from oracle.traces import prompt_faults, reading_faults
from user_adapters import PoliteAdapter, PromptAdapter

import adapters
from adapters.errors import AdapterParseError
from adapters.formats.base import Adapter
from adapters.formats.catalog import make
from adapters.formats.chat import ChatAdapter
from adapters.formats.json import JSONAdapter
from adapters.formats.two_step import TwoStepAdapter
from adapters.signatures.signature import InputField, OutputField, Signature

QA = (
    Signature.make((), "Answer from the context.", "QA")
    .append("question", InputField(desc="what is asked"), str)
    .append("context", InputField(), list[str])
    .append("reasoning", OutputField(), str)
    .append("answer", OutputField(desc="a short answer"), str)
)
INPUTS = {"question": "Is it raining?", "context": ["It pours.", "Umbrellas\nare out."]}
ANSWER = {"reasoning": "It pours.", "answer": "yes"}
DEMO = {**INPUTS, **ANSWER}

MAKERS: dict[str, Callable[..., Adapter]] = {
    **{name: partial(make, name, shared=False) for name in ("chat", "json", "xml", "baml", "twostep", "markdown")},
    "prompt (a user's)": PromptAdapter,
    "polite (a user's)": PoliteAdapter,
}
WRITTEN = "reasoning = It pours.\nanswer = yes"

HOSTILE = {
    "nothing": "",
    "white space": " \n\t ",
    "terminal escapes": "\x1b[31m\x1b]0;title\x07\x9b2J",
    "screen markup": "[/x][bold]\\[",
    "a lone surrogate": "\ud800 [[ ## answer ## ]]\n\udfff",
    "nulls": "\x00\x00",
    "open braces": "{" * 3000,
    "open brackets": "[" * 3000,
    "deep XML": "<answer>" * 3000,
    "an entity bomb": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><answer>&b;</answer>',
    "long prose": "word " * 20_000,
    "every line break": "a\r\nb\rc\x0bd\x0ce\x1cf\x1dg\x1eh\x85i\u2028j\u2029k",
    "markers only": "[[ ## answer ## ]]" * 50,
}


class Scripted:
    """A model with dspy's calling interface that always answers the same."""

    model = "scripted/model"
    model_type = "chat"
    kwargs: ClassVar[dict[str, Any]] = {}
    supports_function_calling = supports_reasoning = supports_response_schema = False
    supported_params: frozenset[str] = frozenset()

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.messages: list[Any] = []

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> list[str]:
        self.messages.append(messages)
        return [self.reply]

    async def acall(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> list[str]:
        return self(prompt, messages=messages, **kwargs)


class Told:
    """A model of this project that always answers the same."""

    model = "told/model"
    capabilities = adapters.Capabilities()

    def __init__(self, reply: str) -> None:
        self.reply = reply

    def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[adapters.Chunk]:
        yield adapters.Chunk(text=self.reply)


class Watching:
    """Callbacks with dspy's names."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, Any]] = []

    def on_adapter_format_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.heard.append(("format starts", sorted(inputs)))

    def on_adapter_format_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        self.heard.append(("format ends", exception is None))

    def on_adapter_parse_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.heard.append(("parse starts", sorted(inputs)))

    def on_adapter_parse_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        self.heard.append(("parse ends", exception is None))


def good_reply(adapter: Adapter) -> str:
    """A reply in the adapter's own format."""
    if isinstance(adapter, PromptAdapter):
        return WRITTEN
    return str(adapter.format_assistant_message_content(QA, ANSWER))


@pytest.fixture(params=MAKERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def adapter(name: str) -> Adapter:
    return MAKERS[name]()


def test_a_prompt_is_messages_whose_segments_are_their_text(adapter: Adapter) -> None:
    prompt = adapter.render(QA, [DEMO], INPUTS)
    assert not list(prompt_faults(prompt))
    assert prompt.messages[0].role == "system"
    assert "Is it raining?" in str(prompt.messages[-1].text)


def test_format_returns_what_render_shows(adapter: Adapter) -> None:
    assert adapter.format(QA, [DEMO], INPUTS) == adapter.render(QA, [DEMO], INPUTS).as_dicts()


def test_format_leaves_its_arguments_alone(adapter: Adapter) -> None:
    inputs, demos = dict(INPUTS), [dict(DEMO)]
    adapter.format(QA, demos, inputs)
    assert inputs == INPUTS
    assert demos == [DEMO]


def test_instructions_and_demos_are_in_the_prompt_or_it_says_what_is_left_out(adapter: Adapter) -> None:
    prompt = adapter.render(QA, [DEMO], {"question": "Q", "context": []})
    text = "\n".join(str(message.text) for message in prompt.messages)
    assert "Answer from the context." in text
    if "Umbrellas" not in text:
        assert prompt.notes == ("1 demo left out: this format has no place for them",)
        assert [demo.use for demo in prompt.demos] == ["dropped"]


def test_a_reply_in_its_own_format_is_read(adapter: Adapter, name: str) -> None:
    if name == "twostep":
        pytest.skip("reads only with an extraction: see test_two_step")
    reading = adapter.read(QA, good_reply(adapter))
    assert reading.ok
    assert dict(reading.values) == ANSWER
    assert list(adapter.parse(QA, good_reply(adapter))) == ["reasoning", "answer"]
    assert not list(reading_faults(reading))


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE)
def test_no_reply_makes_read_raise(adapter: Adapter, reply: str) -> None:
    reading = adapter.read(QA, reply)
    assert not list(reading_faults(reading))
    assert reading.completion == reply
    assert reading.error is None or reading.error.message


@pytest.mark.parametrize("reply", ["", "nonsense", "{"], ids=["nothing", "nonsense", "a brace"])
def test_parse_raises_where_read_reports(adapter: Adapter, name: str, reply: str) -> None:
    if name == "twostep":
        pytest.skip("parse asks the extraction model")
    reading = adapter.read(QA, reply)
    assert reading.error is not None
    with pytest.raises(Exception) as raised:
        adapter.parse(QA, reply)
    assert type(raised.value).__name__ == reading.error.type


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_inputs_and_demos_are_only_text(adapter: Adapter, text: str) -> None:
    prompt = adapter.render(QA, [{**DEMO, "question": text}], {"question": text, "context": [text]})
    assert not list(prompt_faults(prompt))


def test_a_call_asks_the_model_and_returns_a_dict_for_each_completion(adapter: Adapter, name: str) -> None:
    if name == "twostep":
        pytest.skip("two models: see test_two_step")
    lm = Scripted(good_reply(adapter))
    assert adapter(lm, {}, QA, [DEMO], INPUTS) == [ANSWER]
    assert lm.messages == [adapter.format(QA, [DEMO], INPUTS)]


def test_an_asynchronous_call_does_the_same(adapter: Adapter, name: str) -> None:
    if name == "twostep":
        pytest.skip("two models: see test_two_step")
    assert asyncio.run(adapter.acall(Scripted(good_reply(adapter)), {}, QA, [], INPUTS)) == [ANSWER]


def test_an_empty_reply_is_an_adapter_parse_error(adapter: Adapter, name: str) -> None:
    if name == "twostep":
        pytest.skip("asks the extraction model what an empty reply holds")
    with pytest.raises(AdapterParseError, match="empty or null"):
        adapter(Scripted(""), {}, QA, [], INPUTS)


def test_callbacks_hear_format_and_parse(name: str) -> None:
    if name == "twostep":
        pytest.skip("two models: see test_two_step")
    watching = Watching()
    adapter = MAKERS[name]()
    adapter.callbacks = cast(Any, [watching])
    adapter.format(QA, [], INPUTS)
    adapter.parse(QA, good_reply(adapter))
    with pytest.raises(Exception):  # noqa: B017
        adapter.parse(QA, "nonsense")
    assert watching.heard == [
        ("format starts", ["demos", "inputs", "signature"]),
        ("format ends", True),
        ("parse starts", ["completion", "signature"]),
        ("parse ends", True),
        ("parse starts", ["completion", "signature"]),
        ("parse ends", False),
    ]


HEARD_OF_A_CALL = [
    ("format starts", ["demos", "inputs", "signature"]),
    ("format ends", True),
    ("parse starts", ["completion", "signature"]),
    ("parse ends", True),
]


@pytest.mark.parametrize("way", ["call", "acall", "run"])
def test_callbacks_hear_a_call_once(name: str, way: str) -> None:
    """As in dspy, whose `__call__` goes through `format` and `parse`."""
    watching = Watching()
    adapter = MAKERS[name]()
    reply = good_reply(ChatAdapter() if name == "twostep" else adapter)
    if isinstance(adapter, TwoStepAdapter):
        adapter.extraction_model = Scripted(reply)
    adapter.callbacks = cast(Any, [watching])
    if way == "call":
        adapter(Scripted(reply), {}, QA, [], INPUTS)
    elif way == "acall":
        asyncio.run(adapter.acall(Scripted(reply), {}, QA, [], INPUTS))
    else:
        run = adapters.run(QA, INPUTS, adapter=adapter, model=Told(reply))
        assert run.ok
    # dspy's TwoStepAdapter.acall parses by itself, without `parse`.
    expected = HEARD_OF_A_CALL[:2] if (name, way) == ("twostep", "acall") else HEARD_OF_A_CALL
    assert watching.heard == expected


def test_callbacks_of_an_adapter_hear_render_and_read() -> None:
    watching = Watching()
    adapter = ChatAdapter(callbacks=cast(Any, [watching]))
    adapters.render(QA, INPUTS, adapter=adapter)
    adapters.read(QA, good_reply(adapter), adapter=adapter)
    assert watching.heard == HEARD_OF_A_CALL


def test_a_failed_call_tells_the_callbacks_of_its_error() -> None:
    watching = Watching()
    adapter = JSONAdapter(callbacks=cast(Any, [watching]))
    with pytest.raises(AdapterParseError):
        adapter(Scripted("nonsense"), {}, QA, [], INPUTS)
    assert watching.heard == [*HEARD_OF_A_CALL[:3], ("parse ends", False)]


def test_an_adapter_that_did_not_call_the_base_constructor_has_no_callbacks() -> None:
    class Bare(ChatAdapter):
        def __init__(self) -> None:
            pass

    assert (
        Bare().format(QA, [], INPUTS)
        == Bare().render(QA, [], INPUTS).as_dicts()
        == ChatAdapter().format(QA, [], INPUTS)
    )


def test_a_callback_that_fails_changes_nothing(name: str) -> None:
    class Broken(Watching):
        def on_adapter_format_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            raise RuntimeError("a listener's own fault")

    adapter = MAKERS[name]()
    adapter.callbacks = cast(Any, [Broken()])
    assert adapter.format(QA, [], INPUTS) == MAKERS[name]().format(QA, [], INPUTS)


def test_reusing_a_prompt_changes_nothing_in_it(adapter: Adapter) -> None:
    demos = [DEMO, {**DEMO, "answer": "no"}]
    first = adapter.render(QA, demos, INPUTS)
    edited = [demos[0], {**DEMO, "answer": "perhaps"}]
    assert adapter.render(QA, edited, INPUTS, reuse=first).as_dicts() == adapter.render(QA, edited, INPUTS).as_dicts()


def test_a_callback_that_is_added_during_a_call_hears_no_end_without_its_start() -> None:
    late = Watching()

    class Adding:
        def on_adapter_format_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            instance.callbacks.append(late)

    ChatAdapter(callbacks=cast(Any, [Adding()])).format(QA, [], INPUTS)
    assert late.heard == []


@pytest.mark.parametrize(
    ("given", "kind"),
    [("question -> answer", "str"), (None, "NoneType"), (dict, "the class dict"), (object(), "object")],
)
def test_what_is_no_signature_is_named(adapter: Adapter, given: Any, kind: str) -> None:
    said = f"^signature: expected an adapters.Signature or a dspy.Signature class, got {kind}; "
    for call in (partial(adapter.render, given, [], INPUTS), partial(adapter.read, given, "x")):
        with pytest.raises(TypeError, match=said):
            call()
