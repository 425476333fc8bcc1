"""What keeps a request from reaching a server is told as what it is: the address, the key, or the connection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from loopback_server import LoopbackServer
from self_signed import tls_server

from adapters.lm import ProviderError
from adapters.lm.addresses import check_address, check_keys, without_user
from adapters.running.runs import Run

Send = Callable[..., Run]

ADDRESSES = {
    "127.0.0.1:8000/v1": "it begins with neither http:// nor https://. Write it as http://127.0.0.1:8000/v1.",
    "localhost": "it begins with neither http:// nor https://. Write it as http://localhost.",
    "ftp://host/v1": "it begins with neither http:// nor https://. Write it as http://localhost:8000/v1.",
    "http://host:99999/v1": "its port is not a number from 1 to 65535. Write it as http://localhost:8000/v1.",
    "http://host:abc/v1": "its port is not a number from 1 to 65535. Write it as http://localhost:8000/v1.",
    "http://host:0/v1": "its port is not a number from 1 to 65535. Write it as http://localhost:8000/v1.",
    "http:///v1": "it names no host. Write it as http://localhost:8000/v1.",
    "http://host /v1": "there is a space or a line break in it. Write it as http://localhost:8000/v1.",
    "http://me:secret@host/v1": "it contains a user name or a password, which is not allowed. Write it as "
    "http://host/v1.",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_cannot_be_called_is_told_with_one_that_can(address: str) -> None:
    with pytest.raises(ProviderError) as caught:
        check_address(address, "openai")
    assert caught.value.kind == "address"
    assert caught.value.message.endswith(f"cannot be called: {ADDRESSES[address]}")
    assert "secret" not in caught.value.message + repr(caught.value.payload)


@pytest.mark.parametrize("address", ["http://localhost:8000/v1", "https://gpu.local", "http://[::1]:9/v1"])
def test_an_address_that_can_be_called_is_none_of_our_business(address: str) -> None:
    check_address(address, "openai")
    assert without_user(address) == address


@pytest.mark.parametrize(
    ("key", "contains"),
    [
        ("sk-0123456789\n", "a line break or a space"),
        (" sk-0123456789", "a line break or a space"),
        ("sk-0123\r\nX-Evil: 1", "a line break or a space"),
        ("sk-\x1b[31m", "a control character"),
        ("sk-canäry", "letters beyond ASCII"),
    ],
)
def test_a_key_that_no_request_can_carry_is_told_by_its_variable(key: str, contains: str) -> None:
    with pytest.raises(ProviderError) as caught:
        check_keys(("OPENAI_API_KEY",), {"OPENAI_API_KEY": key})
    assert (caught.value.kind, caught.value.payload["variable"]) == ("key", "OPENAI_API_KEY")
    assert key not in caught.value.message and "OPENAI_API_KEY" in caught.value.message
    assert f" contains {contains} and " in caught.value.message


def error_of(run: Run) -> str:
    assert run.error is not None
    assert run.error.payload["kind"] == "address" or run.error.payload["kind"] == "network"
    return run.error.message


@pytest.mark.parametrize("model", ["openai/any-name", "anthropic/any-name"])
def test_a_connection_that_fails_over_tls_is_told_as_that(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: str
) -> None:
    variable = "OPENAI_API_BASE" if model.startswith("openai") else "ANTHROPIC_API_BASE"
    with tls_server(tmp_path) as port:
        monkeypatch.setenv(variable, f"https://127.0.0.1:{port}")
        said = error_of(send(model))
        assert "shows a certificate that is not trusted here (self-signed certificate)" in said
        assert "SSL_CERT_FILE" in said
        monkeypatch.setenv(variable, f"http://127.0.0.1:{port}")
        assert f"If it speaks https, write https://127.0.0.1:{port}." in error_of(send(model))
    monkeypatch.setenv(variable, f"https://127.0.0.1:{server.port}")
    assert error_of(send(model)).endswith(f"does not speak https: write http://127.0.0.1:{server.port}.")


@contextmanager
def redirecting(place: Callable[[str], str]) -> Iterator[str]:
    """The address of a server that sends each request on to `place` of its path."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(307)
            self.send_header("location", place(self.path))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("model", ["openai/any-name", "anthropic/any-name"])
def test_neither_prompt_nor_key_follow_a_redirect_to_another_host(
    send: Send, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    variable = "OPENAI_API_BASE" if model.startswith("openai") else "ANTHROPIC_API_BASE"
    with redirecting(lambda path: f"http://127.0.0.1:{server.port}{path}") as address:
        monkeypatch.setenv(variable, address)
        said = error_of(send(model))
    assert (
        f"got neither prompt nor key. If you trust that host, give its address: http://127.0.0.1:{server.port}." in said
    )
    assert server.requests == []


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_a_redirect_to_what_is_no_server_is_not_called_an_address(
    send: Send, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    with redirecting(lambda path: place) as address:
        monkeypatch.setenv("OPENAI_API_BASE", address)
        said = error_of(send("openai/any-name"))
    assert "give its address" not in said
    assert "Nothing was sent there." in said
