"""Plain JSON built to our types makes the messages that dspy makes of its own instances."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from typing import Any

import dspy
import dspy.adapters.types as theirs
import pydantic
import pytest
from dspy.adapters.baml_adapter import BAMLAdapter as DspyBAMLAdapter
from dspy.adapters.types.citation import Citations as DspyCitations
from dspy.adapters.types.document import Document as DspyDocument

import adapters.types as ours
from adapters.formats.baml import BAMLAdapter
from adapters.formats.chat import ChatAdapter
from adapters.formats.json import JSONAdapter
from adapters.formats.xml import XMLAdapter
from adapters.signatures.signature import Signature
from adapters.values.custom_types import build_inputs

ADAPTERS: dict[str, tuple[Any, Any]] = {
    "chat": (ChatAdapter, dspy.ChatAdapter),
    "json": (JSONAdapter, dspy.JSONAdapter),
    "xml": (XMLAdapter, dspy.XMLAdapter),
    "baml": (BAMLAdapter, DspyBAMLAdapter),
}
CITATION = {"cited_text": "c", "document_index": 0, "start_char_index": 0, "end_char_index": 1, "document_title": "t"}
PLAIN: dict[str, tuple[Any, Any, Any]] = {
    "Image": (ours.Image, theirs.Image, {"url": "https://x.y/z.png?a=1&b=\u00e9"}),
    "Audio": (ours.Audio, theirs.Audio, {"data": "QQ==", "audio_format": "wav"}),
    "File": (ours.File, theirs.File, {"file_data": "data:text/plain;base64,QQ==", "filename": "a.txt"}),
    "Code": (ours.Code, theirs.Code, {"code": "if a < b:\n    x = '<b>'"}),
    "Reasoning": (ours.Reasoning, theirs.Reasoning, {"content": "hm & <b>\nso"}),
    "ToolCalls": (ours.ToolCalls, theirs.ToolCalls, {"tool_calls": [{"name": "f", "args": {"x": [1, None]}}]}),
    "ToolCallResults": (
        ours.ToolCallResults,
        theirs.ToolCallResults,
        {"tool_call_results": [{"name": "f", "value": {"k": 1.0}}]},
    ),
    "Citations": (ours.Citations, DspyCitations, {"citations": [CITATION]}),
    "Document": (ours.Document, DspyDocument, {"data": "text", "title": "T"}),
}
PLACES: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda cls: cls, lambda value: value),
    (lambda cls: list[cls], lambda value: [value, value]),
    (lambda cls: dict[str, list[cls]], lambda value: {"a": [value], "b": []}),
    (lambda cls: cls | None, lambda value: value),
]


def messages(adapter: Any, signature: Any, demo: Any, inputs: Any) -> str:
    try:
        return json.dumps(adapter.format(signature, [demo], inputs))
    except Exception as error:
        return type(error).__name__


def live(signature: Any, values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pydantic.TypeAdapter(signature.fields[name].annotation).validate_python(value)
        for name, value in values.items()
    }


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_messages_with_built_values_are_dspys(adapter: str, name: str) -> None:
    compare_messages(adapter, name, [name])


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_messages_with_built_values_beside_any_other_are_dspys(adapter: str, name: str) -> None:
    compare_messages(adapter, name, PLAIN)


def compare_messages(adapter: str, name: str, others: Iterable[str]) -> None:
    mine, dspys = (make() for make in ADAPTERS[adapter])
    for other, (annotate, place) in itertools.product(others, PLACES):
        signatures = [
            dspy.Signature(
                {
                    "given": (annotate(PLAIN[name][side]), dspy.InputField()),
                    "made": (annotate(PLAIN[other][side]), dspy.OutputField(desc="the result")),
                }
            )
            for side in (0, 1)
        ]
        inputs, demo = (
            {"given": place(PLAIN[name][2])},
            {"given": place(PLAIN[name][2]), "made": place(PLAIN[other][2])},
        )
        own = Signature.from_dspy(signatures[0])
        found = messages(mine, own, build_inputs(own, demo), build_inputs(own, inputs))
        assert found == messages(dspys, signatures[1], live(signatures[1], demo), live(signatures[1], inputs))
        assert found.startswith("[{")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_history_of_plain_turns_is_the_conversation_that_dspy_makes(adapter: str) -> None:
    mine, dspys = (make() for make in ADAPTERS[adapter])
    signatures = [
        dspy.Signature(
            {
                "history": (cls.History, dspy.InputField()),
                "photo": (cls.Image, dspy.InputField()),
                "tools": (list[cls.Tool], dspy.InputField()),
                "calls": (cls.ToolCalls, dspy.OutputField()),
            }
        )
        for cls in (ours, theirs)
    ]
    photo, tool = {"url": "https://x.y/z.png"}, {"name": "f", "desc": "Does\nit.", "args": {"x": {"type": "integer"}}}
    calls = {"tool_calls": [{"id": "c1", "name": "f", "args": {}}], "tool_call_results": [{"name": "f", "value": 5}]}
    turns = [{"photo": photo, "calls": calls}, {"photo": photo, "calls": {"tool_calls": []}}]
    own = Signature.from_dspy(signatures[0])
    inputs = {"history": {"messages": turns}, "photo": photo, "tools": [tool]}
    found = messages(mine, own, {}, build_inputs(own, inputs))

    def silent() -> None: ...

    dspy_turns = [
        {"photo": theirs.Image(**photo), "calls": theirs.ToolCalls.model_validate(turn["calls"])} for turn in turns
    ]
    expected = {
        "history": theirs.History(messages=dspy_turns),
        "photo": theirs.Image(**photo),
        "tools": [theirs.Tool(silent, **tool)],
    }
    assert found == messages(dspys, signatures[1], {}, expected)
    assert found.startswith("[{")
