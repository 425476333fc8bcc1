"""Whatever a provider does, over either protocol: which phase, which line, which exit code; the file as it was; no key
anywhere. The litellm child is the real one, and the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_server import BEHAVIOURS, CANARY, LoopbackServer, refused_port

from sessions.file import store
from sessions.model.session import Column
from tests.support.open_app import Desk, at_the_desk
from workbench.output import exit_codes

Run = Callable[..., Any]

REPLY = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]"
PROTOCOLS = ("openai", "anthropic")

REFUSED = {
    "401": "does not accept the API key in {key} (401): Incorrect API key provided.",
    "403": "denies access with the API key in {key} (403): You are not allowed to use this model.",
    "404": "does not know the model '404' (404)",
    "400-context": "The prompt is too long for {model}",
    "400": "rejected the request (400)",
    "429": "rate limit reached (429): Rate limit reached for requests. Try again in 7 s.",
    "429-quota": "no credit left (429)",
    "500": "failed (500): The server had an error.",
    "503": "is unavailable (503)",
    "529": "is overloaded (529)",
    "echo-key": "does not accept the API key in {key} (401)",
    "close": "closed the connection before the reply was complete.",
    "html": "did not answer with a chat completion",
    "html-502": "failed (502): a web page (HTML), not an API response",
    "close-in-stream": "closed the connection before the reply was complete.",
    "end-in-stream": "closed the connection before the reply was complete.",
    "error-in-stream": "failed",
    "malformed-sse": "did not answer with a chat completion",
}
SAID_OF_ANTHROPIC = {"malformed-sse": "closed the connection before the reply was complete."}
"""litellm skips an event of Anthropic's that is not JSON; the reply then has no end."""
SHORT = {
    "401": "401 · API key rejected",
    "404": "404 · unknown model",
    "400-context": "400 · prompt too long",
    "400": "400 · request rejected",
    "429": "429 · rate limit",
    "429-quota": "429 · no credit left",
    "500": "500 · server failed",
    "529": "529 · overloaded",
    "close": "connection lost",
    "html": "malformed answer",
    "error-in-stream": "server failed",
}
"""The same in the line above a reply."""
CUT_OFF = ("hang", "hang-in-stream", "drip")
"""Ended by `--deadline`: what never ends by itself."""
READ = ("ok", "no-usage", "reasoning", "logprobs", "two-choices", "no-finish", "content-filter", "length")
UNREADABLE = ("huge", "monotonous", "tool-calls")
"""Whole replies that do not parse: exit 1, and they are kept too."""


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(REPLY) as one, pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
            patch.delenv(name, raising=False)
        patch.setenv("OPENAI_API_BASE", one.url)
        patch.setenv("ANTHROPIC_API_BASE", one.anthropic_url)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SOME_OTHER_TOKEN"):
            patch.setenv(name, CANARY)
        yield one


def send(run: Run, session: str, model: str, *words: str) -> Any:
    return run("send", session, "--adapter", "chat", "--model", model, "--save", *words)


