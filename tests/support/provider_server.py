"""A server on 127.0.0.1 that is any of the providers people name, and what a user sets so that it is called.

What it answers is `behaviour`:

- `stream`: as asked for, streamed or whole
- `whole`: the whole reply in one piece of JSON, though a stream was asked for
- `no-streams`: an error where a stream was asked for
- `cut`: half of the stream, whose body then ends properly
- `fault`: half of the stream, then the provider's own event of an error
- a number: that HTTP status, with the provider's own body
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback_server import QuietServer
from provider_wires import (
    ANTHROPIC,
    BEDROCK,
    COHERE,
    GEMINI,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    RESPONSES,
    Reply,
    Wire,
)

from adapters.lm.lm_settings import ModelType

KEY = "canary-key-0123456789abcdef"
"""The key of every provider."""


@dataclass(frozen=True)
class Provider:
    """`path` is how the address of the call ends; `base` is the variable with the server's address, and `under` what
    follows its port; `more` are other variables that the provider needs. `streams`: whether litellm asks for a stream.
    `has_account`: its key is a token that the server gives for a service account of Google's (`google-auth`).
    """

    name: str
    model: str
    wire: Wire
    path: str
    key: str
    base: str
    under: str = ""
    streams: bool = True
    more: Mapping[str, str] = field(default_factory=dict)
    has_account: bool = False
    model_type: ModelType = "chat"

    def environment(self, url: str) -> dict[str, str]:
        """The variables that a user of this provider sets, with `url` in the place of its own address."""
        keys = {self.key: KEY} if self.key else {}
        account = {"VERTEXAI_CREDENTIALS": json.dumps(service_account(url))} if self.has_account else {}
        return {**keys, **account, self.base: url + self.under, **self.more}


@lru_cache(maxsize=1)
def _private_key() -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


def service_account(url: str) -> dict[str, str]:
    """The key file of a service account whose tokens the server at `url` gives."""
    return {
        "type": "service_account",
        "project_id": "our-project",
        "private_key_id": "1",
        "private_key": _private_key(),
        "client_email": "workbench@our-project.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": url + TOKENS,
    }


TOKENS = "/token"
CHAT = "/chat/completions"

PROVIDERS = (
    Provider("openai", "openai/gpt-6-luna", OPENAI, CHAT, "OPENAI_API_KEY", "OPENAI_API_BASE", "/v1"),
    Provider("responses", "openai/gpt-5-codex", RESPONSES, "/responses", "OPENAI_API_KEY", "OPENAI_API_BASE", "/v1"),
    Provider("pro", "openai/gpt-5-pro", RESPONSES, "/responses", "OPENAI_API_KEY", "OPENAI_API_BASE", "/v1", False),
    Provider(
        "azure",
        "azure/my-deployment",
        OPENAI,
        "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21",
        "AZURE_API_KEY",
        "AZURE_API_BASE",
        more={"AZURE_API_VERSION": "2024-10-21"},
    ),
    Provider(
        "anthropic",
        "anthropic/claude-sonnet-5-5",
        ANTHROPIC,
        "/v1/messages",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_API_BASE",
    ),
    Provider(
        "gemini",
        "gemini/gemini-3.8-flash",
        GEMINI,
        ":streamGenerateContent?alt=sse",
        "GEMINI_API_KEY",
        "GEMINI_API_BASE",
        "/v1beta",
    ),
    Provider(
        "vertex",
        "vertex_ai/gemini-3.8-flash",
        GEMINI,
        ":streamGenerateContent?alt=sse",
        "",
        "VERTEX_AI_API_BASE",
        more={"VERTEXAI_PROJECT": "our-project", "VERTEXAI_LOCATION": "us-central1"},
        has_account=True,
    ),
    Provider(
        "bedrock",
        "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0",
        BEDROCK,
        "/converse-stream",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_BEDROCK_RUNTIME_ENDPOINT",
        more={"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_REGION_NAME": "us-east-1"},
    ),
    Provider("ollama", "ollama_chat/llama3.2", OLLAMA, "/api/chat", "", "OLLAMA_API_BASE"),
    Provider("vllm", "hosted_vllm/meta-llama/Llama-3.1-8B-Instruct", OPENAI, CHAT, "", "HOSTED_VLLM_API_BASE", "/v1"),
    Provider(
        "openrouter",
        "openrouter/meta-llama/llama-3.3-70b-instruct",
        OPENROUTER,
        CHAT,
        "OPENROUTER_API_KEY",
        "OPENROUTER_API_BASE",
        "/api/v1",
    ),
    Provider("mistral", "mistral/mistral-small-latest", OPENAI, CHAT, "MISTRAL_API_KEY", "MISTRAL_API_BASE", "/v1"),
    Provider("groq", "groq/llama-3.3-70b-versatile", OPENAI, CHAT, "GROQ_API_KEY", "GROQ_API_BASE", "/openai/v1"),
    Provider("deepseek", "deepseek/deepseek-chat", OPENAI, CHAT, "DEEPSEEK_API_KEY", "DEEPSEEK_API_BASE"),
    Provider("xai", "xai/grok-4", OPENAI, CHAT, "XAI_API_KEY", "XAI_API_BASE", "/v1"),
    Provider(
        "cohere",
        "cohere_chat/command-r-plus",
        COHERE,
        "/v2/chat",
        "COHERE_API_KEY",
        "COHERE_API_BASE",
        "/v2/chat",
        False,
    ),
)

BY_NAME = {one.name: one for one in PROVIDERS}

AS_RESPONSES = Provider(
    "asked as responses",
    "openai/gpt-6-sol",
    RESPONSES,
    "/responses",
    "OPENAI_API_KEY",
    "OPENAI_API_BASE",
    "/v1",
    model_type="responses",
)
"""A model that answers chats too, asked over the Responses API because the user says so."""


@dataclass(frozen=True)
class Seen:
    """One request as the server saw it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    raw: bytes = b""


