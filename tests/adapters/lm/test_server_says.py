"""What a server of one's own says its models can do; one that says nothing, or nonsense, is taken at no word."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from loopback_server import refused_port

from adapters.lm.servers import Says, Server, asked

Answers = Mapping[str, Any]
Serve = Callable[[Answers], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Answers each path with JSON (or bytes as they are), any other with 404; `seen` keeps what was asked."""
    running: list[ThreadingHTTPServer] = []

    def start(answers: Answers) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = answers.get(self.path)
                data = found if isinstance(found, bytes) else json.dumps(found).encode()
                self.send_response(404 if found is None else 200)
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                assert "authorization" not in self.headers
                self.path = f"{self.path} {body['model']}"
                self.do_GET()

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for one in running:
        one.shutdown()
        one.server_close()


def test_ollama_says_it_of_each_model(serve: Serve) -> None:
    url = serve(
        {
            "/api/show qwen3": {"capabilities": ["completion", "tools", "thinking"]},
            "/api/show tiny": {"capabilities": ["completion"]},
        }
    )
    server = Server("ollama_chat", "Ollama", url, "environment")
    assert asked(server, "ollama_chat/qwen3") == Says(True, True, True, "Ollama's /api/show")
    tiny = asked(server, "ollama_chat/tiny")
    assert tiny is not None and tiny.words() == "it says: no tools, no thinking, JSON schema"
    assert asked(server, "ollama_chat/other") is None


@pytest.mark.parametrize("base", ["", "/v1", "/v1/"])
def test_llama_cpp_says_it_of_the_one_that_it_serves(base: str, serve: Serve) -> None:
    url = serve({"/props": {"chat_template_caps": {"supports_tool_calls": False}}})
    said = asked(Server("hosted_vllm", "vLLM", url + base, "config"), "hosted_vllm/any")
    assert said is not None and said.words() == "it says: no tools, JSON schema"


def test_lm_studio_says_it_of_each_model(serve: Serve) -> None:
    url = serve({"/api/v0/models/qwen%2Fqwen3": {"object": "model", "capabilities": ["tool_use"]}})
    said = asked(Server("lm_studio", "LM Studio", f"{url}/v1", "usual"), "lm_studio/qwen/qwen3")
    assert said == Says(True, None, True, "LM Studio's /api/v0/models")


@pytest.mark.parametrize(
    "answer", [{}, [], "text", {"capabilities": "tools"}, {"chat_template_caps": 3}, b"<html>", b"[" * 100_000, b"\xff"]
)
@pytest.mark.parametrize(
    "provider", ["ollama_chat", *(pytest.param(one, marks=pytest.mark.slow) for one in ("hosted_vllm", "lm_studio"))]
)
def test_an_answer_that_is_none_is_nothing_said(provider: str, answer: Any, serve: Serve) -> None:
    url = serve(dict.fromkeys(("/props", "/api/show m", "/api/v0/models/m"), answer))
    assert asked(Server(provider, "x", url, "config"), f"{provider}/m") is None


def test_a_server_that_does_not_answer_says_nothing() -> None:
    nobody = Server("ollama_chat", "Ollama", f"http://127.0.0.1:{refused_port()}", "config")
    assert asked(nobody, "ollama_chat/m") is None
