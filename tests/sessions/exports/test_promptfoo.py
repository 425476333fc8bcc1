"""promptfoo's config: nothing of a session's text is rendered, opened or looked up by promptfoo."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_server import LoopbackServer

from sessions import examples
from sessions.exports.exported import Exported, ExportError, Source, source_of
from sessions.exports.promptfoo import promptfoo
from sessions.model.session import Case, Column, Demo, Session, SignatureText

TAGS = '{{ env.HOME }} {{q}} {% raw %} {# c #} {{{x}}} {%- if -%} }} {#} #} {% endraw %} $& $1 "\\n" \\ é \u2028 {'
SOURCE = """
import dspy
from pydantic import BaseModel, Field

class Sub(BaseModel):
    x: int
    y: str = Field(description="{{ env.HOME }} {")

class Ask(dspy.Signature):
    q: str = dspy.InputField()
    true: str = dspy.InputField()
    picture: dspy.Image = dspy.InputField()
    several: list[Sub] = dspy.OutputField()
    one: Sub = dspy.OutputField()
"""
COLUMNS = (Column("chat", "chat"), Column("json", "json"), Column("xml", "xml"))
HOSTILE = Session(
    SignatureText(SOURCE, "Ask", instructions=TAGS),
    (Demo({"q": TAGS, "true": TAGS, "picture": "https://x/{{q}}", "several": [], "one": {"x": 1, "y": "{{"}}),),
    COLUMNS,
    (
        Case("one {{q}}", {"q": TAGS, "true": "file:///etc/passwd\n", "picture": "data:image/png;base64,iVBORw0KGgo="}),
        Case("two", {"q": "package:x:y", "true": "plain {{ q }}", "picture": "https://x/y.png"}),
        Case("three", {"q": "", "true": "{{ env.PATH }}\n\n", "picture": "https://x/y.png"}),
    ),
)


def config(source: Source) -> Any:
    made = promptfoo(source)
    assert made == promptfoo(source)
    return json.loads(made.text)


def test_each_column_has_its_prompt_and_provider_and_each_case_its_test() -> None:
    session = examples.load("question")
    made = config(source_of(session, session.columns, session.cases))
    assert [one["label"] for one in made["prompts"]] == [one.id for one in session.columns]
    assert [(one["id"], one["prompts"]) for one in made["providers"]] == [("echo", [one.id]) for one in session.columns]
    assert [one["description"] for one in made["tests"]] == [one.name for one in session.cases]
    assert [set(one["vars"]) for one in made["tests"]] == [set(one.inputs) for one in session.cases]
    assert "{{ question }}" in made["prompts"][0]["raw"]


def test_what_promptfoo_would_act_upon_is_kept_from_it() -> None:
    made = config(source_of(HOSTILE, COLUMNS, HOSTILE.cases, name="a {{ env.HOME }}"))
    values = [value for test in made["tests"] for value in test["vars"].values()]
    assert not any(value.startswith(("file:", "package:")) for value in values)
    assert (
        "{{" not in json.dumps(values)
        and "{{" not in made["description"]
        and "{{" not in made["tests"][0]["description"]
    )
    rendered_while_loading = re.findall(r"\{\{(?:[^}]|\}(?!\}))*\}\}", json.dumps(made))
    assert not any("env" in one for one in rendered_while_loading)


def test_a_schema_is_written_in_place_and_one_that_contains_itself_is_refused() -> None:
    session = replace(HOSTILE, model="openai/gpt-6-luna")
    made = promptfoo(source_of(session, COLUMNS[1:2], HOSTILE.cases))
    schema = json.loads(made.text)["providers"][0]["config"]["response_format"]["json_schema"]["schema"]
    assert "$ref" not in json.dumps(schema) and "$defs" not in schema
    assert schema["properties"]["one"]["properties"]["x"]["type"] == "integer"
    tree = "import dspy\nfrom pydantic import BaseModel\nclass Tree(BaseModel):\n    below: list['Tree']\n"
    text = f"{tree}\nclass Ask(dspy.Signature):\n    q: str = dspy.InputField()\n    t: Tree = dspy.OutputField()\n"
    recursive = Session(SignatureText(text, "Ask"), (), COLUMNS, (Case("x", {"q": "1"}),), model="openai/gpt-6-luna")
    with pytest.raises(ExportError, match="contains itself"):
        promptfoo(source_of(recursive, COLUMNS[1:2], recursive.cases))


def test_an_address_that_a_session_names_gets_no_key_of_yours() -> None:
    session = replace(HOSTILE, model="openai/m", params={"api_base": "http://stranger:1/v1"})
    made: Exported = promptfoo(source_of(session, COLUMNS[:1], session.cases))
    assert json.loads(made.text)["providers"][0]["config"]["apiKey"] == "no-key"
    assert any("--allow-host stranger:1" in one for one in made.left_out)


def broken(value: Any) -> Any:
    return json.loads(json.dumps(value).replace("{{ ", "{\\u2060{ ").replace('"{{"', '"{\\u2060{"'))


PROMPTFOO = shutil.which("promptfoo")


def run(words: list[str], folder: Path, **more: str) -> None:
    quiet = {f"PROMPTFOO_DISABLE_{one}": "1" for one in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")}
    environment = {**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": str(folder / "home"), **more}
    done = subprocess.run([PROMPTFOO or "", *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def results(folder: Path, source: Source, **more: str) -> Any:
    (folder / "promptfooconfig.yaml").write_text(promptfoo(source).text, encoding="utf-8")
    run(["validate", "-c", "promptfooconfig.yaml"], folder)
    run(
        ["eval", "-c", "promptfooconfig.yaml", "-o", "out.json", "--no-cache", "--no-table", "--no-write"],
        folder,
        **more,
    )
    return json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]["results"]


@pytest.mark.slow
@pytest.mark.skipif(PROMPTFOO is None, reason="promptfoo is not installed (npm install -g promptfoo)")
def test_promptfoo_sends_the_very_messages_of_the_session(tmp_path: Path) -> None:
    source = source_of(HOSTILE, COLUMNS, HOSTILE.cases)
    answers = results(tmp_path, source)
    found = {(one["provider"]["label"], one["testCase"]["description"]): one for one in answers}
    assert len(found) == len(source.views) == len(answers)
    for view in source.views:
        one = found[view.column.id, view.case.name.replace("{{", "{ {")]
        assert json.loads(one["response"]["output"]) == view.request.prompt.as_dicts(), view.place


@pytest.mark.slow
@pytest.mark.skipif(PROMPTFOO is None, reason="promptfoo is not installed (npm install -g promptfoo)")
def test_promptfoo_sends_the_request_of_the_session_to_its_provider(tmp_path: Path) -> None:
    session = replace(
        HOSTILE, model="openai/gpt-6-luna", params={"temperature": 0.25, "max_tokens": 77, "stop": ["{{"]}
    )
    source = source_of(session, COLUMNS[1:2], HOSTILE.cases[:1])
    with LoopbackServer("{}") as server:
        results(tmp_path, source, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="sk-none")
    body = dict(server.requests[0].body)
    wanted = source.first.request.as_dict()
    assert body["messages"] == wanted["messages"]
    sent, schema = body["response_format"]["json_schema"], wanted["response_format"]["json_schema"]
    assert (sent["name"], sent["strict"]) == (schema["name"], schema["strict"])
    assert sent["schema"]["properties"]["one"] == broken(schema["schema"]["$defs"]["Sub"])
    assert (body["model"], body["temperature"], body["max_tokens"], body["stop"]) == (
        "gpt-4o-mini",
        0.25,
        77,
        broken(["{{"]),
    )
