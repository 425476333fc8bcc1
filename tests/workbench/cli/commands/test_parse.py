from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.output import exit_codes

Run = Callable[..., Any]

REPLIES = {
    "chat": "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]\n",
    "json": 'Sure! ```json\n{"answer": "yes", "score": 0.9}\n```',
    "xml": "<answer>\nyes\n</answer>\n<score>\n0.9\n</score>\n",
}


@pytest.mark.parametrize("adapter", REPLIES)
def test_a_good_reply_gives_values(adapter: str, rain: str, run: Run) -> None:
    done = run("parse", rain, "--adapter", adapter, "--json", stdin=REPLIES[adapter])
    reading = done.json["readings"][adapter]
    assert done.code == 0
    assert reading["ok"]
    assert reading["error"] is None
    assert reading["values"] == {"answer": "yes", "score": 0.9}
    assert reading["fields"]["score"]["value"] == 0.9
    assert reading["fields"]["score"]["steps"][-1]["after"] == 0.9


@pytest.mark.parametrize("adapter", REPLIES)
@pytest.mark.parametrize(
    "reply",
    [
        *REPLIES.values(),
        "",
        "\ufeff \r\n plain \x1b[31m words \u2028",
        "[[ ## answer ## ]] maybe [[/x]] [bold]",
        '{"answer": "yes", "score": }',
        "<answer>no",
        "\ud83d lone",
        "[" * 5000,
    ],
)
def test_spans_joined_are_the_reply(adapter: str, reply: str, rain: str, run: Run) -> None:
    done = run("parse", rain, "--adapter", adapter, "--json", stdin=reply)
    reading = done.json["readings"][adapter]
    assert "".join(reply[one["start"] : one["end"]] for one in reading["spans"]) == reply
    assert done.code == (0 if reading["ok"] else exit_codes.DIFFERENT)


def test_a_bad_reply_exits_1_and_names_the_place(rain: str, run: Run) -> None:
    reply = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\nquite high\n"
    done = run("parse", rain, "--adapter", "chat", stdin=reply)
    assert done.code == exit_codes.DIFFERENT
    assert "not parsed at line 5, column 1, field score" in done.out

    error = run("parse", rain, "--adapter", "chat", "--json", stdin=reply).json["readings"]["chat"]["error"]
    assert error["type"] == "AdapterParseError"
    assert (error["field"], error["line"]) == ("score", 5)


def test_the_worst_of_several_columns_counts(rain: str, run: Run) -> None:
    done = run("parse", rain, "--json", stdin=REPLIES["json"])
    assert {name: one["ok"] for name, one in done.json["readings"].items()} == {
        "chat": False,
        "json": True,
        "xml": False,
    }
    assert done.code == exit_codes.DIFFERENT


def test_a_reply_comes_from_a_file_exactly_as_it_is(rain: str, run: Run) -> None:
    reply = "\ufeff" + REPLIES["chat"].replace("\n", "\r\n")
    Path("reply.txt").write_bytes(reply.encode())
    reading = run("parse", rain, "--adapter", "chat", "--response", "reply.txt", "--json").json["readings"]["chat"]
    assert reading["spans"][-1]["end"] == len(reply)


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (["--response", "gone.txt"], b"", "gone.txt: no such file"),
        ([], b"abc\xff\xfe", "standard input: byte 3 is not UTF-8"),
    ],
)
def test_what_cannot_be_read_as_a_reply_is_said(words: list[str], stdin: bytes, said: str, rain: str, run: Run) -> None:
    done = run("parse", rain, "--adapter", "chat", *words, stdin=stdin)
    assert done.code == exit_codes.USAGE
    assert said in done.err


@pytest.mark.parametrize("depth", [100, 900, 50_000])
def test_a_deep_reply_gets_a_verdict(depth: int, run: Run) -> None:
    run("new", "x -> y: Any", "-o", "any.json")
    reply = '{"y": ' + "[" * depth + "]" * depth + "}"
    assert run("parse", "any.json", stdin=reply).code == exit_codes.DIFFERENT  # for chat and xml it is no reply
    reading = run("parse", "any.json", "--adapter", "json", "--json", stdin=reply).json["readings"]["json"]
    assert reading["ok"] or reading["error"]["type"]


def test_ten_megabytes_get_a_verdict(run: Run) -> None:
    run("new", "x -> y", "-o", "s.json")
    reply = "[[ ## y ## ]]\n" + "z" * 10_000_000
    done = run("parse", "s.json", "--adapter", "chat", "--json", stdin=reply)
    spans = done.json["readings"]["chat"]["spans"]
    assert (spans[0]["start"], spans[-1]["end"]) == (0, len(reply))


