"""Facts of a failed call put into words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from adapters.lm.failure_kinds import kind_of, seconds
from adapters.lm.protocol import ErrorKind, ProviderError
from adapters.lm.provider_errors import SHORT, Target, missing_key, short_form, translate
from adapters.lm.secrets import Scrubber
from adapters.running.model_calls import WORTH_ANOTHER

OPENAI = Target("openai/gpt-4o", keys=("OPENAI_API_KEY",))


def facts(*types: str, message: str = "", causes: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "types": list(types),
        "message": message,
        "causes": [{"type": one, "message": ""} for one in causes],
        **more,
    }


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (facts("AuthenticationError", status=401), "key"),
        (facts("APIError", status=403), "key"),
        (facts("NotFoundError", status=404, body={"message": "The model `x` does not exist."}), "model"),
        (facts("NotFoundError", status=404, text="DeploymentNotFound"), "model"),
        (facts("NotFoundError", status=404, body={"detail": "Not Found"}), "address"),
        (facts("NotFoundError", status=404, text="<html>no such page in our models</html>"), "address"),
        (facts("APIError", status=402), "quota"),
        (facts("BadRequestError", status=400, body="Your credit balance is too low to access the API."), "quota"),
        (facts("RateLimitError", status=429, body="You exceeded your current quota."), "quota"),
        (
            facts("RateLimitError", status=429, body="You exceeded your current quota. Please retry in 7.2s."),
            "rate limit",
        ),
        (facts("InternalServerError", status=500, accepted=True, content_type="application/json"), "malformed"),
        (facts("APIError", message="Stream ended before a finish_reason was received"), "interrupted"),
        (facts("BadRequestError", message="LLM Provider NOT provided. Pass in the LLM provider"), "model"),
        # a proxy of litellm 1.108 without a database: a wrong key, a model that it does not have
        (facts("BadRequestError", status=400, message="Error code: 400 - No connected db."), "key"),
        (
            facts("BadRequestError", status=400, message="Invalid model name passed in model=mine."),
            "model",
        ),
        (facts("ContextWindowExceededError", status=400), "context"),
        (facts("BadRequestError", status=400, body={"code": "context_length_exceeded"}), "context"),
        (facts("ContentPolicyViolationError", status=400), "refused"),
        (facts("BadRequestError", status=400), "request"),
        (facts("RateLimitError", status=429), "rate limit"),
        (facts("RateLimitError", status=429, body={"code": "insufficient_quota"}), "quota"),
        (facts("APIError", status=529), "overloaded"),
        (facts("InternalServerError", status=500, message="Overloaded"), "overloaded"),
        (facts("InternalServerError", status=500), "server"),
        (facts("InternalServerError", status=500, causes=("APIConnectionError", "ConnectError")), "network"),
        (facts("InternalServerError", status=500, causes=("APIConnectionError", "ReadError")), "interrupted"),
        (facts("Timeout", status=408), "timeout"),
        (facts("MidStreamFallbackError", status=500, causes=("ReadTimeout",)), "timeout"),
        (facts("MidStreamFallbackError", status=500, causes=("JSONDecodeError",)), "malformed"),
        (facts("MidStreamFallbackError", status=500, causes=("RemoteProtocolError",)), "interrupted"),
        (facts("MidStreamFallbackError", status=500, causes=("APIError",)), "server"),
        (facts("InternalServerError", causes=("ReadError", "ConnectionResetError"), answered=False), "network"),
        (facts("InternalServerError", causes=("ReadError", "ConnectionResetError"), answered=True), "interrupted"),
        (facts("UnfinishedStreamError", anything=True, content_type="text/event-stream"), "interrupted"),
        (facts("UnfinishedStreamError", anything=False, content_type="text/html"), "malformed"),
        (facts("KeyError"), "server"),
        (facts("APIConnectionError", message="Cannot connect to host x:443 [Name or service not known]"), "network"),
    ],
)
def test_the_kind_of_a_failure(told: dict[str, Any], kind: str) -> None:
    assert kind_of(told) == kind


@pytest.mark.parametrize(
    "said",
    [
        "litellm.BadRequestError: Anthropic requires at least one non-system message. Either provide one, or set",
        "litellm.BadRequestError: Invalid Message bedrock requires at least one non-system message",
        "AnthropicException - messages: at least one message is required",
    ],
)
def test_a_prompt_without_a_user_message_is_refused_with_what_would_work(said: str) -> None:
    claude = Target("anthropic/claude-sonnet-4-5", "http://127.0.0.1:1", keys=("ANTHROPIC_API_KEY",))
    error = translate(facts("BadRequestError", message=said, status=400), claude, Scrubber({}))
    assert error.message == (
        "anthropic requires a user message; this prompt has only a system message. Choose another adapter for this "
        "model (Markdown writes a single system message), or another model."
    )
    assert said in str(error.payload)


def test_the_line_holds_the_providers_own_words_without_litellms() -> None:
    said = "litellm.BadRequestError: OpenAIException - Invalid value for 'n'."
    error = translate(facts("BadRequestError", message=said, status=400), OPENAI, Scrubber({}))
    assert error.message == "openai rejected the request (400): Invalid value for 'n'."


def test_json_inside_litellms_sentence_is_read() -> None:
    said = 'litellm.AuthenticationError: AnthropicException - b\'{"error": {"message": "No such key"}}\''
    error = translate(facts("AuthenticationError", message=said, status=401), OPENAI, Scrubber({}))
    assert error.message == "openai does not accept the API key in OPENAI_API_KEY (401): No such key"


def test_a_line_is_one_line_of_bearable_length_and_the_payload_has_it_all() -> None:
    said = "very\nlong\r\n" * 1000
    error = translate(facts("InternalServerError", message=said, status=500), OPENAI, Scrubber({}))
    assert "\n" not in error.message
    assert len(error.message) < 500
    assert error.payload["message"] == said


def test_keys_are_in_neither_line_nor_payload() -> None:
    scrubber = Scrubber({"OPENAI_API_KEY": "canary-123456"})
    told = facts("AuthenticationError", message="bad canary-123456", status=401, body={"echo": ["canary-123456"]})
    error = translate(told, OPENAI, scrubber)
    assert "canary" not in error.message + repr(error.payload)


def test_a_rate_limit_tells_when_to_try_again() -> None:
    told = facts("RateLimitError", message="Slow down", status=429, retry_after="12.5")
    error = translate(told, OPENAI, Scrubber({}))
    assert error.message == "openai: rate limit reached (429): Slow down. Try again in 12.5 s."
    assert error.retry_after == 12.5


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2026 07:28:00 GMT", "", None, "nan", "-1", "inf"])
def test_a_retry_after_that_is_no_number_of_seconds_is_unknown(value: Any) -> None:
    assert seconds(value) is None


def test_an_address_is_named_where_it_is_not_the_providers_own() -> None:
    target = Target("openai/x", "http://127.0.0.1:9/v1")
    error = translate(
        facts("InternalServerError", causes=("ConnectError", "ConnectionRefusedError")), target, Scrubber({})
    )
    assert error.message.startswith("The server at http://127.0.0.1:9/v1 cannot be reached (connection refused).")


def test_a_missing_key_names_its_variables() -> None:
    assert "needs an API key: set GEMINI_API_KEY or GOOGLE_API_KEY" in missing_key(Target("gemini/x")).message


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("claude-sonnet-5", "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
        ("gemini-2.5-pro", "GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("grok-4", "XAI_API_KEY"),
        ("gpt-4o", "OPENAI_API_KEY"),
        ("groq:llama-3.3-70b-versatile", "GROQ_API_KEY"),
    ],
)
def test_a_name_without_provider_needs_the_key_of_the_provider_that_dspy_asks(name: str, variables: str) -> None:
    said = f"{name} needs an API key: set {variables}, or choose an offline/… model."
    assert missing_key(Target(name)).message == said


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gtp-4o", "did you mean openai/gpt-4o?"),
        ("deepseek-chat", "did you mean deepseek/deepseek-chat?"),
        ("my-own-model", "write provider/model, such as openai/gpt-6-luna."),
        ("opnai/gpt-4o", "did you mean openai/gpt-4o?"),
        ("nope", "write provider/model, such as openai/gpt-6-luna."),
    ],
)
def test_of_a_name_whose_provider_nobody_knows_the_nearest_is_suggested(name: str, hint: str) -> None:
    told = facts("BadRequestError", message="LLM Provider NOT provided. Pass in the LLM provider")
    said = f"litellm knows no provider for the model {name!r}; {hint}"
    assert translate(told, Target(name), Scrubber({})).message == said


@pytest.mark.parametrize(
    ("told", "short"),
    [
        (facts("RateLimitError", status=429), "429 · rate limit"),
        (facts("AuthenticationError", status=401), "401 · API key rejected"),
        (
            facts("InternalServerError", status=500, causes=("ConnectError", "ConnectionRefusedError")),
            "connection refused",
        ),
        (facts("APIConnectionError", message="Cannot connect to host x:1 [Name or service not known]"), "unknown host"),
        (facts("Timeout", status=408), "timeout"),
        (facts("MidStreamFallbackError", status=500, causes=("APIError",)), "server failed"),
        (facts("BadRequestError", status=400, message="at least one message is required"), "400 · no user message"),
        (facts("UnicodeEncodeError", message="surrogates not allowed"), "unpaired surrogate"),
    ],
)
def test_a_failure_in_few_words(told: dict[str, Any], short: str) -> None:
    assert short_form(translate(told, OPENAI, Scrubber({})).payload) == short


def test_a_key_that_was_never_sent_is_not_called_refused() -> None:
    told = facts("AuthenticationError", status=401)
    for target in (Target("openai/m"), Target("openai/m", "http://x", key_withheld=True, keys=("OPENAI_API_KEY",))):
        assert short_form(translate(told, target, Scrubber({})).payload) == "401 · needs an API key"
    assert short_form(missing_key(Target("openai/m")).payload) == "needs an API key"


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_every_kind_has_few_words(kind: ErrorKind) -> None:
    assert short_form(ProviderError("a sentence", kind).payload).endswith(
        SHORT[kind] if kind != "key" else "needs an API key"
    )


@pytest.mark.parametrize("other", [None, [], "key", {}, {"kind": ["key"]}, {"kind": "else"}, {"deadline_seconds": 3}])
def test_what_no_provider_sent_has_no_few_words(other: Any) -> None:
    assert short_form(other) == ""


def test_a_failure_before_anything_was_sent_blames_no_server() -> None:
    said = "litellm.APIConnectionError: api_base not set. Set api_base for custom endpoints"
    error = translate(facts("APIConnectionError", message=said, status=500, sent=False), OPENAI, Scrubber({}))
    assert error.kind == "setup"
    assert error.message == (
        "openai/gpt-4o cannot be called, and nothing was sent: api_base not set. Set api_base for custom endpoints"
    )


def test_azure_without_an_address_is_told_how_to_give_one_here() -> None:
    said = "Must provide one of the `base_url` or `azure_endpoint` arguments"
    told = facts("APIConnectionError", message=said, status=500, sent=False)
    assert translate(told, Target("azure/d"), Scrubber({})).message == (
        "azure/d needs an address: set the parameter api_base, or AZURE_API_BASE. Nothing was sent."
    )


def test_a_package_that_litellm_misses_is_named_with_how_to_get_it() -> None:
    vertex = Target("vertex_ai/gemini-2.5-flash")
    told = facts("APIConnectionError", message="No module named 'google'", status=500, sent=False, missing="google")
    assert translate(told, vertex, Scrubber({})).message == (
        'vertex_ai needs a package that is not installed, google-auth: pip install "adapter-workbench[vertex]"'
    )
    other = facts("APIConnectionError", status=500, sent=False, missing="some_sdk.client")
    assert translate(other, OPENAI, Scrubber({})).message.endswith("not installed, some_sdk: pip install some_sdk")


def test_no_traceback_and_no_path_of_this_machine_is_in_the_line() -> None:
    said = (
        "litellm.APIConnectionError: it broke in /home/me/venv/lib/python3.11/site-packages/litellm/main.py\n"
        'Traceback (most recent call last):\n File "/home/me/venv/lib/python3.11/site-packages/litellm/main.py", line'
    )
    error = translate(facts("APIConnectionError", message=said, status=500), OPENAI, Scrubber({}))
    assert error.message == "openai failed (500): it broke in litellm/main.py"
    assert error.payload["message"] == said


@pytest.mark.parametrize("kind", ["address", "setup"])
def test_what_another_try_cannot_mend_is_not_tried_again(kind: ErrorKind) -> None:
    assert kind not in WORTH_ANOTHER


def test_the_wait_that_gemini_names_in_its_text_is_told() -> None:
    said = "You exceeded your current quota, please check your plan and billing details. Please retry in 7.25s."
    error = translate(facts("RateLimitError", status=429, body={"message": said}), Target("gemini/x"), Scrubber({}))
    assert error.kind == "rate limit" and error.retry_after == 7.25
    assert error.message.endswith("Try again in 7.25 s.")


def test_a_wrong_path_is_not_called_an_unknown_model() -> None:
    target = Target("openai/x", "http://127.0.0.1:9")
    error = translate(facts("NotFoundError", status=404, body={"message": "Not Found"}), target, Scrubber({}))
    assert error.message == (
        "The server at http://127.0.0.1:9 has nothing at this path (404): Not Found. Check the address. "
        "Servers of this kind usually listen at http://127.0.0.1:9/v1."
    )


@pytest.mark.parametrize("status", [401, 404, 429, 500, 502])
def test_a_web_page_is_called_one(status: int) -> None:
    told = facts("APIError", message="<!DOCTYPE html> Hi", status=status, text="<!doctype html><p>Hello</p>")
    error = translate(told, Target("openai/x", "http://127.0.0.1:9/v1"), Scrubber({}))
    assert "a web page (HTML)" in error.message and "<" not in error.message


def test_an_answer_that_litellm_cannot_read_has_no_invented_status() -> None:
    told = facts("APIError", message="no choices", status=500, accepted=True, content_type="application/json")
    error = translate(told, Target("openai/x", "http://127.0.0.1:9/v1"), Scrubber({}))
    assert error.message == "The server at http://127.0.0.1:9/v1 did not answer with a chat completion (no choices)."
    assert short_form(error.payload) == "malformed answer"


def test_what_litellm_does_not_support_is_no_servers_fault() -> None:
    said = (
        "litellm.UnsupportedParamsError: anthropic does not support parameters: ['n'], for model=claude-x. "
        "To drop these, set `litellm.drop_params=True` or for proxy:"
    )
    error = translate(
        facts("UnsupportedParamsError", message=said, status=400, sent=False),
        Target("anthropic/claude-x"),
        Scrubber({}),
    )
    assert error.kind == "request"
    assert (
        error.message == "Nothing was sent: litellm does not support 'n' for anthropic. Remove it from the parameters."
    )
    schema = facts("UnsupportedParamsError", message=said.replace("'n'", "'response_format'"), status=400, sent=False)
    message = translate(schema, Target("anthropic/claude-x"), Scrubber({})).message
    assert (
        "Remove it" not in message
        and "support 'response_format' for anthropic. To ask without a schema, give" in message
    )


@pytest.mark.parametrize(
    ("model", "hint"),
    [("opnai/gpt-6-luna", "did you mean openai/gpt-6-luna?"), ("our-own", "write provider/model, such as")],
)
def test_a_mistyped_provider_is_recognised(model: str, hint: str) -> None:
    said = "litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying to call."
    error = translate(facts("BadRequestError", message=said, status=400, sent=False), Target(model), Scrubber({}))
    assert hint in error.message


def test_a_rejected_schema_names_the_parameter_that_asks_without_it() -> None:
    facts = {"types": ["BadRequestError"], "status": 400, "message": "Invalid schema for response_format 'X'"}
    line = str(translate(facts, Target("openai/m"), Scrubber()))
    assert line.endswith('"capabilities": {"response_schema": false} (`send --apply capabilities`).')
    assert "'X'. To ask without a schema" in line
    json_only = str(translate(facts, Target("openai/m", asks=frozenset({"response_format"})), Scrubber()))
    assert '"capabilities": {"response_format": false}' in json_only and "without a response_format" in json_only
    other = str(translate({**facts, "message": "temperature is too high"}, Target("openai/m"), Scrubber()))
    assert "capabilities" not in other


@pytest.mark.parametrize(
    ("said", "rejected"),
    [
        ("This response_format type is unavailable now", "response_schema"),
        ("Unknown name 'x' at 'generation_config.response_schema': Cannot find field.", "response_schema"),
        ("output_config.format: Extra inputs are not permitted", "response_schema"),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "function_calling"),
        ("registry.ollama.ai/library/gemma:2b does not support tools", "function_calling"),
        ("Invalid schema for function 'search': array schema missing items", "function_calling"),
        ("Unsupported parameter: 'temperature' is not supported with this model.", ""),
    ],
)
def test_the_part_of_a_request_that_a_server_rejects_is_named(said: str, rejected: str) -> None:
    told = facts("BadRequestError", status=400, body={"error": {"message": said}})
    error = translate(told, OPENAI, Scrubber({}))
    assert error.payload.get("rejected", "") == rejected
    assert (f'"capabilities": {{"{rejected}": false}}' in error.message) is bool(rejected)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"message": "Error code: 404 - {'detail': 'Not Found'}", "body": {"detail": "Not Found"}}, "Not Found"),
        ({"message": "Error code: 400 - {'a': None, 'message': 'No'}"}, "No"),
        ({"message": """AnthropicException - b'{"detail": "It\\'s \\\\"gone\\\\""}'"""}, 'It\'s "gone"'),
        ({"message": 'MistralException - {"message": {"detail": [{"msg": "Extra inputs"}]}}'}, "Extra inputs"),
        ({"message": "Error code: 400"}, ""),
        ({"message": "x {'a': " + "[" * 5000}, None),
    ],
)
def test_the_message_is_found_wherever_a_vendor_writes_it(given: dict[str, Any], said: str | None) -> None:
    line = translate(facts("BadRequestError", status=400, **given), OPENAI, Scrubber({})).message
    if said is not None:
        assert line == f"openai rejected the request (400){f': {said}' if said else '.'}"


