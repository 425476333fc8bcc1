"""What F9 says: what differs, and apart from it what has no reply yet, with the key that gives it one."""

from dataclasses import replace

from sessions import examples
from sessions.checking import checking
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running.recording import record
from tests.support.open_app import Desk, at_the_desk
from workbench.tui.actions.checking import said_of
from workbench.tui.keys import USUAL, KeyWords

PLAIN = Session(SignatureText("question -> answer"), (), (Column("chat", "chat"),), (Case("case", {"question": "Q?"}),))
EXPECTING = replace(PLAIN, cases=(replace(PLAIN.cases[0], expect={"fields": {"answer": {"equals": "A"}}}),))


def replied(session: Session, answer: str) -> Session:
    text = f"[[ ## answer ## ]]\n{answer}\n\n[[ ## completed ## ]]"
    case = replace(session.cases[0], replies={"chat": Reply(text, source="pasted")})
    return replace(session, cases=(case, *session.cases[1:]))


def recorded(session: Session) -> Session:
    return record(session, session.cases[0], session.columns[0])


def test_without_recordings_it_says_how_there_is_one() -> None:
    said = said_of(checking.check(PLAIN), "case", KeyWords({"app.record": "f15"}))
    assert said.text == "Nothing is recorded yet: F15 records the reply of a column."


def test_a_first_example_that_was_not_sent_is_no_error_but_waits_for_the_key_that_sends() -> None:
    session = examples.load(next(iter(examples.NAMES)))
    case = next(one for one in session.cases if one.expect)
    said = said_of(checking.check(session, cases=[case.name]), case.name, USUAL)
    assert said.title == "No replies to check yet"
    assert said.text.startswith("Expectations without a reply: ")
    assert said.text.endswith(f"{case.name} · {', '.join(one.id for one in session.columns)}. F5 sends it.")
    assert "error" not in said.text and said.severity == "warning"


def test_another_case_is_named_with_the_key_that_goes_there() -> None:
    said = said_of(checking.check(EXPECTING), "elsewhere", USUAL)
    assert said.text.endswith("case · chat. ctrl+t goes to a case, F5 sends it there.")


def test_what_holds_and_what_waits_stand_apart() -> None:
    session = recorded(replied(EXPECTING, "A"))
    session = replace(session, cases=(*session.cases, replace(EXPECTING.cases[0], name="later")))
    said = said_of(checking.check(session), "case", USUAL)
    assert said.title == "✓ the recording matches, 1 without a reply"
    assert said.text.splitlines() == [
        "Expectations without a reply: later · chat. ctrl+t goes to a case, F5 sends it there.",
        "case · chat: render pass, parse pass, expect pass",
    ]


def test_a_reply_that_nobody_recorded_is_not_called_a_recording_and_the_key_that_records_is_named() -> None:
    checked = checking.check(replied(EXPECTING, "A"))
    said = said_of(checked, "case", USUAL)
    assert said.title == "✓ 1 as expected, not recorded"
    assert said.text.splitlines()[1:] == ["ctrl+r records the reply of a column, and its prompt is then checked too."]
    assert "alt+w records" in said_of(checked, "case", KeyWords({"app.record": "alt+w"})).text
    assert "records" not in said_of(checking.check(recorded(replied(EXPECTING, "A"))), "case", USUAL).text


def test_names_of_others_stay_in_their_line() -> None:
    hostile = replace(EXPECTING, cases=(replace(EXPECTING.cases[0], name="[b]\x1b[2J\nx" * 50),))
    said = said_of(checking.check(hostile), "case", USUAL)
    assert "\x1b" not in said.text and said.text.count("\n") == 0 and len(said.text) < 500


def test_while_the_signature_cannot_be_read_that_is_said_once_and_there_is_nothing_to_decide() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.paste_over("question -> answer: nothing_known")
        await desk.press("f9")
        (said,) = desk.app._notifications
        assert said.title == "Not checked" and "nothing_known" in said.message
        assert desk.app.screen is desk.main

    at_the_desk(act, recorded(replied(PLAIN, "A")))
