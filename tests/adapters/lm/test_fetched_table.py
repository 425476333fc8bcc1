"""litellm's table of models: fetched when the user asks, kept, named as the source, and never lost to a bad one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from dspy.clients import model_metadata

from adapters.lm import ProviderError, child, fetched_table, litellm_answers, model_list
from adapters.lm.capabilities import ask_about, by_other_table, known_of
from tests.workbench.conftest import Run
from tests.workbench.conftest import run as run

NEW, CHANGED, BY_LITELLM = "openai/gpt-9-nova", "openai/gpt-6-luna", "mistral/mistral-small-latest"
NOVA = {"litellm_provider": "openai", "mode": "chat", "supports_function_calling": True, "max_input_tokens": 777_000}
NOVA |= {"input_cost_per_token": 1.5e-6, "output_cost_per_token": 9e-6}


def table(**more: Any) -> bytes:
    """litellm's table with a new model, and two that can no longer take a schema."""
    made = json.loads(json.dumps(fetched_table.packaged()))
    made |= {NEW: NOVA, **more}
    made["gpt-6-luna"]["supports_response_schema"] = made[BY_LITELLM]["supports_response_schema"] = False
    return json.dumps(made).encode()


class Server:
    """A server on 127.0.0.1 with a table at `url`, which other threads may replace."""

    def __init__(self) -> None:
        self.body, self.status, self.asked = b"", 200, 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked += 1
                self.send_response(server.status)
                if server.status == 302:
                    self.send_header("Location", "/elsewhere")
                    server.status = 200
                self.send_header("Content-Length", str(len(server.body)))
                self.end_headers()
                self.wfile.write(server.body)

            def log_message(self, format: str, *args: object) -> None:
                """Write nothing to standard error."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.http.server_port}"
        Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def server(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(litellm_answers, "_known", litellm_answers._Known())
    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP")
    for name in [one for one in os.environ if one.endswith(("_API_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    made = Server()
    made.body = table()
    monkeypatch.setenv("LITELLM_MODEL_COST_MAP_URL", f"http://{made.host}/table.json?token=secret")
    start_again()
    yield made
    made.http.shutdown()
    made.http.server_close()
    start_again()


def start_again() -> None:
    """Forget what a program keeps until its end, as the next command does."""
    for cache in (fetched_table.in_use, model_list.litellm_models, model_list._by_name):
        cache.cache_clear()
    child.shut_down()


@pytest.fixture
def accepting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is accepted at once, and no question is answered, without litellm."""

    def begin(_: object) -> tuple[int, SimpleQueue[dict[str, str]]]:
        arrivals: SimpleQueue[dict[str, str]] = SimpleQueue()
        arrivals.put({"op": "lost"})
        return 0, arrivals

    made = SimpleNamespace(ready=Event(), problem=None, kill=lambda: None, adopt=lambda _: None, begin=begin)
    made.ready.set()
    monkeypatch.setattr(child, "Child", lambda *_: made)


def test_nothing_is_fetched_until_the_user_asks(server: Server, run: Run, accepting: None) -> None:
    assert known_of(NEW).said_by == known_of(CHANGED).said_by == "dspy 3.4.1's table"
    assert run("models", "gpt-4o", "--json").json["table"] == f"litellm {litellm_answers.installed()}'s table"
    assert server.asked == 0


def test_a_fetched_table_is_used_and_named(server: Server, run: Run, accepting: None) -> None:
    done = run("models", "--refresh")
    assert done.code == 0
    new, own = (fetched_table.models_in(one) for one in (json.loads(server.body), fetched_table.packaged()))
    counts = f"{len(new):,} models, {len(new - own)} of them new; {len(own - new):,} are gone"
    assert new - own
    assert done.err.startswith("kept the table fetched ")
    assert done.err.endswith(f" UTC from {server.host}: {counts}\n")
    start_again()
    said = run("models", "--capabilities", CHANGED, NEW, "--json").json
    assert not said[CHANGED]["response_schema"] and said[NEW]["function_calling"]
    assert said[NEW]["said_by"] == str(fetched_table.kept())
    shown = run("models", "nova")
    assert f"{NEW} " in shown.out and "$1.5 in $9 out a million, 777,000 tokens" in shown.out
    assert f"by {fetched_table.kept()}" in shown.err
    assert run("models", "--json").json["table"] == str(fetched_table.kept())
    kept = Path(os.environ["XDG_STATE_HOME"]) / "adapter-workbench" / "models" / "fetched-table.json"
    assert b"secret" not in kept.read_bytes().splitlines()[0]


