"""A server on 127.0.0.1 that speaks TLS, with a certificate that nobody has signed but itself."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Made for these tests alone, for 127.0.0.1, and good for nothing else.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUXFQuQkhYwT75YiI37kPm18zEfWMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjA4MTEwNFoYDzIxMjYxMDI5
MDgxMTA0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATV1AtAYfSRcuasM5MVrF5bbEJbad2+qZfZ3akwACzpln/06oiNxcx5
9poBi8v+OTKMnGlEjBKCAf5Td7Jzkhzdo28wbTAdBgNVHQ4EFgQUD0Xy91/E2LuU
meR/Piji3ZcVrZYwHwYDVR0jBBgwFoAUD0Xy91/E2LuUmeR/Piji3ZcVrZYwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDSAAwRQIhANsUmupAnE2/vGgE+e07mdUjoqzqWuYMx4NiYrVX246yAiAK
xkxOONUUU8sAdPFv33uC4FKIB9YGbgvRIHQdku1nkg==
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMAbyjsOgPnfie56P
HoaAvDusx68ImbJnjFPOGpghIIihRANCAATV1AtAYfSRcuasM5MVrF5bbEJbad2+
qZfZ3akwACzpln/06oiNxcx59poBi8v+OTKMnGlEjBKCAf5Td7Jzkhzd
-----END PRIVATE KEY-----
"""


class _Server(ThreadingHTTPServer):
    """A client that breaks off its handshake is what the tests are about, and no news."""

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def tls_server(folder: Path) -> Iterator[int]:
    """The port of the server; `folder` gets the files with its certificate and key."""
    (folder / "certificate.pem").write_text(CERTIFICATE)
    (folder / "key.pem").write_text(KEY)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    server = _Server(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
