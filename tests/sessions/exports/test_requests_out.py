"""curl, the litellm script and JSON Lines: the request as it is, and no key but by its variable."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loopback_server import LoopbackServer

from adapters.lm.addresses import base_variables, environment_base
from sessions import examples
from sessions.exports import endpoints
from sessions.exports.exported import ExportError, Source, source_of
from sessions.exports.litellm_script import litellm_script
from sessions.exports.requests_out import LONGEST_ARGUMENT, batch, curl, finetune, messages, request
from sessions.model.replies import RecordedAttempt, RecordedCompletion, RecordedReading, Reply
from sessions.model.session import DEFAULT_COLUMNS, Case, Column, Demo, Recording, Session, SignatureText, Tool
from sessions.running import rendering

NASTY = "it's \"quoted\" $HOME `touch pwned` \\ $(touch pwned)\n!\x1b \udc80 é \u2028 '''x''' \"\"\""
ASKED = Session(
    SignatureText("question -> answer, score: float"),
    (Demo({"question": NASTY, "answer": NASTY, "score": 1.0}), Demo({"question": "q"})),
    DEFAULT_COLUMNS,
    (Case(NASTY, {"question": NASTY}), Case("second", {"question": "two"})),
    model="openai/gpt-4o",
    params={"temperature": 0.5, "stop": ["\n\n"], "timeout": 30},
)


FINE_TUNING = {
    "type": "object",
    "required": ["messages"],
    "additionalProperties": False,
    "properties": {
        "messages": {
            "type": "array",
            "contains": {"properties": {"role": {"const": "assistant"}}},
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {
                    "role": {"enum": ["system", "user", "assistant"]},
                    "content": {"type": ["string", "array"]},
                },
            },
        }
    },
}
"""A line of OpenAI's chat format for fine-tuning."""


def source(session: Session = ASKED, column: int = 0, cases: int = 1) -> Source:
    return source_of(session, session.columns[column : column + 1], session.cases[:cases], name=session.name)


def lines(text: str) -> list[Any]:
    assert text.isascii()
    return [json.loads(line) for line in text.split("\n")[:-1]]


def test_messages_and_request_are_what_goes_out() -> None:
    for number in range(3):
        one = source(column=number).first.request
        assert json.loads(messages(source(column=number)).text) == one.prompt.as_dicts()
        assert json.loads(request(source(column=number)).text) == one.as_dict()
    assert any("response_format" in one for one in messages(source(column=1)).left_out)
    markdown = replace(ASKED, columns=(Column("markdown", "markdown"),))
    assert any("this format has no place for them" in one for one in messages(source(markdown)).left_out)


def argument_of(text: str, name: str) -> str:
    words = shlex.split(text.replace("\\\n", " "))
    return words[words.index(name) + 1]


def test_curl_has_the_whole_request_and_names_the_key() -> None:
    made = curl(source(column=1)).text
    assert json.loads(argument_of(made, "--data-binary")) == {
        **source(column=1).first.request.as_dict(),
        "model": "gpt-4o",
    }
    assert '-H "Authorization: Bearer $OPENAI_API_KEY"' in made


def test_a_request_too_long_for_an_argument_goes_in_by_standard_input() -> None:
    long = replace(ASKED, cases=(Case("x", {"question": "BODY_\n" * LONGEST_ARGUMENT}),))
    made = curl(source(long)).text
    done = subprocess.run(["bash"], input="curl() { cat; }\n" + made, capture_output=True, text=True)
    assert json.loads(done.stdout)["messages"] == source(long).first.request.prompt.as_dicts()


@pytest.mark.parametrize("export", [curl, litellm_script, batch])
def test_what_cannot_be_asked_is_refused_or_left_to_the_user(export: Any) -> None:
    offline = replace(ASKED, model="offline/exact")
    if export is litellm_script:
        made = export(source(offline))
        assert 'os.environ["MODEL"]' in made.text and "set the variable MODEL to another" in made.left_out[-1]
        return
    with pytest.raises(ExportError, match="cannot be asked over HTTP, as curl and a batch do; choose a model of: "):
        export(source(offline))