def nothing_leaked(done: Any, folder: Path) -> None:
    assert CANARY not in done.out + done.err
    assert "Traceback" not in done.out + done.err
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("behaviour", REFUSED)
def test_a_provider_that_fails_is_phase_request_one_line_and_exit_3(
    behaviour: str, protocol: str, rain: str, run: Run, server: LoopbackServer, tmp_path: Path
) -> None:
    before = Path(rain).read_bytes()
    model = f"{protocol}/{behaviour}"
    done = send(run, rain, model, "--json")
    assert done.code == exit_codes.PROVIDER
    error = done.json["runs"]["chat"]["error"]
    assert error["phase"] == "request"
    said = {**REFUSED, **(SAID_OF_ANTHROPIC if protocol == "anthropic" else {})}[behaviour]
    assert said.format(key=f"{protocol.upper()}_API_KEY", model=model) in error["message"]
    assert "\n" not in error["message"]
    (line,) = done.err.splitlines()
    assert line == f"workbench: chat: {error['message']}"
    assert Path(rain).read_bytes() == before
    assert CANARY in str(server.requests[-1].headers), "the key did go to the provider it is for"
    nothing_leaked(done, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("behaviour", CUT_OFF)
def test_what_never_ends_is_cut_off_by_the_deadline(
    behaviour: str, protocol: str, rain: str, run: Run, server: LoopbackServer, tmp_path: Path
) -> None:
    assert send(run, rain, f"{protocol}/ok").code == exit_codes.OK  # the child is awake
    before = store.load(rain)
    done = send(run, rain, f"{protocol}/{behaviour}", "--deadline", "0.5", "--json")
    assert done.code == exit_codes.PROVIDER
    error = done.json["runs"]["chat"]["error"]
    assert (error["phase"], error["message"]) == ("request", "Deadline expired while the model was answering.")
    after = store.load(rain)
    assert after.cases[0].recordings == before.cases[0].recordings
    nothing_leaked(done, tmp_path)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("behaviour", [*READ, *UNREADABLE])
def test_a_whole_reply_is_kept_whatever_is_in_it(
    behaviour: str, protocol: str, rain: str, run: Run, server: LoopbackServer, tmp_path: Path
) -> None:
    chat, *others = store.load(rain).columns
    columns = (replace(chat, model=f"{protocol}/{behaviour}"), *others)
    store.save(replace(store.load(rain), columns=columns), rain)
    before = store.load(rain)
    done = run("send", rain, "--adapter", "chat", "--save")
    assert done.code == (exit_codes.OK if behaviour in READ else exit_codes.DIFFERENT), done.err
    after = store.load(rain)
    assert list(after.cases[0].recordings) == ["chat"]
    assert after.replace_case(before.cases[0]) == before, "nothing but the kept run has changed"
    nothing_leaked(done, tmp_path)


def test_a_server_that_is_not_there_is_phase_request_too(
    rain: str, run: Run, server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for protocol in PROTOCOLS:
        port = refused_port()
        monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{port}/v1")
        monkeypatch.setenv("ANTHROPIC_API_BASE", f"http://127.0.0.1:{port}")
        done = send(run, rain, f"{protocol}/ok")
        assert done.code == exit_codes.PROVIDER
        assert "cannot be reached (connection refused)" in done.err
        nothing_leaked(done, tmp_path)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_says_nothing_is_given_up_after_the_sessions_timeout(
    protocol: str, rain: str, run: Run, server: LoopbackServer, tmp_path: Path
) -> None:
    store.save(replace(store.load(rain), params={"timeout": 0.3}), rain)
    before = Path(rain).read_bytes()
    done = send(run, rain, f"{protocol}/hang", "--json")
    assert done.code == exit_codes.PROVIDER
    error = done.json["runs"]["chat"]["error"]
    assert error["phase"] == "request"
    assert error["message"].endswith("did not respond in time.")
    assert done.err.splitlines() == [f"workbench: chat: {error['message']}"]
    assert Path(rain).read_bytes() == before
    nothing_leaked(done, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_in_the_app_each_column_tells_its_phase_and_line_and_nothing_of_the_key(
    protocol: str, rain: str, server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    said = {**REFUSED, **(SAID_OF_ANTHROPIC if protocol == "anthropic" else {})}
    columns = tuple([Column(name, "chat", model=f"{protocol}/{name}") for name in said])
    session = replace(store.load(rain), columns=columns)
    name = session.cases[0].name

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        for column in columns:
            run = desk.main.runs.of(name, column.id)
            assert run is not None and run.phase == "failed", column.id
            wanted = said[column.id].format(key=f"{protocol.upper()}_API_KEY", model=column.model)
            assert run.error.startswith("request: ") and wanted in run.error
            assert f"✗ {SHORT.get(column.id, '')}" in desk.verdict(column.id)
            assert " · request " in desk.verdict(column.id)
            assert CANARY not in repr(run) + repr(run.payload) + desk.reply(column.id)
        shown = desk.app.export_screenshot()
        await desk.press("f3", "f7", "3", "v")
        shown += desk.app.export_screenshot() + desk.app.screen.query_one("#pages-text").plain_text  # type: ignore[attr-defined]
        assert CANARY not in shown
        assert "does not accept the API key" in shown, "the page of calls says it too"
        assert not any(case.recordings for case in desk.document.session.cases)

    at_the_desk(act, session)
    assert CANARY in str(server.requests[-1].headers)
    assert not [one for one in tmp_path.rglob("*") if one.is_file() and CANARY.encode() in one.read_bytes()]


@pytest.mark.slow
def test_ollamas_host_in_a_projects_env_gets_no_key_before_it_is_allowed(
    rain: str, run: Run, server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OLLAMA_HOST", "OLLAMA_API_BASE", "OLLAMA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_API_KEY", CANARY)
    Path(".env").write_text(f"OLLAMA_HOST=127.0.0.1:{server.port}\n")
    for words, has_key in (((), False), (("--allow-host", "127.0.0.1"), True)):
        before = len(server.requests)
        done = send(run, rain, "ollama_chat/404", *words)
        assert done.code == exit_codes.PROVIDER
        (seen,) = server.requests[before:]
        assert seen.path == "/v1/chat/completions"
        assert (CANARY in str(seen.headers)) is has_key
        nothing_leaked(done, tmp_path)


def test_every_behaviour_of_the_server_is_in_the_matrix() -> None:
    in_test_child = {"huge-in-pieces"}
    assert set(BEHAVIOURS) - in_test_child == {*REFUSED, *CUT_OFF, *READ, *UNREADABLE}
