from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sessions.file import store
from sessions.model.replies import Reply
from workbench.output import exit_codes

Run = Callable[..., Any]


def test_a_session_without_recordings_exits_4_and_never_passes(rain: str, run: Run) -> None:
    done = run("check", rain, "--json")
    assert done.code == exit_codes.NOTHING
    assert done.json["passed"] == 0
    assert "nothing recorded" in run("check", rain).out


def test_a_folder_without_sessions_exits_4(run: Run) -> None:
    Path("empty").mkdir()
    assert run("check", "empty").code == exit_codes.NOTHING


def test_recording_without_a_reply_exits_4_and_changes_nothing(rain: str, run: Run) -> None:
    before = Path(rain).read_bytes()
    done = run("record", rain)
    assert done.code == exit_codes.NOTHING
    assert "has no reply to record" in done.err
    assert Path(rain).read_bytes() == before


def test_record_freezes_the_reply_last_shown(rain: str, run: Run) -> None:
    session = store.load(rain)
    reply = Reply('{"answer": "yes", "score": 0.5}', source="pasted", model="offline/exact")
    store.save(session.replace_case(replace(session.cases[0], replies={"json": reply})), rain)

    done = run("record", rain, "--json")
    assert done.code == 0, done.err
    assert done.json == {"path": rain, "recorded": [{"case": session.cases[0].name, "column": "json"}]}
    assert store.load(rain).cases[0].recordings["json"].source == "pasted"
    assert run("check", rain).code == 0


def test_a_reply_to_another_prompt_is_named_when_it_is_recorded(rain: str, run: Run) -> None:
    run("send", rain, "--save", "--adapter", "chat")
    assert "another prompt" not in run("record", rain).err
    session = store.load(rain)
    store.save(replace(session, signature=replace(session.signature, instructions="Say whether it snows.")), rain)

    done = run("record", rain, "--json")
    assert done.code == 0
    assert done.json["recorded"] == [{"case": session.cases[0].name, "column": "chat", "outdated": True}]
    assert f"{session.cases[0].name} · chat: the reply answers another prompt or model; `workbench send" in done.err

    more = tuple([replace(session.cases[0], name=f"copy {number}") for number in range(6)])
    changed = replace(session.signature, instructions="Say whether it snows.")
    store.save(replace(session, signature=changed, cases=(*session.cases, *more)), rain)
    done = run("record", rain)
    assert "copy 3 · chat and 2 more: the replies answer another prompt or model" in done.err


def test_one_changed_word_of_the_instructions_is_drift_of_just_that(rain: str, run: Run) -> None:
    run("send", rain, "--save")
    session = store.load(rain)
    store.save(replace(session, signature=replace(session.signature, instructions="Say whether it rains.")), "a.json")
    run("send", "a.json", "--save")
    shutil.copy("a.json", "b.json")
    text = Path("b.json").read_text().replace("Say whether it rains.", "Say whether it snows.", 1)
    Path("b.json").write_text(text)

    assert run("check", "a.json").code == 0
    done = run("check", "b.json")
    assert done.code == exit_codes.DIFFERENT
    changed = [line.strip() for line in done.out.splitlines() if line.strip()[:1] in ("-", "+")]
    assert changed
    assert all("rains" in line or "snows" in line for line in changed)

    fixtures = run("check", "b.json", "--json").json
    assert fixtures["failed"] == 3
    for one in fixtures["fixtures"]:
        assert set(one) >= {"path", "case", "column", "verdicts", "drift"}
        assert one["verdicts"]["render"] == "drift"
        assert one["verdicts"]["parse"] == "pass"
        assert one["drift"]


def test_update_accepts_todays_prompt_and_keeps_the_replies(rain: str, run: Run) -> None:
    run("send", rain, "--save")
    session = store.load(rain)
    changed = replace(session, signature=replace(session.signature, instructions="Say whether it rains."))
    store.save(changed, rain)
    assert run("check", rain, "--adapter", "chat").code == exit_codes.DIFFERENT

    done = run("check", rain, "--adapter", "chat", "--update")
    assert (done.code, done.err) == (0, f"{rain}: recorded again\n")
    recordings = store.load(rain).cases[0].recordings
    assert "Say whether it rains." in recordings["chat"].messages[0]["content"]
    assert recordings["chat"].attempts == session.cases[0].recordings["chat"].attempts
    assert recordings["json"] == session.cases[0].recordings["json"]
    assert run("check", rain).code == exit_codes.DIFFERENT


def test_a_folder_is_checked_as_a_whole_and_the_worst_counts(rain: str, run: Run) -> None:
    Path("prompts").mkdir()
    run("send", rain, "--save")
    shutil.move(rain, "prompts/good.json")
    assert run("check", "prompts").code == 0
    run("new", "a -> b", "-o", "prompts/empty.json")
    assert run("check", "prompts").code == exit_codes.NOTHING
    Path("prompts/bad.session.json").write_text('{"format": 0')
    done = run("check", "prompts")
    assert done.code == exit_codes.USAGE
    assert "bad.session.json" in done.err


def test_a_broken_file_names_the_place(run: Run) -> None:
    Path("bad.json").write_text('{"format": 0,\n "signature": }')
    for command in ("check", "render", "send", "record", "parse", "export"):
        done = run(command, "bad.json")
        assert done.code == exit_codes.USAGE
        assert "bad.json: line 2" in done.err
        assert len(done.err.splitlines()) == 1