def test_a_403_does_not_call_the_key_invalid() -> None:
    told = facts("PermissionDeniedError", status=403, message="Country, region, or territory not supported")
    error = translate(told, OPENAI, Scrubber({}))
    assert error.message.startswith("openai denies access with the API key in OPENAI_API_KEY (403): Country")
    assert short_form(error.payload) == "403 · access denied"


OPENROUTER = Target("openrouter/x/y", keys=("OPENROUTER_API_KEY",))


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        # OpenAI, Groq, Anthropic
        (429, "Request too large for gpt-4o: Limit 30000, Requested 45000.", "context"),
        (413, "Request exceeds the maximum size", "context"),
        (400, "You have reached your specified API usage limits.", "quota"),
        (400, "The model `x` has been decommissioned and is no longer supported.", "model"),
        (498, "Flex tier capacity exceeded", "overloaded"),
        # OpenRouter
        (404, "No endpoints found that support tool use.", "request"),
        (404, "No endpoints found matching your data policy.", "request"),
        (404, "No endpoints found for x/y.", "model"),
        (400, "x/y is not a valid model ID", "model"),
        (403, "Your chosen model requires moderation and your input was flagged", "refused"),
        # Bedrock
        (400, "The provided model identifier is invalid.", "model"),
        (400, "Too many tokens per day, please wait before trying again.", "rate limit"),
        (429, "The model is not ready for inference.", "overloaded"),
        # xAI, DeepSeek, Mistral, Fireworks
        (400, "Incorrect API key provided: ca***ef.", "key"),
        (403, "Your newly created team doesn't have any credits yet.", "quota"),
        (429, "Your team has either used all available credits or reached its monthly spending limit.", "quota"),
        (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", "context"),
        (400, "Model Not Exist", "model"),
        (400, "Invalid model: mistral-9", "model"),
        (412, "Account x is suspended, possibly due to reaching the monthly spending limit", "quota"),
        (403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_X", "refused"),
        # no credit, in the words of OpenAI, Gemini, Vertex, Azure, Bedrock, Groq and xAI
        (429, "Your account is not active: billing_not_active", "quota"),
        (429, "Your prepayment credits are depleted.", "quota"),
        (403, "This API method requires billing to be enabled.", "quota"),
        (403, "The subscription is disabled.", "quota"),
        (403, "Model access is denied due to INVALID_PAYMENT_INSTRUMENT", "quota"),
        (400, "your organization has reached its spend limit", "quota"),
        (403, "Your newly created team doesn't have any credits or licenses yet.", "quota"),
        # too long, in the words of Together, Hugging Face and LM Studio; a body that is too large
        (403, "The input token count + max_tokens exceeds the model's context length.", "context"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096.", "context"),
        (400, "The number of tokens to keep is greater than the context length.", "context"),
        (413, "<html>413 Request Entity Too Large</html>", "context"),
        # servers that failed behind the one that was called
        (424, "The system encountered an unexpected error during processing.", "server"),
        (504, "Deadline expired before operation could complete.", "timeout"),
        (408, "The operation was timeout.", "timeout"),
        # Hugging Face; LM Studio, whose status is 200
        (400, "model_not_supported", "model"),
        (None, "Unexpected endpoint or method. (POST /chat/completions)", "address"),
    ],
)
def test_the_cause_is_the_one_that_the_vendor_writes_whatever_its_status(
    status: int | None, said: str, kind: str
) -> None:
    assert kind_of(facts("APIError", status=status, body={"error": {"message": said}})) == kind


HERE = Target("openai/x", "http://h/v1", keys=("OPENAI_API_KEY",))
AT = "The server at http://h/v1"


@pytest.mark.parametrize(
    ("told", "target", "line", "short"),
    [
        (
            facts(status=413, text="<html>"),
            HERE,
            f"{AT} rejected the request as too large (413): a web page (HTML), not",
            "413 · request too large",
        ),
        (facts(status=504, message="Late", answered=True), HERE, f"{AT} timed out (504): Late", "timeout"),
        (facts("Timeout", status=408, answered=True, accepted=True), HERE, f"{AT} did not respond in time.", "timeout"),
        (
            facts(status=402, message="Weekly usage limit"),
            HERE,
            f"{AT}: usage limit reached (402): Weekly",
            "402 · usage limit reached",
        ),
        (
            facts(status=402, message="Credit limit exceeded"),
            HERE,
            f"{AT}: no credit left (402)",
            "402 · no credit left",
        ),
        (
            facts(status=429, message="Slow"),
            HERE,
            f"{AT}: rate limit reached (429): Slow. Try again later.",
            "429 · rate limit",
        ),
        (
            facts(status=403),
            Target("ollama_chat/x", "http://h/v1"),
            f"{AT} denies access (403). No API key was sent; if it needs one, set OLLAMA_API_KEY.",
            "403 · access denied",
        ),
        (
            facts(status=403, message="Use an API key."),
            Target("gemini/x"),
            "gemini needs an API key (403): Use an API key. Set GEMINI_API_KEY",
            "403 · needs an API key",
        ),
        (
            facts(status=403, message="Missing Authentication Token"),
            Target("bedrock/x"),
            "bedrock needs credentials (403)",
            "403 · needs an API key",
        ),
        (
            facts(status=401),
            Target("vertex_ai/x", keys=("GOOGLE_APPLICATION_CREDENTIALS",)),
            "vertex_ai does not accept the credentials in GOOGLE_APPLICATION_CREDENTIALS (401).",
            "401 · API key rejected",
        ),
        (
            facts("NotFoundError", status=404, message="litellm.NotFoundError: XaiException - "),
            HERE,
            f"{AT} has nothing at this path (404). Check the address.",
            "wrong address",
        ),
        (
            facts("APIError", accepted=True, empty=True, content_type="text/plain"),
            HERE,
            f"{AT} did not answer with a chat completion (an empty response).",
            "malformed answer",
        ),
        (
            facts(
                "APIError", message="File an issue", causes=("JSONDecodeError",), accepted=True, content_type="text/x"
            ),
            HERE,
            f"{AT} did not answer with a chat completion (a response that is not JSON).",
            "malformed answer",
        ),
        (
            facts(
                "APIError",
                message="openai closed the responses stream before any terminal event",
                accepted=True,
                content_type="text/html",
            ),
            HERE,
            f"{AT} did not answer with a chat completion (a web page, HTML).",
            "malformed answer",
        ),
        (
            facts("ReadError", causes=("ClientPayloadError",), accepted=True, content_type="text/event-stream"),
            HERE,
            f"{AT} closed the connection before the reply was complete.",
            "connection lost",
        ),
        (
            facts("APIConnectionError", causes=("gaierror",)),
            OPENAI,
            "openai cannot be reached (its name cannot be resolved). Is this machine online?",
            "unknown host",
        ),
        (
            facts(
                "APIError",
                status=502,
                body={"message": "Provider returned error", "metadata": {"raw": '{"error": {"message": "Too big"}}'}},
            ),
            HERE,
            f"{AT} failed (502): Provider returned error: Too big",
            "502 · server failed",
        ),
        (
            facts("APIError", status=500, message="Message: It fell, Metadata: {}, User ID: "),
            HERE,
            f"{AT} failed (500): It fell",
            "500 · server failed",
        ),
    ],
)
def test_a_line_says_the_cause_and_what_helps_here(told: dict[str, Any], target: Target, line: str, short: str) -> None:
    error = translate({"sent": True, **told}, target, Scrubber({}))
    assert error.message.startswith(line)
    assert short_form(error.payload) == short


def test_no_part_is_blamed_that_was_not_sent() -> None:
    told = facts("BadRequestError", status=400, message="Tool choice is none, but model called a tool")
    assert "function_calling" in translate(told, HERE, Scrubber({})).message
    assert "function_calling" not in translate(told, replace(HERE, asks=frozenset()), Scrubber({})).message


def test_a_tool_that_no_endpoint_takes_is_fixed_here_and_no_address_is_blamed() -> None:
    told = facts("NotFoundError", status=404, body={"message": "No endpoints found that support tool use."})
    error = translate(told, OPENROUTER, Scrubber({}))
    assert "Check the address" not in error.message and "`send --apply capabilities`" in error.message
    assert error.payload["rejected"] == "function_calling"


def test_the_words_of_the_provider_behind_openrouter_are_shown() -> None:
    body = {"message": "Provider returned error", "metadata": {"raw": "x/y is rate-limited upstream.", "n": 1}}
    error = translate(facts("RateLimitError", status=429, body=body), OPENROUTER, Scrubber({}))
    assert "Provider returned error: x/y is rate-limited upstream." in error.message


@pytest.mark.parametrize(
    ("place", "said"),
    [(["body", "seed"], "seed: Wrong"), (["body", "n", 0], "n.0: Wrong"), (["body"], "body: Wrong"), ([], "Wrong")],
)
def test_the_place_of_a_rejected_parameter_is_told(place: list[Any], said: str) -> None:
    body = {"message": {"detail": [{"loc": place, "msg": "Wrong"}]}}
    error = translate(facts("APIError", status=422, body=body), OPENROUTER, Scrubber({}))
    assert error.message.endswith(f"(422): {said}")


def test_credentials_that_are_there_are_not_called_missing() -> None:
    vertex = Target("vertex_ai/gemini-3.8-flash")
    denied = translate(
        facts("PermissionDeniedError", status=403, body={"message": "denied on p"}), vertex, Scrubber({})
    )
    assert denied.message == "vertex_ai denies access with your credentials (403): denied on p"
    assert short_form(denied.payload) == "403 · access denied"


@pytest.mark.parametrize(("model", "hint"), [("hosted_vllm/x", True), ("anthropic/x", False), ("ollama_chat/x", False)])
def test_v1_is_suggested_to_servers_that_have_it_alone(model: str, hint: bool) -> None:
    target = Target(model, address="http://127.0.0.1:8000")
    error = translate(facts("NotFoundError", status=404, body={"message": "Not Found"}), target, Scrubber({}))
    assert ("/v1" in error.message) == hint
