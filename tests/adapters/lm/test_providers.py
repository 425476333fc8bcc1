"""Every provider people name, over its own protocol, from the variables that a user sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from provider_server import PROVIDERS, Provider, ProviderServer
from provider_wires import Reply

from adapters.formats.catalog import make
from adapters.lm import open as open_model
from adapters.running import runner
from adapters.running.runs import Run
from adapters.signatures.signature import InputField, OutputField, Signature

QUESTION = Signature.make((), "Answer.").append("question", InputField(), str).append("answer", OutputField(), str)
REPLY = Reply(("[[ ## answer ## ]]\n", "It rains ", "a lot.\n\n", "[[ ## completed ## ]]"))

QUICK = ("gemini", "responses", "pro")
"""Those that a change of ours, or of litellm's, is most likely to break; the others are among the slow tests."""

Ask = Callable[..., Run]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Sends the question to a provider that answers `reply` as `behaviour` says."""

    def ask(provider: Provider, reply: Reply = REPLY, behaviour: str = "stream", **options: Any) -> Run:
        with ProviderServer(provider, reply, behaviour) as server:
            for name, value in provider.environment(server.url).items():
                monkeypatch.setenv(name, value)
            lm = open_model(provider.model, timeout=20)
            return runner.run(make("chat"), lm, QUESTION, [], {"question": "Rain?"}, fallback=False, **options)

    return ask


def by_pace(*providers: Provider) -> pytest.MarkDecorator:
    marked = [
        pytest.param(one, id=one.name, marks=[] if one.name in QUICK else [pytest.mark.slow]) for one in providers
    ]
    return pytest.mark.parametrize("provider", marked)


every_provider = by_pace(*PROVIDERS)
every_stream = by_pace(*(one for one in PROVIDERS if one.streams))


@every_provider
def test_a_reply_arrives_and_is_read(ask: Ask, provider: Provider) -> None:
    run = ask(provider)
    assert run.error is None
    assert run.values == {"answer": "It rains a lot."}
    assert run.attempts[0].completions[0].finish_reason == "stop"


@every_stream
def test_a_stream_that_ends_in_the_middle_is_no_reply(ask: Ask, provider: Provider) -> None:
    run = ask(provider, behaviour="cut")
    assert run.error is not None
    assert "closed the connection before the reply was complete" in run.error.message
    assert run.attempts[0].completions[0].text.startswith("[[ ## answer ## ]]")
