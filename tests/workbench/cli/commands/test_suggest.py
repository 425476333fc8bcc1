"""`suggest`: another wording from a model, which nothing of the session is changed by unless it is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_server import CANARY, LoopbackServer

from sessions.file import store
from sessions.model.replies import Reply
from workbench.output import exit_codes

Run = Callable[..., Any]
BETTER = "Say yes or no.\nScore how sure you are, from 0 to 1."


def rewritten(text: str) -> str:
    return f"[[ ## rewrite ## ]]\n{text}\n\n[[ ## completed ## ]]"


@pytest.fixture
def failed(rain: str) -> str:
    """The session, with a reply that does not parse and one that is not what its case expects."""
    session = store.load(rain)
    (case,) = session.cases
    right = '{"answer": "no", "score": 0.9}'
    replies = {
        "chat": Reply("I would rather not say [/x]."),
        "json": Reply(right),
        "xml": Reply("<answer>yes</answer>"),
    }
    expect = {"fields": {"answer": {"equals": "yes"}}}
    store.save(session.replace_case(replace(case, replies=replies, expect=expect)), rain)
    return rain


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Callable[[LoopbackServer], None]:
    def use(server: LoopbackServer) -> None:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    return use


@pytest.mark.slow
def test_the_model_sees_the_text_and_what_went_wrong_and_its_rewrite_is_a_diff_and_nothing_more(
    failed: str, run: Run, provider: Callable[[LoopbackServer], None]
) -> None:
    before = Path(failed).read_bytes()
    with LoopbackServer(rewritten(BETTER)) as server:
        provider(server)
        done = run("suggest", failed, "--model", "openai/any-name", "--wish", "Be strict.")
        (asked,) = server.requests
    assert done.code == exit_codes.OK, done.err
    prompt = "\n".join(str(message["content"]) for message in asked.body["messages"])
    for part in ("Given the fields", "Be strict.", "I would rather not say", "AdapterParseError", "Is it raining?"):
        assert part in prompt
    assert "expected yes, got no" in prompt
    assert "+Say yes or no." in done.out and "-Given the fields" in done.out
    assert "3 replies that went wrong" in done.err and "nothing was written" in done.err
    assert Path(failed).read_bytes() == before and CANARY not in done.out + done.err


def test_what_is_taken_is_a_variant_and_nothing_else_has_changed(
    failed: str, run: Run, provider: Callable[[LoopbackServer], None]
) -> None:
    before = store.load(failed)
    with LoopbackServer(rewritten(BETTER)) as server:
        provider(server)
        words = ("suggest", failed, "--model", "openai/any-name", "--take")
        assert run(*words).code == exit_codes.OK
        assert run(*words, "--of", "fields.score.desc").code == exit_codes.OK
        assert run(*words, "--tag", "mine", "--json").json["suggestion"]["tag"] == "mine"
        assert run(*words, "--tag", "mine").code == exit_codes.USAGE
        assert len(server.requests) == 3, "a tag that is taken is said before any call"
    after = store.load(failed)
    assert replace(after, variants=()) == before
    assert [(one.tag, one.of, one.text) for one in after.variants] == [
        ("suggested", "instructions", BETTER),
        ("suggested-2", "fields.score.desc", BETTER),
        ("mine", "instructions", BETTER),
    ]
    shown = run("render", failed, "--adapter", "chat", "--variant", "mine", "--json").json["prompts"]
    assert "Say yes or no." in shown["chat · mine"]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "behaviour", "said"),
    [
        (rewritten(""), "ok", "no suggestion"),
        ("Sure! Here it is.", "ok", "no suggestion"),
        (rewritten(BETTER), "401", "no suggestion"),
        (rewritten(BETTER), "close-in-stream", "no suggestion"),
    ],
)
def test_no_rewrite_is_said_in_one_line_and_leaves_nothing(
    rain: str, run: Run, provider: Callable[[LoopbackServer], None], reply: str, behaviour: str, said: str
) -> None:
    before = Path(rain).read_bytes()
    with LoopbackServer(reply, behaviour) as server:
        provider(server)
        done = run("suggest", rain, "--model", "openai/any-name", "--take")
    assert done.code == exit_codes.PROVIDER and said in done.err and done.out == ""
    assert Path(rain).read_bytes() == before and CANARY not in done.err


@pytest.mark.parametrize("of", ["fields.nobody.desc", "fields.score", "", "[/x]\x1b[2J"])
def test_what_is_no_text_of_the_signature_is_refused_before_any_call(of: str, rain: str, run: Run) -> None:
    done = run("suggest", rain, "--of", of, "--model", "openai/never-called")
    assert done.code == exit_codes.USAGE and "fields.score.desc" in done.err and "\x1b" not in done.err


def test_a_limit_that_is_no_amount_is_refused_before_any_call(rain: str, run: Run) -> None:
    done = run("suggest", rain, "--bench", "--max-cost", "much", "--model", "openai/never-called")
    assert done.code == exit_codes.USAGE and "'much': expected an amount of US dollars" in done.err


def test_without_a_key_the_sessions_offline_model_answers(rain: str, run: Run) -> None:
    done = run("suggest", rain)
    assert done.code == exit_codes.PROVIDER and "the model left the text as it is" in done.err
    session = store.load(rain)
    long = replace(session.signature, instructions="Answer the question. Then say how sure you are.")
    store.save(replace(session, signature=long), rain)
    done = run("suggest", rain)
    assert done.code == exit_codes.OK and "asking offline/exact, with 0 replies" in done.err and "+" in done.out


@pytest.mark.slow
def test_an_address_of_the_session_gets_no_key_that_was_not_allowed_for_it(
    rain: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    with LoopbackServer(rewritten(BETTER)) as server:
        session = store.load(rain)
        store.save(replace(session, model="openai/any-name", params={"api_base": server.url}), rain)
        assert run("suggest", rain).code == exit_codes.OK
        assert run("suggest", rain, "--allow-host", f"127.0.0.1:{server.port}").code == exit_codes.OK
        without, with_key = server.requests
    assert CANARY not in str(without.headers) and CANARY in str(with_key.headers)


def test_a_variable_goes_out_in_a_header_of_the_session_only_where_it_is_allowed(
    rain: str, run: Run, provider: Callable[[LoopbackServer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_ORG", "org-of-ours")
    with LoopbackServer(rewritten(BETTER)) as server:
        provider(server)
        session = store.load(rain)
        params = {"header_variables": {"X-Org": "OUR_ORG"}}
        store.save(replace(session, model="openai/any-name", params=params), rain)
        assert run("suggest", rain).code == exit_codes.PROVIDER and not server.requests
        assert run("suggest", rain, "--allow-variable", "OUR_ORG").code == exit_codes.OK
        (asked,) = server.requests
    assert "org-of-ours" in str(asked.headers)


def test_it_learns_from_half_of_the_bench_and_benches_its_answer(
    rain: str, run: Run, provider: Callable[[LoopbackServer], None]
) -> None:
    session = store.load(rain)
    (first,) = session.cases
    cases = [replace(first, name=f"case {n}", expect={"fields": {"answer": {"equals": "yes"}}}) for n in range(8)]
    store.save(replace(session, cases=tuple(cases), model="openai/any-name"), rain)

    def answer(body: Any) -> str:
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        if "[[ ## rewrite ## ]]" in prompt:
            return rewritten(BETTER)
        said = "yes" if BETTER.splitlines()[0] in prompt else "no"
        return f"[[ ## answer ## ]]\n{said}\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]"

    with LoopbackServer(answer) as server:
        provider(server)
        words = ("suggest", rain, "--bench", "--jobs", "2", "--repeat", "1", "--max-cost", "1")
        assert run(*words).code == exit_codes.NOTHING  # there is no bench to learn from
        assert run("bench", rain, "--adapter", "chat").code == 0
        done = run(*words[:-2], "--json").json["suggestion"]
        asked = next(one for one in server.requests if "[[ ## rewrite ## ]]" in str(one.body))
    assert str(asked.body).count("answer: not as expected") == done["failures"] == 4
    assert (done["tag"], done["taken"]) == ("suggested", True)
    (gain,) = done["gains"]
    assert (gain["column"], gain["withheld"]["cases"], gain["shown"]["difference"]) == ("chat", 4, 1.0)
    assert gain["words"].startswith("chat: no gain is certain on the withheld half.")  # four cases cannot show any
    assert "best: chat · suggested · worse: chat (p = 0.0078)" in done["verdict"]
    assert len(server.requests) == 8 + 1 + 8
