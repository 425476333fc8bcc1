"""Check addresses, API keys and headers before a request is sent, and explain TLS failures."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

from adapters.lm.protocol import ProviderError

EXAMPLE = "http://localhost:8000/v1"

CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
"""OpenSSL's errors for a response that is not TLS."""


def check_address(address: str, provider: str) -> None:
    """Raise ProviderError for an invalid address."""
    said = why_no_address(address)
    if said:
        raise ProviderError(
            f"The address of {provider}, {without_user(address)}, cannot be called: {said}. Write it as "
            f"{_example(address)}.",
            "address",
            payload={"address": without_user(address)},
        )


def check_keys(names: tuple[str, ...], environment: Mapping[str, str] | None = None) -> None:
    """Raise ProviderError for an API key with line breaks, outer spaces or non-ASCII characters; it cannot be sent."""
    env = os.environ if environment is None else environment
    for name in names:
        key = env.get(name, "")
        if not (key.isascii() and key.isprintable()) or key != key.strip():
            what = "a letter" if not key.isascii() else "a line break or a space"
            raise ProviderError(
                f"The key in {name} holds {what} that no key has, so it cannot be sent. Set it again without.",
                "key",
                payload={"variable": name},
            )


def check_headers(variables: Mapping[str, str], allowed: Collection[str], place: str) -> None:
    """Raise ProviderError for a header whose variable is not allowed, not set, or not valid in a header.

    `variables` maps headers to variables; `place` is the recipient.
    """
    for header, variable in variables.items():
        value = os.environ.get(variable, "")
        if variable not in allowed:
            said = (
                f"The session wants to send the value of {variable} to {place}, as the header {header}, which nobody "
                "has allowed (`--allow-variable`)."
            )
        elif not value:
            said = f"The variable {variable}, whose value the header {header} is to have, is not set."
        elif not (value.isascii() and value.isprintable()) or value != value.strip():
            said = f"The value of {variable} holds what no header can carry: a line break, a space, or no plain letter."
        else:
            continue
        raise ProviderError(said, "key", payload={"variable": variable, "header": header})


def without_user(address: str) -> str:
    """Return the address without user name and password.

    >>> without_user("http://me:secret@host/v1")
    'http://host/v1'
    """
    scheme, separator, rest = address.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def tls_trouble(causes: list[Mapping[str, Any]]) -> str:
    """Return the TLS problem of a failed connection: `certificate`, `no tls`, or ""."""
    said = " ".join(str(one.get("message", "")) for one in causes)
    if CERTIFICATE in said:
        return "certificate"
    return "no tls" if any(one in said for one in NO_TLS) else ""


def tls_line(trouble: str, place: str, address: str | None, causes: list[Mapping[str, Any]]) -> str:
    """Explain `trouble`, a result of `tls_trouble`, in one line."""
    if trouble == "certificate":
        said = next((str(one["message"]) for one in reversed(causes) if CERTIFICATE in str(one.get("message"))), "")
        reason = said.partition("certificate verify failed: ")[2].partition(" (_ssl")[0] or "it cannot be verified"
        return (
            f"{place} shows a certificate that is not trusted here ({reason}). Name the file of the authority that "
            "signed it in SSL_CERT_FILE."
        )
    plain = (address or "").replace("https://", "http://", 1)
    return f"{place} does not speak https" + (f": write {plain}." if plain else ".")


def _example(address: str) -> str:
    """Return the corrected address if possible, else an example."""
    shown = without_user(address)
    for one in (shown, f"http://{shown}"):
        if one.count("://") == 1 and not why_no_address(one):
            return one
    return EXAMPLE


def why_no_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        return "its port is no number from 1 to 65535" if "ort" in str(error) else "it is no address"
    if any(one.isspace() or not one.isprintable() for one in address):
        return "there is a space or a line break in it"
    if parts.scheme not in ("http", "https") or "://" not in address:
        return "it begins with neither http:// nor https://"
    if not parts.hostname:
        return "it names no host"
    if port == 0:
        return "its port is no number from 1 to 65535"
    return "it holds a user name or a password, which an address may not" if "@" in parts.netloc else ""