@pytest.mark.parametrize("model", ['x"; touch pwned #/m', "x$(touch pwned)/m", "a b/m"])
def test_the_name_of_a_provider_is_never_code(model: str) -> None:
    with pytest.raises(ExportError, match="cannot be the name of a provider"):
        litellm_script(source(replace(ASKED, model=model)))
    with pytest.raises(ExportError, match="litellm knows no provider"):
        curl(source(replace(ASKED, model=model, params={"api_base": "http://h/v1"})))


def test_an_address_of_the_session_gets_no_key_until_its_host_is_allowed() -> None:
    elsewhere = replace(ASKED, params={"api_base": "http://stranger:1/v1"})
    for export in (curl, litellm_script):
        made = export(source(elsewhere))
        assert "OPENAI_API_KEY" not in made.text and "stranger:1/v1" in made.text
        assert any("--allow-host stranger:1" in one for one in made.left_out)
    allowed = replace(source(elsewhere), allow_hosts=["stranger:1"])
    assert "$OPENAI_API_KEY" in curl(allowed).text
    with pytest.raises(ExportError, match="has characters"):
        curl(source(replace(ASKED, params={"api_base": "http://h/$(touch pwned)"})))


def test_the_script_is_python_in_which_nothing_of_the_text_is_code() -> None:
    named = replace(ASKED, name='"""\nimport os\n' + NASTY)
    made = litellm_script(source(named)).text
    compile(made, "exported", "exec")
    assert made.encode("utf-8")
    assert [line for line in made.split("\n") if line.startswith("import")] == [
        "import os",
        "import sys",
        "import litellm",
    ]


def test_a_batch_has_a_line_a_case_and_column_with_an_id_of_its_own() -> None:
    made = source_of(ASKED, ASKED.columns, ASKED.cases)
    found = lines(batch(made).text)
    assert len({one["custom_id"] for one in found}) == len(found) == 6
    assert all(len(one["custom_id"]) <= 64 for one in found)
    for one, view in zip(found, made.views, strict=True):
        assert (one["method"], one["url"]) == ("POST", "/v1/chat/completions")
        assert one["body"] == {**view.request.as_dict(), "model": "gpt-4o"}
    columns = (*ASKED.columns[:1], replace(ASKED.columns[1], model="openai/gpt-5-mini"))
    with pytest.raises(ExportError, match="a batch is for one model, and there are 2"):
        batch(source_of(ASKED, columns, ASKED.cases))


def test_fine_tuning_data_is_the_complete_demos_and_the_cases_with_an_answer() -> None:
    expecting = {"fields": {"answer": {"equals": "b"}, "score": {"equals": 0.5}}}
    reply = "[[ ## answer ## ]]\nrecorded\n\n[[ ## score ## ]]\n0.25\n\n[[ ## completed ## ]]"
    attempt = RecordedAttempt("chat", completions=(RecordedCompletion(reply, reading=RecordedReading(True)),))
    cases = (
        Case("expects", {"question": "e"}, expect=expecting),
        Case("recorded", {"question": "r"}, recordings={"chat": Recording((), {}, (attempt,), {})}),
        Case("neither", {"question": "n"}),
    )
    made = finetune(source(replace(ASKED, cases=cases), cases=3))
    found = [one["messages"] for one in lines(made.text)]
    for line in lines(made.text):
        jsonschema.validate(line, FINE_TUNING)
    assert [[message["role"] for message in one] for one in found] == [["system", "user", "assistant"]] * 3
    assert [NASTY in found[0][2]["content"], "\nb\n" in found[1][2]["content"]] == [True, True]
    assert "recorded" in found[2][2]["content"] and "0.25" in found[2][2]["content"]
    assert made.left_out == (
        "demo 2: it has no answer, score",
        "case neither: it expects no exact answer, and no reply that is recorded or rated good could be parsed",
    )
    assert any("requires at least 10 examples; this file has 3" in one for one in made.notes)
    assert any("dspy has no fine-tuning data for json" in one for one in finetune(source(column=1)).notes)
    with pytest.raises(ExportError, match="no example to learn from"):
        finetune(source(replace(ASKED, demos=())))


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "markdown"])
def test_a_recorded_answer_beside_calls_in_text_is_learned_without_them(adapter: str) -> None:
    values = '{"answer": "recorded", "score": 0.25, "tool_calls": {"tool_calls": []}}'
    reply = {
        "chat": "[[ ## answer ## ]]\nrecorded\n\n[[ ## score ## ]]\n0.25\n\n[[ ## tool_calls ## ]]\n[]\n\n",
        "json": values,
        "xml": "<answer>recorded</answer><score>0.25</score><tool_calls>[]</tool_calls>",
        "markdown": f"```json\n{values}\n```",
    }[adapter]
    attempt = RecordedAttempt("chat", completions=(RecordedCompletion(reply, reading=RecordedReading(True)),))
    case = Case("c", {"question": "q"}, recordings={"one": Recording((), {}, (attempt,), {})})
    set_tool_input = replace(
        ASKED,
        demos=(),
        columns=(Column("one", adapter),),
        cases=(case,),
        tools=(Tool("search", "Search.", "query: str"),),
        model="offline/exact",
    )
    (line,) = lines(finetune(source(set_tool_input)).text)
    learned = line["messages"][-1]["content"]
    assert "recorded" in learned and "0.25" in learned and "tool_calls" not in learned


