"""From F5 to a reading, a recording, its check and its replay, with a model that really is one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from real_model import NoRealModelError, RealModel, installed
from terminal import Terminal

from sessions.file import store
from sessions.model.session import Case, Column, Demo, Session, SignatureText

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODEL = "hosted_vllm/smollm2"
PATIENCE = 600
"""Seconds: a model of 135 million parameters reads ten words a second on a busy machine."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealModel]:
    try:
        python = installed(tmp_path_factory.mktemp("real-model"))
    except NoRealModelError as error:
        pytest.skip(f"no real model here: {error}")
    with RealModel(python) as model:
        yield model


@pytest.fixture
def environment(server: RealModel, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOSTED_VLLM_API_BASE": f"{server.url}/v1",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    session = Session(
        SignatureText("question -> answer"),
        demos=(Demo({"question": "What colour is grass?", "answer": "Green."}),),
        columns=(Column("chat", "chat"), Column("json", "json")),
        cases=(Case("sky", {"question": "What colour is the sky?"}),),
        model=MODEL,
        params={"temperature": 0, "max_tokens": 60},
    )
    store.save(session, tmp_path / "q.json")
    return tmp_path / "q.json"


def workbench(environment: dict[str, str], *words: str) -> tuple[int, Any]:
    words = (sys.executable, "-P", "-m", "workbench", *words)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_reply_is_read_recorded_checked_and_replayed(path: Path, environment: dict[str, str]) -> None:
    code, sent = workbench(environment, "send", str(path), "--save", "--json", "--jobs", "2")
    assert code in (0, 1)  # such a small model does not always keep to a format, and that is shown
    recordings = store.load(path).cases[0].recordings
    assert list(recordings) == ["chat", "json"]
    for column, run in sent["runs"].items():
        (attempt,) = run["attempts"]
        (completion,) = attempt["completions"]
        assert attempt["usage"]["prompt_tokens"] > 50 and attempt["usage"]["completion_tokens"] > 0
        assert completion["text"].strip() and completion["reading"]["ok"] == run["ok"]
        assert recordings[column].attempts[0].completions[0].text == completion["text"]

    code, checked = workbench(environment, "check", str(path), "--json")
    assert (code, checked["passed"], checked["failed"]) == (0, 2, 0)

    code, replayed = workbench({**environment, "HOSTED_VLLM_API_BASE": ""}, "send", str(path), "--replay", "--json")
    for column, run in replayed["runs"].items():
        (then,), (now,) = sent["runs"][column]["attempts"], run["attempts"]
        assert [one["text"] for one in now["completions"]] == [one["text"] for one in then["completions"]]
        assert (run["ok"], run["values"]) == (sent["runs"][column]["ok"], sent["runs"][column]["values"])
        assert now["usage"] == then["usage"]


def test_f5_shows_its_reply_and_what_was_read(path: Path, environment: dict[str, str]) -> None:
    store.save(replace(store.load(path), columns=(Column("chat", "chat"),)), path)
    words = [sys.executable, "-P", "-m", "workbench", path.name]
    with Terminal(words, path.parent, (120, 35), environment) as terminal:
        terminal.wait_for("reply none yet")
        terminal.press("f5")
        terminal.wait_for("cost unknown", patience=PATIENCE)  # the price of such a model is not known, and not zero
        terminal.press("ctrl+s")
        terminal.wait_for("saved")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
    replies = store.load(path).cases[0].replies
    assert list(replies) == ["chat"]
    assert replies["chat"].text.strip() and replies["chat"].model == MODEL
