"""A loopback server, and an environment in which every OpenAI model is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from loopback_server import CANARY, LoopbackServer

from adapters.formats.catalog import make
from adapters.lm import open as open_model
from adapters.running import runner
from adapters.running.runs import Run
from adapters.signatures.signature import InputField, OutputField, Signature

QUESTION = (
    Signature.make((), "Answer the question.")
    .append("question", InputField(), str)
    .append("answer", OutputField(), str)
)
ANSWER = "[[ ## answer ## ]]\nIt rains a lot.\n\n[[ ## completed ## ]]\n"

Send = Callable[..., Run]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer(ANSWER) as one:
        monkeypatch.setenv("OPENAI_API_BASE", one.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.setenv("ANTHROPIC_API_BASE", one.anthropic_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
        yield one


@pytest.fixture
def send(server: LoopbackServer) -> Send:
    """Sends the question to `openai/MODEL`; keyword arguments for the model start with `lm_`."""

    def send(model: str, **options: Any) -> Run:
        for_model = {name.removeprefix("lm_"): options.pop(name) for name in list(options) if name.startswith("lm_")}
        name = model if "/" in model else f"openai/{model}"
        lm = open_model(name, **for_model)
        return runner.run(make("chat"), lm, QUESTION, [], {"question": "Does it rain?"}, fallback=False, **options)

    return send