def test_a_reply_rated_good_is_learned_and_one_rated_bad_is_not() -> None:
    reply = "[[ ## answer ## ]]\n{}\n\n[[ ## score ## ]]\n1\n\n[[ ## completed ## ]]"
    recording = Recording(
        (),
        {},
        (
            RecordedAttempt(
                "chat", completions=(RecordedCompletion(reply.format("old"), reading=RecordedReading(True)),)
            ),
        ),
        {},
    )
    good, bad = (Reply(reply.format(one), rating=one) for one in ("good", "bad"))
    same = replace(bad, text=reply.format("old"))
    cases = (
        Case("good", {"question": "g"}, replies={"chat": good}, recordings={"chat": recording}),
        Case(
            "bad",
            {"question": "b"},
            replies={"chat": same},
            recordings={"chat": recording},
        ),
        Case("another is bad", {"question": "o"}, replies={"chat": bad}, recordings={"chat": recording}),
        Case("rated, unreadable", {"question": "u"}, replies={"chat": Reply("?", rating="good")}),
    )
    made = finetune(source(replace(ASKED, demos=(), cases=cases), cases=4))
    answers = [one["messages"][-1]["content"] for one in lines(made.text)]
    assert ["\ngood\n" in answers[0], "\nold\n" in answers[1], len(answers)] == [True, True, 2]
    assert made.left_out[0] == "case bad: its reply is rated bad" and "rated, unreadable" in made.left_out[1]


def test_every_export_is_the_same_every_time() -> None:
    session = replace(examples.load("triage"), model="openai/gpt-4o", tools=(Tool("look", "Looks.", "at: str"),))
    for export in (messages, request, curl, litellm_script, batch, finetune):
        assert export(source(session)) == export(source(session))


SENDABLE = replace(ASKED, demos=(), cases=(Case("x", {"question": NASTY.replace("\udc80", "")}),))
HEADERS = {"header_variables": {"X-Org": "OUR_ORG"}}


@pytest.mark.parametrize(
    ("kind", "path"), [("chat", "chat/completions"), ("responses", "responses"), ("text", "completions")]
)
def test_the_api_and_the_headers_by_variable_are_written(kind: str, path: str) -> None:
    one = source(replace(SENDABLE, params={"model_type": kind, **HEADERS}))
    view = one.first
    assert f'/{path}"' in curl(one).text and '-H "X-Org: ${OUR_ORG}"' in curl(one).text
    body = json.loads(argument_of(curl(one).text, "--data-binary"))
    assert body == json.loads(
        json.dumps({**rendering.body_of(view.session, view.column, view.request), "model": "gpt-4o"})
    )
    made = litellm_script(one).text
    compile(made, "exported", "exec")
    assert 'extra_headers={"X-Org": os.environ["OUR_ORG"]}' in made and "model_type" not in made
    assert lines(batch(one).text)[0]["url"] == f"/v1/{path}"
    elsewhere = source(replace(SENDABLE, params={"api_base": "http://stranger:1/v1", **HEADERS}))
    for export in (curl, litellm_script):
        assert "OUR_ORG" not in export(elsewhere).text
        assert any("X-Org" in said for said in export(elsewhere).left_out)