class ProviderServer:
    """Use as a context manager. It is `provider`, and says `reply`."""

    def __init__(self, provider: Provider, reply: Reply, behaviour: str = "stream") -> None:
        self.provider = provider
        self.reply = reply
        self.behaviour = behaviour
        self.requests: list[Seen] = []
        self._http = QuietServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"


def _handler(server: ProviderServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            if self.path == TOKENS:
                self.rfile.read(int(self.headers.get("content-length", "0")))
                self._json(200, {"access_token": KEY, "expires_in": 3600, "token_type": "Bearer"})
                return
            raw = self.rfile.read(int(self.headers.get("content-length", "0")))
            body = json.loads(raw or b"{}")
            server.requests.append(Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, body, raw))
            wire, behaviour = server.provider.wire, server.behaviour
            try:
                if behaviour.isdecimal():
                    status = int(behaviour)
                    what = " There is no such model." if status == 404 else ""
                    self._json(status, wire.error(status, f"This is a {status}.{what}"))
                elif behaviour == "no-streams" and self._is_stream(body):
                    self._json(400, wire.error(400, "Streaming is not supported."))
                elif behaviour == "whole" or not self._is_stream(body):
                    self._json(200, wire.whole(server.reply))
                else:
                    frames = wire.frames(server.reply)
                    half = frames[: max(2, len(frames) // 2)]
                    self._stream({"cut": half, "fault": [*half, wire.fault]}.get(behaviour, frames))
            except ConnectionError:
                self.close_connection = True

        def _is_stream(self, body: Mapping[str, Any]) -> bool:
            return "stream" in self.path.lower() or bool(body.get("stream"))

        def _stream(self, frames: list[bytes]) -> None:
            self.send_response(200)
            self.send_header("content-type", server.provider.wire.content_type)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for frame in [*frames, b""]:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
                self.wfile.flush()

        def _json(self, status: int, value: Mapping[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
