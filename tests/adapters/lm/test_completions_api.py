"""The older API of OpenAI that completes one text: named `text-completion-openai/…` by litellm, and never streamed."""

from __future__ import annotations

from typing import Any

import pytest
from provider_server import KEY, Provider, ProviderServer
from provider_wires import PROMPT_TOKENS, REPLY_TOKENS, Reply, Wire

from adapters.formats.catalog import make
from adapters.lm import open as open_model
from adapters.running import runner
from adapters.signatures.signature import InputField, OutputField, Signature

QUESTION = Signature.make((), "Answer.").append("question", InputField(), str).append("answer", OutputField(), str)
REPLY = Reply(("[[ ## answer ## ]]\n", "It rains.\n\n", "[[ ## completed ## ]]"))


def whole(reply: Reply) -> dict[str, Any]:
    """https://platform.openai.com/docs/api-reference/completions/object."""
    usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": REPLY_TOKENS}
    choice = {"index": 0, "text": reply.text, "finish_reason": "stop", "logprobs": None}
    return {"id": "c", "object": "text_completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "server_error", "code": None}}


COMPLETIONS = Provider(
    "completions",
    "text-completion-openai/gpt-3.5-turbo-instruct",
    Wire("text/event-stream", lambda reply: [], whole, error, b""),
    "/completions",
    "OPENAI_API_KEY",
    "OPENAI_API_BASE",
    "/v1",
    streams=False,
)


@pytest.mark.parametrize("behaviour", ["stream", "500"])
def test_one_text_is_asked_for_and_read_or_its_error_told(monkeypatch: pytest.MonkeyPatch, behaviour: str) -> None:
    with ProviderServer(COMPLETIONS, REPLY, behaviour) as server:
        for name, value in COMPLETIONS.environment(server.url).items():
            monkeypatch.setenv(name, value)
        run = runner.run(make("chat"), open_model(COMPLETIONS.model), QUESTION, [], {"question": "?"}, fallback=False)
    (asked, *_) = server.requests
    assert asked.path == "/v1/completions" and asked.headers["authorization"] == f"Bearer {KEY}"
    assert "Your input fields are" in str(asked.body["prompt"]) and not asked.body.get("stream")
    if behaviour == "stream":
        assert run.values == {"answer": "It rains."}
        assert run.attempts[0].completions[0].finish_reason == "stop"
    else:
        assert run.error is not None and "This is a 500." in run.error.message
