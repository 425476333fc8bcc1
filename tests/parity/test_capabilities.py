"""The table of what well known models can do, against `dspy.LM(name)`."""

from __future__ import annotations

import dspy
import pytest

from adapters.lm import capabilities_of

NAMES = """
openai/gpt-4o openai/gpt-4o-mini openai/gpt-4o-2024-08-06 openai/gpt-4o-2024-05-13 openai/gpt-4o-mini-2024-07-18 gpt-4o
openai/gpt-4.1 openai/gpt-4.1-mini openai/gpt-4.1-nano openai/gpt-4.1-2025-04-14 openai/gpt-5 openai/gpt-5-mini
openai/gpt-5-nano openai/gpt-5-pro openai/gpt-5-chat-latest openai/gpt-5-2025-08-07 openai/gpt-5.1 openai/gpt-5.2
openai/gpt-5.4-pro openai/o1 openai/o1-pro openai/o1-mini openai/o3 openai/o3-mini openai/o3-pro openai/o4-mini
openai/o3-2025-04-16 openai/gpt-3.5-turbo openai/gpt-3.5-turbo-0125 openai/gpt-4 openai/gpt-4-turbo openai/any-name
anthropic/claude-3-haiku-20240307 anthropic/claude-3-5-sonnet-20241022 anthropic/claude-sonnet-4-20250514
anthropic/claude-opus-4-1 anthropic/claude-sonnet-4-5 anthropic/claude-sonnet-4-5-20250929 anthropic/claude-haiku-4-5
anthropic/claude-opus-4-5 anthropic/claude-opus-4-6 anthropic/claude-sonnet-4-6 anthropic/claude-opus-5
anthropic/any-name gemini/gemini-1.5-pro gemini/gemini-2.0-flash gemini/gemini-2.5-flash gemini/gemini-2.5-pro
gemini/gemini-2.5-flash-lite gemini/gemini-3-pro-preview gemini/gemini-flash-latest gemini/any-name
ollama_chat/llama3.2 ollama_chat/qwen3 ollama/llama3 hosted_vllm/any-name groq/llama-3.3-70b-versatile
groq/openai/gpt-oss-20b groq/openai/gpt-oss-120b mistral/mistral-large-latest mistral/mistral-small-latest
mistral/mistral-medium-latest mistral/codestral-latest mistral/any-name deepseek/deepseek-chat
deepseek/deepseek-reasoner deepseek/any-name openrouter/openai/gpt-4o
""".split()


@pytest.fixture(autouse=True)
def _no_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address in the environment changes dspy's answer for every model of that provider."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for provider in {name.partition("/")[0].upper() for name in NAMES}:
        monkeypatch.delenv(f"{provider}_API_BASE", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_well_known_model_can_what_dspy_says_it_can(name: str) -> None:
    ours, theirs = capabilities_of(name), dspy.LM(name)
    assert ours.function_calling == theirs.supports_function_calling
    assert ours.reasoning == theirs.supports_reasoning
    assert ours.response_schema == theirs.supports_response_schema
    assert ours.params == theirs.supported_params


def test_of_an_unknown_provider_nothing_is_assumed() -> None:
    theirs = dspy.LM("nowhere/any-name")
    assert capabilities_of("nowhere/any-name").params == theirs.supported_params == set()
