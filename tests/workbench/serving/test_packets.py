"""What a browser sends is one of a few messages, or nothing."""

from __future__ import annotations

import json

import pytest

from workbench.serving import packets
from workbench.serving.packets import Focus, Keys, NoPacketError, Ping, Resize


@pytest.mark.parametrize(
    ("message", "packet"),
    [
        (["stdin", "ä\x1b[15~"], Keys("ä\x1b[15~".encode())),
        (["stdin", "\ud800"], Keys(b"?")),
        (["resize", {"width": 120, "height": 35}], Resize(120, 35)),
        (["resize", {"width": 10**9, "height": -4}], Resize(packets.MOST_COLUMNS, 1)),
        (["ping", "1700"], Ping("1700")),
        (["focus"], Focus(True)),
        (["blur"], Focus(False)),
    ],
)
def test_every_message_of_the_page_is_read(message: list[object], packet: packets.Packet) -> None:
    assert packets.read(json.dumps(message)) == packet


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "nul",
        '["stdin"]',
        '["stdin", {"a": 1}]',
        '["stdin", ["a"]]',
        '["resize", {"width": "a", "height": 3}]',
        '["resize", null]',
        '["deliver_chunk_request", {"key": "../../x"}]',
        '["quit"]',
        '"stdin"',
        "[" * 100_000,
        '["resize", {"width": 1e400, "height": 3}]',
        '["stdin", ' + "9" * 5_000 + "]",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(NoPacketError):
        packets.read(text)


@pytest.mark.parametrize(
    ("asked", "given"),
    [(("120", "35"), (120, 35)), (("", ""), (80, 24)), (("x", "-5"), (80, 24)), (("99999", "²"), (500, 24))],
)
def test_the_size_that_is_asked_for_is_one_that_a_terminal_can_have(
    asked: tuple[str, str], given: tuple[int, int]
) -> None:
    assert packets.size_asked(*asked) == given
