"""Adapters that users write: dspy's documented shapes run here with only the import line changed."""

from __future__ import annotations

import inspect
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType
from typing import Any

import dspy
import pytest
import user_adapters
from oracle.engines import ScriptedLM
from oracle.outcomes import plain

from adapters.formats import catalog
from adapters.formats.chat import ChatAdapter
from adapters.formats.markdown import MarkdownAdapter
from adapters.replies.repairs import Guess
from adapters.signatures.signature import Signature

QUESTION = dspy.Signature("question, context: list[str] -> reasoning, answer")
INPUTS = {"question": "Is it raining?", "context": ["It pours."]}
DEMO = {**INPUTS, "reasoning": "It pours.", "answer": "yes"}


def under_dspy() -> Any:
    """The same file with dspy's names in its import lines."""
    source = inspect.getsource(user_adapters)
    for name in ("adapters.formats.base", "adapters.formats.chat"):
        source = source.replace(f"from {name} import", "from dspy import")
    source = source.replace("field.description or", "'' or")
    module = ModuleType("user_adapters_under_dspy")
    exec(compile(source, module.__name__, "exec"), vars(module))  # noqa: S102
    return module


THEIRS = under_dspy()


@pytest.mark.parametrize("name", ["PromptAdapter", "PoliteAdapter", "CallAdapter"])
def test_the_same_adapter_does_the_same_under_dspy_and_here(name: str) -> None:
    reply = (
        "[[ ## reasoning ## ]]\nr\n[[ ## answer ## ]]\nyes"
        if name == "PoliteAdapter"
        else "reasoning = r\nanswer = yes"
    )
    model_for_them, model_for_us = ScriptedLM([[reply]]), ScriptedLM([[reply]])
    theirs = getattr(THEIRS, name)()(model_for_them, {"temperature": 0.5}, QUESTION, [DEMO], INPUTS)
    ours = getattr(user_adapters, name)()(
        model_for_us, {"temperature": 0.5}, Signature.from_dspy(QUESTION), [DEMO], INPUTS
    )
    assert ours == theirs
    assert model_for_us.calls == model_for_them.calls
    assert plain(model_for_us.calls) == model_for_us.calls


def test_text_of_a_changed_piece_is_shown_as_the_users_own() -> None:
    prompt = user_adapters.PoliteAdapter().render(Signature.from_dspy(QUESTION), [], INPUTS)
    custom = [segment.text for message in prompt.messages for segment in message.segments if segment.kind == "custom"]
    assert any(text.startswith("Please. ") for text in custom)


class Strict(ChatAdapter):
    """Takes no answer in capitals: text that Chat reads, it refuses."""

    def parse(self, signature, completion):  # type: ignore[no-untyped-def]
        values = super().parse(signature, completion)
        if any(str(value).isupper() for value in values.values()):
            raise ValueError("no capitals")
        return values


def test_what_a_parser_of_ones_own_refuses_is_never_said_to_read() -> None:
    signature = Signature.from_dspy(dspy.Signature("question -> answer"))
    for reply in ("**[[ ## answer ## ]]**\nYES", '{"answer": "YES"}', "[[ ## answer ## ]]\nYES"):
        reading = Strict().read(signature, reply)
        assert not reading.ok
        assert not reading.near_misses
        assert not any("[[ ##" in flag.message for flag in reading.flags)


def test_guesses_are_read_by_the_adapter_that_made_the_reading_options_included(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signature = Signature.from_dspy(dspy.Signature("question -> answer"))
    loose, strict = MarkdownAdapter(allow_extra_keys=True), MarkdownAdapter()
    reply = "Answer: yes\n\nMore: no"
    assert loose.read(signature, reply).near_misses
    extra = Guess("with another key", '```json\n{"answer": "yes", "more": 1}\n```')
    monkeypatch.setattr("adapters.replies.near_misses.guesses", lambda reading: iter([extra]))
    assert [miss.reading.ok for miss in loose.read(signature, reply).near_misses] == [True]
    assert [miss.reading.ok for miss in strict.read(signature, reply).near_misses] == [False]


def test_a_subclass_that_reads_as_its_base_does_still_guesses() -> None:
    signature = Signature.from_dspy(dspy.Signature("question -> answer"))
    reading = user_adapters.PoliteAdapter().read(signature, "**[[ ## answer ## ]]**\nyes")
    assert [miss.reading.values for miss in reading.near_misses] == [{"answer": "yes"}]


def test_adapters_of_packages_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = EntryPoint("mine", "user_adapters:PoliteAdapter", catalog.ENTRY_POINTS)
    asked: list[str] = []

    def listed(group: str) -> EntryPoints:
        asked.append(group)
        return EntryPoints([mine])

    monkeypatch.setattr("importlib.metadata.entry_points", listed)
    catalog._registered.cache_clear()
    try:
        assert [type(catalog.make("mine")) for _ in range(3)] == [user_adapters.PoliteAdapter] * 3
        with pytest.raises(catalog.UnknownAdapterError, match="did you mean 'mine'"):
            catalog.make("mime")
    finally:
        catalog._registered.cache_clear()
    assert asked == [catalog.ENTRY_POINTS]
