"""Counts in messages."""

from sessions.errors import counted


def test_one_of_a_kind_is_not_said_as_several() -> None:
    assert [counted(number, "message") for number in (0, 1, 1200)] == [
        "0 messages",
        "1 message",
        "1,200 messages",
    ]
    assert [counted(number, "waits", "wait") for number in (1, 2)] == ["1 waits", "2 wait"]
