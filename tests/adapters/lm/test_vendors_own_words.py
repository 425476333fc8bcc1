"""Sentences about failed calls, from what vendors document that they answer."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.lm.failure_kinds import stated_wait
from adapters.lm.provider_errors import Target, short_form, translate
from adapters.lm.secrets import Scrubber

KEYS = {"azure": "AZURE_API_KEY", "openai": "OPENAI_API_KEY", "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS"}


def sentence(provider: str, status: int, said: str, *types: str, **more: Any) -> str:
    facts = {"types": types or ("APIError",), "message": said, "status": status, "causes": [], **more}
    key = KEYS.get(provider)
    return translate(facts, Target(f"{provider}/m", keys=(key,) if key else ()), Scrubber({})).message


@pytest.mark.parametrize(
    ("provider", "status", "said", "line"),
    [
        (
            "xai",
            400,
            "The model is at capacity and currently cannot serve this request.",
            "xai is overloaded (400): The model is at capacity and currently cannot serve this request. Try again in a "
            "moment.",
        ),
        (
            "azure",
            403,
            "Out of call volume quota. Quota will be replenished in 12 days.",
            "azure: usage limit reached (403): Out of call volume quota. Quota will be replenished in 12 days.",
        ),
        (
            "openrouter",
            403,
            "Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys",
            "openrouter: usage limit reached (403): Key limit exceeded (total limit). Manage it using "
            "https://openrouter.ai/settings/keys",
        ),
        (
            "databricks",
            403,
            "PERMISSION_DENIED: The endpoint is disabled due to a rate limit set to 0.",
            "databricks: usage limit reached (403): PERMISSION_DENIED: The endpoint is disabled due to a rate limit "
            "set to 0.",
        ),
        (
            "litellm_proxy",
            429,
            "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
            "litellm_proxy: usage limit reached (429): Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
        ),
        (
            "gemini",
            429,
            "You exceeded your current quota. Quota exceeded for metric: requests, limit: 0, model: m. "
            "Please retry in 10h17m5.72s.",
            "gemini: usage limit reached (429): You exceeded your current quota. Quota exceeded for metric: requests, "
            "limit: 0, model: m. Please retry in 10h17m5.72s.",
        ),
        (
            "deepseek",
            400,
            "Content Exists Risk",
            "deepseek refused this prompt because of its content filter: Content Exists Risk",
        ),
        (
            "cohere_chat",
            498,
            "invalid token: the request contains a deny-listed token",
            "cohere_chat refused this prompt because of its content filter: invalid token: the request contains a "
            "deny-listed token",
        ),
        (
            "together_ai",
            403,
            "The number of input tokens plus max_tokens must be less than the context length of the model (8193).",
            "The prompt is too long for together_ai/m: The number of input tokens plus max_tokens must be less than "
            "the context length of the model (8193).",
        ),
        (
            "openai",
            403,
            "Project `proj_abc` does not have access to model `m`",
            "openai denies access with the API key in OPENAI_API_KEY (403): Project `proj_abc` does not have access to "
            "model `m`",
        ),
        (
            "openai",
            404,
            "The model `m` does not exist or you do not have access to it.",
            "openai does not know the model 'm' (404): The model `m` does not exist or you do not have access to it.",
        ),
        (
            "databricks",
            404,
            "Endpoint with name 'm' does not exist.",
            "databricks does not know the model 'm' (404): Endpoint with name 'm' does not exist.",
        ),
        (
            "openrouter",
            503,
            "There is no available model provider that meets your routing requirements",
            "openrouter rejected the request (503): There is no available model provider that meets your routing "
            "requirements",
        ),
        (
            "hosted_vllm",
            503,
            "Loading model",
            "hosted_vllm is unavailable (503): Loading model. Try again in a moment.",
        ),
        (
            "ollama_chat",
            503,
            "server busy, please try again.",
            "ollama_chat is overloaded (503): server busy, please try again. Try again in a moment.",
        ),
        (
            "groq",
            429,
            "Rate limit reached. Please try again in 9m38.016s.",
            "groq: rate limit reached (429): Rate limit reached. Please try again in 9m38.016s. Try again in 10 min.",
        ),
        (
            "azure",
            429,
            "Please retry after 26 seconds.",
            "azure: rate limit reached (429): Please retry after 26 seconds. Try again in 26 s.",
        ),
        (
            "openai",
            429,
            "Rate limit reached. Please try again in 1.1s.",
            "openai: rate limit reached (429): Rate limit reached. Please try again in 1.1s. Try again in 1.1 s.",
        ),
        (
            "gemini",
            429,
            "You exceeded your current quota. Please retry in 46.481733s.",
            "gemini: rate limit reached (429): You exceeded your current quota. Please retry in 46.481733s. "
            "Try again in 46.49 s.",
        ),
    ],
)
def test_a_sentence_names_the_cause_that_the_vendor_states(provider: str, status: int, said: str, line: str) -> None:
    assert sentence(provider, status, said) == line


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("Please try again in 6.78s. Visit", 6.78),
        ("Please try again in 120ms.", 0.12),
        ("Limit resets in 60 seconds.", 60),
        ("Quota will be replenished in 12 days", 12 * 86_400),
        ("try again in 1m47.5s", 107.5),
        ("Retry after 2 minutes", 120),
        ("Please retry after 500 milliseconds.", None),
        ("try again in 1 hour, 5 minutes and 2 sec, 7 left", 3902),
        ("Quota will be replenished in 2 months", None),
        ('"retryDelay": "34s"', 34),
        ("You will regain access on 2026-12-01", None),
        ("please try again in a moment", None),
        ("try again in 5 apples", None),
    ],
)
def test_a_wait_in_words_is_read(text: str, wait: float | None) -> None:
    assert stated_wait(text) == wait


@pytest.mark.parametrize(
    "said",
    [
        "litellm.APIConnectionError: 'content'",
        "litellm.APIError: LiteLLM: provider returned a response with no 'content'. Raw keys: ['status', 'result']",
        "litellm.APIError: Error converting to valid response block=content not found in completion_response. "
        "Got={'status': 'ok'}. File an issue if litellm error - https://github.com/BerriAI/litellm/issues",
    ],
)
def test_json_of_another_shape_is_told_without_litellms_words(said: str) -> None:
    told = sentence("anthropic", 500, said, accepted=True, content_type="application/json")
    assert told == 'anthropic did not answer with a chat completion (JSON without "content").'


def test_a_server_that_is_unavailable_is_not_called_overloaded_in_short() -> None:
    payload = {"kind": "overloaded", "status": 503, "message": "Loading model"}
    assert short_form(payload) == "503 · unavailable"
    assert short_form(payload | {"message": "The model is at capacity"}) == "503 · overloaded"
    assert short_form(payload | {"status": 529, "message": ""}) == "529 · overloaded"
    not_ready = payload | {"status": 429, "message": "The model is not ready for inference."}
    assert short_form(not_ready) == "429 · unavailable"


def test_a_token_that_google_does_not_give_is_told_of_its_own_server() -> None:
    said = "('invalid_grant: Invalid JWT Signature.', {'error': 'invalid_grant'})"
    refused = sentence(
        "vertex_ai",
        500,
        f"litellm.APIConnectionError: {said}",
        sent=False,
        causes=[{"type": "RefreshError", "message": said}],
    )
    assert refused == (
        "The server that gives vertex_ai a token for its credentials does not accept the credentials in "
        "GOOGLE_APPLICATION_CREDENTIALS: invalid_grant: Invalid JWT Signature."
    )
    aborted = "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"
    causes = [
        {"type": "TransportError", "message": aborted},
        {"type": "RemoteDisconnected", "message": "Remote end closed connection without response"},
    ]
    lost = sentence("vertex_ai", 500, f"litellm.APIConnectionError: {aborted}", sent=False, causes=causes)
    assert lost == (
        "The server that gives vertex_ai a token for its credentials cannot be reached (Remote end closed connection "
        "without response). Is this machine online?"
    )


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("http://127.0.0.1:9/v1", " If it speaks https, write https://127.0.0.1:9/v1."),
        ("https://example.com/v1", ""),
        (None, ""),
    ],
)
def test_https_is_suggested_only_for_an_address_without_it(address: str | None, hint: str) -> None:
    facts = {"types": ["APIError"], "message": "", "causes": [{"type": "ConnectionResetError", "message": ""}]}
    target = Target("openai/m", address)
    error = translate(facts | {"answered": False}, target, Scrubber({}))
    assert error.message == f"{target.place} closes every connection at once.{hint}"
