"""Options that reach what they are for: a captured program, a server that is asked, an export by its name."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import ExitStack
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.workbench.conftest import Run
from workbench.__main__ import main
from workbench.capture import capturing
from workbench.cli.arguments import Parser
from workbench.cli.commands import serve

KEEP_OPTIONS = "import pathlib, sys; pathlib.Path({!r}).write_text(sys.argv[-1], encoding='utf-8')"
"""Stands in for the process that writes the sessions: it keeps the options."""


def test_what_to_keep_and_to_redact_reaches_the_process_that_writes_the_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "options.json"
    command = [sys.executable, "-c", KEEP_OPTIONS.format(str(kept))]
    monkeypatch.setattr(capturing, "writer", partial(capturing.writer, command=command))
    words = ("--only", "failures", "--redact", "patient", "--redact", "doctor")
    assert main(["capture", "-o", str(tmp_path / "prompts"), *words, "--", sys.executable, "-c", ""]) == 0
    options = json.loads(kept.read_text(encoding="utf-8"))
    assert options["only"] == "failures"
    assert options["redact"] == ["patient", "doctor"]


class ModelServer(BaseHTTPRequestHandler):
    """Answers `GET /v1/models` as OpenAI does."""

    def do_GET(self) -> None:
        body = json.dumps({"data": [{"id": "small-one"}]}).encode() if self.path == "/v1/models" else b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing to standard error."""


def test_a_capture_says_which_fixtures_check_would_not_pass() -> None:
    finding = {
        "path": "q.session.json",
        "case": "case 1",
        "column": "chat",
        "said": "renders differently",
        "versions": "",
    }
    report = {"calls": 1, "lost": 0, "sessions": [], "findings": [finding], "notes": [], "problems": []}
    lines = capturing.plain_words([report], "prompts")
    assert "    q.session.json · case 1 · chat: renders differently" in lines


def test_the_teachers_page_alone_is_enlarged_for_a_projector(run: Run) -> None:
    parser = Parser("workbench serve", "")
    serve.add_arguments(parser)
    assert run("new", "question -> answer", "-o", "q.session.json").code == 0
    with ExitStack() as kept:
        setup = serve.setup_of(parser.parse_args(["q.session.json", "--projector"]), kept)
    assert setup.is_projected


def test_servers_are_asked_for_their_models_only_on_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), ModelServer)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", f"http://127.0.0.1:{server.server_port}/v1")
        asked = {entry["model"] for entry in run("models", "vllm", "--ask-servers", "--json").json["models"]}
        unasked = {entry["model"] for entry in run("models", "vllm", "--json").json["models"]}
    finally:
        server.shutdown()
        server.server_close()
    assert "hosted_vllm/small-one" in asked
    assert "hosted_vllm/small-one" not in unasked


def test_fine_tuning_data_is_exported_by_its_name(run: Run) -> None:
    assert run("new", "question -> answer", "-o", "q.session.json").code == 0
    session = json.loads(Path("q.session.json").read_text(encoding="utf-8"))
    session["demos"] = [{"values": {"question": "2+2?", "answer": "4"}}]
    Path("q.session.json").write_text(json.dumps(session), encoding="utf-8")
    (line,) = run("export", "q.session.json", "--as", "finetune", "--adapter", "chat").out.splitlines()
    assert [message["role"] for message in json.loads(line)["messages"]] == ["system", "user", "assistant"]
