"""The documents say what the program does: generated parts are today's, examples are read, commands are commands."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import shlex
import sys
from itertools import pairwise
from pathlib import Path

import moving_picture
import prompt_history
import pytest
from textual.binding import Binding
from textual.screen import Screen

from sessions.file import store
from sessions.releases.release import Release
from sessions.running import recording
from sessions.upgrades.sides import Ours
from workbench.cli.commands import SUMMARIES, parser_of
from workbench.output.exit_codes import CommandError

ROOT = Path(__file__).parents[1]
_SPEC = importlib.util.spec_from_file_location("regenerate", ROOT / "docs" / "regenerate.py")
assert _SPEC is not None and _SPEC.loader is not None
regenerate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(regenerate)
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("document", regenerate.PARTS)
def test_generated_parts_are_what_the_program_says(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert regenerate.regenerated(document, text) == text, "run `python docs/regenerate.py`"


def test_the_history_of_prompts_belongs_to_its_samples_and_ends_at_the_reference() -> None:
    history = json.loads(prompt_history.FILE.read_text(encoding="utf-8"))
    again = "run `python docs/prompt_history.py`"
    assert history["samples"] == prompt_history.digest(), again
    pairs = [(one["from"], one["to"]) for one in history["steps"]]
    assert pairs == list(pairwise(prompt_history.RELEASES)), again
    assert pairs[-1][1] == recording.DSPY
    assert all(one["changes"] for one in history["steps"])


@pytest.mark.slow
def test_the_samples_of_the_history_are_to_the_reference_what_they_are_to_ours() -> None:
    with Release(sys.executable) as installed:
        assert prompt_history.step(installed, Ours())["changes"] == []


def test_the_schema_of_sessions_is_made_from_their_types() -> None:
    assert regenerate.SCHEMA_FILE.read_text(encoding="utf-8") == regenerate.schema_text(), "run docs/regenerate.py"


def test_every_key_of_a_session_says_what_it_holds() -> None:
    unsaid = [(part, key) for part, _, rows in regenerate.session_schema.tables() for key, said in rows if not said]
    assert unsaid == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    outside_of_code = re.sub(r"```.*?```|`[^`\n]*`", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)]+)\)", outside_of_code):
        path, _, anchor = link.partition("#")
        target = document if not path else document.parent / path
        assert "://" in link or target.exists(), f"{document.name}: {link}"
        if anchor:
            headings = re.findall(r"(?m)^#+ (.*)$", target.read_text(encoding="utf-8"))
            assert anchor in {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings}, link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_key_that_a_document_names_is_one_of_the_app(document: Path) -> None:
    keys = [one["keys"] for one in regenerate.keys({})] + [
        one.key for one in Screen.BINDINGS if isinstance(one, Binding)
    ]
    known = {name for one in keys for name in regenerate.key_names(one).split(", ")}
    named = re.findall(r"`(?:F\d+|(?:ctrl|alt|shift)\+[^`\s]+)`", document.read_text(encoding="utf-8"))
    assert set(named) - known == set()


def command_lines() -> list[tuple[str, str]]:
    found = []
    for document in DOCUMENTS:
        for block in re.findall(r"```sh\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("workbench "):
                    found.append((document.name, line))
    return found


@pytest.mark.parametrize(("document", "line"), command_lines())
def test_every_command_line_is_one_that_the_program_takes(document: str, line: str) -> None:
    words = shlex.split(line, comments=True)
    words = words[1 : words.index("|")] if "|" in words else words[1:]
    if words[0] not in SUMMARIES:
        assert words[-1].endswith(".json") or words[0] == "--screenshot", line
        return
    try:
        parser_of(words[0]).parse_args(words[1:])
    except CommandError as error:
        pytest.fail(f"{document}: {line}: {error}")


def test_the_session_of_the_documents_opens() -> None:
    text = (ROOT / "docs" / "session.md").read_text(encoding="utf-8")
    session = store.loads(re.findall(r"```json\n(\{.*?)```", text, re.DOTALL)[0])
    assert list(session.signature.read().fields) == ["question", "context", "answer"]
    assert json.loads(store.dumps(session))["columns"][1]["model"] == "openai/gpt-6-luna"


def test_every_command_is_in_the_readme_and_every_shape_is_documented() -> None:
    shapes = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    for name in SUMMARIES:
        assert re.search(rf"(?m)^(## `{name} --json`|{name} +\{{)", shapes), name


@pytest.mark.slow
def test_the_moving_picture_of_the_readme_is_made_from_the_app_of_today() -> None:
    frames = asyncio.run(moving_picture.record(moving_picture.example()))
    picture = moving_picture.animated(frames)
    assert len(picture) < 500_000
    assert "not escaped" in picture
