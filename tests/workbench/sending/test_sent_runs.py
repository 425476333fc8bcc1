"""Everything sent is found by its words and facts, opens as it was, and takes no more room than stated."""

import json
import os
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.model.session import Case, Column, Demo, Session, SignatureText
from workbench.sending import sent_runs
from workbench.sending.sent_runs import PastRun, SentRuns, Wanted, wanted_of

RUN = PastRun(
    "2026-01-02T03:04:05",
    "first",
    "chat",
    "offline/exact",
    "done",
    1.5,
    "a reply\nof Müller [/x]\x1b\ud800\x00",
    values={"n": 1},
    adapter="chat",
    session="tickets",
    path="/srv/a/t.session.json",
    messages=(("system", "Classify the ticket."), ("user", "The export is empty.")),
)
SESSION = Session(
    SignatureText("ticket -> label"),
    demos=(Demo({"ticket": "x", "label": "y"}),),
    columns=(Column("chat", "chat"),),
    cases=(Case("first", {"ticket": "The export is empty.\ud800"}), Case("second")),
    name="tickets",
)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SentRuns:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return SentRuns(sent_runs.sent_file(), 10)


def found(kept: SentRuns, wanted: Wanted) -> list[str]:
    return [one.column for one in kept.search(wanted).runs]


def test_a_run_is_whole_again_with_its_session_as_it_was(kept: SentRuns) -> None:
    kept.add(RUN, SESSION)
    (listed,) = kept.search(Wanted()).runs
    whole = kept.whole(listed.id)
    assert whole is not None and replace(whole, id=0) == RUN
    assert kept.session_of(listed.id) == replace(SESSION, cases=SESSION.cases[:1])
    assert kept.whole(99) is None and kept.session_of(99) is None


def test_a_run_that_an_earlier_version_stored_with_a_rating_is_found_and_whole(kept: SentRuns) -> None:
    kept.add(RUN)
    kept.close()
    with closing(sqlite3.connect(sent_runs.sent_file())) as opened, opened:
        opened.execute("UPDATE runs SET head = json_set(head, '$.rating', 'good', '$.note', 'so so')")
    (listed,) = kept.search(Wanted()).runs
    assert kept.whole(listed.id) == replace(RUN, id=listed.id)


def test_words_of_prompt_reply_error_and_session_find_a_run(kept: SentRuns) -> None:
    kept.add(RUN, SESSION)
    failed = replace(RUN, column="json", text="", error="response: no field label", phase="failed", messages=())
    kept.add(replace(failed, model="openai/gpt-6", at="2026-02-03T00:00:00", path="/srv/ab/s.json", adapter="json"))
    for words in ("empty", "CLASSIF ticket", "müller", "reply export", "exact", '"export"*', "tickets  first"):
        assert "chat" in found(kept, Wanted(words=words)), words
    assert found(kept, Wanted(words="field labe")) == ["json"]
    assert found(kept, Wanted(words="export field")) == found(kept, Wanted(words="xport")) == []
    assert found(kept, Wanted(model="GPT")) == found(kept, Wanted(failed=True)) == ["json"]
    assert found(kept, Wanted(adapter="chat")) == found(kept, Wanted(until="2026-01-02")) == ["chat"]
    assert found(kept, Wanted(since="2026-01-03")) == ["json"]
    assert found(kept, Wanted(folder="/srv/a")) == ["chat"]
    assert found(kept, Wanted(folder="/srv")) == ["json", "chat"]
    assert found(kept, Wanted(path="/srv/ab/s.json", case="first")) == ["json"]
    assert found(kept, Wanted(words="\ud800 \x00 '; DROP TABLE runs")) == []


def test_a_pasted_reply_of_thousands_of_words_finds_its_run(kept: SentRuns) -> None:
    long = " ".join(f"word{n}" for n in range(2_000))
    kept.add(replace(RUN, text=long), SESSION)
    kept.add(replace(RUN, column="json"), SESSION)
    assert found(kept, Wanted(words=long)) == ["chat"]


def test_a_search_line_has_words_and_filters() -> None:
    within = Wanted(folder="/x")
    line = "two words model:gpt adapter:json is:failed since:2026-11-01 until:2026-11-02 model: http://x"
    assert wanted_of(line, within) == Wanted(
        "two words http://x", "gpt", "json", True, "2026-11-01", "2026-11-02", folder="/x"
    )