@pytest.mark.parametrize("said", ["the environment", "the settings"])
def test_the_packaged_table_is_used_where_the_user_says_so(
    server: Server, run: Run, accepting: None, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    run("models", "--refresh")
    if said == "the environment":
        monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")
        done = run("models", "--refresh")
        assert (done.code, done.err) == (
            2,
            "workbench: No table of models was fetched: LITELLM_LOCAL_MODEL_COST_MAP is set.\n",
        )
    else:
        config = Path(os.environ["XDG_CONFIG_HOME"]) / "adapter-workbench" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text("fetched_models = false")
        start_again()
        assert run("models", "--refresh").err.endswith("; not in use: fetched_models = false\n")
    start_again()
    assert server.asked == 1 + (said == "the settings")
    assert known_of(CHANGED).said_by == "dspy 3.4.1's table"
    assert known_of(CHANGED).capabilities.response_schema


BAD: dict[str, tuple[Callable[[], bytes], int, str]] = {
    "text": (lambda: b"nope{", 200, "it is not JSON"),
    "cut": (lambda: table()[:-9], 200, "it is not JSON"),
    "deep": (lambda: b"[" * 1_000_000, 200, "it is not JSON"),
    "page": (lambda: b"<!doctype html>", 200, "it is a web page, not JSON"),
    "list": (lambda: b"[1]", 200, "it is not a table of models"),
    "strings": (lambda: json.dumps({str(n): "x" for n in range(5_000)}).encode(), 200, "it is not a table of models"),
    "tiny": (lambda: b'{"a": {}}', 200, "it has fewer than 2,"),
    "large": (lambda: b" " * 34_000_000, 200, "it is larger than 32 MB"),
    "moved": (lambda: b"", 302, "it redirects to another address, which litellm does not follow"),
    "failed": (lambda: b"", 500, "it answers with HTTP 500"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_one_error_and_the_last_one_stays(server: Server, run: Run, accepting: None, name: str) -> None:
    run("models", "--refresh")
    before = fetched_table.kept()
    body, server.status, why = BAD[name]
    server.body = body()
    done = run("models", "--refresh")
    assert done.code == 3
    assert done.err.startswith(f"workbench: No table of models was fetched from {server.host}: {why}")
    assert done.err.endswith(". Nothing changes.\n") and done.err.count("\n") == 1
    start_again()
    assert fetched_table.in_use() == before and known_of(NEW).said_by == str(before)
    assert os.listdir(Path(os.environ["XDG_STATE_HOME"]) / "adapter-workbench" / "models") == [fetched_table.NAME]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:1/secret", "from 127.0.0.1:1: Connection refused. Nothing changes."),
        ("file:///etc/secret", "LITELLM_MODEL_COST_MAP_URL is not a valid address (it begins with neither"),
        ("http://me:secret@host/", "LITELLM_MODEL_COST_MAP_URL is not a valid address (it contains a user"),
    ],
)
def test_an_address_that_does_not_answer_is_said_without_its_secrets(
    server: Server, monkeypatch: pytest.MonkeyPatch, url: str, why: str
) -> None:
    monkeypatch.setenv("LITELLM_MODEL_COST_MAP_URL", url)
    with pytest.raises(ProviderError) as caught:
        fetched_table.fetch()
    assert why in str(caught.value) and "secret" not in str(caught.value)


ODD = {
    "litellm_provider": "openai",
    "mode": "chat",
    "supports_function_calling": "yes",
    "input_cost_per_token": 1e308,
    "max_input_tokens": "many",
    "deprecation_date": 7,
    "aliases": "a",
}


@pytest.mark.parametrize("damage", ["", "{", '{"host": "h", "at": "t", "digest": "d"}\n[]', '{"host": 1}\n{}', "[]"])
def test_a_damaged_file_is_no_table(server: Server, run: Run, accepting: None, damage: str) -> None:
    run("models", "--refresh")
    kept = fetched_table.kept()
    assert kept is not None
    kept.path.write_text(damage)
    start_again()
    assert known_of(CHANGED).capabilities.response_schema
    assert model_list.listed("openai/gpt-4o-mini") is not None


def test_a_file_that_was_changed_by_hand_is_no_table(server: Server, run: Run, accepting: None) -> None:
    run("models", "--refresh")
    kept = fetched_table.kept()
    assert kept is not None
    kept.path.write_bytes(kept.path.read_bytes().replace(b"777000", b"777001"))
    start_again()
    assert fetched_table.kept() is None and model_list.listed(NEW) is None


def test_odd_entries_are_unknown_values(server: Server, run: Run, accepting: None) -> None:
    server.body = table(odd=ODD, **{"evil\x1b[31m\ud800": {**ODD, "litellm_provider": ["x"]}})
    assert run("models", "--refresh").code == 0
    start_again()
    found = model_list.listed("openai/odd")
    assert found is not None
    assert (found.input_price, found.context_tokens, found.retires) == (None, None, None)
    assert not known_of("openai/odd").capabilities.function_calling
    assert all("evil" not in one.name for one in model_list.litellm_models())


def test_the_request_says_when_the_other_table_would_change_it(
    server: Server, run: Run, accepting: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("new", "question -> answer", "-o", "q.json", "--input", "question=Why?")
    asked = ("render", "q.json", "--adapter", "json", "--model", CHANGED, "--request")
    assert "dspy's request would differ" not in run(*asked).err
    run("models", "--refresh")
    start_again()
    said = "json: With the packaged table, dspy's request would differ in: response_format.\n"
    assert said in run(*asked).err
    assert run("render", "q.json", "--adapter", "chat", "--model", CHANGED, "--request").err == ""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    start_again()
    assert f"json: With {fetched_table.kept()}, dspy's request would differ in" in run(*asked).err
    assert "With the table" in run(*asked, "--json").json["prompts"]["json"]["other_table"]


def test_what_a_fetched_table_says_is_what_dspy_reads_there(
    server: Server, run: Run, accepting: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    alias = {**NOVA, "supports_response_schema": True, "aliases": ["gpt-9-alias", "anthropic/claude-odd"]}
    rules = {"rules": [{"pattern": "^gpt-family", "model_info": {"supports_reasoning": True}}, {"pattern": "("}, 3]}
    server.body = table(**{"gpt-9-canonical": alias, "fallback_generalizations": rules, "openai/odd": ODD})
    assert run("models", "--refresh").code == 0
    monkeypatch.setattr(model_metadata, "_data", None)
    names = [NEW, CHANGED, "openai/gpt-9-alias", "gpt-9-alias", "anthropic/claude-odd", "openai/gpt-family-1"]
    for name in [*names, "openai/odd", "openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-3.8-flash"]:
        lm, ours = dspy.LM(name), known_of(name).capabilities
        theirs = (lm.supports_function_calling, lm.supports_reasoning, lm.supports_response_schema)
        assert (ours.function_calling, ours.reasoning, ours.response_schema) == theirs, name
    assert model_metadata.source_info()["source"] == "remote"


@pytest.mark.slow
def test_litellm_answers_with_the_fetched_table_and_refuses_one_that_it_fails_with(server: Server, run: Run) -> None:
    ask_about([BY_LITELLM])
    assert known_of(BY_LITELLM).capabilities.response_schema
    assert run("models", "--refresh").code == 0
    start_again()
    ask_about([BY_LITELLM])
    known = known_of(BY_LITELLM)
    assert known.said_by == f"litellm {litellm_answers.installed()} with {fetched_table.kept()}"
    assert not known.capabilities.response_schema
    other = by_other_table(BY_LITELLM, "chat", (), waits=False)
    assert other is not None and other.capabilities.response_schema
    before = fetched_table.kept()
    server.body = table(odd={"aliases": [["unhashable"]]})
    done = run("models", "--refresh")
    assert (done.code, "litellm fails with it" in done.err) == (2, True)
    assert fetched_table.kept() == before
