"""An adapter's `format` returns a list of messages, or an object with `system` and `messages`: both make one prompt."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

import adapters
from adapters.prompts.text import message_dicts
from adapters.signatures import notation
from tests.support.hostile import HOSTILE

LIST = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]


@dataclass(frozen=True)
class TextPart:
    text: str
    type: str = "text"


@dataclass(frozen=True)
class ImagePart:
    url: str | None = None
    data: str | None = None
    media_type: str = "image/png"
    type: str = "image"


@dataclass(frozen=True)
class Message:
    role: str
    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Formatted:
    """As `dspy.lm15.Request`, which stands for it where dspy is not."""

    messages: tuple[Any, ...]
    system: Any = None


@pytest.mark.parametrize(
    "formatted",
    [
        LIST,
        tuple(LIST),
        Formatted((LIST[1],), "Be brief."),
        Formatted((Message("user", (TextPart("Why?"),)),), "Be brief."),
        Formatted((Message("user", (TextPart("Why?"),)),), (TextPart("Be brief."),)),
        {"system": "Be brief.", "messages": [LIST[1]]},
    ],
)
def test_either_shape_is_the_same_messages(formatted: Any) -> None:
    assert message_dicts(formatted) == LIST


def test_without_a_system_message_there_is_none() -> None:
    assert message_dicts(Formatted((LIST[1],))) == [LIST[1]]


def test_an_image_is_a_part_as_providers_have_it_and_is_not_fetched() -> None:
    parts = (TextPart("See:"), ImagePart(url="https://example.com/a.png"), ImagePart(data="aGk="))
    (found,) = message_dicts(Formatted((Message("user", parts),)))
    assert found["content"] == [
        {"type": "text", "text": "See:"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]


@pytest.mark.parametrize("formatted", ["text", 3, None, Formatted("text"), [3], [object()]])  # type: ignore[arg-type]
def test_what_is_neither_shape_is_said(formatted: Any) -> None:
    with pytest.raises(TypeError, match=r"`format` returns|a message has"):
        message_dicts(formatted)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_as_it_is(text: str) -> None:
    assert message_dicts(Formatted((Message("user", (TextPart(text),)),), text)) == [
        {"role": "system", "content": text},
        {"role": "user", "content": text},
    ]


class OfTomorrow(adapters.Adapter):
    """A user's adapter that returns the object."""

    def format(self, signature: Any, demos: Any, inputs: Any) -> Any:
        return Formatted((Message("user", (TextPart(json.dumps(inputs)),)),), "Be brief.")

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        return {"answer": completion}


def test_a_users_adapter_of_that_shape_renders_with_turns() -> None:
    adapter, signature = OfTomorrow(), notation.read("question -> answer")
    prompt = adapter.render(signature, [], {"question": "Why?"})
    assert [(one.role, one.turn, str(one.text)) for one in prompt.messages] == [
        ("system", "system", "Be brief."),
        ("user", "inputs", '{"question": "Why?"}'),
    ]


def test_dspys_own_request_is_of_that_shape() -> None:
    lm15 = pytest.importorskip("dspy.lm15")
    asked = lm15.Request(model="m", messages=(lm15.Message.user("Why?"),), system="Be brief.")
    assert message_dicts(asked) == LIST
