"""What the exported script sends by litellm alone, beside what we send for the same case."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_server import CANARY, LoopbackServer
from oracle.tally import Record, Tally
from wire_bodies import LIMIT, TRANSPORT

from adapters.lm.addresses import host_of
from sessions.exports.exported import Exported, source_of
from sessions.exports.litellm_script import litellm_script
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.config.confinement import Allowed
from workbench.sending import sending

ROUTES = (
    *("openai/gpt-6-sol", "openai/o3", "groq/openai/gpt-oss-20b", "openrouter/openai/gpt-oss-120b", "xai/grok-4.7"),
    *("deepseek/deepseek-chat", "hosted_vllm/own", "moonshot/kimi-k3", "ollama/llama3.2", "together_ai/any"),
    *("fireworks_ai/any", "mistral/mistral-large-latest", "gemini/gemini-3.8-flash", "anthropic/claude-opus-4-1"),
    "anthropic/claude-sonnet-5-5",
)
RUN_EACH = """
import litellm, os, runpy, sys, traceback
for script in iter(sys.stdin.readline, ""):
    child = os.fork()
    if child:
        print(os.waitpid(child, 0)[1], flush=True)
        continue
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(script.strip() + ".err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    try:
        runpy.run_path(script.strip(), run_name="__main__")
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(0)
"""
"""Run the scripts named on standard input, each in a process of its own; litellm is imported once for all."""
RunScript = Callable[[Path], str]
SIGNATURE = SignatureText("question -> tags: list[str], sure: bool, found: dict[str, int] | None")


def session_for(server: LoopbackServer, model: str, **params: Any) -> Session:
    given = {"max_tokens": LIMIT, "api_base": server.url, **params}
    if model.startswith("fireworks_ai/"):
        given["response_format"] = {"type": "json_object"}
    return Session(SIGNATURE, (), (Column("one", "json"),), (Case("case 1", {"question": "Rain?"}),), model, given)


def script_of(server: LoopbackServer, session: Session) -> Exported:
    return litellm_script(
        source_of(session, session.columns, session.cases, name="asked", allow_hosts=[host_of(server.url)])
    )


@pytest.fixture(scope="module")
def run_script() -> Iterator[RunScript]:
    """Run a script to its end and return what it wrote on standard error."""
    own = {name: one for name, one in os.environ.items() if not name.endswith(("_API_BASE", "_BASE_URL"))}
    keys = {f"{model.partition('/')[0].upper()}_API_KEY": CANARY for model in ROUTES}
    environment = {**own, **keys, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-c", RUN_EACH]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as runner:
        assert runner.stdin is not None and runner.stdout is not None
        asked, told = runner.stdin, runner.stdout

        def run(script: Path) -> str:
            print(script, file=asked, flush=True)
            assert told.readline() == "0\n"
            return Path(f"{script}.err").read_text("utf-8")

        yield run
        asked.close()


def sent_by_script(server: LoopbackServer, session: Session, folder: Path, run_script: RunScript) -> Any:
    """The body, whatever the script was answered."""
    script = folder / "ask.py"
    script.write_text(script_of(server, session).text, "utf-8")
    server.requests.clear()
    return body_of(server, run_script(script)[-1500:])


def sent_by_us(server: LoopbackServer, session: Session) -> Any:
    server.requests.clear()
    allowed = Allowed(frozenset([host_of(server.url)]))
    sending.send(session, session.columns[0], session.cases[0], allowed=allowed)
    return body_of(server, "nothing")


def body_of(server: LoopbackServer, problem: str) -> Any:
    asked = [one.body for one in server.requests if not one.path.endswith("/api/show")]
    return {name: one for name, one in asked[0].items() if name not in TRANSPORT} if asked else {"nothing": problem}


def compare(server: LoopbackServer, session: Session, folder: Path, run_script: RunScript, tally: Tally) -> None:
    ours, script = sent_by_us(server, session), sent_by_script(server, session, folder, run_script)
    if session.model.startswith("anthropic/"):  # litellm writes this text as a block
        script |= {"system": "".join(one["text"] for one in script["system"])}
    if "nothing" in ours:
        assert "nothing" in script and len(session.params) > 2, "a plain request is sent"
        return
    found = (
        None if json.dumps(ours, sort_keys=True) == json.dumps(script, sort_keys=True) else f"{script} is not {ours}"
    )
    tally.add(f"{session.model} {session.params}", found)


def test_the_script_sends_what_we_send(
    server: LoopbackServer, tmp_path: Path, run_script: RunScript, record: Record
) -> None:
    tally = Tally("bodies that the exported script sends")
    compare(server, session_for(server, "openai/gpt-6-sol"), tmp_path, run_script, tally)
    tally.report(record)


@pytest.mark.slow
@pytest.mark.parametrize("model", ROUTES)
def test_the_script_sends_what_we_send_on_every_route(
    server: LoopbackServer, tmp_path: Path, model: str, run_script: RunScript, record: Record
) -> None:
    tally = Tally("bodies that the exported script sends")
    given = {"temperature": 0.5} if model.startswith("gemini/") else {}  # without one litellm alone adds its own
    for more in ({}, {"temperature": 1, "reasoning_effort": "low"}, {"n": 1, "seed": 3}):
        params = {**given, **more}
        compare(server, session_for(server, model, **params), tmp_path, run_script, tally)
    tally.report(record)


def test_the_temperature_that_litellm_adds_by_itself_is_named(server: LoopbackServer) -> None:
    assert "1.0" in " ".join(script_of(server, session_for(server, "gemini/gemini-3.8-flash")).left_out)
    assert not script_of(server, session_for(server, "gemini/gemini-3.8-flash", temperature=0.5)).left_out


@pytest.mark.slow
def test_what_litellm_refuses_by_itself_is_left_out_of_the_script_and_named(
    server: LoopbackServer, tmp_path: Path, run_script: RunScript
) -> None:
    session = session_for(server, "anthropic/claude-sonnet-5-5", top_p=0.5, top_k=40, temperature=0.5)
    assert (
        "temperature, top_p, top_k, which litellm refuses for anthropic/claude-sonnet-5-5"
        in script_of(server, session).left_out
    )
    body = sent_by_script(server, session, tmp_path, run_script)
    assert "messages" in body and not {"temperature", "top_p", "top_k"} & body.keys()
