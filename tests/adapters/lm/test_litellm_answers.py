"""What the installed litellm says about models: asked once, kept by release, and marked while it is a copy."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.lm import capabilities_of, child, litellm_answers
from adapters.lm.capabilities import ask_about, known_of, limits_of
from adapters.lm.worker import questions

OWN = "mistral/of-our-own-2031"
TOOLS = {"function_calling": True, "reasoning": False, "response_schema": False, "params": ["tools"], "listed": True}
TOOLS |= {"vision": False, "context": 32_000, "output": None}


class Scripted:
    """A child process with litellm that answers at once, or is lost."""

    def __init__(self) -> None:
        self.ready = Event()
        self.ready.set()
        self.asked: list[str] = []
        self.is_lost = False

    def begin(self, message: dict[str, Any]) -> tuple[int, SimpleQueue[dict[str, Any]]]:
        self.asked += message["models"]
        arrivals: SimpleQueue[dict[str, Any]] = SimpleQueue()
        answers = dict.fromkeys(message["models"], TOOLS)
        release = litellm_answers.installed()
        arrivals.put({"op": "lost"} if self.is_lost else {"op": "facts", "release": release, "answers": answers})
        return 1, arrivals


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "adapter-workbench" / "models"


@pytest.fixture
def litellm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    made = Scripted()
    start_again(monkeypatch)
    monkeypatch.setattr(child, "child_for", lambda environment, keyless: made)
    return made


def start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm_answers, "_known", litellm_answers._Known())


def use_release(monkeypatch: pytest.MonkeyPatch, release: str) -> None:
    start_again(monkeypatch)
    monkeypatch.setattr(litellm_answers, "installed", lambda: release)


def test_the_limits_of_a_model_are_kept_with_the_other_answers(
    litellm: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with litellm_answers.asking():
        assert limits_of(OWN) == litellm_answers.Limits(False, 32_000, None)
    start_again(monkeypatch)
    assert limits_of(OWN) == litellm_answers.Limits(False, 32_000, None)
    assert limits_of("nowhere/of-our-own") == limits_of("offline/exact") == litellm_answers.Limits()


def test_nothing_waits_and_what_is_missing_is_wanted(litellm: Scripted) -> None:
    known = known_of("nowhere/of-our-own")
    assert known.said_by == f"nothing assumed until litellm {litellm_answers.installed()} answers"
    assert known.capabilities == capabilities_of("offline/exact")
    assert "nowhere/of-our-own" in litellm_answers.wanted()
    assert litellm.asked == []


def test_who_needs_the_answer_waits_for_it_and_it_is_kept(litellm: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    with litellm_answers.asking():
        assert known_of(OWN).said_by == f"litellm {litellm_answers.installed()}"
    start_again(monkeypatch)
    assert capabilities_of(OWN).function_calling
    assert capabilities_of(OWN).params == {"tools"}
    assert litellm.asked == [OWN]
    assert OWN not in litellm_answers.wanted()


def test_what_is_kept_is_nobody_elses_to_read(litellm: Scripted, folder: Path) -> None:
    litellm_answers.ask([OWN])
    assert os.listdir(folder) == [f"litellm-{litellm_answers.installed()}.json"]
    assert folder.stat().st_mode & 0o077 == 0


def test_the_answer_of_another_release_serves_until_the_installed_one_answers(
    litellm: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_release(monkeypatch, "1.104.0")
    litellm_answers.ask([OWN])
    use_release(monkeypatch, "1.200.0")
    assert known_of(OWN).said_by == "a copy of litellm 1.104.0, until litellm 1.200.0 answers"
    assert capabilities_of(OWN).function_calling
    assert OWN in litellm_answers.wanted()
    litellm_answers.ask(litellm_answers.wanted())
    assert known_of(OWN).said_by == "litellm 1.200.0"
    assert litellm_answers.wanted() == ()


def test_the_shipped_list_serves_the_first_minute(litellm: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    name, rule = "mistral/mistral-small-latest", "llamafile/my-model"
    release = next(iter(litellm_answers.shipped_answers().values())).release
    use_release(monkeypatch, release)
    assert known_of(name).said_by == f"litellm {release}"
    assert known_of(rule).said_by == f"a copy of litellm {release}, until litellm {release} answers"
    assert "temperature" in capabilities_of(rule).params
    use_release(monkeypatch, "1.200.0")
    assert known_of(name).said_by == f"a copy of litellm {release}, until litellm 1.200.0 answers"
    assert litellm.asked == []


def test_a_litellm_that_cannot_answer_is_asked_once_and_nothing_is_kept(litellm: Scripted, folder: Path) -> None:
    litellm.is_lost = True
    with litellm_answers.asking():
        for _ in range(2):
            assert "until litellm" in known_of(OWN).said_by
    assert litellm.asked == [OWN]
    assert OWN not in litellm_answers.wanted()


def test_models_of_dspys_own_client_are_not_asked_about(litellm: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_about(["openai/gpt-6-sol", "offline/exact", OWN])
    assert litellm.asked == [OWN]
    monkeypatch.setenv("OPENAI_API_BASE", "http://localhost:1")
    ask_about(["openai/of-our-own"])
    assert litellm.asked == [OWN, "openai/of-our-own"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"release": "1", "params": [], "models": {"a/b": "++++ 3"}}'])
def test_a_damaged_file_is_no_answer(folder: Path, litellm: Scripted, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / f"litellm-{litellm_answers.installed()}.json").write_text(text)
    assert not capabilities_of("a/b").function_calling
    litellm_answers.ask([OWN])
    assert capabilities_of(OWN).function_calling


def test_no_server_is_asked_what_a_model_can_do() -> None:
    def connects(**_: object) -> bool:
        with socket.create_connection(("127.0.0.1", 9)):
            return True

    def says_no(*_: object, **__: object) -> bool:
        return False

    fake = SimpleNamespace(
        get_supported_openai_params=lambda **_: ["tools"],
        supports_response_schema=says_no,
        supports_function_calling=connects,
        supports_reasoning=says_no,
        get_model_info=lambda *_: {"max_input_tokens": 32_000},
        supports_vision=says_no,
        model_cost={"a/b": {}},
    )
    before = socket.getaddrinfo
    assert questions.answers(fake, ["a/b"]) == {"a/b": {**TOOLS, "function_calling": False}}
    assert socket.getaddrinfo is before
