"""A host that a file names gets no key before the user allows that host, for that file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from adapters.lm.litellm_client import LitellmLM
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.sending import sending
from workbench.sending.allowed_hosts import AllowedHosts

CANARY = "sk-canary-0123456789abcdef"
CHAT = Column("chat", "chat")
SESSION = Session(
    SignatureText("question -> answer"),
    columns=(CHAT,),
    cases=(Case("c"),),
    model="openai/gpt-6-luna",
    params={"api_base": "http://evil.example:8080/v1"},
)
FILE = Path("q.json")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "XDG_CONFIG_HOME", "GROQ_API_KEY", "HOSTED_VLLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


def test_an_address_of_the_session_is_a_question_that_names_host_file_and_variable_and_no_key() -> None:
    hosts = AllowedHosts()
    (question,) = hosts.questions(SESSION, CHAT, FILE)
    assert question == (
        FILE,
        "evil.example:8080",
        "http://evil.example:8080/v1",
        "openai/gpt-6-luna",
        "OPENAI_API_KEY",
        "",
    )
    assert CANARY not in repr(question)
    assert hosts.of(SESSION, CHAT, FILE) == frozenset()


def test_what_was_said_counts_for_that_file_and_that_host_alone() -> None:
    hosts = AllowedHosts()
    (question,) = hosts.questions(SESSION, CHAT, FILE)
    hosts.say(question, True)
    assert hosts.of(SESSION, CHAT, FILE) == {"evil.example:8080"}
    assert hosts.questions(SESSION, CHAT, FILE) == ()
    assert hosts.of(SESSION, CHAT, Path("other.json")) == frozenset()
    assert hosts.questions(SESSION, CHAT, Path("other.json"))
    elsewhere = replace(SESSION, params={"api_base": "http://evil.example:8081/v1"})
    assert hosts.of(elsewhere, CHAT, FILE) == frozenset() and hosts.questions(elsewhere, CHAT, FILE)
    hosts.forget()
    assert hosts.of(SESSION, CHAT, FILE) == frozenset() and hosts.questions(SESSION, CHAT, FILE)


def test_a_refusal_is_remembered_too_and_allows_nothing() -> None:
    hosts = AllowedHosts()
    (question,) = hosts.questions(SESSION, CHAT, FILE)
    hosts.say(question, False)
    assert hosts.questions(SESSION, CHAT, FILE) == () and hosts.of(SESSION, CHAT, FILE) == frozenset()


def test_nothing_is_asked_where_no_key_is_at_stake(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = AllowedHosts()
    assert hosts.questions(replace(SESSION, model="offline/exact"), CHAT, FILE) == ()
    assert hosts.questions(replace(SESSION, params={}), CHAT, FILE) == ()
    assert hosts.questions(replace(SESSION, model="hosted_vllm/mine"), CHAT, FILE) == ()
    monkeypatch.delenv("OPENAI_API_KEY")
    assert hosts.questions(SESSION, CHAT, FILE) == ()


def test_an_address_of_a_projects_env_is_asked_about_as_that_files(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://evil.example/v1\n")
    hosts = AllowedHosts()
    session = replace(SESSION, params={})
    (question,) = hosts.questions(session, CHAT, FILE)
    assert (question.file, question.host) == (tmp_path / ".env", "evil.example")
    hosts.say(question, True)
    assert hosts.of(session, CHAT, FILE) == hosts.of(session, CHAT, Path("other.json")) == {"evil.example"}
    assert hosts.of(SESSION, CHAT, FILE) == frozenset()


def test_the_users_own_environment_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://mine.example/v1")
    assert AllowedHosts().questions(replace(SESSION, params={}), CHAT, FILE) == ()


def test_the_second_model_of_a_column_is_asked_about_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("GROQ_API_BASE=http://evil.example/v1\n")
    monkeypatch.setenv("GROQ_API_KEY", CANARY)
    two = Column("two", "twostep", {"extraction_model": "groq/any"}, model="offline/exact")
    (question,) = AllowedHosts().questions(replace(SESSION, params={}), two, FILE)
    assert (question.model, question.variable) == ("groq/any", "GROQ_API_KEY")


@pytest.mark.parametrize("model", ["ollama/llama3", "ollama_chat/llama3"])
def test_ollamas_host_in_a_projects_env_is_called_and_asked_about_before_it_gets_a_key(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OLLAMA_HOST", "OLLAMA_API_BASE", "OLLAMA_BASE_URL", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".env").write_text("OLLAMA_HOST=gpu.example\n")
    session = replace(SESSION, model=model, params={})
    route = sending.route_of(session, CHAT)
    assert (route.address, route.named_by) == ("http://gpu.example:11434", ".env")
    hosts = AllowedHosts()
    assert hosts.questions(session, CHAT, FILE) == (), "there is no key to give"
    assert isinstance(opened := sending.open_model(session, CHAT), LitellmLM) and not opened.trusted
    monkeypatch.setenv("OLLAMA_API_KEY", CANARY)
    (question,) = hosts.questions(session, CHAT, FILE)
    assert (question.file, question.host) == (tmp_path / ".env", "gpu.example:11434")
    assert question.variable == "OLLAMA_API_KEY" and CANARY not in repr(question)
    monkeypatch.setenv("OLLAMA_HOST", "mine")
    assert sending.route_of(session, CHAT).named_by == "", "what the user's environment names is the user's"


HEADERS = {"header_variables": {"X-Org": "OUR_ORG"}}


@pytest.mark.parametrize("address", [{}, {"api_base": "http://evil.example:8080/v1"}])
def test_a_variable_in_a_header_is_a_question_of_its_own_wherever_it_goes(address: dict[str, str]) -> None:
    session = replace(SESSION, params={**HEADERS, **address})
    hosts = AllowedHosts()
    *about_keys, question = hosts.questions(session, CHAT, FILE)
    assert len(about_keys) == len(address)
    assert (question.header, question.variable) == ("X-Org", "OUR_ORG")
    for one in about_keys:
        hosts.say(one, True)
    assert hosts.allowed(session, CHAT, FILE).variables == frozenset(), "a key is no other variable"
    hosts.say(question, True)
    assert hosts.allowed(session, CHAT, FILE).variables == {"OUR_ORG"}
    assert hosts.questions(session, CHAT, FILE) == ()
    other = replace(session, params={**address, "header_variables": {"X-Org": "AWS_SECRET_ACCESS_KEY"}})
    assert hosts.allowed(other, CHAT, FILE).variables == frozenset() and hosts.questions(other, CHAT, FILE)
    assert hosts.allowed(session, CHAT, Path("other.json")).variables == frozenset()


def test_an_offline_model_gets_no_header() -> None:
    assert AllowedHosts().questions(replace(SESSION, params=HEADERS, model="offline/exact"), CHAT, FILE) == ()
