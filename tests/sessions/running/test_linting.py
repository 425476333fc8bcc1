"""Lints of a session's columns that depend on more than the prompt."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.formats.chat import ChatAdapter
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import rendering
from sessions.running.linting import lints_of, lints_of_session


@pytest.mark.parametrize(
    ("model", "params", "said"),
    [
        (
            "gpt-4o",
            {},
            "dspy sends gpt-4o to the provider itself, not to the address in OPENAI_API_BASE, to which it is sent here."
            " Name the provider: openai/gpt-4o.",
        ),
        ("gpt-4o", {"model_type": "text"}, ""),
        ("zai:glm-5", {}, ""),
        (
            "openai:gpt-4o",
            {},
            "dspy sends openai:gpt-4o to the provider itself, not to the address in OPENAI_API_BASE, to which it is "
            "sent here. Name the provider: openai/gpt-4o.",
        ),
        ("openai/gpt-4o", {}, ""),
        ("claude-sonnet-5", {}, ""),
        ("gpt-4o", {"api_base": "http://127.0.0.1:9/v1"}, ""),
    ],
)
def test_an_address_that_dspy_does_not_call_is_named(
    monkeypatch: pytest.MonkeyPatch, model: str, params: dict[str, str], said: str
) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    column = Column("chat", "chat")
    session = Session(SignatureText("q -> a"), (), (column,), (Case("one", {"q": "x"}),), model, params)
    request = rendering.request_of(session, column, session.cases[0])
    found = lints_of(session, column, session.cases[0], request)
    assert [one.message for one in found if one.name == "gateway-passed-over"] == ([said] if said else [])


@pytest.mark.parametrize(
    ("signature", "column", "model", "said"),
    [
        (
            "q, tools: list[dspy.Tool] -> calls: dspy.ToolCalls",
            "json",
            "openai/gpt-4o-mini",
            "json cannot be rendered: the input `tools` has no value",
        ),
        (
            "import dspy\nfrom typing import Dict\nclass S(dspy.Signature):\n    q: str = dspy.InputField()\n"
            "    d: Dict = dspy.OutputField()\n",
            "baml",
            "offline/exact",
            "baml cannot be rendered: it needs the types inside List and Dict: write list[str] or dict[str, Any], for "
            "example",
        ),
    ],
)
def test_why_no_prompt_can_be_made_is_said_in_a_sentence(signature: str, column: str, model: str, said: str) -> None:
    columns, cases = (Column(column, column),), (Case("a", {"q": "Q"}),)
    session = Session(SignatureText(signature), columns=columns, cases=cases, model=model)
    assert [one.lint.message for one in lints_of_session(session, columns, cases)] == [said]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError(), "mine cannot be rendered: KeyError"),
        (KeyError("style"), "mine cannot be rendered: 'style'"),
        (KeyError("q"), "mine cannot be rendered: 'q'"),
        (KeyError("more"), "mine cannot be rendered: the input `more` has no value"),
        (IndexError("pop from empty list"), "mine cannot be rendered: pop from empty list"),
    ],
)
def test_an_error_of_an_adapter_of_ones_own_is_not_taken_for_one_of_dspy(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    class Mine(ChatAdapter):
        def format_field_description(self, signature: Any) -> str:
            raise error

    monkeypatch.setattr(rendering, "adapter_of", lambda *_, **__: Mine())
    columns, cases = (Column("mine", "mine:Mine"),), (Case("a", {"q": "Q"}),)
    session = Session(SignatureText("q, more -> a"), columns=columns, cases=cases, model="offline/exact")
    assert [one.lint.message for one in lints_of_session(session, columns, cases)] == [said]
