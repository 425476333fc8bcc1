"""Keys are cut out of whatever is shown or stored."""

from __future__ import annotations

import pytest

from adapters import lm
from adapters.lm.secrets import Scrubber, is_secret_name

ENVIRONMENT = {
    "OPENAI_API_KEY": "canary-openai-123",
    "HF_TOKEN": "canary-hf-123",
    "AWS_SECRET": "canary-aws-123",
    "LONGER_KEY": "canary-openai-123-and-more",
    "OLLAMA_API_KEY": "local",
    "HOME": "/home/canary-home",
}


def test_every_secret_becomes_the_name_of_its_variable() -> None:
    scrubber = Scrubber(ENVIRONMENT)
    assert scrubber.scrubbed("a canary-openai-123 b canary-hf-123 c canary-aws-123") == (
        "a [OPENAI_API_KEY] b [HF_TOKEN] c [AWS_SECRET]"
    )


def test_a_secret_that_holds_another_is_replaced_whole() -> None:
    assert Scrubber(ENVIRONMENT).scrubbed("canary-openai-123-and-more") == "[LONGER_KEY]"


def test_words_that_are_no_secrets_stay() -> None:
    assert Scrubber(ENVIRONMENT).scrubbed("a local model in /home/canary-home") == "a local model in /home/canary-home"


def test_json_is_scrubbed_in_every_string_and_key() -> None:
    value = {"canary-hf-123": ["canary-hf-123", 1, None, {"a": ("canary-hf-123",)}]}
    assert Scrubber(ENVIRONMENT).json(value) == {"[HF_TOKEN]": ["[HF_TOKEN]", 1, None, {"a": ["[HF_TOKEN]"]}]}


@pytest.mark.parametrize(
    "text", ["sk-proj-abcdefghijklmnop", "gsk_abcdefghijklmnop", "AIzaSyabcdefghijklmnopqrst", "Bearer abcdefgh.ijkl"]
)
def test_what_looks_like_a_key_is_cut_out_although_nobody_set_it(text: str) -> None:
    assert "abcdefgh" not in Scrubber({}).scrubbed(f"it said {text!r}")


ADDRESSED = {
    "OPENAI_API_BASE": "https://someone%40x:canary%2Fpw77@host.example/v1?api-key=canary-token-5&version=2024-12-01"
}


@pytest.mark.parametrize("text", ["someone%40x", "someone@x", "canary%2Fpw77", "canary/pw77", "canary-token-5"])
def test_what_an_address_of_the_environment_hides_is_a_secret_of_its_variable(text: str) -> None:
    assert Scrubber(ADDRESSED).scrubbed(f"it said {text}.") == "it said [OPENAI_API_BASE]."


def test_the_rest_of_such_an_address_stays() -> None:
    said = Scrubber(ADDRESSED).scrubbed(f"no answer from {ADDRESSED['OPENAI_API_BASE']}, port 443")
    assert "canary" not in said and "host.example/v1?api-key=" in said and "version=2024-12-01, port 443" in said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:short@127.0.0.1:1/v1 refused", "http://[key]@127.0.0.1:1/v1 refused"),
        ("http://127.0.0.1/v1?x=1&access_token=short#a", "http://127.0.0.1/v1?x=1&access_token=[key]#a"),
        (
            "write to me@example.org, see https://example.org/@me",
            "write to me@example.org, see https://example.org/@me",
        ),
    ],
)
def test_an_address_of_anybodys_is_shown_without_its_password(text: str, shown: str) -> None:
    assert Scrubber({}).scrubbed(text) == shown


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "hf_token", "X_SECRET", "DB_PASSWORD", "GOOGLE_CREDENTIALS"])
def test_names_that_hold_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "KEYBOARD", "TOKENIZERS_PARALLELISM", "MONKEY_BAR"])
def test_names_that_hold_none(name: str) -> None:
    assert not is_secret_name(name)


def test_a_model_does_not_show_the_password_of_its_address() -> None:
    model = lm.open("openai/x", api_base="http://ann:s3cret@localhost:1/v1")
    assert "openai/x" in repr(model)
    assert "s3cret" not in repr(model)