@pytest.mark.parametrize("provider", ["openai", "ollama", "hosted_vllm", "lm_studio"])
def test_curl_asks_at_the_address_that_the_workbench_takes_from_the_environment(provider: str) -> None:
    names = base_variables(provider)
    base = endpoints.COMPATIBLE[provider]
    for set_ in ({names[0]: "http://a:1"}, {names[1]: "http://b:2"}, dict.fromkeys(names, "http://a:1")):
        said = subprocess.run(["sh", "-c", f'echo "{base}"'], env=set_, capture_output=True, text=True, check=True)
        assert said.stdout.strip().removesuffix("/v1") == environment_base(provider, set_)


HOSTILE = 'gemini/a"b`touch pwned`$(touch pwned)$OPENAI_API_KEY'


def test_curl_has_the_request_that_litellm_writes_and_runs_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_BASE", "GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for model in ("gemini/gemini-3.8-flash", HOSTILE):
        text = curl(source(replace(SENDABLE, model=model))).text
        command = text.replace("curl ", "printf '%s\\n' ", 1)
        env = {"PATH": os.environ["PATH"], "GEMINI_API_KEY": "g-key", "OPENAI_API_KEY": "o-key"}
        said = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
        url, *rest = said.stdout.splitlines()
        assert url.startswith("https://generativelanguage.googleapis.com/") and url.endswith(":generateContent")
        assert "x-goog-api-key: g-key" in rest and "o-key" not in said.stdout
        assert set(json.loads(argument_of(text, "--data-binary"))) == {
            "contents",
            "systemInstruction",
            "generationConfig",
        }
    assert not list(tmp_path.iterdir())


def test_curl_signs_a_request_to_aws_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    monkeypatch.setenv("AWS_REGION_NAME", "eu-west-1")
    text = curl(source(replace(SENDABLE, model="bedrock/amazon.nova-pro-v1:0"))).text
    assert '--aws-sigv4 "aws:amz:eu-west-1:bedrock"' in text and "Signature" not in text
    assert '--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"' in text


def test_curl_says_why_litellm_shows_no_request() -> None:
    with pytest.raises(ExportError, match="litellm knows no provider"):
        curl(source(replace(ASKED, model="nobody/any")))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/gpt-6-sol", "openai/o3"])
def test_curl_and_the_script_ask_a_server_as_the_workbench_does(tmp_path: Path, model: str) -> None:
    asked = replace(
        ASKED,
        model=model,
        params={"stop": ["\n\n"], "max_tokens": 20_000},
        cases=(Case("x", {"question": NASTY.replace("\udc80", "")}),),
        demos=(),
    )
    one = source(asked, column=1)
    (tmp_path / "ask.sh").write_text(curl(one).text, encoding="utf-8")
    (tmp_path / "ask.py").write_text(litellm_script(one).text, encoding="utf-8")
    wanted = {**rendering.body_of(asked, asked.columns[1], one.first.request), "model": one.first.model[7:]}
    with LoopbackServer("Hello there.", "ok") as server:
        bases = dict.fromkeys(("OPENAI_API_BASE", "OPENAI_BASE_URL"), server.url)
        more = {**bases, "OPENAI_API_KEY": "sk-none", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1"}
        for words in (["sh", "ask.sh"], [sys.executable, "ask.py"]):
            done = subprocess.run(words, cwd=tmp_path, env={**os.environ, **more}, capture_output=True, text=True)
            assert done.returncode == 0 and "Hello there." in done.stdout, done.stderr[-3000:]
        for seen in server.requests:
            assert {key: value for key, value in seen.body.items() if key not in ("extra_body",)} == wanted
            assert seen.headers["authorization"] == "Bearer sk-none"
        assert len(server.requests) == 2
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(("digest", "is_old"), [(None, False), ("of the prompt", False), ("of another", True)])
def test_an_answer_to_another_prompt_is_noted_where_it_is_learned(digest: str | None, is_old: bool) -> None:
    reply = Reply("[[ ## answer ## ]]\nYes.\n\n[[ ## completed ## ]]", source="pasted", rating="good")
    session = Session(SignatureText("question -> answer"), columns=(Column("chat", "chat"),))
    case = Case("one", {"question": "q"})
    if digest is not None:
        own = source(session.replace_case(replace(session.cases[0], inputs=case.inputs))).first.request.digest()
        reply = replace(reply, request_digest=own if digest == "of the prompt" else digest)
    session = replace(session, cases=(replace(case, replies={"chat": reply}),))
    made = finetune(source(session))
    assert ("its reply answers another prompt or model" in "".join(made.notes)) is is_old
    assert len(lines(made.text)) == 1
