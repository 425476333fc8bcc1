"""Which host a call goes to, and whether it may have a key."""

from __future__ import annotations

import pytest

from adapters.lm import addresses


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("https://Example.org/v1", "example.org"),
        ("http://user:pass@host:1/x", "host:1"),
        ("http://[::1]:80/", "[::1]:80"),
        ("localhost:11434", "localhost:11434"),
        ("http://host:notaport/", ""),
        ("", ""),
    ],
)
def test_the_host_of_an_address(address: str, host: str) -> None:
    assert addresses.host_of(address) == host


@pytest.mark.parametrize(
    ("address", "allowed", "may"),
    [
        ("http://a.example:8000/v1", ["a.example"], True),
        ("http://a.example:8000/v1", ["a.example:8000"], True),
        ("http://a.example:8000/v1", ["A.EXAMPLE:8000"], True),
        ("http://a.example:8000/v1", ["http://a.example:8000/other"], True),
        ("http://a.example:8000/v1", ["a.example:9000"], False),
        ("http://a.example.evil.org/v1", ["a.example"], False),
        ("http://a.example@evil.org/v1", ["a.example"], False),
        ("http://evil.org/a.example", ["a.example"], False),
        ("http://evil.org#a.example", ["a.example"], False),
        ("http://a.example/", [], False),
        ("", [""], False),
    ],
)
def test_a_host_is_allowed_only_by_its_own_name(address: str, allowed: list[str], may: bool) -> None:
    assert addresses.is_allowed(address, allowed) is may


def test_an_environment_without_keys_holds_none_and_leads_to_none() -> None:
    secret = {
        "OPENAI_API_KEY": "canary",
        "AWS_PROFILE": "canary",
        "HTTP_PROXY": "http://canary@proxy",
        "HOME": "/canary",
    }
    kept = addresses.without_keys({**secret, "PATH": "/bin", "LC_ALL": "C.UTF-8"})
    assert "canary" not in repr(kept)
    assert kept["PATH"] == "/bin"
    assert kept["LC_ALL"] == "C.UTF-8"


def test_the_users_own_address_for_a_provider() -> None:
    assert addresses.environment_base("openai", {"OPENAI_API_BASE": "http://a"}) == "http://a"
    assert (
        addresses.environment_base("openai", {"OPENAI_BASE_URL": "http://b", "OPENAI_API_BASE": "http://a"})
        == "http://b"
    )
    assert addresses.environment_base("hosted_vllm", {"HOSTED_VLLM_API_BASE": "http://c"}) == "http://c"
    assert addresses.environment_base("openai", {}) is None


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("gpu", "http://gpu:11434"),
        ("gpu:9000", "http://gpu:9000"),
        (":9000", "http://127.0.0.1:9000"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::]:9000", "http://127.0.0.1:9000"),
        ("[::1]", "http://[::1]:11434"),
        ("http://gpu:9000/", "http://gpu:9000"),
        ("https://gpu/ollama/", "https://gpu/ollama"),
        (' "gpu:1" ', "http://gpu:1"),
        ("gpu:port", None),
        ("", None),
    ],
)
def test_ollamas_own_variable_is_understood_without_a_scheme(host: str, address: str | None) -> None:
    assert addresses.environment_base("ollama_chat", {"OLLAMA_HOST": host}) == address
    named = {"OLLAMA_HOST": host, "OLLAMA_API_BASE": "http://named"}
    assert addresses.environment_base("ollama", named) == "http://named"


def test_which_key_variables_are_set() -> None:
    assert addresses.keys_set("gemini", {"GOOGLE_API_KEY": "x"}) == ("GOOGLE_API_KEY",)
    assert addresses.keys_set("fireworks_ai", {"FIREWORKS_AI_API_KEY": "x"}) == ("FIREWORKS_AI_API_KEY",)
    assert addresses.keys_set("openai", {"OPENAI_API_KEY": ""}) == ()