def test_two_step_needs_its_extraction(rain: str, run: Run) -> None:
    Path("extraction.txt").write_text(REPLIES["chat"])
    alone = run("parse", rain, "--adapter", "twostep", "--json", stdin="It does rain.")
    assert alone.code == exit_codes.DIFFERENT
    both = run("parse", rain, "--adapter", "twostep", "--extraction", "extraction.txt", "--json", stdin="It does rain.")
    assert both.json["readings"]["twostep"]["values"] == {"answer": "yes", "score": 0.9}


def test_the_field_that_tools_have_added_is_no_stranger(rain: str, run: Run) -> None:
    session = json.loads(Path(rain).read_text())
    session["tools"] = [{"name": "look", "description": "Looks out.", "parameters": "place: str"}]
    Path(rain).write_text(json.dumps(session))
    reply = '{"answer": "yes", "score": 0.9, "tool_calls": {"tool_calls": []}}'
    reading = run("parse", rain, "--adapter", "json", "--json", stdin=reply).json["readings"]["json"]
    assert reading["flags"] == []
    assert reading["values"] == {"answer": "yes", "score": 0.9}
    assert reading["fields"]["tool_calls"]["state"] == "read"


def test_an_adapter_of_ones_own_in_a_session_that_cannot_be_read_is_refused(run: Run, tmp_path: Path) -> None:
    """The column's adapter is looked at first; then the signature, which no value of may be computed."""
    unreadable = [
        "class A(dspy.Signature):",
        "    q: str = dspy.InputField(ge=10**10**8)",
        "    a: str = dspy.OutputField()",
    ]
    session = {"format": 1, "signature": {"text": unreadable}, "columns": [{"id": "c", "adapter": "chat:x"}]}
    Path("r.json").write_text(json.dumps(session))
    done = run("parse", "r.json", stdin="x")
    assert done.code == exit_codes.USAGE
    assert "'chat:x' is Python code, which a session may not load by itself" in done.err
    session["columns"] = [{"id": "c", "adapter": "chat"}]
    Path("r.json").write_text(json.dumps(session))
    done = run("parse", "r.json", stdin="x")
    assert done.code == exit_codes.USAGE
    assert "the signature, line 2, column 33: 10 ** 10 ** 8" in done.err


def test_chunks_show_what_a_listener_on_each_output_would_emit(rain: str, run: Run) -> None:
    chunks = ["[[ ## answer", " ## ]]\n", "yes", "\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]"]
    Path("chunks.jsonl").write_text("\n".join(map(json.dumps, chunks)) + "\n")
    done = run("parse", rain, "--adapter", "chat", "--chunks", "chunks.jsonl", "--json")
    assert done.code == exit_codes.OK, done.err
    reading = done.json["readings"]["chat"]
    assert reading["values"] == {"answer": "yes", "score": 0.9}
    assert reading["stream"] == [
        {"field": "answer", "chunk": "yes", "is_last": False, "at": 2},
        {"field": "answer", "chunk": "", "is_last": True, "at": 3},
    ]
    done = run("parse", rain, "--adapter", "chat", "baml", "--chunks", "chunks.jsonl")
    assert "stream of answer: 2 of 4 chunks, ends with chunk 4" in done.out
    assert "stream of score: 0 of 4 chunks" in done.out
    assert "! never emitted: one chunk contains the whole field, which dspy takes for a cached reply" in done.out
    assert "dspy has no streaming for baml" in done.out
    assert (
        run("parse", rain, "--adapter", "baml", "--chunks", "chunks.jsonl", "--json").json["readings"]["baml"]["stream"]
        is None
    )


@pytest.mark.parametrize(("content", "said"), [("x", "line 1"), ('"a"\n3', "line 2: a chunk is a JSON string")])
def test_chunks_that_are_none_are_named_by_their_line(rain: str, run: Run, content: str, said: str) -> None:
    Path("chunks.jsonl").write_text(content)
    done = run("parse", rain, "--chunks", "chunks.jsonl")
    assert done.code == exit_codes.USAGE and said in done.err
    done = run("parse", rain, "--chunks", "chunks.jsonl", "--response", "-")
    assert done.code == exit_codes.USAGE and "not by both" in done.err


def test_fixes_say_whether_this_reply_would_then_parse(rain: str, run: Run) -> None:
    reply = "[[ ## answer ## ]]\nmaybe\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]"
    done = run("parse", rain, "--adapter", "chat", "--fixes", "--json", stdin=reply)
    best = done.json["readings"]["chat"]["fixes"][0]
    assert best["kind"] == "type"
    assert best["parses"] is True
    assert best["verdict"] == "this reply would parse"
    assert any("maybe" in line for one in best["prompt"] for line in one["lines"])
    text = run("parse", rain, "--adapter", "chat", "--fixes", stdin=reply).out
    assert "fix 1 (type): Allow 'maybe' in `answer`. → this reply would parse" in text
    assert "fixes" not in run("parse", rain, "--adapter", "chat", "--json", stdin=reply).json["readings"]["chat"]