def test_texts_are_stored_once_and_the_oldest_runs_make_room(kept: SentRuns) -> None:
    for number in range(60):
        kept.add(replace(RUN, text=f"reply {number}", messages=(("system", "long " * 20_000),)), SESSION)
    assert kept.size()[1] < 1_000_000
    small = SentRuns(None, 1)
    for number in range(60):
        small.add(replace(RUN, at=f"2026-01-01T00:00:{number:02}", text=os.urandom(30_000).hex(), values={}))
        assert small.size()[1] <= 1_000_000
    count, _ = small.size()
    assert 5 < count < 60
    assert small.search(Wanted()).runs[0].at == "2026-01-01T00:00:59"
    assert small.search(Wanted(words="reply")).count == 0


def test_only_the_user_may_read_it_and_secrets_of_the_environment_are_not_in_it(
    kept: SentRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", "secret-4711-xyz")
    said = replace(RUN, text="my key is secret-4711-xyz", values={"n": "secret-4711-xyz"}, error="secret-4711-xyz")
    kept.add(said, replace(SESSION, cases=(Case("first", {"ticket": "secret-4711-xyz"}),)))
    kept.close()
    file = sent_runs.sent_file()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"4711" not in b"".join(one.read_bytes() for one in file.parent.iterdir())
    run = kept.whole(1)
    again = kept.session_of(1)
    assert run is not None and run.text == "my key is [ACME_API_KEY]"
    assert again is not None and again.cases[0].inputs == {"ticket": "[ACME_API_KEY]"}


def test_everything_is_cleared_and_a_damaged_file_is_named(kept: SentRuns) -> None:
    kept.add(RUN, SESSION)
    kept.close()
    (sent_runs.sent_file().parent / "old-1.jsonl").write_text("{}")
    assert sent_runs.clear() > 0
    assert list(sent_runs.sent_file().parent.iterdir()) == []
    sent_runs.sent_file().write_bytes(b"no database at all" * 1000)
    with pytest.raises(sent_runs.sqlite3.DatabaseError) as error:
        kept.search(Wanted())
    assert "workbench runs --clear" in sent_runs.plain_words(error.value)


def test_a_full_disk_is_named_with_its_file(kept: SentRuns) -> None:
    kept.add(RUN, SESSION)
    with kept._connection() as opened:
        opened.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sent_runs.sqlite3.OperationalError) as error:
            opened.execute("INSERT INTO texts (body) VALUES (randomblob(100000))")
    assert sent_runs.plain_words(error.value) == (
        f"{sent_runs.sent_file()}: database or disk is full (free some space, or delete the kept runs with "
        "`workbench runs --clear`)"
    )


def test_a_text_that_is_not_unicode_is_told() -> None:
    with closing(sqlite3.connect(":memory:")) as opened, pytest.raises(sqlite3.OperationalError) as error:
        opened.execute("SELECT CAST(x'ff' AS TEXT) AS body").fetchall()
    assert sent_runs.plain_words(error.value) == "Could not decode to UTF-8 column 'body' with text '\ufffd'"


def test_a_huge_session_is_left_out_and_long_texts_are_cut(kept: SentRuns) -> None:
    huge = replace(SESSION, cases=(Case("first", {"ticket": "x" * 5_000_000}),))
    kept.add(replace(RUN, text="y" * 10_000_000), huge)
    run = kept.whole(1)
    assert run is not None and len(run.text) == sent_runs.LONGEST_TEXT
    assert kept.session_of(1) is None


def test_runs_move_with_the_file_that_their_session_gets(kept: SentRuns) -> None:
    kept.add(replace(RUN, path="/srv/(unsaved 1)"), SESSION)
    kept.move("/srv/(unsaved 1)", "/srv/new.json")
    (moved,) = kept.search(Wanted(path="/srv/new.json")).runs
    assert moved.path == "/srv/new.json"
    assert json.dumps(moved.case) == '"first"'


def test_words_of_chinese_and_japanese_are_found_within_a_sentence(kept: SentRuns) -> None:
    kept.add(replace(RUN, column="chat", text="这是一个中文的问题，ticket 17。\ud800"))
    kept.add(replace(RUN, column="json", text="東京タワーはどこですか"))
    for words, columns in (
        ("中文", ["chat"]),
        ("文中", []),
        ("中文 tick", ["chat"]),
        ("タワー", ["json"]),
        ("京タ", ["json"]),
    ):
        assert found(kept, Wanted(words=words)) == columns, words


def test_a_file_of_an_earlier_release_is_indexed_anew(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    older = SentRuns(file, 10)
    older.add(replace(RUN, column="chat", text="中文的问题"))
    older.close()
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute("INSERT INTO words (words) VALUES ('rebuild')")
        opened.execute("PRAGMA user_version = 0")
    with closing(SentRuns(file, 10)) as again:
        assert found(again, Wanted(words="问题")) == ["chat"]
        again._most = 1
        again.add(replace(RUN, column="json", text="又一个问题"))
        assert found(again, Wanted(words="问题")) == ["json"]
        with again._connection() as opened:
            opened.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 0)")
